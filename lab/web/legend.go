package web

import "math"

// SetLegendValues says what the legend of a chart has before anybody points at it: of a distribution the median, of a sweep what
// came at its last value, of bars those of the first group, or each its own. Lines over time have their means, which
// only who has all samples knows.
func (ch *Chart) SetLegendValues() {
	for i := range ch.Lines {
		l := &ch.Lines[i]
		switch at := ch.legendPlace(l); {
		case at < 0:
		case ch.Kind == "cdf":
			l.Value = Numbers{ch.X.Values[at]}
		default:
			l.Value = Numbers{l.Values[at]}
			l.At = &at
		}
	}
	switch {
	case ch.Kind == "cdf":
		ch.Said = "median"
	case len(ch.Lines) == 0 || ch.Kind == "lines":
	case ch.Kind == "sweep":
		ch.Said = ch.X.at(len(ch.Lines[0].Values) - 1)
	case !ch.single():
		ch.Said = ch.X.at(0)
	}
}

// at is the name of a place on the axis.
func (x *Axis) at(i int) string {
	if i >= len(x.Names) {
		return ""
	}
	if x.Label == "" {
		return x.Names[i]
	}
	return x.Label + ": " + x.Names[i]
}

// legendPlace is the place whose value the legend has; -1: there is none.
func (ch *Chart) legendPlace(l *Line) int {
	known := func(i int) int {
		if i < 0 || i >= len(l.Values) || math.IsNaN(l.Values[i]) {
			return -1
		}
		return i
	}
	switch {
	case ch.Kind == "cdf":
		for i, v := range l.Values {
			if v >= 0.5 {
				return i
			}
		}
	case ch.Kind == "sweep":
		return known(len(l.Values) - 1)
	case ch.Kind == "bars" && ch.single():
		for i := range l.Values {
			if known(i) == i {
				return i
			}
		}
	case ch.Kind == "bars":
		return known(0)
	}
	return -1
}

// single reports whether every line has one bar, in a place of its own.
func (ch *Chart) single() bool {
	taken := map[int]bool{}
	for _, l := range ch.Lines {
		n := 0
		for i, v := range l.Values {
			if math.IsNaN(v) {
				continue
			}
			if n++; n > 1 || taken[i] {
				return false
			}
			taken[i] = true
		}
	}
	return true
}
