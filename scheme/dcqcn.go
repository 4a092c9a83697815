package scheme

import (
	"slices"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/wire"
)

func init() {
	register(&Scheme{
		Name:    "dcqcn",
		Summary: "Data Center QCN in the paper's form: ECN marks, CNPs, cuts by alpha/2, staged recovery",
		Source:  "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM'15",
		CP:      "RED on the queue a frame leaves behind",
		NP:      "a CNP for a marked frame, at most one per flow and interval",
		RP:      "R_C(1-alpha/2) at a CNP; fast recovery, additive and hyper increase by timer and byte counter",
		Params:  slices.Concat(redParams(), []Param{cnpInterval(), cnpPhase()}, dcqcnParams()),
		build: func(n Network, r *reader) Parts {
			cp, np, rp, ticks := r.red(), r.interval(), r.dcqcn(n), read(r, "cnp_phase", cnp.ParseTicks)
			if ticks {
				r.checkTicks(np)
			}
			return Parts{
				CP: func(q marking.Place) marking.CP { return marking.NewRED(cp, n.seedOf(q)) },
				NP: func(flows int) cnp.NP {
					if ticks {
						return cnp.NewDCQCNTicks(np, flows)
					}
					return cnp.NewDCQCN(np, flows)
				},
				Every: np.Interval,
				RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewDCQCN(rp) },
				Carry: cnp.Carry{ECT: wire.ECT0},
			}
		},
	})
}
