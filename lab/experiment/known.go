package experiment

import (
	"maps"
	"slices"

	"photon/fabric"
	"photon/lab/topology"
	"photon/marking"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// Known is what schemes may know of an experiment's network.
func (e *Experiment) Known(p *topology.Plan, flows *FlowList, seed uint64) scheme.Network {
	n := scheme.Network{Line: e.Parameters.LinkRate.Value.V, Seed: seed, LongFlows: flows.Endless}
	for i := range p.Nodes {
		for _, end := range p.Nodes[i].Ends {
			if !slices.Contains(n.Rates, end.Link.Rate) {
				n.Rates = append(n.Rates, end.Link.Rate)
			}
		}
	}
	packet := int(e.Packet())
	for _, x := range flows.pairs {
		ways := p.Ways(x.from, x.to)
		n.RTT = max(n.RTT, 2*ways.Longest(func(_ int, l fabric.Link) units.Time { return l.Delay }))
		n.PathRTT, n.Hops = max(n.PathRTT, e.packetRTT(ways)), max(n.Hops, len(ways))
		n.Packet = max(n.Packet, units.Size(p.Nodes[x.from].Ends[0].Link.WireBytes(packet)))
	}
	return n
}

// Network is what schemes may know of the network with the flows of the experiment's own seed. All of these are gone
// through.
func (e *Experiment) Network() (scheme.Network, error) {
	p, err := e.Plan()
	if err != nil {
		return scheme.Network{}, err
	}
	flows, err := e.Sends(p, e.Seed)
	if err != nil {
		return scheme.Network{}, err
	}
	return e.Known(p, flows, e.Seed), nil
}

// ackBytes of an acknowledgement over IPv4, without FCS.
const ackBytes = HeaderBytes + wire.AETHLen

// packetRTT is from when a full packet has left until its acknowledgement is there, in an empty network, if both take
// the longest of the shortest paths.
func (e *Experiment) packetRTT(ways topology.Ways) units.Time {
	there := func(i int, l fabric.Link) units.Time {
		if i == 0 {
			return l.Delay
		}
		return l.Delay + l.Serialize(int(e.Packet()))
	}
	back := func(_ int, l fabric.Link) units.Time { return l.Delay + l.Serialize(ackBytes) }
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
