package build

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"

	"photon/agent"
	"photon/cnp"
	"photon/config"
	"photon/dataplane"
	"photon/fabric"
	"photon/impair"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/marking"
	"photon/pfc"
	"photon/scheme"
	"photon/sim"
	"photon/units"
	"photon/wire"
)

// Network is a plan that was built in a world, or recorded in one.
type Network struct {
	World    fabric.World
	Plan     *topology.Plan
	IDs      []int // in the world, by node of the plan
	Hosts    map[int]Host
	Switches map[int]Switch
	Flows    *Flows
	Priority int   // of data, unless a flow has another
	Lossless uint8 // priorities
	Data     uint8 // priorities of data, lossless or not

	acknowledged int // the priority of acknowledgements

	inOrder     []Host                         // the hosts by node of the plan: see Collect
	shares      map[uint32]marking.Share       // by flow hash
	due         dueHeap                        // flows that hosts do not know of yet
	over        []int32                        // that ended, and whose receivers know of them still
	stays       []bool                         // each of them, though its receiver was asked to forget it
	adding      []int32                        // flows that are due now
	dealt       [flowPortions][]int32          // what of either is in which portion
	configs     map[int]dataplane.SwitchConfig // of switches, as they are now
	down        topology.Down                  // links that failed
	failed      bool                           // one of them ever did
	speeds      map[experiment.Place][]speed   // that events give links: headroom is for what may come then
	converging  []topology.Down                // links that were down at each event that routes have not followed
	convergence units.Time                     // of routes
	overtakes   bool                           // packets of a flow may overtake each other
	stops       bool                           // flows are stopped
	weighted    bool                           // paths are chosen by what they can carry
	fault       error                          // of an event during the run
	faults      sync.Mutex                     // hosts may run at the same time
	waits       *waits                         // nil: no flow waits for another
	forgetful   bool                           // receivers are to forget flows that have ended
	observer    Observer
	impaired    map[int]map[int]impair.Spec // ports of nodes
	recorded    bool                        // nothing runs in its world: counters of whole hosts are not there
	pauses      []*pauses                   // of all nodes, if there is an observer of pauses
}

// Arrived is when a flow's receiver had all of it, in experiments whose flows wait for others; 0: it has not,
// or no flow waits.
func (n *Network) Arrived(flow int) units.Time {
	if n.waits == nil {
		return 0
	}
	return n.waits.arrived[flow]
}

// Arrivals are the same of all flows, by their numbers; nil: no flow waits for another.
func (n *Network) Arrivals() []units.Time {
	if n.waits == nil {
		return nil
	}
	return n.waits.arrived
}

// QP is the queue pair of a flow.
func QP(flow int) uint32 { return uint32(flow + 1) }

// Flow is what can be seen of a flow at its sender; Collect comes before it.
func (n *Network) Flow(now units.Time, i int) agent.FlowState {
	if o := n.Flows.short(i); o != nil { // probes read all flows of a group again and again
		return o.state()
	}
	return n.StateOf(now, n.Flows.At(i))
}

// StateOf is the same of a flow that is at hand.
func (n *Network) StateOf(now units.Time, f *Flow) agent.FlowState {
	switch {
	case f.Done, f.Stopped:
		return agent.FlowState{FlowCounts: agent.FlowCounts{Frames: f.Frames, Repeated: f.Repeated, Bytes: f.Bytes, Notified: f.Notified}}
	case f.There:
		return n.Hosts[f.From].Flow(now, int(f.Slot))
	}
	return agent.FlowState{}
}

// CNPDSCP is what CNPs have in all experiments: the usual default of RoCE, priority 6.
const CNPDSCP = 48

// Check finds what only shows when the network of an experiment is built, for every
// value of its sweep: switches without room for headroom, for example.
func Check(e *experiment.Experiment) error { return buildEach(e, func(*Network) {}) }

// buildEach builds the network for every value of the experiment's sweep, and shows it.
func buildEach(e *experiment.Experiment, show func(*Network)) error {
	for _, v := range e.Variants() {
		n, err := tryBuild(v)
		if err != nil {
			var located *config.Error
			if e.File() == "" || errors.As(err, &located) {
				return err
			}
			located = &config.Error{File: e.File(), Err: err}
			if errors.Is(err, dataplane.ErrBuffer) {
				located.Line = e.Parameters.Buffer.Value.Line
			}
			return located
		}
		show(n)
	}
	return nil
}

// tryBuild is Build of an experiment that is only looked at. It may be the first that calls the code of a scheme.
func tryBuild(v experiment.Variant) (n *Network, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("scheme %s: %w", v.Schemes[0].Name.V, Recovered(why, "photon/lab/build.tryBuild"))
		}
	}()
	return Build(v.Experiment, sim.New(), v.Schemes[0], v.Seed, Observer{})
}

// Build builds the experiment's network with a scheme in a world.
func Build(e *experiment.Experiment, w fabric.World, use experiment.SchemeUse, seed uint64, o Observer) (*Network, error) {
	p, err := e.Plan()
	if err != nil {
		return nil, err
	}
	flows, err := e.Sends(p, seed)
	if err != nil {
		return nil, err
	}
	n := Recorded(e, w, p)
	n.recorded, n.observer, n.overtakes, n.convergence = false, o, e.Parameters.Overtakes(), e.Parameters.Convergence.Value.V
	if n.impaired, err = e.Impairments(p, seed); err != nil {
		return nil, err
	}
	if n.speeds, err = speeds(e, p); err != nil {
		return nil, err
	}
	n.stops = flows.Stops
	known := e.Known(p, flows, 0)
	known.Shares = n.share
	n.waits = newWaits(n, e, flows)
	tagged := false // frames carry the number of their flow's slot
	n.weighted = e.Parameters.Weighted()
	routes := p.RoutesOver(nil, n.weighted)
	for i := range p.Nodes {
		known.Seed, known.Clock = seed<<20^uint64(i), clock(seed, i)
		if p.Nodes[i].Host {
			known.Line = p.Nodes[i].Ends[0].Link.Rate
		} else {
			known.Line = e.Parameters.LinkRate.Value.V
		}
		parts, err := use.Build(known)
		if err != nil {
			return nil, err
		}
		tagged = tagged || parts.Carry.Tag
		if parts.CP, err = use.CPs(known, parts.CP); err != nil {
			return nil, err
		}
		if p.Nodes[i].Host {
			err = n.addHost(e, i, parts, known, flows.Sent[i], flows.Received[i])
		} else {
			err = n.addSwitch(e, i, parts, known.Seed, routes)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Nodes[i].Name, err)
		}
	}
	for _, c := range p.Cables {
		a, b := fabric.End{Node: n.IDs[c.A], Port: c.APort}, fabric.End{Node: n.IDs[c.B], Port: c.BPort}
		if err := w.Connect(a, b, c.Link); err != nil {
			return nil, err
		}
	}
	return n, n.addFlows(e, flows, tagged)
}

// clock is how far ahead a node's clock is: as long as any period of a scheme, and more.
func clock(seed uint64, node int) units.Time {
	return units.Time(rand.New(rand.NewPCG(seed, 1<<40|uint64(node))).Int64N(int64(units.Second)))
}

// share is the weight and cap of a flow. A switch treats frames in the opposite
// direction, or of unknown flows, like those of any other flow.
func (n *Network) share(hash uint32, _ *marking.Packet) (s marking.Share, changed bool) {
	if s, ok := n.shares[hash]; ok {
		return s, true
	}
	return marking.Share{Weight: 1}, true
}

// Recorded is a network whose counters the caller fills in from a recording.
func Recorded(e *experiment.Experiment, w fabric.World, p *topology.Plan) *Network {
	return &Network{
		World: w, Plan: p, Hosts: map[int]Host{}, Switches: map[int]Switch{},
		Priority: e.Parameters.Priority.Value.V, Lossless: e.Parameters.LosslessMask(), Data: e.DataMask(),
		Flows: &Flows{}, shares: map[uint32]marking.Share{}, configs: map[int]dataplane.SwitchConfig{},
		down: topology.Down{}, recorded: true,
		acknowledged: e.Parameters.AckPriority.Value.Or(CNPDSCP >> 3),
	}
}

// Wrap may be set by tests: it puts something between a node and its world.
var Wrap = func(name string, node fabric.Node, _ []*fabric.Env) fabric.Node { return node }

// worker is which of a world's workers has a port.
func (n *Network) worker(port int) int {
	if _, ok := n.World.(*sim.World); ok {
		return port % n.World.Workers()
	}
	return 0
}

func (n *Network) add(i int, node fabric.Node, envs []*fabric.Env, ports int) {
	workers := make([]int, ports)
	for port := range workers {
		workers[port] = n.worker(port)
	}
	name := n.Plan.Nodes[i].Name
	if specs := n.impaired[i]; specs != nil {
		node = impair.New(node, envs, workers, specs, func(_ int, b []byte) int { return Priority(b) })
	}
	if n.observer.Pause != nil {
		n.listen(i, envs, ports)
	}
	n.IDs = append(n.IDs, n.World.Add(name, Wrap(name, node, envs), envs, workers))
}

// dscp is how all nodes take code points for priorities.
var dscp = dataplane.DefaultDSCP()

// Priority is that of a frame by its bytes; -1: it has none.
func Priority(b []byte) int {
	var h wire.Header
	if !wire.Parse(b, &h) || h.EtherType == wire.TypeMACControl {
		return -1
	}
	if h.L3 == 0 {
		return 0
	}
	return int(dscp[h.TOS>>2])
}

func (n *Network) addHost(e *experiment.Experiment, i int, parts scheme.Parts, known scheme.Network, sent, received int) error {
	received = max(received, 1)
	ackTo := uint8(CNPDSCP)
	if a := e.Parameters.AckPriority.Value; a.IsSet() {
		ackTo = DSCPOf(a.V)
	}
	parts.Carry.Ack = parts.Carry.Ack || e.Parameters.AckEach.Value.V
	np := parts.NP(0)
	_, elastic := np.(cnp.Elastic)
	if !elastic || !n.canWait() {
		np = parts.NP(received)
	}
	envs := n.World.NewEnvs(1)
	c := agent.Config{
		MAC: topology.MAC(i, 0), IP: topology.IP(i), Link: n.Plan.Nodes[i].Ends[0].Link, Lossless: e.Parameters.LosslessMask(), DSCP: dataplane.DefaultDSCP(),
		DataDSCP: DSCPOf(n.Priority), ControlDSCP: CNPDSCP, AckDSCP: ackTo, Carry: parts.Carry, Payload: int(e.Parameters.Payload.Value.V), AckTimeout: e.Parameters.Patience(),
		Credits: e.Parameters.Credits(), Selective: e.Parameters.Repeats(known), Entropy: e.Parameters.SourcePorts(),
		NPDelay: e.Parameters.NPDelay.Value.V, PauseDelay: e.Parameters.PauseDelay.Value.V,
		Senders: sent, Receivers: received, Age: units.Second, NP: np, NewRP: parts.RP, Elastic: elastic && n.canWait(),
	}
	if w := n.waits; w != nil {
		c.Reached, c.Next = func(now units.Time, m agent.Milestone) { w.reached(i, now, m) }, w.nextOf
	}
	h, err := agent.New(c, envs[0])
	if err != nil {
		return err
	}
	n.Hosts[i] = h
	n.add(i, h, envs, 1)
	return nil
}

// DSCPOf is a DSCP that has a priority: of assured forwarding, as 26 for priority 3.
func DSCPOf(prio int) uint8 { return uint8(prio<<3 | 2) }

// AlphaOf is the alpha of the dynamic thresholds of a port whose link has such a rate.
func AlphaOf(p *experiment.Parameters, rate units.Rate) float64 {
	a := p.Alpha.Value.V
	if p.AlphaByRate.Value.V {
		for ; rate > p.LinkRate.Value.V && a < 1; rate /= 2 {
			a *= 2
		}
	}
	return a
}

// Headroom is what a port of a switch needs for each lossless priority, whose link to another node has a rate. The peer
// may have so much behind what it sends that it obeys a pause later by the time that this takes.
func Headroom(
	p *experiment.Parameters, plan *topology.Plan, to topology.End, rate units.Rate, behind units.Time,
) units.Size {
	if plan.Nodes[to.Node].Host {
		behind += p.PauseDelay.Value.V
	}
	return pfc.Headroom(rate, to.Link.Delay, behind, units.Size(p.LongestFrame()))
}

func (n *Network) addSwitch(
	e *experiment.Experiment, i int, parts scheme.Parts, seed uint64, routes *topology.Routes,
) error {
	node, p := &n.Plan.Nodes[i], &e.Parameters
	c := dataplane.SwitchConfig{
		Lossless: p.LosslessMask(), Judged: e.DataMask() &^ p.LosslessMask(),
		Classes: dataplane.DefaultClasses(), MTU: int(p.MTU.Value.V),
		Buffer: p.Buffer.Value.V, Tail: p.LossyQueue.Value.Or(units.MB), Share: p.LossyAlpha.Value.V,
		Credits: p.Credits(), Control: CNPDSCP >> 3, Paths: p.Choice(seed), Salt: uint32(i + 1),
		FDBSize: len(n.Plan.Nodes), Actions: n.actions(), CP: parts.CP,
	}
	for prio := range pfc.Classes {
		if c.Lossless>>prio&1 != 0 {
			c.PFC[prio] = pfc.Thresholds{XOFF: p.XOFF.Value.V, XON: p.XON.Value.V}
		}
	}
	for port, end := range node.Ends {
		headroom := Headroom(p, n.Plan, end, end.Link.Rate, 0)
		for _, v := range n.speeds[experiment.Place{Node: i, Port: port}] {
			headroom = max(headroom, Headroom(p, n.Plan, end, v.rate, v.behind))
		}
		c.Ports = append(c.Ports, dataplane.PortConfig{
			MAC: topology.MAC(i, port), Link: end.Link, LossyLimit: p.LossyIngress.Value.V,
			Alpha: AlphaOf(p, end.Link.Rate), Worker: n.worker(port), Headroom: headroom,
		})
	}
	c.Static = static(n.Plan, routes, i)
	envs := n.World.NewEnvs(len(node.Ends))
	n.watchQueues(i, envs)
	s, err := dataplane.NewSwitch(c, envs)
	if err != nil {
		return err
	}
	n.Switches[i], n.configs[i] = s, c
	n.add(i, s, envs, len(node.Ends))
	return nil
}

// mostActions is how many actions all switches of a network remember together: a quarter of a gigabyte.
const mostActions = 1 << 23

// actions is how many one of them remembers.
func (n *Network) actions() int {
	return min(1<<16, mostActions/(len(n.Plan.Nodes)-len(n.Plan.Endpoints())))
}

// static are the entries of a switch that lead to all hosts.
func static(p *topology.Plan, routes *topology.Routes, from int) (list []dataplane.StaticEntry) {
	endpoints := p.Endpoints()
	list = make([]dataplane.StaticEntry, 0, len(endpoints))
	for _, to := range endpoints {
		if ports := routes.Ports(from, to); len(ports) > 0 {
			list = append(list, dataplane.StaticEntry{MAC: topology.MAC(to, 0), Ports: ports})
		}
	}
	return list
}

// addFlows adds the flows to their senders: those that can be added later, shortly before
// they start.
func (n *Network) addFlows(e *experiment.Experiment, flows *experiment.FlowList, tagged bool) error {
	if flows.Len() >= 1<<24 {
		return fmt.Errorf("%d flows: queue pairs have 24 bits", flows.Len())
	}
	n.Flows = newFlows(flows)
	var order []int32
	for _, r := range flows.Readers() {
		for i := r.Number(); i < r.End(); i++ {
			f := n.Flows.At(i)
			switch late := f.AddWhenDue && !tagged && n.canWait(); {
			case f.Wait != nil:
			case late && r.Drawn():
				n.due = append(n.due, dueFlows{next: i, end: r.End()})
				i = r.End()
			case late:
				order = append(order, int32(i))
			default:
				if err := n.addAtStart(i); err != nil {
					return err
				}
			}
		}
	}
	if len(order) > 0 {
		n.due = append(n.due, dueFlows{order: order})
	}
	if n.waits != nil {
		if err := n.waits.begin(); err != nil {
			return err
		}
	}
	return n.addWhenDue(leadOf(flows.Len(), e.Duration))
}

// addAtStart adds a flow before the world runs.
func (n *Network) addAtStart(i int) error {
	if err := n.addFlow(0, i); err != nil {
		return err
	}
	if f := n.Flows.At(i); f.Weight != 1 || f.Cap != 0 {
		n.shares[n.Hosts[f.From].Hash(int(f.Slot))] = marking.Share{Weight: f.Weight, Max: f.Cap}
	}
	return nil
}

// addFlow adds a flow to its sender.
func (n *Network) addFlow(now units.Time, i int) error {
	f := n.Flows.At(i)
	slot, err := n.Hosts[f.From].AddFlow(now, agent.FlowSpec{
		Peer: topology.IP(f.To), PeerMAC: topology.MAC(f.To, 0), QP: QP(i), Size: f.Size, Start: f.Start, Limit: f.Rate, Begin: f.Begin, DSCP: f.DSCP, Shared: f.Shared,
		FixedPSN: true, // each pair is used once: runs stay comparable if all begin with PSN 0
	})
	f.Slot, f.There = int32(slot), err == nil
	return err
}

// Collect takes the results of flows that ended since the last time.
func (n *Network) Collect() {
	if len(n.inOrder) != len(n.Hosts) { // only once: a run calls this ten thousand times per second of its time
		n.inOrder = n.inOrder[:0]
		for i := range n.Plan.Nodes {
			if h := n.Hosts[i]; h != nil {
				n.inOrder = append(n.inOrder, h)
			}
		}
	}
	for _, h := range n.inOrder {
		for _, r := range h.TakeResults() {
			f := n.Flows.At(int(r.QP - 1))
			f.keep(r.FlowCounts)
			f.End = r.End
			if r.Why != nil {
				f.Stopped = true // its sender gave up
				continue
			}
			f.Done = true
			if n.forgetful && f.AddWhenDue && r.Repeated == 0 { // no packet is still on its way
				n.over = append(n.over, int32(r.QP-1))
			}
		}
	}
}

// stop stops a flow that has not ended.
func (n *Network) stop(now units.Time, f *Flow) {
	n.Collect()
	if f.Done || f.Stopped { // its place may be another's
		return
	}
	h := n.Hosts[f.From]
	h.StopFlow(now, int(f.Slot))
	f.keep(h.Flow(now, int(f.Slot)).FlowCounts)
	f.Stopped, f.End = true, now
}

// DataSent is how many bytes of data the hosts have put on the wire.
func (n *Network) DataSent() (sum uint64) {
	for _, h := range n.Hosts {
		sum += h.DataSent()
	}
	return sum
}

// Received is how many bytes of a flow arrived in order.
func (n *Network) Received(i int) uint64 {
	if o := n.Flows.short(i); o != nil {
		return o.bytes()
	}
	f := n.Flows.At(i)
	if f.Forgot {
		return f.Bytes
	}
	return n.Hosts[f.To].Received(topology.IP(f.From), QP(i)).Bytes
}

// Pauses is how many XOFF frames the switches have sent.
func (n *Network) Pauses() (sum uint64) {
	for _, s := range n.Switches {
		sum += s.PausesSent()
	}
	return sum
}

// Lost is how many frames of the lossless priorities were discarded anywhere,
// and hops how many of those of data arrived at the end of a link.
func (n *Network) Lost() (lost, hops uint64) {
	excused := n.excused()
	count := func(st fabric.Stats) {
		for i := range st.Ports {
			discarded := st.Ports[i].Discarded()
			for why := range fabric.Reasons {
				if excused[why] {
					for prio := range pfc.Classes {
						discarded[prio] -= st.Ports[i].Discards[why][prio]
					}
				}
			}
			for prio := range pfc.Classes {
				if n.Lossless>>prio&1 != 0 {
					lost += discarded[prio]
				}
				if n.Data>>prio&1 != 0 {
					hops += st.Ports[i].RxFrames[prio]
				}
			}
		}
	}
	now := n.World.Now()
	for _, h := range n.Hosts {
		count(h.Stats(now))
	}
	for _, s := range n.Switches {
		count(s.Stats(now))
	}
	return lost, hops
}

// Discarded is how many frames of lossy priorities switches discarded for want of room, or by WRED.
func (n *Network) Discarded() uint64 { return n.discarded(^n.Lossless) }

func (n *Network) discarded(priorities uint8) (sum uint64) {
	for _, s := range n.Switches {
		for port := range s.Ports() {
			for prio := range pfc.Classes {
				if priorities>>prio&1 != 0 {
					sum += s.Discarded(port, prio)
				}
			}
		}
	}
	return sum
}

// DataHops is how many links the data packets that were sent go over.
func (n *Network) DataHops() (sum uint64) {
	now := n.World.Now()
	for _, f := range n.Flows.All() {
		sum += n.StateOf(now, f).Frames * uint64(len(n.Plan.Ways(f.From, f.To)))
	}
	return sum
}

// Select passes the flows of groups; "*" is all. What it passes is only valid until the next one.
func (n *Network) Select(groups []string) iter.Seq2[int, *Flow] {
	return func(yield func(int, *Flow) bool) {
		every := slices.Contains(groups, "*")
		for i, f := range n.Flows.All() {
			if (every || slices.Contains(groups, f.Group)) && !yield(i, f) {
				return
			}
		}
	}
}

// Notifications is how many CNPs and CNMs reached the reaction points.
func (n *Network) Notifications(now units.Time) (sum uint64) {
	if n.recorded {
		for _, f := range n.Flows.All() {
			sum += n.StateOf(now, f).Notified
		}
		return sum
	}
	for _, h := range n.Hosts {
		sum += h.Stats(now).RPHandled
	}
	return sum
}
