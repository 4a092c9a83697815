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
	const runs = hpccRuns
	register(&Scheme{
		Name:    "dcqcn-mlx",
		Summary: "DCQCN as ConnectX cards have it: cuts at most every 4 us, no byte counter",
		Source:  "the HPCC authors' simulator, mode 1; parameters as NVIDIA documents them for mlx5",
		CP:      "RED on the queue a frame leaves behind, thresholds in proportion to the link's rate",
		NP:      "a CNP for a marked frame, at most one per flow and interval",
		RP:      "cuts by alpha/2 at the ticks of one timer, alpha renewed at those of another, increases at those of a third",
		Params: slices.Concat([]Param{
			{Name: "kmin", Doc: "queue up to which nothing is marked, on a host's link; a size", Default: "100 KB per 25 Gbit/s of the line", Rule: perLine(100*units.KB, 25*units.Gbps), Source: runs},
			{Name: "kmax", Doc: "queue above which everything is marked, on a host's link; a size", Default: "400 KB per 25 Gbit/s of the line", Rule: perLine(400*units.KB, 25*units.Gbps), Source: runs},
			{Name: "pmax", Doc: "probability of a mark just below kmax; 0 to 1", Default: "0.2", Source: runs},
			{
				Name: "cnp_interval", Doc: "at least between two CNPs of a flow (min_time_between_cnps); a time", Default: "0s",
				Source: "DCQCN+ (ICNP'18) on ConnectX-4: one for every marked packet", Open: "newer drivers document 4 us; the reaction point acts on one in 4 us either way",
			},
		}, mlxParams()),
		build: func(n Network, r *reader) Parts {
			cp, np, rp := r.red(), r.interval(), r.mlx(n)
			return Parts{
				CP: func(q marking.Place) marking.CP {
					at := marking.REDParams{Kmin: n.scaled(cp.Kmin, q), Kmax: n.scaled(cp.Kmax, q), Pmax: cp.Pmax}
					return marking.NewRED(at, n.seedOf(q))
				},
				NP:    func(flows int) cnp.NP { return cnp.NewDCQCN(np, flows) },
				Every: np.Interval,
				RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewMlx(rp) },
				Carry: cnp.Carry{ECT: wire.ECT0},
			}
		},
	})
}
