package run

import (
	"context"
	"testing"
)

// peak measures the longest queue to the receiver.
const peak = `
measure:
  sample: 100us
  probes: [{name: queue, kind: queue, at: [S0>H2]}]
  metrics: [{name: most, do: max, of: queue}]
`

// What is swept may be a parameter of a scheme, and a plot over time shows the
// first value that was run.
func TestSweepOfAParameter(t *testing.T) {
	e := parse(t, peak+`
flows: [{name: F, from: H0..H1, to: H2}]
schemes: [{name: dcqcn, params: {kmax: {value: $kmax, source: the test}}}]
sweep: {name: kmax, values: [10KB, 20KB, 300KB], quick: [20KB, 300KB]}
plots: [{title: over time, lines: [queue]}]
`)
	r, err := Replay(context.Background(), e, Options{World: "sim", Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Runs[0].Metrics
	if m["most@10KB"] != nil || m["most@20KB"] == nil || *m["most@20KB"] >= *m["most@300KB"] {
		t.Errorf("%v", m)
	}
	if v := r.Shown(e); v != "20KB" || r.Series("dcqcn", v).Column("queue") == nil {
		t.Errorf("shown: %q", v)
	}
}

// With --quick a run ends when the experiment says, and the same happens until then.
func TestQuickEndsSooner(t *testing.T) {
	e := parse(t, `
measure:
  sample: 100us
  probes: [{name: queue, kind: queue, at: [S0>H2]}]
  metrics: [{name: most, do: max, of: queue, to: 500us}]
flows: [{name: F, from: H0..H1, to: H2}]
schemes: [dcqcn]
plots: [{title: over time, lines: [queue]}]
quick: {duration: 500us}
`)
	var results [2]*Result
	for i, quick := range []bool{false, true} {
		var err error
		if results[i], err = Replay(context.Background(), e, Options{World: "sim", Quick: quick}); err != nil {
			t.Fatal(err)
		}
		want := e.Lasts(quick)
		if at := results[i].Series("dcqcn", "").Time; at[len(at)-1] != want || results[i].Repeats.Duration != want.String() || results[i].Runs[0].Virtual != want.Seconds() {
			t.Errorf("quick %t: until %v, %s, %v s, want %v", quick, at[len(at)-1], results[i].Repeats.Duration, results[i].Runs[0].Virtual, want)
		}
	}
	whole, short := results[0].Runs[0], results[1].Runs[0]
	if e.Lasts(true) >= e.Duration || *whole.Metrics["most"] == 0 || *whole.Metrics["most"] != *short.Metrics["most"] || *whole.TraceHash == *short.TraceHash {
		t.Errorf("%v and %v of %v", *whole.Metrics["most"], *short.Metrics["most"], e.Duration)
	}
}

// Messages of a sender share a reaction point, and those of a workload that
// begins after the end of a run are none.
func TestMessagesOfAWorkload(t *testing.T) {
	e := parse(t, peak+`
workloads:
  - {name: M, burst: 10KB, from: H0, to: H2, load: 1, capacity: 1Gbps, messages: true}
  - {name: L, burst: 10KB, from: H1, to: H2, load: 1, capacity: 1Gbps, start: 1s}
schemes: [{name: qcn}]
`)
	p, err := e.Plan()
	if err != nil {
		t.Fatal(err)
	}
	flows, err := e.Sends(p, 1)
	if err != nil || flows.Len() == 0 {
		t.Fatal(flows, err)
	}
	for _, f := range flows.All() {
		if f.Group != "M" || f.Shared != 1 {
			t.Errorf("%+v", f)
		}
	}
}
