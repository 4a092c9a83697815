package agent_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"photon/agent"
	"photon/cnp"
	"photon/fabric"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// rxe is a frame as the kernel's soft-RoCE sends it: UDP 4791 without checksum,
// DSCP 26, ECT(0), and an ICRC that is computed here by the words of annex A17,
// not by photon's code.
func rxe(t testing.TB, from, to int, qp uint32, opcode uint8, tos uint8, payload []byte) []byte {
	t.Helper()
	bth := []byte{opcode, 0, 0xFF, 0xFF, 0, byte(qp >> 16), byte(qp >> 8), byte(qp), 0, 0, 0, 1}
	l3 := v4(from, to, layers.IPProtocolUDP, tos)
	l3.Flags = layers.IPv4DontFragment
	l4 := &layers.UDP{SrcPort: 0xC123, DstPort: 4791}
	if err := l4.SetNetworkLayerForChecksum(l3); err != nil {
		t.Fatal(err)
	}
	b := serialize(t, eth(mac(from), mac(to), layers.EthernetTypeIPv4), l3, l4, gopacket.Payload(append(append(bth, payload...), 0, 0, 0, 0)))
	b[40], b[41] = 0, 0
	binary.LittleEndian.PutUint32(b[len(b)-4:], icrcOf(b))
	return b
}

// icrcOf masks what routers may change in a copy, puts eight bytes of ones in
// front, and takes the CRC of all but the last four bytes.
func icrcOf(frame []byte) uint32 {
	p := append(bytes.Repeat([]byte{0xFF}, 8), frame[14:len(frame)-4]...)
	for _, masked := range []int{1, 8, 10, 11, 26, 27, 32} { // TOS, TTL, both checksums, FECN/BECN
		p[8+masked] = 0xFF
	}
	return crc32.ChecksumIEEE(p)
}

func checkICRC(t *testing.T, frame []byte) {
	t.Helper()
	if binary.LittleEndian.Uint32(frame[len(frame)-4:]) != icrcOf(frame) {
		t.Errorf("ICRC of % x", frame)
	}
	if !wire.IPv4ChecksumOK(frame[14:]) {
		t.Error("IPv4 checksum")
	}
}

// Soft-RoCE frames are carried untouched but for their ECN codepoint: ECT(0)
// becomes ECT(1) under TCD, whose ECT(0) is a mark. The ICRC stays valid.
func TestNICCarriesSoftRoCE(t *testing.T) {
	sent := rxe(t, 1, 2, 0x11, wire.OpSendOnly, ect0, []byte("a message"))
	checkICRC(t, sent)
	for _, ect := range []uint8{wire.ECT0, wire.ECT1} {
		a := newBench(t, func(c *agent.NICConfig) { c.Carry.ECT = ect })
		a.receive(agent.Application, sent)
		onWire := a.transmit(agent.Wire)
		if len(onWire) != 1 {
			t.Fatalf("%d frames", len(onWire))
		}
		checkICRC(t, onWire[0])
		expect(t, "ECN", wire.ECN(onWire[0][14:]), ect)
		want := bytes.Clone(sent)
		wire.SetECN(want[14:], ect)
		if !bytes.Equal(onWire[0], want) {
			t.Errorf("sent % x\nleft % x", sent, onWire[0])
		}
		expect(t, "UDP checksum", binary.BigEndian.Uint16(onWire[0][40:]), 0)

		// At the other end, marked on the way: the mark comes off.
		b := newBench(t, func(c *agent.NICConfig) { c.Carry.ECT, c.Known = ect, []wire.MAC{mac(2)} })
		for _, mark := range []uint8{ect, wire.CE} {
			wire.SetECN(onWire[0][14:], mark)
			b.receive(agent.Wire, bytes.Clone(onWire[0]))
			if got := b.transmit(agent.Application); len(got) != 1 || !bytes.Equal(got[0], sent) {
				t.Errorf("ECN %02b on the wire: delivered % x", mark, got)
			}
		}
		keeps := newBench(t, func(c *agent.NICConfig) { c.Carry.ECT, c.Known, c.ClearCE = ect, []wire.MAC{mac(2)}, false })
		keeps.receive(agent.Wire, bytes.Clone(onWire[0]))
		if got := keeps.transmit(agent.Application); len(got) != 1 || !bytes.Equal(got[0], onWire[0]) {
			t.Errorf("not kept: % x", got)
		}
	}
}

// What the application did about ECN, and what leaves. Only lossless priorities carry it.
func TestNICSetsECT(t *testing.T) {
	for _, c := range []struct{ ect, tos, want uint8 }{
		{wire.ECT0, dscp26, ect0},
		{wire.ECT0, dscp26 | wire.ECT1, dscp26 | wire.ECT1},
		{wire.ECT0, ce, ect0}, // nobody before us can have marked it
		{wire.ECT1, dscp26, dscp26 | wire.ECT1},
		{wire.ECT1, ect0, dscp26 | wire.ECT1},
		{wire.ECT1, ce, dscp26 | wire.ECT1},
		{wire.ECT0, 8 << 2, 8 << 2},
		{wire.ECT1, 8<<2 | wire.ECT0, 8<<2 | wire.ECT0},
	} {
		b := newBench(t, func(n *agent.NICConfig) { n.Carry.ECT = c.ect })
		b.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, c.tos, 100))
		got := b.transmit(agent.Wire)
		if len(got) != 1 || got[0][15] != c.want || !wire.IPv4ChecksumOK(got[0][14:]) {
			t.Errorf("%08b under ECT %02b left as % x, expected %08b", c.tos, c.ect, got[0][14:34], c.want)
		}
	}
	b := newBench(t, func(c *agent.NICConfig) { c.SetDSCP = 26 })
	b.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, 0, 100), udpFrame(t, 1, 2, 5, 6, 48<<2, 100))
	got := b.transmit(agent.Wire) // the highest priority first
	if len(got) != 2 || got[1][15] != ect0 || got[0][15] != 48<<2 || !wire.IPv4ChecksumOK(got[1][14:]) {
		t.Errorf("% x", got)
	}
	expect(t, "counted", b.stats().NIC.ECT, 1)
}

// twoNICs are a sender and a receiver with DCQCN's notification point.
func twoNICs(t *testing.T, change func(*agent.NICConfig)) (a, b *nicBench) {
	a = newBench(t, change)
	b = newBench(t, func(c *agent.NICConfig) {
		c.Known = []wire.MAC{mac(2)}
		if change != nil {
			change(c)
		}
	})
	return a, b
}

// A marked frame of any protocol comes back as a CNP that finds its flow and no
// other; neither application sees it.
func TestNICNotifiesEveryKindOfFlow(t *testing.T) {
	tcp := func(sport, dport layers.TCPPort) []byte {
		l3 := v4(1, 2, layers.IPProtocolTCP, dscp26)
		l4 := &layers.TCP{SrcPort: sport, DstPort: dport}
		if err := l4.SetNetworkLayerForChecksum(l3); err != nil {
			t.Fatal(err)
		}
		return serialize(t, eth(mac(1), mac(2), layers.EthernetTypeIPv4), l3, l4, gopacket.Payload(make([]byte, 100)))
	}
	fragment := func(offset uint16) []byte {
		l3 := v4(1, 2, layers.IPProtocolUDP, dscp26)
		l3.FragOffset, l3.Flags = offset, layers.IPv4MoreFragments
		return serialize(t, eth(mac(1), mac(2), layers.EthernetTypeIPv4), l3, gopacket.Payload(make([]byte, 104)))
	}
	v6 := func(port uint16) []byte {
		l3 := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolUDP, TrafficClass: dscp26, SrcIP: bytes.Repeat([]byte{0xFD}, 16), DstIP: bytes.Repeat([]byte{0xFC}, 16)}
		l4 := &layers.UDP{SrcPort: 9, DstPort: layers.UDPPort(port)}
		if err := l4.SetNetworkLayerForChecksum(l3); err != nil {
			t.Fatal(err)
		}
		return serialize(t, eth(mac(1), mac(2), layers.EthernetTypeIPv6), l3, l4, gopacket.Payload(make([]byte, 100)))
	}
	for name, frames := range map[string][2][]byte{ // of one flow, and of another
		"TCP":      {tcp(1000, 80), tcp(80, 1000)},
		"UDP":      {udpFrame(t, 1, 2, 5, 6, dscp26, 100), udpFrame(t, 1, 2, 5, 7, dscp26, 100)},
		"ping":     {serialize(t, eth(mac(1), mac(2), layers.EthernetTypeIPv4), v4(1, 2, layers.IPProtocolICMPv4, dscp26), &layers.ICMPv4{TypeCode: layers.CreateICMPv4TypeCode(8, 0)}), tcp(1, 2)},
		"fragment": {fragment(64), udpFrame(t, 1, 2, 5, 6, dscp26, 100)},
		"RoCE":     {rxe(t, 1, 2, 0x11, wire.OpSendOnly, ect0, nil), rxe(t, 1, 2, 0x12, wire.OpSendOnly, ect0, nil)},
		"IPv6":     {v6(5), v6(6)},
	} {
		a, b := twoNICs(t, nil)
		a.receive(agent.Application, frames[1], frames[0])
		onWire := a.transmit(agent.Wire)
		if len(onWire) != 2 {
			t.Fatalf("%s: %d frames", name, len(onWire))
		}
		marked := onWire[1]
		wire.SetECN(marked[14:], wire.CE)
		b.receive(agent.Wire, onWire[0], marked)
		expect(t, name+": delivered", len(b.transmit(agent.Application)), 2)
		cnps := b.transmit(agent.Wire)
		if len(cnps) != 1 {
			t.Fatalf("%s: %d CNPs", name, len(cnps))
		}
		if wire.MACAt(cnps[0]) != mac(1) || wire.MACAt(cnps[0][6:]) != mac(2) {
			t.Errorf("%s: CNP from %v to %v", name, wire.MACAt(cnps[0][6:]), wire.MACAt(cnps[0]))
		}
		if ip := cnps[0][14:]; ip[0]>>4 == 6 { // RFC 8200 section 3: the traffic class is behind the version
			expect(t, name+": DSCP of the CNP", int(ip[0]&15)<<2|int(ip[1]>>6), 48)
		} else {
			expect(t, name+": DSCP of the CNP", int(ip[1]>>2), 48)
		}
		a.receive(agent.Wire, cnps[0])
		expect(t, name+": the application sees", len(a.transmit(agent.Application)), 0)
		expect(t, name+": CNPs of the other flow", a.rps[0].cnps, 0)
		expect(t, name+": CNPs of the flow", a.rps[1].cnps, 1)
		expect(t, name+": handled", a.stats().RPHandled, 1)
		expect(t, name+": marks seen", b.stats().NPMarked, 1)
	}
}

// The scheme is in the priorities that are its own, lossless or not, and in no other: their frames leave ECN-capable,
// and a mark slows the flow down.
func TestNICPrioritiesOfTheScheme(t *testing.T) {
	for prio := range uint8(8) {
		for _, lossless := range []uint8{0, 1 << 3, 1 << prio, 0xFF} {
			a, b := twoNICs(t, func(c *agent.NICConfig) { c.Lossless, c.Judged = lossless, 1<<prio })
			for other := range uint8(8) {
				a.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, other<<5, 100))
			}
			onWire := a.transmit(agent.Wire)
			expect(t, "frames", len(onWire), 8)
			for _, f := range onWire {
				wantECT := f[15]>>5 == prio
				expect(t, "ECN-capable", f[15]&3 != wire.NotECT, wantECT)
				wire.SetECN(f[14:], wire.CE)
				b.receive(agent.Wire, f)
			}
			cnps := b.transmit(agent.Wire)
			expect(t, "CNPs", len(cnps), 1)
			a.receive(agent.Wire, cnps...)
			for i, f := range onWire { // frames leave by priority, reaction points are in the order of flows
				expect(t, "CNPs taken", a.rps[7-i].cnps, map[bool]int{true: 1}[f[15]>>5 == prio])
			}
		}
	}
}

// A CNP for which there is no memory waits until there is some, and nothing waits for it: what is queued leaves, and
// gives its own back.
func TestNICWithoutMemoryForCNPs(t *testing.T) {
	b := newBench(t, nil)
	marked := rxe(t, 2, 1, 0x11, wire.OpSendOnly, dscp26|wire.CE, []byte("marked"))
	b.receive(agent.Wire, marked)
	b.transmit(agent.Application)
	for range 3 {
		b.receive(agent.Application, rxe(t, 1, 2, 0x12, wire.OpSendOnly, dscp26|ect0, []byte("data")))
	}
	free := slices.Clone(b.pool.Slots())
	b.pool.SetSlots(nil)
	var sent []byte
	for end := b.now + ms; b.now < end && len(sent) < 3; b.now += units.Microsecond {
		var one [1]fabric.Frame // a buffer that leaves is not back at once
		for b.nic.Next(b.now, agent.Wire) <= b.now && b.nic.Transmit(b.now, agent.Wire, one[:]) == 1 {
			sent = append(sent, wire.BTH(b.pool.Header(one[0])[42:]).Opcode())
			free = append(free, one[0].Ref)
		}
	}
	if !bytes.Equal(sent, []byte{wire.OpSendOnly, wire.OpSendOnly, wire.OpSendOnly}) {
		t.Errorf("without memory for a CNP % x leave", sent)
	}
	b.pool.SetSlots(free)
	if got := b.transmit(agent.Wire); len(got) != 1 || wire.BTH(got[0][42:]).Opcode() != wire.OpCNP {
		t.Errorf("when there is memory again %d frames leave", len(got))
	}
}

// Frames without ECN do not come from where they could be slowed down.
func TestNICDoesNotNotifyStrangers(t *testing.T) {
	_, b := twoNICs(t, nil)
	b.receive(agent.Wire, udpFrame(t, 1, 2, 5, 6, dscp26, 100), udpFrame(t, 1, 2, 5, 6, 8<<2|wire.CE, 100))
	expect(t, "delivered", len(b.transmit(agent.Application)), 2)
	expect(t, "CNPs", len(b.transmit(agent.Wire)), 0)
	expect(t, "flows", b.stats().NIC.Received, 0)
}

// The notification point's table is bounded; what it has no room for is delivered.
func TestNICDeliversWhatItCannotTrack(t *testing.T) {
	_, b := twoNICs(t, nil)
	for port := range uint16(100) {
		b.receive(agent.Wire, udpFrame(t, 1, 2, 5, port, ce, 100))
		expect(t, "delivered", len(b.transmit(agent.Application)), 1)
	}
	expect(t, "known", b.stats().NIC.Received, 64)
	expect(t, "not tracked", b.stats().NIC.Untracked, 36)
	expect(t, "CNPs", len(b.transmit(agent.Wire)), 64)
}

// Whatever schemes notify with: of many more flows than the notification point has places for, which come and go, each
// that is marked is told of, once, as long as there are places for all that are under way; and one that goes on is told
// of no more often.
func TestNICNotifiesManyShortFlows(t *testing.T) {
	for name, np := range map[string]func() cnp.NP{
		"dcqcn": func() cnp.NP { return cnp.NewDCQCN(cnp.DCQCNParams{Interval: ms}, 64) },
		"pcn":   func() cnp.NP { return cnp.NewPCN(cnp.PCNParams{Period: ms, Percent: 95}, 64) },
		"dcqcn+": func() cnp.NP {
			return cnp.NewDCQCNPlus(cnp.DCQCNPlusParams{Interval: ms, Gap: units.Microsecond, Silence: 2 * ms}, 64)
		},
	} {
		for _, delay := range []units.Time{0, 100 * units.Microsecond} {
			_, b := twoNICs(t, func(c *agent.NICConfig) { c.NP, c.NPDelay = np(), delay })
			told := map[uint16]int{}
			listen := func() {
				for _, f := range b.transmit(agent.Wire) {
					var h wire.Header
					wire.Parse(f, &h)
					told[cnp.NameOf(f, &h).DstPort]++
				}
			}
			const flows, atATime, steps = 1000, 10, 10
			for first := uint16(0); first < flows; first += atATime {
				for step := range steps {
					b.receive(agent.Wire, udpFrame(t, 1, 2, 5, flows, ce, 100)) // goes on
					for flow := range uint16(atATime) {
						if int(flow)%steps == step {
							b.receive(agent.Wire, udpFrame(t, 1, 2, 5, first+flow, ce, 100))
						}
					}
					expect(t, "delivered", len(b.transmit(agent.Application)) > 0, true)
					listen()
					b.now += 200 * units.Microsecond
				}
			}
			for range 100 {
				b.now += 100 * units.Microsecond
				listen()
			}
			for flow := range uint16(flows) {
				if told[flow] != 1 {
					t.Errorf("%s, delay %v: flow %d was told of %d times", name, delay, flow, told[flow])
				}
			}
			if most := flows/atATime*steps/5 + 2; told[flows] > most || told[flows] < most/2 {
				t.Errorf("%s, delay %v: the flow that goes on was told of %d times", name, delay, told[flows])
			}
			expect(t, name+": not tracked", b.stats().NIC.Untracked, 0)
		}
	}
}

// Frames of many flows that come and go are all echoed, too.
func TestNICEchoesManyShortFlows(t *testing.T) {
	p := newShimPair(t, telling, nil)
	for flow := range uint16(1000) {
		p.a.receive(agent.Application, udpFrame(t, 1, 2, 5, flow, dscp26, 100))
		p.b.receive(agent.Wire, p.a.transmit(agent.Wire)...)
		p.b.transmit(agent.Application)
		p.a.receive(agent.Wire, p.b.transmit(agent.Wire)...)
		p.a.now += 2 * ms
		p.b.now += 2 * ms
	}
	expect(t, "echoes", p.a.stats().NIC.EchoesTaken, 1000)
	expect(t, "not tracked", p.b.stats().NIC.Untracked, 0)
}

// cnpFor is a CNP about the UDP flow from application 1 to 2.
func cnpFor(sport, dport uint16, n cnp.Notice) []byte {
	b := make([]byte, cnp.MaxLen)
	to := wire.RoCE{DstMAC: mac(1), SrcMAC: mac(2), Src: ip(2), Dst: ip(1), TOS: 48 << 2, SrcPort: 0xC000}
	return b[:cnp.EncodeNamed(b, to, 0, cnp.Name{Ports: true, Proto: wire.ProtoUDP, SrcPort: sport, DstPort: dport}, n)]
}

// A CNP counts for a flow that exists and has sent, once a period; others are
// counted and change nothing.
func TestNICTrustsFewCNPs(t *testing.T) {
	b := newBench(t, nil)
	n := cnp.Notice{ECN: wire.CE, Word: 100}
	refused := func(why fabric.CNPRefusal) uint64 { return b.stats().NIC.Refused[why] }
	b.receive(agent.Wire, cnpFor(5, 6, n))
	expect(t, "unknown", refused(fabric.CNPUnknown), 1)

	b.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, dscp26, 100))
	b.receive(agent.Wire, cnpFor(5, 6, n))
	expect(t, "not sent", refused(fabric.CNPNotSent), 1)
	b.transmit(agent.Wire)

	broken := cnpFor(5, 6, n)
	broken[50] ^= 1
	other := cnpFor(5, 6, n) // from another host
	other[29] = 9
	wire.SetIPv4Checksum(other[14:])
	wire.SealICRC(other[14:], 28)
	decrease := cnpFor(5, 6, n) // its codepoint was changed on the way, and the header's checksum was not
	decrease[15] ^= wire.CE
	b.receive(agent.Wire, broken, other, decrease, cnpFor(5, 6, n)[:60], cnpFor(6, 5, n))
	expect(t, "malformed", refused(fabric.CNPMalformed), 3)
	expect(t, "malformed, by port", b.discards(agent.Wire, fabric.DropMalformed), 3)
	expect(t, "unknown", refused(fabric.CNPUnknown), 3)
	expect(t, "handled", b.rps[0].cnps, 0)

	for range 50 { // many in one instant: one counts
		b.receive(agent.Wire, cnpFor(5, 6, n))
	}
	expect(t, "handled", b.rps[0].cnps, 1)
	expect(t, "too soon", refused(fabric.CNPTooSoon), 49)
	for range 1000 { // ten times as many as allowed, for a hundred periods
		b.now += ms / 10
		b.receive(agent.Wire, cnpFor(5, 6, n))
	}
	if got := b.rps[0].cnps; got < 100 || got > 102 {
		t.Errorf("%d CNPs handled in a hundred periods", got)
	}
	expect(t, "the application sees", len(b.transmit(agent.Application)), 0)
	st := b.stats()
	expect(t, "ignored in all", st.RPIgnored, st.NIC.Refused[0]+st.NIC.Refused[1]+st.NIC.Refused[2]+st.NIC.Refused[3])
}

// No RecRate stops a flow for good: with PCN's own reaction point it goes on at
// the least rate, grows with the next notices, and is back at line rate when
// they stay away.
func TestNICFlowSurvivesAbsurdRates(t *testing.T) {
	params := &ratelimit.PCNParams{Line: rate, WMin: 1.0 / 128, WMax: 0.5, Min: units.Mbps}
	for _, word := range []uint32{0, 1, 1<<32 - 1} {
		b := newBench(t, func(c *agent.NICConfig) {
			c.Release = 50 * ms
			c.NewRP = func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewPCN(params) }
		})
		frame := udpFrame(t, 1, 2, 5, 6, dscp26, 100)
		for range 20 {
			b.receive(agent.Application, frame, frame)
			b.transmitAll()
			b.receive(agent.Wire, cnpFor(5, 6, cnp.Notice{ECN: wire.CE, Word: word}))
		}
		// Two frames at the least rate take 1.3 ms each.
		if took := b.now - units.Second; took > 20*3*ms {
			t.Errorf("RecRate %d: 40 frames took %v", word, took)
		}
		for range 3 {
			b.now += 40 * ms
			b.receive(agent.Application, frame)
			b.transmitAll()
		}
		slowed := uint64(1)
		if word == 1<<32-1 { // asks for more than the line: nothing to come back from
			slowed = 0
		}
		expect(t, "released", b.stats().NIC.Released, slowed)
		expect(t, "rate", b.rates(), rate)
	}
}

// A flood of CNPs, true, false and broken, costs no memory and changes nothing
// of the flows that it does not name; frames of others pass as before.
func TestNICSurvivesAFlood(t *testing.T) {
	b := newBench(t, nil)
	b.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, dscp26, 100))
	b.transmit(agent.Wire)
	b.rps[0].rate = units.Gbps
	r := rand.New(rand.NewPCG(1, 2))
	flood := make([][]byte, 64)
	for i := range flood {
		flood[i] = cnpFor(uint16(100+r.IntN(1000)), uint16(r.IntN(1000)), cnp.Notice{ECN: uint8(r.IntN(4)), Word: r.Uint32()})
		if i%4 == 0 {
			flood[i][20+r.IntN(50)] ^= 0xFF
		}
	}
	passes := udpFrame(t, 2, 1, 5, 6, dscp26, 100)
	const rounds = 200
	one := make([]fabric.Frame, 1)
	round := func() {
		for _, f := range flood {
			one[0], _ = b.pool.Alloc(len(f))
			copy(b.pool.Header(one[0]), f)
			b.nic.Receive(b.now, agent.Wire, one)
			b.now += units.Microsecond
		}
		one[0], _ = b.pool.Alloc(len(passes))
		copy(b.pool.Header(one[0]), passes)
		b.nic.Receive(b.now, agent.Wire, one)
		if b.nic.Transmit(b.now, agent.Application, one) != 1 {
			t.Fatal("a frame did not pass")
		}
		b.pool.Free(one[0])
	}
	if n := testing.AllocsPerRun(rounds, round); n != 0 {
		t.Errorf("%v allocations in a round", n)
	}
	b.audit()
	st := b.stats()
	expect(t, "the flow's rate", b.rps[0].rate, units.Gbps)
	expect(t, "the flow's CNPs", b.rps[0].cnps, 0)
	expect(t, "flows", st.NIC.Flows, 1)
	expect(t, "received flows", st.NIC.Received, 0)
	if st.RPIgnored+b.discards(agent.Wire, fabric.DropUnknown) < rounds*60 {
		t.Errorf("%d counted of %d", st.RPIgnored, rounds*64)
	}
	expect(t, "handled", st.RPHandled, 0)
}

// Under QCN a frame leaves with a tag, behind its VLAN tag, and arrives without;
// a CNM finds the flow by the tag.
func TestNICTagsForQCN(t *testing.T) {
	a, b := twoNICs(t, func(c *agent.NICConfig) { c.Carry.Tag = true })
	plain := udpFrame(t, 1, 2, 5, 6, ect0, 100)
	vlan := append(append(bytes.Clone(plain[:12]), 0x81, 0, 3<<5, 7), plain[12:]...)
	for i, frame := range [][]byte{plain, vlan} {
		a.receive(agent.Application, bytes.Clone(frame))
		onWire := a.transmit(agent.Wire)
		var h wire.Header
		if len(onWire) != 1 || !wire.Parse(onWire[0], &h) || !h.CNTagged || h.FlowID != 0 || h.DstPort != 6 || h.Tagged != (i == 1) {
			t.Fatalf("%+v % x", h, onWire)
		}
		expect(t, "length", len(onWire[0]), len(frame)+4)
		b.receive(agent.Wire, bytes.Clone(onWire[0]))
		if got := b.transmit(agent.Application); len(got) != 1 || !bytes.Equal(got[0], frame) {
			t.Errorf("sent % x\ngot  % x", frame, got)
		}
		m := make([]byte, cnp.MaxCNMLen)
		m = m[:cnp.EncodeCNM(m, onWire[0], &h, mac(77), cnp.CNM{QntzFb: 5, Priority: 3})]
		a.now += ms
		a.receive(agent.Wire, m)
		expect(t, "handled", a.rps[0].cnps, i+1)
		expect(t, "the application sees", len(a.transmit(agent.Application)), 0)
	}
	expect(t, "flows", len(a.rps), 1)
	var h wire.Header
	stranger := udpFrame(t, 1, 7, 5, 6, ect0, 100) // never sent to 7
	wire.Parse(stranger, &h)
	h.CNTagged = true
	m := make([]byte, cnp.MaxCNMLen)
	a.receive(agent.Wire, m[:cnp.EncodeCNM(m, stranger, &h, mac(77), cnp.CNM{QntzFb: 5})])
	expect(t, "refused", a.stats().NIC.Refused[fabric.CNPUnknown], 1)
}

// Whatever comes on either port is accounted for and gives its buffer back.
func FuzzNIC(f *testing.F) {
	f.Add(udpFrame(f, 1, 2, 5, 6, ect0, 20), true)
	f.Add(rxe(f, 2, 1, 3, wire.OpSendOnly, ce, nil), false)
	f.Add(cnpFor(5, 6, cnp.Notice{ECN: wire.CE}), false)
	params := &ratelimit.PCNParams{Line: rate, WMin: 1.0 / 128, WMax: 0.5, Min: units.Mbps}
	pcn := func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewPCN(params) }
	tagged := newBench(f, func(c *agent.NICConfig) { c.Carry.Tag, c.NewRP = true, pcn })
	plain := newBench(f, func(c *agent.NICConfig) { c.SetDSCP, c.Carry.ECT, c.NewRP = 26, wire.ECT1, pcn })
	hpcc := &ratelimit.HPCCParams{Line: rate, Min: units.Mbps, BaseRTT: 20 * units.Microsecond, Eta: 0.95, MaxStage: 5, AI: 80, Slack: 1}
	wrapping := newBench(f, func(c *agent.NICConfig) {
		c.Carry, c.NewRP = telling, func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewHPCC(hpcc) }
	})
	wrapping.receive(agent.Application, udpFrame(f, 1, 2, 5, 6, dscp26, 100))
	wrapped := wrapping.transmit(agent.Wire)[0]
	f.Add(wrapped, true)
	mac(1).Put(wrapped)
	f.Add(wrapped, false)
	f.Add(append(wrapped[:42:42], append([]byte{wire.OpShimEcho}, wrapped[43:116]...)...), false)
	f.Fuzz(func(t *testing.T, frame []byte, app bool) {
		if len(frame) > 1600 {
			return
		}
		for _, b := range []*nicBench{tagged, plain, wrapping} {
			b.t = t
			b.now += 10 * ms
			port := agent.Wire
			if app {
				port = agent.Application
			}
			b.receive(port, bytes.Clone(frame))
			for b.nic.Queued() > 0 {
				b.transmit(agent.Application)
				b.transmitAll()
			}
		}
	})
}
