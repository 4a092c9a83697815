package agent_test

import (
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/dataplane"
	"photon/units"
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
	if st.NPSent <= sent || st.Ports[0].Discards[dataplane.DropTable][3] != 0 {
		t.Errorf("%d CNPs before, %d after, %d frames found no place", sent, st.NPSent, st.Ports[0].Discards[dataplane.DropTable][3])
	}
}
