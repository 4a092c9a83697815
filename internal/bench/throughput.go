package main

import "time"

const (
	partial  = 0.005 // of the frames, which may be lost at the PDR
	step     = 0.01  // to which throughputs are sought
	attempts = 3     // of which one has to do without loss: a machine that is shared takes milliseconds away at times
	longest  = 1 << 20
	slowest  = 1000 // frames per second that are tried
)

// carries reports whether a rate is carried in one of some attempts, losing no more than a part.
func (g *generator) carries(bytes int, rate, part float64, trial time.Duration) (bool, error) {
	for range attempts {
		t, err := g.try(bytes, rate, uint64(rate*trial.Seconds()))
		if err != nil {
			return false, err
		}
		if t.lost() <= part && t.rate() > (1-step)*rate {
			return true, nil
		}
	}
	return false, nil
}

// throughput is the highest rate that is carried, between two, by bisection.
func (g *generator) throughput(bytes int, low, high, part float64, trial time.Duration) (float64, error) {
	return highest(low, high, step, slowest, func(rate float64) (bool, error) { return g.carries(bytes, rate, part, trial) })
}

// highest is the highest value that is good, to a part of it, if all below are; low is taken for good. Below least it is
// not sought.
func highest(low, high, to, least float64, good func(float64) (bool, error)) (float64, error) {
	for high-low > to*high && high > least {
		middle := (low + high) / 2
		ok, err := good(middle)
		switch {
		case err != nil:
			return 0, err
		case ok:
			low = middle
		default:
			high = middle
		}
	}
	return low, nil
}

// burst is the longest that nothing is lost of, sent as fast as the generator can.
func (g *generator) burst(bytes int) (float64, error) {
	return highest(0, longest, step, 1, func(n float64) (bool, error) {
		for range attempts {
			if t, err := g.try(bytes, 0, uint64(n)); err != nil || t.lost() == 0 {
				return err == nil, err
			}
		}
		return false, nil
	})
}
