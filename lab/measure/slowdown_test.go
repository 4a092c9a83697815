package measure

import (
	"math"
	"slices"
	"testing"

	"photon/units"
)

// Flows are divided by size into ranges of equally many, and each has its own percentiles.
func TestSlowdownBySize(t *testing.T) {
	var flows []Ended
	for i := range 1000 {
		f := Ended{Size: units.Size(1 + i%100), Ideal: units.Microsecond, FCT: 2 * units.Microsecond}
		if f.Size > 90 {
			f.FCT = 8 * units.Microsecond
		}
		flows = append(flows, f)
	}
	flows[0].FCT = units.Microsecond / 2 // faster than can be: it is shown
	ends := Sizes(slices.Values(flows))
	if want := []units.Size{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}; !slices.Equal(ends, want) {
		t.Fatalf("%v, not %v", ends, want)
	}
	if v := Slowdowns(slices.Values(flows), ends, "p50")[0]; v[0] != 2 || v[8] != 2 || math.Abs(v[9]-8) > 1e-9 {
		t.Errorf("medians %v", v)
	}
	if v := Slowdowns(slices.Values(flows), ends, "min")[0]; v[0] != 0.5 {
		t.Errorf("least %v", v)
	}
	if v := Slowdowns(slices.Values(flows[:10]), ends, "p99")[0]; v[0] != 2 || !math.IsNaN(v[1]) {
		t.Errorf("of ten flows %v", v)
	}
	if ends := Sizes(slices.Values(flows[:30])); len(ends) != 1 || ends[0] != 30 {
		t.Errorf("30 flows are in ranges up to %v", ends)
	}
	if ends := Sizes(slices.Values(flows[:10])); ends != nil {
		t.Errorf("10 flows are in ranges up to %v", ends)
	}
	for n, want := range map[units.Size]string{7: "7B", 99: "99B", 219: "220B", 3405: "3.4KB", 99658: "100KB", 8_174_000: "8.2MB"} {
		if got := About(n); got != want {
			t.Errorf("%d is about %s, not %s", n, got, want)
		}
	}
	same := make([]Ended, 400)
	for i := range same {
		same[i].Size = 7
	}
	if ends := Sizes(slices.Values(same)); !slices.Equal(ends, []units.Size{7}) {
		t.Errorf("flows of one size are in ranges up to %v", ends)
	}
}
