package report

import (
	"fmt"
	"strings"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/web"
)

// mostExtremes is of how many metrics the summary of an experiment without claims says who has least and who most.
const mostExtremes = 2

// counts of the verdicts on claims.
func counts(claims []claim.Result) web.Counts {
	c := web.Counts{}
	for v, n := range claim.Count(claims) {
		c[string(v)] = n
	}
	return c
}

// summary says in a line what came out, in addition to the verdicts: which schemes ran, whether they lost anything, and where
// there is no claim which of them has least and most.
func summary(e *experiment.Experiment, results []*claim.Judged) string {
	first := results[0]
	ran := many(len(first.Runs), "scheme", "schemes")
	seeds := seedsDiffer(results)
	if n := len(first.Seeds); n > 1 && seeds == "" {
		ran += fmt.Sprintf(" with %d seeds", n)
	}
	if len(results) > 1 {
		ran += " in both worlds"
	}
	if seeds != "" {
		ran += " (" + seeds + ")"
	}
	lost, discarded := uint64(0), uint64(0)
	for _, r := range results {
		for i := range r.Runs {
			lost += r.Runs[i].Invariants.LostFrames
			discarded += r.Runs[i].Invariants.Discarded
		}
	}
	frames := "no frame was lost"
	switch {
	case lost > 0:
		frames = fmt.Sprintf("%s lost", many(int(lost), "frame was", "frames were"))
	case discarded > 0:
		frames = fmt.Sprintf("no lossless frame was lost, and %d of lossy priorities were discarded", discarded)
	}
	text := fmt.Sprintf("%s ran; %s.", ran, frames)
	if len(first.Claims) > 0 {
		return text
	}
	for _, name := range extremeNames(e, first) {
		if s := extremes(e, first, name); s != "" {
			text += " " + s
		}
	}
	return text
}

func extremeNames(e *experiment.Experiment, r *claim.Judged) []string {
	names := metricRows(e, []*claim.Judged{r})
	return names[:min(mostExtremes, len(names))]
}

// extremes says which scheme has the least of a metric and which the most; nothing if that is all the same.
func extremes(e *experiment.Experiment, r *claim.Judged, name string) string {
	least, most, without := -1, -1, ""
	value := func(i int) *float64 { return r.Runs[i].Metrics[name] }
	for i := range r.Runs {
		if value(i) == nil {
			without += ", " + r.Runs[i].Scheme
			continue
		}
		if least < 0 || *value(i) < *value(least) {
			least = i
		}
		if most < 0 || *value(i) > *value(most) {
			most = i
		}
	}
	if least < 0 {
		return ""
	}
	number := func(i int) string { return experiment.Number(value(i), e.Unit(name)) }
	called := strings.ReplaceAll(name, "_", " ")
	if without != "" {
		without = "; not in every run with " + without[2:]
	}
	if *value(least) == *value(most) {
		return fmt.Sprintf("%s: %s%s.", called, number(least), without)
	}
	return fmt.Sprintf("%s: from %s with %s to %s with %s%s.", called, number(least), r.Runs[least].Scheme, number(most), r.Runs[most].Scheme, without)
}
