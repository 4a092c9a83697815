package scheme

import (
	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/wire"
)

func init() {
	const paper = "section IV.B"
	register(&Scheme{
		Name:    "dcqcn+",
		Summary: "DCQCN whose timers and steps follow the size of an incast, which CNPs carry",
		Source:  "Gao et al., DCQCN+: Taming Large-Scale Incast Congestion in RDMA over Ethernet Networks, ICNP'18",
		CP:      "RED on the queue a frame leaves behind",
		NP:      "sends one CNP in every gap, to the congested flows in turn; a CNP carries the time of a round",
		RP:      "cuts as DCQCN; timers as long as a round or a frame, steps in proportion to the current rate",
		Params: []Param{
			{Name: "kmin", Doc: "queue up to which nothing is marked; a size", Default: "20KB", Source: paper},
			{Name: "kmax", Doc: "queue above which everything is marked; a size", Default: "200KB", Source: paper},
			{Name: "pmax", Doc: "probability of a mark just below kmax; 0 to 1", Default: "0.01", Source: deployment, Open: "the configuration is said to be DCQCN's; the public simulator it builds on has 1 in its sample"},
			{Name: "gap", Doc: "delta, between two CNPs of the card, whatever their flows; a time, above 0", Default: "1us", Source: paper + ", a ConnectX-4"},
			{Name: "cnp_interval", Doc: "at least between two CNPs of a flow; a time", Default: "45us", Source: paper},
			{
				Name: "silence", Doc: "a flow without a marked frame for so long leaves the list; a time, at least cnp_interval", Default: "1s", Source: "ours",
				Open: "the paper does not say when a flow leaves the list. It must stay for longer than a recovery takes: else the list is empty when congestion returns, the first CNPs tell of short rounds, and hundreds of flows go back to DCQCN's fast timers (8 ms here make an incast of 720 flows swing up to the PFC limit for ever)",
			},
			{Name: "g", Doc: "weight of the newest sample in alpha; above 0, at most 1", Default: "1/256", Source: "DCQCN's"},
			{Name: "timer", Doc: "K and K_alpha while rounds are short; a time, above 0", Default: "55us", Source: tableI, Open: "the paper speaks of long rounds only; DCQCN's timers for short ones"},
			{Name: "short", Doc: "a round longer than this stretches the timers; a time", Default: "50us", Source: paper},
			{Name: "frame", Doc: "M, a full frame; a size", Default: "1000B", Source: paper, Open: "the text prints 1000KB"},
			{Name: "lambda", Doc: "K is so many rounds or frames; at least 1", Default: "2", Source: paper},
			{Name: "lambda_alpha", Doc: "K_alpha is so many rounds or frames; at least 1", Default: "1", Source: paper},
			{Name: "threshold", Doc: "F, steps of fast recovery; at least 1", Default: "5", Source: paper},
			{Name: "cut", Doc: "the coefficient of alpha: a CNP cuts by no more than this part; above 0, at most 1", Default: "1/2", Source: "equation 13; section VI.B varies it"},
			{Name: "hyper", Doc: "multiple of the steps of hyper increase; above 0", Default: "1", Source: "equation 21; section VI.B varies it", Open: "which of the two terms is multiplied is not said: both are"},
			{Name: "min_rate", Doc: "R_min, a cut never goes below; a rate, above 0", Default: "1/10000 of the line", Rule: partOfLine(10_000), Source: paper, Open: "the text prints R_C/10000; it is to serve 10 000 flows, so the line rate is meant"},
		},
		build: func(n Network, r *reader) Parts {
			cp := r.red()
			np := cnp.DCQCNPlusParams{Gap: r.time("gap"), Interval: r.time("cnp_interval"), Silence: r.time("silence")}
			rp := &ratelimit.DCQCNPlusParams{
				Line: n.Line, Min: r.rate("min_rate"), G: r.fraction("g"), Timer: r.time("timer"), Short: r.time("short"), Frame: r.size("frame"),
				Lambda: r.int("lambda"), LambdaA: r.int("lambda_alpha"), Threshold: r.int("threshold"),
				Cut: r.fraction("cut"), Hyper: r.fraction("hyper"),
			}
			r.check(np.Validate())
			r.check(rp.Validate())
			return Parts{
				CP:    func(q marking.Place) marking.CP { return marking.NewRED(cp, n.seedOf(q)) },
				NP:    func(flows int) cnp.NP { return cnp.NewDCQCNPlus(np, flows) },
				Every: np.Interval,
				RP:    func(p *ratelimit.Port) ratelimit.RP { return ratelimit.NewDCQCNPlus(rp, p) },
				Carry: cnp.Carry{ECT: wire.ECT0},
			}
		},
	})
}
