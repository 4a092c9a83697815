package build

import (
	"errors"
	"maps"

	"photon/dataplane"
	"photon/fabric"
	"photon/lab/experiment"
	"photon/lab/topology"
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

// fastest are the highest rates that events give the links of ports.
func fastest(e *experiment.Experiment, plan *topology.Plan) (map[experiment.Place]units.Rate, error) {
	rates := map[experiment.Place]units.Rate{}
	for i := range e.Events {
		ev := &e.Events[i]
		if !ev.Link.IsSet() {
			continue
		}
		places, err := ev.Places(plan)
		if err != nil {
			return nil, err
		}
		for _, at := range bothEnds(plan, places) {
			rates[at] = max(rates[at], ev.Rate.V)
		}
	}
	return rates, nil
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
