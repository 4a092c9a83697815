package run

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/internal/memory"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/remote"
	"photon/pfc"
	"photon/scheme"
	"photon/sim"
	"photon/units"
)

// runResult is what a single run yields.
type runResult struct {
	metrics    measure.Metrics
	series     measure.Series
	ended      iter.Seq[measure.Ended]
	invariants Invariants
	hash       string
	hops       uint64
	dataHops   uint64
	events     uint64
	frames     int
	virtual    float64
	notes      []string
	remarks    []string // what nodes and their machines did in this run, and may not do in that of another seed
	timing     Timing
}

// mostGarbage is how much of it there is while a world runs, which needs little new: 256 MiB.
const mostGarbage = 256 << 20

// newWorld makes an empty world.
func newWorld(o Options, e *experiment.Experiment, seed uint64) (fabric.World, error) {
	switch o.World {
	case "sim":
		w := sim.New()
		w.SetParts(o.Cores)
		return w, nil
	case "dpdk":
		n, err := frameBuffers(e, seed)
		if err != nil {
			return nil, err
		}
		return dpdk.New(dpdk.Options{Dilation: o.Dilation, Frames: n, Most: mostBuffers})
	}
	return nil, fmt.Errorf("there is no world %q (%s)", o.World, strings.Join(experiment.Worlds, " or "))
}

// single is one scheme in a world of its own, with one seed.
type single struct {
	e        *experiment.Experiment
	o        Options
	use      experiment.SchemeUse
	seed     uint64
	observer build.Observer
	watcher  Watcher // nil: none
	capture  Capture // nil: none
	name     string
	progress func(part float64)
	frugal   func() // ends what memory.Frugal began
}

func (s *single) run(ctx context.Context) (r runResult, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = build.Recovered(why, "photon/lab/run.(*single).run")
		}
	}()
	if s.o.Testbed != nil {
		return s.onTestbed(ctx)
	}
	defer func() { s.frugal() }() // when the network is nobody's any more
	s.frugal = func() {}
	return s.inWorld(ctx)
}

// inWorld is the run in a world of its own.
func (s *single) inWorld(ctx context.Context) (r runResult, err error) {
	begin := time.Now()
	w, err := newWorld(s.o, s.e, s.seed)
	if err != nil {
		return r, err
	}
	defer func() {
		if closeErr := w.Close(); err == nil {
			err = closeErr
		}
	}()
	n, err := build.Build(s.e, w, s.use, s.seed, s.observer)
	if err != nil {
		return r, err
	}
	watch, err := measure.Start(s.e, n)
	if err != nil {
		return r, err
	}
	if err := n.Schedule(s.e); err != nil {
		return r, err
	}
	if s.capture != nil {
		end, err := s.capture.Begin(n, s.name)
		if err != nil {
			return r, err
		}
		defer end()
	}
	n.WatchPauses()
	if s.watcher != nil {
		s.watcher.Watch(s.e, n)
	}
	w.Every(max(1, s.e.Duration/100), func(now units.Time) { s.progress(float64(now) / float64(s.e.Duration)) })
	if s.observer.Running != nil {
		s.observer.Running(true)
	}
	s.frugal = memory.Frugal(mostGarbage)
	err = w.Run(ctx, s.e.Duration)
	n.ReportPauses()
	n.Flows.DrawRest()
	if s.observer.Running != nil {
		s.observer.Running(false)
	}
	if err = cmp.Or(err, n.Fault()); err != nil {
		return r, err
	}
	watch.Finish()
	lost, hops := n.Lost()
	r = runResult{
		metrics: watch.Metrics(), series: watch.Series, ended: measure.EndedFlows(s.e, n, s.seed),
		hops: hops, virtual: w.Now().Seconds(),
		notes: slices.Concat(notes(s.e, n, s.use), watch.Unfinished(), watch.Lasting()),
	}
	r.invariants.LostFrames, r.invariants.Discarded = lost, n.Discarded()
	if err := w.Audit(); err != nil {
		r.invariants.Why = err.Error()
	} else {
		r.invariants.ConservationOK = true
	}
	if first, ok := n.FirstLoss(); ok {
		r.invariants.Why = first.String()
	}
	r.dataHops = n.DataHops()
	if v, ok := w.(*sim.World); ok {
		r.events, r.frames = v.Events(), v.Frames()
	}
	if hash, ok := w.Hash(); ok {
		r.hash = fmt.Sprintf("%016x", hash)
	}
	r.timing = Timing{Scheme: s.use.Key(), WallSeconds: time.Since(begin).Seconds()}
	if d, ok := w.(dpdk.World); ok {
		pace := d.Pace()
		r.timing.Dilation, r.timing.StretchedSeconds, r.timing.LongestGap = s.o.Dilation, pace.Stretched.Seconds(), pace.LongestGap.Seconds()
		r.remarks = exhausted(pace)
	}
	return r, nil
}

// exhausted says that nodes could not make frames, not even XOFFs, for want of memory. Virtual time has no such limit.
func exhausted(p dpdk.Pace) []string {
	if p.Exhausted == units.Never {
		return nil
	}
	return []string{fmt.Sprintf("all %d frame buffers of DPDK were in use, first at %v: from then on hosts and switches "+
		"lacked some for what they had to send, unlike in virtual time (larger packets, or less that queues up: "+
		"a lower xoff)", p.Frames, p.Exhausted)}
}

// onTestbed is the same on a testbed: the nodes run, record, and are read; what they
// recorded is measured as it would have been on the way.
func (s *single) onTestbed(ctx context.Context) (r runResult, err error) {
	begin := time.Now()
	b, err := remote.Start(ctx, s.e, s.o.Testbed, s.use, s.seed)
	if err != nil {
		return r, err
	}
	defer func() {
		if stopErr := b.Stop(); err == nil {
			err = stopErr
		}
	}()
	if err := b.Run(ctx, s.progress); err != nil {
		return r, err
	}
	n, err := b.Read(ctx)
	if err != nil {
		return r, err
	}
	watch, err := measure.Start(s.e, n)
	if err != nil {
		return r, err
	}
	if s.watcher != nil {
		s.watcher.Watch(s.e, n)
	}
	b.Play()
	if err := b.Results(ctx); err != nil {
		return r, err
	}
	watch.Finish()
	lost, hops := b.Lost()
	r = runResult{
		metrics: watch.Metrics(), series: watch.Series, ended: measure.EndedFlows(s.e, n, s.seed),
		hops: hops, virtual: s.e.Duration.Seconds(),
		invariants: Invariants{
			LostFrames: lost, Discarded: n.Discarded(), ConservationOK: b.Balanced(), Why: b.FirstLoss(),
		},
		notes:   slices.Concat(notes(s.e, n, s.use), watch.Unfinished(), watch.Lasting()),
		remarks: b.Notes(),
	}
	r.timing = Timing{Scheme: s.use.Key(), WallSeconds: time.Since(begin).Seconds(), Dilation: 1,
		StartSkew: b.Skew().Seconds(), SampleDelay: b.Late().Seconds()}
	return r, nil
}

// notes say why flow control or marking never acted.
func notes(e *experiment.Experiment, n *build.Network, use experiment.SchemeUse) (notes []string) {
	peak, waits, marked, sent, now := units.Size(0), uint64(0), uint64(0), uint64(0), n.World.Now()
	for _, s := range n.Switches {
		for port, p := range s.Stats(now).Ports {
			for prio, b := range p.Ingress.Peak {
				if n.Lossless>>prio&1 != 0 { // nothing is paused for others
					peak = max(peak, b)
				}
				waits += p.Credits.Waits[prio]
				ce, _ := s.Marked(port, prio)
				marked += ce
				sent += p.CNMs[prio] + p.CNPs[prio]
			}
		}
	}
	switch c := e.Parameters.Credits(); {
	case c != nil && waits == 0:
		notes = append(notes, fmt.Sprintf("no switch ever waited for credits: no ingress port of one ever held more than %v of a lane's %v", peak, c.Buffer))
	case c == nil && n.Pauses() == 0 && !e.Parameters.Lossy():
		xoff := e.Parameters.XOFF.Value.V.String()
		if a := e.Parameters.Alpha.Value; a.V > 0 {
			xoff += fmt.Sprintf(" and %v of what is free of the buffer", a.V)
		}
		why := fmt.Sprintf("no ingress port of a switch ever held more than %v, and ", peak)
		if e.Parameters.Alpha.Value.V == 0 && peak > e.Parameters.XOFF.Value.V {
			why = "" // a switch that runs for longer than this experiment knows only its peak since its start
		}
		notes = append(notes, fmt.Sprintf("no PAUSE was sent: %sXOFF is %s", why, xoff))
	}
	if all := n.Discarded(); all > 0 && !e.Parameters.Lossy() {
		frames := "1 frame of a lossy priority"
		if all > 1 {
			frames = fmt.Sprintf("%d frames of lossy priorities", all)
		}
		notes = append(notes, fmt.Sprintf("switches discarded %s for want of room: flows whose acknowledgements "+
			"are among them end later, or never", frames))
	}
	var excused []string
	for why, frames := range n.Excused() {
		if frames > 0 {
			excused = append(excused, fmt.Sprintf("%d (%s)", frames, fabric.Reason(why)))
		}
	}
	if excused != nil {
		notes = append(notes, "switches discarded frames of lossless priorities because links fail or frames are "+
			"impaired, "+
			"and none of them counts as lost: "+strings.Join(excused, ", "))
	}
	notified, stopped, noWindow, allowed := uint64(0), 0, 0, units.Rate(0)
	for _, flow := range n.Flows.All() {
		f := n.StateOf(n.World.Now(), flow)
		notified += f.Notified
		switch {
		case f.Active && f.Rate <= 0:
			stopped, allowed = stopped+1, f.Rate
		case f.NoWindow:
			noWindow++
		}
	}
	if stopped > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d flows may send nothing at the end of the run: "+
			"the scheme's reaction point allows a rate of %v", stopped, n.Flows.Len(), allowed))
	}
	if noWindow > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d flows may send nothing at the end of the run: "+
			"the window of the scheme's reaction point is 0 or less", noWindow, n.Flows.Len()))
	}
	if recipe, err := scheme.Get(use.Name.V); notified == 0 && marked == 0 && err == nil && !recipe.Silent {
		notes = append(notes, "no reaction point was ever notified: "+whyUnnotified(n, sent))
	}
	return notes
}

// whyUnnotified says how close queues came to a notification, or that switches sent some, which nobody took: they
// were lost, or name no flow because data carries no CN-TAG (cnp.Carry).
func whyUnnotified(n *build.Network, sent uint64) string {
	if sent > 0 {
		return fmt.Sprintf("switches sent %d CNMs or CNPs, which were lost or name no flow of their sender's", sent)
	}
	peak := units.Size(0)
	for _, s := range n.Switches {
		for port := range s.Ports() {
			for prio := range pfc.Classes {
				if n.Data>>prio&1 != 0 {
					peak = max(peak, s.QueuePeak(port, prio))
				}
			}
		}
	}
	return fmt.Sprintf("no egress queue was ever longer than %v", peak)
}
