package build

import (
	"cmp"
	"fmt"
	"slices"

	"photon/agent"
	"photon/lab/experiment"
	"photon/sim"
	"photon/units"
	"photon/wire"
)

// Flows that wait for others begin when their host knows that what they wait for has happened. A gate
// stands for what a host waits for, and belongs to it. It learns of events at its own host at once, and
// of others a signal's delay later, as if by a message that takes no time on links. Hosts may run at
// the same time, each in its part of the world: they look only at their own gates. Events for others are
// recorded, and handed over while no host runs, at least once per signal delay and so always in time.
// So the result does not depend on how the world is divided.

// waits are the gates of a network.
type waits struct {
	n       *Network
	gates   []gate
	behind  map[*experiment.Wait][]int32 // gates that wait for the end of another
	flows   map[moment][]int32           // gates that wait for something of a flow
	next    map[uint32][]uint64          // by flow: packets whose arrival a gate waits for, ascending
	arrived []units.Time                 // by flow: when its receiver had all of it
	delay   units.Time                   // of a signal
	far     [][]signal                   // by node: what its hosts have for others
	todo    [][]todo                     // by node: what comes of its gates that open, the next one last
	remote  bool                         // there is a gate that waits for something elsewhere
}

// gate is a Wait at work.
type gate struct {
	wait  *experiment.Wait
	need  int        // causes that are missing
	last  units.Time // the latest cause
	flows []int32    // that begin then
	open  bool
}

// moment is something of a flow for which gates wait.
type moment struct {
	flow    uint32
	what    experiment.Moment
	packets uint64 // of Passed
}

// signal is an event for a gate of another host.
type signal struct {
	at   units.Time
	gate int32
}

// todo is a flow that begins, or a gate of which a cause has happened.
type todo struct {
	flow, gate int32 // flow: noFlow if it is a gate
	at         units.Time
}

const noFlow = -1

// newWaits makes the gates that flows need; nil: no flow waits.
func newWaits(n *Network, e *experiment.Experiment, all *experiment.FlowList) *waits {
	if !e.Waiting() {
		return nil
	}
	flows := all.List()
	w := &waits{
		n: n, behind: map[*experiment.Wait][]int32{}, flows: map[moment][]int32{}, next: map[uint32][]uint64{},
		far: make([][]signal, len(n.Plan.Nodes)), todo: make([][]todo, len(n.Plan.Nodes)),
		arrived: make([]units.Time, len(flows)),
	}
	w.delay = e.SignalDelay(n.Plan, all)
	number := map[*experiment.Wait]int32{}
	type step struct {
		gate int32
		next int // of its causes
	}
	var path []step // a list: chains of millions are too long for a stack
	add := func(x *experiment.Wait) int32 {
		if i, ok := number[x]; ok {
			return i
		}
		i := int32(len(w.gates))
		number[x] = i
		g := gate{wait: x, need: x.Need}
		if g.need == 0 {
			g.need = len(x.After)
		}
		w.gates = append(w.gates, g)
		path = append(path, step{gate: i})
		return i
	}
	for i := range flows {
		if x := flows[i].Wait; x != nil {
			k := add(x)
			w.gates[k].flows = append(w.gates[k].flows, int32(i))
		}
		for len(path) > 0 {
			s := &path[len(path)-1]
			x, k := w.gates[s.gate].wait, s.gate
			if s.next == len(x.After) {
				path = path[:len(path)-1]
				continue
			}
			c := &x.After[s.next]
			s.next++
			w.remote = w.remote || c.Where(flows) != x.Host
			if c.Wait != nil {
				w.behind[c.Wait] = append(w.behind[c.Wait], k)
				add(c.Wait)
				continue
			}
			m := moment{flow: uint32(c.Flow), what: c.What}
			if c.What == experiment.Passed {
				payload := e.Parameters.Payload.Value.V
				m.packets = uint64((c.Bytes + payload - 1) / payload)
				list := w.next[m.flow]
				at, there := slices.BinarySearch(list, m.packets)
				if !there {
					w.next[m.flow] = slices.Insert(list, at, m.packets)
				}
			}
			w.flows[m] = append(w.flows[m], k)
		}
	}
	return w
}

// begin opens gates that wait for nothing, starts flows at known times, and arranges that
// signals are handed over.
func (w *waits) begin() error {
	for i := range w.gates {
		if g := &w.gates[i]; len(g.wait.After) == 0 {
			w.cause(0, g.wait.Host, int32(i), 0)
		}
	}
	for i, f := range w.n.Flows.All() {
		if f.Wait == nil {
			w.happened(0, f.From, moment{flow: uint32(i), what: experiment.Begun}, f.Start)
		}
	}
	if w.n.fault != nil {
		return w.n.fault
	}
	w.handOver(0)
	switch s, virtual := w.n.World.(*sim.World); {
	case !w.remote:
	case virtual: // hosts have something to hand over only when something happened
		s.EveryBusy(w.delay, func(now units.Time) units.Time {
			w.handOver(now)
			return units.Never
		})
	default:
		w.n.World.Every(w.delay, w.handOver)
	}
	return nil
}

// reached is called by a host when something happened to a flow.
func (w *waits) reached(node int, now units.Time, m agent.Milestone) {
	x := moment{flow: m.QP - 1}
	switch m.What {
	case agent.Acknowledged:
		x.what = experiment.Acknowledged
	case agent.Passed:
		x.what, x.packets = experiment.Passed, m.Packets
	case agent.Arrived:
		if w.arrived[x.flow] != 0 { // its receiver may have forgotten it, and got a packet twice
			return
		}
		x.what, w.arrived[x.flow] = experiment.Arrived, now
	}
	w.happened(now, node, x, now)
}

// nextOf returns after how many packets of a flow, more than so many, its receiver is to call reached.
func (w *waits) nextOf(_ wire.IP, qp uint32, packets uint64) uint64 {
	for _, p := range w.next[qp-1] {
		if p > packets {
			return p
		}
	}
	return 0
}

// happened passes an event of a flow to the gates that wait for it. The event's time may be in the future.
func (w *waits) happened(now units.Time, node int, m moment, at units.Time) {
	for _, i := range w.flows[m] {
		w.cause(now, node, i, at)
	}
}

// cause passes an event to a gate, at once if it is of the same node, and does all that comes of it there. That is kept
// in a list: chains of millions, of what a host computes, are too long for a stack.
func (w *waits) cause(now units.Time, node int, i int32, at units.Time) {
	list := &w.todo[node]
	base := len(*list)
	*list = append(*list, todo{noFlow, i, at})
	for len(*list) > base {
		t := (*list)[len(*list)-1]
		*list = (*list)[:len(*list)-1]
		if t.flow == noFlow {
			w.learns(node, t)
			continue
		}
		flow := w.n.Flows.At(int(t.flow))
		flow.Start = max(now, t.at)
		if err := w.n.addFlow(now, int(t.flow)); err != nil {
			w.fail(fmt.Errorf("flow %d of %s: %w", t.flow, flow.Group, err))
			*list = (*list)[:base]
			return
		}
		w.toGates(node, w.flows[moment{flow: uint32(t.flow), what: experiment.Begun}], flow.Start)
	}
}

// toGates puts gates in front of what is to be done: the first of them comes next.
func (w *waits) toGates(node int, gates []int32, at units.Time) {
	for _, i := range slices.Backward(gates) {
		w.todo[node] = append(w.todo[node], todo{noFlow, i, at})
	}
}

// learns counts a cause that has happened to a gate. If it opens, the flows that wait for it begin, and then gates that
// wait for it learn of it.
func (w *waits) learns(node int, t todo) {
	g := &w.gates[t.gate]
	if g.wait.Host != node {
		w.far[node] = append(w.far[node], signal{t.at, t.gate})
		return
	}
	if g.open {
		return
	}
	g.last = max(g.last, t.at)
	if g.need--; g.need > 0 {
		return
	}
	g.open = true
	at := g.last + g.wait.Delay
	w.toGates(node, w.behind[g.wait], at)
	for _, f := range slices.Backward(g.flows) {
		w.todo[node] = append(w.todo[node], todo{f, t.gate, at})
	}
}

// fail records why the run is invalid.
func (w *waits) fail(err error) {
	w.n.faults.Lock()
	defer w.n.faults.Unlock()
	w.n.setFault(err)
}

// handOver passes events of other hosts since the last call to gates, in the order of time and of nodes.
func (w *waits) handOver(now units.Time) {
	var all []signal
	for node := range w.far {
		all = append(all, w.far[node]...)
		w.far[node] = w.far[node][:0]
	}
	slices.SortStableFunc(all, func(a, b signal) int { return cmp.Compare(a.at, b.at) })
	for _, s := range all {
		w.cause(now, w.gates[s.gate].wait.Host, s.gate, s.at+w.delay)
	}
}
