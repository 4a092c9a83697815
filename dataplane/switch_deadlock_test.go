package dataplane

import (
	"slices"
	"testing"

	"photon/pfc"
)

// A probe goes on only if what does not move is what keeps its sender paused: while the
// rest would be enough for XON, it waits for no cycle.
func TestProbeIsSentOnIfNothingElseHelps(t *testing.T) {
	c := config(4)
	c.Deadlock, c.ID = 2*ms, 7
	r := newRig(t, c)
	send := func(to, frames int) {
		for range frames {
			r.in(0, packet(0, to, 26, 0), 1000)
		}
	}
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	send(1, 3) // these are stuck, and fewer than XON
	send(2, 20)
	if len(r.out(0, 4)) != 1 {
		t.Fatal("host 0 is not paused")
	}
	asked := func() (n int) {
		t.Helper()
		b := make([]byte, pfc.ProbeLen)
		(&pfc.Probe{Switch: 9, Priority: 3}).Encode(b, mac(77))
		r.in(0, b, pfc.ProbeLen)
		if found := r.sw.LookForDeadlocks(r.now); found != nil {
			t.Errorf("%+v", found)
		}
		for _, b := range r.out(1, 8) {
			if p := new(pfc.Probe); p.Decode(b) && p.Switch == 9 {
				if p.Hops != 1 {
					t.Errorf("%+v", p)
				}
				n++
			}
		}
		return n
	}
	r.now += ms
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	send(1, 8)
	if asked() != 0 {
		t.Error("a queue that has not been paused for long counts")
	}
	r.now += ms
	if asked() != 1 {
		t.Error("a queue that keeps the peer paused does not count")
	}
	r = newRig(t, c)
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	send(1, 3)
	send(2, 20)
	r.out(0, 4)
	r.now += 2 * ms
	if asked() != 0 {
		t.Error("3 of 10 KB count, although XON comes when the rest has left")
	}
}

// Only a probe of this switch's own, that comes back to the queue from which it was sent, has found a cycle, which is
// as long as its way; it is found once while it lasts. Any other goes on, but not for ever, nor to a peer that is not
// stopped.
func TestWhichProbeIsBack(t *testing.T) {
	c := config(3)
	c.Deadlock, c.ID = 2*ms, 7
	r := newRig(t, c)
	probe := func(p pfc.Probe) (found []Deadlock, on []pfc.Probe) {
		t.Helper()
		b := make([]byte, pfc.ProbeLen)
		p.Encode(b, mac(77))
		r.in(0, b, pfc.ProbeLen)
		found = r.sw.LookForDeadlocks(r.now)
		for _, b := range r.out(1, 8) {
			if x := new(pfc.Probe); x.Decode(b) && *x != (pfc.Probe{Switch: 7, Port: 1, Priority: 3}) {
				on = append(on, *x)
			}
		}
		return found, on
	}
	own := pfc.Probe{Switch: 7, Port: 1, Priority: 3, Hops: 2}
	if found, on := probe(own); found != nil || on != nil {
		t.Errorf("where no peer is stopped: %+v, %+v", found, on)
	}
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	r.sendUntilPaused(0, 1)
	r.now += 2 * ms
	for _, other := range []pfc.Probe{
		{Switch: 9, Port: 1, Priority: 3, Hops: 2}, {Switch: 7, Port: 2, Priority: 3, Hops: 2},
	} {
		next := other
		next.Hops++
		if found, on := probe(other); found != nil || len(on) != 1 || on[0] != next {
			t.Errorf("%+v: %+v, %+v", other, found, on)
		}
	}
	if found, on := probe(pfc.Probe{Switch: 9, Priority: 3, Hops: pfc.MaxHops - 1}); found != nil || on != nil {
		t.Errorf("one that has gone as far as any may: %+v, %+v", found, on)
	}
	for i := range 2 {
		found, on := probe(own)
		want := []Deadlock{{Port: 1, Priority: 3, Switches: 3}}[i:]
		if on != nil || !slices.Equal(found, want) {
			t.Errorf("its own, time %d: %+v, %+v", i, found, on)
		}
	}
	r.in(1, pauseFrame(3, 0), 60) // it has ended
	r.sw.LookForDeadlocks(r.now)
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	r.now += 2 * ms
	if found, _ := probe(own); len(found) != 1 {
		t.Errorf("the next deadlock of the same queue: %+v", found)
	}
}

// A peer stays stopped if more of its own frames than XON wait: at XON it would be resumed.
func TestPeerStaysStoppedAboveXON(t *testing.T) {
	c := config(3)
	c.Deadlock = 2 * ms
	for frames, want := range map[int]bool{9: false, 10: false, 11: true} {
		r := newRig(t, c)
		r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
		for range frames {
			r.in(0, packet(0, 1, 26, 0), 1000)
		}
		for range 5 {
			r.in(2, packet(2, 1, 26, 0), 1000)
		}
		silent := func(port int) bool { return port == 1 }
		if got := r.sw.StaysStopped(0, 3, silent); got != want {
			t.Errorf("%d frames of 1000 bytes wait, XON is 10 KB: %v", frames, got)
		}
		if r.sw.StaysStopped(0, 3, func(int) bool { return false }) {
			t.Errorf("%d frames wait, and every port sends: the peer stays stopped", frames)
		}
	}
}
