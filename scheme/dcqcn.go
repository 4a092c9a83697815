package scheme

import (
	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/wire"
)

func init() {
	const deployment = "DCQCN's deployment at 40 Gbit/s, as later simulators of it set it"
	const table = "DCQCN+ (paper 4, table I), which lists DCQCN's own values"
	register(&Scheme{
		Name:    "dcqcn",
		Summary: "Data Center QCN in the paper's form: ECN marks, CNPs, cuts by alpha/2, staged recovery",
		Source:  "Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM'15",
		CP:      "RED on the queue a frame leaves behind",
		NP:      "a CNP for a marked frame, at most one per flow and interval",
		RP:      "R_C(1-alpha/2) at a CNP; fast recovery, additive and hyper increase by timer and byte counter",
		Params: []Param{
			{Name: "kmin", Doc: "queue up to which nothing is marked; a size", Default: "5KB", Source: deployment},
			{Name: "kmax", Doc: "queue above which everything is marked; a size", Default: "200KB", Source: deployment},
			{Name: "pmax", Doc: "probability of a mark just below kmax; 0 to 1", Default: "0.01", Source: deployment},
			{Name: "cnp_interval", Doc: "N, at least between two CNPs of a flow; a time", Default: "50us", Source: table},
			{Name: "g", Doc: "weight of the newest sample in alpha; above 0, at most 1", Default: "1/256", Source: "the authors' simulator"},
			{Name: "alpha_timer", Doc: "K, without a CNP for so long alpha decays; a time", Default: "55us", Source: "the authors' simulator"},
			{Name: "rate_timer", Doc: "T, between two timer steps of recovery; a time", Default: "55us", Source: table},
			{Name: "byte_counter", Doc: "B, between two counter steps of recovery; a size", Default: "10MB", Source: table},
			{Name: "threshold", Doc: "F, steps of fast recovery; at least 1", Default: "5", Source: "the authors' simulator, as QCN"},
			{Name: "ai", Doc: "R_AI, additive increase; a rate", Default: "40Mbps", Source: table},
			{Name: "hai", Doc: "R_HAI, hyper increase per stage beyond F; a rate", Default: "100Mbps", Source: table},
			{Name: "min_rate", Doc: "a cut never goes below; a rate, above 0", Default: "100Mbps", Source: "both public simulators"},
		},
		build: func(n Network, r *reader) Parts {
			cp := marking.REDParams{Kmin: r.size("kmin"), Kmax: r.size("kmax"), Pmax: r.fraction("pmax")}
			np := cnp.DCQCNParams{Interval: r.time("cnp_interval")}
			rp := &ratelimit.DCQCNParams{
				Line: n.Line, Min: r.rate("min_rate"), AI: r.rate("ai"), HAI: r.rate("hai"), G: r.fraction("g"),
				AlphaTimer: r.time("alpha_timer"), RateTimer: r.time("rate_timer"), ByteCount: r.size("byte_counter"), Threshold: r.int("threshold"),
			}
			r.check(cp.Validate())
			r.check(np.Validate())
			r.check(rp.Validate())
			return Parts{
				CP:    func(q marking.Place) marking.CP { return marking.NewRED(cp, n.seedOf(q)) },
				NP:    func(flows int) cnp.NP { return cnp.NewDCQCN(np, flows) },
				RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewDCQCN(rp) },
				Carry: cnp.Carry{ECT: wire.ECT0},
			}
		},
	})
}
