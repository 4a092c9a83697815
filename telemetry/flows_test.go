package telemetry

import (
	"slices"
	"testing"

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
