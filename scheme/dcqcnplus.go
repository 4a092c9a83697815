package scheme

import (
	"cmp"
	"slices"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
)

type dcqcnPlus struct {
	cp marking.REDParams
	np cnp.DCQCNPlusParams
	rp ratelimit.DCQCNPlusParams
}

func init() {
	register[dcqcnPlus](Scheme{
		Name:    "dcqcn+",
		Summary: "DCQCN whose timers and steps follow the size of an incast, which CNPs carry",
		Source:  "Gao et al., DCQCN+: Taming Large-Scale Incast Congestion in RDMA over Ethernet Networks, ICNP'18",
		CP:      "RED on the queue a frame leaves behind",
		NP:      "sends one CNP in every gap, to the congested flows in turn; a CNP carries the time of a round",
		RP:      "cuts as DCQCN; timers as long as a round or a frame, steps in proportion to the current rate",
	})
}

func (s *dcqcnPlus) params() []Param {
	const paper = "section IV.B"
	return slices.Concat(but(redParams(&s.cp),
		Param{Name: "kmin", Default: "20KB", Source: paper},
		Param{Name: "kmax", Source: paper},
		Param{Name: "pmax", Open: "the configuration is said to be DCQCN's; the public simulator it builds on has 1 in its sample"},
	), []Param{
		{Name: "gap", into: duration(&s.np.Gap), Doc: "delta, between two CNPs of the card, whatever their flows; a time, at least 100ns", Default: "1us", Source: paper + ", a ConnectX-4"},
		{Name: "cnp_interval", into: duration(&s.np.Interval), Doc: "at least between two CNPs of a flow; a time", Default: "45us", Source: paper},
		{
			Name: "silence", into: duration(&s.np.Silence), Doc: "a flow without a marked frame for so long leaves the list; a time, at least cnp_interval", Default: "1s", Source: "ours",
			Open: "the paper does not say when a flow leaves the list. It must stay for longer than a recovery takes: else the list is empty when congestion returns, the first CNPs tell of short rounds, and hundreds of flows go back to DCQCN's fast timers (8 ms here make an incast of 720 flows swing up to the PFC limit for ever)",
		},
		alphaWeight(&s.rp.G).with(Param{Source: "DCQCN's"}),
		{Name: "timer", into: duration(&s.rp.Timer), Doc: "K and K_alpha while rounds are short; a time, at least 1us", Default: "55us", Source: tableI, Open: "the paper speaks of long rounds only; DCQCN's timers for short ones"},
		{Name: "short", into: duration(&s.rp.Short), Doc: "a round longer than this stretches the timers; a time, at least 1us", Default: "50us", Source: paper},
		{Name: "frame", into: size(&s.rp.Frame), Doc: "M, a full frame; a size", Default: "1000B", Source: paper, Open: "the text prints 1000KB"},
		{Name: "lambda", into: integer(&s.rp.Lambda), Doc: "K is so many rounds or frames; 1 to 1000", Default: "2", Source: paper},
		{Name: "lambda_alpha", into: integer(&s.rp.LambdaA), Doc: "K_alpha is so many rounds or frames; 1 to 1000", Default: "1", Source: paper},
		{Name: "threshold", into: integer(&s.rp.Threshold), Doc: "F, steps of fast recovery; at least 1", Default: "5", Source: paper},
		{Name: "cut", into: fraction(&s.rp.Cut), Doc: "the coefficient of alpha: a CNP cuts by no more than this part; above 0, at most 1", Default: "1/2", Source: "equation 13; section VI.B varies it"},
		{Name: "hyper", into: fraction(&s.rp.Hyper), Doc: "multiple of the steps of hyper increase; from 1/1000 to 1000", Default: "1", Source: "equation 21; section VI.B varies it", Open: "which of the two terms is multiplied is not said: both are"},
		{Name: "min_rate", into: rate(&s.rp.Min), Doc: "R_min, a cut never goes below; a rate, above 0", Default: "1/10000 of the line", Rule: partOfLine(10_000), Source: paper, Open: "the text prints R_C/10000; it is to serve 10 000 flows, so the line rate is meant"},
	})
}

func (s *dcqcnPlus) build(n Network) (Parts, error) {
	s.rp.Line = n.Line
	return Parts{
		CP:    func(q marking.Place) marking.CP { return marking.NewRED(s.cp, n.seedOf(q)) },
		NP:    func(flows int) cnp.NP { return cnp.NewDCQCNPlus(s.np, flows) },
		Every: s.np.Interval,
		RP:    func(p *ratelimit.Port) ratelimit.RP { return ratelimit.NewDCQCNPlus(&s.rp, p) },
	}, cmp.Or(s.cp.Validate(), s.np.Validate(), s.rp.Validate())
}
