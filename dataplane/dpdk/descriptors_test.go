package dpdk

import (
	"testing"

	"photon/units"
)

// A card's receive ring has room for all that comes in a poll gap, at any rate, as far as there are descriptors; and the
// frame buffers that wait in it are counted.
func TestDescriptors(t *testing.T) {
	for _, mbps := range []units.Rate{0, 10, 100, 1000, 2500, 10_000, 25_000, 40_000, 100_000, 400_000} {
		for _, gap := range []units.Time{0, 1, units.Microsecond, 20 * units.Microsecond, 100 * units.Microsecond, units.Millisecond, units.Second} {
			rate := mbps * units.Mbps
			n := Descriptors(rate, gap)
			if n < descriptors || n > mostDescriptors || n&(n-1) != 0 {
				t.Errorf("%v, %v: %d", rate, gap, n)
			}
			if rate == 0 {
				continue
			}
			holds := units.Time(n) * rate.Serialize(84)
			if holds < gap && n < mostDescriptors || n > descriptors && holds >= 2*gap+2*rate.Serialize(84) {
				t.Errorf("%v, %v: %d hold for %v", rate, gap, n, holds)
			}
			card, other := []string{"0000:03:00.0"}, []string{"net_tap0"}
			if more := WorldBuffers(card, 1, gap) - WorldBuffers(other, 1, gap); n-descriptors > more {
				t.Errorf("%v, %v: %d descriptors, %d buffers more than for others", rate, gap, n, more)
			}
		}
	}
	if n := Descriptors(10*units.Gbps, 100*units.Microsecond); n != 2048 {
		t.Errorf("%d at 10 Gbit/s, for 100us", n)
	}
}
