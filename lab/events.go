package lab

import (
	"fmt"
	"slices"
	"strings"

	"photon/dataplane"
	"photon/marking"
	"photon/units"
)

// change is something that happens at a time.
type change struct {
	at units.Time
	do func(now units.Time)
}

// changes lists what happens on the way: flows that are stopped, and events.
func (e *Experiment) changes(n *network) (list []change, err error) {
	for i := range n.flows {
		if f := &n.flows[i]; f.stop > 0 {
			list = append(list, change{f.stop, func(now units.Time) {
				if n.collect(); !f.done { // its place may be another's
					n.hosts[f.from].StopFlow(now, int(f.slot))
				}
			}})
		}
	}
	for _, ev := range e.Events {
		do, err := e.event(n, ev)
		if err != nil {
			return nil, err
		}
		list = append(list, change{ev.At.V, do})
	}
	slices.SortStableFunc(list, func(a, b change) int { return int(min(1, max(-1, a.at-b.at))) })
	return list, nil
}

// rater is a world whose links can change their rate.
type rater interface {
	SetRate(end dataplane.End, rate units.Rate) error
}

func (e *Experiment) event(n *network, ev Event) (func(units.Time), error) {
	if ev.Link.IsSet() {
		a, b, _ := strings.Cut(ev.Link.V, ">")
		node, port, err := n.plan.Port(a, b)
		if err != nil {
			return nil, at(ev.Link, "%v", err)
		}
		w, ok := n.world.(rater)
		if !ok {
			return nil, fmt.Errorf("this world's links cannot change their rate")
		}
		end := n.plan.Nodes[node].Ends[port]
		return func(units.Time) {
			_ = w.SetRate(dataplane.End{Node: n.ids[node], Port: port}, ev.Rate.V) // both ends are there
			_ = w.SetRate(dataplane.End{Node: n.ids[end.Node], Port: end.Port}, ev.Rate.V)
		}, nil
	}
	return func(now units.Time) {
		n.collect()
		for i := range n.flows {
			f := &n.flows[i]
			if f.group != ev.Flow.V {
				continue
			}
			h := n.hosts[f.from]
			if ev.Rate.IsSet() && !f.done {
				h.SetLimit(now, int(f.slot), ev.Rate.V)
			}
			if ev.Cap.IsSet() && !f.done {
				n.shares[h.Hash(int(f.slot))] = marking.Share{Weight: f.weight, Max: ev.Cap.V}
			}
		}
	}, nil
}

// happen arranges that changes are made at their times, or at the next tick.
func (n *network) happen(list []change, tick units.Time) {
	if len(list) == 0 {
		return
	}
	n.world.Every(tick, func(now units.Time) {
		for len(list) > 0 && list[0].at <= now {
			list[0].do(now)
			list = list[1:]
		}
	})
}
