package sweep

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"photon/lab"
)

// WriteClaims lays the means over seeds beside the claims of each experiment of
// the sweep, as a replay does with its own repetitions. It is an error if
// something varies but the quantity that an experiment itself has in its sweep:
// then there are means of several experiments.
func (s *Spec) WriteClaims(w io.Writer, c *Collected) error {
	for _, path := range slices.Sorted(maps.Keys(s.Vary)) {
		if !strings.HasPrefix(path, "$") {
			return fmt.Errorf("claims are about an experiment as it is, and the spec varies %s", path)
		}
	}
	for i, x := range s.sources {
		e, err := lab.Parse(x.file, x.text)
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
		fmt.Fprintf(w, "%s, means of %s runs\n", x.id, runs)
		if err := lab.Table(w, []*lab.Result{r}); err != nil {
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

// judged lays the means over seeds beside an experiment's claims, and says how many results there
// are at least and at most of a scheme and a value of the experiment's sweep.
func judged(e *lab.Experiment, records []*Record) (r *lab.Result, fewest, most int) {
	type place struct{ scheme, metric string }
	of, runs := map[place][]float64{}, map[place]int{}
	schemes := map[string]lab.Metrics{}
	for _, x := range records {
		value := ""
		if e.Sweep != nil {
			value = x.Params[e.Sweep.Name]
		}
		runs[place{x.Scheme, value}]++
		if schemes[x.Scheme] == nil {
			schemes[x.Scheme] = lab.Metrics{}
		}
		for name, v := range x.Metrics {
			name = lab.Key(name, value)
			schemes[x.Scheme][name] = nil
			if p := (place{x.Scheme, name}); v != nil {
				of[p] = append(of[p], *v)
			}
		}
	}
	for p, v := range of {
		mean, _ := meanOf(v)
		schemes[p.scheme][p.metric] = &mean
	}
	if counts := slices.Sorted(maps.Values(runs)); len(counts) > 0 {
		fewest, most = counts[0], counts[len(counts)-1]
	}
	return e.Judged("sweep", schemes), fewest, most
}
