package web

import (
	"encoding/json"
	"math"
	"strconv"
)

// Chart is one panel as the page draws it.
type Chart struct {
	Kind   string `json:"kind"` // lines, sweep, bars or cdf
	Title  string `json:"-"`
	Note   string `json:"-"`                // what of the data is shown
	Label  string `json:"-"`                // for those who do not see it
	Scheme string `json:"scheme,omitempty"` // the only one it shows
	X      Axis   `json:"x"`
	Y      string `json:"y"` // label
	Lines  []Line `json:"lines"`
	Paper  []Mark `json:"paper,omitempty"`
	Said   string `json:"said,omitempty"` // what the values are that the legend has before anybody points at the chart
	// Charts with one group share cursor and zoom.
	Group string `json:"group,omitempty"`
}

// Axis is the x axis: equally spaced values, or a list of them.
type Axis struct {
	Label  string   `json:"label"`
	Log    bool     `json:"log,omitempty"`
	Range  Numbers  `json:"range,omitempty"` // its ends; absent: those of the values
	From   float64  `json:"from,omitempty"`
	Step   float64  `json:"step,omitempty"`
	N      int      `json:"n,omitempty"`
	Values Numbers  `json:"values,omitempty"`
	Names  []string `json:"names,omitempty"` // of the values
}

// Line is a series: a line, or the bars of one colour.
type Line struct {
	LineStyle
	Name   string  `json:"name"`
	Scheme string  `json:"scheme,omitempty"` // hidden and shown with it
	Values Numbers `json:"v"`
	Value  Numbers `json:"value,omitempty"` // the one that the legend has before anybody points at the chart
	At     *int    `json:"at,omitempty"`    // its place among the values
	// Low and High are the ends of the intervals in which the values are; absent: there are none.
	Low  Numbers `json:"low,omitempty"`
	High Numbers `json:"high,omitempty"`
}

// Mark is a number that a paper prints, next to the measured one.
type Mark struct {
	Line  int     `json:"line"` // of the chart
	At    int     `json:"at"`   // among the values of x
	Y     float64 `json:"y"`
	Bound string  `json:"bound,omitempty"` // at_least or at_most, if the paper says no more
	Ratio bool    `json:"ratio,omitempty"` // the paper prints a ratio: this is where it puts one scheme, compared with the other's bar
}

// Numbers are written as JSON with few digits; NaN is null.
type Numbers []float64

// MarshalJSON implements json.Marshaler.
func (n Numbers) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 2+6*len(n))
	b = append(b, '[')
	for i, v := range n {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b = append(b, "null"...)
			continue
		}
		b = appendShort(b, v)
	}
	return append(b, ']'), nil
}

// appendShort appends the shorter way to write a number.
func appendShort(b []byte, v float64) []byte {
	plain := strconv.AppendFloat(nil, v, 'f', -1, 64)
	if len(plain) <= 6 {
		return append(b, plain...)
	}
	if power := strconv.AppendFloat(nil, v, 'e', -1, 64); len(power) < len(plain) {
		return append(b, power...)
	}
	return append(b, plain...)
}

// Round returns v with so many significant digits.
func Round(v float64, digits int) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64) // of what was just formatted
	return r
}

// RoundAll rounds in place, and returns its argument.
func RoundAll(v []float64, digits int) []float64 {
	for i := range v {
		v[i] = Round(v[i], digits)
	}
	return v
}

var _ json.Marshaler = Numbers{}
