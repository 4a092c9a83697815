package dataplane

import (
	"math/bits"

	"photon/units"
)

// A world that knows ahead what arrives at a switch within a span of time, as the simulator does, can hand over all of
// it. Most of the time nothing that happens at one egress port within a span concerns another: no port pauses its peer,
// and the buffer has room. Then what leaves a port is worked out when the next frame for that port comes, and not at its
// own instant in between: nobody sees the difference. So frames go through the stages together, and there is no event
// for each departure.
//
// What is charged to the buffer may meanwhile be more than it should be, never less, since some frames are still in it
// that have left by now. Where that might matter (a threshold, a peak), all ports catch up first.

// Arrival is a frame that arrives within a span.
type Arrival struct {
	Key    uint64 // when, in picoseconds from the span's base, and at which port: its lower bits
	Place  uint64 // see Frame.Place
	Digest uint32 // see Frame.Digest
}

// KeyPortBits is how many bits of an Arrival's key say the port.
const KeyPortBits = 16

// Departure is a frame that leaves within a span.
type Departure struct {
	Frame
	Gone units.Time // when all of it has left
	Port int32
}

// Wire is what a world says of a port for a span.
type Wire struct {
	At       units.Time // when the port sends what waits; units.Never: nothing waits
	PerByte  uint16     // picoseconds that a byte takes; 0: there is no link
	Overhead int16      // bytes that the link adds to a frame
}

// took is how long a frame occupies the link.
func (w *Wire) took(length uint16) units.Time {
	return units.Time(max(0, int(length)+int(w.Overhead))) * units.Time(w.PerByte)
}

// Span is a span of time at a node: what arrives within it, and what leaves.
type Span struct {
	Base, End units.Time
	Arrivals  []Arrival   // by their keys; the last is beyond the span
	Wires     []Wire      // by port
	Left      []Departure // of each port in order
}

// leave makes place for one more frame that leaves.
func (x *Span) leave() *Departure {
	n := len(x.Left)
	if n == cap(x.Left) {
		x.Left = append(x.Left, Departure{})
	}
	x.Left = x.Left[:n+1]
	return &x.Left[n]
}

// Spanner is a Node that can be told all that arrives within a span.
type Spanner interface {
	Server
	// Spans reports whether Span can be called now.
	Spans() bool
	// Span does what Receive and Transmit would do if they were called for one event after the other, until the span
	// ends or something arrives that has to be received by itself. It returns how many arrivals were handled; what was
	// to leave before the next has left. In x.Wires it says when ports are to be served, and in x.Left what has left.
	// It does not call Env.Wake.
	Span(x *Span) (taken int)
}

var _ Spanner = (*Switch)(nil)

// Spans implements Spanner.
func (s *Switch) Spans() bool {
	if !s.portless || s.credited || s.limitedFrom == 0 || len(s.workers) != 1 || s.config.Paths.By != ByFlow {
		return false
	}
	for i := range s.ports {
		if !s.ports[i].calm() {
			return false
		}
	}
	return true
}

// calm reports that a port has nothing to do but to receive, and to send what waits by strict priority.
func (p *switchPort) calm() bool {
	return p.attend == units.Never && p.timerAt == units.Never && p.ingress.Quiet() && !p.sampled &&
		p.refused|p.notifies|p.shaped|p.weighted|p.outs|p.wary|p.samples == 0 && p.env.Queued == nil
}

// Span implements Spanner.
func (s *Switch) Span(x *Span) (taken int) {
	w := s.workers[0]
	if changes, c := s.changes.Load(), &w.cache; x.Base >= c.until || changes != c.changes {
		s.renew(x.Base, w, changes)
	}
	all, until := len(x.Arrivals)-1, x.End
	s.ask(w.env, x.Arrivals[:min(MaxBurst, all)])
	for taken < all && x.End <= w.cache.until {
		s.ask(w.env, x.Arrivals[min(taken+MaxBurst, all):min(taken+2*MaxBurst, all)])
		burst := x.Arrivals[taken : min(taken+MaxBurst, all)+1]
		n := s.take(x, burst)
		taken += n
		if n < len(burst)-1 {
			break
		}
	}
	if taken < all {
		until = x.at(&x.Arrivals[taken])
	}
	s.serveAll(x, until)
	return taken
}

// ask asks for the headers of some frames.
func (s *Switch) ask(env *Env, list []Arrival) {
	for i := range list {
		env.Ask(list[i].Place)
	}
}

// at is when a frame arrives.
func (x *Span) at(a *Arrival) units.Time { return x.Base + units.Time(a.Key>>KeyPortBits) }

// take takes arrivals, of which the last is the one behind them, and returns how many it took.
func (s *Switch) take(x *Span, list []Arrival) (taken int) {
	w := s.workers[0]
	v, frames := &w.env.scratch.vector, w.env.scratch.frames[:len(list)-1]
	for i := range frames {
		frames[i].Begin(list[i].Place, list[i].Digest)
	}
	known := s.lookUp(&s.ports[0], v, frames, 0)
	clear(v.sums[:])
	for i := range frames[:known] {
		now := x.at(&list[i])
		more := list[i+1].Key>>KeyPortBits == list[i].Key>>KeyPortBits // arrives at this instant
		if !s.takeOne(x, now, &frames[i], v.acts[i]|action(uint16(list[i].Key))<<32, more) {
			return i
		}
	}
	return known
}

// takeOne takes one frame, as receiveOne would. It reports false, and has done nothing, if that has to.
func (s *Switch) takeOne(x *Span, now units.Time, f *Frame, a action, more bool) bool {
	p := &s.ports[uint16(a>>32)]
	if special := a & (actKind | tagOp); special != 0 {
		if special != actGroup {
			return false
		}
		group := s.lans.groups[a.out()]
		a = a.to(group[pick(p.env.flowHash(f), s.config.Salt, len(group))]) &^ actKind
	}
	out, prio := int(a.out()), a.prio()
	if out == p.number || f.Len > s.narrow {
		return false
	}
	f.words()[1] = f.words()[1]&(1<<32-1) | uint64(a&actFrame)
	to, wire, e := &s.ports[out], &x.Wires[out], p.env.Exit(out)
	if wire.At < now {
		s.serveUntil(x, out, now)
	}
	if !s.settled(p, to, f) {
		s.serveAll(x, now)
		if !s.fits(p, prio, f.Len) || s.tooLong(to, f) {
			return false
		}
	}
	if e.Free <= now && e.Open>>prio&1 != 0 && wire.PerByte != 0 && !more {
		s.passOn(x, now, p, to, f)
		return true
	}
	if f.Flag&Lossless == 0 && !s.pool.Take(s.cost(f.Len)) || !p.ingress.Charge(prio, s.cost(f.Len)) {
		return false
	}
	p.ingress.Count(prio, 1, uint64(f.Len))
	p.ingress.Note(prio, 0)
	p.worker.notePooled(s.pool)
	q := &to.queues[prio]
	q.push(f, &p.worker.store)
	if !to.judges(f) {
		q.unjudged++
	}
	to.waiting |= 1 << prio
	e.Open, e.Unseen = 0, 0
	if wire.At == units.Never && wire.PerByte != 0 {
		wire.At = max(now, e.Free)
	}
	return true
}

// settled reports that a frame fits, and that its coming changes no peak of the buffer, even if nothing has left that ports
// have not caught up with.
func (s *Switch) settled(p, to *switchPort, f *Frame) bool {
	prio, most := f.Prio&7, int64(f.Len)+int64(s.slack)
	if f.Flag&Lossless == 0 && (s.pool.Used()+most > p.worker.mostPooled || !s.fits(p, prio, f.Len) || s.tooLong(to, f)) {
		return false
	}
	return p.ingress.Absorbs(prio, most, p.worker.mostPooled)
}

// passOn sends a frame past the queues of its egress port.
func (s *Switch) passOn(x *Span, now units.Time, p, to *switchPort, f *Frame) {
	prio := f.Prio & 7
	if to.shown>>prio&1 != 0 && to.judges(f) {
		s.showPassing(now, to, f)
	}
	p.ingress.Count(prio, 1, uint64(f.Len))
	p.ingress.Note(prio, int64(f.Len))
	q := &to.queues[prio]
	to.left(q, 1, units.Size(f.Len))
	q.longest = max(q.longest, f.Len)
	d, e := x.leave(), p.env.Exit(to.number)
	d.copy(f)
	d.Gone, d.Port = now+x.Wires[to.number].took(f.Len), int32(to.number)
	e.Free = d.Gone
}

// serveUntil has a port send what leaves before an instant.
func (s *Switch) serveUntil(x *Span, port int, until units.Time) {
	p, wire, e := &s.ports[port], &x.Wires[port], s.ports[port].env.Exit(port)
	for wire.At < until {
		d := x.leave()
		s.dequeueOne(wire.At, p, uint8(7-bits.LeadingZeros8(p.waiting)), &d.Frame)
		d.Gone, d.Port = wire.At+wire.took(d.Len), int32(port)
		e.Free = d.Gone
		if wire.At = d.Gone; p.waiting == 0 {
			wire.At = units.Never
		}
	}
}

// serveAll has all ports do so.
func (s *Switch) serveAll(x *Span, until units.Time) {
	for i := range x.Wires {
		if x.Wires[i].At < until {
			s.serveUntil(x, i, until)
		}
	}
}
