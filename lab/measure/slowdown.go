package measure

import (
	"iter"
	"math"
	"slices"

	"photon/units"
)

// Slowdown of a flow is its completion time against an empty network.
func (f *Ended) Slowdown() float64 { return f.FCT.Seconds() / f.Ideal.Seconds() }

const (
	mostSizes  = 10 // ranges of flow sizes
	leastFlows = 20 // in a range: of fewer, no percentile means anything
)

// Sizes divides flows by size into ranges with about as many flows each, ten at most, and
// returns their upper ends. Flows of one size are in one range.
func Sizes(flows iter.Seq[Ended]) (ends []units.Size) {
	var sizes []units.Size
	for f := range flows {
		sizes = append(sizes, f.Size)
	}
	slices.Sort(sizes)
	n := min(mostSizes, len(sizes)/leastFlows)
	for k := range n {
		ends = append(ends, sizes[(k+1)*len(sizes)/n-1])
	}
	return slices.Compact(ends)
}

// About is a size in two digits, for an axis.
func About(n units.Size) string {
	unit := units.Size(1)
	for n >= 100*unit {
		unit *= 10
	}
	return ((n + unit/2) / unit * unit).String()
}

// Slowdowns are statistics (p50, p99) of the slowdown of flows in each range of sizes, by statistic; NaN
// where none ended.
func Slowdowns(flows iter.Seq[Ended], ends []units.Size, stats ...string) [][]float64 {
	of := make([][]float64, len(ends))
	for f := range flows {
		if k, _ := slices.BinarySearch(ends, f.Size); k < len(ends) {
			of[k] = append(of[k], f.Slowdown())
		}
	}
	list := make([][]float64, len(stats))
	for i, stat := range stats {
		list[i] = make([]float64, len(ends))
		for k, inBin := range of {
			if list[i][k] = math.NaN(); len(inBin) > 0 {
				list[i][k], _ = statistic(stat, inBin, nil) // there is that one
			}
		}
	}
	return list
}
