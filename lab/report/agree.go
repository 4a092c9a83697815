package report

import (
	"math"

	"photon/lab/experiment"
	"photon/units"
)

// Agree reports whether the two worlds' values of a metric are the same as far
// as they can be: within the largest of 20 %, one control period (times), ten
// packets (queues) and two frames (counts). Both may be absent.
func Agree(e *experiment.Experiment, metric string, a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	slack := 0.2 * max(math.Abs(*a), math.Abs(*b))
	switch {
	case metric == "pause_frames":
		slack = max(slack, 2)
	case len(metric) > 2 && metric[len(metric)-2:] == "_s":
		slack = max(slack, period(e).Seconds())
	case metric == "peak_queue_bytes" || metric == "steady_queue_bytes_mean":
		slack = max(slack, 10*float64(e.Packet()))
	}
	return math.Abs(*a-*b) <= slack
}

// period is the control period of PCN in this network, the largest of all schemes'.
func period(e *experiment.Experiment) units.Time {
	p, err := e.Plan()
	if err != nil {
		return 0
	}
	flows, err := e.Sends(p, e.Seed)
	if err != nil {
		return 0
	}
	return max(50*units.Microsecond, e.Known(p, flows, 0).RTT)
}
