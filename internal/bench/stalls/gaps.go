package main

import (
	"fmt"
	"strconv"

	dto "github.com/prometheus/client_model/go"
)

// gaps are the times between polls: Counts[i] those shorter than 64 ns << i,
// the last are all others.
type gaps struct {
	Counts  [26]uint64 `json:"counts"`
	Longest float64    `json:"longest_seconds"` // 0: unknown
}

// quantile is an upper bound of a quantile, in seconds: that of its bucket.
func (g *gaps) quantile(q float64) float64 {
	all := uint64(0)
	for _, n := range g.Counts {
		all += n
	}
	beyond := uint64(float64(all) * (1 - q))
	for i := len(g.Counts) - 1; i > 0; i-- {
		if g.Counts[i] > beyond {
			return bound(i)
		}
		beyond -= g.Counts[i]
	}
	return bound(0)
}

// most is an upper bound of the longest gap.
func (g *gaps) most() float64 { return g.quantile(1) }

func bound(i int) float64 { return 64e-9 * float64(uint64(1)<<i) }

// since is what came after an earlier look.
func (g gaps) since(before gaps) gaps {
	for i := range g.Counts {
		g.Counts[i] -= before.Counts[i]
	}
	return g
}

// ofScrape reads the histogram from a switch's metrics.
func ofScrape(families map[string]*dto.MetricFamily) (g gaps, err error) {
	f := families["photon_worker_poll_gap_seconds"]
	if f == nil || len(f.Metric) != 1 {
		return g, fmt.Errorf("the metrics have no histogram of poll gaps of one worker")
	}
	below := uint64(0)
	for i, b := range f.Metric[0].Histogram.Bucket {
		if i == len(g.Counts) || i < len(g.Counts)-1 && !close(b.GetUpperBound(), bound(i)) {
			return g, fmt.Errorf("bucket %d of poll gaps ends at %s s", i, strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64))
		}
		g.Counts[i] = b.GetCumulativeCount() - below
		below = b.GetCumulativeCount()
	}
	g.Counts[len(g.Counts)-1] += f.Metric[0].Histogram.GetSampleCount() - below
	return g, nil
}

func close(a, b float64) bool { return a > b*0.999 && a < b*1.001 }
