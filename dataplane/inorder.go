package dataplane

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"photon/pfc"
	"photon/units"
)

// Where what happens at one port of a switch may concern another within a span, because a peer is paused or is to be,
// the events of a span are handled in their order: what comes at an instant before what is to leave then, and ports in
// theirs. All is done as Receive and Serve do it, but keys and actions are worked out for many frames together.

// inOrder handles all events of a span that are left when some arrivals have been handled.
func (s *Switch) inOrder(x *Span, taken int) {
	w := s.workers[0]
	frames := x.Frames[taken:]
	keys := x.Keys[taken:]
	env, v, c := w.env, &w.env.scratch.vector, &w.cache
	env.askAll(frames[:min(MaxBurst, len(frames))])
	known, first, used := 0, 0, 0 // the actions of frames from first on and before known are known
	x.plan(env)
	for i := range frames {
		key := keys[i]
		now, port := x.at(key), int(uint16(key))
		if x.agenda.next>>KeyPortBits < key>>KeyPortBits {
			s.serveInOrder(x, key>>KeyPortBits)
		}
		if i%MaxBurst == 0 {
			env.askAll(frames[min(i+MaxBurst, len(frames)):min(i+2*MaxBurst, len(frames))])
		}
		switch env.Queue = QueueNothing; {
		case keys[i+1]>>KeyPortBits == key>>KeyPortBits:
			env.Queue = QueueAll
		case x.serves(now):
			env.Queue = QueueIfDependent
		}
		p, f := &s.ports[port], &env.scratch.frame
		switch {
		case !s.portless || now >= c.until || s.changes.Load() != c.changes:
			known = i
		case i >= known || c.used != used: // what was remembered meanwhile may have displaced an action
			used, first = c.used, i
			known = i + s.known(&s.ports[0], &v.match, frames[i:min(i+MaxBurst, len(frames))], v.acts[:])
			v.sums = [pfc.Classes]tally{} // they are counted one by one
		}
		f.copy(&frames[i]) // what arrived is not changed
		if i < known && now < p.attend && p.refused == 0 && !p.sampled {
			s.receiveKnown(now, p, f, v.acts[i-first]|s.through(p))
			p.wakeToAnswer(now)
		} else {
			s.Receive(now, port, unsafe.Slice(f, 1))
		}
		for _, out := range env.Left() {
			e, wire := env.Exit(int(out)), &x.Wires[out]
			d := x.leave()
			d.Frame.copy(&e.Frames[0])
			e.N = 0
			e.Free = now + wire.took(d.Len)
			d.Gone, d.Port = e.Free, int32(out)
			if wire.At < e.Free {
				x.due(int(out), e.Free)
			}
		}
		if env.Wakes() {
			s.wokenInOrder(x, now)
		}
	}
	s.serveInOrder(x, math.MaxUint64>>KeyPortBits)
}

// agenda is when ports are to be served within a span: keys as those of arrivals, sorted from done on. A port whose
// time has changed meanwhile is in it more than once.
type agenda struct {
	keys []uint64
	done int
	next uint64 // the first of those to come, or more than any
}

// plan begins the agenda, and notes when ports are to be served as their node knows it.
func (x *Span) plan(env *Env) {
	a := &x.agenda
	a.keys, a.done = a.keys[:0], 0
	for i := range x.Wires {
		at := x.Wires[i].At
		env.SetDue(i, at)
		if at < x.End {
			a.keys = append(a.keys, uint64(at-x.Base)<<KeyPortBits|uint64(i))
		}
	}
	slices.Sort(a.keys)
	a.note()
}

func (a *agenda) note() {
	if a.next = math.MaxUint64; a.done < len(a.keys) {
		a.next = a.keys[a.done]
	}
}

// due puts down when a port is to be served. Most of what is put down is later than all that is there.
func (x *Span) due(port int, at units.Time) {
	if x.Wires[port].At = at; at >= x.End {
		return
	}
	a, key := &x.agenda, uint64(at-x.Base)<<KeyPortBits|uint64(port)
	a.keys = append(a.keys, key)
	i := len(a.keys) - 1
	for ; i > a.done && a.keys[i-1] > key; i-- {
		a.keys[i] = a.keys[i-1]
	}
	a.keys[i] = key
	a.next = min(a.next, key)
}

// nextDue is the next entry of the agenda, and whether it holds.
func (x *Span) nextDue() (at units.Time, port int, valid bool) {
	at, port = x.at(x.agenda.next), int(uint16(x.agenda.next))
	return at, port, x.Wires[port].At == at
}

// serves reports whether a port is to be served at an instant before which none is.
func (x *Span) serves(now units.Time) bool {
	for x.at(x.agenda.next) == now {
		if _, _, valid := x.nextDue(); valid {
			return true
		}
		x.agenda.done++
		x.agenda.note()
	}
	return false
}

// serveInOrder has the ports send what leaves before an instant.
func (s *Switch) serveInOrder(x *Span, until uint64) {
	env := s.workers[0].env
	for x.agenda.next>>KeyPortBits < until {
		now, port, valid := x.nextDue()
		x.agenda.done++
		if x.agenda.note(); !valid {
			continue
		}
		wire := &x.Wires[port]
		e, d := env.Exit(port), x.leave()
		env.SetDue(port, units.Never)
		sent, next := s.Serve(now, port, &d.Frame)
		if sent {
			e.Free = now + wire.took(d.Len)
			d.Gone, d.Port = e.Free, int32(port)
		} else if x.Left = x.Left[:len(x.Left)-1]; next <= now {
			panic(fmt.Sprintf("dataplane: port %d has nothing to send at %v and is due at %v", port, now, next))
		} else {
			x.Idle++
		}
		env.SetDue(port, next)
		if next != units.Never {
			next = max(next, e.Free)
		}
		x.due(port, next)
		if env.Wakes() {
			s.wokenInOrder(x, now)
		}
	}
}

// wokenInOrder notes when ports are to be served that were woken.
func (s *Switch) wokenInOrder(x *Span, now units.Time) {
	env := s.workers[0].env
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
			x.due(int(port), at)
		}
	}
}
