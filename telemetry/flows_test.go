package telemetry

import (
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// A NIC knows flows that send nothing any more: they are allowed something, but no part of what is being sent.
func TestSilentFlowsAreNotBeingSent(t *testing.T) {
	s := NewSurvey(3)
	for _, f := range []Flow{
		{QP: 1, Rate: 9e9, Silent: true, Limited: true}, {QP: 2, Rate: 1e9}, {QP: 3, Rate: 10e9, Silent: true},
		{QP: 4, Rate: 2e9, Limited: true}, {QP: 5, Rate: 2e9},
	} {
		s.Add(f)
	}
	var rates uint64
	for _, n := range s.Rates {
		rates += n
	}
	if s.Active != 3 || s.Silent != 2 || s.Limited != 1 || rates != 3 || s.Sum != 5*units.Gbps {
		t.Errorf("%+v", s)
	}
	var listed []uint32
	for _, f := range s.Top {
		listed = append(listed, f.QP)
	}
	if !slices.Equal(listed, []uint32{4, 5, 2}) {
		t.Errorf("listed %v", listed)
	}
	s = NewSurvey(3)
	s.Add(Flow{QP: 1, Rate: 9e9, Silent: true})
	if s.Add(Flow{QP: 2, Rate: 1e9}); len(s.Top) != 2 || s.Top[0].QP != 2 || s.Top[1].QP != 1 {
		t.Errorf("%+v", s.Top)
	}
}

// A survey is as of flows that are all sorted and counted at the end: its list has the fastest, those added first where
// rates are equal, and silent ones behind all others.
func TestSurveyIsAsSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(0, 5).Draw(t, "most")
		s := NewSurvey(most)
		var all []Flow
		var active, silent, limited int
		var sum int64
		var under [len(RateBounds) + 1]uint64
		for i := range rapid.IntRange(0, 12).Draw(t, "flows") {
			rate := rapid.SampledFrom([]int64{0, 1, 1e6, 1e6 + 1, 5e8, 1e9, 1e11, 1e11 + 1}).Draw(t, "rate")
			f := Flow{
				QP: uint32(i), Rate: rate,
				Silent: rapid.Bool().Draw(t, "silent"), Limited: rapid.Bool().Draw(t, "limited"),
			}
			s.Add(f)
			all = append(all, f)
			if f.Silent {
				silent++
				continue
			}
			active, sum = active+1, sum+rate
			if f.Limited {
				limited++
			}
			bucket := 0
			for bucket < len(RateBounds) && rate > int64(RateBounds[bucket]) {
				bucket++
			}
			under[bucket]++
		}
		sort.SliceStable(all, func(i, k int) bool {
			if all[i].Silent == all[k].Silent {
				return all[i].Rate > all[k].Rate
			}
			return all[k].Silent
		})
		all = all[:min(most, len(all))]
		if !slices.Equal(s.Top, all) || s.Active != active || s.Silent != silent || s.Limited != limited ||
			int64(s.Sum) != sum || s.Rates != under {
			t.Fatalf("%+v\nnot %+v; %d, %d, %d, %d, %v", s, all, active, silent, limited, sum, under)
		}
	})
}
