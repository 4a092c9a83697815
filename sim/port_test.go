package sim

import (
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/units"
)

// A port's own way to say how long a frame takes is the link's, at any rate, whatever
// is counted of a frame, and after the rate has changed.
func TestPortsSerializeAsLinksDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.OneOf(rapid.SampledFrom([]units.Rate{1, 7, units.Gbps, 10 * units.Gbps, 25 * units.Gbps, 56 * units.Gbps, 400 * units.Gbps, 8 * units.Rate(units.Second), 16 * units.Rate(units.Second)}),
			rapid.Custom(func(t *rapid.T) units.Rate { return units.Rate(rapid.Int64Range(1, 1e13).Draw(t, "rate")) }))
		link := fabric.Link{Rate: rate.Draw(t, "first"), Overhead: rapid.SampledFrom([]int{0, fabric.NoOverhead, -40, 38, 1 << 15, -1 << 16}).Draw(t, "overhead")}
		p := port{peer: unlinked, exit: new(fabric.Exit)}
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
