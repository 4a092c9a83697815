package build

import (
	"fmt"
	"slices"

	"photon/fabric"
	"photon/lab/experiment"
	"photon/marking"
	"photon/units"
)

// change is something that happens at a time.
type change struct {
	at units.Time
	do func(now units.Time)
}

// Schedule arranges what happens on the way: flows that are stopped, and events, each
// at its time.
func (n *Network) Schedule(e *experiment.Experiment) error {
	list, err := n.changes(e)
	if err == nil {
		n.happen(list, e.Measure.Sample)
	}
	return err
}

func (n *Network) changes(e *experiment.Experiment) (list []change, err error) {
	for _, f := range n.Flows.Present() {
		if f.Stop > 0 {
			list = append(list, change{f.Stop, func(now units.Time) { n.stop(now, f) }})
		}
	}
	for _, ev := range e.Events {
		do, err := n.event(&ev)
		if err != nil {
			return nil, err
		}
		list = append(list, change{ev.At.V, do})
		if ev.Link.IsSet() && n.convergence > 0 {
			list = append(list, change{ev.At.V + n.convergence, n.converged})
		}
	}
	slices.SortStableFunc(list, func(a, b change) int { return int(min(1, max(-1, a.at-b.at))) })
	return list, nil
}

// rater is a world whose links can change their rate.
type rater interface {
	SetRate(end fabric.End, rate units.Rate) error
}

// waiter is a world that calls what is to happen at an instant; virtual time waits for it.
type waiter interface {
	At(first units.Time, do func(now units.Time) (next units.Time))
}

func (n *Network) event(ev *experiment.Event) (func(units.Time), error) {
	if ev.Link.IsSet() {
		w, ok := n.World.(rater)
		if !ok {
			return nil, fmt.Errorf("this world's links cannot change their rate")
		}
		places, err := ev.Places(n.Plan)
		if err != nil {
			return nil, err
		}
		return func(now units.Time) { n.setFault(n.setLinks(now, w, places, ev.Rate.V)) }, nil
	}
	return func(now units.Time) {
		n.Collect()
		for _, f := range n.Flows.Present() {
			if f.Group != ev.Flow.V || f.Done || f.Stopped { // the place of one that sends no more may be another's
				continue
			}
			h := n.Hosts[f.From]
			if ev.Rate.IsSet() {
				h.SetLimit(now, int(f.Slot), ev.Rate.V)
			}
			if ev.Cap.IsSet() {
				n.shares[h.Hash(int(f.Slot))] = marking.Share{Weight: f.Weight, Max: ev.Cap.V}
			}
		}
	}, nil
}

// happen arranges that changes are made at their times, or in a world that knows none but ticks at the next.
func (n *Network) happen(list []change, tick units.Time) {
	if len(list) == 0 {
		return
	}
	do := func(now units.Time) (next units.Time) {
		for ; len(list) > 0; list = list[1:] {
			if list[0].at > now {
				return list[0].at
			}
			list[0].do(now)
		}
		return units.Never
	}
	if w, ok := n.World.(waiter); ok {
		w.At(list[0].at, do)
		return
	}
	n.World.Every(tick, func(now units.Time) { do(now) })
}
