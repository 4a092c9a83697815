package scheme

import "photon/ratelimit"

type none struct{}

func init() {
	register[none](Scheme{
		Name:    "none",
		Summary: "PFC alone: no congestion control",
		Source:  "IEEE 802.1Qbb; the papers' baseline",
		CP:      "marks nothing",
		NP:      "sends nothing",
		RP:      "sends at line rate",
		Silent:  true,
	})
}

func (none) params() []Param { return nil }

func (none) build(n Network) (Parts, error) {
	return Parts{RP: func(*ratelimit.Port) ratelimit.RP { return ratelimit.Unlimited{Line: n.Line} }}, nil
}
