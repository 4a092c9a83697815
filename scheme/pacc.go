package scheme

import (
	"slices"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

func init() {
	const paper = "sections III, IV.C and V"
	register(&Scheme{
		Name:    "pacc",
		Summary: "Proactive and Accurate Congestion Control: the switch itself sends CNPs, as many as a PI controller says",
		Source:  "Zhong et al., PACC: Proactive and Accurate Congestion Feedback for RDMA Congestion Control, INFOCOM'22",
		CP:      "every T, N_all = beta1 (Q-Qth) + beta2 (Q-Qold) CNPs, divided among the flows that met the queue, unless it is a microburst",
		NP:      "sends nothing: the switch notifies",
		RP:      "that of DCQCN as ConnectX cards have it, unchanged",
		Params: slices.Concat([]Param{
			{Name: "period", Doc: "T, between two rounds of the controller; a time, above 0", Default: "80us", Source: paper},
			{Name: "phase", Doc: "when the first round is; a time", Default: "80us", Source: "ours", Open: "not stated; figure 1's 15 us need a round soon after the burst"},
			{
				Name: "qth", Doc: "the queue to hold, on a host's link; a size", Default: "half of what the line carries in 80us",
				Rule: func(n Network) string { return n.Line.Bytes(40 * units.Microsecond).String() }, Source: paper + ": T/2 C",
			},
			{
				Name: "qburst", Doc: "an average queue up to this, on a host's link, is a microburst: no CNPs; a size", Default: "4 KB per 25 Gbit/s of the line", Rule: perLine(4*units.KB, 25*units.Gbps),
				Source: paper, Open: "the formula, 1 us C, gives 3.1 KB",
			},
			{Name: "bth", Doc: "a flow that sent less in a period, on a host's link, is forgotten; a size", Default: "4 KB per 25 Gbit/s of the line", Rule: perLine(4*units.KB, 25*units.Gbps), Source: paper},
			{Name: "beta1", Doc: "weight of the queue's excess; 0 or more", Default: "0.05", Source: paper},
			{Name: "beta2", Doc: "weight of the queue's growth; 0 or more", Default: "0.1", Source: paper},
			{
				Name: "unit", Doc: "of a queue in N_all; a size, above 0", Default: "1KB", Source: "ours",
				Open: "not stated; with 1 KB the queue of figure 1 comes to rest at the 125 KB that it prints, and the paper's phase margin is positive; bytes would ask for the most CNPs always",
			},
			{Name: "w", Doc: "weight of the newest queue in the average; above 0, at most 1", Default: "0.9", Source: paper},
			{Name: "gap", Doc: "between two CNPs of a flow; a time, above 0", Default: "4us", Source: paper + ": the cards cut no more often"},
			{
				Name: "flows", Doc: "entries of the flow table of a queue; at least 1", Default: "1024", Source: "ours",
				Open: "the paper keys flows by addresses, for which its cards limit; here by addresses and queue pair, for which our hosts limit",
			},
		}, mlxParams()),
		build: func(n Network, r *reader) Parts {
			cp := marking.PACCParams{
				Period: r.time("period"), Phase: r.time("phase"), QTh: r.size("qth"), QBurst: r.size("qburst"), BTh: r.size("bth"),
				Beta1: r.fraction("beta1"), Beta2: r.fraction("beta2"), Unit: r.size("unit"), W: r.fraction("w"), Gap: r.time("gap"), Flows: r.int("flows"),
			}
			r.check(cp.Validate())
			rp := r.mlx(n)
			return Parts{
				CP: func(q marking.Place) marking.CP {
					at := cp
					at.QTh, at.QBurst, at.BTh = n.scaled(cp.QTh, q), n.scaled(cp.QBurst, q), n.scaled(cp.BTh, q)
					return marking.NewPACC(at)
				},
				NP:    func(int) cnp.NP { return cnp.Silent{} },
				Every: cp.Gap,
				RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewMlx(rp) },
				Carry: cnp.Carry{ECT: wire.ECT0},
			}
		},
	})
}
