package sim

import (
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"photon/dataplane"
	"photon/units"
)

// A port's own way to say how long a frame takes is the link's, at any rate, whatever
// is counted of a frame, and after the rate has changed.
func TestPortsSerializeAsLinksDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.OneOf(rapid.SampledFrom([]units.Rate{1, 7, units.Gbps, 10 * units.Gbps, 25 * units.Gbps, 56 * units.Gbps, 400 * units.Gbps, 8 * units.Rate(units.Second), 16 * units.Rate(units.Second)}),
			rapid.Custom(func(t *rapid.T) units.Rate { return units.Rate(rapid.Int64Range(1, 1e13).Draw(t, "rate")) }))
		link := dataplane.Link{Rate: rate.Draw(t, "first"), Overhead: rapid.SampledFrom([]int{0, dataplane.NoOverhead, -40, 38, 1 << 15, -1 << 16}).Draw(t, "overhead")}
		p := port{peer: unlinked}
		p.join(1, link)
		for range 2 {
			for range 4 {
				length := rapid.SampledFrom([]uint16{0, 1, 39, 62, 1518, 9216}).Draw(t, "length")
				if got, want := p.serialize(length), link.Serialize(int(length)); got != want {
					t.Fatalf("%d bytes on %+v: %v, want %v", length, link, got, want)
				}
			}
			link.Rate = rate.Draw(t, "second")
			p.setRate(link.Rate)
		}
	})
}

// silent is a node that says nothing of itself.
type silent struct{ dataplane.Node }

// What is fetched ahead is the node's own account of a port, or, of one that does not
// say where that is, nothing more than the world's.
func TestNearby(t *testing.T) {
	w := New()
	c := dataplane.SwitchConfig{Ports: make([]dataplane.PortConfig, 3), MTU: 1500, Buffer: units.MB, FDBSize: 4}
	for i := range c.Ports {
		c.Ports[i].Link.Rate = units.Gbps
	}
	envs := w.NewEnvs(3)
	s, err := dataplane.NewSwitch(c, envs)
	if err != nil {
		t.Fatal(err)
	}
	w.Add("switch", s, envs, make([]int, 3))
	w.Add("hidden", silent{s}, w.NewEnvs(1), make([]int, 1))
	near := w.nearby()
	want := []unsafe.Pointer{s.Near(0), s.Near(1), s.Near(2), unsafe.Pointer(&w.ports[3])}
	if len(near) != len(want) {
		t.Fatalf("%d ports", len(near))
	}
	for i := range want {
		if near[i] != want[i] || i > 0 && near[i] == near[i-1] {
			t.Errorf("port %d: %p, want %p", i, near[i], want[i])
		}
	}
}
