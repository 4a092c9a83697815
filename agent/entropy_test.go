package agent_test

import (
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/units"
	"photon/wire"
)

// portsOf sends flows under a kind of entropy and returns the source ports of their packets, in order.
func portsOf(t *testing.T, e agent.Entropy, send func(p *pair)) (ports []uint16) {
	t.Helper()
	p := newPair(t, cnp.Silent{}, func(c *agent.Config) {
		c.Entropy = e
		c.Selective = &agent.Selective{Window: 100, Reorder: 10}
	})
	p.wire.drop = func(b []byte) bool {
		var h wire.Header
		if wire.Parse(b, &h); h.BTH > 0 && wire.BTH(b[h.BTH:]).Opcode() <= wire.OpSendOnly {
			ports = append(ports, uint16(b[h.BTH-8])<<8|uint16(b[h.BTH-7]))
		}
		return false
	}
	send(p)
	p.run(10 * ms)
	for _, r := range p.a.TakeResults() {
		if r.Why != nil || r.Repeated > 0 {
			t.Errorf("queue pair %d: %v, %d packets again", r.QP, r.Why, r.Repeated)
		}
	}
	return ports
}

func different(ports []uint16) int {
	set := map[uint16]bool{}
	for _, p := range ports {
		if p < 0xC000 {
			return -1 // not of the dynamic range
		}
		set[p] = true
	}
	return len(set)
}

// A flow has one source port; with entropy by packet each packet has another, until all were used; by flowlet what is
// sent without a gap has one.
func TestEntropy(t *testing.T) {
	long := func(p *pair) { p.send(1, 500*units.KB, 0) }
	if ports := portsOf(t, agent.Entropy{}, long); len(ports) != 500 || different(ports) != 1 {
		t.Errorf("by flow: %d ports in %d packets", different(ports), len(ports))
	}
	if ports := portsOf(t, agent.Entropy{By: agent.PerPacket}, long); len(ports) != 500 || different(ports) != 500 {
		t.Errorf("by packet: %d ports in %d packets", different(ports), len(ports))
	}
	flowlets := agent.Entropy{By: agent.PerFlowlet, Gap: 100 * units.Microsecond}
	if ports := portsOf(t, flowlets, long); len(ports) != 500 || different(ports) != 1 {
		t.Errorf("by flowlet, without gaps: %d ports in %d packets", different(ports), len(ports))
	}
	slow := func(p *pair) { // a frame in 108 us
		p.send(1, 20*units.KB, 0)
		p.rps[0].rate = 80 * units.Mbps
	}
	if ports := portsOf(t, flowlets, slow); len(ports) != 20 || different(ports) < 19 {
		t.Errorf("by flowlet, a gap before each: %d ports in %d packets", different(ports), len(ports))
	}
}

func TestEntropyErrors(t *testing.T) {
	var c agent.Config
	p := newPair(t, cnp.Silent{}, func(x *agent.Config) { c = *x })
	for e, want := range map[agent.Entropy]bool{
		{}: true, {By: agent.PerPacket}: true, {By: agent.PerFlowlet, Gap: 1}: true,
		{By: 3}: false, {By: agent.PerFlowlet}: false, {By: agent.PerPacket, Gap: 1}: false, {Gap: 1}: false,
	} {
		c.Entropy = e
		if _, err := agent.New(c, p.NewEnvs(1)[0]); (err == nil) != want {
			t.Errorf("%+v: %v", e, err)
		}
	}
}
