package scheme

import (
	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/wire"
)

func init() {
	register(&Scheme{
		Name:    "none",
		Summary: "PFC alone: no congestion control",
		Source:  "IEEE 802.1Qbb; the papers' baseline",
		CP:      "marks nothing",
		NP:      "sends nothing",
		RP:      "sends at line rate",
		Silent:  true,
		build: func(n Network, _ *reader) Parts {
			return Parts{
				CP:    func(marking.Place) marking.CP { return marking.None{} },
				NP:    func(int) cnp.NP { return cnp.Silent{} },
				RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.Unlimited{Line: n.Line} },
				Carry: cnp.Carry{ECT: wire.ECT0},
			}
		},
	})
}
