package daemon

import (
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/fabric"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// An agent that answers READs shows one flow for the queue pair, with all that was sent on it, responses included.
func TestQueuePairsAreShownOnce(t *testing.T) {
	const qp, own, length = 31, 52, 10 << 10
	ip, peer := wire.IPv4(10, 0, 0, 1), wire.IPv4(10, 0, 0, 2)
	env := fabric.NewEnv(fabric.NewHeaderPoolOf(2048), 1)
	line := ratelimit.Unlimited{Line: 10 * units.Gbps}
	h, err := agent.New(agent.Config{
		MAC: 1 << 41, IP: ip, Link: fabric.Link{Rate: line.Line}, Payload: 1024,
		AckTimeout: units.Second, Senders: 600, Receivers: 1,
		NP: cnp.Silent{}, NewRP: func(*ratelimit.Port) ratelimit.RP { return line },
		Memory: agent.NewMemory(0, 7, length),
	}, env)
	if err != nil {
		t.Fatal(err)
	}
	add := func(spec agent.FlowSpec) int {
		spec.Peer, spec.PeerMAC = peer, 1<<41+1
		id, err := h.AddFlow(0, spec)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	add(agent.FlowSpec{QP: qp, Pair: &agent.Pair{Local: own}})
	var between []int
	for i := range uint32(2 * surveySlots) { // the responses are not asked in the same turn
		between = append(between, add(agent.FlowSpec{QP: 100 + i, Start: units.Second}))
	}
	b := make([]byte, wire.EthernetLen+wire.IPv4Len+wire.UDPLen+wire.BTHLen+wire.RETHLen+wire.ICRCLen)
	r := wire.RoCE{DstMAC: 1 << 41, SrcMAC: 1<<41 + 1, Src: peer, Dst: ip, SrcPort: 50_000}
	at := r.Encode(b, wire.BTHLen+wire.RETHLen+wire.ICRCLen)
	wire.BTH(b[at:]).Encode(wire.OpReadRequest, false, own, true, 5)
	wire.RETH(b[at+wire.BTHLen:]).Encode(0, 7, length)
	wire.SealICRC(b[wire.EthernetLen:], at-wire.EthernetLen)
	f, _ := env.Alloc(len(b))
	copy(env.Bytes(&f), b)
	h.Receive(0, 0, []fabric.Frame{f})
	for _, id := range between {
		h.StopFlow(0, id)
	}
	now, sent := units.Time(0), uint64(0)
	d := &daemon{host: h, world: &still{now: units.Millisecond}}
	for h.Next(now, 0) < units.Second {
		now = h.Next(now, 0)
		var out [1]fabric.Frame
		if h.Transmit(now, 0, out[:]) == 0 {
			continue
		}
		sent++
		env.Free(out[0])
		s := d.survey(10)
		if s.Active != 1 || len(s.Top) != 1 || s.Top[0].QP != qp ||
			s.Top[0].Packets != sent || s.Top[0].Bytes != h.DataSent() {
			t.Fatalf("%d packets were sent, %d bytes; it shows %d flows: %+v", sent, h.DataSent(), s.Active, s.Top)
		}
	}
	if sent != length/1024 {
		t.Errorf("%d responses", sent)
	}
}

// Flows of programs are named by protocol and both ends, with ports if there are any, and those of RoCEv2 by queue
// pair.
func TestFlowsOfANICHaveNames(t *testing.T) {
	from, v6 := wire.IPv4(10, 0, 0, 1), wire.IP{0: 0xFD, 15: 2}
	for _, c := range []struct {
		flow agent.NICFlow
		want string
	}{
		{agent.NICFlow{From: from, To: v6, FromPort: 5, ToPort: 6, Proto: 6}, "10.0.0.1:5 [fd00::2]:6 tcp 0"},
		{agent.NICFlow{From: v6, To: from, FromPort: 5, ToPort: 6, Proto: 17, Prio: 3}, "[fd00::2]:5 10.0.0.1:6 udp 3"},
		{agent.NICFlow{From: v6, To: from, QP: 9, RoCE: true, Proto: 17, Prio: 3}, "fd00::2 10.0.0.1 roce, queue pair 9 3"},
		{agent.NICFlow{From: from, To: from, Proto: 1}, "10.0.0.1 10.0.0.1 1 0"},
	} {
		c.flow.Rate, c.flow.Frames, c.flow.Bytes, c.flow.Notified, c.flow.Waiting = 2, 3, 4, 5, 6
		c.flow.Limited, c.flow.Silent = true, true
		f := flowOfNIC(&c.flow)
		if f.Name() != c.want || f.Rate != 2 || f.Packets != 3 || f.Bytes != 4 || f.Notified != 5 ||
			!f.Limited || f.Waiting != 6 || !f.Silent {
			t.Errorf("%q, not %q: %+v", f.Name(), c.want, f)
		}
	}
}
