package measure

import (
	"math"
	"testing"

	"photon/lab/experiment"
	"photon/units"
)

// Senders that keep to a rate have it in every sample, from the first on.
func TestAggregateRateOfAConstantRateIsConstant(t *testing.T) {
	const sample = 10 * units.Microsecond
	for _, rtt := range []units.Time{0, sample, 3 * sample, 3*sample + 1} {
		d := &dynamics{e: &experiment.Experiment{}, rtt: rtt}
		d.e.Measure.Sample = sample
		for i := range 12 { // samples are taken from the end of the first span on
			d.time = append(d.time, units.Time(i+1)*sample)
			d.sent = append(d.sent, uint64(i+1)*1250)
			if got := math.Round(d.rate(i)); got != 1e9 {
				t.Errorf("round trips of %v, sample %d: %v bit/s", rtt, i, got)
			}
		}
	}
}
