package scheme

import (
	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/wire"
)

func init() {
	const public = "csg-htsim, whose authors say that these are guesses"
	register(&Scheme{
		Name:    "swift",
		Summary: "Swift: windows follow the distance of the delay to a target that grows with hops and with the number of flows",
		Source:  "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, SIGCOMM'20",
		CP:      "marks nothing",
		NP:      "acknowledges every packet and brings its departure time back",
		RP:      "below the target, up by ai packets per round trip; above it, down once per round trip, by beta times the excess (algorithm 1)",
		Silent:  true,
		Params: []Param{
			{
				Name: "base_target", Doc: "target delay of a path without hops; a time, above 0", Default: "base RTT of the longest path",
				Rule: func(n Network) string { return n.pathRTT().String() }, Source: "section 3.1: propagation, and what an unloaded network and host take",
				Open: "the paper has a value for its own fabric, 25 us; a fixed one would be far off here, where hosts take no time",
			},
			{
				Name: "hop", Doc: "that each hop adds to the target; a time", Default: "four full packets",
				Rule:   func(n Network) string { return n.Line.Serialize(4 * n.packet()).String() },
				Source: "section 3.1: in proportion to the path's length",
				Open:   "no value is given; csg-htsim has 3 us at 10 Gbit/s, two to three packets of 1500 B",
			},
			{Name: "ai", Doc: "additive increase, packets in a round-trip time; above 0", Default: "1", Source: public},
			{Name: "beta", Doc: "multiplicative decrease; above 0, at most 1", Default: "0.8", Source: public},
			{Name: "max_mdf", Doc: "most that one decrease takes; between 0 and 1", Default: "0.5", Source: public},
			{
				Name: "fs_range", Doc: "most that flow scaling adds to the target; a time", Default: "five times base_target of the default",
				Rule: func(n Network) string { return (5 * n.pathRTT()).String() }, Source: public,
			},
			{Name: "fs_min_cwnd", Doc: "window in packets at which flow scaling adds all of that; above 0", Default: "0.1", Source: public},
			{Name: "fs_max_cwnd", Doc: "window in packets at which it adds nothing", Default: "100", Source: public},
			{Name: "min_cwnd", Doc: "least window in packets; above 0", Default: "0.001", Source: "ours: a packet in 1000 round-trip times", Open: "the paper says that windows may be far below one packet"},
			{
				Name: "max_cwnd", Doc: "largest window in packets, and the first", Default: "a base_target of the line, and what hops add",
				Rule: func(n Network) string {
					all := n.pathRTT() + n.Line.Serialize(4*n.packet())*timeOf(n.hops())
					return number(float64(n.Line.Bytes(all)) / float64(n.packet()))
				}, Source: "ours", Open: "the paper bounds it and says not where; more than the target's worth of the line only waits in queues",
			},
		},
		build: func(n Network, r *reader) Parts {
			rp := &ratelimit.SwiftParams{
				Line: n.Line, Packet: n.packet(), Base: r.time("base_target"), Hop: r.time("hop"), Hops: n.hops(), AI: r.positive("ai"), Beta: r.positive("beta"),
				MaxMDF: r.positive("max_mdf"), Range: r.time("fs_range"), FSMin: r.positive("fs_min_cwnd"), FSMax: r.positive("fs_max_cwnd"),
				Min: r.positive("min_cwnd"), Max: r.positive("max_cwnd"),
			}
			r.check(rp.Validate())
			return Parts{
				CP:    func(marking.Place) marking.CP { return marking.None{} },
				NP:    func(int) cnp.NP { return cnp.Silent{} },
				RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewSwift(rp) },
				Carry: cnp.Carry{ECT: wire.ECT0, Ack: true, Stamp: true},
			}
		},
	})
}
