package build

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"photon/dataplane"
	"photon/fabric"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/pfc"
	"photon/units"
)

// linked is a switch whose links can fail while it runs.
type linked interface {
	PrepareLink(port int, state dataplane.LinkState) (*dataplane.LinkChange, error)
	SetLink(now units.Time, ch *dataplane.LinkChange)
	Prepare(c dataplane.SwitchConfig) (*dataplane.Change, error)
	Apply(now units.Time, ch *dataplane.Change)
}

var _ linked = (*dataplane.Switch)(nil)

// Fault is what went wrong on the way; the run is worth nothing then.
func (n *Network) Fault() error { return n.fault }

func (n *Network) setFault(err error) {
	if n.fault == nil {
		n.fault = err
	}
}

// setLinks gives the links of ports another rate, at both ends. A rate of 0 is a link that
// fails: what waits for it is discarded, its pauses are void, and the switches at its ends send by what
// else they have of equal cost, at once; all go by the routes that are left when these have converged. Any other
// rate brings it back.
func (n *Network) setLinks(now units.Time, w rater, places []experiment.Place, rate units.Rate) error {
	var failed error
	changed := false
	for _, at := range bothEnds(n.Plan, places) {
		key := [2]int{at.Node, at.Port}
		if up := rate > 0; up == n.down[key] {
			changed = true
			failed = errors.Join(failed, n.setLink(now, at, up))
			n.down[key], n.failed = !up, true
		}
		if rate > 0 {
			failed = errors.Join(failed, w.SetRate(fabric.End{Node: n.IDs[at.Node], Port: at.Port}, rate))
		}
	}
	if n.convergence > 0 {
		n.converging = append(n.converging, maps.Clone(n.down))
	} else if changed {
		failed = errors.Join(failed, n.reroute(now, n.down))
	}
	return failed
}

// bothEnds are the ports at both ends of the links of ports.
func bothEnds(plan *topology.Plan, places []experiment.Place) (ends []experiment.Place) {
	for _, at := range places {
		end := plan.Nodes[at.Node].Ends[at.Port]
		ends = append(ends, at, experiment.Place{Node: end.Node, Port: end.Port})
	}
	return ends
}

// speed is a rate that a link has from some moment on, and how much longer than at that rate the XOFF may take that is
// then behind a frame: the frame was begun when the link was slower.
type speed struct {
	rate   units.Rate
	behind units.Time
}

// speeds are the rates that events give the links of ports: headroom is for what may come then.
func speeds(e *experiment.Experiment, plan *topology.Plan) (map[experiment.Place][]speed, error) {
	list, slowest := map[experiment.Place][]speed{}, map[experiment.Place]units.Rate{}
	events := slices.Clone(e.Events)
	slices.SortStableFunc(events, func(a, b experiment.Event) int { return cmp.Compare(a.At.V, b.At.V) })
	longest := e.Parameters.LongestFrame()
	for i := range events {
		ev := &events[i]
		if !ev.Link.IsSet() || ev.Rate.V <= 0 {
			continue
		}
		places, err := ev.Places(plan)
		if err != nil {
			return nil, err
		}
		for _, at := range bothEnds(plan, places) {
			link := plan.Nodes[at.Node].Ends[at.Port].Link
			takes := func(rate units.Rate) units.Time {
				link.Rate = rate
				return link.Serialize(longest) + link.Serialize(pfc.FrameLen)
			}
			slow := cmp.Or(slowest[at], link.Rate)
			list[at] = append(list[at], speed{ev.Rate.V, max(0, takes(slow)-takes(ev.Rate.V))})
			slowest[at] = min(slow, ev.Rate.V)
		}
	}
	return list, nil
}

// converged has the routes follow the first event of a link that they have not followed.
func (n *Network) converged(now units.Time) {
	n.setFault(n.reroute(now, n.converging[0]))
	n.converging = n.converging[1:]
}

// setLink sets the state of a switch's link.
func (n *Network) setLink(now units.Time, at experiment.Place, up bool) error {
	s, ok := n.Switches[at.Node].(linked)
	if !ok {
		return errors.New("this switch's links cannot fail")
	}
	ch, err := s.PrepareLink(at.Port, dataplane.LinkState{Up: up, Shut: !up})
	if err == nil {
		s.SetLink(now, ch)
	}
	return err
}

// reroute has every switch go by the links that are up.
func (n *Network) reroute(now units.Time, down topology.Down) error {
	routes := n.Plan.RoutesOver(down, n.weighted)
	for i := range n.Plan.Nodes {
		c, ok := n.configs[i]
		if !ok {
			continue
		}
		c.Static = static(n.Plan, routes, i)
		n.configs[i] = c
		c.CP = nil // congestion points stay as they are
		s := n.Switches[i].(linked)
		ch, err := s.Prepare(c)
		if err != nil {
			return err
		}
		s.Apply(now, ch)
	}
	return nil
}
