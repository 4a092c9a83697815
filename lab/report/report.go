package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"photon/config"
	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/run"
	"photon/lab/web"
)

// Writer writes a page of reports: pages.Write does.
type Writer func(io.Writer, *web.Page) error

// Page writes an experiment's report.html into the folder of its results, one of each world that it
// ran in, and returns its path. The page needs nothing else.
func Page(e *experiment.Experiment, out string, results []*claim.Judged, write Writer) (path string, err error) {
	if len(results) == 0 {
		return "", fmt.Errorf("%s: there are no results", Folder(e, out))
	}
	section, err := sectionOf(e, results)
	if err != nil {
		return "", err
	}
	section.SinglePage = true
	path = filepath.Join(Folder(e, out), "report.html")
	page := &web.Page{Title: e.ID + ": " + e.Title, Experiments: []*web.Experiment{section}}
	return path, writePage(path, page, write)
}

// Finished is an experiment with results: what of them the report of all
// experiments shows, without the samples.
type Finished struct {
	e       *experiment.Experiment
	section *web.Experiment
	results []*claim.Judged // of each world, without series and flows
}

// finish reads an experiment's results and judges them by the claims as they are now: their
// texts and notes may be younger than the result. nil: there are none.
func finish(e *experiment.Experiment, out string) (*Finished, error) {
	f := &Finished{e: e}
	for _, w := range experiment.Worlds {
		r, err := Load(e, out, w)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		if len(r.Runs) == 0 {
			return nil, fmt.Errorf("%s: there are no runs in result.json", filepath.Join(Folder(e, out), w))
		}
		f.results = append(f.results, claim.Judge(e, r.Result))
	}
	if len(f.results) == 0 {
		return nil, nil
	}
	var err error
	if f.section, err = sectionOf(e, f.results); err != nil {
		return nil, err
	}
	for _, r := range f.results {
		r.Forget()
	}
	return f, nil
}

// Foreign says which results are of another text of the experiment than the one whose claims judge them, as of a
// changed copy with the same id; empty: none.
func (f *Finished) Foreign() string {
	var worlds []string
	for _, r := range f.results {
		if r.Digest != fmt.Sprintf("%x", f.e.Digest()) {
			worlds = append(worlds, r.World)
		}
	}
	if worlds == nil {
		return ""
	}
	return fmt.Sprintf("%s: its results (%s) are of another file than this photon's, whose claims judge them",
		f.e.ID, strings.Join(worlds, ", "))
}

// Finish reads the results of all experiments of the catalogue that are in the
// output folder, and the ids of those that are not.
func Finish(out string) (all []*Finished, missing []string, err error) {
	ids, err := experiment.IDs()
	if err != nil {
		return nil, nil, err
	}
	all = make([]*Finished, len(ids))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, id := range ids {
		if _, err := os.Stat(Folder(&experiment.Experiment{ID: id}, out)); err != nil {
			continue
		}
		g.Go(func() error {
			e, err := experiment.Get(id)
			if err == nil {
				all[i], err = finish(e, out)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	for i, f := range all {
		if f == nil {
			missing = append(missing, ids[i])
		}
	}
	all = slices.DeleteFunc(all, func(f *Finished) bool { return f == nil })
	if len(all) == 0 {
		own := ""
		if pages, _ := filepath.Glob(filepath.Join(out, "*", "report.html")); len(pages) > 0 { // the pattern is right
			own = fmt.Sprintf(" that comes with photon (the report of your own is %s)", pages[0])
		}
		return nil, nil, fmt.Errorf("%s: there are no results of any experiment%s", out, own)
	}
	return all, missing, nil
}

// InVirtualTime are the claims of the experiments that ran in virtual time: a run on
// DPDK is not the same twice.
func InVirtualTime(all []*Finished) (list []claim.Finished) {
	for _, f := range all {
		if r := f.results[0]; r.World == "sim" {
			list = append(list, claim.Finished{Experiment: f.e, Coverage: claim.CoverageOf(f.e, r.Result), Claims: r.Claims})
		}
	}
	return list
}

// WriteReport writes the report of several experiments, with an index.
func WriteReport(path string, all []*Finished, missing []string, write Writer) error {
	page := &web.Page{Title: "What papers say and what photon measures", Counts: web.Counts{}, NotRun: missing}
	page.About = "Each experiment repeats a figure or a table of a paper; each claim is a statement of the paper about it. " +
		"Verdicts are those of virtual time where an experiment ran in it."
	for _, f := range all {
		page.Experiments = append(page.Experiments, f.section)
		name, venue := f.e.Paper.Name, f.e.Paper.Venue
		i := slices.IndexFunc(page.Papers, func(p web.Paper) bool { return p.Name == name && p.Venue == venue })
		if i < 0 {
			i = len(page.Papers)
			page.Papers = append(page.Papers, web.Paper{Name: name, Venue: venue, Counts: web.Counts{}})
		}
		counts := counts(f.results[0].Claims)
		p := &page.Papers[i]
		p.Rows = append(p.Rows, web.IndexRow{Anchor: f.section.Anchor, ID: f.e.ID, Title: f.e.Title, Figure: f.e.Paper.Figure, Quick: f.results[0].Quick, Counts: counts})
		p.Counts.Add(counts)
		page.Counts.Add(counts)
	}
	return writePage(path, page, write)
}

func writePage(path string, page *web.Page, write Writer) error {
	var b bytes.Buffer
	if err := write(&b, page); err != nil {
		return err
	}
	return WriteWhole(path, b.Bytes())
}

// ran lists the schemes of results: the experiment's, then others that were asked for.
func ran(e *experiment.Experiment, results []*claim.Judged) (uses []experiment.SchemeUse) {
	uses = slices.Clone(e.Schemes)
	for _, r := range results {
		for _, run := range r.Runs {
			if !slices.ContainsFunc(uses, func(u experiment.SchemeUse) bool { return u.Key() == run.Scheme }) {
				uses = append(uses, experiment.SchemeUse{Name: config.Set(run.Scheme)})
			}
		}
	}
	return slices.DeleteFunc(uses, func(u experiment.SchemeUse) bool {
		return !slices.ContainsFunc(results, func(r *claim.Judged) bool { return r.Of(u.Key()) != nil })
	})
}

// ranIn says what ran in each world, and how long it took.
func ranIn(e *experiment.Experiment, results []*claim.Judged) (parts []string) {
	for _, r := range results {
		part := claim.CoverageOf(e, r.Result).Ran() + took(&r.Timing)
		if len(results) > 1 {
			part = r.World + ": " + part
		}
		parts = append(parts, part)
	}
	return parts
}

// took says how long it took; nothing where that is not known.
func took(t *run.Timings) string {
	if t.Cores == 0 {
		return ""
	}
	return fmt.Sprintf("; %.1f s on %d cores, %d at once", t.Elapsed, t.Cores, t.Parallel)
}
