package report

import (
	"fmt"
	"math"
	"slices"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/run"
	"photon/units"
)

// Agree reports whether the two worlds' values of a metric are the same as far
// as they can be: within the largest of 20 %, one control period (times), ten
// packets (queues) and two frames (counts). Both may be absent.
func Agree(e *experiment.Experiment, metric string, a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	apart, slack := math.Abs(*a-*b), 0.2*max(math.Abs(*a), math.Abs(*b))
	switch {
	case apart <= slack:
	case metric == "pause_frames":
		slack = max(slack, 2)
	case len(metric) > 2 && metric[len(metric)-2:] == "_s":
		slack = max(slack, period(e).Seconds())
	case metric == "peak_queue_bytes" || metric == "steady_queue_bytes_mean":
		slack = max(slack, 10*float64(e.Packet()))
	}
	return apart <= slack
}

// period is the control period of PCN in this network, the largest of all schemes'.
func period(e *experiment.Experiment) units.Time {
	network, err := e.Network()
	if err != nil {
		return 0
	}
	return max(50*units.Microsecond, network.RTT)
}

// ofSharedSeeds is the value of a scheme's metric in one world that another world's is compared with: that of the seeds
// which the other ran too, since other seeds are other random flows.
func ofSharedSeeds(r, other *claim.Judged, scheme, metric string) *float64 {
	i := slices.IndexFunc(r.Runs, func(x run.Run) bool { return x.Scheme == scheme })
	if i < 0 {
		return nil
	}
	values := r.Runs[i].PerSeed[metric]
	if slices.Equal(r.Seeds, other.Seeds) || len(values) != len(r.Seeds) {
		return r.Runs[i].Metrics[metric]
	}
	sum, n := 0.0, 0
	for k, v := range values {
		if !slices.Contains(other.Seeds, r.Seeds[k]) {
			continue
		}
		if v == nil {
			return nil
		}
		sum, n = sum+*v, n+1
	}
	if n == 0 {
		return r.Runs[i].Metrics[metric]
	}
	mean := sum / float64(n)
	return &mean
}

// seedsDiffer says which seeds each world ran, if they are not the same; else nothing.
func seedsDiffer(results []*claim.Judged) (text string) {
	same := true
	for i, r := range results {
		if i > 0 {
			text += ", "
		}
		same = same && slices.Equal(r.Seeds, results[0].Seeds)
		switch n := len(r.Seeds); n {
		case 0:
			return ""
		case 1:
			text += fmt.Sprintf("%s seed %d alone", r.World, r.Seeds[0])
		default:
			text += fmt.Sprintf("%s %d seeds", r.World, n)
		}
	}
	if same {
		return ""
	}
	return text
}
