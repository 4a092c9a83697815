package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/sim"
	"photon/units"
)

// Options of a replay.
type Options struct {
	World    string   // "sim" or "dpdk"
	Schemes  []string // nil: all of the experiment
	Seed     uint64   // 0: the experiment's
	Dilation int      // of the clock, on dpdk
	Quick    bool     // leave out what no claim needs
	// Progress is told, at most a hundred times per run, what part of the replay is done.
	Progress func(scheme string, done float64)
}

// Result is what a replay in one world yields; it becomes result.json.
type Result struct {
	Experiment string        `json:"experiment"`
	World      string        `json:"world"`
	Seed       uint64        `json:"seed"`
	Runs       []Run         `json:"runs"`
	Claims     []ClaimResult `json:"claims"`

	series       map[string]*Series // by scheme
	timing       []Timing
	alternatives []Alternative
}

// Alternative is what a choice that was made otherwise gives; it becomes a row
// of alternatives.json.
type Alternative struct {
	Scheme  string            `json:"scheme"`
	Params  map[string]string `json:"params"`
	Metrics Metrics           `json:"metrics"`
}

// Run is one scheme's.
type Run struct {
	Scheme     string     `json:"scheme"`
	Metrics    Metrics    `json:"metrics"`
	Invariants Invariants `json:"invariants"`
	TraceHash  *string    `json:"trace_hash"` // of the simulator
	PacketHops uint64     `json:"packet_hops"`
	Virtual    float64    `json:"virtual_seconds"`
}

// Invariants hold in every run, or the run is worth nothing.
type Invariants struct {
	LostFrames     uint64 `json:"lost_frames"` // of the lossless priority, anywhere
	ConservationOK bool   `json:"conservation_ok"`
}

// Timing is kept apart from the result, which is the same for the same seed.
type Timing struct {
	Scheme      string  `json:"scheme"`
	WallSeconds float64 `json:"wall_seconds"`
	// Of the DPDK world's clock.
	Dilation         int     `json:"dilation,omitempty"`
	StretchedSeconds float64 `json:"stretched_seconds,omitempty"` // world time by which stalls of the machine were left out
	LongestGap       float64 `json:"longest_poll_gap_seconds,omitempty"`
}

// Replay runs an experiment in one world, one scheme after the other.
func (e *Experiment) Replay(ctx context.Context, o Options) (*Result, error) {
	uses, err := e.choose(o.Schemes)
	if err != nil {
		return nil, err
	}
	seed := o.Seed
	if seed == 0 {
		seed = e.Seed
	}
	r := &Result{Experiment: e.ID, World: o.World, Seed: seed, series: map[string]*Series{}}
	metrics := map[string]Metrics{}
	for i, use := range uses {
		progress := func(part float64) {
			if o.Progress != nil {
				o.Progress(use.Name.V, (float64(i)+part)/float64(len(uses)))
			}
		}
		if err := e.run(ctx, o, use, seed, progress, r); err != nil {
			return nil, fmt.Errorf("%s, %s on %s: %w", e.ID, use.Name.V, o.World, err)
		}
		metrics[use.Name.V] = r.Runs[i].Metrics
	}
	for _, c := range e.Claims {
		r.Claims = append(r.Claims, c.judge(metrics))
	}
	if o.World == "sim" && !o.Quick {
		err = e.tryAlternatives(ctx, o, seed, metrics, r)
	}
	return r, err
}

// tryAlternatives runs the other choices for the schemes of this replay.
func (e *Experiment) tryAlternatives(ctx context.Context, o Options, seed uint64, wanted map[string]Metrics, r *Result) error {
	for _, use := range e.Alternatives {
		if _, ok := wanted[use.Name.V]; !ok {
			continue
		}
		var aside Result
		if err := e.run(ctx, o, use, seed, func(float64) {}, &aside); err != nil {
			return fmt.Errorf("%s, an alternative of %s: %w", e.ID, use.Name.V, err)
		}
		a := Alternative{Scheme: use.Name.V, Params: map[string]string{}, Metrics: aside.Runs[0].Metrics}
		for name, p := range use.Params {
			a.Params[name] = p.Value.V
		}
		r.alternatives = append(r.alternatives, a)
	}
	return nil
}

// choose returns the experiment's schemes that are wanted.
func (e *Experiment) choose(names []string) ([]SchemeUse, error) {
	if names == nil {
		return e.Schemes, nil
	}
	var uses []SchemeUse
	for _, name := range names {
		i := slices.IndexFunc(e.Schemes, func(u SchemeUse) bool { return u.Name.V == name })
		if i < 0 {
			return nil, fmt.Errorf("%s has no scheme %q (it has %s)", e.ID, name, e.schemeNames())
		}
		uses = append(uses, e.Schemes[i])
	}
	return uses, nil
}

func (e *Experiment) schemeNames() (s string) {
	for i, u := range e.Schemes {
		if i > 0 {
			s += ", "
		}
		s += u.Name.V
	}
	return s
}

// newWorld makes an empty world.
func newWorld(o Options) (dataplane.World, error) {
	switch o.World {
	case "sim":
		return sim.New(), nil
	case "dpdk":
		return dpdk.New(dpdk.Options{Dilation: o.Dilation})
	}
	return nil, fmt.Errorf("there is no world %q (sim or dpdk)", o.World)
}

// run is one scheme in a world of its own.
func (e *Experiment) run(ctx context.Context, o Options, use SchemeUse, seed uint64, progress func(float64), r *Result) (err error) {
	begin := time.Now()
	w, err := newWorld(o)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := w.Close(); err == nil {
			err = closeErr
		}
	}()
	n, err := e.setUp(w, use, seed)
	if err != nil {
		return err
	}
	watch, err := watchDynamics(e, n)
	if err != nil {
		return err
	}
	w.Every(e.Duration/100, func(now units.Time) { progress(float64(now) / float64(e.Duration)) })
	if err := w.Run(ctx, e.Duration); err != nil {
		return err
	}
	lost, hops := n.lost()
	run := Run{
		Scheme: use.Name.V, Metrics: watch.metrics(), PacketHops: hops, Virtual: w.Now().Seconds(),
		Invariants: Invariants{LostFrames: lost, ConservationOK: w.Audit() == nil},
	}
	if hash, ok := w.Hash(); ok {
		text := fmt.Sprintf("%016x", hash)
		run.TraceHash = &text
	}
	t := Timing{Scheme: use.Name.V, WallSeconds: time.Since(begin).Seconds()}
	if d, ok := w.(dpdk.World); ok {
		pace := d.Pace()
		t.Dilation, t.StretchedSeconds, t.LongestGap = o.Dilation, pace.Stretched.Seconds(), pace.LongestGap.Seconds()
	}
	r.Runs = append(r.Runs, run)
	if r.series != nil {
		r.series[use.Name.V] = &watch.series
	}
	r.timing = append(r.timing, t)
	return nil
}

// CheckSchemes says whether the experiment has all of these schemes.
func (e *Experiment) CheckSchemes(names []string) error {
	_, err := e.choose(names)
	return err
}
