package agent_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
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

// hearing is a reaction point that hears of every frame.
type hearing struct {
	rp
	window units.Size
	acks   []ratelimit.Ack
	hops   []wire.INTHop // of the last hop of each
}

func (h *hearing) Ack(_ units.Time, a *ratelimit.Ack) {
	h.acks = append(h.acks, *a)
	if a.Hops != nil && a.Hops.Hops() > 0 {
		h.hops = append(h.hops, a.Hops.Hop(a.Hops.Hops()-1))
	}
}
func (h *hearing) Window() units.Size { return h.window }

// shimPair is two NICs whose wires are in the test's hand: applications 1 and 2.
type shimPair struct {
	a, b *nicBench
	rps  []*hearing
}

func newShimPair(t *testing.T, carry cnp.Carry, change func(*agent.NICConfig)) *shimPair {
	p := &shimPair{}
	bench := func(i int) *nicBench {
		return newBench(t, func(c *agent.NICConfig) {
			c.Known = []wire.MAC{mac(i)}
			c.Carry = carry
			c.NP = cnp.Silent{}
			c.NewRP = func(*ratelimit.Port) ratelimit.RP {
				r := &hearing{rp: rp{rate: rate}, window: units.MB}
				if i == 1 {
					p.rps = append(p.rps, r)
				}
				return r
			}
			if change != nil {
				change(c)
			}
		})
	}
	p.a, p.b = bench(1), bench(2)
	return p
}

var (
	telling = cnp.Carry{ECT: wire.ECT0, Ack: true, INT: true}
	clocked = cnp.Carry{ECT: wire.ECT1, Ack: true, Stamp: true}
)

// tagged puts a VLAN tag into a frame.
func tagged(frame []byte) []byte {
	return append(append(append([]byte{}, frame[:12]...), 0x81, 0x00, 0x60, 0x05), frame[12:]...)
}

// cnTagged puts a congestion notification tag into a frame without tags.
func cnTagged(frame []byte) []byte {
	tag := []byte{wire.TypeCNTag >> 8, wire.TypeCNTag & 0xFF, 0, 7}
	return append(append(append([]byte{}, frame[:12]...), tag...), frame[12:]...)
}

func udp6Frame(t testing.TB, from, to int, sport, dport uint16, tos uint8, size int) []byte {
	t.Helper()
	end := func(i int) net.IP { return append(append(net.IP{0xFD}, make([]byte, 14)...), byte(i)) }
	l3 := &layers.IPv6{Version: 6, TrafficClass: tos, HopLimit: 64, NextHeader: layers.IPProtocolUDP, SrcIP: end(from), DstIP: end(to)}
	u := &layers.UDP{SrcPort: layers.UDPPort(sport), DstPort: layers.UDPPort(dport)}
	if err := u.SetNetworkLayerForChecksum(l3); err != nil {
		t.Fatal(err)
	}
	return serialize(t, eth(mac(from), mac(to), layers.EthernetTypeIPv6), l3, u, gopacket.Payload(make([]byte, size)))
}

// A frame of any kind comes out at the other end as it went in; what is on the wire
// is a RoCEv2 packet that switches stamp and mark, and one echo comes back.
func TestNICsWrapFrames(t *testing.T) {
	for name, carry := range map[string]cnp.Carry{"telemetry": telling, "clock": clocked} {
		for what, frame := range map[string][]byte{
			"UDP": udpFrame(t, 1, 2, 5, 6, dscp26, 1000), "tagged": tagged(udpFrame(t, 1, 2, 5, 6, dscp26, 1000)), "short": udpFrame(t, 1, 2, 5, 6, ect0, 1),
			"RoCEv2": rxe(t, 1, 2, 7, wire.OpSendOnly, ect0, nil), "IPv6": udp6Frame(t, 1, 2, 5, 6, dscp26, 500),
			"with all tags":      tagged(tagged(cnTagged(udpFrame(t, 1, 2, 5, 6, dscp26, 1000)))),
			"IPv6 with all tags": tagged(tagged(cnTagged(udp6Frame(t, 1, 2, 5, 6, dscp26, 500)))),
		} {
			p := newShimPair(t, carry, nil)
			p.a.receive(agent.Application, frame)
			left := p.a.now
			out := p.a.transmit(agent.Wire)
			if len(out) != 1 {
				t.Fatalf("%s, %s: %d frames leave", name, what, len(out))
			}
			b := out[0]
			var h wire.Header
			wire.Parse(b, &h)
			if h.BTH == 0 || wire.BTH(b[h.BTH:]).Opcode() != wire.OpShim || h.TOS != dscp26|carry.ECT || !wire.ICRCOK(b[h.L3:], h.BTH-h.L3) {
				t.Fatalf("%s, %s: on the wire is % x", name, what, b[:80])
			}
			if grown, most := len(b)-len(frame), agent.ShimLen(carry); grown != most && grown != most-20 {
				t.Errorf("%s, %s: %d bytes longer, said was %d", name, what, grown, most)
			}
			if carry.INT {
				wire.INTOf(b[h.L3:], h.BTH-h.L3).Push(wire.INTHop{Rate: 10 * units.Gbps, Time: 5 * units.Microsecond, TxBytes: 1280, Queue: 800})
			}
			wire.SetECN(b[h.L3:], wire.CE)
			p.b.now = left + 3*ms
			p.b.receive(agent.Wire, b)
			if got := p.b.transmit(agent.Application); len(got) != 1 || !bytes.Equal(got[0], frame) {
				t.Fatalf("%s, %s: the application got\n% x, not\n% x", name, what, got, frame)
			}
			echoes := p.b.transmit(agent.Wire)
			if len(echoes) != 1 {
				t.Fatalf("%s, %s: %d echoes", name, what, len(echoes))
			}
			p.a.now = left + 7*ms
			p.a.receive(agent.Wire, echoes[0])
			expect(t, "frames that the application sees", len(p.a.transmit(agent.Application)), 0)
			if len(p.rps[0].acks) != 1 {
				t.Fatalf("%s, %s: %d echoes heard, refused %v", name, what, len(p.rps[0].acks), p.a.stats().NIC.Refused)
			}
			ack := p.rps[0].acks[0]
			want := 7*ms - rate.Serialize(units.Size(len(b)+wire.Overhead))
			if !carry.Stamp { // as from a host: nobody asked for it
				want = 0
			}
			if ack.RTT != want || ack.Packet != 0 || ack.Next != 1 || !ack.CE || ack.UE {
				t.Errorf("%s, %s: heard %+v, RTT should be %v", name, what, ack, want)
			}
			if carry.INT && (len(p.rps[0].hops) != 1 || p.rps[0].hops[0].Queue != 800) {
				t.Errorf("%s, %s: telemetry %+v", name, what, p.rps[0].hops)
			}
			p.a.receive(agent.Wire, echoes[0]) // again
			expect(t, "refused", p.a.stats().NIC.Refused[fabric.CNPUnknown], 1)
			expect(t, "taken", p.a.stats().NIC.EchoesTaken, 1)
			expect(t, "sent", p.b.stats().NIC.EchoesSent, 1)
		}
	}
}

// TCD's undetermined mark comes back as such; a mark is the application's if it is
// to see marks.
func TestShimTellsMarks(t *testing.T) {
	p := newShimPair(t, clocked, func(c *agent.NICConfig) { c.ClearCE = false })
	for _, mark := range []uint8{wire.ECT1, wire.ECT0, wire.CE} {
		p.a.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, ect0, 100))
		b := p.a.transmit(agent.Wire)[0]
		wire.SetECN(b[14:], mark)
		p.b.receive(agent.Wire, b)
		want := wire.ECT0
		if mark == wire.CE {
			want = wire.CE
		}
		expect(t, "the application sees", wire.ECN(p.b.transmit(agent.Application)[0][14:]), want)
		p.a.receive(agent.Wire, p.b.transmit(agent.Wire)...)
		ack := p.rps[0].acks[len(p.rps[0].acks)-1]
		if ack.CE != (mark == wire.CE) || ack.UE != (mark == wire.ECT0) {
			t.Errorf("mark %02b is told as %+v", mark, ack)
		}
		p.a.now += ms
	}
}

// A scheme may have frames wrapped and tagged, for acknowledgements and for messages of switches. The tag is as little
// the application's as what the frame is wrapped in, whether the NIC knows the application or not.
func TestWrappedFramesLoseTheirTag(t *testing.T) {
	for _, carry := range []cnp.Carry{
		{ECT: wire.ECT0, Ack: true, INT: true, Tag: true}, {ECT: wire.ECT1, Ack: true, Stamp: true, Tag: true},
	} {
		p := newShimPair(t, carry, nil)
		stranger := newShimPair(t, carry, func(c *agent.NICConfig) { c.Known = nil }).b
		for what, frame := range map[string][]byte{
			"UDP": udpFrame(t, 1, 2, 5, 6, dscp26, 1000), "VLAN": tagged(udpFrame(t, 1, 2, 5, 6, dscp26, 1000)),
			"IPv6": udp6Frame(t, 1, 2, 5, 6, dscp26, 500), "IPv6, VLAN": tagged(udp6Frame(t, 1, 2, 5, 6, dscp26, 500)),
			"RoCEv2": rxe(t, 1, 2, 7, wire.OpSendOnly, ect0, nil),
		} {
			p.a.receive(agent.Application, bytes.Clone(frame))
			b := p.a.transmit(agent.Wire)[0]
			var h wire.Header
			if grown, most := len(b)-len(frame), agent.ShimLen(carry); grown != most && grown != most-20 {
				t.Errorf("%s: %d bytes longer, said was %d", what, grown, most)
			}
			if wire.Parse(b, &h); !h.CNTagged || h.BTH == 0 || wire.BTH(b[h.BTH:]).Opcode() != wire.OpShim {
				t.Fatalf("%s: on the wire is % x", what, b[:80])
			}
			stranger.receive(agent.Wire, bytes.Clone(b))
			p.b.receive(agent.Wire, b)
			for who, got := range map[string][][]byte{
				"known": p.b.transmit(agent.Application), "stranger": stranger.transmit(agent.Application),
			} {
				if len(got) != 1 || !bytes.Equal(got[0], frame) {
					t.Errorf("%s, %s: the application gets\n% x, not\n% x", what, who, got, frame)
				}
			}
			p.a.now += ms
			p.b.now += ms
			stranger.now += 200 * ms
		}
	}
}

// Wherever in its memory an application's frame begins, there is room for what the NIC puts before it.
func TestRoomBeforeAFrame(t *testing.T) {
	for _, tag := range []bool{false, true} {
		p := newShimPair(t, cnp.Carry{ECT: wire.ECT0, Ack: true, INT: true, Tag: tag}, nil)
		for _, frame := range [][]byte{udpFrame(t, 1, 2, 5, 6, dscp26, 300), udp6Frame(t, 1, 2, 5, 6, dscp26, 300)} {
			for off := range uint16(128) {
				if tag && off < wire.CNTagLen { // for the tag alone worlds have room
					continue
				}
				f, _ := p.a.pool.Alloc(len(frame))
				f.Off = off
				copy(p.a.pool.Header(f), frame)
				p.a.nic.Receive(p.a.now, agent.Application, []fabric.Frame{f})
				for _, b := range p.a.transmit(agent.Wire) {
					p.b.receive(agent.Wire, b)
				}
				got := p.b.transmit(agent.Application)
				if len(got) != 1 || !bytes.Equal(got[0], frame) {
					t.Fatalf("tag %v, %d bytes before it: it arrives as\n% x, not\n% x", tag, off, got, frame)
				}
				p.b.transmit(agent.Wire)
				p.a.now += ms
				p.b.now += ms
			}
		}
	}
}

// An application that has sent nothing yet, and gets a frame now and then, sees its mark, too.
func TestStrangersSeeMarks(t *testing.T) {
	for _, clear := range []bool{false, true} {
		p := newShimPair(t, clocked, func(c *agent.NICConfig) { c.ClearCE = clear })
		stranger := newShimPair(t, clocked, func(c *agent.NICConfig) { c.ClearCE, c.Known = clear, nil }).b
		for _, frame := range [][]byte{
			udpFrame(t, 1, 2, 5, 6, ect0, 100), udpFrame(t, 1, 2, 5, 6, dscp26, 100),
			udp6Frame(t, 1, 2, 5, 6, ect0, 500), tagged(udpFrame(t, 1, 2, 5, 6, ect0, 100)),
		} {
			for _, mark := range []uint8{wire.ECT1, wire.ECT0, wire.CE} {
				p.a.receive(agent.Application, frame)
				b := p.a.transmit(agent.Wire)[0]
				var h wire.Header
				wire.Parse(b, &h)
				wire.SetECN(b[h.L3:], mark)
				stranger.receive(agent.Wire, bytes.Clone(b))
				p.b.receive(agent.Wire, b)
				known, unknown := p.b.transmit(agent.Application), stranger.transmit(agent.Application)
				if len(known) != 1 || len(unknown) != 1 || !bytes.Equal(known[0], unknown[0]) {
					t.Errorf("clear %v, mark %02b: a stranger gets\n% x, others\n% x", clear, mark, unknown, known)
				}
				p.b.transmit(agent.Wire)
				p.a.now += ms
				stranger.now += 200 * ms
			}
		}
	}
}

// What may be under way is the window; an echo lets the next frames go, and if none
// comes, so does a timer.
func TestNICKeepsToTheWindow(t *testing.T) {
	p := newShimPair(t, telling, nil)
	frame := udpFrame(t, 1, 2, 5, 6, dscp26, 858) // 1022 bytes on the wire, with all
	onWire := units.Size(len(frame) + agent.ShimLen(telling) - 20 + wire.Overhead)
	p.a.receive(agent.Application, frame)
	p.rps[0].window = 3 * onWire
	p.rps[0].rate = 100 * units.Gbps
	for range 9 {
		p.a.receive(agent.Application, frame)
	}
	take := func() (out [][]byte) {
		for range 20 {
			out = append(out, p.a.transmit(agent.Wire)...)
			p.a.now += units.Microsecond
		}
		return out
	}
	first := take()
	expect(t, "under way", len(first), 3)
	p.b.receive(agent.Wire, first[1]) // the first is lost, or late
	p.a.receive(agent.Wire, p.b.transmit(agent.Wire)...)
	expect(t, "after an echo about two", len(take()), 2)
	p.a.now += 200 * ms
	expect(t, "when no echo comes", len(take()), 3)
	expect(t, "waiting", p.a.nic.Queued(), 2)
}

// Echoes that are not about something sent change nothing.
func TestForgedEchoes(t *testing.T) {
	p := newShimPair(t, telling, nil)
	p.a.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, dscp26, 100))
	p.b.receive(agent.Wire, p.a.transmit(agent.Wire)...)
	good := p.b.transmit(agent.Wire)[0]
	forge := func(change func(b []byte, bth wire.BTH)) []byte {
		b := bytes.Clone(good)
		change(b, wire.BTH(b[42:]))
		wire.SealICRC(b[14:], 28)
		return b
	}
	for what, b := range map[string][]byte{
		"of another host":  forge(func(b []byte, _ wire.BTH) { b[29] = 9 }),
		"to another":       forge(func(b []byte, _ wire.BTH) { b[33] = 9; mac(1).Put(b) }),
		"of another flow":  forge(func(_ []byte, bth wire.BTH) { bth[7]++ }),
		"of one that was":  forge(func(_ []byte, bth wire.BTH) { bth[5]++ }),
		"about the future": forge(func(_ []byte, bth wire.BTH) { bth.SetPSN(1, false) }),
		"of too many":      forge(func(b []byte, _ wire.BTH) { binary.BigEndian.PutUint64(b[len(b)-12:], 1<<40) }),
		"of none":          forge(func(b []byte, _ wire.BTH) { clear(b[len(b)-12 : len(b)-4]) }),
	} {
		before := p.a.stats().NIC.Refused[fabric.CNPUnknown]
		p.a.receive(agent.Wire, b)
		if n := p.a.stats().NIC.Refused[fabric.CNPUnknown]; n != before+1 || len(p.rps[0].acks) != 0 {
			t.Errorf("an echo %s is taken", what)
		}
	}
	broken := bytes.Clone(good)
	broken[60]++
	broken[len(broken)-1]++
	p.a.receive(agent.Wire, broken, good[:70])
	expect(t, "malformed", p.a.stats().NIC.Refused[fabric.CNPMalformed], 2)
	p.a.receive(agent.Wire, good)
	expect(t, "heard", len(p.rps[0].acks), 1)
	p.a.receive(agent.Application, good) // an application's to send it is not
	expect(t, "forged", p.a.discards(agent.Application, fabric.DropForged), 1)
}

// A flood of wrapped frames of many flows costs bounded memory, and the newest are
// echoed; frames that are broken are dropped.
func TestFloodOfWrappedFrames(t *testing.T) {
	p := newShimPair(t, telling, nil)
	p.a.receive(agent.Application, udpFrame(t, 1, 2, 5, 6, dscp26, 100))
	b := p.a.transmit(agent.Wire)[0]
	for range 3000 { // the wire is busy: no echo leaves
		p.b.receive(agent.Wire, b)
		p.b.transmit(agent.Application)
	}
	if n := len(p.b.transmit(agent.Wire)); n < 1 || n > 1024 {
		t.Errorf("%d echoes wait", n)
	}
	for cut := range len(b) {
		p.b.receive(agent.Wire, b[:cut])
	}
	b[len(b)-1]++
	p.b.receive(agent.Wire, b)
	if n := p.b.discards(agent.Wire, fabric.DropMalformed); n < 50 {
		t.Errorf("%d broken frames were dropped", n)
	}
	p.b.transmit(agent.Application)
	p.b.transmit(agent.Wire)
}

// Under schemes that go by round-trip times the queue is short, too, in virtual
// time, where nothing else has a say; what their papers say about fairness is the
// schemes' own (timely-patched's shares converge).
func TestNICsUnderRoundTripTimes(t *testing.T) {
	run := func(name string) (queue float64, pauses uint64) {
		w := newIncast(t, name)
		if err := w.Run(context.Background(), incastSpan); err != nil {
			t.Fatal(err)
		}
		if err := w.Audit(); err != nil {
			t.Fatal(err)
		}
		s := w.sw.Stats(w.Now())
		for i := range s.Ports {
			pauses += s.Ports[i].Ingress.Pauses[3]
			if n := s.Ports[i].Discarded(); n != [8]uint64{} {
				t.Errorf("%s: the switch discards %v at port %d", name, n, i)
			}
		}
		var sum float64
		for i := range 3 {
			sum += float64(w.apps[3].from[byte(i+1)])
			if st := w.nics[i].Stats(w.Now()); name != "none" && st.NIC.EchoesTaken < 1000 {
				t.Errorf("%s: NIC %d hears %d echoes", name, i, st.NIC.EchoesTaken)
			}
		}
		used := sum * float64(8*(1042+wire.Overhead)) / incastSpan.Seconds() / float64(incastRate)
		t.Logf("%-15s queue %8.0f B, %6d pauses, %.3f of the link used, %v", name, w.queue, pauses, used, w.apps[3].from)
		if used < 0.6 {
			t.Errorf("%s: %.2f of the link is used", name, used)
		}
		expect(t, name+": marks that the application sees", w.apps[3].ce, 0)
		return w.queue, pauses
	}
	queue, pauses := run("none")
	for _, name := range []string{"hpcc", "timely", "timely-patched", "tcd+timely"} {
		if q, n := run(name); q > queue*3/4 || n > pauses/5 {
			t.Errorf("%s: mean queue %.0f B and %d pauses, without a scheme %.0f B and %d", name, q, n, queue, pauses)
		}
	}
}
