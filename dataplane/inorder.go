package dataplane

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// Where what happens at one port of a switch may concern another within a span, because a peer is paused or is to be,
// the events of a span are handled in their order: what comes at an instant before what is to leave then, and ports in
// theirs. Keys and actions are still worked out for many frames together, and most frames are taken as others are
// (takeChosen). What needs more is received and served as if there were no span.

// inOrder handles all events of a span that are left when some arrivals have been handled.
func (s *Switch) inOrder(x *fabric.Span, taken int) {
	w, mine := s.workers[0], scratchOf(s.workers[0].env.Pool)
	frames, keys := x.Frames[taken:], x.Keys[taken:]
	env, c, v := w.env, &w.cache, &mine.vector
	s.agenda = &mine.agenda
	s.agenda.begin(x, env)
	s.setBounds(w)
	env.AskAll(frames[:min(fabric.MaxBurst, len(frames))])
	asked, known, first, used := 0, 0, 0, 0 // the actions of frames from first on and before known are known
	plain := 0                              // before it they only name ports
	together := s.together()
	for i := 0; i < len(frames); {
		now, port := x.At(keys[i]), int(uint16(keys[i]))
		s.serveInOrder(x, keys[i]>>fabric.KeyPortBits)
		if i >= asked {
			asked += fabric.MaxBurst
			env.AskAll(frames[min(asked, len(frames)):min(asked+fabric.MaxBurst, len(frames))])
		}
		switch {
		case !s.portless || now >= c.until || s.counts.Changes.Load() != c.changes:
			known, plain = i, i
		case i >= known || c.used != used: // what was remembered meanwhile may have displaced an action
			used, first = c.used, i
			known = i + s.known(&s.ports[0], &v.match, frames[i:min(i+fabric.MaxBurst, len(frames))], v.acts[:])
			v.sums = [pfc.Classes]tally{} // they are counted one by one
			if plain = known; v.special() {
				if plain = i; s.config.Paths.By == ByFlow {
					plain += s.chooseAll(env, frames[i:known], v.acts[:known-i])
				}
			}
		}
		if i < plain && together && w.waits == 0 && x.At(keys[plain-1]) < c.until {
			if n := s.takeChosen(x, keys[i:plain+1], frames[i:plain], v.acts[i-first:plain-first]); n > 0 {
				i += n
				continue
			}
		}
		switch env.Queue = fabric.QueueNothing; {
		case atOnce(keys[i+1], keys[i]):
			env.Queue = fabric.QueueAll
		case atOnce(s.agenda.next, keys[i]):
			env.Queue = fabric.QueueIfDependent
		}
		p, f := &s.ports[port], &mine.frame
		f.Copy(&frames[i]) // what arrived is not changed
		if i < known && now < p.attend && p.refused == 0 && !p.sampled {
			s.receiveKnown(now, p, f, v.acts[i-first]|s.through(p))
			p.wakeToAnswer(now)
		} else {
			s.Receive(now, port, unsafe.Slice(f, 1))
		}
		s.sendInOrder(x, now)
		i++
	}
	s.serveInOrder(x, math.MaxUint64>>fabric.KeyPortBits)
	s.agenda = nil
}

// together reports whether arrivals may be taken by takeChosen in order. What else is in the way of apart concerns
// single frames, and is asked there.
func (s *Switch) together() bool {
	w := s.workers[0]
	return !s.credited && s.mins == nil && w.outboxes == nil && w.env.Queued == nil
}

// sendInOrder sends the frames that passed their queues when one was received, and notes which ports were woken.
func (s *Switch) sendInOrder(x *fabric.Span, now units.Time) {
	env := s.workers[0].env
	for _, out := range env.UsedExits() {
		e, wire := env.Exit(int(out)), &x.Wires[out]
		d := x.AddDeparture()
		d.Frame.Copy(&e.Frames[0])
		e.N = 0
		e.Free = now + wire.Took(d.Len)
		d.Gone, d.Port = e.Free, int32(out)
		if wire.At < e.Free {
			s.agenda.put(x, int(out), e.Free)
		}
	}
	if env.Wakes() {
		s.agenda.woken(x, env, now)
	}
}

// agenda is when ports are to be served within a span.
type agenda struct {
	keys   []uint64 // by port: when, as keys of arrivals are, or math.MaxUint64; a multiple of eight
	firsts []uint64 // the least of each eight
	next   uint64   // the least of all
}

// begin begins the agenda of a span, and notes when ports are to be served as their node knows it.
func (a *agenda) begin(x *fabric.Span, env *fabric.Env) {
	a.keys, a.firsts = a.keys[:0], a.firsts[:0]
	for len(a.firsts)*8 < len(x.Wires) {
		a.firsts = append(a.firsts, math.MaxUint64)
	}
	for len(a.keys) < len(a.firsts)*8 {
		a.keys = append(a.keys, math.MaxUint64)
	}
	for i := range x.Wires {
		at := x.Wires[i].At
		env.SetDue(i, at)
		if at < x.End {
			a.keys[i] = uint64(at-x.Base)<<fabric.KeyPortBits | uint64(i)
			a.firsts[i/8] = min(a.firsts[i/8], a.keys[i])
		}
	}
	a.next = slices.Min(a.firsts)
}

// put puts down when a port is to be served. It compares all eight of a group without branches: which is the least
// cannot be foreseen, and a wrong guess of the processor costs more than the comparisons.
func (a *agenda) put(x *fabric.Span, port int, at units.Time) {
	element[fabric.Wire](unsafe.Pointer(unsafe.SliceData(x.Wires)), uint(port)).At = at
	key := uint64(at-x.Base)<<fabric.KeyPortBits | uint64(port)
	if at >= x.End {
		key = math.MaxUint64
	}
	k := element[[8]uint64](unsafe.Pointer(unsafe.SliceData(a.keys)), uint(port)/8)
	k[port&7] = key
	first := min(k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7])
	a.firsts[port>>3] = first
	for _, other := range a.firsts {
		first = min(first, other)
	}
	a.next = first
}

// serveInOrder has the ports send what leaves before an instant.
func (s *Switch) serveInOrder(x *fabric.Span, until uint64) {
	env, a := s.workers[0].env, s.agenda
	for a.next>>fabric.KeyPortBits < until {
		now, port := x.At(a.next), int(uint16(a.next))
		wire := &x.Wires[port]
		e, d := env.Exit(port), x.AddDeparture()
		env.SetDue(port, units.Never)
		sent, next := s.Serve(now, port, &d.Frame)
		if sent {
			e.Free = now + wire.Took(d.Len)
			d.Gone, d.Port = e.Free, int32(port)
		} else if x.Departures = x.Departures[:len(x.Departures)-1]; next <= now {
			panic(fmt.Sprintf("dataplane: port %d has nothing to send at %v and is due at %v", port, now, next))
		} else {
			x.Idle++
		}
		if env.SetDue(port, next); next != units.Never {
			next = max(next, e.Free)
		}
		a.put(x, port, next)
		if env.Wakes() {
			a.woken(x, env, now)
		}
	}
}

// woken notes when ports are to be served that were woken.
func (a *agenda) woken(x *fabric.Span, env *fabric.Env, now units.Time) {
	for _, port := range env.Woken() {
		wire := &x.Wires[port]
		if wire.PerByte == 0 {
			continue
		}
		at := env.Due(int(port))
		if at != units.Never {
			at = max(at, env.Exit(int(port)).Free, now)
		}
		if at != wire.At {
			a.put(x, int(port), at)
		}
	}
}
