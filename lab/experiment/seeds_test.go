package experiment

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"photon/lab/experiments"
	"photon/units"
)

// In every experiment that comes with photon a seed draws when flows start: another seed another time, each within
// the phase that is allowed, and the same seed the same. Where a figure wants all at one time the file
// says so, and why.
func TestSeedsDrawPhases(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		p, err := e.Plan()
		if err != nil {
			t.Fatal(err)
		}
		sends := func(seed uint64) []Flow {
			list, err := e.Sends(p, seed)
			if err != nil {
				t.Fatal(err)
			}
			return list.List()
		}
		first, again, second := sends(1), sends(1), sends(2)
		starts := func(list []Flow) (at []units.Time) {
			for _, f := range list {
				at = append(at, f.Start)
			}
			return at
		}
		if !reflect.DeepEqual(starts(first), starts(again)) {
			t.Errorf("%s: one seed, two times", e.ID)
		}
		at := e.Parameters.StartPhase
		settled := at.Value.IsSet() && at.Value.V == 0 && at.Source != ""
		if same := reflect.DeepEqual(starts(first), starts(second)); same && len(first) > 0 && !settled {
			t.Errorf("%s: all flows start when they do with another seed", e.ID)
		}
		if most := e.StartPhase(p, first); most > 0 && len(e.Workloads) == 0 { // which draw their arrivals by themselves
			for i := range first {
				if a, b := first[i], second[i]; !a.exact && max(a.Start, b.Start)-min(a.Start, b.Start) >= most {
					t.Errorf("%s: flow %d starts at %v and %v, further apart than %v", e.ID, i, a.Start, b.Start, most)
				}
			}
		}
	}
}

// Every experiment that comes with photon runs over twenty seeds, or says beside the number why over fewer.
func TestSeedsAreTwenty(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	repeat := regexp.MustCompile(`(?m)^repeat: .*$`)
	for _, e := range all {
		text, err := experiments.Files.ReadFile(e.ID + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if line := repeat.FindString(string(text)); e.Repeat < 20 && !strings.Contains(line, "# one seed of all schemes takes ") {
			t.Errorf("%s: %d seeds, and nothing says why: %q", e.ID, e.Repeat, line)
		}
		if e.Repeat < 5 {
			t.Errorf("%s: a median of %d seeds has no interval", e.ID, e.Repeat)
		}
	}
}
