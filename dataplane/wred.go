package dataplane

import (
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
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

// newWREDs makes those of a port; those that its queues have had, by another configuration, stay with their sequences.
func newWREDs(port int, c *PortConfig, old *wreds, was *PortConfig) (w wreds) {
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
		if old.set>>prio&1 != 0 && params == was.Queues[prio].WRED {
			w.of[prio] = old.of[prio]
		} else {
			w.of[prio] = marking.NewWRED(params, uint64(pfc.Classes*port+prio))
		}
	}
	return w
}

// refuses reports whether a queue does not take a frame for which there is room, and why.
func (p *switchPort) refuses(f *fabric.Frame) (why fabric.Reason, refuses bool) {
	prio := f.Prio & 7
	switch {
	case p.down:
		return fabric.DropLink, true
	case p.shut>>prio&1 != 0:
		return fabric.DropStorm, true
	case p.wred.set>>prio&1 == 0 || f.Flag&fabric.Lossless != 0 || f.In == ownFrame:
		return 0, false
	}
	capable := f.Flag&fabric.Markable != 0
	if !capable && f.L3() != 0 { // a frame that was marked before is ECN-capable, too
		capable = wire.ECN(p.env.Bytes(f)[f.L3():]) == wire.CE
	}
	return fabric.DropWRED, p.wred.of[prio].Drops(p.queues[prio].bytes, capable)
}
