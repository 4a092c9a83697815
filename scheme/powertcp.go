package scheme

import (
	"photon/ratelimit"
)

type powertcp struct{ rp ratelimit.PowerTCPParams }

func init() {
	register[powertcp](Scheme{
		Name:    "powertcp",
		Summary: "PowerTCP: windows follow the power of the fullest link, queue and its growth together, from in-band telemetry",
		Source:  "Addanki et al., PowerTCP: Pushing the Performance Limits of Datacenter Networks, NSDI'22",
		CP:      "writes rate, time, bytes sent and queue into every packet that has room",
		NP:      "acknowledges every packet and brings its telemetry back",
		RP:      "window gamma (W_old/power + beta) + (1-gamma) W; rate W/tau (algorithm 1)",
		Silent:  true,
	})
}

func (s *powertcp) params() []Param {
	return []Param{
		{Name: "gamma", into: positive(&s.rp.Gamma), Doc: "weight of what an acknowledgement says; above 0, at most 1", Default: "0.9", Source: "section 3.3"},
		{
			Name: "base_rtt", into: duration(&s.rp.BaseRTT), Doc: "tau, the largest base round-trip time; a time, above 0, at most 8.388608ms", Default: "base RTT of the longest path, and a full packet",
			Rule: func(n Network) string { return (n.pathRTT() + n.Line.Serialize(n.packet())).String() }, Source: "section 3.3",
		},
		{
			Name: "beta", into: size(&s.rp.AI), Doc: "additive increase of the window; a size", Default: "a tenth of the line's bytes in the base RTT of the longest path",
			Rule:   func(n Network) string { return (n.Line.Bytes(n.pathRTT()) / 10).String() },
			Source: "section 3.3: HostBw tau/N for N flows that share a host's link", Open: "N is expected and not given; ten",
		},
		minRate(&s.rp.Min).with(Param{Open: "the paper has none"}),
	}
}

func (s *powertcp) build(n Network) (Parts, error) {
	s.rp.Line = n.Line
	parts := telemetry()
	parts.RP = func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewPowerTCP(&s.rp) }
	return parts, s.rp.Validate()
}
