package run

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/sim"
	"photon/units"
	"photon/wire"
)

// witness notes the frames of hosts.
type witness struct {
	n    *build.Network
	seen []seen
}

// seen is a data packet that a host sent (its first bit leaves) or received (its last is there).
type seen struct {
	at   units.Time
	out  bool
	flow int
	psn  uint32
	wire int // bytes
}

// Begin implements Capture.
func (w *witness) Begin(n *build.Network, _ string) (func(), error) {
	w.n = n
	var all []fabric.End
	for i := range n.Plan.Nodes {
		if n.Plan.Nodes[i].Host {
			all = append(all, fabric.End{Node: n.IDs[i]})
		}
	}
	return func() {}, n.World.(*sim.World).Watch(all, 0, func(f *sim.WatchedFrame) bool {
		var h wire.Header
		if wire.Parse(f.Bytes, &h) && h.BTH > 0 {
			if b := wire.BTH(f.Bytes[h.BTH:]); b.Opcode() <= wire.OpSendOnly {
				w.seen = append(w.seen, seen{f.At, f.Out, int(b.DestQP()) - 1, b.PSN(), f.Len + 24})
			}
		}
		return true
	})
}

// Steps, and what hosts sent and received, are what the frames on the links of the hosts say.
func TestMetricsAgainstFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{T: t}
		w.p("id: test/frames\ntitle: frames\nduration: 3ms\ntopology: {kind: leaf-spine, tors: 2, hosts: 4, spines: 2}")
		w.p("parameters: {link_rate: 100Gbps, trunk_rate: 100Gbps, host_delay: 1us, trunk_delay: 2us, mtu: 1500B,")
		w.p("  payload: %vB, priority: 3, xoff: 200KB, buffer: 32MB}", w.of("payload", 256, 1000, 1400))
		w.p("schemes: [%v]", w.of("scheme", "none", "dcqcn"))
		do := w.of("do", "all-reduce", "all-reduce, algorithm: halving-doubling", "all-to-all, window: 2",
			"broadcast, degree: 2", "pipeline, microbatches: 2, compute: 3us")
		rows := w.of("rows", "", ", groups_of: 4", ", groups_of: 4, interleaved: true").(string)
		w.p("collectives:\n- {name: c, do: %v, hosts: '*', size: %v, repeat: 3, gap: 5us%s}",
			do, w.of("size", "1KB", "100KB", "2MB"), rows)
		w.p("flows:\n- {name: f, from: H0..H2, to: H5, size: 200KB, start: %dus}", w.n("start", 0, 50))
		w.p("measure:\n  sample: 7us\n  probes:")
		for _, kind := range []string{"received", "sending"} {
			w.p("  - {name: %s, kind: %s, flows: ['*']}", kind, kind)
		}
		w.p("  metrics:")
		for _, m := range []string{"step_time", "algbw", "busbw", "straggler"} {
			for _, stat := range []string{"min", "mean", "max"} {
				w.p("  - {name: %s-%s, do: %s, stat: %s, flows: [c]}", m, stat, m, stat)
			}
		}
		w.p("  - {name: job, do: job_time, flows: [c]}")
		text := w.String()
		e := readRandom(t, text)
		saw := &witness{}
		s := single{e: e, o: Options{World: "sim", Cores: 1}, use: e.Schemes[0], seed: 1, capture: saw,
			progress: func(float64) {}}
		r, err := s.run(t.Context())
		if err != nil {
			t.Fatal(err, text)
		}
		// When each flow had all of it, packet after packet.
		payload := e.Parameters.Payload.Value.V
		next, whole := make([]uint32, saw.n.Flows.Len()), make([]units.Time, saw.n.Flows.Len())
		for _, f := range saw.seen {
			if !f.out && f.psn == next[f.flow] {
				next[f.flow]++
				if units.Size(next[f.flow]) == (saw.n.Flows.At(f.flow).Size+payload-1)/payload {
					whole[f.flow] = f.at
				}
			}
		}
		type host struct{ step, to int }
		begin, last, open := map[int]units.Time{}, map[host]units.Time{}, map[int]bool{}
		for i := range saw.n.Flows.Len() {
			f := saw.n.Flows.At(i)
			if f.Group != "c" {
				continue
			}
			k, at := int(f.Step), host{int(f.Step), f.To}
			if b, known := begin[k]; !known || f.Start < b {
				begin[k] = f.Start
			}
			last[at], open[k] = max(last[at], whole[i]), open[k] || whole[i] == 0
		}
		of := map[string][]float64{}
		first, end, done := units.Never, units.Time(0), true
		ranks := 8.0
		if rows != "" {
			ranks = 4
		}
		moved := 8 * float64(e.Collectives[0].Size.V)
		bus := 1.0
		switch e.Collectives[0].Do.V {
		case "all-reduce":
			bus = 2 * (ranks - 1) / ranks
		case "all-to-all":
			bus = (ranks - 1) / ranks
		case "pipeline":
			moved *= 2 * 2
		}
		for k, b := range begin {
			if open[k] {
				done = false
				continue
			}
			var took []float64
			for h, at := range last {
				if h.step == k {
					took, end = append(took, (at-b).Seconds()), max(end, at)
				}
			}
			slices.Sort(took)
			most := took[len(took)-1]
			first = min(first, b)
			of["step_time"], of["algbw"] = append(of["step_time"], most), append(of["algbw"], moved/most)
			of["busbw"] = append(of["busbw"], bus*moved/most)
			of["straggler"] = append(of["straggler"], most/took[(len(took)-1)/2])
		}
		is := func(name string, want float64, there bool) {
			got := r.metrics[name]
			if (got != nil) != there || there && math.Abs(*got/want-1) > 1e-9 {
				t.Fatalf("%s is %s, and by the frames %v (%v)\n%s", name, experiment.Number(got, ""), want, there, text)
			}
		}
		for m, v := range of {
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			is(m+"-min", slices.Min(v), true)
			is(m+"-max", slices.Max(v), true)
			is(m+"-mean", sum/float64(len(v)), true)
		}
		is("job", (end - first).Seconds(), done)
		// What was sent and received up to each sample; of that at the very instant either may be.
		for _, probe := range []string{"received", "sending"} {
			column := r.series.Column(probe)
			clear(next)
			k, before, with := 0, 0, 0
			for i, at := range r.series.Time {
				for before = with; k < len(saw.seen) && saw.seen[k].at <= at; k++ {
					f := saw.seen[k]
					if counts := f.out; f.out == (probe == "received") || !counts && f.psn != next[f.flow] {
						continue
					} else if !counts {
						next[f.flow]++
					}
					if with += f.wire; f.at < at {
						before = with
					}
				}
				if got := int(column[i]); got < before || got > with {
					t.Fatalf("%s at %v: %d bytes, and by the frames %d to %d\n%s", probe, at, got, before, with, text)
				}
			}
		}
	})
}
