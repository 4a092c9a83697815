package measure

import (
	"testing"

	"photon/lab/build"
	"photon/lab/experiment"
)

// stopped is a host whose priority 5 is paused.
type stopped struct{ build.Host }

func (stopped) Paused() uint8 { return 1 << 5 }

// A probe of one priority sees no pauses of another, at hosts either.
func TestPausesOfAHostAreOfAPriority(t *testing.T) {
	n := &build.Network{Hosts: map[int]build.Host{0: stopped{}}}
	for priorities, want := range map[uint8]float64{1 << 5: 1, 1 << 3: 0, 1<<3 | 1<<5: 1} {
		if got := readPort(0, n, "paused", experiment.Place{}, priorities); got != want {
			t.Errorf("of priorities %08b: %v, not %v", priorities, got, want)
		}
	}
}
