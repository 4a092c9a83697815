package live

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/report"
	"photon/lab/run"
	"photon/lab/web"
)

// Board is what a page shows of replays while they run, and after they have. A
// nil board shows nothing and costs nothing.
type Board struct {
	command string
	begin   time.Time
	far     func() (part float64, left time.Duration) // of all, and what it will still take; 0: nobody knows

	mu    sync.Mutex // of the page, and of runs that begin and end; not of one that runs
	list  []*boarded
	runs  []*boardedRun // by their numbers
	last  int           // the run that began last; -1: none has
	ended time.Duration // since the begin; 0: it has not
	fault string
}

// boarded is an experiment.
type boarded struct {
	e      *experiment.Experiment
	worlds []*boardedWorld
	report string // path of its file; empty: it is not there yet
}

// boardedWorld is a replay of it.
type boardedWorld struct {
	of     *boarded
	board  *Board
	world  string
	jobs   []*run.Job
	rows   []*boardedRun
	row    []*boardedRun // of each job
	done   []bool        // jobs
	part   []atomic.Uint64
	claims []claim.Result // nil: nothing is known yet
}

// boardedRun is a line of the page: a scheme, at one value of the sweep, with all seeds.
type boardedRun struct {
	number              int
	in                  *boardedWorld
	name, scheme, value string
	jobs                []int
	begun, ended        int
	failed              bool
	looks               *looks // of the first seed; nil: it was not watched
}

// NewBoard is a board of experiments that are to be replayed by a command. far
// says how far all are.
func NewBoard(command string, all []*experiment.Experiment, far func() (float64, time.Duration)) *Board {
	b := &Board{command: command, begin: time.Now(), far: far, last: -1}
	for _, e := range all {
		b.list = append(b.list, &boarded{e: e})
	}
	return b
}

// Report tells where the report of an experiment is.
func (b *Board) Report(e *experiment.Experiment, path string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of(e).report = path
}

// End tells that nothing runs any more, and why, if it is not because all has ended.
func (b *Board) End(err error) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = time.Since(b.begin)
	if err != nil {
		b.fault = err.Error()
	}
}

func (b *Board) of(e *experiment.Experiment) *boarded {
	i := slices.IndexFunc(b.list, func(x *boarded) bool { return x.e == e })
	if i < 0 {
		i = len(b.list)
		b.list = append(b.list, &boarded{e: e})
	}
	return b.list[i]
}

// Replay implements run.Viewer.
func (b *Board) Replay(e *experiment.Experiment, world string, jobs []*run.Job) run.View {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.of(e)
	w := &boardedWorld{of: x, board: b, world: world, jobs: jobs, done: make([]bool, len(jobs)), part: make([]atomic.Uint64, len(jobs))}
	x.worlds = append(x.worlds, w)
	rows := map[string]*boardedRun{}
	for i, j := range jobs {
		name := j.Line()
		r := rows[name]
		if r == nil {
			r = &boardedRun{number: len(b.runs), in: w, name: name, scheme: j.Use.Key(), value: j.Value}
			rows[name] = r
			w.rows, b.runs = append(w.rows, r), append(b.runs, r)
		}
		w.row, r.jobs = append(w.row, r), append(r.jobs, i)
	}
	return w
}

// mostDetailed is how many runs keep what was seen of their flows and queues.
const (
	mostDetailed = 16
	mostWatched  = 400
)

// Start implements run.View.
func (w *boardedWorld) Start(i int) run.Look {
	w.board.mu.Lock()
	defer w.board.mu.Unlock()
	r := w.row[i]
	if r.begun++; !w.jobs[i].First {
		return nil
	}
	w.board.last = r.number
	r.looks = &looks{}
	w.board.tidy(r)
	return r.looks
}

// tidy forgets the details of runs that ended long ago, and then those runs'
// lines: what the board holds is bounded however many there are.
func (b *Board) tidy(but *boardedRun) {
	watched := 0
	for _, r := range slices.Backward(b.runs) {
		if r.looks == nil {
			continue
		}
		if watched++; r == but || r.ended < len(r.jobs) {
			continue
		}
		if watched > mostWatched {
			r.looks = nil
		} else if watched > mostDetailed {
			r.looks.forget()
		}
	}
}

// Moved implements run.View.
func (w *boardedWorld) Moved(i int, part float64) { w.part[i].Store(math.Float64bits(part)) }

// End implements run.View.
func (w *boardedWorld) End(i int, err error) {
	w.Moved(i, 1)
	w.board.mu.Lock()
	defer w.board.mu.Unlock()
	r := w.row[i]
	if r.looks != nil && w.jobs[i].First {
		r.looks.over()
	}
	if j := w.jobs[i]; j.Kept && j.Seen != nil && r.looks == nil {
		r.looks = seenBefore(j.Seen)
		j.Seen = nil
		w.board.tidy(r)
	}
	if err != nil {
		r.failed = r.failed || !errors.Is(err, context.Canceled)
		return
	}
	r.ended++
	w.done[i] = true
	w.judge(w.jobs[i].Use.Key())
}

// judge judges the claims anew if all runs of a scheme have ended.
func (w *boardedWorld) judge(scheme string) {
	if len(w.of.e.Claims) == 0 || !w.complete(scheme) {
		return
	}
	var r run.Result
	for _, j := range w.jobs {
		key := j.Use.Key()
		if r.Of(key) != nil || j.Alternative || !w.complete(key) {
			continue
		}
		merged, _ := run.Merge(slices.DeleteFunc(slices.Clone(w.jobs), func(o *run.Job) bool { return o.Alternative || o.Use.Key() != key }))
		r.Runs = append(r.Runs, merged)
	}
	w.claims = claim.Judge(w.of.e, &r).Claims
}

func (w *boardedWorld) complete(scheme string) bool {
	for i, j := range w.jobs {
		if !j.Alternative && j.Use.Key() == scheme && !w.done[i] {
			return false
		}
	}
	return true
}

// state is what the page is told every time.
type state struct {
	Command     string       `json:"command"`
	Elapsed     float64      `json:"elapsed_seconds"`
	Left        *float64     `json:"left_seconds"` // nil: nobody knows
	Part        float64      `json:"part"`
	Over        bool         `json:"over"`
	Fault       string       `json:"fault,omitempty"`
	Experiments []stateIndex `json:"experiments"`
	Shown       *stateOf     `json:"shown"`
}

// stateIndex is an experiment in the list of all.
type stateIndex struct {
	ID     string  `json:"id"`
	Title  string  `json:"title"`
	Part   float64 `json:"part"`
	Begun  bool    `json:"begun"`
	Report string  `json:"report,omitempty"` // where to ask for it
}

// stateOf is the experiment that is shown.
type stateOf struct {
	ID     string       `json:"id"`
	Title  string       `json:"title"`
	Source string       `json:"source"`
	Worlds []string     `json:"worlds"`
	Runs   []stateRun   `json:"runs"`
	Claims []stateClaim `json:"claims"`
	Last   int          `json:"last"` // the run that began last, of any experiment; -1: none
}

type stateRun struct {
	web.Look
	Number int     `json:"number"`
	Name   string  `json:"name"`
	World  string  `json:"world"`
	Value  string  `json:"value"`
	State  string  `json:"state"` // waits, runs, ended, failed
	Part   float64 `json:"part"`
	Ended  int     `json:"ended"` // of the seeds
	Seeds  int     `json:"seeds"`
	Seen   bool    `json:"seen"` // there are lines of it
	Other  bool    `json:"other"`
}

type stateClaim struct {
	Text     string   `json:"text"`
	Schemes  string   `json:"schemes"`
	Paper    string   `json:"paper"`
	Measured []string `json:"measured"` // by world
	Verdicts []string `json:"verdicts"` // the same; empty: not yet
}

// Command is the command whose replays the board shows.
func (b *Board) Command() string { return b.command }

// State is the document of an experiment; an empty id: of the one that is at work.
func (b *Board) State(id string) any { return b.state(id) }

// Seen is what was seen of a run from a span on, of its flows and queues too if details are
// wanted; nil: there is no such run, or nothing was seen of it.
func (b *Board) Seen(run, from int, details bool) any {
	if l := b.looks(run); l != nil {
		return l.tell(from, details)
	}
	return nil
}

// state is the document for a page that shows an experiment; an empty id: the one
// that is at work.
func (b *Board) state(id string) state {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := state{Command: b.command, Elapsed: time.Since(b.begin).Seconds(), Over: b.ended > 0, Fault: b.fault}
	part, left := b.far()
	if s.Part = part; s.Over {
		s.Elapsed = b.ended.Seconds()
	} else if left > 0 {
		seconds := left.Seconds()
		s.Left = &seconds
	}
	var shown *boarded
	for i, x := range b.list {
		index := stateIndex{ID: x.e.ID, Title: x.e.Title, Part: x.part(), Begun: len(x.worlds) > 0}
		if x.report != "" {
			index.Report = "report/" + x.anchor()
		}
		s.Experiments = append(s.Experiments, index)
		if x.e.ID == id || shown == nil && i == 0 {
			shown = x
		}
	}
	if id == "" && b.last >= 0 {
		shown = b.runs[b.last].in.of
	}
	if shown != nil {
		s.Shown = shown.state()
		s.Shown.Last = b.last
	}
	return s
}

func (x *boarded) anchor() string { return strings.ReplaceAll(x.e.ID, "/", "-") }

// part is how far an experiment is, in the worlds that have begun.
func (x *boarded) part() float64 {
	sum, n := 0.0, 0
	for _, w := range x.worlds {
		for i := range w.part {
			sum += math.Float64frombits(w.part[i].Load())
			n++
		}
	}
	return sum / float64(max(1, n))
}

func (x *boarded) state() *stateOf {
	s := &stateOf{ID: x.e.ID, Title: x.e.Title, Source: x.e.Paper.Line(), Runs: []stateRun{}, Claims: []stateClaim{}}
	looks := report.Looks(x.e.SchemeKeys())
	for _, w := range x.worlds {
		s.Worlds = append(s.Worlds, w.world)
		for _, r := range w.rows {
			s.Runs = append(s.Runs, r.state(looks))
		}
	}
	for i, c := range claim.Judge(x.e, &run.Result{}).Claims { // nothing is known of them yet
		row := stateClaim{Text: c.Text, Schemes: strings.Join(c.Schemes, " / "), Paper: c.Theirs()}
		for _, w := range x.worlds {
			measured, verdict := "", ""
			if w.claims != nil && w.claims[i].Verdict != claim.NotRun {
				measured, verdict = w.claims[i].Ours(), w.claims[i].Says()
			}
			row.Measured, row.Verdicts = append(row.Measured, measured), append(row.Verdicts, verdict)
		}
		s.Claims = append(s.Claims, row)
	}
	return s
}

func (r *boardedRun) state(looks map[string]web.Look) stateRun {
	s := stateRun{
		Look: looks[r.scheme], Number: r.number, Name: r.name, World: r.in.world, Value: r.value, State: "waits", Ended: r.ended, Seeds: len(r.jobs), Seen: r.looks != nil,
		Other: r.in.jobs[r.jobs[0]].Alternative,
	}
	for _, i := range r.jobs {
		s.Part += math.Float64frombits(r.in.part[i].Load()) / float64(len(r.jobs))
	}
	switch {
	case r.failed:
		s.State = "failed"
	case r.ended == len(r.jobs):
		s.State = "ended"
	case r.begun > 0:
		s.State = "runs"
	}
	s.Color = cmp.Or(s.Color, "#000000")
	return s
}

// run is a run by its number; nil: there is none, or nothing was seen of it.
func (b *Board) looks(number int) *looks {
	b.mu.Lock()
	defer b.mu.Unlock()
	if number < 0 || number >= len(b.runs) {
		return nil
	}
	return b.runs[number].looks
}

// ReportFile is the file of an experiment's report; empty: there is none.
func (b *Board) ReportFile(anchor string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.list {
		if x.anchor() == anchor {
			return x.report
		}
	}
	return ""
}
