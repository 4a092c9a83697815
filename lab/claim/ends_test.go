package claim

import (
	"encoding/json"
	"testing"

	"photon/lab/experiment"
	"photon/lab/stat"
)

// again is a measurement after it was written to a file and judged once more.
func again(t *testing.T, m Measurement, p *experiment.Part) Measurement {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var saved Measurement
	if err := json.Unmarshal(b, &saved); err != nil {
		t.Fatal(err)
	}
	return saved.judgedAgain(p)
}

// What is violated is violated, whatever has no end, and however often it is read from a file: a reduction by a scheme that
// never came is none, and an order of two that are alike but for rounding is none.
func TestEnds(t *testing.T) {
	never := stat.Never
	tenth := 0.1
	r := result(map[string][]float64{
		"never": {never}, "nevers": {never, never, never}, "some": {1, never, never, never, never, never, never}, "one": {1}, "ones": {1, 1, 1},
		"third": {tenth + 2*tenth}, "thirds": {0.3}, "sevens": {1, 1, 1, 1, 1, 1, 1},
	})
	for _, c := range []struct {
		name string
		part experiment.Part
		want string
	}{
		{"a reduction", experiment.Part{Schemes: []string{"never", "one"}, As: experiment.Reduction, Paper: ptr(0.5), Bound: experiment.AtLeast}, "differs"},
		{"of all seeds", experiment.Part{Schemes: []string{"nevers", "ones"}, As: experiment.Reduction, Paper: ptr(0.5), Bound: experiment.AtLeast}, "differs"},
		{"in words", experiment.Part{Schemes: []string{"nevers", "ones"}, As: experiment.Reduction, Limit: ptr(0), Bound: experiment.AtLeast}, "contradicted"},
		{"of most seeds", experiment.Part{Schemes: []string{"some", "sevens"}, As: experiment.Reduction, Limit: ptr(0.5), Bound: experiment.AtLeast}, "contradicted"},
		{"more by rounding", experiment.Part{Schemes: []string{"third", "thirds"}, Limit: ptr(1), Bound: experiment.AtLeast}, "contradicted"},
		{"less by rounding", experiment.Part{Schemes: []string{"thirds", "third"}, Limit: ptr(1), Bound: experiment.AtLeast}, "contradicted"},
		{"fewer by rounding", experiment.Part{Schemes: []string{"thirds", "third"}, Limit: ptr(1), Bound: experiment.AtMost}, "contradicted"},
		{"reduced by rounding", experiment.Part{Schemes: []string{"thirds", "third"}, As: experiment.Reduction, Limit: ptr(0), Bound: experiment.AtLeast}, "contradicted"},
		{"equal in all seeds", experiment.Part{Schemes: []string{"ones", "ones"}, Limit: ptr(1), Bound: experiment.AtLeast}, "contradicted"},
		{"a bound that says nothing", experiment.Part{Schemes: []string{"sevens", "third"}, Paper: ptr(1), Bound: experiment.AtMost}, "differs"},
	} {
		c.part.Metric = "x"
		got := judge(watched(t), &experiment.Claim{ID: "c", Part: c.part}, r)
		if got.Says() != c.want {
			t.Errorf("%s: %s, %+v", c.name, got.Says(), got.Measurement)
		}
		if m := again(t, got.Measurement, &c.part); m.Says() != c.want {
			t.Errorf("%s: judged again it is %s, and was %s", c.name, m.Says(), got.Says())
		}
	}
}
