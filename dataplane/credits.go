package dataplane

import (
	"photon/credits"
	"photon/fabric"
	"photon/units"
)

// A port whose link has credits. Every frame is queued, and leaves when the peer has room for it; frames are taken
// from the wire one by one, so that what was received is known when a flow control packet between them is read. The
// account of what is buffered is the one that PFC goes by (pfc.Ingress), in blocks: its threshold is the lane's
// whole buffer, which a peer that obeys never exceeds.

// setLanes starts the port's credits, if the switch uses them.
func (p *switchPort) setLanes() {
	c := &p.sw.config
	p.credits = nil
	if c.Credits != nil && !p.config.Vacant {
		p.credits = credits.NewPort(*c.Credits, c.Lossless, p.config.Link.Rate, c.longest())
		p.env.Wake(p.number, 0) // the peer waits for credits
	}
}

// laneOf is the lane of which a frame that comes through the port takes credits, by its bytes; -1: it takes none.
func (p *switchPort) laneOf(b []byte) int {
	if !credits.Takes(b) {
		return -1
	}
	return p.sw.Priority(p.number, b)
}

// arrives counts a frame of a lane that has been received, and arrived what is buffered when it has been taken.
func (p *switchPort) arrives(prio uint8, length uint16) {
	p.credits.CountReceived(int(prio), p.credits.Blocks(int(length)))
}

func (p *switchPort) arrived(prio uint8) { p.credits.SetBuffered(int(prio), p.ingress.Bytes(prio)) }

// freed updates how much of a lane is buffered, and reports whether credits are to be sent at once.
func (p *switchPort) freed(now units.Time, prio uint8) bool {
	p.credits.SetBuffered(int(prio), p.ingress.Bytes(prio))
	return p.credits.Due(now) <= now
}

// processCredits processes a MAC control frame with flow control packets.
func (p *switchPort) processCredits(now units.Time, b []byte) {
	list, err := credits.Decode(p.credits.Scratch(), b)
	if err != nil {
		p.stats.BadControl++
	}
	on := uint8(0)
	for i := range list {
		on |= p.credits.Process(now, &list[i])
	}
	p.refresh()
	p.resumed(now, on)
	if p.credits.Due(now) <= now {
		p.env.Wake(p.number, now)
	}
	p.watchStops(now)
}

// makeCredits makes a frame of the flow control packets that are due, if there are some.
func (p *switchPort) makeCredits(now units.Time, f *fabric.Frame) bool {
	if p.credits.Due(now) > now || !p.env.AllocAt(f, credits.FrameLen(credits.Lanes)) {
		return false
	}
	list := p.credits.Poll(now, p.credits.Scratch())
	f.Len = uint16(credits.FrameLen(len(list)))
	credits.Encode(p.env.Bytes(f), p.config.MAC, list)
	p.sendsOfLink(f)
	return true
}

// want passes the next frame of its queue to the lane; nil: there is none.
func (p *switchPort) want(now units.Time, prio uint8, f *fabric.Frame) {
	blocks, was := uint16(0), p.credits.Paused()
	if f != nil {
		blocks = p.credits.Blocks(int(f.Len))
	}
	if p.credits.Want(now, int(prio), blocks); p.credits.Paused() != was {
		p.refresh()
		p.watchStops(now)
	}
}

// pay takes credits for frames that are the first of their queue, as far as there are any, and returns these. There is
// one at least.
func (p *switchPort) pay(now units.Time, prio uint8, burst []fabric.Frame) []fabric.Frame {
	paid := 0
	for paid < len(burst) {
		n := p.credits.Blocks(int(burst[paid].Len))
		if !p.credits.May(int(prio), n) {
			break
		}
		p.credits.Send(int(prio), n)
		paid++
	}
	p.want(now, prio, p.queues[prio].after(paid))
	return burst[:paid]
}
