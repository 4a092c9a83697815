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
// theirs. All is done as Receive and Serve do it, but keys and actions are worked out for many frames together.

// inOrder handles all events of a span that are left when some arrivals have been handled.
func (s *Switch) inOrder(x *fabric.Span, taken int) {
	w := s.workers[0]
	frames := x.Frames[taken:]
	keys := x.Keys[taken:]
	env, c, mine := w.env, &w.cache, scratchOf(w.env.Pool)
	v, f, a := &mine.vector, &mine.frame, &mine.agenda
	env.AskAll(frames[:min(fabric.MaxBurst, len(frames))])
	known, first, used := 0, 0, 0 // the actions of frames from first on and before known are known
	a.plan(x, env)
	for i := range frames {
		key := keys[i]
		now, port := x.At(key), int(uint16(key))
		if a.next>>fabric.KeyPortBits < key>>fabric.KeyPortBits {
			s.serveInOrder(x, a, key>>fabric.KeyPortBits)
		}
		if i%fabric.MaxBurst == 0 {
			env.AskAll(frames[min(i+fabric.MaxBurst, len(frames)):min(i+2*fabric.MaxBurst, len(frames))])
		}
		switch env.Queue = fabric.QueueNothing; {
		case keys[i+1]>>fabric.KeyPortBits == key>>fabric.KeyPortBits:
			env.Queue = fabric.QueueAll
		case a.serves(x, now):
			env.Queue = fabric.QueueIfDependent
		}
		p := &s.ports[port]
		switch {
		case !s.portless || now >= c.until || s.counts.Changes.Load() != c.changes:
			known = i
		case i >= known || c.used != used: // what was remembered meanwhile may have displaced an action
			used, first = c.used, i
			known = i + s.known(&s.ports[0], &v.match, frames[i:min(i+fabric.MaxBurst, len(frames))], v.acts[:])
			v.sums = [pfc.Classes]tally{} // they are counted one by one
		}
		f.Copy(&frames[i]) // what arrived is not changed
		if i < known && now < p.attend && p.refused == 0 && !p.sampled {
			s.receiveKnown(now, p, f, v.acts[i-first]|s.through(p))
			p.wakeToAnswer(now)
		} else {
			s.Receive(now, port, unsafe.Slice(f, 1))
		}
		for _, out := range env.UsedExits() {
			e, wire := env.Exit(int(out)), &x.Wires[out]
			d := x.AddDeparture()
			d.Frame.Copy(&e.Frames[0])
			e.N = 0
			e.Free = now + wire.Took(d.Len)
			d.Gone, d.Port = e.Free, int32(out)
			if wire.At < e.Free {
				a.put(x, int(out), e.Free)
			}
		}
		if env.Wakes() {
			a.woken(x, env, now)
		}
	}
	s.serveInOrder(x, a, math.MaxUint64>>fabric.KeyPortBits)
}

// agenda is when ports are to be served within a span: keys as those of arrivals, sorted from done on. A port whose
// time has changed meanwhile is in it more than once.
type agenda struct {
	keys []uint64
	done int
	next uint64 // the first of those to come, or more than any
}

// plan begins the agenda of a span, and notes when ports are to be served as their node knows it.
func (a *agenda) plan(x *fabric.Span, env *fabric.Env) {
	a.keys, a.done = a.keys[:0], 0
	for i := range x.Wires {
		at := x.Wires[i].At
		env.SetDue(i, at)
		if at < x.End {
			a.keys = append(a.keys, uint64(at-x.Base)<<fabric.KeyPortBits|uint64(i))
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

// put puts down when a port is to be served. Most of what is put down is later than all that is there.
func (a *agenda) put(x *fabric.Span, port int, at units.Time) {
	if x.Wires[port].At = at; at >= x.End {
		return
	}
	key := uint64(at-x.Base)<<fabric.KeyPortBits | uint64(port)
	a.keys = append(a.keys, key)
	i := len(a.keys) - 1
	for ; i > a.done && a.keys[i-1] > key; i-- {
		a.keys[i] = a.keys[i-1]
	}
	a.keys[i] = key
	a.next = min(a.next, key)
}

// first is the next entry, and whether it holds.
func (a *agenda) first(x *fabric.Span) (at units.Time, port int, valid bool) {
	at, port = x.At(a.next), int(uint16(a.next))
	return at, port, x.Wires[port].At == at
}

// serves reports whether a port is to be served at an instant before which none is.
func (a *agenda) serves(x *fabric.Span, now units.Time) bool {
	for x.At(a.next) == now {
		if _, _, valid := a.first(x); valid {
			return true
		}
		a.done++
		a.note()
	}
	return false
}

// serveInOrder has the ports send what leaves before an instant.
func (s *Switch) serveInOrder(x *fabric.Span, a *agenda, until uint64) {
	env := s.workers[0].env
	for a.next>>fabric.KeyPortBits < until {
		now, port, valid := a.first(x)
		a.done++
		if a.note(); !valid {
			continue
		}
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
		env.SetDue(port, next)
		if next != units.Never {
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
