package agent_test

import (
	"bytes"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"pgregory.net/rapid"

	"photon/agent"
	"photon/cnp"
	"photon/dataplane"
	"photon/fabric"
	"photon/pfc"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// nicBench is a NIC whose ports are in the test's hand. Application 1 is behind
// it; 2 is far away.
type nicBench struct {
	t    testing.TB
	pool *fabric.Pool
	env  *fabric.Env
	nic  *agent.NIC
	rps  []*rp
	now  units.Time
}

const (
	nicFrames = 1024
	nicSlot   = 2048
)

func newBench(t testing.TB, change func(*agent.NICConfig)) *nicBench {
	t.Helper()
	b := &nicBench{t: t, now: units.Second}
	b.pool = fabric.NewPool(make([]byte, nicFrames*nicSlot), nicSlot, 128, func(*fabric.Pool) {})
	slots := make([]uint32, nicFrames)
	for i := range slots {
		slots[i] = uint32(i * nicSlot / 64) // in units of 64 bytes
	}
	b.pool.SetSlots(slots)
	b.env = fabric.NewEnv(b.pool, 2)
	c := agent.NICConfig{
		Link: fabric.Link{Rate: rate}, MTU: 1500, MAC: mac(99), Known: []wire.MAC{mac(1)},
		Lossless: 1 << 3, Judged: 1 << 3, DSCP: dataplane.DefaultDSCP(), PCP: dataplane.DefaultPCP(),
		Flows: 64, FlowQueue: 64, Queue: 256, HoldFull: true, Age: units.Second, Period: ms, Carry: cnp.Carry{ECT: wire.ECT0}, ControlDSCP: 48,
		PFC: pfc.Thresholds{XOFF: 20 * units.KB, XON: 10 * units.KB, Headroom: 10 * units.KB}, Tail: 20 * units.KB, ClearCE: true, Receivers: 64,
		NP: cnp.NewDCQCN(cnp.DCQCNParams{Interval: ms}, 64),
		NewRP: func(*ratelimit.Port) ratelimit.RP {
			r := &rp{rate: rate}
			b.rps = append(b.rps, r)
			return r
		},
	}
	if change != nil {
		change(&c)
	}
	n, err := agent.NewNIC(c, b.env)
	if err != nil {
		t.Fatal(err)
	}
	b.nic = n
	return b
}

// receive hands frames to a port.
func (b *nicBench) receive(port int, frames ...[]byte) {
	b.t.Helper()
	for _, bytes := range frames {
		f, ok := b.pool.Alloc(len(bytes))
		if !ok {
			b.t.Fatal("no buffers")
		}
		copy(b.pool.Header(f), bytes)
		b.nic.Receive(b.now, port, []fabric.Frame{f})
	}
	b.audit()
}

// transmit takes what a port sends now.
func (b *nicBench) transmit(port int) (frames [][]byte) {
	b.t.Helper()
	frames = b.take(port, nicFrames)
	b.audit()
	return frames
}

// take takes so many frames at most.
func (b *nicBench) take(port, most int) (frames [][]byte) {
	var one [1]fabric.Frame
	for len(frames) < most && b.nic.Next(b.now, port) <= b.now && b.nic.Transmit(b.now, port, one[:]) == 1 {
		frames = append(frames, bytes.Clone(b.pool.Header(one[0])))
		b.pool.Free(one[0])
	}
	return frames
}

// transmitAll takes what the wire port sends until nothing waits any more.
func (b *nicBench) transmitAll() (frames [][]byte) {
	b.t.Helper()
	for b.nic.Queued() > 0 {
		frames = append(frames, b.transmit(agent.Wire)...)
		if next := b.nic.Next(b.now, agent.Wire); next < units.Never {
			b.now = max(b.now, next)
		}
	}
	return frames
}

// audit: every frame is accounted for, and every buffer free or with a queue.
func (b *nicBench) audit() {
	b.t.Helper()
	if err := b.nic.Audit(); err != nil {
		b.t.Fatal(err)
	}
	if n := len(b.pool.Slots()) + b.nic.Queued(); n != nicFrames {
		b.t.Fatalf("%d of %d buffers are left", n, nicFrames)
	}
}

func (b *nicBench) stats() fabric.Stats { return b.nic.Stats(b.now) }

// rates is what all flows together are allowed.
func (b *nicBench) rates() (sum units.Rate) {
	for i := range b.nic.Slots() {
		if f, ok := b.nic.Flow(b.now, i); ok {
			sum += f.Rate
		}
	}
	return sum
}

func (b *nicBench) discards(port int, why fabric.Reason) (sum uint64) {
	for _, n := range b.stats().Ports[port].Discards[why] {
		sum += n
	}
	return sum
}

func expect[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

func serialize(t testing.TB, l ...gopacket.SerializableLayer) []byte {
	t.Helper()
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, l...); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func hw(m wire.MAC) []byte { b := make([]byte, 6); m.Put(b); return b }

func eth(from, to wire.MAC, kind layers.EthernetType) *layers.Ethernet {
	return &layers.Ethernet{SrcMAC: hw(from), DstMAC: hw(to), EthernetType: kind}
}

// v4 is an IPv4 header between two applications.
func v4(from, to int, proto layers.IPProtocol, tos uint8) *layers.IPv4 {
	a, b := ip(from), ip(to)
	return &layers.IPv4{Version: 4, TTL: 64, SrcIP: a[12:], DstIP: b[12:], Protocol: proto, TOS: tos}
}

// udpFrame is a UDP packet from one application to another.
func udpFrame(t testing.TB, from, to int, sport, dport uint16, tos uint8, size int) []byte {
	t.Helper()
	l3 := v4(from, to, layers.IPProtocolUDP, tos)
	u := &layers.UDP{SrcPort: layers.UDPPort(sport), DstPort: layers.UDPPort(dport)}
	if err := u.SetNetworkLayerForChecksum(l3); err != nil {
		t.Fatal(err)
	}
	return serialize(t, eth(mac(from), mac(to), layers.EthernetTypeIPv4), l3, u, gopacket.Payload(make([]byte, size)))
}

const (
	dscp26 = 26 << 2
	ect0   = dscp26 | wire.ECT0
	ce     = dscp26 | wire.CE
)

// Frames that find hosts, and what is not IP, pass although every flow waits.
func TestNICPassesUnpaced(t *testing.T) {
	b := newBench(t, nil)
	b.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, dscp26, 100), udpFrame(t, 1, 2, 5, 6, dscp26, 100))
	b.rps[0].rate = 1 // the second frame waits for years
	expect(t, "frames of the flow", len(b.transmit(agent.Wire)), 1)
	nd := &layers.IPv6{Version: 6, HopLimit: 255, NextHeader: layers.IPProtocolICMPv6, SrcIP: bytes.Repeat([]byte{0xFD}, 16), DstIP: bytes.Repeat([]byte{0xFC}, 16)}
	unpaced := map[string][]byte{
		"ARP":                 append(serialize(t, eth(mac(1), wire.Broadcast, layers.EthernetTypeARP)), make([]byte, 46)...),
		"unicast ARP":         append(serialize(t, eth(mac(1), mac(2), layers.EthernetTypeARP)), make([]byte, 46)...),
		"not IP":              append(serialize(t, eth(mac(1), mac(2), 0x1234)), make([]byte, 46)...),
		"LLDP":                append(serialize(t, eth(mac(1), 0x0180_C200_000E, 0x88CC)), make([]byte, 46)...),
		"multicast":           udpFrame(t, 1, 2, 5, 6, dscp26, 100),
		"neighbour discovery": serialize(t, eth(mac(1), mac(2), layers.EthernetTypeIPv6), nd, gopacket.Payload(append([]byte{135}, make([]byte, 23)...))),
	}
	unpaced["multicast"][0] |= 1
	for name, frame := range unpaced {
		b.receive(agent.Application, frame)
		if got := b.transmit(agent.Wire); len(got) != 1 || !bytes.Equal(got[0], frame) {
			t.Errorf("%s: %d frames left, % x", name, len(got), got)
		}
	}
	expect(t, "counted", b.stats().NIC.Control, uint64(len(unpaced)))
	expect(t, "waiting", b.nic.Queued(), 1)
}

// What is not an application's to send goes nowhere.
func TestNICRefusesForgedControl(t *testing.T) {
	b := newBench(t, nil)
	pause := make([]byte, pfc.FrameLen)
	(&pfc.Frame{Enable: 8}).Encode(pause, mac(1))
	notice := make([]byte, cnp.MaxLen)
	notice = notice[:cnp.Encode(notice, wire.RoCE{DstMAC: mac(2), SrcMAC: mac(1), Src: ip(1), Dst: ip(2)}, 7, cnp.Notice{})]
	probe := make([]byte, pfc.ProbeLen)
	(&pfc.Probe{Switch: 1}).Encode(probe, mac(1))
	long := udpFrame(t, 1, 2, 5, 6, 0, 1500)
	b.receive(agent.Application, pause, notice, probe, long, []byte{1, 2, 3})
	expect(t, "frames", len(b.transmit(agent.Wire)), 0)
	expect(t, "control", b.discards(agent.Application, fabric.DropForged), 3)
	b.receive(agent.Wire, probe)
	expect(t, "probes for the application", len(b.transmit(agent.Application)), 0)
	expect(t, "too long", b.discards(agent.Application, fabric.DropOversize), 1)
	expect(t, "malformed", b.discards(agent.Application, fabric.DropMalformed), 1)
}

// Each flow leaves at the rate of its own reaction point, to the picosecond.
func TestNICPacesFlows(t *testing.T) {
	b := newBench(t, nil)
	for range 10 {
		b.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, dscp26, 1000), udpFrame(t, 1, 2, 5, 7, dscp26, 500))
	}
	expect(t, "flows", len(b.rps), 2)
	b.rps[0].rate, b.rps[1].rate = units.Gbps, 100*units.Mbps
	last := map[byte]units.Time{}
	count := map[byte]int{}
	gap := map[byte]units.Time{6: units.Gbps.Serialize(1042 + wire.Overhead), 7: (100 * units.Mbps).Serialize(542 + wire.Overhead)}
	for b.nic.Queued() > 0 {
		for _, f := range b.transmit(agent.Wire) {
			port := f[37]
			if count[port]++; count[port] > 1 && b.now != last[port]+gap[port] {
				t.Fatalf("frame %d of port %d leaves %v after the one before, expected %v", count[port], port, b.now-last[port], gap[port])
			}
			last[port] = b.now
		}
		b.now = max(b.now, b.nic.Next(b.now, agent.Wire))
	}
	expect(t, "frames", count[6]+count[7], 20)
	expect(t, "bytes told", b.rps[0].sent, 10*(1042+wire.Overhead))
}

// A flow with a full queue stops the application's port; what comes all the same
// is bounded, counted, and nothing that was taken is lost.
func TestNICHoldsTheApplication(t *testing.T) {
	b := newBench(t, nil)
	frame := udpFrame(t, 1, 2, 5, 6, dscp26, 100)
	for range 64 {
		expect(t, "held", b.env.ReceivePaused(agent.Application), false)
		b.receive(agent.Application, frame)
	}
	expect(t, "held", b.env.ReceivePaused(agent.Application), true)
	expect(t, "the wire", b.env.ReceivePaused(agent.Wire), false)
	for range 100 { // a world that does not obey
		b.receive(agent.Application, frame)
	}
	expect(t, "waiting", b.nic.Queued(), 64+fabric.MaxBurst)
	expect(t, "dropped", b.discards(agent.Application, fabric.DropFlowQueue), 100-fabric.MaxBurst)
	b.now += ms
	expect(t, "sent", len(b.transmitAll()), 64+fabric.MaxBurst)
	expect(t, "held", b.env.ReceivePaused(agent.Application), false)
	st := b.stats().NIC
	expect(t, "holds", st.Holds, 1)
	if st.Held < ms {
		t.Errorf("held for %v", st.Held)
	}
}

// With `drop` a full flow loses its own frames only, until all queues together are full.
func TestNICDropsOfAFullFlow(t *testing.T) {
	b := newBench(t, func(c *agent.NICConfig) { c.HoldFull = false })
	for flow := range uint16(4) {
		for range 100 {
			b.receive(agent.Application, udpFrame(t, 1, 2, 5, 10+flow, dscp26, 100))
		}
	}
	expect(t, "waiting", b.nic.Queued(), 4*64)
	expect(t, "dropped", b.discards(agent.Application, fabric.DropFlowQueue), 4*36-36)
	expect(t, "dropped when all was full", b.discards(agent.Application, fabric.DropTail), 36)
	expect(t, "held", b.env.ReceivePaused(agent.Application), true)
	expect(t, "sent", len(b.transmitAll()), 4*64)
}

// With `drop` a flow that sends without end takes nothing from another, whose frames leave as if it were alone.
func TestNICFullFlowStopsNobody(t *testing.T) {
	b := newBench(t, func(c *agent.NICConfig) { c.HoldFull = false })
	for range 10 {
		for range 50 {
			b.receive(agent.Application, udpFrame(t, 1, 2, 5, 10, dscp26, 100))
			expect(t, "held", b.env.ReceivePaused(agent.Application), false)
		}
		b.receive(agent.Application, udpFrame(t, 1, 2, 5, 11, dscp26, 100))
	}
	expect(t, "waiting", b.nic.Queued(), 64+10)
	expect(t, "dropped of the flow", b.discards(agent.Application, fabric.DropFlowQueue), 500-64)
	expect(t, "sent", len(b.transmitAll()), 64+10)
	expect(t, "holds", b.stats().NIC.Holds, 0)
}

// A full table of flows that were slowed down takes no new flow until one has been silent for long; looking for
// one costs a few looks whatever the table's size.
func TestNICFlowTableIsBounded(t *testing.T) {
	b := newBench(t, nil)
	for flow := range uint16(100) {
		b.receive(agent.Application, udpFrame(t, 1, 2, 5, 100+flow, dscp26, 100))
		b.transmit(agent.Wire)
		b.receive(agent.Wire, cnpFor(5, 100+flow, cnp.Notice{Word: 1}))
	}
	expect(t, "dropped", b.discards(agent.Application, fabric.DropTable), 36)
	expect(t, "reaction points", len(b.rps), 64)
	b.now += 2 * units.Second
	for flow := range uint16(64) {
		b.receive(agent.Application, udpFrame(t, 1, 2, 5, 1000+flow, dscp26, 100))
		b.transmit(agent.Wire)
	}
	expect(t, "dropped", b.discards(agent.Application, fabric.DropTable), 36)
	expect(t, "reaction points", len(b.rps), 64) // they are used again
	expect(t, "flows", b.stats().NIC.Flows, 64)
}

// The wire's pauses stop one priority; strangers' frames are not delivered.
func TestNICObeysPFC(t *testing.T) {
	b := newBench(t, nil)
	xoff := pfc.Frame{Enable: 1 << 3}
	xoff.Quanta[3] = 1000
	f := make([]byte, pfc.FrameLen)
	xoff.Encode(f, mac(9))
	b.receive(agent.Wire, f)
	b.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, dscp26, 100), udpFrame(t, 1, 2, 5, 6, 0, 100))
	if got := b.transmit(agent.Wire); len(got) != 1 || got[0][15]>>2 != 0 {
		t.Fatalf("paused, and %d frames leave", len(got))
	}
	expect(t, "next", b.nic.Next(b.now, agent.Wire), b.now+pfc.Duration(1000, rate))
	b.now = b.nic.Next(b.now, agent.Wire)
	expect(t, "after the pause", len(b.transmit(agent.Wire)), 1)
	b.receive(agent.Wire, udpFrame(t, 2, 7, 5, 6, dscp26, 100), udpFrame(t, 2, 7, 5, 6, dscp26, 100)) // one asks who it is
	expect(t, "strangers", b.discards(agent.Wire, fabric.DropUnknown), 1)
	expect(t, "delivered", len(b.transmit(agent.Application)), 1)
}

// An application that does not take what arrives makes the NIC stop the peer,
// and start it again; within headroom nothing is lost.
func TestNICSendsPFC(t *testing.T) {
	b := newBench(t, nil)
	frame := udpFrame(t, 2, 1, 5, 6, dscp26, 958)
	var sent []pfc.Frame
	take := func() {
		for _, f := range b.transmit(agent.Wire) {
			var p pfc.Frame
			if err := p.Decode(f); err != nil || wire.MACAt(f[6:]) != mac(99) {
				t.Fatalf("% x", f)
			}
			sent = append(sent, p)
		}
	}
	for range 30 {
		b.receive(agent.Wire, frame)
		take()
	}
	if len(sent) != 1 || sent[0].Enable != 1<<3 || sent[0].Quanta[3] == 0 {
		t.Fatalf("20 KB passed XOFF: %+v", sent)
	}
	expect(t, "lost in headroom", b.discards(agent.Wire, fabric.DropHeadroom), 0)
	b.receive(agent.Wire, frame)
	expect(t, "lost beyond it", b.discards(agent.Wire, fabric.DropHeadroom), 1)
	expect(t, "delivered", len(b.transmit(agent.Application)), 30)
	take()
	if len(sent) != 2 || sent[1].Enable != 1<<3 || sent[1].Quanta[3] != 0 {
		t.Fatalf("no XON: %+v", sent)
	}
	for range 30 { // a lossy priority is cut instead
		b.receive(agent.Wire, udpFrame(t, 2, 1, 5, 6, 0, 958))
	}
	expect(t, "lossy frames dropped", b.discards(agent.Wire, fabric.DropTail), 10)
	take()
	expect(t, "PFC frames", len(sent), 2)
	expect(t, "counted", b.stats().Ports[agent.Wire].Ingress.Pauses[3], 1)
}

// However short lossy frames are and however many priorities they have, they leave frame buffers to lossless ones: so
// many wait together, and when some are handed over others may.
func TestNICBoundsLossyFrames(t *testing.T) {
	b := newBench(t, func(c *agent.NICConfig) { c.Lossy = 40 })
	short := func(dscp uint8, n int) {
		for range n {
			b.receive(agent.Wire, udpFrame(t, 2, 1, 5, 6, dscp, 20))
		}
	}
	short(0, 30)
	short(8, 30) // of another priority
	expect(t, "dropped", b.discards(agent.Wire, fabric.DropTail), 20)
	short(dscp26, 30)
	expect(t, "dropped when lossless ones had come", b.discards(agent.Wire, fabric.DropTail), 20)
	expect(t, "dropped of the lossless priority", b.discards(agent.Wire, fabric.DropHeadroom), 0)
	expect(t, "handed over", len(b.transmit(agent.Application)), 70)
	short(0, 41)
	expect(t, "dropped again", b.discards(agent.Wire, fabric.DropTail), 21)
}

// Draining takes nothing more, and lets go what waits.
func TestNICDrains(t *testing.T) {
	b := newBench(t, nil)
	b.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, dscp26, 100))
	b.nic.Drain(b.now)
	expect(t, "held", b.env.ReceivePaused(agent.Application), true)
	expect(t, "sent", len(b.transmitAll()), 1)
	expect(t, "held", b.env.ReceivePaused(agent.Application), true)
	b.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, dscp26, 100))
	b.nic.Close()
	if n := len(b.pool.Slots()); n != nicFrames {
		t.Errorf("%d of %d buffers came back", n, nicFrames)
	}
}

// The way of a frame, in either direction, costs no allocation.
func TestNICDoesNotAllocate(t *testing.T) {
	b := newBench(t, nil)
	out, in := udpFrame(t, 1, 2, 5, 6, dscp26, 1000), udpFrame(t, 2, 1, 6, 5, ce, 1000)
	one := make([]fabric.Frame, 1)
	way := func(from, to int, bytes []byte) {
		one[0], _ = b.pool.Alloc(len(bytes))
		copy(b.pool.Header(one[0]), bytes)
		b.nic.Receive(b.now, from, one)
		b.now += 10 * units.Microsecond
		for b.nic.Next(b.now, to) <= b.now && b.nic.Transmit(b.now, to, one) == 1 {
			b.pool.Free(one[0])
		}
	}
	if n := testing.AllocsPerRun(1000, func() {
		way(agent.Application, agent.Wire, out)
		way(agent.Wire, agent.Application, in)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	b.transmitAll()
	b.audit()
	if st := b.stats(); st.Ports[agent.Wire].TxFrames[3] < 1000 || st.Ports[agent.Application].TxFrames[3] < 1000 || st.NPSent == 0 {
		t.Errorf("%+v", st)
	}
}

// A host that takes no flows counts what is sent to it all the same.
func TestSenderTakesNoFlows(t *testing.T) {
	p := newPair(t, cnp.Silent{}, func(c *agent.Config) {
		if c.MAC == mac(2) {
			c.Receivers = 0
		}
	})
	p.send(1, 10*units.KB, 0)
	p.run(2 * ms)
	st := p.b.Stats(p.Now()).Ports[0]
	if n := st.Discards[fabric.DropTable][3]; n == 0 || n != st.RxFrames[3] {
		t.Errorf("%d frames came, %d were refused", st.RxFrames[3], n)
	}
	if err := p.b.Audit(); err != nil {
		t.Error(err)
	}
}

// What is longer than the application's interface takes does not wait for it: its driver would never take it, nor what is
// behind it.
func TestNICGivesNothingTooLong(t *testing.T) {
	b := newBench(t, func(c *agent.NICConfig) { c.MTU = 1000 })
	b.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, dscp26, 100)) // the application is known
	b.transmit(agent.Wire)
	b.receive(agent.Wire, udpFrame(t, 2, 1, 6, 5, dscp26, 1400), udpFrame(t, 2, 1, 6, 5, dscp26, 100))
	expect(t, "frames for the application", len(b.transmit(agent.Application)), 1)
	expect(t, "too long", b.discards(agent.Wire, fabric.DropOversize), 1)
}

// Priorities that are not under the scheme need no place in the table of its flows.
func TestNICLossyFlowsNeedNoPlace(t *testing.T) {
	b := newBench(t, func(c *agent.NICConfig) { c.Flows = 4 })
	sent := 0
	for i := range 20 {
		b.receive(agent.Application, udpFrame(t, 1, 2, uint16(100+i), 6, 0, 100))
		sent += len(b.transmit(agent.Wire))
	}
	expect(t, "frames that left", sent, 20)
	for i := range 5 {
		b.receive(agent.Application, udpFrame(t, 1, 2, uint16(200+i), 6, dscp26, 100)) // they wait, and make no room
	}
	expect(t, "frames of more flows than can be paced", b.discards(agent.Application, fabric.DropTable), 1)
}

// What an application sends from addresses that are no station's keeps none of its own from being known.
func TestNICLearnsStations(t *testing.T) {
	b := newBench(t, nil)
	from := func(source wire.MAC) {
		frame := udpFrame(t, 3, 2, 5, 6, 0, 100)
		source.Put(frame[6:])
		b.receive(agent.Application, frame)
		b.transmit(agent.Wire)
	}
	for i := range wire.MAC(2000) {
		from(0x0100_0000_0000 | i)
	}
	from(mac(3))
	for range 2 { // not even the second is a stranger's
		b.receive(agent.Wire, udpFrame(t, 2, 3, 6, 5, 0, 100))
	}
	expect(t, "delivered", len(b.transmit(agent.Application)), 2)
}

// Whatever comes and goes: what a NIC says of its queues, in either direction, is what waits there by priority, the
// most that did since the watermarks were cleared, and how many frames those are.
func TestNICQueuesAreWhatWaits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := newBench(t, func(c *agent.NICConfig) {
			c.Lossless, c.Judged = rapid.Uint8().Draw(r, "lossless"), rapid.Uint8().Draw(r, "judged")
		})
		var frames [2][8]uint64
		var bytes, peak [2][8]units.Size
		for range rapid.IntRange(1, 40).Draw(r, "steps") {
			port := rapid.IntRange(agent.Wire, agent.Application).Draw(r, "port")
			switch rapid.IntRange(0, 4).Draw(r, "step") {
			case 0:
				b.nic.ClearWatermarks(port)
				peak[port] = bytes[port]
			case 1:
				for _, f := range b.take(port, rapid.IntRange(1, 8).Draw(r, "most")) {
					if f[12] == 0x88 { // PFC
						continue
					}
					prio := f[15] >> 5
					frames[port][prio]--
					bytes[port][prio] -= units.Size(len(f))
				}
			default:
				prio, from, to := rapid.Uint8Range(0, 7).Draw(r, "priority"), 1, 2
				if port == agent.Application {
					from, to = 2, 1
				}
				f := udpFrame(t, from, to, 5, 6, prio<<5, rapid.IntRange(20, 400).Draw(r, "size"))
				b.receive(1-port, f)
				frames[port][prio]++
				bytes[port][prio] += units.Size(len(f))
				peak[port][prio] = max(peak[port][prio], bytes[port][prio])
			}
			for port, st := range b.stats().Ports {
				if st.QueueFrames != frames[port] || st.QueueBytes != bytes[port] || st.QueuePeak != peak[port] {
					r.Fatalf("port %d: %v frames, %v, at most %v wait; it says %v, %v and %v",
						port, frames[port], bytes[port], peak[port], st.QueueFrames, st.QueueBytes, st.QueuePeak)
				}
			}
		}
	})
}
