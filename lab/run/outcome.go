package run

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/measure"
)

// Outcome is what a single run yields.
type Outcome struct {
	Metrics    measure.Metrics
	Ended      iter.Seq[measure.Ended]
	Invariants Invariants
	TraceHash  string  // of the simulator
	PacketHops uint64  // one is one frame of the data's priority over one link
	Virtual    float64 // seconds in the world
	Notes      []string
	Wall       float64 // seconds
	DataHops   uint64  // data packets times the links of their shortest paths
	Events     uint64  // of the simulator
	Frames     int     // most of them in its network at a time
}

// RunOnce runs one scheme of an experiment once, in a world of its own. It fails if
// frames were lost: the outcome is worth nothing then.
func RunOnce(ctx context.Context, e *experiment.Experiment, o Options, use experiment.SchemeUse, look build.Observer) (Outcome, error) {
	progress := func(float64) {}
	if o.Progress != nil {
		progress = func(part float64) { o.Progress(Progress{Run: use.Key(), Part: part}) }
	}
	run := single{
		e: e, o: o, use: use, seed: cmp.Or(o.Seed, e.Seed), observer: look, capture: o.Capture, name: use.Key(), progress: progress,
	}
	r, err := run.run(ctx)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{
		Metrics: r.metrics, Ended: r.ended, Invariants: r.invariants, TraceHash: r.hash, PacketHops: r.hops, Virtual: r.virtual,
		Notes: slices.Concat(r.notes, r.remarks), Wall: r.timing.WallSeconds,
		DataHops: r.dataHops, Events: r.events, Frames: r.frames,
	}
	return out, r.invariants.Err()
}
