package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"photon/config"
	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/scheme"
	"photon/sim"
	"photon/units"
)

// one is what a single run yields.
type one struct {
	metrics    Metrics
	series     Series
	ended      []Ended
	invariants Invariants
	hash       string
	hops       uint64
	dataHops   uint64
	events     uint64
	frames     int
	virtual    float64
	notes      []string
	timing     Timing
}

// Ended is a flow that ended.
type Ended struct {
	Group    string
	From, To string
	Size     units.Size
	Start    units.Time
	FCT      units.Time
	Ideal    units.Time // in an empty network
	Flow     int        // its number among all flows
}

// choose returns the schemes that are wanted: the experiment's, with what it sets
// otherwise, or any other by its name.
func (e *Experiment) choose(o Options) ([]SchemeUse, error) {
	names := o.Schemes
	if names == nil && o.Quick {
		names = e.Quick.Schemes
	}
	if names == nil {
		return e.Schemes, nil
	}
	var uses []SchemeUse
	for _, name := range names {
		if i := slices.IndexFunc(e.Schemes, func(u SchemeUse) bool { return u.Name.V == name }); i >= 0 {
			uses = append(uses, e.Schemes[i])
			continue
		}
		if _, err := scheme.Get(name); err != nil {
			return nil, err
		}
		uses = append(uses, SchemeUse{Name: config.Set(name)})
	}
	return uses, nil
}

// CheckSchemes says whether there are such schemes.
func (e *Experiment) CheckSchemes(names []string) error {
	_, err := e.choose(Options{Schemes: names})
	return err
}

// newWorld makes an empty world.
func newWorld(o Options) (dataplane.World, error) {
	switch o.World {
	case "sim":
		w := sim.New()
		w.Parts(o.Cores)
		return w, nil
	case "dpdk":
		return dpdk.New(dpdk.Options{Dilation: o.Dilation})
	}
	return nil, fmt.Errorf("there is no world %q (%s)", o.World, strings.Join(worlds, " or "))
}

// run is one scheme in a world of its own.
func (e *Experiment) run(ctx context.Context, o Options, use SchemeUse, seed uint64, progress func(float64)) (r one, err error) {
	if o.Testbed != nil {
		return e.onTestbed(ctx, o, use, seed, progress)
	}
	begin := time.Now()
	w, err := newWorld(o)
	if err != nil {
		return r, err
	}
	defer func() {
		if closeErr := w.Close(); err == nil {
			err = closeErr
		}
	}()
	n, err := e.setUp(w, use, seed)
	if err != nil {
		return r, err
	}
	look, err := startWatch(e, n)
	if err != nil {
		return r, err
	}
	changes, err := e.changes(n)
	if err != nil {
		return r, err
	}
	n.happen(changes, e.Measure.Sample)
	n.watchQueues()
	n.watchPauses()
	if o.looks != nil {
		o.looks.watch(e, n)
	}
	w.Every(e.Duration/100, func(now units.Time) { progress(float64(now) / float64(e.Duration)) })
	if e.observer.Running != nil {
		e.observer.Running(true)
	}
	err = w.Run(ctx, e.Duration)
	n.tellPauses()
	if e.observer.Running != nil {
		e.observer.Running(false)
	}
	if err != nil {
		return r, err
	}
	look.finish()
	lost, hops := n.lost()
	r = one{
		metrics: look.metrics(), series: look.series, ended: n.ended(e), hops: hops, virtual: w.Now().Seconds(),
		invariants: Invariants{LostFrames: lost, ConservationOK: w.Audit() == nil}, notes: n.notes(e, use),
	}
	r.dataHops = n.dataHops()
	if v, ok := w.(*sim.World); ok {
		r.events, r.frames = v.Events(), v.Frames()
	}
	if hash, ok := w.Hash(); ok {
		r.hash = fmt.Sprintf("%016x", hash)
	}
	r.timing = Timing{Scheme: use.Name.V, WallSeconds: time.Since(begin).Seconds()}
	if d, ok := w.(dpdk.World); ok {
		pace := d.Pace()
		r.timing.Dilation, r.timing.StretchedSeconds, r.timing.LongestGap = o.Dilation, pace.Stretched.Seconds(), pace.LongestGap.Seconds()
	}
	return r, nil
}

// ended lists the flows that ended, in the order of their queue pairs.
func (n *network) ended(e *Experiment) (list []Ended) {
	ideal := newIdeal(e, n)
	for i := range n.flows {
		f := &n.flows[i]
		if !f.done || f.size == 0 {
			continue
		}
		list = append(list, Ended{
			Group: f.group, From: n.plan.Nodes[f.from].Name, To: n.plan.Nodes[f.to].Name, Size: f.size, Start: f.start,
			FCT: f.end - f.start, Ideal: ideal.time(f.from, f.to, f.size), Flow: i,
		})
	}
	return list
}

// notes say why PFC or marking never acted.
func (n *network) notes(e *Experiment, use SchemeUse) (notes []string) {
	if n.pauses() == 0 {
		peak := units.Size(0)
		now := n.world.Now()
		for _, s := range n.switches {
			for _, p := range s.Stats(now).Ports {
				for _, b := range p.Ingress.Peak {
					peak = max(peak, b)
				}
			}
		}
		notes = append(notes, fmt.Sprintf("no PAUSE was sent: no ingress port of a switch ever held more than %v, and XOFF is %v", peak, e.Parameters.XOFF.Value.V))
	}
	told := uint64(0)
	for i := range n.flows {
		told += n.flow(n.world.Now(), i).Notified
	}
	if recipe, err := scheme.Get(use.Name.V); told == 0 && err == nil && !recipe.Silent {
		peak := units.Size(0)
		for _, s := range n.switches {
			for port := range s.Ports() {
				peak = max(peak, s.QueuePeak(port, n.prio))
			}
		}
		notes = append(notes, fmt.Sprintf("no reaction point was ever notified: no egress queue was ever longer than %v", peak))
	}
	return notes
}
