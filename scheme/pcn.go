package scheme

import (
	"cmp"
	"fmt"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/units"
)

type pcn struct {
	np cnp.PCNParams
	rp ratelimit.PCNParams
}

func init() {
	register[pcn](Scheme{
		Name:    "pcn",
		Summary: "Photonic Congestion Notification: mark what is really congested, notify senders of the rate that arrives",
		Source:  "Cheng et al., Re-architecting Congestion Management in Lossless Ethernet, NSDI'20",
		CP:      "NP-ECN: frames that waited because the port was paused pass unmarked, any other that leaves a queue behind is marked (5.1)",
		NP:      "every T, one CNP per flow that arrived: CE if 95 % of its frames were marked, and its receiving rate (5.2)",
		RP:      "CE: at once to the receiving rate less a discount; without CE: towards line rate, gently at first, then faster (5.3, algorithm 1)",
	})
}

func (s *pcn) params() []Param {
	return []Param{
		{
			Name: "period", into: duration(&s.np.Period), Doc: "T, between two CNPs of a flow; a time, above 0",
			Default: "max(50us, largest base RTT)", Rule: func(n Network) string { return max(50*units.Microsecond, n.RTT).String() },
			Source: "50 us in 5.2; the largest RTT recommended in 6.2",
			Open:   "which of the two section 7 uses is not stated; below the RTT the same congestion is answered twice",
		},
		{Name: "percent", into: integer(&s.np.Percent), Doc: "of the frames of a period that must be marked for a flow to be congested; 1 to 100", Default: "95", Source: "5.2"},
		{
			Name: "phase", into: either(&s.np.Phase, "phase %q:", "tick", cnp.Tick, "first_packet", cnp.FirstPacket), Doc: "where a flow's periods begin: `first_packet`, or `tick` (multiples of T of the host's clock, for all its flows)", Default: "first_packet",
			Source: "the simulator of DCQCN's authors, whose modules the paper's are developed from (7): a flow's CNPs go by a clock that begins with its first packet",
			Open:   "5.2 does not say; what tick gives is among the alternatives of the paper's experiments (docs/decisions.md)",
		},
		{
			Name: "wmin", into: fraction(&s.rp.WMin), Doc: "discount of a decrease, first weight of an increase; between 0 and 1",
			Default: "min(1/128, 0.1/N), N long flows where the experiment fixes them", Rule: func(n Network) string {
				if n.LongFlows*10 > 128 {
					return fmt.Sprintf("0.1/%d", n.LongFlows)
				}
				return "1/128"
			},
			Source: "0.1/N recommended in 6.2; 1/128 is figure 10's example",
			Open:   "the value of section 7 is not stated; 0.1/N of few flows is more than figure 10's, and the smaller of the two is taken",
		},
		{Name: "wmax", into: fraction(&s.rp.WMax), Doc: "largest weight of an increase; at least wmin, below 1", Default: "0.5", Source: "6.2"},
		minRate(&s.rp.Min).with(Param{Default: "1Mbps", Source: "ours: the unit of RecRate, so that no CNP stops a flow for good"}),
	}
}

func (s *pcn) build(n Network) (Parts, error) {
	s.np.Clock, s.rp.Line = n.Clock, n.Line
	return Parts{
		CP:    func(marking.Place) marking.CP { return marking.NewNPECN() },
		NP:    func(flows int) cnp.NP { return cnp.NewPCN(s.np, flows) },
		Every: s.np.Period,
		RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewPCN(&s.rp) },
	}, cmp.Or(s.np.Validate(), s.rp.Validate())
}
