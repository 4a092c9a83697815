package main

import (
	"fmt"
	"strconv"

	dto "github.com/prometheus/client_model/go"
	"gonum.org/v1/gonum/stat"
)

// gaps are the times between polls: Counts[i] those shorter than 64 ns << i,
// the last are all others.
type gaps struct {
	Counts   [26]uint64 `json:"counts"`
	Slept    [26]uint64 `json:"slept"`           // those in which the thread gave up its core by itself
	Commands [26]uint64 `json:"commands"`        // by the processor time that they took
	Longest  float64    `json:"longest_seconds"` // 0: unknown
}

// quantile is an upper bound of a quantile, in seconds: that of its bucket.
func (g *gaps) quantile(q float64) float64 {
	var bounds, counts [len(g.Counts)]float64
	for i, n := range g.Counts {
		bounds[i], counts[i] = bound(i), float64(n)
	}
	return stat.Quantile(q, stat.Empirical, bounds[:], counts[:])
}

// most is an upper bound of the longest gap.
func (g *gaps) most() float64 { return g.quantile(1) }

// longest is an upper bound of the longest of some gaps; 0: there are none.
func longest(counts *[26]uint64) float64 {
	for i := len(counts) - 1; i >= 0; i-- {
		if counts[i] > 0 {
			return bound(i)
		}
	}
	return 0
}

func bound(i int) float64 { return 64e-9 * float64(uint64(1)<<i) }

// since is what came after an earlier look.
func (g gaps) since(before gaps) gaps {
	for i := range g.Counts {
		g.Counts[i] -= before.Counts[i]
		g.Slept[i] -= before.Slept[i]
		g.Commands[i] -= before.Commands[i]
	}
	return g
}

// ofScrape reads the histograms from a switch's metrics.
func ofScrape(families map[string]*dto.MetricFamily) (g gaps, err error) {
	if err := read(families, "photon_worker_poll_gap_seconds", &g.Counts); err != nil {
		return g, err
	}
	if err := read(families, "photon_worker_poll_gap_slept_seconds", &g.Slept); err != nil {
		return g, err
	}
	return g, read(families, "photon_worker_command_seconds", &g.Commands)
}

func read(families map[string]*dto.MetricFamily, name string, counts *[26]uint64) error {
	f := families[name]
	if f == nil || len(f.Metric) != 1 {
		return fmt.Errorf("the metrics have no histogram %s of one worker", name)
	}
	below := uint64(0)
	for i, b := range f.Metric[0].Histogram.Bucket {
		if i == len(counts) || i < len(counts)-1 && !close(b.GetUpperBound(), bound(i)) {
			return fmt.Errorf("bucket %d of %s ends at %s s", i, name, strconv.FormatFloat(b.GetUpperBound(), 'g', -1, 64))
		}
		counts[i] = b.GetCumulativeCount() - below
		below = b.GetCumulativeCount()
	}
	counts[len(counts)-1] += f.Metric[0].Histogram.GetSampleCount() - below
	return nil
}

func close(a, b float64) bool { return a > b*0.999 && a < b*1.001 }
