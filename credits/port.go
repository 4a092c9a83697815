package credits

import (
	"math/bits"

	"photon/units"
)

// Port is one end of a link. A lane is off while the packet that it would send next has no credits; a peer that
// gives some turns it on. Nothing is sent before the peer has said what it takes.
//
// One end may start later than the other: an end that does not know how much was sent to it says so
// (Packet.Init), and gets the answer. Every packet has the whole state, so that any may be lost.
//
// The zero value is not usable; call NewPort.
type Port struct {
	config       Config
	lanes        uint8  // that have credits
	off          uint8  // of them, those that wait for credits
	open         uint8  // the peer has said what it takes
	known        uint8  // the peer has said what it sent
	advertiseNow uint8  // a packet to the peer is due at once
	frozen       bool   // by Hold
	changed      uint8  // lanes of which urgent is to be asked again
	pressing     uint8  // the others for which it said yes
	longest      uint16 // packet there may be, in blocks
	step         uint16 // Config.Update, in blocks
	period       units.Time
	soonest      units.Time // that the period of a lane ends
	lane         [Lanes]lane
	count        Counters
	scratch      [Lanes]Packet
}

// lane is one virtual lane of both directions.
type lane struct {
	sent       uint16 // FCTBS
	limit      uint16 // FCCL, as the peer advertised it
	next       uint16 // blocks of the packet that is to be sent next; 0: there is none
	received   uint16 // ABR
	advertised uint16 // FCCL, as advertised to the peer
	free       int64  // blocks
	due        units.Time
	since      units.Time // off
	ended      units.Time
}

// Counters count what happened since the port was made.
type Counters struct {
	Lanes    uint8             // that have credits
	Waits    [Lanes]uint64     // how often a packet had to wait for credits
	Waited   [Lanes]units.Time // how long, in all
	Waiting  uint8             // lanes that wait now
	Credits  [Lanes]uint16     // blocks that may be sent now
	Sent     uint64            // flow control packets
	Received uint64
	Lost     [Lanes]uint64 // blocks that the peer sent and that did not arrive, according to its packets
}

// NewPort returns one end of a link of a rate, on which frames of up to longest bytes are sent, with the configuration
// valid for them. Lanes without credits are ignored.
func NewPort(c Config, lanes uint8, rate units.Rate, longest int) *Port {
	p := &Port{config: c, lanes: lanes, longest: c.Blocks(longest), step: c.update()}
	p.SetRate(rate)
	for i := range p.lane {
		p.lane[i].free = c.capacity()
	}
	p.Begin(0)
	return p
}

// Scratch is room for the packets of a frame, until it is asked for again.
func (p *Port) Scratch() []Packet { return p.scratch[:0] }

// SetRate changes the rate of the link, by which the period goes.
func (p *Port) SetRate(rate units.Rate) { p.period = p.config.PeriodAt(rate) }

// Begin resets the port for a new peer: nothing was sent or received. Packets that wait keep waiting.
func (p *Port) Begin(now units.Time) {
	p.open, p.known, p.advertiseNow = 0, 0, 0
	for i := range p.lane {
		l := &p.lane[i]
		l.sent, l.limit, l.received, l.advertised, l.due = 0, 0, 0, 0, now
		p.want(now, i)
	}
	if p.changed, p.soonest = p.lanes, now; p.lanes == 0 {
		p.soonest = units.Never
	}
}

// Blocks is how many blocks a frame of length bytes takes.
func (p *Port) Blocks(length int) uint16 { return p.config.Blocks(length) }

// May reports whether n blocks of a lane may be sent now.
func (p *Port) May(i int, n uint16) bool {
	l := &p.lane[i&7]
	return p.lanes>>i&1 == 0 || p.open>>i&1 != 0 && (l.limit-(l.sent+n))&wrap <= most
}

// Send counts n blocks that are sent, for which there were credits.
func (p *Port) Send(i int, n uint16) {
	l := &p.lane[i&7]
	l.sent = (l.sent + n) & wrap
}

// Want sets the length of the packet to be sent next, in blocks; 0: there is none. The lane is off if it has no credits.
func (p *Port) Want(now units.Time, i int, n uint16) {
	if p.lanes>>i&1 == 0 {
		return
	}
	p.lane[i&7].next = n
	p.want(now, i)
}

// want turns a lane on or off, and reports whether it was turned on.
func (p *Port) want(now units.Time, i int) (on bool) {
	l, bit := &p.lane[i&7], uint8(1)<<i
	off := l.next > 0 && !p.May(i, l.next)
	switch was := p.off&bit != 0; {
	case off && !was:
		p.off |= bit
		l.since = now
		p.count.Waits[i]++
	case was && !off:
		p.off &^= bit
		l.ended = now
		p.count.Waited[i] += now - l.since
		return true
	}
	return false
}

// Process processes a flow control packet, and returns the lanes that it turned on.
func (p *Port) Process(now units.Time, f *Packet) (on uint8) {
	i, bit := int(f.Lane&7), uint8(1)<<(f.Lane&7)
	if p.lanes&bit == 0 {
		return 0
	}
	p.count.Received++
	p.changed |= bit
	l := &p.lane[i]
	if p.known&bit == 0 {
		p.known |= bit
		p.advertiseNow |= bit
	} else if lost := (f.Sent - l.received) & wrap; lost <= most && !f.Init { // a peer that begins anew counts from 0
		p.count.Lost[i] += uint64(lost)
	}
	l.received = f.Sent & wrap
	if f.Init {
		p.advertiseNow |= bit
		p.open &^= bit
	} else {
		l.limit = f.Limit & wrap
		p.open |= bit
	}
	if p.want(now, i) {
		on = bit
	}
	return on
}

// CountReceived counts n blocks that were received, whether they are kept or not.
func (p *Port) CountReceived(i int, n uint16) {
	l := &p.lane[i&7]
	l.received = (l.received + n) & wrap
	p.changed |= 1 << (i & 7)
}

// SetBuffered sets how many bytes of a lane are buffered now, in whole blocks.
func (p *Port) SetBuffered(i int, bytes units.Size) {
	p.lane[i&7].free = max(0, p.config.capacity()-int64(bytes/Block))
	p.changed |= 1 << (i & 7)
}

// StopPeer stops giving credits to the peer, or resumes it.
func (p *Port) StopPeer(frozen bool) { p.frozen, p.changed = frozen, p.lanes }

// grant is the FCCL that could be advertised now.
func (p *Port) grant(l *lane) uint16 {
	if p.frozen {
		return l.advertised
	}
	return (l.received + uint16(min(l.free, most))) & wrap
}

// left is how many blocks the peer may still send.
func (l *lane) left() uint16 {
	if n := (l.advertised - l.received) & wrap; n <= most {
		return n
	}
	return 0
}

// urgent reports whether credits of a lane are due before the end of the period.
func (p *Port) urgent(i int) bool {
	if p.advertiseNow>>i&1 != 0 {
		return true
	}
	l := &p.lane[i&7]
	if p.known>>i&1 == 0 {
		return false
	}
	more := (p.grant(l) - l.advertised) & wrap
	return more <= most && (more >= p.step || more > 0 && l.left() < p.longest && l.left()+more >= p.longest)
}

// Due is when a flow control packet is due: now, at the end of a period, or Never.
func (p *Port) Due(now units.Time) units.Time {
	for rest := p.changed & p.lanes; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros8(rest)
		if p.pressing &^= 1 << i; p.urgent(i) {
			p.pressing |= 1 << i
		}
	}
	if p.changed = 0; p.pressing != 0 {
		return now
	}
	return max(now, p.soonest)
}

// Poll appends to list the packets that are due at now. The caller sends them.
func (p *Port) Poll(now units.Time, list []Packet) []Packet {
	for rest := p.lanes; rest != 0; rest &= rest - 1 {
		i := bits.TrailingZeros8(rest)
		l := &p.lane[i]
		if now < l.due && !p.urgent(i) {
			continue
		}
		l.advertised = p.grant(l)
		l.due = now + p.period
		p.advertiseNow &^= 1 << i
		p.count.Sent++
		list = append(list, Packet{Init: p.known>>i&1 == 0, Lane: uint8(i), Sent: l.sent, Limit: l.advertised})
	}
	p.changed, p.soonest = p.lanes, units.Never
	for rest := p.lanes; rest != 0; rest &= rest - 1 {
		p.soonest = min(p.soonest, p.lane[bits.TrailingZeros8(rest)].due)
	}
	return list
}

// Paused is the set of lanes that must not send: the packet that would be next has no credits.
func (p *Port) Paused() uint8 { return p.off }

// Last is when a lane was off last, until Never if it is still. If it never was, both are the same instant.
func (p *Port) Last(i int) (from, until units.Time) {
	if l := &p.lane[i&7]; p.off>>i&1 == 0 {
		return l.since, l.ended
	}
	return p.lane[i&7].since, units.Never
}

// Ends is Never: a lane without credits waits for the peer.
func (p *Port) Ends(int) units.Time { return units.Never }

// Next is Never: see Ends.
func (p *Port) Next() units.Time { return units.Never }

// PeerStopped is the set of lanes of which the peer may not send every packet now.
func (p *Port) PeerStopped() (stopped uint8) {
	for rest := p.lanes; rest != 0; rest &= rest - 1 {
		if i := bits.TrailingZeros8(rest); p.lane[i].left() < p.longest {
			stopped |= 1 << i
		}
	}
	return stopped
}

// XON is how many bytes of a lane may be buffered so that the peer may send a packet of the longest kind.
func (p *Port) XON(uint8) units.Size {
	return units.Size(p.config.capacity()-int64(p.longest)) * Block
}

// Counters returns the counts, waits that still last included up to now.
func (p *Port) Counters(now units.Time) Counters {
	c := p.count
	c.Lanes, c.Waiting = p.lanes, p.off
	for i := range p.lane {
		l := &p.lane[i]
		if n := (l.limit - l.sent) & wrap; p.open>>i&1 != 0 && n <= most {
			c.Credits[i] = n
		}
		if p.off>>i&1 != 0 {
			c.Waited[i] += now - l.since
		}
	}
	return c
}

// Rebase implements units.Rebaser.
func (p *Port) Rebase(by units.Time) {
	p.soonest.Rebase(by)
	for i := range p.lane {
		l := &p.lane[i]
		l.due.Rebase(by)
		l.since.Rebase(by)
		l.ended.Rebase(by)
	}
}
