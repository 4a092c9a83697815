package dataplane

import (
	"testing"

	"photon/fabric"
	"photon/units"
)

// A queue, or a port, with a shaper sends its burst at once and then keeps to its rate, to the picosecond, and the world is
// told when the next frame may leave. What has no shaper waits for none.
func TestShapers(t *testing.T) {
	// 1026 bytes on the wire are 8.208 us at 1 Gbit/s, and the longest frame 1546.
	const each, burst = 8208 * units.Nanosecond, 1546 + 3*1026
	for name, c := range map[string]struct {
		prio uint8
		port PortConfig
	}{
		"lossless queue": {3, PortConfig{Queues: [8]QueueConfig{3: {Shaper: Shaper{units.Gbps, burst}}}}},
		"lossy queue":    {0, PortConfig{Queues: [8]QueueConfig{0: {Shaper: Shaper{units.Gbps, burst}}}}},
		"port":           {3, PortConfig{Shaper: Shaper{units.Gbps, burst}}},
		"both":           {3, PortConfig{Shaper: Shaper{units.Gbps, burst}, Queues: [8]QueueConfig{3: {Shaper: Shaper{2 * units.Gbps, burst}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			conf := config(2)
			conf.Ports[1].Queues, conf.Ports[1].Shaper = c.port.Queues, c.port.Shaper
			r := newRig(t, conf)
			r.now = units.Second
			for range 10 {
				r.in(0, packet(0, 1, c.prio<<3, 0), 1002)
			}
			var left []units.Time
			for len(left) < 10 {
				burst := make([]fabric.Frame, 64)
				n := r.sw.Transmit(r.now, 1, burst)
				for _, f := range burst[:n] {
					left = append(left, r.now-units.Second)
					r.env.Free(f)
				}
				next := r.sw.Next(r.now, 1)
				if len(left) < 10 && (next <= r.now || next == units.Never) {
					t.Fatalf("%d have left, and the next is to at %v of %v", len(left), next, r.now)
				}
				r.now = next
			}
			for i, at := range left {
				// The bucket lets one go while it has a frame of the longest kind: four do at once.
				if want := max(0, units.Time(i-3)*each); at != want {
					t.Errorf("frame %d leaves after %v, not %v", i, at, want)
				}
			}
			st := r.stats(1)
			if waited := st.Shaped[c.prio] + st.PortShaped; waited != 6 && name != "both" {
				t.Errorf("%d frames waited, not 6", waited)
			}
		})
	}
}

// A frame that waits for its shaper is counted once, whatever becomes of it: also the first after a link was down, which took
// one that waited.
func TestShapedIsCountedAfterALinkWasDown(t *testing.T) {
	conf := config(2)
	conf.Ports[1].Shaper = Shaper{units.Gbps, 1546}
	conf.Ports[1].Queues[3].Shaper = Shaper{units.Gbps, 1546}
	r := newRig(t, conf)
	for round := range uint64(3) {
		r.now += units.Microsecond // too soon for another
		for range 3 {
			r.in(0, packet(0, 1, 26, 0), 1002)
			r.out(1, 1)
			r.sw.Next(r.now, 1)
		}
		if st := r.stats(1); st.PortShaped != round+1 || st.Shaped[3] != round+1 {
			t.Errorf("round %d: %d counted at the port, %d at its queue", round, st.PortShaped, st.Shaped[3])
		}
		for _, up := range []bool{false, true} {
			ch, err := r.sw.PrepareLink(1, LinkState{Up: up})
			if err != nil {
				t.Fatal(err)
			}
			r.sw.SetLink(r.now, ch)
		}
	}
}

// A reload that leaves a shaper as it is leaves its tokens as they are, and what waited counts as one that waits;
// another starts with a full bucket. When the clock is set back, nothing waits longer.
func TestShapersThatStay(t *testing.T) {
	const prio, burst = 3, 1546
	for name, put := range map[string]func(*PortConfig, Shaper){
		"queue": func(p *PortConfig, s Shaper) { p.Queues[prio].Shaper = s },
		"port":  func(p *PortConfig, s Shaper) { p.Shaper = s },
	} {
		t.Run(name, func(t *testing.T) {
			c := config(2)
			put(&c.Ports[1], Shaper{units.Gbps, burst})
			r := newRig(t, c)
			r.now = 2 * units.Second
			for range 3 {
				r.in(0, packet(0, 1, prio<<3, 0), 1002)
			}
			if n := len(r.out(1, 9)); n != 1 {
				t.Fatalf("%d leave at once", n)
			}
			opens := r.sw.Next(r.now, 1)
			other := c
			other.Age += units.Second
			r.reload(other)
			if n := len(r.out(1, 9)); n != 0 || r.sw.Next(r.now, 1) != opens {
				t.Errorf("after another reload %d leave, the next at %v, not %v", n, r.sw.Next(r.now, 1), opens)
			}
			r.sw.Rebase(units.Second)
			r.now, opens = r.now-units.Second, opens-units.Second
			if n := len(r.out(1, 9)); n != 0 || r.sw.Next(r.now, 1) != opens {
				t.Errorf("when the clock is set back %d leave, the next at %v, not %v", n, r.sw.Next(r.now, 1), opens)
			}
			if st := r.stats(1); st.Shaped[prio]+st.PortShaped != 1 {
				t.Errorf("%d waited, of one", st.Shaped[prio]+st.PortShaped)
			}
			other.Ports = append([]PortConfig(nil), c.Ports...)
			put(&other.Ports[1], Shaper{units.Gbps, burst + 1})
			r.reload(other)
			if n := len(r.out(1, 9)); n != 1 {
				t.Errorf("with another shaper %d leave at once, not 1", n)
			}
		})
	}
}
