package build

import (
	"cmp"
	"slices"

	"photon/dataplane"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

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

// WatchQueues arranges the calls of Queues.
func (n *Network) WatchQueues() {
	if n.observer.Queues == nil || n.observer.Span <= 0 {
		return
	}
	queue := func(node, port int) (sum units.Size) {
		for prio := range pfc.Classes {
			sum += n.Switches[node].QueueBytes(port, prio)
		}
		return sum
	}
	n.World.Every(n.observer.Span, func(now units.Time) { n.observer.Queues(now, queue) })
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

// WatchPauses has the observer told of pauses now and then.
func (n *Network) WatchPauses() {
	if len(n.taps) > 0 {
		n.World.Every(units.Millisecond, func(units.Time) { n.TellPauses() })
	}
}

// TellPauses tells the observer what the taps have seen.
func (n *Network) TellPauses() {
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
