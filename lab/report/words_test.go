package report

import (
	"math"
	"testing"

	"photon/lab/claim"
	"photon/lab/experiment"
)

// A ratio reads as a person would say it: "... the paper's".
func TestRatiosInWords(t *testing.T) {
	for r, want := range map[float64][2]string{ // of times, and of anything else
		1.002: {"as long as", "the same as"}, 2.03: {"twice as long as", "twice"}, 1.12: {"12 % longer than", "12 % more than"},
		1.97: {"twice as long as", "twice"}, 2.6: {"2.6 times as long as", "2.6 times"}, 25.97: {"26 times as long as", "26 times"}, 1234: {"1234 times as long as", "1234 times"},
		0.88: {"12 % shorter than", "12 % less than"}, 0.5: {"half as long as", "half of"}, 0.33: {"a third as long as", "a third of"},
		0.42: {"42 % as long as", "42 % of"}, 0.1: {"a tenth as long as", "a tenth of"}, 0.047: {"one 21st as long as", "one 21st of"},
		1e-5: {"less than a thousandth as long as", "less than a thousandth of"}, math.Inf(1): {"", ""}, math.NaN(): {"", ""},
	} {
		if got := [2]string{relation(r, "s"), relation(r, "B")}; got != want {
			t.Errorf("%g: %q, want %q", r, got, want)
		}
	}
	for n, want := range map[int]string{11: "11th", 12: "12th", 13: "13th", 21: "21st", 22: "22nd", 23: "23rd", 112: "112th", 101: "101st"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// What is said of a claim is of its number and the paper's, or of one scheme and the other.
func TestClaimsInWords(t *testing.T) {
	pair := []string{"pcn", "dcqcn"}
	for _, c := range []struct {
		part     experiment.Part
		paper    *float64
		measured *float64
		want     string
	}{
		{experiment.Part{Schemes: pair[:1], Unit: "s"}, ptr(2), ptr(4), "twice as long as the paper's"},
		{experiment.Part{Schemes: pair[:1], Unit: "s", Bound: experiment.AtMost}, ptr(4), ptr(2), "half as long as the paper's bound"},
		{experiment.Part{Schemes: pair[:1], Unit: "B"}, ptr(4), ptr(1), "a quarter of the paper's"},
		{experiment.Part{Schemes: pair[:1], Unit: "B", Name: "queue"}, ptr(4), ptr(1), "queue: a quarter of the paper's"},
		{experiment.Part{Schemes: pair}, ptr(0.5), ptr(0.88), "pcn: 12 % less than dcqcn's"},
		{experiment.Part{Schemes: pair, As: experiment.Reduction}, ptr(0.5), ptr(0.75), "pcn: a quarter of dcqcn's"},
		{experiment.Part{Schemes: pair[:1], Over: "queue_max"}, ptr(0.5), ptr(2), "twice queue_max"},
		{experiment.Part{Schemes: pair[:1], As: experiment.Fraction}, ptr(0.5), ptr(0.6), ""},
		{experiment.Part{Schemes: pair[:1], Unit: "s"}, nil, ptr(4), ""},
		{experiment.Part{Schemes: pair[:1], Unit: "s"}, ptr(4), nil, ""},
		{experiment.Part{Schemes: pair[:1], Unit: "s"}, ptr(4), ptr(0), ""},
	} {
		c.part.Paper = c.paper
		whole := experiment.Claim{Part: c.part}
		m := claim.Measurement{Name: c.part.Name, Paper: c.paper, Measured: c.measured, As: c.part.Kind(), Unit: c.part.Unit, Bound: c.part.Bound}
		if got := words(&whole, &m); got != c.want {
			t.Errorf("%+v: %q, want %q", c.part, got, c.want)
		}
	}
}
