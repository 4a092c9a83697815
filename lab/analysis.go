package lab

import (
	"fmt"
	"math"

	"photon/units"
)

// PILoop is the control loop of PACC (INFOCOM'22, section IV): a PI controller at
// a switch, the reaction of its cards, and the queue. It is analysed, not run.
type PILoop struct {
	Beta1  float64    `yaml:"beta1"`
	Beta2  float64    `yaml:"beta2"`
	Period units.Time `yaml:"period"` // T
	Alpha  float64    `yaml:"alpha"`  // of the cards, where the loop is at rest
	Unit   units.Size `yaml:"unit"`   // of a queue in the controller
}

func (l *PILoop) check() error {
	if l == nil || !(l.Beta1 > 0 && l.Beta2 >= 0 && l.Period > 0 && l.Alpha > 0 && l.Unit > 0) {
		return fmt.Errorf("phase_margin needs a loop with beta1, beta2, period, alpha and unit, all but beta2 above 0")
	}
	return nil
}

// margin is the phase margin in degrees at a link of rate c: of
//
//	G(s) = -K (1+s/z)/s^3 e^(-2sT),  K = c beta1 alpha/(2T^2),  z = beta1/((beta2+beta1/2)T)
//
// where the gain is one. The minus is taken as half a turn forward: backward, no
// loop of this form would be stable, and the paper's are.
func (l *PILoop) margin(c units.Rate) float64 {
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
