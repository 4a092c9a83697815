package lab

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"photon/dataplane"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// What experiments that are made in code, not read from a file, are run with.

// Check finds what is wrong with an experiment that was made in code.
func (e *Experiment) Check() error {
	e.variants = []variant{{"", e}}
	return e.check()
}

// Outcome is what a single run yields.
type Outcome struct {
	Metrics    Metrics
	Ended      []Ended
	Invariants Invariants
	TraceHash  string  // of the simulator
	PacketHops uint64  // one is one data packet over one link
	Virtual    float64 // seconds in the world
	Notes      []string
	Wall       float64 // seconds
	DataHops   uint64  // data packets times the links of their shortest paths
	Events     uint64  // of the simulator
	Frames     int     // most of them in its network at a time
}

// RunOne runs one scheme of an experiment once, in a world of its own. It fails if
// frames were lost: the outcome is worth nothing then.
func (e *Experiment) RunOne(ctx context.Context, o Options, use SchemeUse, look Observer) (Outcome, error) {
	c := *e
	c.observer = look
	seed := o.Seed
	if seed == 0 {
		seed = e.Seed
	}
	progress := func(float64) {}
	if o.Progress != nil {
		progress = func(part float64) { o.Progress(Progress{Run: use.Name.V, Part: part}) }
	}
	r, err := c.run(ctx, o, use, seed, progress)
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{
		Metrics: r.metrics, Ended: r.ended, Invariants: r.invariants, TraceHash: r.hash, PacketHops: r.hops, Virtual: r.virtual,
		Notes: r.notes, Wall: r.timing.WallSeconds, DataHops: r.dataHops, Events: r.events, Frames: r.frames,
	}
	if r.invariants.LostFrames > 0 || !r.invariants.ConservationOK {
		err = errors.New("frames were lost: the result is worth nothing")
	}
	return out, err
}

// Observer is told what happens. Nodes are numbers of the topology.
type Observer struct {
	// Pause is told when a port is paused by its peer, and when it may send again: some
	// time later, in the order of time, of nodes and of ports.
	Pause func(now units.Time, node, port int, paused bool)
	// Queues is called every span, before what happens at that time; queue is what
	// waits at a port of a switch.
	Queues func(now units.Time, queue func(node, port int) units.Size)
	Span   units.Time
	// Running is called when the network stands and its clock begins to run, and
	// when it has stopped.
	Running func(begins bool)
}

// watchQueues arranges the calls of Queues.
func (n *network) watchQueues() {
	if n.observer.Queues == nil || n.observer.Span <= 0 {
		return
	}
	queue := func(node, port int) (sum units.Size) {
		for prio := range pfc.Classes {
			sum += n.switches[node].QueueBytes(port, prio)
		}
		return sum
	}
	n.world.Every(n.observer.Span, func(now units.Time) { n.observer.Queues(now, queue) })
}

// tap stands between a node and its world and sees what pauses its ports. Other nodes
// may run at the same time: it keeps what it has seen until none does.
type tap struct {
	dataplane.Node
	number int
	env    *dataplane.Env
	paused []uint8 // by port: priorities
	seen   []pauseSeen
}

type pauseSeen struct {
	at         units.Time
	node, port int
	paused     bool
}

func newTap(number int, node dataplane.Node, env *dataplane.Env, ports int) *tap {
	return &tap{Node: node, number: number, env: env, paused: make([]uint8, ports)}
}

// watchPauses has the observer told of pauses now and then.
func (n *network) watchPauses() {
	if len(n.taps) > 0 {
		n.world.Every(units.Millisecond, func(units.Time) { n.tellPauses() })
	}
}

// tellPauses tells the observer what the taps have seen.
func (n *network) tellPauses() {
	var all []pauseSeen
	for _, t := range n.taps {
		all = append(all, t.seen...)
		t.seen = t.seen[:0]
	}
	slices.SortStableFunc(all, func(a, b pauseSeen) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node), cmp.Compare(a.port, b.port))
	})
	for _, s := range all {
		n.observer.Pause(s.at, s.node, s.port, s.paused)
	}
}

// Receive looks for PFC frames. Pauses are refreshed in time, so that none ends
// by itself.
func (t *tap) Receive(now units.Time, port int, burst []dataplane.Frame) {
	for _, f := range burst {
		var h wire.Header
		var p pfc.Frame
		b := t.env.Header(f)
		if len(b) < wire.EthernetLen || b[12] != wire.TypeMACControl>>8 || b[13] != wire.TypeMACControl&0xFF || !wire.Parse(b, &h) || p.Decode(b) != nil {
			continue
		}
		for prio, quanta := range p.Quanta {
			bit := uint8(1) << prio
			if was := t.paused[port]&bit != 0; p.Enable&bit != 0 && was != (quanta > 0) {
				t.paused[port] ^= bit
				t.seen = append(t.seen, pauseSeen{now, t.number, port, quanta > 0})
			}
		}
	}
	t.Node.Receive(now, port, burst)
}
