package scheme

import (
	"fmt"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

func init() {
	register(&Scheme{
		Name:    "powertcp",
		Summary: "PowerTCP: windows follow the power of the fullest link, queue and its growth together, from in-band telemetry",
		Source:  "Addanki et al., PowerTCP: Pushing the Performance Limits of Datacenter Networks, NSDI'22",
		CP:      "writes rate, time, bytes sent and queue into every packet that has room",
		NP:      "acknowledges every packet and brings its telemetry back",
		RP:      "window gamma (W_old/power + beta) + (1-gamma) W; rate W/tau (algorithm 1)",
		Silent:  true,
		Params: []Param{
			{Name: "gamma", Doc: "weight of what an acknowledgement says; above 0, at most 1", Default: "0.9", Source: "section 3.3"},
			{
				Name: "base_rtt", Doc: "tau, the largest base round-trip time; a time", Default: "base RTT of the longest path",
				Rule: func(n Network) string { return n.pathRTT().String() }, Source: "section 3.3",
			},
			{
				Name: "beta", Doc: "additive increase of the window; a size", Default: "a tenth of the line's bytes in base_rtt of the default",
				Rule:   func(n Network) string { return (n.Line.Bytes(n.pathRTT()) / 10).String() },
				Source: "section 3.3: HostBw tau/N for N flows that share a host's link", Open: "N is expected and not given; ten",
			},
			{Name: "min_rate", Doc: "a flow never goes below; a rate, above 0", Default: "1/1000 of the line", Rule: partOfLine(1000), Source: "ours", Open: "the paper has none"},
		},
		build: func(n Network, r *reader) Parts {
			rp := &ratelimit.PowerTCPParams{Line: n.Line, Min: r.rate("min_rate"), BaseRTT: r.time("base_rtt"), Gamma: r.positive("gamma"), AI: r.size("beta")}
			r.check(rp.Validate())
			if !wire.INTRate(n.Line) {
				r.check(fmt.Errorf("telemetry cannot name the line rate %v", n.Line))
			}
			return Parts{
				CP:    func(q marking.Place) marking.CP { return marking.Telemetry{Link: q.Rate} },
				NP:    func(int) cnp.NP { return cnp.Silent{} },
				RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewPowerTCP(rp) },
				Carry: cnp.Carry{ECT: wire.ECT0, Ack: true, INT: true},
			}
		},
	})
}

// timeOf is a number as a factor of times.
func timeOf(n int) units.Time { return units.Time(n) }
