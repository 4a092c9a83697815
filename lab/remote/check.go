package remote

import (
	"cmp"
	"errors"
	"fmt"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/nodecontrol"
	"photon/lab/topology"
	"photon/telemetry/node"
	"photon/units"
	"photon/wire"
)

// testbedPlan is the plan and the flows of an experiment that a testbed can run.
func testbedPlan(e *experiment.Experiment, seed uint64) (*topology.Plan, *experiment.FlowList, error) {
	p, err := e.Plan()
	if err != nil {
		return nil, nil, err
	}
	flows, err := e.Sends(p, seed)
	if err != nil {
		return nil, nil, err
	}
	if err := refused(e); err != nil {
		return nil, nil, err
	}
	if every := e.Measure.Sample; every%node.WatchTick != 0 {
		return nil, nil, fmt.Errorf("a testbed samples at multiples of %v: sample is %v", node.WatchTick, every)
	}
	if e.Waiting() {
		return nil, nil, errors.New("agents of a testbed do not know of each other's flows: flows of this experiment wait for others")
	}
	for i := range p.Nodes {
		if p.Nodes[i].Host {
			continue
		}
		ends := p.Nodes[i].Ends
		for _, end := range ends {
			a, b := build.AlphaOf(&e.Parameters, ends[0].Link.Rate), build.AlphaOf(&e.Parameters, end.Link.Rate)
			if a != b {
				return nil, nil, fmt.Errorf("alpha_by_rate: ports of %s have alpha %v and %v: "+
					"switches of their own have one", p.Nodes[i].Name, a, b)
			}
		}
	}
	return p, flows, nil
}

// refused says what an experiment has of which a testbed's nodes know nothing. All else is in their files (config), in
// their orders, or compared with what they have (checkNode).
func refused(e *experiment.Experiment) error {
	p := &e.Parameters
	overhead := p.Overhead.Value
	switch {
	case len(e.Events) > 0:
		return errors.New("a testbed's links and flows do not change on the way: this experiment has events")
	case len(e.Impair) > 0:
		return errors.New("a testbed's links are as good as they are: impair is for one process and for virtual time")
	case p.Credits() != nil:
		return errors.New("credits are for the cables of one process and of virtual time: switches and agents of their own have PFC")
	case overhead.IsSet() && overhead.V != wire.Overhead:
		return fmt.Errorf("overhead: a frame takes %d bytes more on a testbed's links, not %d", wire.Overhead, overhead.V)
	}
	return nil
}

// Check says why the experiment cannot run on a testbed, as far as that is
// known before its nodes are asked.
func Check(e *experiment.Experiment, t nodecontrol.Testbed) error {
	for _, v := range e.Variants() {
		p, _, err := testbedPlan(v.Experiment, e.Seed)
		if err != nil {
			return err
		}
		var nodes []nodecontrol.Spec
		for i := range p.Nodes {
			nodes = append(nodes, specOf(p, i))
		}
		if err := t.Covers(nodes); err != nil {
			return err
		}
	}
	return nil
}

// specOf is what a plan says of a node.
func specOf(p *topology.Plan, i int) nodecontrol.Spec {
	w := nodecontrol.Spec{Name: p.Nodes[i].Name, Switch: !p.Nodes[i].Host}
	for _, end := range p.Nodes[i].Ends {
		w.Neighbour = append(w.Neighbour, p.Nodes[end.Node].Name)
	}
	return w
}

// checkNode says how a node contradicts the experiment.
func (b *Run) checkNode(i int, n *nodecontrol.Running) error {
	p, info := &b.e.Parameters, &n.Info
	if want := p.LosslessMask(); info.Lossless != want {
		return fmt.Errorf("its lossless priorities are %08b, the experiment's %08b (`pfc: {priorities: ...}`)", info.Lossless, want)
	}
	if b.plan.Nodes[i].Host && info.Payload != p.Payload.Value.V {
		return fmt.Errorf("its payload is %v, the experiment's %v", info.Payload, p.Payload.Value.V)
	}
	if err := b.checkPaths(i, info); err != nil {
		return err
	}
	if len(b.sends[i]) > 0 && p.AckEach.Value.V && info.AckEvery != 1 {
		acknowledged := "the last packet of a flow"
		if info.AckEvery > 0 {
			acknowledged = fmt.Sprintf("one packet in %d", info.AckEvery)
		}
		return fmt.Errorf("its agent has %s acknowledged, the experiment every one (`ack_every: 1`)", acknowledged)
	}
	for k, other := range b.nodes[:i] {
		if b.plan.Nodes[i].Host && b.plan.Nodes[k].Host && (other.Info.MAC == info.MAC || other.Info.IP == info.IP) {
			return fmt.Errorf("its address, %v or %v, is that of %s: they are one agent, or cannot be told apart",
				info.MAC, info.IP, other.Name)
		}
	}
	if info.Floods && b.plan.Loops() {
		return errors.New("it floods, and the experiment's links form a loop, in which such frames go round for ever " +
			"(`forwarding: {flood: false, broadcast: false, multicast: false}`)")
	}
	for port, end := range b.plan.Nodes[i].Ends {
		if rate := info.Rates[n.Port[port]]; rate != end.Link.Rate {
			return fmt.Errorf("its link to %s has %v, the experiment's %v", b.plan.Nodes[end.Node].Name, rate, end.Link.Rate)
		}
		if b.plan.Nodes[i].Host {
			continue
		}
		if err := checkThresholds(p, info, n.Port[port], end.Link.Rate); err != nil {
			return fmt.Errorf("port %s: %w", info.Ports[n.Port[port]], err)
		}
		if err := checkShapers(p, info, n.Port[port], end.Link.Rate); err != nil {
			return fmt.Errorf("port %s: %w", info.Ports[n.Port[port]], err)
		}
	}
	return nil
}

// checkPaths says how a node contradicts the experiment in which ways packets take, and in what is sent again: nodes
// that run have it in their files.
func (b *Run) checkPaths(i int, info *node.Info) error {
	p := &b.e.Parameters
	paths, entropy := p.Choice(0).String(), p.SourcePorts().String()
	switch host := b.plan.Nodes[i].Host; {
	case !host && info.Paths != paths && (p.Overtakes() || info.Paths != ""):
		return fmt.Errorf("it chooses paths by %s, the experiment by %s (`router: {paths: ...}`)",
			cmp.Or(info.Paths, "what it does not say"), paths)
	case host && len(b.sends[i]) > 0 && info.Entropy != entropy && (p.Overtakes() || info.Entropy != ""):
		return fmt.Errorf("its flows have UDP source ports by %s, the experiment's by %s (`entropy: ...`)",
			cmp.Or(info.Entropy, "what it does not say"), entropy)
	case host && p.Recovery.Value.V == experiment.Selective && info.Selective == "":
		return errors.New("it goes back to a packet that is missing, the experiment repeats what is lost " +
			"(`recovery: selective`)")
	}
	return nil
}

// checkThresholds says how a port of a switch pauses otherwise than the experiment's.
func checkThresholds(p *experiment.Parameters, info *node.Info, port int, link units.Rate) error {
	alpha := build.AlphaOf(p, link)
	if port >= len(info.Thresholds) {
		return errors.New("it does not say when it pauses: is its photon an older one?")
	}
	for prio, is := range info.Thresholds[port] {
		switch {
		case info.Lossless>>prio&1 == 0:
		case is.XOFF != p.XOFF.Value.V:
			return fmt.Errorf("its XOFF is %v, the experiment's %v (`pfc: {xoff: ...}`)", is.XOFF, p.XOFF.Value.V)
		case is.XON != p.XON.Value.V:
			return fmt.Errorf("its XON is %v, the experiment's %v (`pfc: {xon: ...}`)", is.XON, p.XON.Value.V)
		case is.Alpha != alpha && alpha == 0:
			return fmt.Errorf("its thresholds move (alpha %v), the experiment's do not (`pfc: {alpha: 0}`)", is.Alpha)
		case is.Alpha != alpha:
			return fmt.Errorf("its thresholds move by alpha %v, the experiment's by %v (`pfc: {alpha: %v}`)",
				is.Alpha, alpha, alpha)
		}
	}
	return nil
}

// checkShapers says how shapers make a link slower than the experiment's, for data or what answers it.
func checkShapers(p *experiment.Parameters, info *node.Info, port int, link units.Rate) error {
	if port >= len(info.Shapers) { // of an older photon
		return nil
	}
	used := p.LosslessMask() | 1<<(build.CNPDSCP>>3) | 1<<p.AckPriority.Value.Or(build.CNPDSCP>>3)
	for prio, rate := range info.Shapers[port] {
		if used>>prio&1 != 0 && rate > 0 && rate < link {
			return fmt.Errorf("a shaper lets %v of priority %d leave, the experiment's link has %v (`shaper: ...`)",
				rate, prio, link)
		}
	}
	return nil
}
