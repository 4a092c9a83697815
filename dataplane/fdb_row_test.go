package dataplane

import (
	"testing"

	"pgregory.net/rapid"

	"photon/wire"
)

// With the row of static entries an address leads where it does without, whatever lies
// between the static ones: nothing, learned addresses, the router's.
func TestRowIsAsTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const first wire.MAC = 0x0200_0000_0100
		salt := rapid.Uint32Range(0, 3).Draw(t, "salt")
		with, without := newFDB(64, 0, salt), newFDB(64, 0, salt)
		span := rapid.IntRange(1, 60).Draw(t, "span")
		learned, router := first+wire.MAC(rapid.IntRange(-5, span+5).Draw(t, "learned")), first+wire.MAC(span+1)
		with.setRouter(router)
		without.setRouter(router)
		static := map[wire.MAC]bool{}
		for range rapid.IntRange(0, 30).Draw(t, "static") {
			mac := first + wire.MAC(rapid.IntRange(0, span).Draw(t, "address"))
			ports := rapid.SliceOfN(rapid.Uint16Range(0, 9), 1, 3).Draw(t, "ports")
			for _, table := range []*fdb{with, without} {
				if err := table.set(mac, ports); err != nil {
					t.Fatal(err)
				}
			}
			static[mac] = true
		}
		with.setRow()
		for _, table := range []*fdb{with, without} {
			if learned != router {
				table.learn(learned, 11, 0)
			}
		}
		least, most := first+1000, wire.MAC(0)
		for mac := range static {
			least, most = min(least, mac), max(most, mac)
		}
		if dense := len(static) > 1 && int(most-least) < 4*len(static); dense != (len(with.row.to) > 0) {
			t.Errorf("%d static addresses within %d: a row of %d", len(static), most-least+1, len(with.row.to))
		}
		for mac := first - 10; mac < first+wire.MAC(span)+10; mac++ {
			for _, hash := range []uint32{0, 0x12345678, 0xFFFFFFFF} {
				if got, want := with.lookup(mac, hash, 0), without.lookup(mac, hash, 0); got != want {
					t.Fatalf("%v: %d, and without a row %d", mac, got, want)
				}
			}
		}
		if got := with.lookup(first+1<<40, 0, 0); got != noPort {
			t.Errorf("an address far away leads to %d", got)
		}
	})
}

// A switch whose static addresses follow one another has a row of them in each VLAN.
func TestSwitchesHaveRows(t *testing.T) {
	c := config(4)
	for i := range 8 {
		c.Static = append(c.Static, StaticEntry{MAC: mac(4 + i), Ports: []uint16{uint16(i % 4)}})
	}
	if n := len(newRig(t, c).sw.lans.all[0].fdb.row.to); n != 12 {
		t.Errorf("a row of %d", n)
	}
}
