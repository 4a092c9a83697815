package lab

import (
	"fmt"

	"photon/agent"
	"photon/cnp"
	"photon/dataplane"
	"photon/lab/topology"
	"photon/marking"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
)

// network is a plan that was built in a world.
type network struct {
	world     dataplane.World
	plan      *topology.Plan
	ids       []int // in the world, by node of the plan
	hosts     map[int]host
	inOrder   []host // the same, by node of the plan: see collect
	switches  map[int]switchNode
	flows     []flowEnds
	prio      int                      // of data, unless a flow has another
	lossless  uint8                    // priorities
	shares    map[uint32]marking.Share // by flow hash
	late      []int32                  // flows that hosts do not know of yet, in the order of their starts
	over      []int32                  // that ended, and whose receivers know of them still
	forgetful bool                     // receivers are to forget flows that have ended
	observer  Observer
	taps      []*tap // of all nodes, if the observer is told of pauses
}

// flowEnds is a flow and where to look at it.
type flowEnds struct {
	flowPlan
	slot     int32 // at the sender; only if it is there
	there    bool  // the sender knows of it
	done     bool  // it has ended, and what follows is known; the slot may be another's
	forgot   bool  // by its receiver, which had everything that was sent
	end      units.Time
	frames   uint64
	bytes    uint64
	notified uint64
}

// qp is the queue pair of a flow.
func qp(flow int) uint32 { return uint32(flow + 1) }

// flow is what can be seen of a flow at its sender; collect comes before it.
func (n *network) flow(now units.Time, i int) agent.FlowState {
	switch f := &n.flows[i]; {
	case f.done:
		return agent.FlowState{Frames: f.frames, Bytes: f.bytes, Notified: f.notified}
	case f.there:
		return n.hosts[f.from].Flow(now, int(f.slot))
	}
	return agent.FlowState{}
}

const (
	cnpDSCP    = 48                     // the usual defaults of RoCE: CNPs on priority 6
	ackTimeout = 67 * units.Millisecond // a reliable connection's common timeout, 4.096 us * 2^14
)

// setUp builds the experiment's network with a scheme in a world.
func (e *Experiment) setUp(w dataplane.World, use SchemeUse, seed uint64) (*network, error) {
	p, err := e.plan()
	if err != nil {
		return nil, err
	}
	flows, err := e.flows(p, seed)
	if err != nil {
		return nil, err
	}
	n := &network{
		world: w, plan: p, hosts: map[int]host{}, switches: map[int]switchNode{}, prio: e.Parameters.Priority.Value.V, lossless: e.Parameters.lossless(),
		shares: map[uint32]marking.Share{}, observer: e.observer,
	}
	sent, received := make([]int, len(p.Nodes)), make([]int, len(p.Nodes))
	for _, f := range flows {
		sent[f.from]++
		received[f.to]++
	}
	known := e.network(p, flows, 0)
	known.Shares = n.share
	tagged := false // frames carry the number of their flow's slot
	routes := p.Routes()
	for i := range p.Nodes {
		known.Seed = seed<<20 ^ uint64(i)
		if p.Nodes[i].Host {
			known.Line = p.Nodes[i].Ends[0].Link.Rate
		} else {
			known.Line = e.Parameters.LinkRate.Value.V
		}
		parts, err := use.build(known)
		if err != nil {
			return nil, err
		}
		tagged = tagged || parts.Carry.Tag
		if parts.CP, err = use.byRate(known, parts.CP); err != nil {
			return nil, err
		}
		if p.Nodes[i].Host {
			err = n.addHost(e, i, parts, sent[i], received[i])
		} else {
			err = n.addSwitch(e, i, parts, routes[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Nodes[i].Name, err)
		}
	}
	for _, c := range p.Cables {
		a, b := dataplane.End{Node: n.ids[c.A], Port: c.APort}, dataplane.End{Node: n.ids[c.B], Port: c.BPort}
		if err := w.Connect(a, b, c.Link); err != nil {
			return nil, err
		}
	}
	return n, n.addFlows(flows, tagged)
}

// share is what a flow is entitled to; a switch that sees a flow's frames the
// other way round, or a stranger's, treats it as any other.
func (n *network) share(hash uint32) marking.Share {
	if s, ok := n.shares[hash]; ok {
		return s
	}
	return marking.Share{Weight: 1}
}

// lossless is the set of lossless priorities.
func (p *Parameters) lossless() (mask uint8) {
	mask = 1 << p.Priority.Value.V
	for _, prio := range p.Lossless.Value.V {
		mask |= 1 << prio
	}
	return mask
}

// wrap may be set by tests: it puts something between a node and its world.
var wrap = func(name string, node dataplane.Node, _ []*dataplane.Env) dataplane.Node { return node }

func (n *network) add(i int, node dataplane.Node, envs []*dataplane.Env, ports int) {
	name := n.plan.Nodes[i].Name
	if n.observer.Pause != nil {
		t := newTap(i, node, envs[0], ports)
		n.taps = append(n.taps, t)
		node = t
	}
	n.ids = append(n.ids, n.world.Add(name, wrap(name, node, envs), envs, make([]int, ports)))
}

func (n *network) addHost(e *Experiment, i int, parts scheme.Parts, sent, received int) error {
	received = max(received, 1)
	ackTo := uint8(cnpDSCP)
	if a := e.Parameters.AckPriority.Value; a.IsSet() {
		ackTo = dscpOf(a.V)
	}
	parts.Carry.Ack = parts.Carry.Ack || e.Parameters.AckEach.Value.V
	np := parts.NP(0)
	_, elastic := np.(cnp.Elastic)
	if !elastic || !n.canWait() {
		np = parts.NP(received)
	}
	envs := n.world.NewEnvs(1)
	h, err := agent.New(agent.Config{
		MAC: topology.MAC(i, 0), IP: topology.IP(i), Link: n.plan.Nodes[i].Ends[0].Link, Lossless: e.Parameters.lossless(), DSCP: dataplane.DefaultDSCP(),
		DataDSCP: dscpOf(n.prio), ControlDSCP: cnpDSCP, AckDSCP: ackTo, Carry: parts.Carry, Payload: int(e.Parameters.Payload.Value.V), AckTimeout: ackTimeout,
		NPDelay: e.Parameters.NPDelay.Value.V, PauseDelay: e.Parameters.PauseDelay.Value.V,
		Senders: sent, Receivers: received, Age: units.Second, NP: np, NewRP: parts.RP, Elastic: elastic && n.canWait(),
	}, envs[0])
	if err != nil {
		return err
	}
	n.hosts[i] = h
	n.add(i, h, envs, 1)
	return nil
}

// dscpOf is a DSCP that has a priority: of assured forwarding, as 26 for priority 3.
func dscpOf(prio int) uint8 { return uint8(prio<<3 | 2) }

// alpha is what a port's thresholds follow the free buffer by.
func (p *Parameters) alpha(rate units.Rate) float64 {
	a := p.Alpha.Value.V
	if p.AlphaByRate.Value.V {
		for ; rate > p.LinkRate.Value.V && a < 1; rate /= 2 {
			a *= 2
		}
	}
	return a
}

func (n *network) addSwitch(e *Experiment, i int, parts scheme.Parts, routes map[int][]uint16) error {
	node, p := &n.plan.Nodes[i], &e.Parameters
	c := dataplane.SwitchConfig{
		Lossless: p.lossless(), Buffer: p.Buffer.Value.V, Tail: units.MB, MTU: int(p.MTU.Value.V), DSCP: dataplane.DefaultDSCP(), PCP: dataplane.DefaultPCP(),
		Control: cnpDSCP >> 3, Salt: uint32(i + 1), FDBSize: len(n.plan.Nodes), CP: parts.CP,
	}
	for prio := range pfc.Classes {
		if c.Lossless>>prio&1 != 0 {
			c.PFC[prio] = pfc.Thresholds{XOFF: p.XOFF.Value.V, XON: p.XON.Value.V}
		}
	}
	for port, end := range node.Ends {
		response := units.Time(0)
		if n.plan.Nodes[end.Node].Host {
			response = p.PauseDelay.Value.V
		}
		c.Ports = append(c.Ports, dataplane.PortConfig{MAC: topology.MAC(i, port), Link: end.Link, Headroom: pfc.Headroom(end.Link.Rate, end.Link.Delay, response, p.MTU.Value.V), Alpha: p.alpha(end.Link.Rate)})
	}
	for _, to := range n.plan.Hosts() {
		if ports := routes[to]; len(ports) > 0 {
			c.Static = append(c.Static, dataplane.StaticEntry{MAC: topology.MAC(to, 0), Ports: ports})
		}
	}
	envs := n.world.NewEnvs(len(node.Ends))
	s, err := dataplane.NewSwitch(c, envs)
	if err != nil {
		return err
	}
	n.switches[i] = s
	n.add(i, s, envs, len(node.Ends))
	return nil
}

// addFlows tells the senders of the flows, or has those that can be told late
// told late.
func (n *network) addFlows(flows []flowPlan, tagged bool) error {
	if len(flows) >= 1<<24 {
		return fmt.Errorf("%d flows: queue pairs have 24 bits", len(flows))
	}
	n.flows = make([]flowEnds, len(flows))
	for i, f := range flows {
		n.flows[i].flowPlan = f
		if f.late && !tagged && n.canWait() {
			n.late = append(n.late, int32(i))
			continue
		}
		if err := n.addFlow(0, i); err != nil {
			return err
		}
		if h := n.hosts[f.from]; f.weight != 1 || f.cap != 0 {
			n.shares[h.Hash(int(n.flows[i].slot))] = marking.Share{Weight: f.weight, Max: f.cap}
		}
	}
	return n.addLate()
}

// addFlow tells a flow's sender of it.
func (n *network) addFlow(now units.Time, i int) error {
	f := &n.flows[i]
	slot, err := n.hosts[f.from].AddFlow(now, agent.FlowSpec{
		Peer: topology.IP(f.to), PeerMAC: topology.MAC(f.to, 0), QP: qp(i), Size: f.size, Start: f.start, Limit: f.rate, Begin: f.begin, DSCP: f.dscp, Shared: f.shared,
		FixedPSN: true, // each pair is used once: runs stay comparable if all begin with PSN 0
	})
	f.slot, f.there = int32(slot), err == nil
	return err
}

// collect takes the results of flows that ended since the last time.
func (n *network) collect() {
	if len(n.inOrder) != len(n.hosts) { // once: a run asks ten thousand times a second of its time
		n.inOrder = n.inOrder[:0]
		for i := range n.plan.Nodes {
			if h := n.hosts[i]; h != nil {
				n.inOrder = append(n.inOrder, h)
			}
		}
	}
	for _, h := range n.inOrder {
		for _, r := range h.TakeResults() {
			f := &n.flows[r.QP-1]
			if r.Why != nil {
				continue // its sender gave up
			}
			f.done, f.end, f.frames, f.bytes, f.notified = true, r.End, r.Frames, r.Bytes, r.Notified
			if n.forgetful && f.late && r.Repeated == 0 { // no packet is still on its way
				n.over = append(n.over, int32(r.QP-1))
			}
		}
	}
}

// sent is how many bytes of data the hosts have put on the wire.
func (n *network) sent() (sum uint64) {
	for _, h := range n.hosts {
		sum += h.DataSent()
	}
	return sum
}

// received is how many bytes of a flow arrived in order.
func (n *network) received(i int) uint64 {
	f := &n.flows[i]
	if f.forgot {
		return f.bytes
	}
	return n.hosts[f.to].Received(topology.IP(f.from), qp(i)).Bytes
}

// pauses is how many XOFF frames the switches have sent.
func (n *network) pauses() (sum uint64) {
	for _, s := range n.switches {
		sum += s.PausesSent()
	}
	return sum
}

// lost is how many frames of the lossless priorities were discarded anywhere,
// and hops how many of them arrived at the end of a link.
func (n *network) lost() (lost, hops uint64) {
	count := func(st dataplane.Stats) {
		for i := range st.Ports {
			discarded := st.Ports[i].Discarded()
			for prio := range pfc.Classes {
				if n.lossless>>prio&1 != 0 {
					lost += discarded[prio]
					hops += st.Ports[i].RxFrames[prio]
				}
			}
		}
	}
	now := n.world.Now()
	for _, h := range n.hosts {
		count(h.Stats(now))
	}
	for _, s := range n.switches {
		count(s.Stats(now))
	}
	return lost, hops
}

// dataHops is how many links the data packets that were sent go over.
func (n *network) dataHops() (sum uint64) {
	links := map[[2]int]uint64{}
	now := n.world.Now()
	for i := range n.flows {
		f := &n.flows[i]
		pair := [2]int{f.from, f.to}
		if _, ok := links[pair]; !ok {
			links[pair] = uint64(len(n.plan.Path(f.from, f.to)))
		}
		sum += n.flow(now, i).Frames * links[pair]
	}
	return sum
}
