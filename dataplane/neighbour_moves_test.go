package dataplane

import (
	"slices"
	"testing"

	"photon/units"
	"photon/wire"
)

// A neighbour's station that moves to another port of its VLAN is followed there as soon as it sends any frame, as
// bridged frames follow it, also if the forwarding database had forgotten it. What others send moves nothing.
func TestNeighbourMovesWithItsStation(t *testing.T) {
	c := askingConfig()
	c.Static, c.Learn, c.Age = nil, true, 10*units.Second
	c.VLANs = []VLAN{
		{ID: 10, Untagged: []uint16{0}, Tagged: []uint16{2}}, {ID: 20, Untagged: []uint16{1}, Tagged: []uint16{2}},
	}
	c.Router.Routes = []Route{{Prefix: prefix("10.2.0.0/16"), Via: []NextHop{inVLAN20("10.2.0.2")}}}
	says := func(i int) []byte { return packet(i, 200, 0, 0) } // it tells nothing but from whom it is
	for _, silence := range []units.Time{us, 20 * units.Second} {
		eachCrew(t, c, func(t *testing.T, r *rig) {
			leaves := func(port int, from wire.MAC) {
				t.Helper()
				r.poll()
				for p := range r.sw.ports {
					r.out(p, 50)
				}
				r.in(0, numbered("10.2.7.7", 1), 120)
				r.poll()
				for p := range r.sw.ports {
					got := slices.DeleteFunc(r.out(p, 50), func(b []byte) bool { return wire.MACAt(b) != from })
					if want := map[bool]int{true: 1}[p == port]; len(got) != want {
						t.Errorf("%d packets leave through port %d, want %d", len(got), p, want)
					}
				}
			}
			q := r.asks(1)["10.2.0.2"]
			b := answerTo(q, mac(77))
			r.in(1, b, len(b))
			leaves(1, mac(77))
			r.now += silence
			r.in(2, withTag(says(78), 20), 100) // another station
			r.in(2, withTag(says(77), 10), 100) // the same address in another VLAN
			leaves(1, mac(77))
			r.in(2, withTag(says(77), 20), 100)
			leaves(2, mac(77))
			if n := r.sw.Neighbours()[0]; n.Port != 2 || n.MAC != mac(77) {
				t.Errorf("%+v", n)
			}
			r.in(1, says(77), 100)
			leaves(1, mac(77))
		})
	}
}

// Where an operator has said behind which port an address is, no claim from another port counts.
func TestNeighbourIsWhereItsAddressIsPinned(t *testing.T) {
	c := askingConfig()
	c.VLANs = []VLAN{{ID: 10, Untagged: []uint16{0}}, {ID: 20, Untagged: []uint16{1, 2}}}
	c.Static = []StaticEntry{{MAC: mac(77), Ports: []uint16{1}, VLAN: 20}}
	c.Router.Routes = nil
	for to, via := range map[string]string{"10.2.0.0/16": "10.2.0.2", "fd00:2::/64": "fd00:2::2"} {
		c.Router.Routes = append(c.Router.Routes, Route{Prefix: prefix(to), Via: []NextHop{inVLAN20(via)}})
	}
	eachCrew(t, c, func(t *testing.T, r *rig) {
		for _, q := range r.asks(1) {
			b := answerTo(q, mac(77))
			r.in(2, b, len(b))
			for _, n := range r.sw.Neighbours() {
				if n.State == "reachable" {
					t.Errorf("a claim from another port counts: %+v", n)
				}
			}
			r.in(1, b, len(b))
			r.in(2, b, len(b))
			known := 0
			for _, n := range r.sw.Neighbours() {
				if n.State == "reachable" && n.Port == 1 && n.MAC == mac(77) {
					known++
				}
			}
			if known != 1 {
				t.Errorf("%+v", r.sw.Neighbours())
			}
			for _, n := range r.sw.neighbours() {
				n.Restart(r.now)
			}
		}
	})
}
