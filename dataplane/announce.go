package dataplane

import (
	"photon/lldp"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// A switch that is told to says at each port who it is, and hears who is at the other end of the cable (LLDP,
// IEEE 802.1AB). The node carries the frames: it sends one when its timer says so, before all that waits in queues, and
// keeps what comes for who looks at the switch every so often. What frames say, and what follows from it, is decided
// above. Ports that are told nothing do not know LLDP: there its frames are for a group address of the link, and
// discarded as such.

// Announcement is what a port says of itself.
type Announcement struct {
	Frame []byte     // with its Ethernet header; nobody changes it any more
	Every units.Time // between two; 0: it is said once
	Fast  int        // so many more after the first follow in steps of a second (802.1AB clause 9.2.5.6)
}

// announceFast is the time between the first ones (802.1AB: msgFastTx).
const announceFast = units.Second

// maxHeard is how many frames wait at a port for who looks; what does not fit is counted.
const maxHeard = 8

// speaker is the state of a port that announces itself.
type speaker struct {
	Announcement
	at    units.Time // when it is said next
	due   bool       // now, and it is counted in the port's outs
	heard [maxHeard][]byte
	count int // of them are taken
	stats Announced
}

// Announced counts what a port said and heard of LLDP.
type Announced struct {
	Sent, Received uint64
	Lost           uint64 // received, and there was no place for them
}

// Announce has a port say something from now on, or with nil nothing, and hear nothing. It is called between bursts.
func (s *Switch) Announce(now units.Time, port int, a *Announcement) {
	p := &s.ports[port]
	if a == nil {
		if p.says != nil && p.says.due {
			p.outs--
			p.gate()
		}
		p.says = nil
		return
	}
	if p.says == nil {
		p.says = &speaker{}
		for i := range p.says.heard {
			p.says.heard[i] = make([]byte, 0, p.env.slot)
		}
	}
	p.says.Announcement, p.says.at = *a, now
	p.asks = min(p.asks, now)
	p.env.Wake(port, now)
}

// Heard hands over the LLDP frames that a port received since the last call, and returns what the port counted. The
// bytes are valid until do returns. It is called between bursts.
func (s *Switch) Heard(port int, do func(frame []byte)) Announced {
	x := s.ports[port].says
	if x == nil {
		return Announced{}
	}
	for i := range x.count {
		do(x.heard[i])
	}
	x.count = 0
	return x.stats
}

// MAC is the source of what a port says itself. It is called between bursts.
func (s *Switch) MAC(port int) wire.MAC { return s.config.Ports[port].MAC }

// speak notes that the port's announcement is due, and when the next is.
func (p *switchPort) speak(now units.Time) {
	x := p.says
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
	p.asks = min(p.asks, x.at)
}

// announces makes the frame of an announcement that is due.
func (p *switchPort) announces(f *Frame) bool {
	x := p.says
	if !p.env.AllocAt(f, len(x.Frame)) {
		return false // short of memory it stays due
	}
	copy(p.env.Bytes(f), x.Frame)
	x.due = false
	x.stats.Sent++
	return true
}

// hears keeps an LLDP frame for who looks, and reports whether the frame is one. It may come for any group address of
// the link (802.1AB clause 7.1), and from a station only.
func (p *switchPort) hears(h *wire.Header, b []byte) bool {
	x := p.says
	if x == nil || h.EtherType != lldp.EtherType || h.Payload != wire.EthernetLen || !h.Dst.LinkLocal() || h.Dst == pfc.Destination || h.Src.Multicast() {
		return false
	}
	p.stats.RxControl++
	if x.stats.Received++; x.count == maxHeard {
		x.stats.Lost++
		return true
	}
	x.heard[x.count] = append(x.heard[x.count][:0], b...)
	x.count++
	return true
}
