package scheme

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"photon/ratelimit"
	"photon/units"
)

// rules are the defaults that follow from a network, by their words: in real numbers, in seconds, bits a second and
// bytes. What is unknown of a network is as the words of Network's guesses have it.
var rules = map[string]func(n Network) float64{
	"1/1000 of the line":                    ofLine(1. / 1000),
	"1/10000 of the line":                   ofLine(1. / 10_000),
	"100 KB per 25 Gbit/s of the line":      ofLine(100e3 / 25e9),
	"400 KB per 25 Gbit/s of the line":      ofLine(400e3 / 25e9),
	"4 KB per 25 Gbit/s of the line":        ofLine(4e3 / 25e9),
	"5 Mbit/s per 25 Gbit/s of the line":    ofLine(5e6 / 25e9),
	"50 Mbit/s per 25 Gbit/s of the line":   ofLine(50e6 / 25e9),
	"10 Mbit/s per 10 Gbit/s of the line":   ofLine(10e6 / 10e9),
	"half of what the line carries in 80us": ofLine(80e-6 / 8 / 2),
	"the largest base RTT, 20us if unknown": knownRTT,
	"base RTT of the longest path":          longestPath,
	"four full packets":                     func(n Network) float64 { return packets(n, 4) },
	"five times base_target of the default": func(n Network) float64 { return 5 * longestPath(n) },
	"max(50us, largest base RTT)":           func(n Network) float64 { return max(50e-6, n.RTT.Seconds()) },
	"base RTT of the longest path, and a full packet": func(n Network) float64 {
		return longestPath(n) + packets(n, 1)
	},
	"a tenth of the line's bytes in the base RTT of the longest path": func(n Network) float64 {
		return float64(n.Line) / 8 * longestPath(n) / 10
	},
	"13/12 of the largest base RTT, and six full frames of 1100 B or more": func(n Network) float64 {
		return knownRTT(n)*13/12 + 6*8*max(1100, float64(n.Packet))/float64(n.Line)
	},
	"65 536 symbol times of four lanes, and a link's delay": func(n Network) float64 {
		return 65536*4*8/float64(n.Line) + knownRTT(n)/2/float64(cmp.Or(n.Hops, 4))
	},
	"30us above the base RTT, or twice what full packets add to it, if that is more": func(n Network) float64 {
		return knownRTT(n) + max(30e-6, 2*(longestPath(n)-knownRTT(n)))
	},
	"16 times as far above the base RTT as t_low of the default": func(n Network) float64 {
		return knownRTT(n) + 16*max(30e-6, 2*(longestPath(n)-knownRTT(n)))
	},
	"a base_target of the line, and what hops add": func(n Network) float64 {
		return (longestPath(n) + float64(cmp.Or(n.Hops, 4))*packets(n, 4)) / packets(n, 1)
	},
	"min(1/128, 0.1/N), N long flows where the experiment fixes them": func(n Network) float64 {
		return min(1./128, 0.1/max(1, float64(n.LongFlows)))
	},
}

func ofLine(part float64) func(Network) float64 {
	return func(n Network) float64 { return part * float64(n.Line) }
}

func knownRTT(n Network) float64 { return cmp.Or(n.RTT.Seconds(), 20e-6) }

func packets(n Network, many float64) float64 {
	return many * 8 * float64(cmp.Or(n.Packet, 1100)) / float64(n.Line)
}

func longestPath(n Network) float64 {
	return cmp.Or(n.PathRTT.Seconds(), knownRTT(n)+packets(n, float64(cmp.Or(n.Hops, 4))))
}

// A default that follows from the network is what its words say, in every network, known or not.
func TestRulesAreTheirWords(t *testing.T) {
	networks := []Network{
		{Line: units.Gbps}, {Line: 10 * units.Gbps, RTT: 500 * units.Microsecond, LongFlows: 4},
		{Line: 25 * units.Gbps, RTT: 12 * units.Microsecond, Packet: 1082}, {Line: 40 * units.Gbps, Hops: 6, LongFlows: 64},
		{Line: 100 * units.Gbps, RTT: 8 * units.Microsecond, PathRTT: 13 * units.Microsecond, Hops: 6, Packet: 9122},
		{Line: 400 * units.Gbps, RTT: 3 * units.Microsecond, PathRTT: 40 * units.Microsecond, Hops: 2, Packet: 4000, LongFlows: 12},
	}
	for _, name := range Names() {
		for _, p := range all[name].Params {
			if p.Rule == nil {
				continue
			}
			rule, known := rules[p.Default]
			if !known {
				t.Errorf("%s of %s: the words %q are not tried", p.Name, name, p.Default)
				continue
			}
			for _, n := range networks {
				got, err := valueOf(p.Rule(n))
				if want := rule(n); err != nil || math.Abs(got-want) > 2e-4*want {
					t.Errorf("%s of %s in %+v: %s (%v, %v), and by its words %v", p.Name, name, n, p.Rule(n), got, err, want)
				}
			}
		}
	}
}

// valueOf is a time in seconds, a rate in bits a second, a size in bytes, or a number.
func valueOf(text string) (float64, error) {
	switch {
	case strings.HasSuffix(text, "bps"):
		v, err := units.ParseRate(text)
		return float64(v), err
	case strings.HasSuffix(text, "B"):
		v, err := units.ParseSize(text)
		return float64(v), err
	case strings.HasSuffix(text, "s"):
		v, err := units.ParseTime(text)
		return v.Seconds(), err
	}
	return units.ParseNumber(text)
}

// TIMELY and its patched form differ where the round-trip time is long and stays what it is: TIMELY goes by the
// gradient alone, and increases; patched TIMELY goes by the distance to t_low, too, with half of its weight (CoNEXT'16
// algorithm 2: rate = delta/2 + rate (1 - beta/2 (rtt - t_low)/t_low)).
func TestPatchedTimelyIsPatched(t *testing.T) {
	n := Network{Line: 10 * units.Gbps, RTT: 20 * units.Microsecond}
	over := map[string]Override{"t_low": {Value: "50us"}, "t_high": {Value: "500us"}, "ai": {Value: "10Mbps"}}
	for name, want := range map[string]float64{"timely": 1e9 + 10e6, "timely-patched": 5e6 + 1e9*(1-0.008/2)} {
		s, err := Get(name)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := s.Build(n, over)
		if err != nil {
			t.Fatal(err)
		}
		rp := parts.RP(nil)
		rp.(ratelimit.Starter).StartAt(0, units.Gbps)
		for i := range units.Time(2) {
			a := ratelimit.Ack{RTT: 100 * units.Microsecond, Packet: uint64(i)}
			rp.(ratelimit.Acker).Ack((1+i)*units.Millisecond, &a)
		}
		if got := float64(rp.Rate(3 * units.Millisecond)); math.Abs(got-want) > 1e4 {
			t.Errorf("%s: %v, should be %v", name, got, want)
		}
	}
}
