package experiment

import (
	"math"
	"math/rand/v2"
	"slices"

	"photon/config"
	"photon/lab/topology"
	"photon/lab/workload"
	"photon/units"
)

// label is what probes call a group.
func (g *FlowGroup) label() string { return g.Name.Or(g.From.V + ">" + g.To.V) }

// stops is how to have what a limit of 0 bits per second seems to say.
const stops = "a flow is stopped by its group's stop or lasts"

// group adds the flows of a group to a list.
func (e *Experiment) group(p *topology.Plan, g *FlowGroup, random *rand.Rand, nics *NICs, list []Flow) ([]Flow, error) {
	from, err := hosts(p, g.From)
	if err != nil {
		return nil, err
	}
	to, err := hosts(p, g.To)
	if err != nil {
		return nil, err
	}
	if err := g.check(); err != nil {
		return nil, err
	}
	if err := g.checkWaits(e); err != nil {
		return nil, err
	}
	pairs := pairUp(from, to)
	if len(pairs) == 0 {
		return nil, at(g.To, "a flow from %s to itself", g.To.V)
	}
	every, until := g.every(), g.Until.Or(e.Duration)
	if err := g.checkEnd(every, until, len(pairs)); err != nil {
		return nil, err
	}
	kind := &FlowKind{
		Group: g.label(), Rate: g.Rate.V, Begin: g.Begin.V, Weight: g.Weight.Or(1), Cap: g.Cap.V,
		exact: g.Spread.V > 0, lasts: g.Lasts.V > 0,
	}
	for again := g.Start.V; ; again += every {
		late := units.Time(0) // what steps add
		for _, pair := range pairs {
			for range g.Count.Or(1) {
				from, to := nics.Next(pair[0], pair[1])
				f := Flow{
					FlowKind: kind, From: from, To: to, Size: g.Size.V, Start: again + late, DSCP: uint8(g.DSCP.V),
				}
				if g.Stop.IsSet() {
					f.Stop = g.Stop.V + late
				}
				if g.Spread.V > 0 {
					f.Start += units.Time(random.Int64N(int64(g.Spread.V)))
				}
				if g.Lasts.V > 0 {
					f.Stop = f.Start + g.Lasts.V
				}
				f.AddWhenDue = f.Size > 0 && f.Stop == 0 && f.Weight == 1 && f.Cap == 0 && !e.changed(f.Group)
				list = append(list, f)
				late += g.Step.V
			}
		}
		if every == 0 || again+every >= until {
			return list, nil
		}
	}
}

// every is how long after each other the flows come again; 0: they come once.
func (g *FlowGroup) every() units.Time {
	if g.Gap.IsSet() && !g.Repeat.IsSet() {
		return g.Lasts.V + g.Gap.V
	}
	return g.Every.V
}

// check says which values no group can have, and which cannot be together.
func (g *FlowGroup) check() error {
	switch {
	case g.Count.Or(1) < 1:
		return at(g.Count, "count %d: at least 1", g.Count.V)
	case min(g.Start.V, g.Spread.V, g.Every.V, g.Lasts.V, g.Step.V) < 0 || min(g.Rate.V, g.Begin.V, g.Cap.V) < 0 || g.Size.V < 0:
		return at(g.From, "sizes, times and rates of flows must not be negative")
	case g.Size.IsSet() && g.Size.V == 0:
		return at(g.Size, "size 0B: a flow has something to send (leave it out for an endless flow)")
	case g.Rate.IsSet() && g.Rate.V == 0:
		return at(g.Rate, "flows %s: a rate of 0bps (%s)", g.label(), stops)
	case g.Begin.IsSet() && g.Begin.V == 0:
		return at(g.Begin, "flows %s: they cannot begin at 0bps (start says when they begin)", g.label())
	case g.Cap.IsSet() && g.Cap.V == 0:
		return at(g.Cap, "flows %s: a cap of 0bps (%s)", g.label(), stops)
	case g.Weight.Or(1) <= 0:
		return at(g.Weight, "weight %v must be positive", g.Weight.V)
	}
	if err := checkDSCP("", g.DSCP); err != nil {
		return err
	}
	return g.checkTimes()
}

// checkDSCP says what no code point of flows can be. Flows without one of their own have 0.
func checkDSCP(of string, dscp config.Value[int]) error {
	switch {
	case dscp.V < 0 || dscp.V > 63:
		return at(dscp, "%sDSCP %d: there are 0 to 63", of, dscp.V)
	case dscp.IsSet() && dscp.V == 0:
		return at(dscp, "%sDSCP 0 would be as if it were left out (1 to 7 are of priority 0, too)", of)
	}
	return nil
}

// checkTimes says which times of a group contradict each other.
func (g *FlowGroup) checkTimes() error {
	switch {
	case g.Every.IsSet() && g.Every.V == 0:
		return at(g.Every, "flows %s: every 0ps: they come again after some time", g.label())
	case g.Lasts.IsSet() && g.Lasts.V == 0:
		return at(g.Lasts, "flows %s: lasts 0ps: a flow lasts for some time (absent: to its end)", g.label())
	case g.Gap.IsSet() && g.Repeat.IsSet() && g.Gap.V >= 0:
	case g.Gap.IsSet() && (g.Every.IsSet() || !g.Lasts.IsSet() || g.Gap.V < 0 || g.Gap.V+g.Lasts.V <= 0):
		return at(g.Gap, "a gap is between flows that last for a time, and stands instead of every")
	case g.Every.IsSet() && !g.Size.IsSet() && !g.Lasts.IsSet():
		return at(g.Every, "flows that come again need a size, or a time that they last")
	case g.Lasts.IsSet() && g.Stop.IsSet():
		return at(g.Lasts, "flows either stop at a time or last for a time")
	case g.Stop.IsSet() && g.Stop.V <= g.Start.V:
		return at(g.Stop, "flows %s stop at %v, and start at %v", g.label(), g.Stop.V, g.Start.V)
	case g.Until.IsSet() && g.every() == 0:
		return at(g.Until, "flows %s: until %v: the flows come once (every, or lasts and gap, say how often)",
			g.label(), g.Until.V)
	case g.Until.IsSet() && g.Until.V <= g.Start.V:
		return at(g.Until, "flows %s: until %v: they start at %v", g.label(), g.Until.V, g.Start.V)
	}
	return nil
}

// checkEnd refuses more flows than a run can have, and flows without end of their times.
func (g *FlowGroup) checkEnd(every, until units.Time, pairs int) error {
	times := 1.0
	if every > 0 {
		times = max(1, math.Ceil(float64(until-g.Start.V)/float64(every)))
	}
	once := float64(max(g.Repeat.V, 1)) * float64(g.Count.Or(1)) * float64(pairs)
	if n := times * once; n > workload.MaxArrivals {
		return at(g.To, "flows %s are about %.2g; %d are the most", g.label(), n, workload.MaxArrivals)
	}
	last := float64(max(g.Start.V, g.Stop.V)) + float64(g.Spread.V) + float64(g.Lasts.V) + once*float64(g.Step.V)
	if last > float64(forever) || max(g.Until.V, g.Every.V, g.Gap.V) > forever {
		return at(g.From, "flows %s: they would last until after %v", g.label(), forever)
	}
	return nil
}

// pairUp says who sends to whom.
func pairUp(from, to []int) (pairs [][2]int) {
	if len(from) == len(to) && len(from) > 1 {
		for i := range from {
			if from[i] != to[i] {
				pairs = append(pairs, [2]int{from[i], to[i]})
			}
		}
		return pairs
	}
	for _, a := range from {
		for _, b := range to {
			if a != b {
				pairs = append(pairs, [2]int{a, b})
			}
		}
	}
	return pairs
}

// changed reports whether an event changes the flows of a group.
func (e *Experiment) changed(group string) bool {
	return slices.ContainsFunc(e.Events, func(ev Event) bool { return ev.Flow.V == group })
}

// again has every flow of a group come again after its end. list ends with the flows of the group.
func (g *FlowGroup) again(list []Flow, first int) []Flow {
	n := len(list) - first
	for k := range max(g.Repeat.V, 1) - 1 {
		for i := range n {
			before := first + k*n + i
			f := list[first+i]
			f.Start, f.Step = units.Never, uint16(k+1)
			f.Wait = &Wait{Host: f.From, After: []Cause{{Flow: int32(before), What: Acknowledged}}, Delay: g.Gap.V}
			list = append(list, f)
		}
	}
	return list
}
