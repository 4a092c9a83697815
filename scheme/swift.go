package scheme

import (
	"strconv"

	"photon/cnp"
	"photon/ratelimit"
	"photon/units"
)

type swift struct{ rp ratelimit.SwiftParams }

func init() {
	register[swift](Scheme{
		Name:    "swift",
		Summary: "Swift: windows follow the distance of the delay to a target that grows with hops and with the number of flows",
		Source:  "Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, SIGCOMM'20",
		CP:      "marks nothing",
		NP:      "acknowledges every packet and brings its departure time back",
		RP:      "below the target, up by ai packets per round trip; above it, down once per round trip, by beta times the excess (algorithm 1)",
		Silent:  true,
	})
}

func (s *swift) params() []Param {
	const public = "csg-htsim, whose authors say that these are guesses"
	return []Param{
		{
			Name: "base_target", into: duration(&s.rp.Base), Doc: "target delay of a path without hops; a time, above 0", Default: "base RTT of the longest path",
			Rule: func(n Network) string { return n.pathRTT().String() }, Source: "section 3.1: propagation, and what an unloaded network and host take",
			Open: "the paper has a value for its own fabric, 25 us; a fixed one would be far off here, where hosts take no time",
		},
		{
			Name: "hop", into: duration(&s.rp.Hop), Doc: "that each hop adds to the target; a time", Default: "four full packets",
			Rule:   func(n Network) string { return n.Line.Serialize(4 * n.packet()).String() },
			Source: "section 3.1: in proportion to the path's length",
			Open:   "no value is given; csg-htsim has 3 us at 10 Gbit/s, two to three packets of 1500 B",
		},
		{Name: "ai", into: positive(&s.rp.AI), Doc: "additive increase, packets in a round-trip time; above 0", Default: "1", Source: public},
		{Name: "beta", into: positive(&s.rp.Beta), Doc: "multiplicative decrease; above 0, at most 1", Default: "0.8", Source: public},
		{Name: "max_mdf", into: positive(&s.rp.MaxMDF), Doc: "most that one decrease takes; between 0 and 1", Default: "0.5", Source: public},
		{
			Name: "fs_range", into: duration(&s.rp.Range), Doc: "most that flow scaling adds to the target; a time", Default: "five times base_target of the default",
			Rule: func(n Network) string { return (5 * n.pathRTT()).String() }, Source: public,
		},
		{Name: "fs_min_cwnd", into: positive(&s.rp.FSMin), Doc: "window in packets at which flow scaling adds all of that; above 0", Default: "0.1", Source: public},
		{Name: "fs_max_cwnd", into: positive(&s.rp.FSMax), Doc: "window in packets at which it adds nothing", Default: "100", Source: public},
		{Name: "min_cwnd", into: positive(&s.rp.Min), Doc: "least window in packets; above 0", Default: "0.001", Source: "ours: a packet in 1000 round-trip times", Open: "the paper says that windows may be far below one packet"},
		{
			Name: "max_cwnd", into: positive(&s.rp.Max), Doc: "largest window in packets, and the first; at most 1e9", Default: "a base_target of the line, and what hops add",
			Rule: func(n Network) string {
				all := n.pathRTT() + n.Line.Serialize(4*n.packet())*units.Time(n.hops())
				return strconv.FormatFloat(float64(n.Line.Bytes(all))/float64(n.packet()), 'g', 6, 64)
			}, Source: "ours", Open: "the paper bounds it and says not where; more than the target's worth of the line only waits in queues",
		},
	}
}

func (s *swift) build(n Network) (Parts, error) {
	s.rp.Line, s.rp.Packet, s.rp.Hops = n.Line, n.packet(), n.hops()
	return Parts{
		RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewSwift(&s.rp) },
		Carry: cnp.Carry{Ack: true, Stamp: true},
	}, s.rp.Validate()
}
