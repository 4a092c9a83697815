package dataplane

import (
	"math/bits"

	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Lossy frames have no congestion point of a scheme. A queue may have WRED for them: those that are ECN-capable are
// marked as they leave, by the queue that they leave behind, and others dropped as they come, by what waits then. What
// the switch itself says is neither, and a queue in which nothing waits does nothing.

// wreds are the WRED of a port's queues.
type wreds struct {
	set, marks uint8 // priorities whose queues have one, and one that marks
	of         *[pfc.Classes]*marking.WRED
}

// newWREDs makes those of a port; those that a queue has already stay, with their sequences.
func newWREDs(port int, c, was *PortConfig) (w wreds) {
	for prio := range pfc.Classes {
		params := c.Queues[prio].WRED
		if params == (marking.WREDParams{}) {
			continue
		}
		if w.of == nil {
			w.of = new([pfc.Classes]*marking.WRED)
		}
		w.set |= 1 << prio
		if !params.NoECN {
			w.marks |= 1 << prio
		}
		if was == nil || params != was.Queues[prio].WRED {
			w.of[prio] = marking.NewWRED(params, uint64(pfc.Classes*port+prio))
		}
	}
	return w
}

// inherit takes over from what a port had what newWREDs left out.
func (w *wreds) inherit(old *wreds) {
	for rest := w.set; rest != 0; rest &= rest - 1 {
		if prio := bits.TrailingZeros8(rest); w.of[prio] == nil {
			w.of[prio] = old.of[prio]
		}
	}
}

// refuses reports whether a queue does not take a frame for which there is room, and why.
func (p *switchPort) refuses(f *fabric.Frame) (why fabric.Reason, refuses bool) {
	prio := f.Prio & 7
	switch {
	case p.shut>>prio&1 != 0:
		return p.whyShut(), true
	case p.wred.set>>prio&1 == 0 || f.Flag&fabric.Lossless != 0 || f.In == ownFrame:
		return 0, false
	}
	capable := f.Flag&fabric.Markable != 0
	if !capable && f.L3() != 0 { // a frame that was marked before is ECN-capable, too
		capable = wire.ECN(p.env.Bytes(f)[f.L3():]) == wire.CE
	}
	return fabric.DropWRED, p.wred.of[prio].Drops(p.queues[prio].bytes, capable)
}

// markLossy has the WRED of a queue judge lossy frames that are about to leave it together.
func (p *switchPort) markLossy(now units.Time, prio uint8, burst []fabric.Frame) {
	sizes := scratchOf(p.env.Pool).sizes[:len(burst)]
	for i := range burst {
		sizes[i] = burst[i].Len
	}
	q := &p.queues[prio]
	marked := p.wred.of[prio].DequeueRun(now, marking.Queue{Bytes: q.bytes, Frames: int(q.frames)}, sizes)
	for ; marked != 0; marked &= marked - 1 {
		p.markCE(&burst[bits.TrailingZeros64(marked)])
	}
}
