//go:build dpdk

package dpdk

import "photon/units"

// A world runs for years, and 63 bits of picoseconds for 106 days. Worker 0 sets the clock back by a lap, while
// all workers rest between two rounds as they do for World.DoBriefly, and all that keep instants move them along.

// lapAt is when the clock is set back. What is left is more than anybody looks back.
const lapAt = units.Lap + units.Lap/32

// requestLap requests that the clock be set back, unless there is another request.
func (w *world) requestLap() { w.request.CompareAndSwap(nil, &w.lap) }

// setBack sets the clock back, if it is due.
func (w *world) setBack(now units.Time) {
	if now < lapAt {
		return
	}
	const by = units.Lap
	w.laps++
	w.now.Rebase(by)
	for _, k := range w.workers {
		k.clock.now.Rebase(by)
	}
	for i := range w.samples {
		w.samples[i].next.Rebase(by)
	}
	for i := range w.nodes {
		units.Rebase(w.nodes[i].node, by)
		for _, e := range w.nodes[i].envs {
			e.Rebase(by)
		}
	}
	for _, p := range w.ports {
		p.Rebase(by)
	}
	for _, f := range w.followers {
		f.Rebase(by)
	}
}

// Rebase implements units.Rebaser.
func (p *port) Rebase(by units.Time) {
	p.free.Rebase(by)
	p.polled.Rebase(by)
	p.earlier.Rebase(by)
	p.flight.Rebase(by)
	if p.tap != nil {
		p.tap.Rebase(by)
	}
}

func (w *world) Follow(r units.Rebaser) { w.followers = append(w.followers, r) }

func (w *world) Laps() uint64 { return w.laps }
