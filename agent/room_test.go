package agent

import (
	"math/rand/v2"
	"testing"

	"photon/cnp"
	"photon/units"
)

// A packet of a new flow looks at a bounded number of places, and the next one looks on from there: an old flow of a large
// table makes room after a few packets.
func TestRoomIsFoundWherePacketsLeftOff(t *testing.T) {
	const places = 4 * roomVisits
	c := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 1)), func(i int) Config {
		c := cableConfig(i)
		c.Receivers, c.NP = places, cnp.NewDCQCN(cnp.DCQCNParams{Interval: 20 * units.Microsecond}, places)
		return c
	})
	h, now := c.hosts[1].h, 100*units.Second
	for i := range uint32(places) {
		slot, _ := h.table.Insert(keyOf(cableAddress(0), i), now)
		h.morePeers()
		if h.peers[slot].lastSeen = now; i == places-1 {
			h.peers[slot].lastSeen = 0
		}
	}
	tries := 1
	for ; tries <= 4; tries++ {
		if _, ok := h.makeRoom(now, keyOf(cableAddress(1), 5)); ok {
			break
		}
	}
	if tries != 4 {
		t.Errorf("a place after %d packets, want 4: each looks at %d of %d", tries, roomVisits, places)
	}
}
