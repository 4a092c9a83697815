package agent_test

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"

	"github.com/gopacket/gopacket/layers"

	"photon/agent"
	"photon/cnp"
	"photon/pfc"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// Flows of applications have the weights, limits and tenants that the rules say:
// of those that match, the first.
func TestNICRules(t *testing.T) {
	prefix := netip.MustParsePrefix
	b := newBench(t, func(c *agent.NICConfig) {
		c.Queue, c.FlowQueue = 1024, 200
		c.HoldFull = false
		c.Tenants = []ratelimit.Tenant{{Weight: 2}, {Weight: 2, Cap: 500 * units.Mbps}}
		c.Rules = []agent.FlowRule{
			{Port: 7, Proto: wire.ProtoUDP, Tenant: 2},
			{To: prefix("10.0.0.3/32"), Weight: 3},
			{From: prefix("10.0.0.1/32"), Port: 8, Limit: 200 * units.Mbps},
			{Proto: wire.ProtoTCP, Weight: 200}, // none is
			{QP: 4, Tenant: 1},                  // nor that
			{Port: 10, Tenant: 1},
			{Port: 11, Tenant: 1},
		}
	})
	for range 75 {
		for _, port := range []uint16{6, 7, 8, 10, 11} {
			b.receive(agent.Application, udpFrame(t, 1, 2, 5, port, dscp26, 1000))
		}
		for range 2 {
			b.receive(agent.Application, udpFrame(t, 1, 3, 5, 9, dscp26, 1000))
		}
	}
	// A port that sends one frame after the other.
	count := map[byte]int{}
	gap := rate.Serialize(1042 + wire.Overhead)
	begin, free := b.now, b.now
	for b.now < begin+100*gap {
		if b.now = max(b.nic.Next(b.now, agent.Wire), free); b.now > begin+100*gap {
			break
		}
		for _, f := range b.transmit1(agent.Wire) {
			count[f[37]]++
			free = b.now + gap
		}
	}
	// The cap is a twentieth of the port and the limit a fiftieth; the rest goes by
	// weights: 1 (port 6) to 3 (port 9) to 2 (ports 10 and 11 together).
	for port, want := range map[byte]int{6: 16, 7: 5, 8: 2, 9: 47, 10: 16, 11: 16} {
		if n := count[port]; n < want-2 || n > want+2 {
			t.Errorf("port %d sent %d of %v frames, expected about %d", port, n, count, want)
		}
	}
	b.nic.Close()
}

// transmit1 takes one frame at most.
func (b *nicBench) transmit1(port int) (frames [][]byte) {
	b.t.Helper()
	one := b.take(port, 1)
	b.audit()
	return one
}

// A rule that cannot be is refused.
func TestNICRuleErrors(t *testing.T) {
	for what, r := range map[string]agent.FlowRule{"weight": {Weight: 256}, "tenant": {Tenant: 1}, "limit": {Limit: -1}} {
		c := agent.NICConfig{}
		newBench(t, func(good *agent.NICConfig) { c = *good })
		c.Rules = []agent.FlowRule{r}
		if c.Check() == nil {
			t.Errorf("%s: it is taken", what)
		}
	}
}

// A NIC's CNPs leave, and PFC frames are obeyed, later by what is set.
func TestNICDelays(t *testing.T) {
	for _, delay := range []units.Time{0, 55 * units.Microsecond} {
		b := newBench(t, func(c *agent.NICConfig) {
			c.NPDelay, c.PauseDelay = delay, delay
			c.NP = cnp.NewDCQCN(cnp.DCQCNParams{Interval: ms}, 64)
		})
		at := b.now
		b.receive(agent.Wire, udpFrame(t, 2, 1, 5, 6, ce, 100))
		if next := b.nic.Next(b.now, agent.Wire); next != at+delay {
			t.Fatalf("delay %v: the CNP is due %v after the mark", delay, next-at)
		}
		b.now = at + delay
		expect(t, "CNPs", len(b.transmit(agent.Wire)), 1)
		xoff := pfc.Frame{Enable: 1 << 3}
		xoff.Quanta[3] = 0xFFFF
		f := make([]byte, pfc.FrameLen)
		xoff.Encode(f, mac(9))
		at = b.now
		b.receive(agent.Wire, f)
		frame := udpFrame(t, 1, 2, 5, 6, dscp26, 100)
		if delay > 0 {
			b.now = at + delay - 1
			b.receive(agent.Application, frame)
			expect(t, "before it is obeyed", len(b.transmit(agent.Wire)), 1)
		}
		b.now = at + delay
		b.receive(agent.Application, frame)
		expect(t, "paused", len(b.transmit(agent.Wire)), 0)
		b.nic.Close()
	}
}

// A wire that flows of a high priority fill has places for what finds hosts, but no more than every second one.
func TestNICFlowsDoNotSilenceTheRest(t *testing.T) {
	b := newBench(t, nil)
	for range 40 {
		b.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, dscp26, 1000), udpFrame(t, 1, 2, 7, 8, dscp26, 1000))
	}
	arp := append(serialize(t, eth(mac(1), wire.Broadcast, layers.EthernetTypeARP)), make([]byte, 46)...)
	// next are the frames that leave at the link's rate, as it becomes free: whether each is an ARP.
	next := func(n int) (arps []bool) {
		for range n {
			got := b.take(agent.Wire, 1)
			if len(got) != 1 {
				t.Fatal("the wire is idle")
			}
			arps = append(arps, bytes.Equal(got[0], arp))
			b.now += rate.Serialize(units.Size(len(got[0])) + wire.Overhead)
		}
		return arps
	}
	next(10)
	b.receive(agent.Application, arp)
	if got := next(2); got[0] == got[1] {
		t.Errorf("of two frames that left, ARP is %v", got)
	}
	b.receive(agent.Application, arp, arp, arp, arp, arp)
	before, ours := false, 0
	for i, is := range next(12) {
		if is && before {
			t.Errorf("frame %d is the second in turn that is no flow's", i)
		}
		if before = is; is {
			ours++
		}
	}
	expect(t, "ARPs among twelve frames", ours, 5)
	// A pause of the flows' priority holds nothing else.
	b.receive(agent.Application, arp)
	stop := pfc.Frame{Enable: 1 << 3}
	stop.Quanta[3] = pfc.MaxQuanta
	xoff := make([]byte, pfc.FrameLen)
	stop.Encode(xoff, mac(9))
	b.receive(agent.Wire, xoff)
	expect(t, "frames while the flows are paused", len(b.take(agent.Wire, 9)), 1)
}

// An application that takes frames more slowly than they come gets those of every priority, in their order.
func TestNICPrioritiesTakeTurns(t *testing.T) {
	b := newBench(t, nil)
	for i := range 6 {
		b.receive(agent.Wire, udpFrame(t, 2, 1, 5, uint16(100+i), dscp26, 100), udpFrame(t, 2, 1, 5, uint16(200+i), 0, 100))
	}
	b.receive(agent.Wire, udpFrame(t, 2, 1, 5, 300, 56<<2, 100))
	var ports []int
	for range 13 {
		for _, f := range b.take(agent.Application, 1) {
			ports = append(ports, int(f[36])<<8|int(f[37]))
		}
	}
	want := []int{300, 100, 200, 101, 201, 102, 202, 103, 203, 104, 204, 105, 205}
	if !slices.Equal(ports, want) {
		t.Errorf("%v, not %v", ports, want)
	}
	expect(t, "frames that wait", b.nic.Queued(), 0)
}
