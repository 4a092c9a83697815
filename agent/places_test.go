package agent_test

import (
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// An elastic host takes up as many flows as another, no more, and what was received
// whole can be forgotten as soon as nothing is to be said of it: then its place is
// another's.
func TestElasticHost(t *testing.T) {
	np := func() cnp.NP { return cnp.NewPCN(cnp.PCNParams{Period: 50 * units.Microsecond, Percent: 95}, 0) }
	p := newPair(t, np(), func(c *agent.Config) { c.Elastic, c.NP = true, np() })
	for qp := 1; qp <= 4; qp++ {
		p.send(qp, 10*units.KB, 0)
	}
	if _, err := p.a.AddFlow(0, agent.FlowSpec{Peer: ip(2), PeerMAC: mac(2), QP: 5, Size: 1}); err != agent.ErrFull {
		t.Errorf("a flow more than there may be: %v", err)
	}
	p.run(60 * units.Microsecond) // all have arrived; periods have not ended
	forgotten := 0
	for qp := uint32(1); qp <= 4; qp++ {
		if p.b.Received(ip(1), qp).Frames != 10 {
			t.Errorf("flow %d: %+v", qp, p.b.Received(ip(1), qp))
		}
		if p.b.Forget(ip(1), qp) {
			forgotten++
		}
	}
	if forgotten == 4 {
		t.Error("flows were forgotten of which CNPs are to come")
	}
	p.run(ms)
	if n := len(p.a.TakeResults()); n != 4 {
		t.Fatalf("%d of 4 flows ended", n)
	}
	sent := p.b.Stats(p.Now()).NPSent
	for qp := uint32(1); qp <= 4; qp++ {
		if !p.b.Forget(ip(1), qp) || p.b.Received(ip(1), qp).Frames != 0 {
			t.Errorf("flow %d is not forgotten", qp)
		}
	}
	for qp := 11; qp <= 14; qp++ { // there is room again, although nothing has aged
		p.send(qp, 10*units.KB, ms)
	}
	p.run(2 * ms)
	if n := len(p.a.TakeResults()); n != 4 {
		t.Errorf("%d of 4 flows that came later ended", n)
	}
	st := p.b.Stats(p.Now())
	if st.NPSent <= sent || st.Ports[0].Discards[fabric.DropTable][3] != 0 {
		t.Errorf("%d CNPs before, %d after, %d frames found no place", sent, st.NPSent, st.Ports[0].Discards[fabric.DropTable][3])
	}
}

// A flow that takes the place of another is not told of the marks of that one.
func TestCNPOfAForgottenFlow(t *testing.T) {
	p := newPair(t, cnp.NewDCQCN(cnp.DCQCNParams{Interval: 50 * units.Microsecond}, 1), func(c *agent.Config) {
		c.Receivers, c.Age, c.Lossless = 1, ms, 1<<3|1<<6
	})
	env := p.wire.env
	give := func(now units.Time, b []byte, length int) {
		f, _ := env.Alloc(length)
		copy(env.Header(f), b)
		p.b.Receive(now, 0, []fabric.Frame{f})
	}
	data := func(qp uint32, ecn uint8) []byte {
		b := make([]byte, 64)
		h := wire.RoCE{DstMAC: mac(2), SrcMAC: mac(1), Src: ip(1), Dst: ip(2), TOS: 26<<2 | ecn, SrcPort: 50000}
		bth := h.Encode(b, wire.BTHLen+1000+wire.ICRCLen)
		wire.BTH(b[bth:]).Encode(wire.OpSendOnly, false, qp, false, 0)
		return b
	}
	pause := make([]byte, pfc.FrameLen)
	f := pfc.Frame{Enable: 1 << 6, Quanta: [8]uint16{6: 65535}} // 3.3 ms at 10 Gbit/s: of CNPs
	f.Encode(pause, mac(9))
	give(0, pause, pfc.FrameLen)
	give(units.Microsecond, data(7, wire.CE), 1058)
	give(2*ms, data(8, wire.ECT0), 1058) // takes the place of the first, which was silent for longer than Age
	f.Quanta[6] = 0
	f.Encode(pause, mac(9))
	give(2*ms+units.Microsecond, pause, pfc.FrameLen)
	var burst [8]fabric.Frame
	for _, f := range burst[:p.b.Transmit(2*ms+2*units.Microsecond, 0, burst[:])] {
		var h wire.Header
		b := env.Header(f)
		if wire.Parse(b, &h); h.BTH > 0 && wire.BTH(b[h.BTH:]).Opcode() == wire.OpCNP && wire.BTH(b[h.BTH:]).DestQP() == 8 {
			t.Error("a CNP for queue pair 8, of which nothing was marked")
		}
	}
}
