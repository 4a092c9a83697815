package experiment

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Tables have numbers of four digits as charts do: a count of frames is no power of ten.
func TestNumberHasNoPowersOfTen(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{10683, "", "10680"}, {9999.6, "", "10000"}, {1234567, "", "1235000"}, {-48830, "", "-48830"},
		{12.66e6, "B", "12.66 MB"},
		{123456, "s", "123500 s"}, {1e21, "", "1e+21"}, {0.00001234, "", "1.234e-05"}, {0, "B", "0 B"},
		{99999, "pps", "100000 pps"},
	} {
		if got := Number(&c.v, c.unit); got != c.want {
			t.Errorf("%v %s: %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

// A number with a unit is the same number, in the unit in which it has one to three digits before the point, if there
// is one.
func TestNumbersReadBest(t *testing.T) {
	in := map[string]map[string]float64{ // what is printed, by the largest first
		"s":     {"s": 1, "ms": 1e-3, "µs": 1e-6},
		"B":     {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9},
		"bit/s": {"bit/s": 1, "Kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
		"pps":   {"pps": 1}, "%": {"%": 1},
	}
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]string{"s", "B", "bit/s", "pps", "%"}).Draw(t, "unit")
		power := rapid.IntRange(-9, 13).Draw(t, "power")
		v := rapid.Float64Range(1, 9.9994).Draw(t, "digits") * math.Pow(10, float64(power))
		if rapid.Bool().Draw(t, "negative") {
			v = -v
		}
		text := Number(&v, unit)
		number, printed, _ := strings.Cut(text, " ")
		x, err := strconv.ParseFloat(number, 64)
		factor, known := in[unit][printed]
		if err != nil || !known || math.Abs(x*factor-v) > 0.0005*math.Abs(v)+1e-300 {
			t.Fatalf("%v %s: %s", v, unit, text)
		}
		least, most := math.Inf(1), 0.0
		for _, f := range in[unit] {
			least, most = min(least, f), max(most, f)
		}
		if m := math.Abs(v) / factor; m < 1 && factor > least || m >= 1000 && factor < most {
			t.Fatalf("%v %s: %s", v, unit, text)
		}
	})
}
