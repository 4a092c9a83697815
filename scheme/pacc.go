package scheme

import (
	"cmp"
	"slices"

	"photon/marking"
	"photon/ratelimit"
	"photon/units"
)

type pacc struct {
	cp marking.PACCParams
	rp ratelimit.MlxParams
}

func init() {
	register[pacc](Scheme{
		Name:    "pacc",
		Summary: "Proactive and Accurate Congestion Control: the switch itself sends CNPs, as many as a PI controller says",
		Source:  "Zhong et al., PACC: Proactive and Accurate Congestion Feedback for RDMA Congestion Control, INFOCOM'22",
		CP:      "every T, N_all = beta1 (Q-Qth) + beta2 (Q-Qold) CNPs, divided among the flows that met the queue, unless it is a microburst",
		NP:      "sends nothing: the switch notifies",
		RP:      "that of DCQCN as ConnectX cards have it, unchanged",
	})
}

func (s *pacc) params() []Param {
	const paper = "sections III, IV.C and V"
	return slices.Concat([]Param{
		{Name: "period", into: duration(&s.cp.Period), Doc: "T, between two rounds of the controller; a time, above 0", Default: "80us", Source: paper},
		{Name: "phase", into: duration(&s.cp.Phase), Doc: "when the first round is; a time", Default: "80us", Source: "ours", Open: "not stated; figure 1's 15 us need a round soon after the burst"},
		{
			Name: "qth", into: size(&s.cp.QTh), Doc: "the queue to hold, on a host's link; a size", Default: "half of what the line carries in 80us",
			Rule: func(n Network) string { return n.Line.Bytes(40 * units.Microsecond).String() }, Source: paper + ": T/2 C",
		},
		{
			Name: "qburst", into: size(&s.cp.QBurst), Doc: "an average queue up to this, on a host's link, is a microburst: no CNPs; a size", Default: "4 KB per 25 Gbit/s of the line", Rule: perLine(4*units.KB, 25*units.Gbps),
			Source: paper, Open: "the formula, 1 us C, gives 3.1 KB",
		},
		{Name: "bth", into: size(&s.cp.BTh), Doc: "a flow that sent less in a period, on a host's link, or nothing, is forgotten; a size", Default: "4 KB per 25 Gbit/s of the line", Rule: perLine(4*units.KB, 25*units.Gbps), Source: paper},
		{Name: "beta1", into: fraction(&s.cp.Beta1), Doc: "weight of the queue's excess; 0 to 1024", Default: "0.05", Source: paper},
		{Name: "beta2", into: fraction(&s.cp.Beta2), Doc: "weight of the queue's growth; 0 to 1024", Default: "0.1", Source: paper},
		{
			Name: "unit", into: size(&s.cp.Unit), Doc: "of a queue in N_all; a size, above 0", Default: "1KB", Source: "ours",
			Open: "not stated; with 1 KB the queue of figure 1 comes to rest at the 125 KB that it prints, and the paper's phase margin is positive; bytes would ask for the most CNPs always",
		},
		{Name: "w", into: fraction(&s.cp.W), Doc: "weight of the newest queue in the average; above 0, at most 1", Default: "0.9", Source: paper},
		{Name: "gap", into: duration(&s.cp.Gap), Doc: "between two CNPs of a flow; a time, above 0, at most period", Default: "4us", Source: paper + ": the cards cut no more often"},
		{
			Name: "flows", into: integer(&s.cp.Flows), Doc: "entries of the flow table of a queue; 1 to 65536", Default: "1024", Source: "ours",
			Open: "the paper keys flows by addresses, for which its cards limit; here by addresses and queue pair, for which our hosts limit",
		},
	}, mlxParams(&s.rp))
}

func (s *pacc) build(n Network) (Parts, error) {
	s.rp.Line = n.Line
	return Parts{
		CP: func(q marking.Place) marking.CP {
			at := s.cp
			at.QTh, at.QBurst, at.BTh = n.scaled(s.cp.QTh, q), n.scaled(s.cp.QBurst, q), n.scaled(s.cp.BTh, q)
			return marking.NewPACC(at)
		},
		Every: s.cp.Gap,
		RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewMlx(&s.rp) },
	}, cmp.Or(s.cp.Validate(), s.rp.Validate())
}
