package sim

import "photon/units"

// sampler is a function that looks at the nodes at regular instants of virtual time, while no event is handled.
type sampler struct {
	every units.Time
	next  units.Time
	do    func(now units.Time) (idle units.Time)
	skips bool // calls in which it would do nothing, see EveryBusy
	asks  bool // it says itself when it is called next, see At
}

// Every has do called every span of virtual time, before the events of that instant.
func (w *World) Every(span units.Time, do func(now units.Time)) {
	w.addSampler(sampler{every: span, next: w.now + span, do: func(now units.Time) units.Time { do(now); return now }})
}

// EveryBusy is Every for a function that has nothing to do while no event happens, unless it is due by itself: do
// returns when that will be. Calls before both that and the next event are left out, so that idle time passes quickly.
func (w *World) EveryBusy(span units.Time, do func(now units.Time) (idle units.Time)) {
	w.addSampler(sampler{every: span, next: w.now + span, do: do, skips: true})
}

// At has do called at an instant, before the events of that instant, and then at the later one that it returns; Never
// ends it.
func (w *World) At(first units.Time, do func(now units.Time) (next units.Time)) {
	w.addSampler(sampler{next: first, do: do, asks: true})
}

func (w *World) addSampler(s sampler) {
	w.samplers = append(w.samplers, s)
	w.setDue()
}

// setDue notes which sampler is called next: the first that was added of those that are due first.
func (w *World) setDue() {
	w.due = units.Never
	for i := range w.samplers {
		if next := w.samplers[i].next; next < w.due {
			w.due, w.firstDue = next, i
		}
	}
}

// sample calls the samplers that are due up to an instant, in the order of time. It ends early if one of them has a
// node send something: that may be an event before the next sampler is due. next is the time of the next event.
func (w *World) sample(until, next units.Time) {
	for woken := false; !woken && w.due <= until; w.setDue() {
		i, at := w.firstDue, w.due
		w.setNow(at)
		w.samplers[i].next += w.samplers[i].every
		idle := w.samplers[i].do(at)
		woken = w.scheduleAllWoken()
		s := &w.samplers[i]
		if s.asks {
			s.next = idle
		}
		if s.skips && !woken {
			s.skip(min(idle, next))
		} else {
			w.unskip(at, i) // the other samplers may see something of what this one did
		}
	}
}

// skip leaves out the calls before an instant, except the last of them: that one sees the state that lasts until then.
func (s *sampler) skip(before units.Time) {
	if before > s.next {
		s.next += min((before-s.next)/s.every, (units.Never-1-s.next)/s.every) * s.every
	}
}

// unskip has samplers that skip calls called again after an instant; at it, if they come after a sampler in the list.
func (w *World) unskip(at units.Time, sampler int) {
	for i := range w.samplers {
		s := &w.samplers[i]
		from := at
		if i <= sampler {
			from++
		}
		if s.skips && s.next-from >= s.every {
			s.next -= (s.next - from) / s.every * s.every
		}
	}
}
