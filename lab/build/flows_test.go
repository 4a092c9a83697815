package build

import (
	"testing"

	"pgregory.net/rapid"

	"photon/config"
	"photon/lab/experiment"
	"photon/sim"
	"photon/units"
)

// twoWorkloads has some thousand flows of a group, and of two workloads, which are drawn.
const twoWorkloads = `
id: my/two
title: two workloads
topology: {kind: star, hosts: 6}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B,
  priority: 3, xoff: 100KB, xon: 97KB, buffer: 12MB, start_phase: 0s}
flows: [{name: bulk, from: H0, to: H1, size: 10KB, count: 700}]
workloads:
  - {name: a, from: H1..H2, to: '*', sizes: pareto, mean: 2KB, shape: 3, load: 0.3, capacity: 20Gbps, end: 3ms}
  - {name: b, from: '*', to: '*', sizes: pareto, mean: 1KB, shape: 3, load: 0.2, capacity: 60Gbps, start: 1ms,
     classes: [{dscp: 26}]}
schemes: [dcqcn]
duration: 3ms
measure: {sample: 100us}
`

func parsed(t *testing.T, text string) *experiment.Experiment {
	t.Helper()
	e, err := experiment.Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Whatever order flows are asked for in, and whichever of them are forgotten, they are what a plain list has.
func TestFlowsAreAList(t *testing.T) {
	e := parsed(t, twoWorkloads)
	p, err := e.Plan()
	if err != nil {
		t.Fatal(err)
	}
	all, err := e.Sends(p, 1)
	if err != nil {
		t.Fatal(err)
	}
	packed := 0
	rapid.Check(t, func(t *rapid.T) {
		var list []Flow
		for _, f := range all.List() {
			list = append(list, Flow{Flow: f})
		}
		f := newFlows(all)
		if f.Len() != len(list) || len(list) < 3*pageFlows {
			t.Fatalf("%d flows, %d in the list", f.Len(), len(list))
		}
		forgotten := make([]bool, len(list))
		same := func(i int, x *Flow) {
			want, got := list[i], *x
			if forgotten[i] {
				want.Slot, got.Slot = 0, 0 // it may be another flow's
			}
			if got != want {
				t.Fatalf("flow %d is %+v, not %+v (forgotten: %v)", i, got, want, forgotten[i])
			}
		}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			from := rapid.IntRange(0, len(list)-1).Draw(t, "from")
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				same(from, f.At(from))
			case 1:
				for i, x := range f.All() {
					same(i, x)
				}
			default: // a row of them ends
				odd := rapid.IntRange(0, 3).Draw(t, "odd") // something that there is no short form for
				end := min(len(list), from+rapid.IntRange(1, 3*pageFlows).Draw(t, "row"))
				for i := from; i < end; i++ {
					if forgotten[i] {
						continue
					}
					x := f.At(i)
					same(i, x)
					x.There, x.Done, x.Forgot, x.Slot = true, true, true, int32(i%7)
					x.End, x.Frames = x.Start+units.Time(1+i), uint64(i)
					x.Bytes, x.Notified = uint64(x.Size)+uint64(82*i), uint64(i%3)
					if odd == 0 && i%pageFlows == 5 {
						x.Repeated, x.Bytes = 1, 1<<40
					}
					list[i], forgotten[i] = *x, true
					f.forgotten(i)
				}
			}
		}
		f.DrawRest()
		for i, x := range f.All() {
			same(i, x)
		}
		for k := range f.pages {
			if f.pages[k].short != nil {
				packed++
			}
		}
	})
	if packed == 0 {
		t.Error("no flows were ever packed")
	}
}

// How long before they start flows become known to their senders, and that hosts forget them, changes nothing.
func TestLeadsDoNotMatter(t *testing.T) {
	e := parsed(t, twoWorkloads)
	run := func() (hash uint64, ahead int) {
		w := sim.New()
		n, err := Build(e, w, e.Schemes[0], 1, Observer{})
		if err != nil {
			t.Fatal(err)
		}
		w.Every(10*units.Microsecond, func(now units.Time) {
			known := 0
			for _, f := range n.Flows.Present() {
				if f.There && f.Start > now {
					known++
				}
			}
			ahead = max(ahead, known)
		})
		if err := w.Run(t.Context(), e.Duration); err != nil {
			t.Fatal(err)
		}
		hash, _ = w.Hash()
		return hash, ahead
	}
	usual, many := run()
	defer func(n float64) { mostAhead = n }(mostAhead)
	mostAhead = 20
	short, few := run()
	AddAllAtStart = true
	defer func() { AddAllAtStart = false }()
	if all, _ := run(); usual != short || usual != all {
		t.Errorf("traces %x, %x with few known ahead, and %x with all", usual, short, all)
	}
	if few >= many || few == 0 {
		t.Errorf("%d flows were known ahead, and usually %d", few, many)
	}
}

// However many workloads there are, and in whatever order they begin, only those of their flows are there that are
// to be sent soon: before the run a page of each.
func TestEachWorkloadIsDrawnByItself(t *testing.T) {
	n, err := Build(parsed(t, `
id: my/four
title: four workloads, of which the last begins first
topology: {kind: star, hosts: 6}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B,
  priority: 3, xoff: 100KB, xon: 97KB, buffer: 12MB}
workloads:
  - {name: a, from: '*', to: '*', sizes: pareto, mean: 1KB, shape: 3, load: 0.4, capacity: 60Gbps, start: 1ms}
  - {name: b, from: '*', to: '*', sizes: pareto, mean: 1KB, shape: 3, load: 0.4, capacity: 60Gbps, start: 500us}
  - {name: c, from: H0, to: H1, burst: 1KB, load: 0.4, capacity: 10Gbps}
  - {name: d, from: '*', to: '*', sizes: pareto, mean: 1KB, shape: 3, load: 0.2, capacity: 60Gbps}
schemes: [dcqcn]
duration: 5ms
measure: {sample: 100us}
`), sim.New(), experiment.SchemeUse{Name: config.Set("dcqcn")}, 1, Observer{})
	if err != nil {
		t.Fatal(err)
	}
	if n.Flows.Len() < 20*pageFlows {
		t.Fatalf("there are only %d flows", n.Flows.Len())
	}
	there := 0
	for range n.Flows.Present() {
		there++
	}
	if there > 4*pageFlows {
		t.Errorf("%d of %d flows were drawn before the run", there, n.Flows.Len())
	}
}

// What is read of a forgotten flow, again and again, is what its hosts said when it ended.
func TestFlowsThatAreOverAreRead(t *testing.T) {
	e := parsed(t, twoWorkloads)
	run := func() *Network {
		w := sim.New()
		n, err := Build(e, w, e.Schemes[0], 1, Observer{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(t.Context(), e.Duration); err != nil {
			t.Fatal(err)
		}
		n.Collect()
		return n
	}
	n := run()
	AddAllAtStart = true // nothing is forgotten
	defer func() { AddAllAtStart = false }()
	whole, packed := run(), 0
	now := e.Duration
	for i := range n.Flows.Len() {
		if n.Flows.short(i) != nil {
			packed++
		}
		if got, want := n.Received(i), whole.Received(i); got != want {
			t.Fatalf("flow %d: %d bytes were received, and %d where nothing is forgotten", i, got, want)
		}
		got, want := n.Flow(now, i), whole.Flow(now, i)
		if got.FlowCounts != want.FlowCounts || got.Active != want.Active {
			t.Fatalf("flow %d is %+v, and %+v where nothing is forgotten", i, got, want)
		}
	}
	if packed == 0 {
		t.Error("no flows are packed")
	}
}
