package agent

import (
	"photon/credits"
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// A host whose link has credits (InfiniBand's channel adapter). It consumes frames at once, so that its buffer
// is empty whenever it advertises credits. It does not know the next packet's length before the packet is made, so a
// lane is off as long as the longest packet has no credits.

// longest is the longest frame that the host sends or receives: data, or what is a little longer than its payload.
func (c *Config) longest() int { return c.Payload + headMax + wire.ICRCLen }

func (h *Host) setLanes() {
	c := &h.config
	if c.Credits == nil {
		return
	}
	h.credit = credits.NewPort(*c.Credits, c.Lossless, c.Link.Rate, c.longest())
	for prio := range credits.Lanes {
		h.credit.Want(0, prio, h.credit.Blocks(c.longest()))
	}
	h.env.Wake(0, 0)
}

// stopped is the set of priorities that must not be sent.
func (h *Host) stopped() uint8 {
	if h.credit != nil {
		return h.credit.Paused()
	}
	return h.egress.Paused()
}

// countBlocks counts a frame that was received.
func (h *Host) countBlocks(f *fabric.Frame) {
	b := h.env.Bytes(f)
	if prio := h.Priority(0, b); prio >= 0 && credits.Takes(b) {
		h.credit.CountReceived(prio, h.credit.Blocks(int(f.Len)))
	}
}

// processCredits takes a MAC control frame.
func (h *Host) processCredits(now units.Time, b []byte) {
	list, err := credits.Decode(h.credit.Scratch(), b)
	if err != nil {
		h.stats.Ports[0].BadControl++
	}
	was := h.credit.Paused()
	for i := range list {
		h.credit.Process(now, &list[i])
	}
	if h.credit.Paused() != was {
		h.pauses()
	}
}

// sendNext makes the next frame: flow control packets come first.
func (h *Host) sendNext(now units.Time, f *fabric.Frame) bool {
	if h.credit == nil {
		return h.send(now, f)
	}
	if h.credit.Due(now) <= now && h.env.AllocAt(f, credits.FrameLen(credits.Lanes)) {
		list := h.credit.Poll(now, h.credit.Scratch())
		f.Len = uint16(credits.FrameLen(len(list)))
		credits.Encode(h.env.Bytes(f), h.config.MAC, list)
		h.stats.Ports[0].TxControl++
		return true
	}
	if !h.send(now, f) {
		return false
	}
	if prio := h.Priority(0, h.env.Bytes(f)); prio >= 0 {
		was := h.credit.Paused()
		h.credit.Send(prio, h.credit.Blocks(int(f.Len)))
		if h.credit.Want(now, prio, h.credit.Blocks(h.config.longest())); h.credit.Paused() != was {
			h.pauses()
		}
	}
	return true
}
