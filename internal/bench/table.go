package main

import (
	"fmt"
	"os"

	"photon/internal/gobench"
	"photon/internal/table"
	"photon/lab/stat"
)

// line is one case of the result file. Rates are medians, in million frames per
// second; a contestant that did not take part has none.
type line struct {
	Kind         string             `json:"kind"`
	Vdev         string             `json:"vdev"`
	Bytes        int                `json:"bytes"`
	Ports        int                `json:"ports"`
	Photon       float64            `json:"photon_mpps"`
	OVS          float64            `json:"ovs_mpps"`
	Macswap      float64            `json:"macswap_mpps"`
	Mac          float64            `json:"mac_mpps"`
	OVSRatio     float64            `json:"ovs_ratio"`     // photon's to Open vSwitch's in the same round, median
	MacswapRatio float64            `json:"macswap_ratio"` // photon's to macswap's, the same
	Feed         float64            `json:"feed_ns"`       // what the feed had of photon's time, which is without it
	Spread       map[string]float64 `json:"spread"`        // of the turns: (largest - smallest) / median
	Notes        map[string]string  `json:"notes"`
}

func newLine(c testCase, all map[string]outcome) line {
	l := line{Kind: c.name, Vdev: c.Vdev, Bytes: c.Bytes, Ports: c.Ports}
	l.Spread, l.Notes = map[string]float64{}, map[string]string{}
	rate := func(name string) float64 {
		o, ok := all[name]
		if ok {
			l.Notes[name] = o.notes
		}
		if len(o.rates) == 0 {
			return 0
		}
		l.Spread[name] = round(stat.Spread(o.rates))
		return round(stat.Median(o.rates))
	}
	if f := all["photon"].feed; len(f) > 0 {
		l.Feed = round(stat.Median(f))
	}
	l.Photon, l.OVS, l.Macswap, l.Mac = rate("photon"), rate("ovs"), rate("macswap"), rate("mac")
	l.OVSRatio = round(ratio(all["photon"].rates, all["ovs"].rates))
	l.MacswapRatio = round(ratio(all["photon"].rates, all["macswap"].rates))
	return l
}

// ratio is the median of the ratios of turns in the same round: a machine that becomes
// slower or faster for a time does so for both. 0: one of them did not take part.
func ratio(a, b []float64) float64 {
	if len(a) == 0 || len(a) != len(b) {
		return 0
	}
	each := make([]float64, len(a))
	for i := range a {
		each[i] = a[i] / b[i]
	}
	return stat.Median(each)
}

func round(x float64) float64 { return float64(int64(x*1000+0.5)) / 1000 }

const footer = `
Million frames per second of processor time of the polling thread, without what the feed took: medians, and the spread
of the turns. Ratios are medians of each round's.`

// addTurns gives benchstat each turn of each contestant.
func addTurns(f *gobench.File, c testCase, all map[string]outcome) {
	for _, s := range starters {
		for i, mpps := range all[s.name].rates {
			values := map[string]float64{"frames/s": mpps * 1e6}
			if feed := all[s.name].feed; i < len(feed) {
				values["feed-ns/frame"] = feed[i]
			}
			f.Add(fmt.Sprintf("Forwarding/of=%s/kind=%s/vdev=%s/bytes=%d/ports=%d", s.name, c.name, c.Vdev, c.Bytes, c.Ports), values)
		}
	}
}

func printTable(lines []line) error {
	t := table.New(2, "kind", "vdev", "bytes", "ports", "photon", "±", "ovs", "±", "macswap", "±", "mac", "±", "photon/ovs", "photon/macswap", "feed_ns")
	known := func(x float64) string {
		if x == 0 {
			return "–"
		}
		return fmt.Sprintf("%.2f", x)
	}
	for _, l := range lines {
		row := []any{l.Kind, l.Vdev, l.Bytes, l.Ports}
		for _, c := range []struct {
			name string
			mpps float64
		}{{"photon", l.Photon}, {"ovs", l.OVS}, {"macswap", l.Macswap}, {"mac", l.Mac}} {
			within := "–"
			if c.mpps > 0 {
				within = fmt.Sprintf("%.0f%%", 50*l.Spread[c.name])
			}
			row = append(row, known(c.mpps), within)
		}
		t.Row(append(row, known(l.OVSRatio), known(l.MacswapRatio), fmt.Sprintf("%.2f", l.Feed))...)
	}
	return t.Print(os.Stdout)
}
