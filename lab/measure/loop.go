package measure

import (
	"math"

	"photon/lab/experiment"
	"photon/units"
)

// phaseMargin is the phase margin in degrees at a link of rate c: of
//
//	G(s) = -K (1+s/z)/s^3 e^(-2sT),  K = c beta1 alpha/(2T^2),  z = beta1/((beta2+beta1/2)T)
//
// where the gain is one. The minus is taken as half a turn forward, for the paper's figure has margins above zero.
// It is a figure repeated, not a loop that is stable: G's minus is that of an error counted the other way round,
// and fed back three integrators and one zero have a margin half a turn less, below zero for every gain.
func phaseMargin(l *experiment.PILoop, c units.Rate) float64 {
	t := l.Period.Seconds()
	k := float64(c) / 8 / float64(l.Unit) * l.Beta1 * l.Alpha / (2 * t * t)
	z := l.Beta1 / ((l.Beta2 + l.Beta1/2) * t)
	gain := func(w float64) float64 { return k * math.Hypot(1, w/z) / (w * w * w) }
	low, high := 1e-3, 1e12 // the gain falls all the way
	for range 200 {
		if mid := math.Sqrt(low * high); gain(mid) > 1 {
			low = mid
		} else {
			high = mid
		}
	}
	return 90 + (math.Atan(low/z)-2*low*t)*180/math.Pi
}
