package scheme

import (
	"photon/cnp"
	"photon/ratelimit"
	"photon/units"
)

type timely struct{ rp ratelimit.TimelyParams }

// patchedTimely is TIMELY's reaction point with another rule between t_low and t_high.
type patchedTimely struct{ timely }

func init() {
	register[timely](Scheme{
		Name:    "timely",
		Summary: "TIMELY in its author's per-packet form: rates follow the gradient of the round-trip time",
		Source:  "Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM'15, and its author's code",
		CP:      "marks nothing",
		NP:      "acknowledges every packet and brings its departure time back",
		RP:      "up below t_low, down above t_high; in between up while the round-trip time does not grow, else down by its gradient",
		Silent:  true,
	})
	register[patchedTimely](Scheme{
		Name:    "timely-patched",
		Summary: "Patched TIMELY: the distance to t_low counts as well as the gradient, so that shares converge",
		Source:  "Zhu et al., ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY, CoNEXT'16",
		CP:      "marks nothing",
		NP:      "acknowledges every packet and brings its departure time back",
		RP:      "between t_low and t_high R = (1-w) ai + R (1 - gain w (rtt-t_low)/t_low), w = 2 gradient + 1/2 from 0 to 1",
		Silent:  true,
	})
}

func (s *timely) params() []Param {
	const snippet = "TIMELY's author's code"
	return []Param{
		{
			Name: "alpha", into: fraction(&s.rp.Alpha), Doc: "weight of the newest difference of round-trip times; above 0, at most 1", Default: "0.02", Source: snippet,
			Open: "a public simulator has 0.875, for one update per burst of 16 KB",
		},
		{Name: "beta", into: fraction(&s.rp.Beta), Doc: "decrease factor; above 0, at most 1", Default: "0.8", Source: snippet},
		{
			Name: "ai", into: rate(&s.rp.AI), Doc: "additive increase per update; a rate", Default: "10 Mbit/s per 10 Gbit/s of the line", Rule: partOfLine(1000), Source: snippet,
			Open: "given for 10 Gbit/s only; in proportion to the line rate, as the HPCC authors' simulator has it",
		},
		{Name: "hai", into: integer(&s.rp.HAI), Doc: "updates in a row with a falling round-trip time before the increase is `hai_times` as large; at least 1", Default: "5", Source: snippet},
		{Name: "hai_times", into: positive(&s.rp.Hyper), Doc: "how many times larger it is then; above 0", Default: "5", Source: snippet},
		{
			Name: "per_rtt", into: flag(&s.rp.PerRTT), Doc: "one whole update in a round-trip time, `hai` counting increases and a decrease bounded by min_rate alone, instead of one at every acknowledgement; yes or no",
			Default: "no", Source: snippet, Open: "the paper's algorithm 1 has one per completion event, that is per segment; the HPCC authors' simulator one per round-trip time",
		},
		{
			Name: "min_rtt", into: duration(&s.rp.MinRTT), Doc: "what gradients are measured by; a time, above 0", Default: "the largest base RTT, 20us if unknown",
			Rule: func(n Network) string { return n.baseRTT().String() }, Source: "its definition; 20 us in the public simulators",
		},
		{Name: "t_low", into: duration(&s.rp.Low), Doc: "round-trip time below which rates only increase; a time", Default: "0s", Source: snippet + ", for pacing by packets; 50 us for bursts of 64 KB"},
		{Name: "t_high", into: duration(&s.rp.High), Doc: "round-trip time above which rates only decrease; a time", Default: "1ms", Source: snippet},
		{
			Name: "segment", into: count(&s.rp.Segment), Doc: "packets that make one sample of the round-trip time; at least 1", Default: "1", Source: snippet + ", for pacing by packets",
			Open: "TIMELY's paper has segments of 16 to 64 KB; PCN's speaks of segments of 64 KB where it explains how often TIMELY acts (3.2)",
		},
		minRate(&s.rp.Min).with(Param{Source: "optional in " + snippet + "; here one additive step"}),
	}
}

func (s *timely) build(n Network) (Parts, error) {
	s.rp.Line = n.Line
	return Parts{
		RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewTimely(&s.rp) },
		Carry: cnp.Carry{Ack: true, Stamp: true},
	}, s.rp.Validate()
}

func (s *patchedTimely) params() []Param {
	const fromRTT = "a public simulator's 50 us and 500 us at a base RTT of 20 us"
	return append(but(s.timely.params(),
		Param{
			Name: "t_low", Default: "30us above the base RTT, or twice what full packets add to it, if that is more", Rule: func(n Network) string { return n.aboveRTT(1).String() }, Source: fromRTT,
			Open: "no value is given for long round-trip times; t_low is what the queue is held at, so the room for queueing is kept, not the ratio. Packets that are long for a slow line take longer than that in an empty network",
		},
		Param{
			Name: "t_high", Default: "16 times as far above the base RTT as t_low of the default", Rule: func(n Network) string { return n.aboveRTT(16).String() }, Source: fromRTT,
			Open: "as t_low",
		},
	), Param{Name: "gain", into: fraction(&s.rp.Gain), Doc: "of the decrease; above 0, at most 1", Default: "0.008", Source: "the authors' parameter, as public code has it"})
}

// aboveRTT is the base RTT and so many times the room for queueing that t_low leaves.
func (n Network) aboveRTT(times units.Time) units.Time {
	base := n.baseRTT()
	return base + times*max(30*units.Microsecond, 2*(n.pathRTT()-base))
}

func (s *patchedTimely) build(n Network) (Parts, error) {
	s.rp.Patched = true
	return s.timely.build(n)
}
