package scheme

import (
	"slices"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

func init() {
	register(&Scheme{
		Name:    "timely",
		Summary: "TIMELY in its author's per-packet form: rates follow the gradient of the round-trip time",
		Source:  "Mittal et al., TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM'15, and its author's code",
		CP:      "marks nothing",
		NP:      "acknowledges every packet and brings its departure time back",
		RP:      "up below t_low, down above t_high; in between up while the round-trip time does not grow, else down by its gradient",
		Silent:  true,
		Params:  timelyParams(),
		build: func(n Network, r *reader) Parts {
			return timelyParts(r, r.timely(n))
		},
	})
	patched := timelyParams()
	set := func(name string, p Param) {
		i := slices.IndexFunc(patched, func(q Param) bool { return q.Name == name })
		p.Name, p.Doc = name, patched[i].Doc
		patched[i] = p
	}
	const fromRTT = "a public simulator's 50 us and 500 us at a base RTT of 20 us"
	set("t_low", Param{
		Default: "30us above the base RTT", Rule: func(n Network) string { return (n.baseRTT() + 30*units.Microsecond).String() }, Source: fromRTT,
		Open: "no value is given for long round-trip times; t_low is what the queue is held at, so the room for queueing is kept, not the ratio",
	})
	set("t_high", Param{
		Default: "480us above the base RTT", Rule: func(n Network) string { return (n.baseRTT() + 480*units.Microsecond).String() }, Source: fromRTT,
		Open: "as t_low",
	})
	register(&Scheme{
		Name:    "timely-patched",
		Summary: "Patched TIMELY: the distance to t_low counts as well as the gradient, so that shares converge",
		Source:  "Zhu et al., ECN or Delay: Lessons Learnt from Analysis of DCQCN and TIMELY, CoNEXT'16",
		CP:      "marks nothing",
		NP:      "acknowledges every packet and brings its departure time back",
		RP:      "between t_low and t_high R = (1-w) ai + R (1 - gain w (rtt-t_low)/t_low), w = 2 gradient + 1/2 from 0 to 1",
		Silent:  true,
		Params: append(patched, Param{
			Name: "gain", Doc: "of the decrease; above 0, at most 1", Default: "0.008", Source: "the authors' parameter, as public code has it",
		}),
		build: func(n Network, r *reader) Parts {
			return timelyParts(r, r.timely(n))
		},
	})
}

func timelyParts(r *reader, rp *ratelimit.TimelyParams) Parts {
	r.check(rp.Validate())
	return Parts{
		CP:    func(marking.Place) marking.CP { return marking.None{} },
		NP:    func(int) cnp.NP { return cnp.Silent{} },
		RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewTimely(rp) },
		Carry: cnp.Carry{ECT: wire.ECT0, Ack: true, Stamp: true},
	}
}
