package build

import (
	"cmp"
	"slices"

	"photon/fabric"
	"photon/pfc"
	"photon/sim"
	"photon/units"
)

// Observer has functions that are called at events. Nodes are numbers of the topology.
type Observer struct {
	// Pause is called for each time that a port was paused by its peer or may send again:
	// some time later, in the order of time, of nodes and of ports.
	Pause func(now units.Time, node, port int, paused bool)
	// Queued is called with how many bytes wait at a port of a switch whenever that changes. Calls for ports of one node come in
	// the order of time; those for ports of different nodes may be concurrent.
	Queued func(now units.Time, node, port int, bytes units.Size)
	// Running is called when the network is built and its clock starts, and
	// when it has stopped.
	Running func(begins bool)
}

// watchQueues makes a switch that is built with envs report its queues.
func (n *Network) watchQueues(node int, envs []*fabric.Env) {
	queued := n.observer.Queued
	if queued == nil {
		return
	}
	for _, env := range envs {
		env.Queued = func(now units.Time, port int, bytes units.Size) { queued(now, node, port, bytes) }
	}
}

// pauses are a node's reports of pauses of its ports. Other nodes may run at the same time, so reports are kept until
// none does.
type pauses struct {
	node    int
	paused  []uint8 // by port: priorities
	changes []pauseChange
}

type pauseChange struct {
	at         units.Time
	node, port int
	paused     bool
	number     int // of those that are reported together: what comes at one instant at a port stays in order
}

// compare puts changes in order. Most differ in their times.
func (a *pauseChange) compare(b *pauseChange) int {
	if a.at != b.at {
		return cmp.Compare(a.at, b.at)
	}
	return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.port, b.port), cmp.Compare(a.number, b.number))
}

// listen makes a node report its pauses.
func (n *Network) listen(node int, envs []*fabric.Env, ports int) {
	l := &pauses{node: node, paused: make([]uint8, ports)}
	for _, env := range envs {
		env.Paused = l.add
	}
	n.pauses = append(n.pauses, l)
}

// add notes what changes by a PFC frame. Pauses are refreshed in time, so that none ends by itself.
func (l *pauses) add(now units.Time, port int, f pfc.Frame) {
	for prio, quanta := range f.Quanta {
		bit := uint8(1) << prio
		if was := l.paused[port]&bit != 0; f.Enable&bit != 0 && was != (quanta > 0) {
			l.paused[port] ^= bit
			l.changes = append(l.changes, pauseChange{at: now, node: l.node, port: port, paused: quanta > 0})
		}
	}
}

// WatchPauses passes pauses to the observer at intervals.
func (n *Network) WatchPauses() {
	if len(n.pauses) > 0 {
		tell := func(units.Time) units.Time {
			n.ReportPauses()
			return units.Never
		}
		if w, ok := n.World.(*sim.World); ok {
			w.EveryBusy(units.Millisecond, tell)
			return
		}
		n.World.Every(units.Millisecond, func(now units.Time) { tell(now) })
	}
}

// ReportPauses passes the nodes' reports to the observer.
func (n *Network) ReportPauses() {
	var all []pauseChange
	for _, l := range n.pauses {
		all = append(all, l.changes...)
		l.changes = l.changes[:0]
	}
	for i := range all {
		all[i].number = i
	}
	slices.SortFunc(all, func(a, b pauseChange) int { return a.compare(&b) })
	for i := range all {
		s := &all[i]
		n.observer.Pause(s.at, s.node, s.port, s.paused)
	}
}
