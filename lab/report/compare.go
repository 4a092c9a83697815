package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"photon/config"
	"photon/lab/claim"
	"photon/lab/experiment"
)

// Baseline is what a committed table keeps of an experiment: a change of either is to be seen,
// and is to be meant.
type Baseline struct {
	Quick    bool                     `json:"quick"`
	Verdicts map[string]claim.Verdict `json:"verdicts"` // by claim
	Traces   map[string]string        `json:"traces"`   // by scheme: the hash of all that happened, from begin to end
}

// BaselineOf is what experiments are to be compared by, of those that ran in virtual time.
func BaselineOf(all []*Finished) map[string]Baseline {
	table := map[string]Baseline{}
	for _, f := range all {
		r := f.results[0]
		if r.World != "sim" {
			continue
		}
		k := Baseline{Quick: r.Quick, Verdicts: map[string]claim.Verdict{}, Traces: r.Traces()}
		for _, c := range r.Claims {
			k.Verdicts[c.ID] = c.Verdict
		}
		table[f.e.ID] = k
	}
	return table
}

// WriteBaseline writes such a table into a file.
func WriteBaseline(path string, table map[string]Baseline) error {
	b, err := json.MarshalIndent(table, "", "  ") // maps are written in the order of their keys
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return WriteWhole(path, append(b, '\n'))
}

// Compare says in what results are others than a file keeps, in the order of the catalogue.
func Compare(path string, now map[string]Baseline) (differences []string, err error) {
	b, err := config.ReadText(path)
	if err != nil {
		return nil, err
	}
	was := map[string]Baseline{}
	if err := json.Unmarshal(b, &was); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return compare(path, was, now)
}

// CompareTally says in what results are others than those of which reproduction.json in a folder was made. If some, what did
// not run is left out. untraced are experiments of which the file has verdicts but no traces.
func CompareTally(dir string, now map[string]Baseline, some bool) (differences, untraced []string, err error) {
	path := claim.File(dir)
	b, err := config.ReadText(path)
	if err != nil {
		return nil, nil, err
	}
	var t claim.Tally
	if err := json.Unmarshal(b, &t); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	was, is := map[string]Baseline{}, maps.Clone(now)
	for _, x := range t.Experiments {
		ran, ok := is[x.Experiment]
		if some && !ok {
			continue
		}
		k := Baseline{Quick: x.Quick, Verdicts: map[string]claim.Verdict{}, Traces: x.Traces}
		for _, c := range t.Claims {
			if c.Experiment == x.Experiment {
				k.Verdicts[c.ID] = c.Verdict
			}
		}
		if x.Traces == nil && ok {
			untraced = append(untraced, x.Experiment)
			ran.Traces = nil
			is[x.Experiment] = ran
		}
		was[x.Experiment] = k
	}
	differences, err = compare(path, was, is)
	return differences, untraced, err
}

// compare says in what results are others than they were, in the order of the catalogue.
func compare(path string, was, now map[string]Baseline) (differences []string, err error) {
	say := func(format string, args ...any) { differences = append(differences, fmt.Sprintf(format, args...)) }
	ids, err := experiment.IDs()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		is, ran := now[id]
		kept, known := was[id]
		switch {
		case !ran && !known:
		case !known:
			say("%s is not in %s", id, path)
		case !ran:
			say("%s was not run", id)
		case is.Quick != kept.Quick:
			say("%s: one of the two is of a run with --quick, and one is not", id)
		default:
			compareMaps(is.Verdicts, kept.Verdicts, func(name string, is, was claim.Verdict) { say("%s: claim %s is %s, was %s", id, name, is, was) })
			compareMaps(is.Traces, kept.Traces, func(name, is, was string) { say("%s: the trace of %s is %s, was %s", id, name, is, was) })
		}
	}
	return differences, nil
}

// compareMaps reports every key whose values differ; a missing key has an empty value.
func compareMaps[V ~string](is, was map[string]V, differs func(key string, is, was V)) {
	for _, k := range sortedKeys(is, was) {
		if is[k] != was[k] {
			differs(k, orNone(is[k]), orNone(was[k]))
		}
	}
}

func orNone[V ~string](v V) V {
	if v == "" {
		return "not there"
	}
	return v
}

func sortedKeys[V any](a, b map[string]V) []string {
	all := map[string]bool{}
	for _, m := range []map[string]V{a, b} {
		for k := range m {
			all[k] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
