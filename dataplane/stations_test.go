package dataplane

import (
	"math/rand/v2"
	"testing"

	"photon/wire"
)

// What was added is there, and of a thousand next hops nine in ten other addresses are known not to be one.
func TestStations(t *testing.T) {
	var s stations
	draw := rand.New(rand.NewPCG(1, 2))
	address := func() wire.MAC { return wire.MAC(draw.Uint64() & (1<<48 - 1)) }
	var added []wire.MAC
	for i := range 1000 {
		mac := wire.MAC(0x02_00_00_00_00_00 + i) // as machines of one kind have them
		if i%2 != 0 {
			mac = address()
		}
		s.add(mac)
		added = append(added, mac)
	}
	for _, mac := range added {
		if !s.mayHave(mac) {
			t.Errorf("%v is missing", mac)
		}
	}
	others := 0
	for range 10_000 {
		if s.mayHave(address()) {
			others++
		}
	}
	if others > 1000 {
		t.Errorf("%d of 10000 others may be there", others)
	}
}
