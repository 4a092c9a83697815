package agent_test

import (
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// Where every packet is acknowledged, acknowledgements are made by what those of a flow
// have in common. A place that becomes another flow's begins anew, at both ends.
func TestAcknowledgementsOfReusedPlaces(t *testing.T) {
	for _, elastic := range []bool{false, true} {
		p := newPair(t, cnp.NewPCN(cnp.PCNParams{Period: 50 * units.Microsecond, Percent: 95}, 4), func(c *agent.Config) {
			c.Carry.Ack = true
			if c.Elastic = elastic; elastic {
				c.NP = cnp.NewPCN(cnp.PCNParams{Period: 50 * units.Microsecond, Percent: 95}, 0)
			}
		})
		rounds := 1 // places are not free before they have aged
		if elastic {
			rounds = 3
		}
		for round := range rounds {
			start := units.Time(round) * ms
			for qp := 1; qp <= 4; qp++ {
				p.send(10*round+qp, 20*units.KB, start)
			}
			p.run(start + ms)
			done := p.a.TakeResults()
			if len(done) != 4 {
				t.Fatalf("elastic %v, round %d: %d of 4 flows ended", elastic, round, len(done))
			}
			for _, r := range done {
				if r.Repeated != 0 || r.Frames != 20 {
					t.Errorf("elastic %v, round %d: %d frames, %d repeated", elastic, round, r.Frames, r.Repeated)
				}
			}
			for qp := uint32(1); qp <= 4; qp++ {
				if !p.b.Forget(ip(1), uint32(10*round)+qp) && elastic {
					t.Errorf("flow %d is not forgotten", qp)
				}
			}
		}
		st := p.a.Stats(p.Now())
		for why, n := range st.Ports[0].Discards {
			if n != ([8]uint64{}) {
				t.Errorf("elastic %v: reason %d: %v", elastic, why, n)
			}
		}
	}
}

// Acknowledgements that are broken or of no flow are told from right ones, whether
// something was learned from those before or not.
func TestBrokenAcknowledgements(t *testing.T) {
	for _, each := range []bool{false, true} {
		p := newPair(t, cnp.Silent{}, func(c *agent.Config) { c.Carry.Ack = each })
		p.send(1, 0, 0)
		p.run(ms)
		ack := func(qp uint32) []byte {
			return p.frameTo(1, func(b []byte, to wire.RoCE) int {
				to.SrcPort = 0xC001 // that of the flow's packets
				length := wire.BTHLen + wire.AETHLen + wire.ICRCLen
				at := to.Encode(b, length)
				wire.BTH(b[at:]).Encode(wire.OpAcknowledge, false, qp, false, 0)
				wire.AETH(b[at+wire.BTHLen:]).Encode(wire.SyndromeNAK, 0)
				wire.SealICRC(b[wire.EthernetLen:at+length], at-wire.EthernetLen)
				return at + length
			})
		}
		refused := func(why fabric.Reason) uint64 { return p.a.Stats(p.Now()).Ports[0].Discards[why][6] }
		for _, at := range []int{26, 47, 52, 55, 58, 61} { // addresses, queue pair, number, credits, ICRC
			before := refused(fabric.DropBadICRC)
			b := ack(1)
			b[at] ^= 4
			if p.inject(b); refused(fabric.DropBadICRC) != before+1 {
				t.Errorf("acknowledged each %v: byte %d is wrong, and it was taken", each, at)
			}
		}
		if p.inject(ack(2)); refused(fabric.DropUnknown) != 1 {
			t.Errorf("acknowledged each %v: one of an unknown flow was taken", each)
		}
		p.run(2 * ms)
	}
}
