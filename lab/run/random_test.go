package run

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/sim"
	"photon/units"
	"photon/wire"
)

// What a run yields depends neither on how many processors carry it, nor on whether switches take the arrivals of a
// window at once, nor on who watches, whatever its author asks for.
func TestRandomExperimentsOnAnyCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // three parts take turns
	runs, several := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := drawExperiment(t)
		e := readRandom(t, text)
		alone := runRandom(t, e, text, 1, nil)
		same := func(how string, r randomRun) {
			if r.most = alone.most; !reflect.DeepEqual(r, alone) {
				t.Fatalf("%s: %s\n%s", how, differs(&r, &alone), text)
			}
		}
		two := runRandom(t, e, text, 2, nil)
		if runs++; two.most != alone.most {
			several++
		}
		same("on 2 processors", two)
		same("on 3 processors", runRandom(t, e, text, 3, nil))
		if rapid.IntRange(0, 3).Draw(t, "watched") == 0 {
			one, two := newWatcher(), newWatcher()
			same("watched", runRandom(t, e, text, 1, one))
			same("watched, on 2 processors", runRandom(t, e, text, 2, two))
			if a, b := one.String(), two.String(); a != b {
				t.Fatalf("what is seen on one processor and two: %s and %s\n%s", a, b, text)
			}
		}
		plain := build.Wrap
		defer func() { build.Wrap = plain }()
		build.Wrap = func(_ string, node fabric.Node, _ []*fabric.Env) fabric.Node {
			return struct{ fabric.Server }{node.(fabric.Server)} // nothing else that it may be
		}
		same("one frame after the other", runRandom(t, e, text, 1, nil))
	})
	if runs > 50 && several == 0 {
		t.Error("no run had several parts")
	}
}

// All flows end that end by themselves, unless pauses wait for each other in a circle.
func TestRandomFlowsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{T: t, ends: true}
		w.draw("1s")
		w.p("measure:\n  sample: 10ms\n  metrics:")
		w.p("    - {name: open, do: unfinished}\n    - {name: dead, do: deadlocked, hold: 50ms}")
		open := 0.0
		for _, duration := range []string{"100ms", "1s", "100s"} { // some are slow, whose rates have become small
			text := strings.Replace(w.String(), "duration: 1s", "duration: "+duration, 1)
			r := runRandom(t, readRandom(t, text), text, 1, nil)
			if open = *r.metrics["open"]; open == 0 || *r.metrics["dead"] > 0 {
				return
			}
		}
		t.Fatalf("%v flows have not ended\n%s", open, w.String())
	})
}

// readRandom reads an experiment. If it is none that can be run, another is drawn: rapid fails if most are not.
func readRandom(t *rapid.T, text string) *experiment.Experiment {
	e, err := experiment.Parse("random.yaml", []byte(text))
	if err == nil {
		err = build.Check(e)
	}
	if err != nil {
		t.Skip(err)
	}
	return e
}

// randomRun is what a run yields, and what it tells on the way.
type randomRun struct {
	runResult
	flows  []measure.Ended
	pauses []string
	most   int // frames that there were when parts met
}

func runRandom(t *rapid.T, e *experiment.Experiment, text string, cores int, w *watcher) (r randomRun) {
	s := single{e: e, o: Options{World: "sim", Cores: cores}, use: e.Schemes[0], seed: 1, progress: func(float64) {}}
	s.observer.Pause = func(now units.Time, node, port int, paused bool) {
		r.pauses = append(r.pauses, fmt.Sprint(now, node, port, paused))
	}
	if w != nil {
		s.capture = w
		s.observer.Queued = func(units.Time, int, int, units.Size) { w.changes.Add(1) }
	}
	var err error
	if r.runResult, err = s.run(t.Context()); err != nil {
		t.Fatalf("on %d processors: %v\n%s", cores, err, text)
	}
	r.flows, r.ended = slices.Collect(r.ended), nil
	if err := r.invariants.Err(); err != nil {
		t.Fatalf("on %d processors: %v\n%s", cores, err, text)
	}
	r.timing, r.most, r.frames = Timing{}, r.frames, 0
	return r
}

// watcher sees all frames, and how often a queue changes.
type watcher struct {
	frames  int
	seen    hash.Hash64
	line    []byte
	changes atomic.Uint64
}

func newWatcher() *watcher { return &watcher{seen: fnv.New64a()} }

func (w *watcher) String() string {
	return fmt.Sprintf("%d frames, %016x, %d changes of queues", w.frames, w.seen.Sum64(), w.changes.Load())
}

// Begin implements Capture.
func (w *watcher) Begin(n *build.Network, _ string) (func(), error) {
	var all []fabric.End
	for i := range n.Plan.Nodes {
		for port := range n.Plan.Nodes[i].Ends {
			all = append(all, fabric.End{Node: n.IDs[i], Port: port})
		}
	}
	return func() {}, n.World.(*sim.World).Watch(all, 0, func(f *sim.WatchedFrame) bool {
		w.frames++
		// What follows the headers is what was in the buffer before.
		headers := f.Bytes[:min(len(f.Bytes), experiment.HeaderBytes-wire.ICRCLen)]
		where := uint64(f.Port)<<1 | map[bool]uint64{true: 1}[f.Out]
		w.line = binary.LittleEndian.AppendUint64(w.line[:0], uint64(f.At))
		w.line = binary.LittleEndian.AppendUint64(w.line, where<<32|uint64(f.Len))
		_, _ = w.seen.Write(append(w.line, headers...))
		return true
	})
}

func differs(got, want *randomRun) string {
	traces := fmt.Sprintf("trace %s and %s, %d events and %d", got.hash, want.hash, got.events, want.events)
	for i := range got.flows {
		if i < len(want.flows) && !reflect.DeepEqual(got.flows[i], want.flows[i]) {
			return fmt.Sprintf("%s, flow %+v and %+v", traces, got.flows[i], want.flows[i])
		}
	}
	return fmt.Sprintf("%s, %d flows ended and %d, %d pauses and %d, %v and %v", traces,
		len(got.flows), len(want.flows), len(got.pauses), len(want.pauses), got.invariants, want.invariants)
}
