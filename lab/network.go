package lab

import (
	"fmt"

	"photon/agent"
	"photon/dataplane"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
)

// network is a plan that was built in a world.
type network struct {
	world    dataplane.World
	plan     *plan
	hosts    map[int]*agent.Host // by node of the plan
	switches map[int]*dataplane.Switch
	flows    []flowEnds
	prio     int
}

// flowEnds is a flow and where to look at it.
type flowEnds struct {
	from, to int // nodes of the plan
	slot     int // at the sender
	qp       uint32
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
	n := &network{world: w, plan: p, hosts: map[int]*agent.Host{}, switches: map[int]*dataplane.Switch{}, prio: e.Parameters.Priority.Value.V}
	for i := range p.nodes {
		parts, err := e.build(use, p, seed<<20^uint64(i))
		if err != nil {
			return nil, err
		}
		if p.nodes[i].host {
			err = n.addHost(e, i, parts)
		} else {
			err = n.addSwitch(e, i, parts)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.nodes[i].name, err)
		}
	}
	for _, c := range p.cables {
		a, b := dataplane.End{Node: c.a, Port: c.aPort}, dataplane.End{Node: c.b, Port: c.bPort}
		if err := w.Connect(a, b, e.link(c.delay)); err != nil {
			return nil, err
		}
	}
	return n, n.addFlows(e)
}

func (e *Experiment) link(delay units.Time) dataplane.Link {
	return dataplane.Link{Rate: e.Parameters.LinkRate.Value.V, Delay: delay}
}

// flowsOf counts the flows that a host sends and receives.
func (e *Experiment) flowsOf(name string) (sent, received int) {
	for _, f := range e.Flows {
		if f.From.V == name {
			sent += f.Count.Or(1)
		}
		if f.To.V == name {
			received += f.Count.Or(1)
		}
	}
	return sent, received
}

func (n *network) addHost(e *Experiment, i int, parts scheme.Parts) error {
	node := &n.plan.nodes[i]
	sent, received := e.flowsOf(node.name)
	received = max(received, 1)
	envs := n.world.NewEnvs(1)
	h, err := agent.New(agent.Config{
		MAC: macOf(i, 0), IP: ipOf(i), Link: e.link(node.ends[0].delay), Lossless: 1 << n.prio, DSCP: dataplane.DefaultDSCP(),
		DataDSCP:    uint8(n.prio<<3 | 2), // assured forwarding: 26 for priority 3
		ControlDSCP: cnpDSCP, AckDSCP: cnpDSCP, Carry: parts.Carry, Payload: int(e.Parameters.Payload.Value.V), AckTimeout: ackTimeout,
		Senders: sent, Receivers: received, Age: units.Second, NP: parts.NP(received), NewRP: parts.RP,
	}, envs[0])
	if err != nil {
		return err
	}
	n.hosts[i] = h
	n.world.Add(node.name, h, envs, []int{0})
	return nil
}

func (n *network) addSwitch(e *Experiment, i int, parts scheme.Parts) error {
	node, p := &n.plan.nodes[i], &e.Parameters
	c := dataplane.SwitchConfig{
		Lossless: 1 << n.prio, Buffer: p.Buffer.Value.V, Tail: units.MB, MTU: int(p.MTU.Value.V), DSCP: dataplane.DefaultDSCP(), PCP: dataplane.DefaultPCP(),
		Control: cnpDSCP >> 3,
		FDBSize: len(n.plan.nodes), CP: parts.CP,
	}
	c.PFC[n.prio] = pfc.Thresholds{XOFF: p.XOFF.Value.V, XON: p.XON.Value.V}
	for port, end := range node.ends {
		link := e.link(end.delay)
		c.Ports = append(c.Ports, dataplane.PortConfig{MAC: macOf(i, port), Link: link, Headroom: pfc.Headroom(link.Rate, link.Delay, 0, p.MTU.Value.V)})
	}
	for to := range n.plan.nodes {
		if ports := n.plan.routes(to)[i]; n.plan.nodes[to].host && len(ports) > 0 {
			c.Static = append(c.Static, dataplane.StaticEntry{MAC: macOf(to, 0), Ports: ports})
		}
	}
	envs := n.world.NewEnvs(node.ports())
	s, err := dataplane.NewSwitch(c, envs)
	if err != nil {
		return err
	}
	n.switches[i] = s
	n.world.Add(node.name, s, envs, make([]int, node.ports()))
	return nil
}

func (n *network) addFlows(e *Experiment) error {
	for _, f := range e.Flows {
		from, _ := n.plan.find(f.From.V)
		to, _ := n.plan.find(f.To.V)
		for range f.Count.Or(1) {
			qp := uint32(len(n.flows) + 1)
			slot, err := n.hosts[from].AddFlow(0, agent.FlowSpec{Peer: ipOf(to), PeerMAC: macOf(to, 0), QP: qp, Size: f.Size.V, Start: f.Start.V})
			if err != nil {
				return err
			}
			n.flows = append(n.flows, flowEnds{from, to, slot, qp})
		}
	}
	return nil
}

// sent is how many bytes of data the hosts have put on the wire.
func (n *network) sent() (sum uint64) {
	for _, h := range n.hosts {
		sum += h.DataSent()
	}
	return sum
}

// received is how many bytes of a flow arrived in order.
func (n *network) received(f flowEnds) uint64 {
	return n.hosts[f.to].Received(ipOf(f.from), f.qp).Bytes
}

// pauses is how many XOFF frames the switches have sent.
func (n *network) pauses() (sum uint64) {
	for _, s := range n.switches {
		sum += s.PausesSent()
	}
	return sum
}

// lost is how many frames of the lossless priority were discarded anywhere, and
// hops how many of them arrived at the end of a link.
func (n *network) lost() (lost, hops uint64) {
	count := func(st dataplane.Stats) {
		for i := range st.Ports {
			lost += st.Ports[i].Discarded()[n.prio]
			hops += st.Ports[i].RxFrames[n.prio]
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
