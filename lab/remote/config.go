package remote

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/pfc"
	"photon/telemetry/node"
	"photon/units"
)

// config is the file of a node that the testbed starts.
func (b *Run) config(i int, s node.Scheme, device []string, admin string, delay bool, response units.Time) string {
	node, p := &b.plan.Nodes[i], &b.e.Parameters
	var t strings.Builder
	addLine := func(format string, args ...any) { fmt.Fprintf(&t, format+"\n", args...) }
	addLine("name: %s\nadmin: %s\nmetrics: \"off\"\nscheme:\n  name: %s", node.Name, admin, s.Name)
	if len(s.Params) > 0 {
		addLine("  params:")
		for _, name := range slices.Sorted(maps.Keys(s.Params)) {
			addLine("    %s: %q", name, s.Params[name])
		}
	}
	var lossless []string
	for prio := range pfc.Classes {
		if p.LosslessMask()>>prio&1 != 0 {
			lossless = append(lossless, fmt.Sprint(prio))
		}
	}
	port := func(k int) string {
		line := fmt.Sprintf("{device: %q, rate: %v, cable_delay: %v", device[k], node.Ends[k].Link.Rate, node.Ends[k].Link.Delay)
		if delay {
			line += fmt.Sprintf(", delay: %v", node.Ends[k].Link.Delay)
		}
		return line + "}"
	}
	addLine("pfc:\n  priorities: [%s]", strings.Join(lossless, ", "))
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
		return t.String()
	}
	addLine("  xoff: %v\n  xon: %v\n  response: %v", p.XOFF.Value.V, p.XON.Value.V, response+p.PauseDelay.Value.V)
	addLine("mtu: %d\nbuffer: %v", int(p.MTU.Value.V), b.buffer(i, response))
	if q := p.LossyQueue.Value; q.IsSet() {
		addLine("lossy_queue: %v", q.V)
	}
	if in := p.LossyIngress.Value; in.IsSet() {
		addLine("lossy_ingress: {limit: %v}", in.V)
	}
	addLine("ports:")
	for k := range device {
		addLine("  - %s", port(k))
	}
	addLine("forwarding:\n  static:")
	routes := b.plan.Routes()
	for _, to := range b.plan.Endpoints() {
		if ports := routes.Ports(i, to); len(ports) > 0 {
			addLine("    - {mac: %v, port: %d}", topology.MAC(to, 0), ports[0])
		}
	}
	return t.String()
}

// buffer is what a switch that is started here has: the experiment's, and room for what comes while it does not poll,
// of which the experiment's switches know nothing.
func (b *Run) buffer(i int, response units.Time) units.Size {
	p := &b.e.Parameters
	size := p.Buffer.Value.V
	for _, end := range b.plan.Nodes[i].Ends {
		size += units.Size(bits.OnesCount8(p.LosslessMask())) * end.Link.Rate.Bytes(response)
	}
	return size
}

// ackEvery is an agent's: packets ask for acknowledgements if the scheme or the experiment wants them all, else the
// last of a flow alone.
func ackEvery(p *experiment.Parameters) int {
	if p.AckEach.Value.V {
		return 1
	}
	return 0
}
