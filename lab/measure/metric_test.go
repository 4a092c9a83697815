package measure

import (
	"math"
	"slices"
	"testing"

	"photon/config"
	"photon/lab/experiment"
	"photon/units"
)

// Metrics over samples 1 to 5 us of a queue and of two counters of bytes.
func TestMetricsOfSamples(t *testing.T) {
	w := &Watch{e: &experiment.Experiment{Duration: 5 * units.Microsecond, Measure: experiment.Measure{Sample: units.Microsecond}}, probes: map[string]*watched{
		"queue": {probe: &experiment.Probe{Kind: config.Set("queue")}, raw: [][]float64{{1, 5, 2, 5, 2}}},
		"bytes": {probe: &experiment.Probe{Kind: config.Set("received")}, raw: [][]float64{{0, 100, 200, 300, 400}, {0, 50, 100, 150, 200}}},
		"ports": {probe: &experiment.Probe{Kind: config.Set("queue"), Each: true}, raw: [][]float64{{1, 5, 2, 5, 2}, {4, 1, 8, 1, 1}}},
	}}
	for i := range 5 {
		w.Series.Time = append(w.Series.Time, units.Time(i+1)*units.Microsecond)
	}
	for _, c := range []struct {
		do, of string
		from   units.Time
		value  float64
		want   float64
	}{
		{"max_at", "queue", 0, 0, 2e-6},
		{"max_at", "queue", 2 * units.Microsecond, 0, 2e-6},
		{"stddev", "queue", units.Microsecond, 0, 1.5},
		{"last_above", "queue", 0, 4, 4e-6},
		{"last_below", "queue", 0, 2, 1e-6},
		{"last_below", "queue", 0, 1, 0},
		{"gap", "bytes", units.Microsecond, 0, 0.5},
		{"spread", "bytes", units.Microsecond, 0, 50e6 * 8},
		{"rate", "bytes", units.Microsecond, 0, 150e6 * 8},
		// Of several columns the most is that of any, and what must have come down must have in all.
		{"max", "ports", 0, 0, 8},
		{"min", "ports", 0, 0, 1},
		{"mean", "ports", 0, 0, 3},
		{"p50", "ports", 0, 0, 2},
		{"max_at", "ports", 0, 0, 3e-6},
		{"first_at_most", "ports", 0, 4, 1e-6},
		{"first_at_most", "ports", units.Microsecond, 4, 4e-6},
		{"first_at_least", "ports", 0, 2, 3e-6},
		{"last_above", "ports", 0, 5, 3e-6},
		{"last_below", "ports", 0, 2, 5e-6},
		{"time_above", "ports", 0, 4.5, 3e-6},
		{"time_below", "ports", 0, 1.5, 4e-6},
		{"lifetime", "ports", 2 * units.Microsecond, 3, 2e-6},
	} {
		m := metric{&experiment.Metric{Name: "m", Do: config.Set(c.do), Of: config.Set(c.of), From: c.from, Value: c.value}}
		if got := m.evaluate(w); got == nil || math.Abs(*got-c.want) > 1e-9*math.Abs(c.want) {
			t.Errorf("%s of %s from %v: %s, not %v", c.do, c.of, c.from, experiment.Number(got, ""), c.want)
		}
	}
	for _, do := range []string{"gap", "jain"} {
		still := metric{&experiment.Metric{Do: config.Set(do), Of: config.Set("bytes"), To: units.Microsecond}}
		if got := still.evaluate(w); got != nil {
			t.Errorf("nothing grew, and the %s is %v", do, *got)
		}
	}
}

// A series has settled when it stays near a value, from either side: to pass it is
// not enough, nor to be near it now and then, nor at the very end.
func TestFirstWithin(t *testing.T) {
	for _, c := range []struct {
		name   string
		series []float64
		want   float64 // us; 0: never
	}{
		{"from the beginning", []float64{9, 11, 10, 10}, 1},
		{"from above", []float64{20, 14, 11, 10}, 3},
		{"from below", []float64{2, 8.9, 9, 10}, 3},
		{"passes, and comes back", []float64{20, 10, 2, 9, 10}, 4},
		{"passes, and stays below", []float64{20, 10, 2, 2}, 0},
		{"swings", []float64{10, 12, 10, 8, 10, 12, 10}, 0},
		{"not long enough", []float64{20, 20, 20, 10}, 0},
	} {
		// 1.5 us are two samples, not one.
		m := metric{&experiment.Metric{Do: config.Set("first_within"), Value: 10, Part: 0.1, Hold: 1500 * units.Nanosecond}}
		var times []units.Time
		for i := range c.series {
			times = append(times, units.Time(i+1)*units.Microsecond)
		}
		got := m.firstTime(c.series, times, units.Microsecond)
		if (got == nil) != (c.want == 0) || got != nil && math.Abs(*got-c.want*1e-6) > 1e-12 {
			t.Errorf("%s: %s, not %v us", c.name, experiment.Number(got, "s"), c.want)
		}
	}
}

// Of several columns that decides which the words are true of last: what is most of any, what must have come of all.
func TestWhichColumnDecides(t *testing.T) {
	w := &Watch{e: &experiment.Experiment{}}
	for _, raw := range [][][]float64{{{9, 20, 11, 10}, {10.5, 3, 2, 10}}, {{10.5, 3, 2, 10}, {9, 20, 11, 10}}} {
		x := &watched{probe: &experiment.Probe{Kind: config.Set("queue")}, columns: make([]column, 2), raw: raw}
		for do, want := range map[string][]float64{
			"max": {10.5, 20, 11, 10}, "first_at_most": {10.5, 20, 11, 10},
			"min": {9, 3, 2, 10}, "first_at_least": {9, 3, 2, 10},
			"first_within": {9, 20, 2, 10}, // the farthest from 10
		} {
			m := metric{&experiment.Metric{Do: config.Set(do), Value: 10}}
			if got := m.decisive(w, x, 0, 4); !slices.Equal(got, want) {
				t.Errorf("%s of %v: %v, not %v", do, raw, got, want)
			}
		}
	}
}

func TestJain(t *testing.T) {
	if jain([]float64{3, 3, 3}) != 1 || math.Abs(jain([]float64{1, 0, 0, 0})-0.25) > 1e-12 || jain([]float64{0, 0}) != 0 {
		t.Fatal("Jain's index")
	}
}

// A time that the end of the run cut off is said to be at least so long: what still was so at the last sample that
// counts, or was quiet then for no longer than before. One that is over is not.
func TestTimesThatWereCutOff(t *testing.T) {
	for _, c := range []struct {
		do      string
		counter bool
		to      units.Time
		samples []float64
		cut     bool
	}{
		{"last_above", false, 0, []float64{0, 3, 0, 3}, true},
		{"last_above", false, 0, []float64{3, 3, 3, 2}, false},
		{"last_above", false, 0, []float64{0, 0, 0, 0}, false},
		{"last_above", false, 2 * us, []float64{0, 3, 0, 0}, true},
		{"last_below", false, 0, []float64{3, 3, 3, 1}, true},
		{"last_below", false, 0, []float64{1, 1, 3, 2}, false},
		{"lifetime", false, 0, []float64{0, 3, 3, 3}, true},
		{"lifetime", false, 0, []float64{3, 3, 3, 0}, false},
		{"lifetime", false, 0, []float64{3, 0, 0, 3, 0, 0}, true},     // as quiet before
		{"lifetime", false, 0, []float64{3, 0, 0, 3, 0, 0, 0}, false}, // longer than before
		{"lifetime", false, 0, []float64{0, 0, 0, 0}, false},
		{"lifetime", true, 0, []float64{1, 1, 2, 2}, true},
		{"lifetime", true, 0, []float64{1, 2, 3, 3}, false},
		{"lifetime", true, 3 * us, []float64{1, 2, 3, 3}, true},
		{"max_at", false, 0, []float64{0, 1, 2, 3}, false},
		{"time_above", false, 0, []float64{3, 3, 3, 3}, false},
		{"lifetime", false, 0, nil, false},
	} {
		kind := "queue"
		if c.counter {
			kind = "xoffs"
		}
		probe := &experiment.Probe{Kind: config.Set(kind)}
		w := &Watch{e: &experiment.Experiment{Measure: experiment.Measure{Sample: us, Metrics: []experiment.Metric{
			{Name: "m", Do: config.Set(c.do), Of: config.Set("p"), To: c.to, Value: 2},
			{Name: "other", Do: config.Set("max"), Of: config.Set("p")},
		}}}, probes: map[string]*watched{"p": {probe: probe, columns: make([]column, 1), raw: [][]float64{c.samples}}}}
		for i := range c.samples {
			w.Series.Time = append(w.Series.Time, units.Time(i+1)*us)
		}
		want := []string(nil)
		if c.cut {
			want = []string{"m: at least so long, what is timed may go on after the last sample that counts"}
		}
		if got := w.Lasting(); !slices.Equal(got, want) {
			t.Errorf("%s of %v: %q, not %q", c.do, c.samples, got, want)
		}
	}
}
