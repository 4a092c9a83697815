package agent_test

import (
	"testing"

	"pgregory.net/rapid"

	"photon/agent"
	"photon/cnp"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Whatever has which DSCP: a frame is counted in the priority that the configuration gives it, data or not, as it comes
// and as it is discarded.
func TestFramesHaveThePriorityOfTheirDSCP(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var prios [64]uint8
		for dscp := range prios {
			prios[dscp] = rapid.Uint8Range(0, 7).Draw(r, "priority")
		}
		data := rapid.Uint8Range(0, 63).Draw(r, "data")
		p := newPair(t, cnp.Silent{}, func(c *agent.Config) { c.DSCP, c.DataDSCP, c.Receivers = prios, data, 64 })
		var came, strange [8]uint64
		for dscp := range uint8(64) {
			b := make([]byte, 74)
			to := wire.RoCE{DstMAC: mac(1), SrcMAC: mac(2), Src: ip(2), Dst: ip(1), TOS: dscp << 2, SrcPort: 50000}
			if dscp%2 > 0 {
				to.Dst = ip(9)
				strange[prios[dscp]]++
			}
			at := to.Encode(b, wire.BTHLen+16+wire.ICRCLen)
			wire.BTH(b[at:]).Encode(wire.OpSendOnly, false, uint32(dscp), false, 0)
			came[prios[dscp]]++
			p.inject(b)
		}
		st := p.a.Stats(p.Now()).Ports[0]
		if st.RxFrames != came || st.Discards[fabric.DropUnknown] != strange || p.a.Audit() != nil {
			r.Fatalf("data have DSCP %d, priorities are %v: %v came, %v are strange; counted %v and %v, %v",
				data, prios, came, strange, st.RxFrames, st.Discards[fabric.DropUnknown], p.a.Audit())
		}
	})
}

// What leaves is counted in the priority of its own DSCP, whether it is data, an acknowledgement or a CNP, and waits for
// the pauses of that.
func TestSentFramesHaveThePriorityOfTheirDSCP(t *testing.T) {
	for paused, want := range map[uint8][8]bool{0: {3: true, 5: true, 6: true}, 1 << 5: {6: true}, 1 << 6: {5: true}} {
		np := cnp.NewDCQCN(cnp.DCQCNParams{Interval: ms / 10}, 4)
		p := newPair(t, np, func(c *agent.Config) {
			c.AckDSCP, c.AckEvery, c.Lossless = 40, 1, 1<<3|1<<5|1<<6
			if c.MAC == mac(1) {
				c.NP = cnp.Silent{}
			}
		})
		var left [8]uint64
		p.wire.drop = func(b []byte) bool {
			if b[14]>>4 == 4 {
				left[b[15]>>5]++
				if b[15]>>2 == 26 {
					wire.SetECN(b[wire.EthernetLen:], wire.CE)
				}
			}
			return false
		}
		pause := make([]byte, pfc.FrameLen)
		xoff := pfc.Frame{Enable: paused, Quanta: [8]uint16{5: 65535, 6: 65535}} // 3.3 ms
		xoff.Encode(pause, mac(9))
		f, _ := p.wire.env.Alloc(len(pause))
		copy(p.wire.env.Header(f), pause)
		p.b.Receive(p.Now(), 0, []fabric.Frame{f})
		p.send(1, 100*units.KB, 0)
		p.run(ms)
		a, b := p.a.Stats(p.Now()).Ports[0], p.b.Stats(p.Now()).Ports[0]
		for prio, n := range left {
			if a.TxFrames[prio]+b.TxFrames[prio] != n || b.TxFrames[prio] > 0 && !want[prio] || n == 0 && want[prio] {
				t.Errorf("paused %b, priority %d: %d frames on the wire; sent %d and %d",
					paused, prio, n, a.TxFrames[prio], b.TxFrames[prio])
			}
		}
	}
}

// A packet for another address is no host's, whichever byte of the address is another.
func TestPacketsForOthersAreNotTaken(t *testing.T) {
	v6 := func(i byte) (a wire.IP) {
		for at := range a {
			a[at] = byte(at) * 3
		}
		a[0], a[15] = 0xFD, i
		return a
	}
	for _, address := range []func(i byte) wire.IP{func(i byte) wire.IP { return ip(int(i)) }, v6} {
		own, peer := address(1), address(2)
		p := newPair(t, cnp.Silent{}, func(c *agent.Config) { c.IP = address(byte(c.MAC)) })
		offer := func(to wire.IP) (taken bool) {
			b := make([]byte, 94)
			h := wire.RoCE{DstMAC: mac(1), SrcMAC: mac(2), Src: peer, Dst: to, TOS: 26 << 2, SrcPort: 50000}
			at := h.Encode(b, wire.BTHLen+16+wire.ICRCLen)
			wire.BTH(b[at:]).Encode(wire.OpSendOnly, false, 1, false, 0)
			strange := p.a.Stats(p.Now()).Ports[0].Discards[fabric.DropUnknown]
			p.inject(b)
			return p.a.Stats(p.Now()).Ports[0].Discards[fabric.DropUnknown] == strange
		}
		first := 0
		if own.Is4() {
			first = 12
		}
		for at := first; at < len(own); at++ {
			other := own
			if other[at] ^= 0x10; offer(other) {
				t.Errorf("%v takes a packet for %v", own, other)
			}
		}
		if !offer(own) {
			t.Errorf("%v does not take its own", own)
		}
	}
}
