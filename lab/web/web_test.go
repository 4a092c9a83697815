package web

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

func TestNumbers(t *testing.T) {
	b, err := json.Marshal(Numbers{0, 1, -2.5, 0.001, 1e9, 1.5e-9, 123456, math.NaN(), math.Inf(1), Round(0.1+0.2, 4)})
	if want := "[0,1,-2.5,0.001,1e+09,1.5e-09,123456,null,null,0.3]"; err != nil || string(b) != want {
		t.Errorf("%s, want %s: %v", b, want, err)
	}
	for v, want := range map[float64]float64{123456: 123500, 0.00012344: 0.0001234, -99999: -100000, 0: 0} {
		if got := Round(v, 4); got != want {
			t.Errorf("%v with four digits is %v", v, got)
		}
	}
}

// Few values stay as they are.
func TestThinKeepsFew(t *testing.T) {
	axis, values, spans := Thin([]Curve{{[]float64{1, 2, 4}, []float64{7, 8, 9}}, {[]float64{1, 2, 4}, []float64{1, 1, 1}}}, 0, 4, 10)
	if spans != 0 || !slices.Equal(axis.Values, Numbers{1, 2, 4}) || !slices.Equal(values[0], Numbers{7, 8, 9}) {
		t.Errorf("%v %v %d", axis, values, spans)
	}
}

// Of many values every span keeps its extremes, in their order.
func TestThinKeepsPeaks(t *testing.T) {
	var c Curve
	for i := range 10000 {
		c.X = append(c.X, float64(i+1))
		c.Y = append(c.Y, 5)
	}
	c.Y[1234], c.Y[1239], c.Y[9999] = 99, 1, 77
	axis, values, spans := Thin([]Curve{c}, 0, 10000, 200)
	if spans != 100 || axis.N != 200 || len(values[0]) != 200 || axis.From != 25 || axis.Step != 50 {
		t.Fatalf("%+v, %d values, %d spans", axis, len(values[0]), spans)
	}
	if v := values[0]; v[24] != 99 || v[25] != 1 || v[198] != 5 || v[199] != 77 || v[0] != 5 {
		t.Errorf("%v", v)
	}
}

// Curves with samples at other times share an axis; a span without samples is empty.
func TestThinJoins(t *testing.T) {
	a, b := Curve{[]float64{1, 2, 3}, []float64{1, 2, 3}}, Curve{[]float64{3.5}, []float64{9}}
	_, values, spans := Thin([]Curve{a, b}, 0, 4, 8)
	if spans != 4 || !math.IsNaN(values[1][0]) || values[1][6] != 9 || values[0][2] != 1 {
		t.Errorf("%v %d", values, spans)
	}
}

func TestLooksStay(t *testing.T) {
	looks := Looks([]string{"dcqcn", "dcqcn+", "new", "newer", "pcn"})
	if alone := Looks([]string{"pcn"}); alone["pcn"].Color != looks["pcn"].Color || looks["new"].Color == "" {
		t.Errorf("%+v", looks)
	}
	seen := map[string]string{}
	for name, l := range looks {
		k := l.Color + l.SVG()
		if seen[k] != "" {
			t.Errorf("%s and %s look the same", name, seen[k])
		}
		seen[k] = name
	}
}
