package experiment

import "testing"

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
