package dataplane

import (
	"testing"

	"photon/fabric"
	"photon/units"
)

// A port's limit of lossy frames holds where nothing else is configured for them, in bytes or by what is free of the
// pool; frames of other ports, and lossless ones, do not count.
func TestPortHasALimitOfLossyFrames(t *testing.T) {
	const length = 1000
	for name, set := range map[string]func(p *PortConfig){
		"in bytes":        func(p *PortConfig) { p.LossyLimit = 5 * length },
		"by what is free": func(p *PortConfig) { p.LossyAlpha = 1 }, // five of the ten, when other five are free
	} {
		t.Run(name, func(t *testing.T) {
			c := config(3)
			c.Tail = units.MB
			c.Buffer = c.Reserved() + 10*length
			set(&c.Ports[0])
			eachWay(t, c, func(t *testing.T, r *rig) {
				for range 3 {
					r.in(0, packet(0, 2, 26, 0), length)
				}
				for range 8 {
					r.in(0, packet(0, 2, 0, 0), length)
				}
				if n := r.stats(0).Discards[fabric.DropIngress][0]; n != 3 {
					t.Errorf("%d of 8 frames are discarded, not 3", n)
				}
				for range 8 {
					r.in(1, packet(1, 2, 0, 0), length)
				}
				if a, b := r.stats(1).Discards[fabric.DropIngress][0], r.stats(1).Discards[fabric.DropBuffer][0]; a != 0 || b != 3 {
					t.Errorf("of 8 frames of a port without a limit %d are discarded for one, and %d for want of room", a, b)
				}
			})
		})
	}
}

// What a reload sets aside for a queue counts for frames that are on their way to it from another worker, each for the
// queue of its priority; when they have left all is as before.
func TestMinimumIsSetAsideForFramesBetweenWorkers(t *testing.T) {
	c := config(2)
	c.Ports[1].Worker = 1
	r := newCrew(t, c, 2)
	for prio := range uint8(8) {
		r.in(0, packet(0, 1, prio<<3, 0), 1000)
	}
	o := r.sw.config
	o.CP, o.Ports = nil, append([]PortConfig(nil), o.Ports...)
	for prio := range o.Ports[1].Queues {
		o.Ports[1].Queues[prio].Min = units.Size(500 * (prio + 1))
	}
	r.reload(o)
	r.audit()
	for prio := range 8 {
		want := int64(1000)
		if lossless>>prio&1 != 0 {
			want = 0
		}
		if got := r.sw.mins[8+prio].used; got != want {
			t.Errorf("priority %d: %d bytes are charged to its minimum, not %d", prio, got, want)
		}
	}
	r.poll()
	if n := len(r.out(1, 16)); n != 8 {
		t.Errorf("%d frames leave", n)
	}
	r.poll()
	if used := r.sw.pool.Used(); used != 0 {
		t.Errorf("%d bytes of the pool stay taken", used)
	}
}
