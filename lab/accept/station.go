package accept

import (
	"encoding/binary"
	"fmt"
	"slices"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// streams is how many numbers of streams there are.
const streams = 16

// station is a node whose ports send given streams, and count what arrives. Streams change between two
// polls (dpdk.World.Do).
type station struct {
	env   *fabric.Env
	ports []*port
}

type port struct {
	mac  wire.MAC
	rate units.Rate // of its link
	card units.Rate // the card's own, by which a card that obeyed would reckon

	control    []*pfc.Frame // to be sent next, once
	repeat     *pfc.Frame   // sent again before its time is over, until it is nil
	again      units.Time   // when
	streams    []*stream
	nextStream int
	prio       int        // the lossless priority that is looked at
	obeys      bool       // PFC of it
	stopped    units.Time // until then, by an XOFF

	got          [streams]arrived
	pauses, pfc  uint64               // MAC control frames that arrived
	xoffs, xons  uint64               // of them, those that stop the lossless priority, and those that let it go
	ever         [pfc.Classes]uint64  // PFC frames that name each priority
	strange      uint64               // PFC frames that are not as the standard has them, or name another priority
	odd          uint64               // MAC control frames that are neither
	sentControl  uint64               // MAC control frames handed to the card
	firstControl units.Time           // when the first MAC control frame arrived since it was set to 0
	since        units.Time           // when the first that stops the peer was handed to the card
	after        [pfc.Classes]arrived // frames of each priority that arrived since then
	released     units.Time           // when the last XON was handed to the card
	back         units.Time           // when the first frame of the lossless priority arrived since then
	lossless     arrived              // frames of the lossless priority that ever arrived
	longestRest  interval             // between two of them, the later of which arrived after since
	wanted       [streams][][]byte    // frames as they are sent; others that arrive are changed
}

// interval is from one instant to another.
type interval struct{ from, to units.Time }

// arrived is what arrived of a stream.
type arrived struct {
	n, bytes, marked uint64
	changed          uint64 // frames that are not one of those that were sent
	disorder         uint64 // frames whose number is not above that of the one before
	next             uint64
	first, last      units.Time
}

func (a *arrived) add(now units.Time, b []byte, number uint64) {
	if a.n == 0 {
		a.first = now
	}
	if number < a.next {
		a.disorder++
	}
	a.next = number + 1
	a.n++
	a.bytes += uint64(len(b))
	a.last = now
	if wire.ECN(b[tagOf(b)+ipAt:]) == wire.CE {
		a.marked++
	}
}

// otherLengths says how long frames came that were sent with one length, if that is another.
func (a *arrived) otherLengths(sent uint64) string {
	if a.bytes == a.n*sent {
		return ""
	}
	return fmt.Sprintf(", %d B long on average instead of %d", a.bytes/a.n, sent)
}

// heard is how many MAC control frames arrived.
func (p *port) heard() uint64 { return p.pauses + p.pfc + p.odd }

// ceased reports whether frames of the lossless priority came no more soon after the first frame of repeat.
func (p *port) ceased(end units.Time) bool {
	a := &p.after[p.prio]
	return p.since > 0 && (a.n == 0 || a.last < p.since+(end-p.since)/2)
}

// wentOn reports whether frames of these priorities came until the end.
func (p *port) wentOn(end units.Time, priorities ...int) bool {
	return p.since > 0 && !slices.ContainsFunc(priorities, func(prio int) bool {
		a := &p.after[prio]
		return a.n == 0 || a.last <= p.since+(end-p.since)/2
	})
}

// stream is what a port sends.
type stream struct {
	frame    []byte
	lossless bool
	every    units.Time // from frame to frame; 0: as fast as the link takes them
	left     int64      // frames
	next     units.Time
	sent     uint64
}

// endless is how many frames a stream has that is stopped by hand.
const endless = 1 << 62

func (s *station) Receive(now units.Time, at int, burst []fabric.Frame) {
	p := s.ports[at]
	for i := range burst {
		b := s.env.Bytes(&burst[i])
		switch {
		case len(b) >= wire.EthernetLen && binary.BigEndian.Uint16(b[12:]) == wire.TypeMACControl:
			s.receiveControl(now, at, b)
		default:
			id, number, ours := streamOf(b)
			if !ours {
				break // the kernel's, or a neighbour's
			}
			a := &p.got[id]
			a.add(now, b, number)
			if sent := p.wanted[id]; sent != nil && !unchanged(b, sent) {
				a.changed++
			}
			if id != learnStream {
				p.arrives(now, b, number)
			}
		}
		s.env.Free(burst[i])
	}
}

// arrives notes a frame by the priority in which it was sent.
func (p *port) arrives(now units.Time, b []byte, number uint64) {
	prio := priorityOf(b)
	if prio < 0 {
		return
	}
	if p.since > 0 {
		p.after[prio].add(now, b, number)
	}
	if prio != p.prio {
		return
	}
	if p.released > 0 && p.back == 0 {
		p.back = now
	}
	if last, rest := p.lossless.last, &p.longestRest; p.since > 0 && now-last > rest.to-rest.from {
		*rest = interval{last, now}
	}
	p.lossless.add(now, b, number)
}

// receiveControl processes a MAC control frame.
func (s *station) receiveControl(now units.Time, at int, b []byte) {
	p := s.ports[at]
	if p.firstControl == 0 {
		p.firstControl = now
	}
	var f pfc.Frame
	switch err := f.Decode(b); {
	case err != nil:
		p.odd++
		return
	case f.Global:
		p.pauses++
		return // a station has PFC, which excludes PAUSE
	}
	p.pfc++
	for prio := range p.ever {
		p.ever[prio] += uint64(f.Enable >> prio & 1)
	}
	if !asStandard(b, p.prio, f.Quanta[p.prio]) {
		p.strange++
	}
	if f.Enable>>p.prio&1 == 0 {
		return
	}
	if f.Quanta[p.prio] > 0 {
		p.xoffs++
	} else {
		p.xons++
	}
	if p.obeys {
		p.stopped = now + pfc.Duration(f.Quanta[p.prio], p.rate)
		s.env.Wake(at, now)
	}
}

func (s *station) Transmit(now units.Time, at int, burst []fabric.Frame) (n int) {
	p := s.ports[at]
	for n < len(burst) {
		switch {
		case len(p.control) > 0:
			if !s.say(now, &burst[n], p, p.control[0]) {
				return n
			}
			p.control = p.control[1:]
		case p.repeat != nil && now >= p.again:
			if !s.say(now, &burst[n], p, p.repeat) {
				return n
			}
			p.again = now + pfc.Duration(pfc.MaxQuanta, p.card)/4
		default:
			st := p.due(now)
			if st == nil || !s.env.AllocAt(&burst[n], len(st.frame)) {
				return n
			}
			b := s.env.Bytes(&burst[n])
			copy(b, st.frame)
			binary.BigEndian.PutUint64(b[tagOf(b)+numberAt:], st.sent)
			st.sent++
			st.left--
			if st.next+st.every < now { // what was missed is not made up for
				st.next = now
			}
			st.next += st.every
		}
		n++
	}
	return n
}

// say makes a MAC control frame.
func (s *station) say(now units.Time, f *fabric.Frame, p *port, what *pfc.Frame) bool {
	if !s.env.AllocAt(f, pfc.FrameLen) {
		return false
	}
	what.Encode(s.env.Bytes(f), p.mac)
	p.sentControl++
	switch stops := what.Quanta != [pfc.Classes]uint16{}; {
	case stops && p.since == 0:
		p.since = now
	case !stops && what.Enable>>p.prio&1 != 0:
		p.released, p.back = now, 0
	}
	return true
}

// due is the stream whose turn it is.
func (p *port) due(now units.Time) *stream {
	for range p.streams {
		st := p.streams[p.nextStream]
		p.nextStream = (p.nextStream + 1) % len(p.streams)
		if st.left > 0 && st.next <= now && !(st.lossless && now < p.stopped) {
			return st
		}
	}
	return nil
}

func (s *station) Next(now units.Time, at int) units.Time {
	p := s.ports[at]
	if len(p.control) > 0 {
		return now
	}
	next := units.Never
	if p.repeat != nil {
		next = p.again
	}
	for _, st := range p.streams {
		switch {
		case st.left <= 0:
		case st.lossless && now < p.stopped:
			next = min(next, max(st.next, p.stopped))
		default:
			next = min(next, st.next)
		}
	}
	return max(now, next)
}

func (s *station) Stats(units.Time) (st fabric.Stats) {
	st.Ports = make([]fabric.PortStats, len(s.ports))
	return st
}

func (s *station) Audit() error { return nil }
func (s *station) Close()       {}
