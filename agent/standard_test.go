package agent_test

import (
	"errors"
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/units"
	"photon/wire"
)

// A queue pair that is not ready is left alone for as long as it says, and then gets the packet that it names; one that
// answers with an error ends the flow.
func TestQueuePairAnswers(t *testing.T) {
	var sent []uint32 // PSNs, in order
	p := newPair(t, cnp.Silent{}, nil)
	p.wire.drop = func(b []byte) bool { // the test answers
		var h wire.Header
		if wire.Parse(b, &h); h.BTH > 0 {
			sent = append(sent, wire.BTH(b[h.BTH:]).PSN())
		}
		return true
	}
	const qp, own = 7, 9
	answer := func(psn uint32, syndrome uint8) {
		p.inject(p.frameTo(1, func(b []byte, to wire.RoCE) int {
			length := wire.BTHLen + wire.AETHLen + wire.ICRCLen
			at := to.Encode(b, length)
			wire.BTH(b[at:]).Encode(wire.OpAcknowledge, false, own, false, psn)
			wire.AETH(b[at+wire.BTHLen:]).Encode(syndrome, 3) // the third message of the queue pair
			wire.SealICRC(b[wire.EthernetLen:at+length], at-wire.EthernetLen)
			return at + length
		}))
	}
	const first, notReady = 500, 0x20 | 14 // for 1.28 ms
	if _, err := p.a.AddFlow(0, agent.FlowSpec{Peer: ip(2), PeerMAC: mac(2), QP: qp, PSN: first, Pair: &agent.Pair{Local: own, Messages: 1, Size: 10_000}}); err != nil {
		t.Fatal(err)
	}
	p.run(ms)
	if len(sent) != 10 || sent[0] != first {
		t.Fatalf("sent %v", sent)
	}
	answer(first+4, notReady)
	p.run(ms + 1270*units.Microsecond)
	if len(sent) != 10 {
		t.Errorf("sent %v within the time that the queue pair asked for", sent[10:])
	}
	p.run(3 * ms)
	if len(sent) != 16 || sent[10] != first+4 {
		t.Fatalf("sent %v afterwards", sent[10:])
	}
	answer(first+6, wire.SyndromeACK)
	answer(first+7, 0x63) // a remote operational error
	if done := p.a.TakeResults(); len(done) != 1 || !errors.Is(done[0].Why, agent.ErrRefused) {
		t.Errorf("%+v", done)
	}
}
