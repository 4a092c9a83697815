package sim

import (
	"encoding/binary"

	"photon/dataplane"
	"photon/units"
)

// beside is what a part has for the others. Of everything there are two halves: what
// a part writes in one window the others read in the next, while it writes the other
// half.
type beside struct {
	_      [64]byte // nobody else's line
	number int
	round  uint32 // of windows; its lowest bit is the half that is written
	out    [2][]box
	all    []*beside // of all parts
	log    [2][]arrival
	next   [2]units.Time // the first that will happen here, or elsewhere by a frame from here; at the earliest
	stop   [2]verdict
	end    units.Time // everything before it has happened
	_      [64]byte
}

// box is frames for another part.
type box struct {
	first  units.Time // to arrive
	frames []crossing
	bytes  []byte // theirs, one after the other
	_      [8]byte
}

// crossing is a frame that goes to another part.
type crossing struct {
	at   units.Time
	port int32
	len  uint16
	off  uint16
	head int // bytes
}

// arrival is what the trace hash has of one.
type arrival struct {
	at    units.Time
	where uint64 // port and length; bare: that is all
	a, b  uint64 // of the frame
}

const bare = 1 << 63

func newBeside(number, parts int) *beside {
	b := &beside{number: number}
	for half := range b.out {
		b.out[half] = make([]box, parts)
		b.empty(half)
	}
	return b
}

// empty empties the boxes of a half.
func (b *beside) empty(half int) {
	for i := range b.out[half] {
		x := &b.out[half][i]
		x.first, x.frames, x.bytes = units.Never, x.frames[:0], x.bytes[:0]
	}
}

// half is the half that is written.
func (b *beside) half() int { return int(b.round & 1) }

// send puts the frame at hand on its way to another part.
func (b *beside) send(w *part, src *port) {
	f, to := &w.burst[0], away(src.peer)
	at := src.free + src.delay
	x := &b.out[b.half()][w.nodes[w.ports[to].member].part]
	head := w.pool.Header(*f)
	x.frames = append(x.frames, crossing{at, to, f.Len, f.Off, len(head)})
	x.bytes = append(x.bytes, head...)
	x.first = min(x.first, at)
	w.pool.Free(*f)
}

// take takes what the others sent in a window.
func (b *beside) take(w *part, half int) {
	for _, from := range b.all {
		x := &from.out[half][b.number]
		bytes := x.bytes
		for i := range x.frames {
			c := &x.frames[i]
			f, _ := w.pool.Alloc(int(c.len)) // the pool grows
			f.Off = c.off
			copy(w.pool.Header(f), bytes[:c.head])
			bytes = bytes[c.head:]
			w.events.send(&f, c.port, c.at)
		}
	}
}

// note notes an arrival for the trace hash.
func (b *beside) note(w *part, p int, f *dataplane.Frame) {
	log := &b.log[b.half()]
	if s := w.pool.Start(f); s != nil && f.Len >= 58 {
		*log = append(*log, arrival{w.now, uint64(p)<<32 | uint64(f.Len), binary.LittleEndian.Uint64(s[14:]), binary.LittleEndian.Uint64(s[50:])})
		return
	}
	*log = append(*log, arrival{at: w.now, where: uint64(p)<<32 | uint64(f.Len) | bare})
}

func (a *arrival) before(b *arrival) bool {
	return a.at < b.at || a.at == b.at && a.where&^bare < b.where&^bare
}

// add adds the arrivals of a window to the hash, in the order of all parts.
func (s *split) add(half int) {
	h := s.hash
	clear(s.read)
	for {
		var first *arrival
		from := 0
		for i, p := range s.parts {
			if log := p.beside.log[half]; s.read[i] < len(log) {
				if a := &log[s.read[i]]; first == nil || a.before(first) {
					first, from = a, i
				}
			}
		}
		if first == nil {
			break
		}
		s.read[from]++
		h = mix(mix(h, uint64(first.at)), first.where&^bare)
		if first.where&bare == 0 {
			h = mix(mix(h, first.a), first.b)
		}
	}
	s.hash = h
	for _, p := range s.parts {
		p.beside.log[half] = p.beside.log[half][:0]
	}
}
