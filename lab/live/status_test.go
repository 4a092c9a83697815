package live

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"photon/fabric"
	"photon/lab/build"
	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/remote"
	"photon/lab/report"
	"photon/lab/run"
	"photon/lab/run/runtest"
	"photon/lab/topology"
	"photon/lab/web/pages"
	"photon/lab/web/site"
	"photon/sim"
	"photon/telemetry/node"
	"photon/units"
)

// Whether somebody looks or not, the same happens: every scheme, twice.
func TestLookingChangesNothing(t *testing.T) {
	golden, ran := runtest.Golden(t), map[string]int{}
	for _, e := range runtest.Shortest(t) {
		for _, use := range e.Schemes {
			name := use.Name.V
			if ran[name]++; ran[name] > 2 {
				continue
			}
			l, w := &recorder{}, sim.New()
			n, err := build.Build(e, w, use, e.Seed, build.Observer{})
			if err != nil {
				t.Fatal(err)
			}
			if err := n.Schedule(e); err != nil {
				t.Fatal(err)
			}
			l.Watch(e, n)
			if err := w.Run(t.Context(), e.Duration); err != nil {
				t.Fatal(err)
			}
			hash, _ := w.Hash()
			if got := fmt.Sprintf("%016x", hash); got != golden[e.ID+" "+use.Key()] {
				t.Errorf("%s %s: the trace is %s with somebody who looks, and %s without", e.ID, name, got, golden[e.ID+" "+name])
			}
			s := l.document(0, true)
			if s.N != l.spans || l.spans < leastLooks || len(s.Total) != s.N || len(s.Notifications) != s.N ||
				slices.Max(s.Total) <= 0 {
				t.Errorf("%s %s: %d spans were seen, sending up to %v", e.ID, name, s.N, s.Total)
			}
			for _, lines := range [][]lineDocument{s.Flows, s.Queues, s.Stops} {
				for _, line := range lines {
					if len(line.Values) != s.N {
						t.Errorf("%s %s: %s has %d values of %d", e.ID, name, line.Name, len(line.Values), s.N)
					}
				}
			}
		}
	}
	if len(ran) < 10 {
		t.Errorf("only %d schemes ran", len(ran))
	}
}

// What is seen of figure 11 is what the run measures: bytes sent and received,
// the bottleneck's queue, and pauses that there are without congestion control
// and not in the end of PCN.
func TestSamplesShowTheRun(t *testing.T) {
	e := fig11(t)
	documents := map[string]tracesDocument{}
	v := &lookers{looks: map[string]*recorder{}}
	r, err := run.Replay(context.Background(), e, run.Options{World: "sim", Schemes: []string{"none", "pcn"}, Quick: true, Viewer: v})
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range e.Schemes {
		l := v.looks[use.Key()]
		if l == nil {
			continue
		}
		s := l.document(0, true)
		documents[use.Name.V] = s
		mean := 0.0
		for _, v := range s.Total[mostSpans/2:] {
			mean += v / (mostSpans / 2)
		}
		if mean < 9.5e9 || mean > 10.1e9 {
			t.Errorf("%s: the hosts send %v bit/s in the second half", use.Name.V, mean)
		}
		longest := slices.Max(r.Series(use.Key(), "").Column("queue_bytes"))
		if q := slices.Max(s.Queue); q < 0.9*longest || q > 1.1*longest {
			t.Errorf("%s: the longest queue is seen as %v, and was %v", use.Name.V, q, longest)
		}
		if len(s.Flows) != 4 || s.Flows[0].Name != "H0>R0" || len(s.Queues) == 0 {
			t.Errorf("%s: flows %v, queues %v", use.Name.V, s.Flows, s.Queues)
		}
		// From a span on, what comes after is told.
		rest := l.document(mostSpans-10, false)
		if rest.From != mostSpans-10 || !slices.Equal(rest.Total, s.Total[mostSpans-10:]) || rest.Flows != nil {
			t.Errorf("%s: %+v", use.Name.V, rest)
		}
	}
	none, pcn := documents["none"], documents["pcn"]
	if slices.Max(none.Paused[mostSpans/2:]) == 0 || slices.Max(pcn.Paused[mostSpans/2:]) != 0 || len(none.Stops) == 0 {
		t.Errorf("pauses in the second half: none %v, pcn %v", none.Paused[mostSpans/2:], pcn.Paused[mostSpans/2:])
	}
	if slices.Max(none.Notifications) != 0 || slices.Max(pcn.Notifications) == 0 {
		t.Error("CNPs: of none there are some, or of pcn none")
	}
}

// Of a testbed what was recorded is looked at, at the samples that there are.
func TestRecordingsAreSampled(t *testing.T) {
	const every, samples = units.Millisecond, 100
	p := topology.New()
	const sw, from, to = 0, 1, 2
	p.Switch("switch", "S0")
	p.Host("H0")
	p.Host("H1")
	link := fabric.Link{Rate: 10 * units.Gbps}
	p.Connect(sw, from, link)
	p.Connect(sw, to, link)
	line := func(step int64) (v []int64) {
		for i := range int64(samples) {
			v = append(v, step*(i+1))
		}
		return v
	}
	recording := func(values map[string][]int64) (r node.Recording) {
		for name, v := range values {
			r.Names, r.Begin, r.Values = append(r.Names, name), append(r.Begin, 0), append(r.Values, v)
		}
		return r
	}
	queue := make([]int64, samples)
	queue[50] = 30_000
	e := fig11(t)
	e.Duration, e.Measure.Sample = samples*every, every
	n := remote.Recorded(e, p, []experiment.Flow{{FlowKind: &experiment.FlowKind{}, From: from, To: to}}, []node.Recording{
		sw:   recording(map[string][]int64{"queue.1.3": queue, "paused.1": slices.Repeat([]int64{8}, samples)}),
		from: recording(map[string][]int64{"sent": line(125_000), "notified.0": line(2)}),
		to:   recording(map[string][]int64{"received.0": line(100_000)}),
	}, [][]int{sw: {0, 1}, from: {0}, to: {0}}, make([]node.Info, 3))
	l := &recorder{}
	l.Watch(e, n)
	remote.Play(n, samples*every)
	s := l.document(0, true)
	all := func(v []float64, want float64) bool {
		return !slices.ContainsFunc(v, func(x float64) bool { return x != want })
	}
	if s.N != mostSpans || !all(s.Total, 1e9) || !all(s.Notifications, 2000) || !all(s.Paused, 1) ||
		slices.Max(s.Queue) != 30_000 {
		t.Errorf("%+v", s)
	}
	if len(s.Flows) != 1 || s.Flows[0].Name != "H0>H1" || !all(s.Flows[0].Values, 0.8e9) || len(s.Queues) != 1 || s.Queues[0].Name != "S0>H1" || len(s.Stops) != 1 || !all(s.Stops[0].Values, 1) {
		t.Errorf("%+v %+v %+v", s.Flows, s.Queues, s.Stops)
	}
}

// asked asks the page for a document.
func asked[T any](t *testing.T, h http.Handler, path string) (v T) {
	t.Helper()
	r := httptest.NewRequest("GET", "http://127.0.0.1:9470/"+path, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%s: %v\n%s", path, err, w.Body)
	}
	return v
}

// The page's documents while a replay runs and after it: progress, runs with
// their lines, claims as their schemes end, and the report.
func TestStatus(t *testing.T) {
	e, dir := fig11(t), t.TempDir()
	part := 0.0
	var mu sync.Mutex
	b := NewStatus("pcn/fig11", []*experiment.Experiment{e}, func() (float64, time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		return part, time.Duration(part * float64(time.Minute))
	})
	page := site.Of(b).Handler()
	if s := asked[state](t, page, "state"); s.Shown == nil || s.Shown.ID != "pcn/fig11" || len(s.Shown.Runs) != 0 || s.Over || s.Left != nil || s.Shown.Last != -1 {
		t.Errorf("before it begins: %+v", s)
	}
	var states []state
	o := run.Options{World: "sim", Schemes: []string{"none", "pcn", "dcqcn"}, Quick: true, Viewer: b}
	o.Progress = func(p run.Progress) {
		mu.Lock()
		part = p.Done
		mu.Unlock()
		if p.Last || p.Part > 0.5 && len(states) == 0 {
			states = append(states, asked[state](t, page, "state"))
		}
	}
	r, err := run.Replay(context.Background(), e, o)
	if err != nil {
		t.Fatal(err)
	}
	first := states[0]
	if first.Over || first.Part <= 0 || first.Left == nil || len(first.Shown.Runs) != 3 || !slices.ContainsFunc(first.Shown.Runs, func(r stateRun) bool { return r.State == "runs" && r.HasLines && r.Part > 0 }) {
		t.Errorf("while it runs: %+v %+v", first, first.Shown)
	}
	j := claim.Judge(e, r)
	if err := report.Write(e, dir, j); err != nil {
		t.Fatal(err)
	}
	path, err := report.Page(e, dir, []*claim.Judged{j}, pages.Write)
	if err != nil {
		t.Fatal(err)
	}
	if s := asked[state](t, page, "state"); s.Experiments[0].Report != "" {
		t.Error("there is a report before there is one")
	}
	b.Report(e, path)
	b.End(nil)
	last := asked[state](t, page, "state?of=pcn/fig11")
	if !last.Over || last.Fault != "" || last.Left != nil || last.Experiments[0].Part != 1 || last.Experiments[0].Report != "report/pcn-fig11" {
		t.Errorf("at the end: %+v", last)
	}
	judged := 0
	for i, c := range last.Shown.Claims {
		want := j.Claims[i]
		if want.Verdict == claim.NotRun {
			if c.Verdicts[0] != "" || c.Measured[0] != "" {
				t.Errorf("%s is judged as %v", want.ID, c.Verdicts)
			}
			continue
		}
		judged++
		if c.Verdicts[0] != want.Says() || c.Measured[0] != want.Ours() || c.Text != want.Text {
			t.Errorf("%s: %+v, and in the result %+v", want.ID, c, want)
		}
	}
	if judged == 0 {
		t.Error("no claim is judged")
	}
	for _, run := range last.Shown.Runs {
		if run.State != "ended" || run.Part != 1 || !run.HasLines || run.Color == "" {
			t.Errorf("%+v", run)
		}
	}
	got := asked[map[string]tracesDocument](t, page, "seen?runs=0:0,1:290,99:0&details=1")
	if len(got) != 2 || got["0"].N != mostSpans || len(got["0"].Queue) != mostSpans || got["0"].Flows != nil ||
		len(got["1"].Queue) != 10 || len(got["1"].Flows) != 4 {
		t.Errorf("%+v", got)
	}
	for path, want := range map[string]int{
		"seen": 400, "seen?runs=x": 400, "seen?runs=-1:-5": 200, "seen?runs=" + strings.Repeat("0:0,", 100): 400, "report/other": 404, "report/pcn-fig11": 200, "report/..%2fx": 404, "": 200, "page.js": 200, "nothing": 404,
	} {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost:1/"+path, nil))
		if w.Code != want {
			t.Errorf("%s: %d, not %d", path, w.Code, want)
		}
		if path == "report/pcn-fig11" {
			file, _ := os.ReadFile(filepath.Join(dir, "pcn-fig11", "report.html"))
			if body, _ := io.ReadAll(w.Body); string(body) != string(file) || !strings.Contains(w.Header().Get("Content-Security-Policy"), "script-src 'unsafe-inline'") {
				t.Error("the report is not the file, or its scripts may not run")
			}
		}
	}
}

// The page of a replay that goes on shows the runs that had ended before as the
// page of the first did.
func TestStatusOfSavedRuns(t *testing.T) {
	e, dir := fig11(t), t.TempDir()
	replay := func() (documents map[string]tracesDocument, resumed int) {
		b := NewStatus("pcn/fig11", []*experiment.Experiment{e}, func() (float64, time.Duration) { return 0, 0 })
		o := run.Options{World: "sim", Schemes: []string{"none", "pcn"}, Quick: true, Viewer: b, Checkpoints: dir}
		o.Progress = func(p run.Progress) {
			if p.Last && p.Resumed {
				resumed++
			}
		}
		if _, err := run.Replay(context.Background(), e, o); err != nil {
			t.Fatal(err)
		}
		page := site.Of(b).Handler()
		for _, r := range asked[state](t, page, "state").Shown.Runs {
			if r.State != "ended" || !r.HasLines {
				t.Errorf("%+v", r)
			}
		}
		return asked[map[string]tracesDocument](t, page, "seen?runs=0:0,1:0&details=1"), resumed
	}
	first, none := replay()
	again, all := replay()
	if none != 0 || all != 2 {
		t.Fatalf("%d and %d runs were not run again", none, all)
	}
	if len(first) != 2 || first["0"].N != mostSpans || len(first["1"].Flows) != 4 || len(first["1"].Queues) == 0 ||
		!reflect.DeepEqual(first, again) {
		t.Errorf("first %+v\nthen %+v", first, again)
	}
}

// What a status holds is bounded: of many runs the last have details, and some more
// lines.
func TestStatusIsBounded(t *testing.T) {
	e := fig11(t)
	b := NewStatus("many", []*experiment.Experiment{e}, func() (float64, time.Duration) { return 0, 0 })
	jobs := make([]*run.Job, mostWatched+100)
	for i := range jobs {
		jobs[i] = &run.Job{Use: e.Schemes[0], Value: string(rune('a' + i)), First: true}
	}
	e.Claims = nil
	w := b.Replay(e, "sim", jobs)
	for i := range jobs {
		w.Start(i).(*recorder).flows = []trace{{name: "f"}}
		w.End(i, nil)
	}
	watched, detailed := 0, 0
	for _, r := range b.runs {
		if r.recorder != nil {
			watched++
			if r.recorder.flows != nil {
				detailed++
			}
		}
	}
	if watched > mostWatched+1 || watched < mostWatched-1 || detailed > mostDetailed+1 || detailed < mostDetailed-1 {
		t.Errorf("%d runs are watched, %d in detail", watched, detailed)
	}
}

// A replay that failed says so on the page.
func TestStatusOfFailure(t *testing.T) {
	e := fig11(t)
	b := NewStatus("pcn/fig11", []*experiment.Experiment{e}, func() (float64, time.Duration) { return 0.5, 0 })
	ctx, stop := context.WithCancel(context.Background())
	stop()
	_, err := run.Replay(ctx, e, run.Options{World: "sim", Viewer: b})
	if err == nil {
		t.Fatal("it ended")
	}
	b.End(err)
	if s := asked[state](t, site.Of(b).Handler(), "state"); !s.Over || !strings.Contains(s.Fault, "0 of") {
		t.Errorf("%+v", s)
	}
}

func fig11(t testing.TB) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Get("pcn/fig11")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// lookers are the looks of the first seeds.
type lookers struct {
	mu    sync.Mutex
	jobs  []*run.Job
	looks map[string]*recorder
}

func (v *lookers) Replay(_ *experiment.Experiment, _ string, jobs []*run.Job) run.View {
	v.jobs = jobs
	return v
}

func (v *lookers) Start(i int) run.Watcher {
	v.mu.Lock()
	defer v.mu.Unlock()
	l := &recorder{}
	if v.jobs[i].First {
		v.looks[v.jobs[i].Use.Key()] = l
	}
	return l
}

func (v *lookers) Moved(int, float64) {}
func (v *lookers) End(int, error)     {}

// The page of a short run says of claims what its result says: what never came was waited for no longer than it took, and
// values of the sweep that it leaves out decide nothing.
func TestStatusOfAShortRun(t *testing.T) {
	e, err := experiment.Parse("short.yaml", []byte(`id: test/short
title: short
duration: 300us
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows: [{name: f, from: H0, to: H1, size: $n}]
sweep: {name: n, values: ["10KB", "20KB"], quick: ["10KB"]}
quick: {duration: 100us}
schemes: [none]
measure:
  sample: 10us
  probes: [{name: q, kind: queue, at: [S0]}]
  metrics: [{name: x, do: first_at_least, of: q, value: 1e+12}, {name: least, do: min, of: q}]
claims:
  - {id: late, text: late, schemes: [none], metric: x@10KB, limit: 0.0002, bound: at_least}
  - {id: both, text: both, schemes: [none], metric: least@10KB, limit: 1, bound: at_most, measurements: [{name: a}, {name: b, metric: least@20KB}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	b := NewStatus("short", []*experiment.Experiment{e}, func() (float64, time.Duration) { return 0, 0 })
	r, err := run.Replay(context.Background(), e, run.Options{World: "sim", Quick: true, Viewer: b})
	if err != nil {
		t.Fatal(err)
	}
	want, got := claim.Judge(e, r).Claims, b.list[0].worlds[0].claims
	if want[0].Says() != "contradicted (undecided)" || want[1].Says() != "holds" {
		t.Errorf("the result: %s, %s", want[0].Says(), want[1].Says())
	}
	for i := range want {
		if got[i].Says() != want[i].Says() || got[i].Ours() != want[i].Ours() {
			t.Errorf("%s is %s, %s on the page, and %s, %s in the result", want[i].ID, got[i].Says(), got[i].Ours(), want[i].Says(), want[i].Ours())
		}
	}
}

// Every document of a command says when that began, so that a page notices another one at its address.
func TestStatusTellsCommandsApart(t *testing.T) {
	began := map[int64]int{}
	for range 2 {
		page := site.Of(NewStatus("pcn/fig11", []*experiment.Experiment{fig11(t)}, func() (float64, time.Duration) { return 0, 0 })).Handler()
		for range 2 {
			began[asked[struct {
				Began int64 `json:"began_us"`
			}](t, page, "state").Began]++
		}
		for before := time.Now().UnixMicro(); time.Now().UnixMicro() == before; { // the next begins later
		}
	}
	if len(began) != 2 || began[0] != 0 {
		t.Errorf("the begins of two commands: %v", began)
	}
}
