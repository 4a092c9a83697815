package run

import (
	"reflect"
	"runtime"
	"slices"
	"testing"

	"photon/config"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/scheme"
	"photon/units"
)

// A run on several processors yields what it yields on one, under every scheme: the
// trace, the metrics, the samples and every flow.
func TestPartsDoNotMatter(t *testing.T) {
	e := busy(t, units.Millisecond)
	e.Measure.Probes = append(e.Measure.Probes, experiment.Probe{Name: "queues", Kind: config.Set("queue"), At: config.Set([]string{"*"})})
	partsDoNotMatter(t, e, scheme.Names())
}

// The same of so many short flows that parts add them side by side, and have receivers forget them.
func TestPartsDoNotMatterToShortFlows(t *testing.T) {
	e := busy(t, units.Millisecond)
	e.Workloads[0].Sizes = config.Set("googlerpc")
	if n := partsDoNotMatter(t, e, []string{"dcqcn", "pcn", "hpcc"}); n < 2000 {
		t.Errorf("%d flows ended: too few to be added together", n)
	}
}

// partsDoNotMatter runs an experiment on one, two and three processors, and returns how many flows ended at most.
func partsDoNotMatter(t *testing.T, e *experiment.Experiment, schemes []string) (most int) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // three parts take turns
	several := 0
	for _, name := range schemes {
		use, err := chooseSchemes(e, Options{Schemes: []string{name}})
		if err != nil {
			t.Fatal(err)
		}
		var alone runResult
		var aloneEnded []measure.Ended
		for _, cores := range []int{1, 2, 3} {
			r, err := runSingle(e, Options{World: "sim", Cores: cores}, use[0], 1)
			if err != nil {
				t.Fatal(err)
			}
			ended := slices.Collect(r.ended)
			r.timing, r.ended = Timing{}, nil
			most = max(most, len(ended))
			if cores == 1 {
				alone, aloneEnded = r, ended
				if len(ended) == 0 || len(r.series.Time) == 0 {
					t.Fatalf("%s: %d flows ended, %d samples", name, len(ended), len(r.series.Time))
				}
				continue
			}
			if r.frames != alone.frames { // the most there were when parts met
				several++
			}
			r.frames = alone.frames
			if !reflect.DeepEqual(r, alone) || !slices.Equal(ended, aloneEnded) {
				t.Errorf("%s: another run on %d processors: trace %s and %s, %d events and %d", name, cores, r.hash, alone.hash, r.events, alone.events)
			}
		}
	}
	if several == 0 {
		t.Error("no run had several parts")
	}
	return most
}

// Large networks take spare processors by themselves, small ones do not.
func TestSpreads(t *testing.T) {
	for id, want := range map[string]bool{"pcn/fig14-w2": true, "pacc/fig1": true, "pcn/fig2": false, "pcn/fig11": false, "pcn/fig21": true} {
		e, err := experiment.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		if got := Spreads(e); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}
