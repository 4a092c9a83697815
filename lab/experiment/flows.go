package experiment

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"photon/dataplane"
	"photon/lab/topology"
	"photon/lab/workload"
	"photon/marking"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// Flow is a flow before it is sent. There is one for each that starts in a run:
// it is small.
type Flow struct {
	*FlowKind
	From       int // nodes
	To         int
	Size       units.Size // 0: until it is stopped
	Start      units.Time
	Stop       units.Time // 0: at its end
	DSCP       uint8
	AddWhenDue bool   // its sender need not know of it before it begins
	Step       uint16 // of a group or a collective that is repeated: 0 is the first time
	Shared     uint32 // whose messages they are; 0: of none

	Wait *Wait // it begins when that is over, at its sender; Start is units.Never until then. nil: it does not wait
}

// maxRepeat is how often a group of flows or a collective can come.
const maxRepeat = math.MaxUint16

// FlowKind is what the flows of a group or a workload have in common.
type FlowKind struct {
	Group  string
	Rate   units.Rate // 0: no limit
	Begin  units.Rate // 0: line rate
	Weight float64
	Cap    units.Rate

	exact bool // when they start is drawn already
	lasts bool // they stop so long after their start
}

// Sends lists all flows of a run.
func (e *Experiment) Sends(p *topology.Plan, seed uint64) (list []Flow, err error) {
	groups, own, nics := map[string]*members{}, make([]span, len(e.Flows)), NICs{Plan: p}
	for i := range e.Flows {
		g, first := &e.Flows[i], len(list)
		if list, err = e.group(p, g, rand.New(rand.NewPCG(seed, uint64(i))), &nics, list); err != nil {
			return nil, err
		}
		list = g.again(list, first)
		own[i] = span{first, len(list)}
		join(groups, g.label(), own[i])
	}
	if e.checked { // else it is not of an experiment, and there are no links
		if err := checkWays(p, list); err != nil {
			return nil, err // phases go by round trips
		}
		e.phases(p, seed, list)
	}
	if len(e.Listed) > 0 {
		kind, all := &FlowKind{Group: ListedGroup, Weight: 1}, p.Hosts()
		list = slices.Grow(list, len(e.Listed))
		for _, l := range e.Listed {
			from, to := nics.Next(all[l.From], all[l.To])
			list = append(list, Flow{FlowKind: kind, From: from, To: to, Size: l.Size, Start: l.Start, DSCP: l.DSCP, AddWhenDue: true})
		}
	}
	for i := range e.Workloads {
		before := len(list)
		if list, err = e.arrivals(p, &e.Workloads[i], seed<<8^uint64(i), &nics, list); err != nil {
			return nil, err
		}
		for k := before; k < len(list) && e.Workloads[i].Messages; k++ {
			list[k].Shared, list[k].AddWhenDue = uint32(i+1), false
		}
		join(groups, e.Workloads[i].Name.V, span{before, len(list)})
	}
	if list, err = e.depend(p, seed, list, groups, own); err == nil && p.Several() {
		startAtNICs(list)
	}
	return list, err
}

// phases moves flows that start at a time that an experiment gives by what nobody
// controls: no two hosts do something at one instant.
func (e *Experiment) phases(p *topology.Plan, seed uint64, list []Flow) {
	most := e.StartPhase(p, list)
	if most <= 0 {
		return
	}
	random := rand.New(rand.NewPCG(seed, 1<<41))
	for i := range list {
		if f := &list[i]; !f.exact && f.Start != units.Never {
			phase := units.Time(random.Int64N(int64(most)))
			if f.Start += phase; f.Stop > 0 && f.lasts {
				f.Stop += phase
			}
		}
	}
}

// StartPhase is how much later than it says a flow starts at most: a round-trip time, if
// the experiment says nothing else.
func (e *Experiment) StartPhase(p *topology.Plan, list []Flow) units.Time {
	if s := e.Parameters.StartPhase.Value; s.IsSet() {
		return s.V
	}
	return e.Known(p, list, 0).RTT
}

// ListedGroup is the group of all listed flows.
const ListedGroup = "listed"

// DependentGroup is the group of all that Dependent lists.
const DependentGroup = "trace"

// label is what probes call a group.
func (g *FlowGroup) label() string { return g.Name.Or(g.From.V + ">" + g.To.V) }

// stops is how to have what a limit of 0 bits per second seems to say.
const stops = "a flow is stopped by its group's stop or lasts"

func (e *Experiment) group(p *topology.Plan, g *FlowGroup, random *rand.Rand, nics *NICs, list []Flow) ([]Flow, error) {
	from, err := hosts(p, g.From)
	if err != nil {
		return nil, err
	}
	to, err := hosts(p, g.To)
	if err != nil {
		return nil, err
	}
	switch {
	case g.Count.Or(1) < 1:
		return nil, at(g.Count, "count %d: at least 1", g.Count.V)
	case g.Size.V < 0 || g.Start.V < 0 || g.Spread.V < 0 || g.Every.V < 0 || g.Rate.V < 0 || g.Begin.V < 0 || g.Lasts.V < 0 || g.Cap.V < 0 || g.Step.V < 0:
		return nil, at(g.From, "sizes, times and rates of flows must not be negative")
	case g.Rate.IsSet() && g.Rate.V == 0:
		return nil, at(g.Rate, "flows %s: a rate of 0bps (%s)", g.label(), stops)
	case g.Begin.IsSet() && g.Begin.V == 0:
		return nil, at(g.Begin, "flows %s: they cannot begin at 0bps (start says when they begin)", g.label())
	case g.Cap.IsSet() && g.Cap.V == 0:
		return nil, at(g.Cap, "flows %s: a cap of 0bps (%s)", g.label(), stops)
	case g.Weight.Or(1) <= 0:
		return nil, at(g.Weight, "weight %v must be positive", g.Weight.V)
	case g.DSCP.V < 0 || g.DSCP.V > 63:
		return nil, at(g.DSCP, "DSCP %d: there are 0 to 63", g.DSCP.V)
	case g.Gap.IsSet() && g.Repeat.IsSet() && g.Gap.V >= 0:
	case g.Gap.IsSet() && (g.Every.IsSet() || !g.Lasts.IsSet() || g.Gap.V < 0 || g.Gap.V+g.Lasts.V <= 0):
		return nil, at(g.Gap, "a gap is between flows that last for a time, and stands instead of every")
	case g.Every.IsSet() && !g.Size.IsSet() && !g.Lasts.IsSet():
		return nil, at(g.Every, "flows that come again need a size, or a time that they last")
	case g.Lasts.IsSet() && g.Stop.IsSet():
		return nil, at(g.Lasts, "flows either stop at a time or last for a time")
	case g.Stop.IsSet() && g.Stop.V <= g.Start.V:
		return nil, at(g.Stop, "flows %s stop at %v, and start at %v", g.label(), g.Stop.V, g.Start.V)
	}
	if err := g.checkWaits(e); err != nil {
		return nil, err
	}
	pairs := pairUp(from, to)
	if len(pairs) == 0 {
		return nil, at(g.To, "a flow from %s to itself", g.To.V)
	}
	kind := &FlowKind{Group: g.label(), Rate: g.Rate.V, Begin: g.Begin.V, Weight: g.Weight.Or(1), Cap: g.Cap.V, exact: g.Spread.V > 0, lasts: g.Lasts.V > 0}
	until := g.Until.Or(e.Duration)
	every := g.Every.V
	if g.Gap.IsSet() && !g.Repeat.IsSet() {
		every = g.Lasts.V + g.Gap.V
	}
	times := 1.0
	if every > 0 {
		times = max(1, math.Ceil(float64(until-g.Start.V)/float64(every)))
	}
	n := times * float64(max(g.Repeat.V, 1)) * float64(g.Count.Or(1)) * float64(len(pairs))
	if n > workload.MaxArrivals {
		return nil, at(g.To, "flows %s are about %.2g; %d are the most", g.label(), n, workload.MaxArrivals)
	}
	last := float64(max(g.Start.V, g.Stop.V)) + float64(g.Spread.V) + float64(g.Lasts.V) + n/times*float64(g.Step.V)
	if last > float64(forever) || g.Until.V > forever || g.Every.V > forever || g.Gap.V > forever {
		return nil, at(g.From, "flows %s: they would last until after %v", g.label(), forever)
	}
	for again := g.Start.V; ; again += every {
		k := 0
		for _, pair := range pairs {
			for range g.Count.Or(1) {
				from, to := nics.Next(pair[0], pair[1])
				f := Flow{
					FlowKind: kind, From: from, To: to, Size: g.Size.V, Start: again + units.Time(k)*g.Step.V, DSCP: uint8(g.DSCP.V),
				}
				if g.Stop.IsSet() {
					f.Stop = g.Stop.V + units.Time(k)*g.Step.V
				}
				if g.Spread.V > 0 {
					f.Start += units.Time(random.Int64N(int64(g.Spread.V)))
				}
				if g.Lasts.V > 0 {
					f.Stop = f.Start + g.Lasts.V
				}
				f.AddWhenDue = f.Size > 0 && f.Stop == 0 && f.Weight == 1 && f.Cap == 0 && !e.changed(f.Group)
				list = append(list, f)
				k++
			}
		}
		if every == 0 || again+every >= until {
			return list, nil
		}
	}
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

// Known is what schemes may know of an experiment's network.
func (e *Experiment) Known(p *topology.Plan, flows []Flow, seed uint64) scheme.Network {
	n := scheme.Network{Line: e.Parameters.LinkRate.Value.V, Seed: seed}
	for i := range p.Nodes {
		for _, end := range p.Nodes[i].Ends {
			if !slices.Contains(n.Rates, end.Link.Rate) {
				n.Rates = append(n.Rates, end.Link.Rate)
			}
		}
	}
	seen := map[topology.Pair]bool{}
	for _, f := range flows {
		if f.Size == 0 {
			n.LongFlows++
		}
		if pair := p.PairOf(f.From, f.To); !seen[pair] {
			seen[pair] = true
			ways := p.Ways(f.From, f.To)
			n.RTT = max(n.RTT, 2*ways.Longest(func(_ int, l dataplane.Link) units.Time { return l.Delay }))
			n.PathRTT, n.Hops = max(n.PathRTT, e.packetRTT(ways)), max(n.Hops, len(ways))
			n.Packet = max(n.Packet, units.Size(p.Nodes[f.From].Ends[0].Link.WireBytes(int(e.Packet()))))
		}
	}
	return n
}

// ackBytes of an acknowledgement over IPv4, without FCS.
const ackBytes = HeaderBytes + wire.AETHLen

// packetRTT is from when a full packet has left until its acknowledgement is there, in an empty network, if both take
// the longest of the shortest paths.
func (e *Experiment) packetRTT(ways topology.Ways) units.Time {
	there := func(i int, l dataplane.Link) units.Time {
		if i == 0 {
			return l.Delay
		}
		return l.Delay + l.Serialize(int(e.Packet()))
	}
	back := func(_ int, l dataplane.Link) units.Time { return l.Delay + l.Serialize(ackBytes) }
	return ways.Longest(there) + ways.Longest(back)
}

// CPs gives ports of certain rates congestion points of their own.
func (u SchemeUse) CPs(n scheme.Network, others func(marking.Place) marking.CP) (func(marking.Place) marking.CP, error) {
	if len(u.ByRate) == 0 {
		return others, nil
	}
	made := map[units.Rate]func(marking.Place) marking.CP{}
	for rate, params := range u.ByRate {
		n.Line = rate
		use := SchemeUse{Name: u.Name, Params: maps.Clone(u.Params)}
		if use.Params == nil {
			use.Params = map[string]Sourced[string]{}
		}
		maps.Copy(use.Params, params)
		parts, err := use.Build(n)
		if err != nil {
			return nil, err
		}
		made[rate] = parts.CP
	}
	return func(q marking.Place) marking.CP {
		if cp, ok := made[q.Rate]; ok {
			return cp(q)
		}
		return others(q)
	}, nil
}

// Build makes the parts of a scheme.
func (u SchemeUse) Build(n scheme.Network) (scheme.Parts, error) {
	s, err := scheme.Get(u.Name.V)
	if err != nil {
		return scheme.Parts{}, err
	}
	return s.Build(n, u.Overrides())
}
