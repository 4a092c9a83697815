package run

import (
	"slices"
	"testing"

	"photon/lab/experiment"
	"photon/lab/measure"
)

// What nodes did in the run of any seed is in the report, with its seed, and once if it is the same in all of them.
func TestRemarksOfAllSeeds(t *testing.T) {
	job := func(seed uint64, value string, first bool, notes, remarks []string) *Job {
		j := &Job{Seed: seed, Value: value, First: first, e: &experiment.Experiment{}}
		j.result.notes, j.result.remarks, j.result.ended = notes, remarks, slices.Values([]measure.Ended{})
		return j
	}
	r, _ := Merge([]*Job{
		job(4, "1", true, []string{"no PAUSE was sent: 3KB"}, []string{"H0: one packet in 32"}),
		job(5, "1", false, []string{"no PAUSE was sent: 4KB"}, []string{"H0: one packet in 32", "H2: dropped 7"}),
		job(4, "2", true, nil, nil),
		job(5, "2", false, nil, []string{"H2: dropped 9"}),
	})
	want := []string{
		"@1: no PAUSE was sent: 3KB", "@1: H0: one packet in 32", "@1: seed 5: H2: dropped 7",
		"@2: seed 5: H2: dropped 9",
	}
	if !slices.Equal(r.Notes, want) {
		t.Errorf("%q", r.Notes)
	}
}
