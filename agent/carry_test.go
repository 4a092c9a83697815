package agent_test

import (
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// acked is a reaction point that keeps what acknowledgements say, and has a window.
type acked struct {
	rp
	window units.Size
	acks   []ratelimit.Ack
	hops   []wire.INTHop
	sizes  []int
}

func (a *acked) Ack(_ units.Time, ack *ratelimit.Ack) {
	a.acks = append(a.acks, *ack)
	if ack.Hops != nil {
		a.sizes = append(a.sizes, ack.Hops.Hops())
		for i := range ack.Hops.Hops() {
			a.hops = append(a.hops, ack.Hops.Hop(i))
		}
	}
}

func (a *acked) Window() units.Size { return a.window }

// newAcked is a pair of hosts whose scheme acknowledges every packet.
func newAcked(t *testing.T, carry cnp.Carry, window units.Size) (*pair, *acked) {
	a := &acked{rp: rp{rate: rate}, window: window}
	carry.ECT, carry.Ack = wire.ECT0, true
	p := newPair(t, cnp.Silent{}, func(c *agent.Config) {
		c.Carry = carry
		c.NewRP = func(*ratelimit.Port) ratelimit.RP { return a }
	})
	return p, a
}

// Every packet is acknowledged in order; the round-trip time leaves out the
// packet's own time on the link, and counts every other hop's.
func TestEveryPacketIsAcknowledged(t *testing.T) {
	p, a := newAcked(t, cnp.Carry{Stamp: true}, units.MB)
	p.send(1, 100*units.KB, ms)
	p.run(3 * ms)
	if len(a.acks) != 99 { // the last ends the flow
		t.Fatalf("%d acknowledgements", len(a.acks))
	}
	for i, ack := range a.acks {
		if ack.Packet != uint64(i) || ack.Next < ack.Packet || ack.CE || ack.UE || ack.Hops != nil {
			t.Fatalf("%+v", ack)
		}
	}
	// Four links of 10 us; the data packet's second link, and the
	// acknowledgement's two, take time beside propagation.
	data, ack := rate.Serialize(1000+58+wire.StampLen+24), rate.Serialize(62+wire.StampLen+24)
	if want := 4*delay + data + 2*ack; a.acks[0].RTT != want {
		t.Errorf("RTT %v, want %v", a.acks[0].RTT, want)
	}
	if got := p.b.Received(ip(1), 1).Frames; got != 100 {
		t.Errorf("%d frames arrived", got)
	}
}

// A window of 0 or less lets nothing out, and a flow's state says so; a byte of it lets one packet after the other out.
func TestShutWindowsShow(t *testing.T) {
	for window, shut := range map[units.Size]bool{0: true, -5: true, 1: false} {
		p, a := newAcked(t, cnp.Carry{}, units.MB)
		p.send(1, 100*units.MB, ms)
		p.run(2 * ms)
		a.window = window
		p.run(3 * ms)
		before := len(a.acks)
		p.run(4 * ms)
		s := p.a.Flow(4*ms, 0)
		if s.NoWindow != shut || !s.Active || (len(a.acks) == before) != shut {
			t.Errorf("window %v: shut %v, active %v, %d packets more", window, s.NoWindow, s.Active, len(a.acks)-before)
		}
	}
}

// Marks come back with acknowledgements: CE, and the codepoint that is TCD's UE
// where data leaves with ECT(1).
func TestMarksComeBack(t *testing.T) {
	p, a := newAcked(t, cnp.Carry{}, units.MB)
	n := 0
	p.wire.drop = func(b []byte) bool {
		var h wire.Header
		if wire.Parse(b, &h); wire.BTH(b[h.BTH:]).Opcode() == wire.OpSendMiddle {
			if n++; n%2 == 0 {
				wire.SetECN(b[h.L3:], wire.CE)
			}
		}
		return false
	}
	p.send(1, 20*units.KB, 0)
	p.run(ms)
	for i, ack := range a.acks {
		if want := i > 0 && i%2 == 0; ack.CE != want || ack.UE {
			t.Errorf("packet %d: %+v", i, ack)
		}
	}
}

// Telemetry that a switch writes on the way comes back; the wire here does it.
func TestTelemetryComesBack(t *testing.T) {
	p, a := newAcked(t, cnp.Carry{INT: true}, units.MB)
	p.wire.drop = func(b []byte) bool {
		var h wire.Header
		wire.Parse(b, &h)
		if x := wire.INTOf(b[h.L3:], h.BTH-h.L3); x != nil && wire.BTH(b[h.BTH:]).Opcode() != wire.OpAcknowledge {
			x.Push(wire.INTHop{Rate: rate, Time: 5 * units.Microsecond, TxBytes: 1280, Queue: 800})
		}
		return false
	}
	p.send(1, 10*units.KB, 0)
	p.run(ms)
	if len(a.sizes) != 9 {
		t.Fatalf("%d acknowledgements with telemetry", len(a.sizes))
	}
	for i, hop := range a.hops {
		if a.sizes[i] != 1 || hop != (wire.INTHop{Rate: rate, Time: 5 * units.Microsecond, TxBytes: 1280, Queue: 800}) {
			t.Errorf("%+v", hop)
		}
	}
}

// No more than a window is under way, and the flow goes on as acknowledgements
// come: a window every round-trip time.
func TestWindow(t *testing.T) {
	const frame = 1000 + 58 + 24
	p, _ := newAcked(t, cnp.Carry{}, 10*frame)
	most := uint64(0)
	id := p.send(1, 0, 0)
	p.Every(units.Microsecond, func(now units.Time) {
		sent, got := p.a.Flow(now, id).Frames, p.b.Received(ip(1), 1).Frames
		most = max(most, sent-got)
	})
	p.run(10 * ms)
	if most > 10 {
		t.Errorf("%d frames were under way", most)
	}
	rtt := 4*delay + 2*rate.Serialize(frame) + 2*rate.Serialize(62+24)
	want := float64(10*ms) / float64(rtt) * 10
	if got := float64(p.a.Flow(p.Now(), id).Frames); got < 0.95*want || got > 1.05*want+10 {
		t.Errorf("%.0f frames, want %.0f", got, want)
	}
}

// An acknowledgement that is lost with the window full: the timeout sends again.
func TestWindowOutlivesALostAck(t *testing.T) {
	const frame = 1000 + 58 + 24
	p, _ := newAcked(t, cnp.Carry{}, frame)
	p.wire.drop = func(b []byte) bool {
		var h wire.Header
		wire.Parse(b, &h)
		bth := wire.BTH(b[h.BTH:])
		return p.wire.gone == 0 && bth.Opcode() == wire.OpAcknowledge && bth.PSN() == 5
	}
	p.send(1, 10*units.KB, 0)
	p.run(20 * ms)
	if done := p.a.TakeResults(); len(done) != 1 || done[0].FCT() < 5*ms || done[0].FCT() > 7*ms {
		t.Errorf("%+v", done)
	}
}

// A flow's tag names it in what a congestion point says; anything else is counted
// and changes nothing.
func TestCNM(t *testing.T) {
	p := newPair(t, cnp.Silent{}, func(c *agent.Config) { c.Carry.Tag = true })
	var data []byte
	p.wire.drop = func(b []byte) bool {
		if data == nil {
			data = append([]byte{}, b...)
		}
		return false
	}
	id := p.send(1, 0, 0)
	p.run(ms)
	var h wire.Header
	if wire.Parse(data, &h); !h.CNTagged || int(h.FlowID) != id || h.BTH == 0 {
		t.Fatalf("data carries no tag: %x", data)
	}
	cnm := func(change func(h *wire.Header)) []byte {
		sampled := h
		change(&sampled)
		b := make([]byte, cnp.MaxCNMLen)
		return b[:cnp.EncodeCNM(b, data, &sampled, mac(9), cnp.CNM{QntzFb: 9})]
	}
	p.rps[0].rate = rate
	p.inject(cnm(func(h *wire.Header) { h.FlowID = 3 }))       // no such flow
	p.inject(cnm(func(h *wire.Header) { h.FlowID = 60_000 }))  // nor such a slot
	p.inject(cnm(func(h *wire.Header) { h.Dst = mac(7) }))     // the flow goes elsewhere
	p.inject(cnm(func(h *wire.Header) { h.CNTagged = false })) // names no flow
	p.inject(cnm(func(h *wire.Header) { h.Src = mac(8) }))     // not for us
	p.inject(cnm(func(*wire.Header) {})[:20])                  // cut short
	if st := p.a.Stats(p.Now()); st.RPIgnored != 6 || p.rps[0].cnps != 0 {
		t.Errorf("%d ignored, %d taken", st.RPIgnored, p.rps[0].cnps)
	}
	p.inject(cnm(func(*wire.Header) {}))
	if st := p.a.Stats(p.Now()); st.RPHandled != 1 || p.rps[0].cnps != 1 || p.a.Flow(p.Now(), id).Notified != 1 {
		t.Errorf("%+v", st)
	}
	p.run(2 * ms)
}

// A limit holds whatever the reaction point allows, and can change.
func TestLimit(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	id, err := p.a.AddFlow(0, agent.FlowSpec{Peer: ip(2), PeerMAC: mac(2), QP: 1, Limit: units.Gbps, DSCP: 34})
	if err != nil {
		t.Fatal(err)
	}
	p.run(10 * ms)
	first := p.a.Flow(p.Now(), id)
	if got := float64(first.Bytes) * 8 / 0.010; first.Rate != units.Gbps || got < 0.99e9 || got > 1.01e9 {
		t.Errorf("%v allowed, %.4g bit/s sent", first.Rate, got)
	}
	p.a.SetLimit(p.Now(), id, 0)
	p.run(20 * ms)
	if got := float64(p.a.Flow(p.Now(), id).Bytes-first.Bytes) * 8 / 0.010; got < 9.9e9 {
		t.Errorf("%.4g bit/s without a limit", got)
	}
	if st := p.b.Stats(p.Now()).Ports[0]; st.RxFrames[4] == 0 || st.RxFrames[3] != 0 {
		t.Errorf("frames by priority: %v", st.RxFrames)
	}
}

// Nothing is allocated for a packet, an acknowledgement or a notification.
func TestNoAllocationPerPacket(t *testing.T) {
	for name, carry := range map[string]cnp.Carry{"plain": {}, "tag": {Tag: true}, "stamp": {Ack: true, Stamp: true}, "int": {Ack: true, INT: true}} {
		carry.ECT = wire.ECT0
		p := newPair(t, cnp.NewDCQCN(cnp.DCQCNParams{}, 4), func(c *agent.Config) {
			c.Carry = carry
			if carry.INT {
				params := &ratelimit.HPCCParams{Line: rate, Min: units.Mbps, BaseRTT: 50 * units.Microsecond, Eta: 0.95, MaxStage: 5, AI: 80}
				c.NewRP = func(*ratelimit.Port) ratelimit.RP { return ratelimit.NewHPCC(params) }
			}
		})
		p.send(1, 0, 0)
		p.run(ms) // the wire's own queues have grown
		until := p.Now()
		if n := testing.AllocsPerRun(20, func() {
			until += 100 * units.Microsecond
			p.run(until)
		}); n > 30 { // of the run and of the audits, whatever is sent
			t.Errorf("%s: %v allocations in 100 us of a full link", name, n)
		}
	}
}
