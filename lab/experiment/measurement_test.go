package experiment

import "testing"

func TestLoopWithoutParameters(t *testing.T) {
	if (&PILoop{Beta2: 1}).check() == nil || (*PILoop)(nil).check() == nil {
		t.Error("a loop without parameters has a margin")
	}
}
