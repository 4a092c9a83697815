package claim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"photon/lab/experiment"
)

// Finished is an experiment with what became of its claims in virtual time.
type Finished struct {
	*experiment.Experiment
	Coverage Coverage
	Claims   []Result
}

// Tally is what became of all claims in virtual time: reproduction.json, of which
// reproduction.md is made for people. It is the same for the same results.
type Tally struct {
	Reproduced   int        `json:"reproduced"`
	Direction    int        `json:"direction"`
	Differs      int        `json:"differs"`
	Holds        int        `json:"holds"`
	Contradicted int        `json:"contradicted"`
	Shape        int        `json:"shape"`
	Claims       []Tallied  `json:"claims"`      // those that were not run included
	Experiments  []Coverage `json:"experiments"` // which of them ran whole, and with how many seeds
}

// Tallied is a claim and the experiment that it belongs to.
type Tallied struct {
	Experiment string `json:"experiment"`
	Result
}

// Sum makes the tally of experiments, in their order.
func Sum(all []Finished) *Tally {
	t := &Tally{Claims: []Tallied{}, Experiments: []Coverage{}}
	for _, f := range all {
		t.Experiments = append(t.Experiments, f.Coverage)
		for _, c := range f.Claims {
			t.Claims = append(t.Claims, Tallied{f.ID, c})
		}
		n := Count(f.Claims)
		t.Reproduced, t.Direction, t.Differs = t.Reproduced+n[Reproduced], t.Direction+n[Direction], t.Differs+n[Differs]
		t.Holds, t.Contradicted, t.Shape = t.Holds+n[Holds], t.Contradicted+n[Contradicted], t.Shape+n[Shape]
	}
	return t
}

// Unexplained lists the claims that differ or are contradicted without the experiment
// saying why.
func (t *Tally) Unexplained() (list []string) {
	for _, c := range t.Claims {
		if (c.Verdict == Differs || c.Verdict == Contradicted) && c.Note == "" {
			list = append(list, c.Experiment+" "+c.ID)
		}
	}
	return list
}

// JSON is the tally as a file.
func (t *Tally) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(t)
	return b.Bytes(), err
}

// File is the tally's in a folder.
func File(dir string) string { return filepath.Join(dir, "reproduction.json") }

// MergeTally adds what the reproduction.json of a folder says to results that do not have it:
// of experiments that are not among them, and of claims that were not run. What ran and is worth nothing
// stays so, whatever an older run said. So a table
// of all claims follows a change that only some of them could see. Texts, notes and the
// paper's numbers are those that the experiments have now, and verdicts those of today's rule: none
// of them needs a run. What no experiment claims any more is not kept; without the file
// there is nothing to keep. Traces of schemes that did not run are kept with their claims; it is an
// error if claims of runs with other seeds, or of quick ones, would be beside new ones: coverage is said once.
func MergeTally(all []Finished, dir string) ([]Finished, error) {
	b, err := os.ReadFile(File(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	var before Tally
	if err := json.Unmarshal(b, &before); err != nil {
		return nil, fmt.Errorf("%s: %w", File(dir), err)
	}
	ids, err := experiment.IDs()
	if err != nil {
		return nil, err
	}
	var merged []Finished
	for _, id := range ids {
		i := slices.IndexFunc(all, func(f Finished) bool { return f.ID == id })
		x := slices.IndexFunc(before.Experiments, func(x Coverage) bool { return x.Experiment == id })
		switch {
		case i >= 0:
			if err := before.addTo(&all[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", File(dir), err)
			}
			merged = append(merged, all[i])
		case x >= 0:
			e, err := experiment.Get(id)
			if err != nil {
				return nil, err
			}
			f := Finished{Experiment: e, Coverage: before.Experiments[x]}
			for k := range e.Claims {
				f.Claims = append(f.Claims, before.again(e, &e.Claims[k]))
			}
			merged = append(merged, f)
		}
	}
	return merged, nil
}

// addTo gives a result of some schemes the claims about others, and their traces.
func (t *Tally) addTo(f *Finished) error {
	kept, ran := false, false
	for k, c := range f.Claims {
		if c.Verdict != NotRun || c.unsound {
			ran = true
			continue
		}
		f.Claims[k] = t.again(f.Experiment, &f.Experiment.Claims[k])
		kept = kept || f.Claims[k].Verdict != NotRun
	}
	i := slices.IndexFunc(t.Experiments, func(x Coverage) bool { return x.Experiment == f.ID })
	if i < 0 || !kept {
		return nil
	}
	was, is := t.Experiments[i], f.Coverage
	if ran && (was.Quick != is.Quick || was.Seeds != is.Seeds || was.Left != is.Left) {
		return fmt.Errorf("it has claims of %s with %d seeds (%s), and some of its schemes ran again with %d (%s): "+
			"run all of them, or these as those were run", f.ID, was.Seeds, was.Ran(), is.Seeds, is.Ran())
	}
	f.Coverage = was
	if f.Coverage.Traces = maps.Clone(was.Traces); is.Traces != nil {
		if was.Traces == nil {
			f.Coverage.Traces = map[string]string{}
		}
		maps.Copy(f.Coverage.Traces, is.Traces)
	}
	return nil
}

// again is a claim as it is now, judged by what was measured then. A measurement that
// was not made then, or of something else, is not run.
func (t *Tally) again(e *experiment.Experiment, c *experiment.Claim) Result {
	i := slices.IndexFunc(t.Claims, func(o Tallied) bool { return o.Experiment == e.ID && o.ID == c.ID })
	var then []Measurement
	if i >= 0 {
		if then = t.Claims[i].Measurements; then == nil {
			then = []Measurement{t.Claims[i].Measurement}
			then[0].Schemes = t.Claims[i].Schemes // the file has them once
		}
	}
	return of(c, func(p *experiment.Part) Measurement {
		k := slices.IndexFunc(then, func(m Measurement) bool { return m.is(p) })
		if k < 0 {
			return Measurement{Verdict: NotRun}
		}
		m := then[k]
		return m.judgedAgain(p)
	})
}
