package measure

import (
	"math"
	"testing"

	"photon/lab/experiment"
	"photon/units"
)

// At 25 Gbit/s the gain of the three loops is one at 11 100, 8 460 and 15 380 rad/s; the
// margins follow by hand.
func TestPhaseMargin(t *testing.T) {
	for _, c := range []struct {
		beta1, beta2, want float64
	}{
		{0.05, 0.1, 53.1},
		{0.05, 0, 31.1},
		{0.2, 0.1, -0.2},
	} {
		l := &experiment.PILoop{Beta1: c.beta1, Beta2: c.beta2, Period: 80 * units.Microsecond, Alpha: 0.04714, Unit: units.KB}
		if got := phaseMargin(l, 25*units.Gbps); math.Abs(got-c.want) > 0.5 {
			t.Errorf("beta %v, %v: %.2f degrees, not %.1f", c.beta1, c.beta2, got, c.want)
		}
	}
}
