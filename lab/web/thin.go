package web

import (
	"math"
	"slices"
)

// Curve is a function of time; its times ascend.
type Curve struct{ X, Y []float64 }

// Thin puts curves on one x axis with at most so many points, from 0 points on.
// Where there are more, every span of the axis keeps its smallest and its largest
// value, in the order in which they came, so that no peak is lost; spans says how
// many there are, 0 that every value is there.
func Thin(curves []Curve, from, to float64, points int) (axis Axis, values []Numbers, spans int) {
	if x, ok := common(curves); ok && len(x) <= points {
		axis.Values = RoundAll(slices.Clone(x), 6)
		for _, c := range curves {
			values = append(values, RoundAll(slices.Clone(c.Y), 5))
		}
		return axis, values, 0
	}
	spans = max(1, points/2)
	width := (to - from) / float64(spans)
	axis = Axis{From: Round(from+width/4, 8), Step: Round(width/2, 8), N: 2 * spans}
	for _, c := range curves {
		values = append(values, c.extremes(from, width, spans))
	}
	return axis, values, spans
}

// common returns the x values if all curves have the same.
func common(curves []Curve) ([]float64, bool) {
	for _, c := range curves {
		if !slices.Equal(c.X, curves[0].X) {
			return nil, false
		}
	}
	return curves[0].X, true
}

// extremes returns two values for each span; NaN where a span has none.
func (c Curve) extremes(from, width float64, spans int) Numbers {
	v := make(Numbers, 2*spans)
	for i := range v {
		v[i] = math.NaN()
	}
	for i := 0; i < len(c.X); {
		span := min(max(0, int((c.X[i]-from)/width)), spans-1)
		low, high := i, i
		for ; i < len(c.X) && (span == spans-1 || c.X[i] < from+float64(span+1)*width); i++ {
			if c.Y[i] < c.Y[low] {
				low = i
			}
			if c.Y[i] > c.Y[high] {
				high = i
			}
		}
		i = max(i, high+1, low+1) // on, whatever rounding says
		v[2*span], v[2*span+1] = Round(c.Y[min(low, high)], 4), Round(c.Y[max(low, high)], 4)
	}
	return v
}
