package measure

import (
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
func Sizes(flows []Ended) (ends []units.Size) {
	var sizes []units.Size
	for i := range flows {
		sizes = append(sizes, flows[i].Size)
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

// Slowdowns are a statistic (p50, p99) of the slowdown of flows in each range of sizes; NaN
// where none ended.
func Slowdowns(flows []Ended, ends []units.Size, stat string) []float64 {
	of := make([][]float64, len(ends))
	for i := range flows {
		if k, _ := slices.BinarySearch(ends, flows[i].Size); k < len(ends) {
			of[k] = append(of[k], flows[i].Slowdown())
		}
	}
	v := make([]float64, len(ends))
	for k, inBin := range of {
		if v[k] = math.NaN(); len(inBin) > 0 {
			v[k], _ = statistic(stat, inBin) // there is that one
		}
	}
	return v
}
