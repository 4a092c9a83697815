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
		Name:    "hpcc",
		Summary: "High Precision Congestion Control: switches write their load into packets, senders compute their window from it",
		Source:  "Li et al., HPCC: High Precision Congestion Control, SIGCOMM'19",
		CP:      "writes rate, time, bytes sent and queue into every packet that has room",
		NP:      "acknowledges every packet and brings its telemetry back",
		RP:      "window W = W_c/(U/eta) + W_AI, or + W_AI alone; rate W/T (algorithm 1)",
		Silent:  true,
		Params: []Param{
			{Name: "eta", Doc: "target utilisation; above 0, at most 1", Default: "0.95", Source: "section 5.1"},
			{Name: "max_stage", Doc: "additive increases between two multiplicative ones; 0 or more", Default: "5", Source: "section 5.1", Open: "the authors' simulator's runs have 0"},
			{
				Name: "w_ai", Doc: "additive increase of the window; a size", Default: "80B", Source: "section 5.1",
				Open: "the rule of section 3.3 is W_init (1-eta)/N for N flows; without N, the paper's own value",
			},
			{
				Name: "base_rtt", Doc: "T, above the largest base round-trip time; a time",
				Default: "13/12 of the largest base RTT, and six full frames", Rule: func(n Network) string {
					return (n.baseRTT()*13/12 + n.Line.Serialize(6*1100*units.Byte)).String()
				}, Source: "13 us for 12 us in section 5.1", Open: "the paper's base RTT counts the time a packet is stored at each hop; ours is of propagation alone, so the frames are added",
			},
			{
				Name: "slack", Doc: "what may be under way is so many times the window; above 0", Default: "1", Source: "algorithm 1",
				Open: "the authors' simulator counts payload alone against the window, which makes it larger by the share of headers",
			},
			{Name: "min_rate", Doc: "a flow never goes below; a rate, above 0", Default: "1/1000 of the line", Rule: partOfLine(1000), Source: "ours", Open: "the paper has none; the authors' simulator's runs have 1/100"},
		},
		build: func(n Network, r *reader) Parts {
			rp := &ratelimit.HPCCParams{
				Line: n.Line, Min: r.rate("min_rate"), BaseRTT: r.time("base_rtt"), Eta: r.fraction("eta"), MaxStage: r.int("max_stage"), AI: r.size("w_ai"),
				Slack: r.positive("slack"),
			}
			r.check(rp.Validate())
			if !wire.INTRate(n.Line) {
				r.check(fmt.Errorf("telemetry cannot name the line rate %v", n.Line))
			}
			return Parts{
				CP:    func(q marking.Place) marking.CP { return marking.Telemetry{Link: q.Rate} },
				NP:    func(int) cnp.NP { return cnp.Silent{} },
				RP:    func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewHPCC(rp) },
				Carry: cnp.Carry{ECT: wire.ECT0, Ack: true, INT: true},
			}
		},
	})
}
