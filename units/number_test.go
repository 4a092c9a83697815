package units

import "testing"

func TestParseNumber(t *testing.T) {
	for s, want := range map[string]float64{"0.5": 0.5, "1/128": 1.0 / 128, "60%": 0.6, " 3 / 4 ": 0.75, "-2": -2, "1e-3": 1e-3, "12.5 %": 0.125} {
		if got, err := ParseNumber(s); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "half", "1/0", "0/0", "NaN", "Inf", "1/2/3", "1/2%", "%", "1e999"} {
		if v, err := ParseNumber(s); err == nil {
			t.Errorf("%q is %v", s, v)
		}
	}
}
