package sweep

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/report"
	"photon/lab/run"
)

// WriteClaims compares the results of all seeds with the claims of each experiment of
// the sweep, as a replay does with its own repetitions. It is an error if
// something varies but the quantity that an experiment itself has in its sweep:
// then these are several experiments.
func (s *Spec) WriteClaims(w io.Writer, c *Collected) error {
	for _, path := range slices.Sorted(maps.Keys(s.Vary)) {
		if !strings.HasPrefix(path, "$") {
			return fmt.Errorf("claims are about an experiment as it is, and the spec varies %s", path)
		}
	}
	for i, x := range s.sources {
		e, err := experiment.Parse(x.file, x.text)
		if err != nil {
			return err
		}
		if len(e.Claims) == 0 {
			return fmt.Errorf("%s has no claims", x.id)
		}
		r, fewest, most := judged(e, c.of(x.id))
		if i > 0 {
			fmt.Fprintln(w)
		}
		runs := fmt.Sprint(fewest)
		if most > fewest {
			runs = fmt.Sprintf("%d to %d", fewest, most)
		}
		fmt.Fprintf(w, "%s, %s runs of each\n", x.id, runs)
		if err := report.Table(w, e, []*claim.Judged{r}); err != nil {
			return err
		}
	}
	return nil
}

// of are the results of one experiment.
func (c *Collected) of(experiment string) (records []*Record) {
	for _, r := range c.records {
		if r.Experiment == experiment {
			records = append(records, r)
		}
	}
	return records
}

// judged judges an experiment's claims by the tasks that have ended, and says how many results there
// are at least and at most of a scheme and a value of the experiment's sweep. Seeds are in the order of the
// tasks, and those that only some of these have do not count, so that two schemes' are pairs.
func judged(e *experiment.Experiment, records []*Record) (j *claim.Judged, fewest, most int) {
	type place struct{ scheme, value string }
	at := func(x *Record) place {
		if e.Sweep == nil {
			return place{scheme: x.Scheme}
		}
		return place{x.Scheme, x.Params[e.Sweep.Name]}
	}
	runs, having := map[place]int{}, map[uint64]int{}
	for _, x := range records {
		runs[at(x)]++
		having[x.Seed]++
	}
	samples := map[string]map[string][]*float64{}
	for _, x := range records {
		if having[x.Seed] < len(runs) {
			continue
		}
		if samples[x.Scheme] == nil {
			samples[x.Scheme] = map[string][]*float64{}
		}
		for name, v := range x.Metrics {
			name = experiment.Key(name, at(x).value)
			samples[x.Scheme][name] = append(samples[x.Scheme][name], v)
		}
	}
	r := &run.Result{Experiment: e.ID, World: "sweep"}
	for _, scheme := range slices.Sorted(maps.Keys(samples)) {
		one := run.Run{Scheme: scheme, Invariants: run.Invariants{ConservationOK: true}} // tasks that lost frames have no result
		for name, list := range samples[scheme] {
			one.SetSamples(name, list)
		}
		r.Runs = append(r.Runs, one)
	}
	if counts := slices.Sorted(maps.Values(runs)); len(counts) > 0 {
		fewest, most = counts[0], counts[len(counts)-1]
	}
	r.Seeds = make([]uint64, most)
	return claim.Judge(e, r), fewest, most
}
