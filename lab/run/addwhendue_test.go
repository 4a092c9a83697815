package run

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"photon/config"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/sim"
	"photon/units"
)

// busy is a small Clos network with flows that come and go for a time.
func busy(t testing.TB, duration units.Time) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Get("pcn/fig14-w2")
	if err != nil {
		t.Fatal(err)
	}
	e.Duration = duration
	e.Topology.Pods, e.Topology.ToRs, e.Topology.Hosts, e.Topology.Spines = config.Set(1), config.Set(2), config.Set(8), config.Set(2)
	w := &e.Workloads[0]
	w.End, w.Flows, w.Capacity, w.Load = config.Set(duration), config.Value[int]{}, config.Set(160*units.Gbps), config.Set(0.4)
	e.Measure.Sample = duration / 10
	return e
}

// A run in which senders are told of flows when they begin, and receivers forget
// them, is the run in which all know them all, and its senders have no more places than flows at a time.
func TestFlowsThatAreToldLate(t *testing.T) {
	e := busy(t, 4*units.Millisecond)
	more, err := chooseSchemes(e, Options{Schemes: []string{"dcqcn+", "tcd+dcqcn", "hpcc"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range slices.Concat(e.Schemes, more) {
		var runs [2]runResult
		var ended [2][]measure.Ended
		var slots [2]int
		for i := range runs {
			build.AddAllAtStart = i == 1
			w := sim.New()
			n, err := build.Build(e, w, use, 1, build.Observer{})
			if err != nil {
				t.Fatal(err)
			}
			look, err := measure.Start(e, n)
			if err != nil {
				t.Fatal(err)
			}
			places := map[[2]int]bool{}
			w.Every(10*units.Microsecond, func(units.Time) {
				for _, f := range n.Flows.Present() {
					if f.There && !f.Done {
						places[[2]int{f.From, int(f.Slot)}] = true
					}
				}
			})
			if err := w.Run(context.Background(), e.Duration); err != nil {
				t.Fatal(err)
			}
			look.Finish()
			if err := w.Audit(); err != nil {
				t.Error(err)
			}
			runs[i].metrics, runs[i].series, runs[i].ended = look.Metrics(), look.Series, measure.EndedFlows(e, n, 1)
			ended[i] = slices.Collect(runs[i].ended)
			hash, _ := w.Hash()
			runs[i].hops = hash
			slots[i] = len(places)
			forgot := 0
			for k := range n.Flows.Len() {
				if n.Flows.At(k).Forgot {
					forgot++
				}
			}
			if late := i == 0 && n.Forgets(); late && forgot < len(ended[i])/2 || !late && forgot > 0 {
				t.Errorf("%s: receivers forgot %d of %d flows that ended", use.Name.V, forgot, len(ended[i]))
			}
			if i == 1 && len(places) != n.Flows.Len() {
				t.Fatalf("%s: %d places for %d flows that are known from the beginning",
					use.Name.V, len(places), n.Flows.Len())
			}
		}
		build.AddAllAtStart = false
		if runs[0].hops != runs[1].hops {
			t.Errorf("%s: traces differ", use.Name.V)
		}
		for name, v := range runs[0].metrics {
			if other := runs[1].metrics[name]; (v == nil) != (other == nil) || v != nil && *v != *other {
				t.Errorf("%s: %s differs", use.Name.V, name)
			}
		}
		for c, values := range runs[0].series.Value {
			for k, v := range values {
				if runs[1].series.Value[c][k] != v {
					t.Fatalf("%s: column %d differs", use.Name.V, c)
				}
			}
		}
		if len(ended[0]) == 0 || !slices.Equal(ended[0], ended[1]) {
			t.Errorf("%s: %d flows ended, and %d, or they are others", use.Name.V, len(ended[0]), len(ended[1]))
		}
		t.Logf("%s: %d places instead of %d", use.Name.V, slots[0], slots[1])
		if use.Name.V != "qcn" && slots[0] > slots[1]/2 {
			t.Errorf("%s: %d places for %d flows of which few are sent at a time", use.Name.V, slots[0], slots[1])
		}
	}
}

// What a run keeps and allocates while its clock runs is for what is under way: four
// and sixteen times the flows, one after the other at the same load, take as much. What
// grows with them is the list of their results.
func TestMemoryDoesNotGrowWithFlows(t *testing.T) {
	const listed = 52 // bytes of a flow that has ended
	for _, name := range []string{"dcqcn", "pcn"} {
		type measured struct {
			flows       int
			heap, added int64 // bytes when the clock stops, and of them since it ran
			mallocs     uint64
		}
		run := func(times units.Time) (m measured) {
			e := busy(t, times*units.Millisecond)
			w := &e.Workloads[0]
			w.Sizes, w.Mean, w.Shape = config.Set("pareto"), config.Set(4*units.KB), config.Set(3.0)
			w.Load = config.Set(0.2)
			e.Measure = experiment.Measure{Sample: e.Duration / 10}
			uses, err := chooseSchemes(e, Options{Schemes: []string{name}})
			if err != nil {
				t.Fatal(err)
			}
			var before runtime.MemStats
			running := func(begins bool) {
				var s runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&s)
				if begins {
					before = s
					return
				}
				m.heap, m.added, m.mallocs = int64(s.HeapAlloc), int64(s.HeapAlloc)-int64(before.HeapAlloc), s.Mallocs-before.Mallocs
			}
			s := single{e: e, o: Options{World: "sim"}, use: uses[0], seed: 1, observer: build.Observer{Running: running}, progress: func(float64) {}}
			r, err := s.run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			m.flows = len(slices.Collect(r.ended))
			return m
		}
		// A thread that Go starts meanwhile has memory, too: of two runs the one with less counts.
		least := func(times units.Time) measured {
			a, b := run(times), run(times)
			if b.added < a.added {
				return b
			}
			return a
		}
		once := least(1)
		for _, times := range []units.Time{4, 16} {
			m := least(times)
			more := m.flows - once.flows
			t.Logf("%s: %d flows: %d bytes in all, %d added by the run, %d allocations; %d flows: %d, %d, %d", name,
				once.flows, once.heap, once.added, once.mallocs, m.flows, m.heap, m.added, m.mallocs)
			if more < int(times-1)*once.flows*3/4 {
				t.Fatalf("%s: %d and %d flows ended: nothing to compare", name, once.flows, m.flows)
			}
			if grew := (m.heap - m.added) - (once.heap - once.added); grew > 3*int64(more) { // bounds of hosts
				t.Errorf("%s: %d bytes for %d more flows before the clock runs", name, grew, more)
			}
			// Queues and places stay as large as they ever were, and the most there was
			// becomes a little more with time.
			if m.added > once.added*4/3+int64(listed*more) {
				t.Errorf("%s: the run of %d flows adds %d bytes, that of %d adds %d", name, once.flows, once.added, m.flows, m.added)
			}
			if grew := int64(m.mallocs) - int64(once.mallocs); grew > int64(more)/4 {
				t.Errorf("%s: %d more allocations for %d more flows", name, grew, more)
			}
		}
	}
}
