package accept

import (
	"encoding/binary"
	"fmt"

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
	obeys      bool       // PFC of the lossless priority
	stopped    units.Time // until then, by an XOFF

	got          [streams]arrived
	pauses, pfc  uint64     // MAC control frames that arrived
	xoffs        uint64     // of them, those that stop the lossless priority
	odd          uint64     // MAC control frames that are neither
	sentControl  uint64     // MAC control frames handed to the card
	firstControl units.Time // when the first MAC control frame arrived since it was set to 0
	since        units.Time // when the first frame of repeat was handed to the card
	after        arrived    // frames of the lossless priority that arrived since then
	besides      arrived    // frames of other priorities that did
	lossless     uint64     // frames of the lossless priority that ever arrived
	wanted       [][]byte   // frames as they are sent; others that arrive are changed
	changed      uint64
}

// arrived is what arrived of a stream.
type arrived struct {
	n, bytes, marked uint64
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

// ceased reports whether frames of the lossless priority came no more soon after the first frame of repeat, while
// others went on until its end.
func (p *port) ceased(end units.Time) bool {
	half := p.since + (end-p.since)/2
	return p.since > 0 && (p.after.n == 0 || p.after.last < half) && p.besides.n > 0 && p.besides.last > half
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
			p.got[id].add(now, b, number)
			if p.wanted != nil && !unchanged(b, p.wanted) {
				p.changed++
			}
			lossless := b[tagOf(b)+ipAt+1]>>2 == dataDSCP
			if lossless {
				p.lossless++
			}
			switch {
			case p.since == 0:
			case lossless:
				p.after.add(now, b, number)
			default:
				p.besides.add(now, b, number)
			}
		}
		s.env.Free(burst[i])
	}
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
	if f.Enable>>lossless&1 == 0 {
		return
	}
	if f.Quanta[lossless] > 0 {
		p.xoffs++
	}
	if p.obeys {
		p.stopped = now + pfc.Duration(f.Quanta[lossless], p.rate)
		s.env.Wake(at, now)
	}
}

func (s *station) Transmit(now units.Time, at int, burst []fabric.Frame) (n int) {
	p := s.ports[at]
	for n < len(burst) {
		switch {
		case len(p.control) > 0:
			if !s.say(&burst[n], p, p.control[0]) {
				return n
			}
			p.control = p.control[1:]
		case p.repeat != nil && now >= p.again:
			if !s.say(&burst[n], p, p.repeat) {
				return n
			}
			p.again = now + pfc.Duration(pfc.MaxQuanta, p.card)/4
			if p.since == 0 {
				p.since = now
			}
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
func (s *station) say(f *fabric.Frame, p *port, what *pfc.Frame) bool {
	if !s.env.AllocAt(f, pfc.FrameLen) {
		return false
	}
	what.Encode(s.env.Bytes(f), p.mac)
	p.sentControl++
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
