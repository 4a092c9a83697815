package dataplane

import (
	"photon/fabric"
	"photon/marking"
)

// scratch is memory that a switch needs only during a call. All switches of one goroutine share it.
type scratch struct {
	vector vector
	sizes  [fabric.MaxBurst]uint16
	frame  fabric.Frame
	packet marking.Packet // what congestion points are shown
	agenda agenda
}

// scratchOf is that of the goroutine whose pool of frames it is.
func scratchOf(p *fabric.Pool) *scratch {
	if s, ok := p.Scratch.(*scratch); ok {
		return s
	}
	return newScratch(p)
}

func newScratch(p *fabric.Pool) *scratch {
	s := new(scratch)
	p.Scratch = s
	return s
}
