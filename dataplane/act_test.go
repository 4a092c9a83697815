package dataplane

import (
	"testing"

	"photon/fabric"
)

// many is a switch of five ports with hosts behind them in turn.
func many(hosts int) SwitchConfig {
	c := config(5)
	c.Static, c.FDBSize = nil, 1024
	for a := range hosts {
		c.Static = append(c.Static, StaticEntry{MAC: mac(a), Ports: []uint16{uint16(a % 5)}})
	}
	return c
}

// Frames to more destinations than a cache has places at first are known when they come again, through
// whatever port: otherwise most of them would take the slow way for ever.
func TestManyDestinationsAreKnown(t *testing.T) {
	const hosts = 300
	r := newRig(t, many(hosts))
	unknown := 0
	for round := range 4 { // it grows three times
		unknown = 0
		for n := range 5 * hosts {
			port, to := n/hosts, n%hosts
			if to%5 == port {
				continue
			}
			f := r.frame(port, packet(1, to, 26, 0), 100)
			k := r.sw.parseOne(&r.sw.ports[port], &f)
			if _, ok := r.sw.workers[0].cache.find(k); !ok {
				unknown++
			}
			r.sw.Receive(r.now, port, []fabric.Frame{f})
			r.now += us
			r.out(to%5, 10)
		}
		if round == 0 && unknown > 3*hosts {
			t.Errorf("%d frames to %d destinations were not known", unknown, hosts)
		}
	}
	if unknown > hosts/10 {
		t.Errorf("%d frames were not known when they came again", unknown)
	}
}

// A worker remembers no more than it may, and forwards everything all the same.
func TestActionsAreBounded(t *testing.T) {
	c := many(300)
	c.Actions = 200
	r := newRig(t, c)
	for range 3 {
		for to := range 300 {
			port := (to + 1) % 5
			r.in(port, packet(port, to, 26, 0), 100)
			if n := len(r.out(to%5, 10)); n != 1 {
				t.Fatalf("%d frames for host %d", n, to)
			}
		}
	}
	if n := 2 * len(r.sw.workers[0].cache.lines); n > 200 || n < 100 {
		t.Errorf("places for %d actions, of at most 200", n)
	}
	for most, want := range map[int]int{0: 65536, 1: 64, 64: 64, 127: 64, 128: 128, 65535: 32768, 1 << 20: 65536} {
		c.Actions = most
		if n := 2 * newRig(t, c).sw.workers[0].cache.most; n != want {
			t.Errorf("places for %d actions at most, not %d, where %d were asked for", n, want, most)
		}
	}
}

// What is known of a destination by the frames of one port does not send back those that come from where it is.
func TestNoneGoesBackThoughOthersGoThere(t *testing.T) {
	eachWay(t, many(5), func(t *testing.T, r *rig) {
		for range 2 {
			for port := range 5 {
				r.in(port, packet(1, 2, 26, 0), 100)
			}
		}
		if sent := len(r.out(2, 20)); sent != 8 {
			t.Errorf("%d frames were sent, of which 8 came from elsewhere", sent)
		}
		if st := r.stats(2); st.Discards[fabric.DropNoPort][3] != 2 {
			t.Errorf("%d frames that came from their destination's port were discarded", st.Discards[fabric.DropNoPort][3])
		}
		for port := range 5 {
			if st := r.stats(port); st.RxFrames[3] != 2 {
				t.Errorf("%d frames came through port %d", st.RxFrames[3], port)
			}
		}
	})
}
