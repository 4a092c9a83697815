package scheme

import (
	"fmt"
	"slices"
	"strings"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

type hpcc struct{ rp ratelimit.HPCCParams }

func init() {
	register[hpcc](Scheme{
		Name:    "hpcc",
		Summary: "High Precision Congestion Control: switches write their load into packets, senders compute their window from it",
		Source:  "Li et al., HPCC: High Precision Congestion Control, SIGCOMM'19",
		CP:      "writes rate, time, bytes sent and queue into every packet that has room",
		NP:      "acknowledges every packet and brings its telemetry back",
		RP:      "window W = W_c/(U/eta) + W_AI, or + W_AI alone; rate W/T (algorithm 1)",
		Silent:  true,
	})
}

func (s *hpcc) params() []Param {
	return []Param{
		{Name: "eta", into: fraction(&s.rp.Eta), Doc: "target utilisation; above 0, at most 1", Default: "0.95", Source: "section 5.1"},
		{Name: "max_stage", into: integer(&s.rp.MaxStage), Doc: "additive increases between two multiplicative ones; 0 or more", Default: "5", Source: "section 5.1", Open: "the authors' simulator's runs have 0"},
		{
			Name: "w_ai", into: size(&s.rp.AI), Doc: "additive increase of the window; a size", Default: "80B", Source: "section 5.1",
			Open: "the rule of section 3.3 is W_init (1-eta)/N for N flows; without N, the paper's own value",
		},
		{
			Name: "base_rtt", into: duration(&s.rp.BaseRTT), Doc: "T, above the largest base round-trip time; a time, above 0, at most 8.388608ms",
			Default: "13/12 of the largest base RTT, and six full frames of 1100 B or more", Rule: func(n Network) string {
				return (n.baseRTT()*13/12 + n.Line.Serialize(6*max(1100*units.Byte, n.packet()))).String()
			}, Source: "13 us for 12 us in section 5.1", Open: "the paper's base RTT counts the time a packet is stored at each hop; ours is of propagation alone, so the frames are added",
		},
		{
			Name: "slack", into: positive(&s.rp.Slack), Doc: "what may be under way is so many times the window; above 0, at most 1000", Default: "1", Source: "algorithm 1",
			Open: "the authors' simulator counts payload alone against the window, which makes it larger by the share of headers",
		},
		minRate(&s.rp.Min).with(Param{Open: "the paper has none; the authors' simulator's runs have 1/100"}),
	}
}

func (s *hpcc) build(n Network) (Parts, error) {
	s.rp.Line = n.Line
	parts := telemetry()
	parts.RP = func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewHPCC(&s.rp) }
	return parts, s.rp.Validate()
}

// telemetry is what switches and receivers do for schemes that go by what packets tell of their path.
func telemetry() Parts {
	return Parts{
		CP:    func(q marking.Place) marking.CP { return marking.Telemetry{Link: q.Rate} },
		Carry: cnp.Carry{Ack: true, INT: true},
	}
}

// checkRates refuses links that telemetry cannot name, for all schemes that have it.
func (n Network) checkRates() error {
	for _, r := range append([]units.Rate{n.Line}, n.Rates...) {
		if !slices.Contains(wire.INTRates(), r) {
			return fmt.Errorf("telemetry cannot name a link's rate of %v (it can %s)", r, join(wire.INTRates()))
		}
	}
	return nil
}

// join lists rates.
func join(rates []units.Rate) string {
	var words []string
	for _, r := range rates {
		words = append(words, r.String())
	}
	return strings.Join(words, ", ")
}
