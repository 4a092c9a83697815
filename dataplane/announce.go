package dataplane

import (
	"photon/fabric"
	"photon/lldp"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// LLDP (IEEE 802.1AB): a switch announces itself at each port, and learns who is at the other end of the cable. The node
// only carries the frames: it sends one when its timer expires, ahead of everything in the queues, and stores received
// ones until TakeAnnouncements fetches them. Package daemon writes and reads their contents. On ports without LLDP its
// frames are discarded like those for any other group address of the link.

// Announcement is the LLDP frame that a port sends.
type Announcement struct {
	Frame []byte     // with its Ethernet header; it is never changed
	Every units.Time // between two; 0: it is sent once
	Fast  int        // how many after the first follow in steps of a second (802.1AB clause 9.2.5.6)
}

// announceFast is the time between the first ones (802.1AB: msgFastTx).
const announceFast = units.Second

// maxReceived is how many received frames a port stores until they are taken; those that do not fit are counted.
const maxReceived = 8

// announcer is the state of a port that announces itself.
type announcer struct {
	Announcement
	at       units.Time // when it is sent next
	due      bool       // it is to be sent now, and is counted in the port's outs
	received [maxReceived][]byte
	count    int // of received
	stats    Announced
}

// Announced counts the LLDP frames of a port.
type Announced struct {
	Sent, Received uint64
	Lost           uint64 // received, but not stored for want of space
}

// Announce starts LLDP at a port, or changes what it sends; with nil it stops. It is called between bursts.
func (s *Switch) Announce(now units.Time, port int, a *Announcement) {
	p := &s.ports[port]
	if a == nil {
		if p.announcer != nil && p.announcer.due {
			p.outs--
			p.gate()
		}
		p.announcer = nil
		return
	}
	if p.announcer == nil {
		p.announcer = &announcer{}
		for i := range p.announcer.received {
			p.announcer.received[i] = make([]byte, 0, p.env.Most())
		}
	}
	p.announcer.Announcement, p.announcer.at = *a, now
	p.timerAt = min(p.timerAt, now)
	p.env.Wake(port, now)
}

// TakeAnnouncements calls do for each LLDP frame that a port received since the last call, and returns the port's
// counters. The bytes are valid until do returns. It is called between bursts.
func (s *Switch) TakeAnnouncements(port int, do func(frame []byte)) Announced {
	x := s.ports[port].announcer
	if x == nil {
		return Announced{}
	}
	for i := range x.count {
		do(x.received[i])
	}
	x.count = 0
	return x.stats
}

// MAC is the source address of frames that a port itself sends. It is called between bursts.
func (s *Switch) MAC(port int) wire.MAC { return s.config.Ports[port].MAC }

// scheduleAnnouncement marks the port's announcement as due if its time has come, and sets the time of the next.
func (p *switchPort) scheduleAnnouncement(now units.Time) {
	x := p.announcer
	if x == nil {
		return
	}
	if now >= x.at {
		if !x.due {
			x.due = true
			p.outs++
			p.gate()
		}
		switch {
		case x.Fast > 0:
			x.Fast--
			x.at = now + announceFast
		case x.Every > 0:
			x.at = now + x.Every
		default:
			x.at = units.Never
		}
	}
	p.timerAt = min(p.timerAt, x.at)
}

// makeAnnouncement fills f with the announcement that is due.
func (p *switchPort) makeAnnouncement(f *fabric.Frame) bool {
	x := p.announcer
	if !p.env.AllocAt(f, len(x.Frame)) {
		return false // short of memory it stays due
	}
	copy(p.env.Bytes(f), x.Frame)
	x.due = false
	x.stats.Sent++
	return true
}

// speaks reports whether a frame is an LLDP frame, and the port has LLDP. Its destination may be any group address of
// the link (802.1AB clause 7.1); its source must be a station.
func (x *announcer) speaks(h *wire.Header) bool {
	return x != nil && h.EtherType == lldp.EtherType && h.Payload == wire.EthernetLen &&
		h.Dst.LinkLocal() && h.Dst != pfc.Destination && !h.Src.Multicast()
}

// receiveAnnouncement stores an LLDP frame, and reports whether the frame is one.
func (p *switchPort) receiveAnnouncement(h *wire.Header, b []byte) bool {
	x := p.announcer
	if !x.speaks(h) {
		return false
	}
	p.stats.RxControl++
	if x.stats.Received++; x.count == maxReceived {
		x.stats.Lost++
		return true
	}
	x.received[x.count] = append(x.received[x.count][:0], b...)
	x.count++
	return true
}
