package lab

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"photon/config"
	"photon/lab/web"
	"photon/scheme"
)

// worlds in the order in which reports show them.
var worlds = []string{"sim", "dpdk"}

// Writer writes a page of reports: pages.Write does.
type Writer func(io.Writer, *web.Page) error

// Report writes an experiment's report.html from the results of the worlds that
// are in the output folder, and returns its path. The page needs nothing else.
func (e *Experiment) Report(out string, write Writer) (path string, err error) {
	f, err := e.finish(out)
	if err != nil {
		return "", err
	}
	if f == nil {
		return "", fmt.Errorf("%s: there are no results", e.Folder(out))
	}
	f.section.Alone = true
	path = filepath.Join(e.Folder(out), "report.html")
	page := &web.Page{Title: e.ID + ": " + e.Title, Experiments: []*web.Experiment{f.section}}
	return path, writePage(path, page, write)
}

// Finished is an experiment with results: what of them the report of all
// experiments shows, without the samples.
type Finished struct {
	e       *Experiment
	section *web.Experiment
	worlds  []string
	claims  [][]ClaimResult // by world
	extents []Extent        // the same
}

// finish reads an experiment's results; nil if there are none.
func (e *Experiment) finish(out string) (*Finished, error) {
	f := &Finished{e: e}
	var results []*Result
	for _, w := range worlds {
		r, err := e.Load(out, w)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		if len(r.Runs) == 0 {
			return nil, fmt.Errorf("%s: there are no runs in result.json", filepath.Join(e.Folder(out), w))
		}
		r.Claims = e.judge(r)
		results = append(results, r)
		f.worlds, f.claims, f.extents = append(f.worlds, w), append(f.claims, r.Claims), append(f.extents, e.extent(r))
	}
	if len(results) == 0 {
		return nil, nil
	}
	var err error
	f.section, err = e.section(results)
	return f, err
}

// judge compares what was measured with the claims as they are now: their texts
// and notes may be younger than the result. A claim about a metric that the
// result does not have is as it was then, or not run.
func (e *Experiment) judge(r *Result) (claims []ClaimResult) {
	runs := map[string]Metrics{}
	for _, run := range r.Runs {
		runs[run.Scheme] = run.Metrics
	}
	for i := range e.Claims {
		c := &e.Claims[i]
		now := c.judge(runs, e.watchedFor(c.Metric))
		if !c.measured(runs) {
			then := slices.IndexFunc(r.Claims, func(old ClaimResult) bool { return old.ID == c.ID && old.Measured != nil })
			if then >= 0 {
				now = r.Claims[then]
			} else {
				now.Verdict, now.Measured, now.Note = NotRun, nil, join(c.Note, "not measured in this run")
			}
		}
		claims = append(claims, now)
	}
	return claims
}

// Judged is the result that metrics by scheme make which come from elsewhere than
// one replay, such as a sweep: with them and the claims, and without anything else.
// Claims about schemes and metrics that are not there are not run.
func (e *Experiment) Judged(world string, schemes map[string]Metrics) *Result {
	r := &Result{Experiment: e.ID, World: world}
	for _, name := range sortedKeys(schemes) {
		r.Runs = append(r.Runs, Run{Scheme: name, Metrics: schemes[name]})
	}
	r.Claims = e.judge(r)
	return r
}

// measured reports whether the runs have the metrics of a claim, as far as they
// have its schemes.
func (c *Claim) measured(runs map[string]Metrics) bool {
	for i, s := range c.Schemes {
		m, ran := runs[s]
		metric := c.Metric
		if i > 0 && c.Over != "" {
			metric = c.Over
		}
		if _, has := m[metric]; ran && !has {
			return false
		}
	}
	return true
}

// Finish reads the results of all experiments of the catalogue that are in the
// output folder, and the ids of those that are not.
func Finish(out string) (all []*Finished, missing []string, err error) {
	ids, err := catalogue()
	if err != nil {
		return nil, nil, err
	}
	all = make([]*Finished, len(ids))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, id := range ids {
		if _, err := os.Stat((&Experiment{ID: id}).Folder(out)); err != nil {
			continue
		}
		g.Go(func() error {
			e, err := Get(id)
			if err == nil {
				all[i], err = e.finish(out)
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
		return nil, nil, fmt.Errorf("%s: there are no results of any experiment", out)
	}
	return all, missing, nil
}

// catalogue lists the ids of the experiments that come with photon, in their
// order, without reading them.
func catalogue() (ids []string, err error) {
	err = fs.WalkDir(embedded, "experiments", func(path string, d fs.DirEntry, err error) error {
		if id, isExperiment := strings.CutSuffix(path, ".yaml"); err == nil && isExperiment {
			ids = append(ids, strings.TrimPrefix(id, "experiments/"))
		}
		return err
	})
	slices.SortFunc(ids, natural)
	return ids, err
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
		counts := web.Counts{}
		for v, n := range Count(f.claims[0]) {
			counts[string(v)] = n
		}
		p := &page.Papers[i]
		p.Rows = append(p.Rows, web.IndexRow{Anchor: f.section.Anchor, ID: f.e.ID, Title: f.e.Title, Figure: f.e.Paper.Figure, Quick: f.extents[0].Quick, Counts: counts})
		p.Counts.Add(counts)
		page.Counts.Add(counts)
	}
	return writePage(path, page, write)
}

func writePage(path string, page *web.Page, write Writer) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return write(f, page)
}

// ran lists the schemes of results: the experiment's, then others that were asked for.
func (e *Experiment) ran(results []*Result) (uses []SchemeUse) {
	uses = slices.Clone(e.Schemes)
	for _, r := range results {
		for _, run := range r.Runs {
			if !slices.ContainsFunc(uses, func(u SchemeUse) bool { return u.Name.V == run.Scheme }) {
				uses = append(uses, SchemeUse{Name: config.Set(run.Scheme)})
			}
		}
	}
	return slices.DeleteFunc(uses, func(u SchemeUse) bool {
		return !slices.ContainsFunc(results, func(r *Result) bool { return r.Metrics(u.Name.V) != nil })
	})
}

// known is what schemes know of the experiment's network.
func (e *Experiment) known() (scheme.Network, error) {
	p, err := e.plan()
	if err != nil {
		return scheme.Network{}, err
	}
	flows, err := e.flows(p, e.Seed)
	if err != nil {
		return scheme.Network{}, err
	}
	return e.network(p, flows, 0), nil
}
