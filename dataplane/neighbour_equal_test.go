package dataplane

import (
	"encoding/binary"
	"slices"
	"testing"

	"photon/fabric"
	"photon/neighbour"
	"photon/units"
	"photon/wire"
)

// twoOfAVLAN is a router with a route of two equal next hops, 10.2.0.2 and 10.2.0.3, which may be behind ports 1 and 2.
func twoOfAVLAN() SwitchConfig {
	c := askingConfig()
	c.Static = nil
	c.VLANs = []VLAN{{ID: 10, Untagged: []uint16{0}}, {ID: 20, Untagged: []uint16{1, 2}}}
	route := Route{Prefix: prefix("10.2.0.0/16")}
	for _, a := range []string{"10.2.0.2", "10.2.0.3"} {
		route.Via = append(route.Via, inVLAN20(a))
	}
	c.Router.Routes = []Route{route}
	return c
}

// flows has 40 flows come in at port 0, and counts the packets that leave by where they go.
func (r *rig) flows() map[wire.MAC]int {
	r.t.Helper()
	for i := range 40 {
		b := numbered("10.2.7.7", 0)
		binary.BigEndian.PutUint16(b[34:], uint16(i*997))
		r.in(0, b, 120)
	}
	return r.carried()
}

// carried counts the routed packets that leave by where they go.
func (r *rig) carried() map[wire.MAC]int {
	r.t.Helper()
	n := map[wire.MAC]int{}
	r.poll()
	for p := range r.sw.ports {
		for _, b := range r.out(p, 200) {
			if binary.BigEndian.Uint16(b[12:]) == wire.TypeIPv4 {
				n[wire.MACAt(b)]++
			}
		}
	}
	return n
}

// waiting is how many packets wait for neighbours.
func (r *rig) waiting() (n int) {
	for _, w := range r.sw.workers {
		n += w.waits
	}
	return n
}

// Packets wait for a next hop only while none of equal cost is known: not at the start, when its link goes, when that
// is back and nobody answers there, or when it has fallen silent. Once it answers it has its share again. No packet is
// lost.
func TestEqualHopsTakeOverFromOneThatIsAsked(t *testing.T) {
	eachCrew(t, twoOfAVLAN(), func(t *testing.T, r *rig) {
		first, second := mac(77), mac(78)
		q := r.asks(1)
		r.asks(2)
		answers := func(port int, address string, from wire.MAC) {
			b := answerTo(q[address], from)
			r.in(port, b, len(b))
			r.poll()
		}
		all := func(when string, got map[wire.MAC]int) {
			t.Helper()
			if got[first] != 40 || r.waiting() != 0 {
				t.Errorf("%s: %v, %d wait", when, got, r.waiting())
			}
		}
		both := func(when string) {
			t.Helper()
			got := r.flows()
			if got[first] == 0 || got[second] == 0 || got[first]+got[second] != 40 {
				t.Errorf("%s: %v", when, got)
			}
		}
		if got := r.flows(); len(got) != 0 || r.waiting() != 40 {
			t.Errorf("while neither is known: %v, %d wait", got, r.waiting())
		}
		answers(1, "10.2.0.2", first)
		all("what waited goes to the first that is known", r.carried())
		all("while the other is asked", r.flows())
		answers(2, "10.2.0.3", second)
		both("when both are known")
		r.link(2, false)
		all("the link of the other is down", r.flows())
		r.link(2, true)
		all("its link is back", r.flows())
		for range neighbour.MaxRequests + 1 { // it is silent, and fails
			r.now += units.Second
			r.serveDue()
			answers(1, "10.2.0.2", first)
			all("nobody answers there", r.flows())
		}
		answers(2, "10.2.0.3", second)
		both("when it answers")
		for range 60 { // only the first is heard of
			r.now += units.Second
			r.serveDue()
			answers(1, "10.2.0.2", first)
		}
		all("the other has fallen silent", r.flows())
		if n := r.discarded(fabric.DropNeighbour); n != 0 {
			t.Errorf("%d packets are lost", n)
		}
		r.audit()
	})
}

// A reload that changes the order of a VLAN's ports, or takes one out that no next hop is behind, keeps what is known
// of next hops, which are asked as before. One whose port has left the VLAN is asked at once.
func TestNextHopsStayKnownWhenPortsOfTheirVLANChange(t *testing.T) {
	c := twoOfAVLAN()
	c.Router.Routes[0].Via = c.Router.Routes[0].Via[:1]
	eachCrew(t, c, func(t *testing.T, r *rig) {
		q := r.asks(1)["10.2.0.2"]
		b := answerTo(q, mac(77))
		r.in(2, b, len(b))
		r.poll()
		for _, ports := range [][]uint16{{2, 1}, {1, 2}, {2}, {1, 2}} {
			fresh := r.sw.config
			fresh.VLANs = slices.Clone(fresh.VLANs)
			fresh.VLANs[1].Untagged = ports
			r.takeOver(fresh)
			if got := r.flows(); got[mac(77)] != 40 || r.waiting() != 0 {
				t.Errorf("ports %v: %v, %d wait", ports, got, r.waiting())
			}
			if n := r.sw.Neighbours()[0]; n.State != "reachable" || n.Requests != 1 || n.Port != 2 {
				t.Errorf("ports %v: %+v", ports, n)
			}
			r.now += units.Second
			r.serveDue()
		}
		fresh := r.sw.config
		fresh.VLANs = slices.Clone(fresh.VLANs)
		fresh.VLANs[1].Untagged = []uint16{2, 1}
		r.takeOver(fresh)
		r.now += neighbour.ReachableTime
		if r.asks(1); r.asks(2)["10.2.0.2"] == nil {
			t.Error("it is not asked when its answer is old")
		}
		r.in(2, b, len(b))
		r.poll()
		fresh.VLANs = slices.Clone(fresh.VLANs)
		fresh.VLANs[1].Untagged = []uint16{1}
		r.takeOver(fresh)
		if got := r.asks(1)["10.2.0.2"]; got == nil || !wire.MACAt(got).Multicast() {
			t.Errorf("its port has left the VLAN, and it is asked % x: %+v", got, r.sw.Neighbours())
		}
	})
}

// A next hop of a VLAN that has failed is asked at once when any port of the VLAN has a link again: it may be there. A
// link that goes, or one of another VLAN, has nobody asked.
func TestFailedNextHopWhenAPortOfItsVLANHasALink(t *testing.T) {
	eachCrew(t, twoOfAVLAN(), func(t *testing.T, r *rig) {
		ask := func() (n int) {
			for range 2 { // the worker of one port has others send
				r.poll()
				for p := range r.sw.ports {
					n += len(r.asks(p))
				}
			}
			return n
		}
		for range neighbour.MaxRequests + 2 {
			ask()
			r.now += units.Second
		}
		ask()
		for _, c := range []struct {
			port int
			up   bool
			asks int
		}{{2, false, 0}, {0, false, 0}, {0, true, 0}, {2, true, 4}} { // two, at two ports
			for _, n := range r.sw.Neighbours() {
				if n.State != "failed" {
					t.Fatalf("before the link of port %d: %+v", c.port, n)
				}
			}
			r.link(c.port, c.up)
			if n := ask(); n != c.asks {
				t.Errorf("link of port %d, up %v: %d questions, want %d", c.port, c.up, n, c.asks)
			}
		}
	})
}
