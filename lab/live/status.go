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

// Status is what a page shows of replays while they run, and afterwards. A nil Status
// shows nothing and costs nothing.
type Status struct {
	command  string
	begin    time.Time
	progress func() (part float64, left time.Duration) // of all, and the time that it will still take; 0: it is not known

	mu    sync.Mutex // of the page, and of runs that begin and end; not of one that runs
	list  []*experimentStatus
	runs  []*runStatus  // by their numbers
	last  int           // the run that began last; -1: none has
	ended time.Duration // since the begin; 0: it has not
	fault string
}

// experimentStatus is an experiment.
type experimentStatus struct {
	e      *experiment.Experiment
	worlds []*worldStatus
	report string // path of its file; empty: it is not there yet
}

// worldStatus is a replay of it.
type worldStatus struct {
	experiment *experimentStatus
	status     *Status
	world      string
	jobs       []*run.Job
	rows       []*runStatus
	row        []*runStatus // of each job
	done       []bool       // jobs
	part       []atomic.Uint64
	claims     []claim.Result // nil: nothing is known yet
}

// runStatus is a line of the page: a scheme, at one value of the sweep, with all seeds.
type runStatus struct {
	number              int
	world               *worldStatus
	name, scheme, value string
	jobs                []int
	begun, ended        int
	failed              bool
	recorder            *recorder // of the first seed; nil: it was not watched
}

// NewStatus returns the status of experiments that a command is about to replay. far
// returns the part of all work that is done, and the time left.
func NewStatus(command string, all []*experiment.Experiment, far func() (float64, time.Duration)) *Status {
	b := &Status{command: command, begin: time.Now(), progress: far, last: -1}
	for _, e := range all {
		b.list = append(b.list, &experimentStatus{e: e})
	}
	return b
}

// Report sets the path of an experiment's report.
func (b *Status) Report(e *experiment.Experiment, path string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.experiment(e).report = path
}

// End notes that all runs have ended; err says why, if some did not finish.
func (b *Status) End(err error) {
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

func (b *Status) experiment(e *experiment.Experiment) *experimentStatus {
	i := slices.IndexFunc(b.list, func(x *experimentStatus) bool { return x.e == e })
	if i < 0 {
		i = len(b.list)
		b.list = append(b.list, &experimentStatus{e: e})
	}
	return b.list[i]
}

// Replay implements run.Viewer.
func (b *Status) Replay(e *experiment.Experiment, world string, jobs []*run.Job) run.View {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.experiment(e)
	w := &worldStatus{experiment: x, status: b, world: world, jobs: jobs, done: make([]bool, len(jobs)), part: make([]atomic.Uint64, len(jobs))}
	x.worlds = append(x.worlds, w)
	rows := map[string]*runStatus{}
	for i, j := range jobs {
		name := j.Line()
		r := rows[name]
		if r == nil {
			r = &runStatus{number: len(b.runs), world: w, name: name, scheme: j.Use.Key(), value: j.Value}
			rows[name] = r
			w.rows, b.runs = append(w.rows, r), append(b.runs, r)
		}
		w.row, r.jobs = append(w.row, r), append(r.jobs, i)
	}
	return w
}

// mostDetailed is how many runs keep the lines of their flows and queues, mostWatched how many keep any.
const (
	mostDetailed = 16
	mostWatched  = 400
)

// Start implements run.View.
func (w *worldStatus) Start(i int) run.Watcher {
	w.status.mu.Lock()
	defer w.status.mu.Unlock()
	r := w.row[i]
	if r.begun++; !w.jobs[i].First {
		return nil
	}
	w.status.last = r.number
	r.recorder = &recorder{}
	w.status.trim(r)
	return r.recorder
}

// trim drops the details of runs that ended long ago, and then all of their lines, so
// that memory is bounded however many runs there are.
func (b *Status) trim(but *runStatus) {
	watched := 0
	for _, r := range slices.Backward(b.runs) {
		if r.recorder == nil {
			continue
		}
		if watched++; r == but || r.ended < len(r.jobs) {
			continue
		}
		if watched > mostWatched {
			r.recorder = nil
		} else if watched > mostDetailed {
			r.recorder.dropDetails()
		}
	}
}

// Moved implements run.View.
func (w *worldStatus) Moved(i int, part float64) { w.part[i].Store(math.Float64bits(part)) }

// End implements run.View.
func (w *worldStatus) End(i int, err error) {
	w.Moved(i, 1)
	w.status.mu.Lock()
	defer w.status.mu.Unlock()
	r := w.row[i]
	if r.recorder != nil && w.jobs[i].First {
		r.recorder.finish()
	}
	if j := w.jobs[i]; j.Resumed && j.Traces != nil && r.recorder == nil {
		r.recorder = decode(j.Traces)
		j.Traces = nil
		w.status.trim(r)
	}
	if err != nil {
		r.failed = r.failed || !errors.Is(err, context.Canceled)
		return
	}
	r.ended++
	w.done[i] = true
	w.judge(w.jobs[i].Use.Key())
}

// judge judges the claims again if all runs of a scheme have ended.
func (w *worldStatus) judge(scheme string) {
	if len(w.experiment.e.Claims) == 0 || !w.complete(scheme) {
		return
	}
	var r run.Result
	for _, j := range w.jobs {
		r.Quick = j.Quick
		key := j.Use.Key()
		if r.Of(key) != nil || j.Alternative || !w.complete(key) {
			continue
		}
		merged, _ := run.Merge(slices.DeleteFunc(slices.Clone(w.jobs), func(o *run.Job) bool { return o.Alternative || o.Use.Key() != key }))
		r.Runs = append(r.Runs, merged)
	}
	w.claims = claim.Judge(w.experiment.e, &r).Claims
}

func (w *worldStatus) complete(scheme string) bool {
	for i, j := range w.jobs {
		if !j.Alternative && j.Use.Key() == scheme && !w.done[i] {
			return false
		}
	}
	return true
}

// state is the document that the page asks for again and again.
type state struct {
	Command     string       `json:"command"`
	Began       int64        `json:"began_us"` // when the command began, in Unix time: another is another command
	Elapsed     float64      `json:"elapsed_seconds"`
	Left        *float64     `json:"left_seconds"` // nil: it is not known
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
	web.LineStyle
	Number   int     `json:"number"`
	Name     string  `json:"name"`
	World    string  `json:"world"`
	Value    string  `json:"value"`
	State    string  `json:"state"` // waits, runs, ended, failed
	Part     float64 `json:"part"`
	Ended    int     `json:"ended"` // of the seeds
	Seeds    int     `json:"seeds"`
	HasLines bool    `json:"seen"` // there are lines of it
	Other    bool    `json:"other"`
}

type stateClaim struct {
	Text     string   `json:"text"`
	Schemes  string   `json:"schemes"`
	Paper    string   `json:"paper"`
	Measured []string `json:"measured"` // by world
	Verdicts []string `json:"verdicts"` // the same; empty: not yet
}

// Command is the command whose replays are shown.
func (b *Status) Command() string { return b.command }

// State is the document of an experiment; an empty id: of the one that is at work.
func (b *Status) State(id string) any { return b.state(id) }

// Traces are the time series of a run from a span on, with those of its flows and queues if details are
// wanted; nil: there is no such run, or it was not sampled.
func (b *Status) Traces(run, from int, details bool) any {
	if l := b.recorder(run); l != nil {
		return l.document(from, details)
	}
	return nil
}

// state is the document for a page that shows an experiment; an empty id: the one
// that is at work.
func (b *Status) state(id string) state {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := state{Command: b.command, Began: b.begin.UnixMicro(), Elapsed: time.Since(b.begin).Seconds(), Over: b.ended > 0, Fault: b.fault}
	part, left := b.progress()
	if s.Part = part; s.Over {
		s.Elapsed = b.ended.Seconds()
	} else if left > 0 {
		seconds := left.Seconds()
		s.Left = &seconds
	}
	var shown *experimentStatus
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
		shown = b.runs[b.last].world.experiment
	}
	if shown != nil {
		s.Shown = shown.state()
		s.Shown.Last = b.last
	}
	return s
}

func (x *experimentStatus) anchor() string { return strings.ReplaceAll(x.e.ID, "/", "-") }

// part is how far an experiment is, in the worlds that have begun.
func (x *experimentStatus) part() float64 {
	sum, n := 0.0, 0
	for _, w := range x.worlds {
		for i := range w.part {
			sum += math.Float64frombits(w.part[i].Load())
			n++
		}
	}
	return sum / float64(max(1, n))
}

func (x *experimentStatus) state() *stateOf {
	s := &stateOf{ID: x.e.ID, Title: x.e.Title, Source: x.e.Paper.Line(), Runs: []stateRun{}, Claims: []stateClaim{}}
	styles := report.LineStyles(x.e.SchemeKeys())
	for _, w := range x.worlds {
		s.Worlds = append(s.Worlds, w.world)
		for _, r := range w.rows {
			s.Runs = append(s.Runs, r.state(styles))
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

func (r *runStatus) state(styles map[string]web.LineStyle) stateRun {
	s := stateRun{
		LineStyle: styles[r.scheme], Number: r.number, Name: r.name, World: r.world.world, Value: r.value, State: "waits", Ended: r.ended, Seeds: len(r.jobs), HasLines: r.recorder != nil,
		Other: r.world.jobs[r.jobs[0]].Alternative,
	}
	for _, i := range r.jobs {
		s.Part += math.Float64frombits(r.world.part[i].Load()) / float64(len(r.jobs))
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

// recorder is that of a run by its number; nil: there is no such run, or it was not sampled.
func (b *Status) recorder(number int) *recorder {
	b.mu.Lock()
	defer b.mu.Unlock()
	if number < 0 || number >= len(b.runs) {
		return nil
	}
	return b.runs[number].recorder
}

// ReportFile is the file of an experiment's report; empty: there is none.
func (b *Status) ReportFile(anchor string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range b.list {
		if x.anchor() == anchor {
			return x.report
		}
	}
	return ""
}
