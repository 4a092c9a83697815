package scheme

import (
	"cmp"
	"slices"

	"photon/marking"
	"photon/ratelimit"
	"photon/units"
)

const hpccRuns = "the HPCC authors' simulator, whose runs scale it with the link"

type dcqcnMlx struct {
	ecn
	rp ratelimit.MlxParams
}

func init() {
	register[dcqcnMlx](Scheme{
		Name:    "dcqcn-mlx",
		Summary: "DCQCN as ConnectX cards have it: cuts at most every 4 us, no byte counter",
		Source:  "the HPCC authors' simulator, mode 1; parameters as NVIDIA documents them for mlx5",
		CP:      "RED on the queue a frame leaves behind, thresholds in proportion to the link's rate",
		NP:      "a CNP for a marked frame, at most one per flow and interval",
		RP:      "cuts by alpha/2 at the ticks of one timer, alpha renewed at those of another, increases at those of a third",
	})
}

func (s *dcqcnMlx) params() []Param {
	return slices.Concat(but(s.ecn.params(),
		Param{Name: "kmin", Doc: "queue up to which nothing is marked, on a host's link; a size", Default: "100 KB per 25 Gbit/s of the line", Rule: perLine(100*units.KB, 25*units.Gbps), Source: hpccRuns},
		Param{Name: "kmax", Doc: "queue above which everything is marked, on a host's link; a size", Default: "400 KB per 25 Gbit/s of the line", Rule: perLine(400*units.KB, 25*units.Gbps), Source: hpccRuns},
		Param{Name: "pmax", Default: "0.2", Source: hpccRuns},
		Param{
			Name: "cnp_interval", Doc: "at least between two CNPs of a flow (min_time_between_cnps); a time", Default: "0s",
			Source: "DCQCN+ (ICNP'18) on ConnectX-4: one for every marked packet", Open: "newer drivers document 4 us; the reaction point acts on one in 4 us either way",
		},
	), mlxParams(&s.rp))
}

func (s *dcqcnMlx) build(n Network) (Parts, error) {
	s.rp.Line = n.Line
	parts, err := s.ecn.build(n)
	parts.CP = func(q marking.Place) marking.CP {
		at := marking.REDParams{Kmin: n.scaled(s.cp.Kmin, q), Kmax: n.scaled(s.cp.Kmax, q), Pmax: s.cp.Pmax}
		return marking.NewRED(at, n.seedOf(q))
	}
	parts.RP = func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewMlx(&s.rp) }
	return parts, cmp.Or(err, s.rp.Validate())
}

// mlxParams are the reaction point of DCQCN as network cards have it.
func mlxParams(p *ratelimit.MlxParams) []Param {
	const card = "the HPCC authors' simulator, profile `dcqcn`: the defaults of ConnectX cards"
	return []Param{
		alphaWeight(&p.G).with(Param{Source: card, Open: "the driver's documentation gives 1019 of 1024, about 1/205"}),
		{Name: "alpha_timer", into: duration(&p.AlphaTimer), Doc: "alpha is renewed so often (dce_tcp_rtt); a time, at least 1us", Default: "1us", Source: card},
		{Name: "cut_timer", into: duration(&p.CutTimer), Doc: "at most one cut in this time (rate_reduce_monitor_period); a time, at least 1us", Default: "4us", Source: card},
		{Name: "rate_timer", into: duration(&p.RateTimer), Doc: "between two increases (rpg_time_reset); a time, at least 1us", Default: "300us", Source: card},
		{Name: "threshold", into: integer(&p.Threshold), Doc: "increases of fast recovery (rpg_threshold); 0 or more", Default: "1", Source: card},
		{Name: "ai", into: rate(&p.AI), Doc: "additive increase; a rate", Default: "5 Mbit/s per 25 Gbit/s of the line", Rule: partOfLine(5000), Source: hpccRuns},
		{Name: "hai", into: rate(&p.HAI), Doc: "hyper increase, the same at every step; a rate", Default: "50 Mbit/s per 25 Gbit/s of the line", Rule: partOfLine(500), Source: hpccRuns},
		{
			Name: "min_rate", into: rate(&p.Min), Doc: "a cut never goes below; a rate, above 0", Default: "100Mbps", Source: "the same simulator's code",
			Open: "its runs set 1 Gbit/s at 100 Gbit/s; a card's own default is 1 Mbit/s",
		},
		{Name: "clamp", into: flag(&p.Clamp), Doc: "every cut lowers the target (clamp_tgt_rate); yes or no", Default: "no", Source: card},
	}
}
