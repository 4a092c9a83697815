package dataplane

import (
	"testing"

	"photon/fabric"
	"photon/pfc"
)

func (r *rig) shut(port int, shut bool) {
	r.t.Helper()
	ch, err := r.sw.PrepareLink(port, LinkState{Up: true, Shut: shut})
	if err != nil {
		r.t.Fatal(err)
	}
	r.sw.SetLink(r.now, ch)
}

// A port that an operator has shut has no link, though its device has one: what comes through it goes nowhere,
// teaches nothing and pauses nothing; what waits for it holds no buffer; and when it is opened it is as new.
func TestPortThatIsShut(t *testing.T) {
	c := config(3)
	c.Learn = true
	r := newRig(t, c)
	r.in(1, packet(10, 0, 0, 0), 100) // 10 is learned at port 1
	r.out(0, 8)
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	for range 30 {
		r.in(0, packet(0, 1, 26, 0), 1000)
	}
	r.shut(1, true)
	if st := r.stats(1); st.Discards[fabric.DropLink][3] != 30 || r.sw.Queued() != 0 || r.sw.Paused(1) != 0 {
		t.Errorf("%v discarded, %d wait", st.Discards[fabric.DropLink], r.sw.Queued())
	}
	r.out(0, 8) // XON
	before := *r.stats(1)
	r.burst(1, packet(11, 0, 26, 0), packet(11, 0, 0, 0))
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	r.in(1, []byte{1, 2, 3}, 3)
	st := r.stats(1)
	if st.Discards[fabric.DropLink][3]-before.Discards[fabric.DropLink][3] != 1 || st.Discards[fabric.DropLink][0]-before.Discards[fabric.DropLink][0] != 2 || st.Discards[fabric.DropMalformed][0] != 1 {
		t.Errorf("of four frames that come %v were discarded, of none, one and a pause before %v", st.Discards, before.Discards)
	}
	if r.sw.Paused(1) != 0 || len(r.out(0, 8)) != 0 {
		t.Error("what comes through a port that is shut has an effect")
	}
	r.in(0, packet(0, 11, 0, 0), 1000) // 11 is unknown, and 10 was forgotten
	r.in(0, packet(0, 10, 0, 0), 1000)
	if len(r.out(1, 8)) != 0 || len(r.out(2, 8)) != 2 {
		t.Error("frames for unknown addresses do not go to the port that is open, and to it alone")
	}
	r.link(1, true) // its device has a link, and it is no longer shut
	r.in(0, packet(0, 1, 26, 0), 1000)
	r.in(1, packet(11, 0, 0, 0), 500)
	r.in(0, packet(0, 11, 0, 0), 1000)
	if len(r.out(1, 8)) != 2 || len(r.out(0, 8)) != 1 {
		t.Error("the port that was opened again does not forward")
	}
}
