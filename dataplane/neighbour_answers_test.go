package dataplane

import (
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
)

// The answer to a question of the router's own is no loss, whatever its priority: it is neither discarded nor an event. One
// that nobody asked for is counted.
func TestAnswersAreNoLosses(t *testing.T) {
	c := askingConfig()
	for i := range c.DSCP {
		c.DSCP[i] = 3
	}
	for i := range c.Ports {
		c.Ports[i].Classes = &Classes{Trust: TrustNone, Default: 3}
	}
	eachCrew(t, c, func(t *testing.T, r *rig) {
		questions := r.asks(1)
		for _, q := range questions {
			b := answerTo(q, mac(77))
			r.in(1, b, len(b))
			r.in(1, b, len(b))
		}
		for _, n := range r.sw.Neighbours() {
			if n.State != "reachable" {
				t.Errorf("%+v", n)
			}
		}
		for p := range r.sw.ports {
			if st := r.stats(p); st.Discarded() != [8]uint64{} {
				t.Errorf("port %d: %v", p, st.Discards)
			}
		}
		if n := r.stats(1).RxFrames[3]; n != 4 {
			t.Errorf("%d frames of priority 3 were received", n)
		}
		r.audit()
		for _, q := range questions {
			b := answerTo(q, mac(78))
			r.in(0, b, len(b)) // at another port than the neighbours'
		}
		if n := r.discarded(fabric.DropToRouter); n != 2 {
			t.Errorf("%d answers to no question are counted", n)
		}
		r.audit()
	})
}

// Nothing but what a neighbour says of itself, where it is asked and as the RFCs want it, is believed.
func TestHostileAnswers(t *testing.T) {
	c := askingConfig()
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t, c)
		questions := r.asks(1)
		next := rapid.SampledFrom([]string{"10.2.0.2", "fd00:2::2"}).Draw(rt, "of")
		b := answerTo(questions[next], mac(77))
		port := rapid.IntRange(0, 2).Draw(rt, "port")
		// What is behind an ARP packet is padding; of Ethernet the destination does not count, nor do traffic class and flow
		// label, or a host's protocol bits that no rule names.
		from, to := 6, 14+28
		if next[0] == 'f' {
			to = len(b)
		}
		at := rapid.IntRange(from, to-1).Draw(rt, "at")
		if next[0] == 'f' && (at >= 14 && at < 18) || next[0] == '1' && (at >= 14+18 || at == 21) {
			at = 12
		}
		if rapid.Bool().Draw(rt, "spoilt") {
			b[at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "by"))
		} else if port == 1 {
			port = 0
		}
		r.in(port, b, len(b))
		for _, n := range r.sw.Neighbours() {
			if n.State != "incomplete" {
				rt.Fatalf("port %d, byte %d: believed % x: %+v", port, at, b, n)
			}
		}
		r.out(1, 9)
		r.out(2, 9)
	})
}
