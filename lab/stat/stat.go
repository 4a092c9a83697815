// Package stat is what gonum's statistics are called with here: one convention for the median and for quantiles, a place
// for what never came, and intervals of runs that were repeated with other seeds. Laboratory and benchmarks share it.
package stat

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Never stands for a time that did not come while a run watched for it: it is later
// than any that did. Statistics that order values have a place for it, means have not.
var Never = math.Inf(1)

// Quantile is the smallest of values, of which there is one at least, that a part p of
// them does not exceed. The values must be ascending.
func Quantile(p float64, ascending []float64) float64 {
	return stat.Quantile(p, stat.Empirical, ascending, nil)
}

// Mean of values; infinite if one of them is.
func Mean(v []float64) float64 { return stat.Mean(v, nil) }

// Line is the one through points that has the least squares: its y at x = 0, and its slope.
func Line(x, y []float64) (at0, slope float64) { return stat.LinearRegression(x, y, nil, false) }

// Deviation is the standard deviation of all values there are.
func Deviation(v []float64) float64 { return stat.PopStdDev(v, nil) }

// Median is the value in the middle, or the mean of the two that are.
func Median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return Mean(s[(len(s)-1)/2 : len(s)/2+1])
}

// Spread is how far values of repeated measurements are apart: the largest less the smallest, by the median.
func Spread(v []float64) float64 { return (floats.Max(v) - floats.Min(v)) / Median(v) }

// MeanError is the mean of values, of which there are some, and its standard error. It counts from the first of them, so
// that values which are all the same have no error.
func MeanError(v []float64) (mean, err float64) {
	from := slices.Clone(v)
	floats.AddConst(-v[0], from)
	mean, deviation := stat.MeanStdDev(from, nil)
	return v[0] + mean, stat.StdErr(deviation, float64(len(v)))
}

const (
	// Level is the confidence level of intervals.
	Level = 0.95
	// Resamples is how often a sample is drawn again for an interval.
	Resamples = 2000
)

// Interval is the percentile bootstrap interval of a statistic of n runs: so many runs are
// drawn from among them, with repetition, and the statistic is that of those. What is
// drawn is the same every time. Of one run there is none.
func Interval(n int, of func(runs []int) float64) (low, high float64, ok bool) {
	if n < 2 {
		return 0, 0, false
	}
	random := rand.New(rand.NewPCG(uint64(n), Resamples))
	values, runs := make([]float64, Resamples), make([]int, n)
	for i := range values {
		for k := range runs {
			runs[k] = random.IntN(n)
		}
		values[i] = of(runs)
	}
	slices.Sort(values)
	return Quantile((1-Level)/2, values), Quantile((1+Level)/2, values), true
}

// MostUnseen is how frequent an event may be that came in none of n independent runs: the upper end of the exact
// binomial interval (Clopper and Pearson, Biometrika 1934).
func MostUnseen(n int) float64 { return 1 - math.Pow((1-Level)/2, 1/float64(n)) }

// MedianInterval is the Interval of the median of values.
func MedianInterval(v []float64) (low, high float64, ok bool) {
	drawn := make([]float64, len(v))
	return Interval(len(v), func(runs []int) float64 {
		for i, k := range runs {
			drawn[i] = v[k]
		}
		return Median(drawn)
	})
}
