package dataplane

import (
	"unsafe"

	"photon/wire"
)

// This file is the first stage of the way of the most common frames: it reads headers.
// Where there is readAhead (quick_amd64.s) it reads those of which nothing is special, and
// stops at each of the others; the Go code beside it says what both do.

// heads is what readAhead goes by while it reads headers of a burst.
type heads struct {
	base    unsafe.Pointer // of the pool; frames begin
	most    Start          // there at most
	unit    uint64         // log2 of the unit in which a frame's Ref counts
	last    uint64         // the last place in a slot where a frame may begin
	room    uint64         // the longest frame, less wire.QuickLen
	classes *[256]read
	in      read // what every frame through the port has
	mine    uint64
	places  *pair
	mask    uint64
	bytes   uint64 // of the frames that were read
}

// What assembly knows by these names.
const (
	levelShift = 7 // log2 of a level's size
	quickLen   = wire.QuickLen
)

// setHeads prepares the worker's for a burst of a port.
func (s *Switch) setHeads(p *switchPort) *heads {
	w, pool := p.worker, p.env.Pool
	h := &w.heads
	h.base, h.most, h.unit = pool.base, pool.most, uint64(pool.unitShift)
	h.last, h.room = uint64(pool.slot-quickLen), uint64(s.bare-quickLen)
	h.classes, h.in = &s.classes, newRead(uint16(p.number), 0, 0)
	h.places, h.mask, h.mine = unsafe.SliceData(w.pairs.places), uint64(w.pairs.mask), w.pairs.mine(p.number)
	h.bytes = 0
	return h
}

// readHeads is the first stage: it reads the headers of a burst, writes what is
// known by that into its frames, and sets to, of the port's worker, to the queues of those whose pair of
// addresses is known. It reports whether some are left to find, and how many bytes all have together.
func (s *Switch) readHeads(p *switchPort, burst []Frame) (bytes int64, left bool) {
	w, h := p.worker, s.setHeads(p)
	left = s.routes != nil // those for the router have been found to go back where they came from
	for i := 0; i < len(burst); i++ {
		if i += readAhead(h, &burst[i], &w.to[i], len(burst)-i); i == len(burst) {
			break
		}
		queue := s.readHead(p, &burst[i])
		w.to[i] = queue
		bytes += int64(burst[i].Len)
		left = left || queue == unfound
	}
	return bytes + int64(h.bytes), left
}

// readHead does so with one frame, and returns what to is.
func (s *Switch) readHead(p *switchPort, f *Frame) (to int32) {
	w, pool := p.worker, p.env.Pool
	start := pool.start(f, s.bare)
	if start == NoStart {
		return noPort
	}
	b := pool.At(start)
	if !b.Plain() {
		return noPort
	}
	r := s.classes[b.TOS()] | w.heads.in
	if b.CNP() {
		r &= notMarkable
	}
	f.set(r)
	first, second := b.Pair()
	rest := uint64(second) | w.heads.mine
	if out, ok := w.pairs.beside(place(first, second, w.pairs.mask), first, rest); ok {
		return queueOf(out, r.prio())
	}
	return unfound
}
