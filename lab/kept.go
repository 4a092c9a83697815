package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Keep adds what the reproduction.json of a folder says to results that do not have it:
// of experiments that are not among them, and of claims that were not run. So a table
// of all claims follows a change that only some of them could see. Notes are those that
// the experiments have now: a note that is mended needs no run. What no experiment
// claims any more is not kept; without the file there is nothing to keep.
func Keep(all []*Finished, dir string) ([]*Finished, error) {
	path := filepath.Join(dir, "reproduction.json")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, err
	}
	var before Tally
	if err := json.Unmarshal(b, &before); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	ids, err := catalogue()
	if err != nil {
		return nil, err
	}
	var merged []*Finished
	for _, id := range ids {
		f, err := before.finished(id)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(all, func(f *Finished) bool { return f.e.ID == id }); i >= 0 {
			all[i].keep(f)
			f = all[i]
		}
		if f != nil {
			merged = append(merged, f)
		}
	}
	return merged, nil
}

// finished is what a tally says of an experiment; nil if that is nothing.
func (o *Tally) finished(id string) (*Finished, error) {
	i := slices.IndexFunc(o.Experiments, func(x Extent) bool { return x.Experiment == id })
	if i < 0 {
		return nil, nil
	}
	e, err := Get(id)
	if err != nil {
		return nil, err
	}
	f := &Finished{e: e, worlds: []string{"sim"}, extents: []Extent{o.Experiments[i]}, claims: [][]ClaimResult{nil}}
	for _, c := range e.Claims {
		r := c.judge(nil, 0) // not run
		if k := slices.IndexFunc(o.Claims, func(t TallyClaim) bool { return t.Experiment == id && t.ID == c.ID }); k >= 0 {
			r = o.Claims[k].ClaimResult
			r.Note = renewed(r, c.Note)
		}
		f.claims[0] = append(f.claims[0], r)
	}
	return f, nil
}

// keep takes from before the claims that were not run now.
func (f *Finished) keep(before *Finished) {
	world := slices.Index(f.worlds, "sim")
	if before == nil || world < 0 {
		return
	}
	for i, c := range f.claims[world] {
		if c.Verdict == NotRun {
			f.claims[world][i] = before.claims[0][i]
		}
	}
}

// renewed is the note of a result with what the experiment says now in the place of
// what it said; what judge added stays.
func renewed(r ClaimResult, note string) string {
	if r.Verdict == NotRun {
		return r.Note
	}
	if i := strings.LastIndex(r.Note, neverCame); i >= 0 {
		return join(note, r.Note[i:])
	}
	return note
}
