package claim

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"photon/lab/experiment"
	"photon/lab/run"
)

// most is the largest value that a run may give a metric; without bound where it is not obvious.
func most(e *experiment.Experiment, name string) float64 {
	metric, _, _ := strings.Cut(name, "@")
	i := slices.IndexFunc(e.Measure.Metrics, func(m experiment.Metric) bool { return m.Name == metric })
	if i < 0 {
		return map[bool]float64{true: 1, false: math.Inf(1)}[metric == "jain"]
	}
	m := &e.Measure.Metrics[i]
	span := cmp.Or(m.To, e.Duration) - m.From
	switch top := math.Inf(1); {
	case slices.Contains([]string{"jain", "gap", "within", "deadlocked"}, m.Do.V):
		return 1
	case experiment.MetricKinds[m.Do.V].Unit == "s" && experiment.MetricKinds[m.Do.V].Probe:
		return span.Seconds() / m.Per.Or(1)
	case m.Do.V == "fct":
		return e.Duration.Seconds() / m.Per.Or(1)
	default:
		return top
	}
}

// samplesOf are seeds of a metric that has a value; of what a run has or has not, as many have it as the value says.
func samplesOf(e *experiment.Experiment, name string, v float64) (list []*float64) {
	if !e.IsEvent(name) {
		return []*float64{&v}
	}
	for k := range e.Repeat {
		is := 0.0
		if float64(k) < math.Round(v*float64(e.Repeat)) {
			is = 1
		}
		list = append(list, &is)
	}
	return list
}

// Whatever is claimed, runs may bear it out and may speak against it: what is certain before anything runs is no claim.
// Where runs are too few to bear out the paper's number it is said that they leave it undecided.
func TestEveryClaimMayStandAndFall(t *testing.T) {
	all, err := experiment.All()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, e := range all {
		for i := range e.Claims {
			for _, p := range e.Claims[i].Parts() {
				number := cmp.Or(p.Paper, p.Limit)
				if number == nil || p.Metric == "margin_01@0.05" || p.Metric == "margin_01@0.2" { // reckoned, not run
					continue
				}
				stands, falls := false, false
				for _, off := range []float64{0, 1, 0.9, 1.1, 0.5, 2, 0.1, 10, 1000} {
					v := *number * off
					if *number == 0 {
						v = off
					}
					says, ok := saysOf(e, &p, v)
					if !ok {
						continue
					}
					tried++
					stands = stands || says == "reproduced" || says == "holds" || strings.HasSuffix(says, "(undecided)")
					falls = falls || strings.HasPrefix(says, "differs") || strings.HasPrefix(says, "contradicted")
				}
				if !stands || !falls {
					t.Errorf("%s %s %s: may stand %v, may fall %v", e.ID, e.Claims[i].ID, p.Name, stands, falls)
				}
			}
		}
	}
	if tried < 3000 {
		t.Errorf("%d values were tried", tried)
	}
}

// saysOf is what is said of a measurement that comes to a value, if it can.
func saysOf(e *experiment.Experiment, p *experiment.Part, v float64) (says string, ok bool) {
	schemes, values := p.Schemes, []float64{v}
	if kind := p.Kind(); kind == experiment.Ratio || kind == experiment.Reduction {
		if kind == experiment.Reduction {
			v = 1 - v
		}
		by := min(1, most(e, p.MetricOf(1)), most(e, p.Metric)/max(v, 1e-9))
		values = []float64{v * by, by}
		schemes = []string{schemes[0], schemes[len(schemes)-1]}
	}
	r := &run.Result{}
	for k, x := range values {
		if metric := p.MetricOf(k); x < 0 || x > most(e, metric)*(1+1e-9) {
			return "", false
		}
		if r.Of(schemes[k]) == nil {
			r.Runs = append(r.Runs, run.Run{Scheme: schemes[k], Invariants: run.Invariants{ConservationOK: true}})
		}
		r.Of(schemes[k]).SetSamples(p.MetricOf(k), samplesOf(e, p.MetricOf(k), x))
	}
	m := judge(e, &experiment.Claim{ID: "c", Part: *p}, r).Measurement
	return m.Says(), true
}
