package remote

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"photon/agent"
	"photon/config"
	"photon/dataplane"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/pfc"
	"photon/scheme"
	"photon/telemetry/node"
	"photon/units"
)

// config is the file of a node that the testbed starts.
func (b *Run) config(
	i int, known scheme.Network, s node.Scheme, device []string, admin string, delay bool, response units.Time,
) (string, error) {
	node, p := &b.plan.Nodes[i], &b.e.Parameters
	var t strings.Builder
	addLine := func(format string, args ...any) { fmt.Fprintf(&t, format+"\n", args...) }
	addLine("name: %s\nadmin: %s\nmetrics: \"off\"\nscheme:\n  name: %s", node.Name, admin, s.Name)
	if s.Priorities != nil && !node.Host {
		addLine("  priorities: [%s]", listed(s.Priorities))
	}
	if len(s.Params) > 0 {
		addLine("  params:")
		for _, name := range slices.Sorted(maps.Keys(s.Params)) {
			addLine("    %s: %q", name, s.Params[name])
		}
	}
	port := func(k int) string {
		line := fmt.Sprintf("{device: %q, rate: %v", device[k], node.Ends[k].Link.Rate)
		if !node.Host { // which has no headroom
			line += fmt.Sprintf(", cable_delay: %v", node.Ends[k].Link.Delay)
		}
		if delay {
			line += fmt.Sprintf(", delay: %v", node.Ends[k].Link.Delay)
		}
		return line + "}"
	}
	addLine("pfc:\n  priorities: [%s]", listed(pfc.Priorities(p.LosslessMask())))
	if node.Host {
		dscp := build.DSCPOf(p.Priority.Value.V)
		ack := uint8(build.CNPDSCP)
		if a := p.AckPriority.Value; a.IsSet() {
			ack = build.DSCPOf(a.V)
		}
		addLine("port: %s\nip: %v\nmac: %v\npayload: %v\ndata_dscp: %d\ncnp_dscp: %d\nack_dscp: %d\nack_timeout: %v\nnp_delay: %v\npause_delay: %v", port(0), topology.IP(i), topology.MAC(i, 0),
			p.Payload.Value.V, dscp, build.CNPDSCP, ack, p.Patience(), p.NPDelay.Value.V, p.PauseDelay.Value.V)
		n := 0
		for _, f := range b.flows {
			if f.From == i || f.To == i {
				n++
			}
		}
		addLine("ack_every: %d", ackEvery(p))
		addLine("send: %d\nreceive: %d", max(1, n), max(1, n))
		if r := p.Repeats(known); r != nil {
			addLine("recovery: selective\nwindow: %d\nreorder: %d", r.Window, r.Reorder)
			if r.LowTimeout > 0 {
				addLine("low_timeout: %v\nlow_packets: %d", r.LowTimeout, r.LowPackets)
			}
		}
		if e := p.SourcePorts(); e.By != agent.PerFlow {
			addLine("entropy: %s", agent.EntropyKinds[e.By])
			if e.Gap > 0 {
				addLine("flowlet_gap: %v", e.Gap)
			}
		}
		return t.String(), nil
	}
	addLine("  xoff: %v\n  xon: %v\n  response: %v", p.XOFF.Value.V, p.XON.Value.V, response+p.PauseDelay.Value.V)
	if a := build.AlphaOf(p, node.Ends[0].Link.Rate); a > 0 {
		addLine("  alpha: %v", a)
	}
	addLine("mtu: %d", int(p.MTU.Value.V))
	if q := p.LossyQueue.Value; q.IsSet() {
		addLine("lossy_queue: %v", q.V)
	}
	if in := p.LossyIngress.Value; in.IsSet() {
		addLine("lossy_ingress: {limit: %v}", in.V)
	}
	if a := p.LossyAlpha.Value; a.IsSet() {
		addLine("lossy_alpha: %v", a.V)
	}
	if c := p.Choice(0); c.By != dataplane.ByFlow {
		addLine("router:\n  paths:\n    by: %v", c.By)
		if c.Gap > 0 {
			addLine("    gap: %v", c.Gap)
		}
	}
	addLine("ports:")
	for k := range device {
		addLine("  - %s", port(k))
	}
	addLine("forwarding:")
	if b.plan.Loops() {
		addLine("  learn: false\n  flood: false\n  broadcast: false\n  multicast: false")
	}
	addLine("  static:")
	for _, to := range b.plan.Endpoints() {
		if ports := b.routes.Ports(i, to); len(ports) > 0 {
			addLine("    - {mac: %v, ports: [%s]}", topology.MAC(to, 0), listed(ports))
		}
	}
	buffer, err := b.buffer(i, t.String())
	if err != nil {
		return "", err
	}
	addLine("buffer: %v", buffer)
	return t.String(), nil
}

// buffer is what a switch that is started here has: as much that is shared as the experiment's switch, and what its own
// file, so far, sets aside. That is more than in the experiment, for what comes while the switch does not poll.
func (b *Run) buffer(i int, file string) (units.Size, error) {
	name := b.plan.Nodes[i].Name
	c, err := config.ParseSwitch(name, []byte(file))
	if err != nil {
		return 0, err
	}
	n, err := c.Resolve(nil)
	if err != nil {
		return 0, err
	}
	return b.shared(i) + n.Config.Reserved(), nil
}

// shared is how much of the buffer of the experiment's switch is set aside for nothing.
func (b *Run) shared(i int) units.Size {
	p := &b.e.Parameters
	size := p.Buffer.Value.V
	for _, end := range b.plan.Nodes[i].Ends {
		each := p.XOFF.Value.V + build.Headroom(p, b.plan, end, end.Link.Rate, 0)
		size -= units.Size(bits.OnesCount8(p.LosslessMask())) * each
	}
	return size
}

// listed are numbers as a file lists them.
func listed[T int | uint16](list []T) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
}

// ackEvery is an agent's: packets ask for acknowledgements if the scheme or the experiment wants them all, else the
// last of a flow alone.
func ackEvery(p *experiment.Parameters) int {
	if p.AckEach.Value.V {
		return 1
	}
	return 0
}
