package build

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/lab/experiment"
	"photon/sim"
	"photon/units"
)

// trainingStar is hosts on one switch, at 100 Gbit/s.
const trainingStar = `
id: test/training
title: hosts that work together
duration: 200ms
topology: {kind: star, hosts: %d}
parameters: {link_rate: 100Gbps, host_delay: 1us, trunk_delay: 1us, payload: 4000B, mtu: 4200B, priority: 3, xoff: 200KB, buffer: 32MB, start_phase: 0s}
schemes: [none]
measure: {sample: 1ms}
`

// ranTraining runs an experiment in so many parts, and returns what came of it.
func ranTraining(t testing.TB, text string, parts int, until units.Time) (*Network, *sim.World) {
	t.Helper()
	e, err := experiment.Parse("training.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w := sim.New()
	w.SetParts(parts)
	n, err := Build(e, w, e.Schemes[0], 1, Observer{})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Schedule(e); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(context.Background(), until); err != nil {
		t.Fatal(err)
	}
	if err := n.Fault(); err != nil {
		t.Fatal(err)
	}
	if err := w.Audit(); err != nil {
		t.Error(err)
	}
	n.Collect()
	return n, w
}

// wholeTime is from the first start to the last arrival; every flow must have ended.
func wholeTime(t *testing.T, n *Network) units.Time {
	t.Helper()
	begin, end := units.Never, units.Time(0)
	for i := range n.Flows.Len() {
		f := n.Flows.At(i)
		if !f.Done || n.Arrived(i) == 0 {
			t.Fatalf("flow %d of %s, %s to %s, has not ended", i, f.Group, n.Plan.Nodes[f.From].Name, n.Plan.Nodes[f.To].Name)
		}
		begin, end = min(begin, f.Start), max(end, n.Arrived(i))
	}
	return end - begin
}

// wireTime is how long so much payload occupies a link of the star.
func wireTime(size, payload float64, rate float64) float64 {
	packets := math.Ceil(size / payload)
	return 8 * (size + packets*(58+24)) / rate
}

// In an idle network collectives take what the books say: what a link carries of them at its rate, and for
// each message that must come before another the way there.
func TestCollectivesTakeWhatTheBooksSay(t *testing.T) {
	const rate, payload, hop = 100e9, 4000.0, 1e-6
	// A message is there a link's two delays after it left, and one packet's time more, which is stored at the switch.
	way := 2*hop + wireTime(payload, payload, rate)
	for _, c := range []struct {
		hosts int
		line  string
		want  float64
	}{
		{3, "do: all-reduce, size: 24MB", 4 * (wireTime(8e6, payload, rate) + way)},
		{5, "do: all-reduce, size: 40MB", 8 * (wireTime(8e6, payload, rate) + way)},
		{8, "do: all-reduce, size: 64MB", 14 * (wireTime(8e6, payload, rate) + way)},
		{8, "do: all-reduce, size: 64MB, channels: 4", 14*wireTime(8e6, payload, rate) + 14*way},
		{5, "do: reduce-scatter, size: 40MB", 4 * (wireTime(8e6, payload, rate) + way)},
		{5, "do: all-gather, size: 40MB", 4 * (wireTime(8e6, payload, rate) + way)},
		{8, "do: all-reduce, algorithm: halving-doubling, size: 64MB", 2*wireTime(56e6, payload, rate) + 6*way},
		{4, "do: all-to-all, size: 64MB", wireTime(48e6, payload, rate) + way},
		// The root sends each of 64 chunks to two others, and the last comes to those below a chunk's time and a way later.
		{7, "do: broadcast, size: 64MB, chunks: 64", 2*wireTime(64e6, payload, rate) + 2*wireTime(1e6, payload, rate) + 2*way},
		{7, "do: broadcast, size: 64MB, degree: 6", 6*wireTime(64e6, payload, rate) + way},
		// Eleven times a stage's time forward and eleven backward, but what is computed before the first message
		// and after the last; what is sent meanwhile is hidden, but for the first microbatch's way and the last's.
		{4, "do: pipeline, size: 4MB, microbatches: 8, compute: 2ms", 20*2e-3 + 6*(wireTime(4e6, payload, rate)+way)},
		{4, "do: tensor-parallel, size: 16MB, layers: 2, compute: 1ms", 7e-3 + 8*6*(wireTime(4e6, payload, rate)+way)},
	} {
		n, _ := ranTraining(t, fmt.Sprintf(trainingStar, c.hosts)+"collectives: [{name: job, hosts: '*', "+c.line+"}]\n", 1, 200*units.Millisecond)
		got := wholeTime(t, n).Seconds()
		if d := got/c.want - 1; math.Abs(d) > 0.01 {
			t.Errorf("%d hosts, %s: %.6g s, %.6g by the books: %+.2f %%", c.hosts, c.line, got, c.want, 100*d)
		}
	}
}

// The same happens in any number of parts, whoever waits for whom.
func TestWaitingFlowsInParts(t *testing.T) {
	const clos = `
id: test/parts
title: hosts that work together
duration: 20ms
topology: {kind: leaf-spine, tors: 4, hosts: 4, spines: 2}
parameters: {link_rate: 25Gbps, host_delay: 1us, trunk_delay: 700ns, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 8MB}
schemes: [dcqcn]
measure: {sample: 1ms}
collectives:
  - {name: grads, do: all-reduce, hosts: '*', size: 1MB, repeat: 2, gap: 20us}
  - {name: tp, do: tensor-parallel, hosts: '*', size: 50KB, layers: 1, compute: 3us, groups_of: 4, interleaved: true, after: grads}
  - {name: experts, do: all-to-all, hosts: H0..H7, size: 800KB, window: 2, after: {flows: tp, all: true, delay: 5us}}
flows:
  - {name: one, from: H0, to: H9, size: 200KB, repeat: 3, gap: 10us}
  - {name: two, from: H3, to: H12, size: 100KB, after: {flows: one, at: 100KB}}
  - {name: three, from: H12..H15, to: H0, size: 30KB, after: [{flows: two, at: start, delay: 50us}, grads]}
`
	var hashes []uint64
	var starts [][]units.Time
	for parts := 1; parts <= 4; parts++ {
		n, w := ranTraining(t, clos, parts, 20*units.Millisecond)
		wholeTime(t, n)
		h, _ := w.Hash()
		hashes = append(hashes, h)
		var s []units.Time
		for i := range n.Flows.Len() {
			s = append(s, n.Flows.At(i).Start)
		}
		starts = append(starts, s)
	}
	for i := range hashes {
		if hashes[i] != hashes[0] || fmt.Sprint(starts[i]) != fmt.Sprint(starts[0]) {
			t.Errorf("in %d parts the hash is %x, in one %x", i+1, hashes[i], hashes[0])
		}
	}
}

// A link that is slow delays what waits for what goes over it, and nothing else: in a ring of five, a
// message is late if it, or one of those that its piece was in before, went over the link.
func TestSlowLinkDelaysWhatDependsOnIt(t *testing.T) {
	const hosts = 5
	text := fmt.Sprintf(trainingStar, hosts) + "collectives: [{name: job, hosts: '*', do: all-reduce, size: 5MB, start: 2ms}]\n"
	plain, _ := ranTraining(t, text, 1, 200*units.Millisecond)
	slow, _ := ranTraining(t, text+"events: [{at: 0s, link: H1>S0, rate: 50Gbps}]\n", 1, 200*units.Millisecond)
	for i := range plain.Flows.Len() {
		f := plain.Flows.At(i)
		round := i / hosts
		// H1's link is slow both ways: what H0 sends to it is late, too, and so is what depends on either.
		sender, late := f.From-plain.Plan.Hosts()[0], false
		for back := range round + 1 {
			s := ((sender-back)%hosts + hosts) % hosts
			late = late || s == 0 || s == 1
		}
		if moved := slow.Arrived(i) - plain.Arrived(i); (moved > units.Microsecond) != late {
			t.Errorf("round %d, from H%d: %v later", round, sender, moved)
		}
	}
}

// Whatever flows wait for, they begin then, and not before: a slow reckoning by hand says when.
func TestFlowsBeginWhenWhatTheyWaitForHasHappened(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 8).Draw(t, "groups")
		text := fmt.Sprintf(trainingStar, 6) + "flows:\n"
		type want struct {
			of    int
			at    string
			delay units.Time
		}
		var all [][]want
		for i := range n {
			a := rapid.IntRange(0, 5).Draw(t, "from")
			b := (a + rapid.IntRange(1, 5).Draw(t, "by")) % 6
			var after []want
			line := ""
			for k := range rapid.IntRange(0, min(i, 2)).Draw(t, "causes") {
				w := want{rapid.IntRange(0, i-1).Draw(t, "of"), rapid.SampledFrom([]string{"start", "end", "acknowledged", "30KB"}).Draw(t, "at"), units.Time(rapid.IntRange(0, 20).Draw(t, "delay")) * units.Microsecond}
				after = append(after, w)
				if k > 0 {
					line += ", "
				}
				line += fmt.Sprintf("{flows: g%d, at: %s, delay: %v}", w.of, w.at, w.delay)
			}
			all = append(all, after)
			text += fmt.Sprintf("  - {name: g%d, from: H%d, to: H%d, size: 50KB, after: [%s]}\n", i, a, b, line)
		}
		e, err := experiment.Parse("random.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		w := sim.New()
		w.SetParts(rapid.IntRange(1, 3).Draw(t, "parts"))
		net, err := Build(e, w, e.Schemes[0], 1, Observer{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Run(context.Background(), 50*units.Millisecond); err != nil {
			t.Fatal(err)
		}
		net.Collect()
		signal := 2 * units.Microsecond // two links of 1 us: half of a round trip
		for i := range net.Flows.Len() {
			f := net.Flows.At(i)
			if !f.Done {
				t.Fatalf("flow %d has not ended", i)
			}
			begin := units.Time(0)
			exact := true
			for _, c := range all[i] {
				g := net.Flows.At(c.of)
				when, where := net.Arrived(c.of), g.To
				switch {
				case c.at == "start":
					when, where = g.Start, g.From
				case c.at == "acknowledged" || c.at == "end" && g.From == f.From:
					when, where = g.End, g.From
				case c.at != "end": // some time before all has arrived
					when, exact = 0, false
				}
				if where != f.From {
					when += signal
				}
				begin = max(begin, when+c.delay)
			}
			if f.Start < begin || exact && f.Start != begin {
				t.Fatalf("flow %d begins at %v, not %v\n%s", i, f.Start, begin, text)
			}
		}
	})
}

func TestWaitsThatMeanNothing(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"flows: [{name: a, from: H0, to: H1, size: 1KB, after: b}]", `there are no flows "b" to wait for`},
		{"flows: [{name: a, from: H0, to: H1, size: 1KB, after: b}, {name: b, from: H1, to: H0, size: 1KB, after: a}]", "wait for something that waits for them"},
		{"flows: [{name: a, from: H0, to: H1, size: 1KB, after: a}]", "wait for something that waits for them"},
		{"flows: [{name: a, from: H0, to: H1}, {name: b, from: H1, to: H0, size: 1KB, after: a}]", "have no size"},
		{"flows: [{name: a, from: H0, to: H1, size: 1KB}, {name: b, from: H1, to: H0, size: 1KB, after: {flows: a, at: 2KB}}]", "never arrive"},
		{"flows: [{name: a, from: H0, to: H1, size: 1KB}, {name: b, from: H1, to: H0, size: 1KB, after: {flows: a, at: soon}}]", "start, end, acknowledged or a size"},
		{"flows: [{name: a, from: H0, to: H1, size: 1KB}, {name: b, from: H1, to: H0, size: 1KB, every: 1ms, after: a}]", "every, until, stop and lasts"},
		{"flows: [{name: a, from: H0, to: H1, repeat: 3}]", "they need a size"},
		{"flows: [{name: a, from: H0, to: H1, size: 1KB, repeat: 65536}]", "repeat 65536: 65535 at most"},
		{"collectives: [{name: a, do: all-reduce, hosts: '*', size: 1MB, repeat: 65536}]", "repeat 65536: 65535 at most"},
		{"collectives: [{name: j, do: all-reduce, hosts: H0..H2, size: 1MB, algorithm: halving-doubling}]", "power of two"},
		{"collectives: [{name: j, do: all-reduce, hosts: H0..H2, size: 1MB, groups_of: 2}]", "cannot be divided"},
		{"collectives: [{name: j, do: all-reduce, hosts: 'H0,H0', size: 1MB}]", "there twice"},
		{"collectives: [{name: j, do: all-reduce, hosts: H0..H2, size: 1MB, window: 2}]", "window is for nothing"},
		{"collectives: [{name: j, do: alreduce, hosts: H0..H2, size: 1MB}]", "there is no collective"},
	} {
		_, err := experiment.Parse("x.yaml", []byte(fmt.Sprintf(trainingStar, 3)+c.text+"\n"))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "x.yaml") {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}
