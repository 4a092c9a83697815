package pfc_test

import (
	"reflect"
	"testing"

	"photon/pfc"
	"photon/units"
)

// Frames of any one length that arrive for as long as the headroom is for take no more cells than it has.
func TestHeadroomHoldsFramesOfAnyLengthInCells(t *testing.T) {
	h := pfc.HeadroomOf(10*units.Gbps, units.Microsecond, 100*units.Microsecond, 0, 1518)
	bytes := h.Sum() // on the wire
	for cell := units.Size(1); cell <= 2000; cell++ {
		room, most, worst := h.InCells(cell).Sum(), units.Size(0), units.Size(0)
		for length := units.Size(60); length <= 1518; length++ {
			frames := bytes / (length + 24)
			if taken := frames * ((length + cell - 1) / cell) * cell; taken > most {
				most, worst = taken, length
			}
		}
		if most > room {
			t.Fatalf("cells of %v: frames of %v take %v, headroom has %v", cell, worst, most, room)
		}
		if room > max(most, bytes)*102/100 {
			t.Fatalf("cells of %v: frames of %v take %v, headroom has as much as %v", cell, worst, most, room)
		}
	}
}

// Headroom is all of its parts.
func TestHeadroomIsAllOfItsParts(t *testing.T) {
	var h pfc.HeadroomParts
	v, want := reflect.ValueOf(&h).Elem(), units.Size(0)
	for i := range v.NumField() {
		v.Field(i).SetInt(1 << i)
		want += 1 << i
	}
	if h.Sum() != want {
		t.Errorf("parts of %+v are %d", h, h.Sum())
	}
}
