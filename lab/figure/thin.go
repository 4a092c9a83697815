package figure

import "gonum.org/v1/plot/plotter"

// mostPoints of a line: more than that are not told apart.
const mostPoints = 1500

// thin leaves so many points of a line that every span of it keeps its smallest and its
// largest, in the order in which they come: no peak is lost.
func thin(xy plotter.XYs) plotter.XYs {
	const spans = mostPoints / 2
	if len(xy) <= mostPoints {
		return xy
	}
	some := make(plotter.XYs, 0, 2*spans)
	for k := range spans {
		span := xy[k*len(xy)/spans : (k+1)*len(xy)/spans]
		low, high := 0, 0
		for i := range span {
			if span[i].Y < span[low].Y {
				low = i
			}
			if span[i].Y > span[high].Y {
				high = i
			}
		}
		some = append(some, span[min(low, high)])
		if low != high {
			some = append(some, span[max(low, high)])
		}
	}
	return some
}
