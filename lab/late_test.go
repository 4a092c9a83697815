package lab

import (
	"context"
	"runtime"
	"testing"

	"photon/config"
	"photon/sim"
	"photon/units"
)

// busy is a small Clos network with flows that come and go for a time.
func busy(t testing.TB, duration units.Time) *Experiment {
	t.Helper()
	e, err := Get("pcn/fig14-w2")
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

// A run in which senders are told of flows when they begin is the run in which
// they know them all, and its senders have no more places than flows at a time.
func TestFlowsThatAreToldLate(t *testing.T) {
	e := busy(t, 4*units.Millisecond)
	for _, use := range e.Schemes {
		var runs [2]one
		var slots [2]int
		for i := range runs {
			tellAll = i == 1
			w := sim.New()
			n, err := e.setUp(w, use, 1)
			if err != nil {
				t.Fatal(err)
			}
			look, err := startWatch(e, n)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Run(context.Background(), e.Duration); err != nil {
				t.Fatal(err)
			}
			look.finish()
			if err := w.Audit(); err != nil {
				t.Error(err)
			}
			runs[i].metrics, runs[i].series, runs[i].ended = look.metrics(), look.series, n.ended(e)
			hash, _ := w.Hash()
			runs[i].hops = hash
			places := map[[2]int]bool{}
			for k := range n.flows {
				if f := &n.flows[k]; f.there {
					places[[2]int{f.from, int(f.slot)}] = true
				}
			}
			slots[i] = len(places)
			if i == 1 && len(places) != len(n.flows) {
				t.Fatalf("%s: %d places for %d flows that are known from the beginning", use.Name.V, len(places), len(n.flows))
			}
		}
		tellAll = false
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
		if len(runs[0].ended) == 0 || len(runs[0].ended) != len(runs[1].ended) {
			t.Errorf("%s: %d flows ended, and %d", use.Name.V, len(runs[0].ended), len(runs[1].ended))
		}
		t.Logf("%s: %d places instead of %d", use.Name.V, slots[0], slots[1])
		if use.Name.V != "qcn" && slots[0] > slots[1]/2 {
			t.Errorf("%s: %d places for %d flows of which few are sent at a time", use.Name.V, slots[0], slots[1])
		}
	}
}

// What a run allocates while its clock runs is for what is under way: several times
// the flows, one after the other, are not as many times the allocations.
func TestAllocationsDoNotGrowWithFlows(t *testing.T) {
	count := func(duration units.Time) (mallocs uint64, flows int) {
		e := busy(t, duration)
		e.Measure = Measure{Sample: duration / 10}
		e.observer.Running = func(begins bool) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			mallocs = m.Mallocs - mallocs
		}
		r, err := e.run(context.Background(), Options{World: "sim"}, e.Schemes[1], 1, func(float64) {})
		if err != nil {
			t.Fatal(err)
		}
		return mallocs, len(r.ended)
	}
	few, ended := count(4 * units.Millisecond)
	many, more := count(16 * units.Millisecond)
	t.Logf("%d allocations for %d flows, %d for %d", few, ended, many, more)
	if more < 2*ended {
		t.Fatalf("%d and %d flows ended: nothing to compare", ended, more)
	}
	if many-few > uint64(more-ended) {
		t.Errorf("%d more allocations for %d more flows", many-few, more-ended)
	}
}
