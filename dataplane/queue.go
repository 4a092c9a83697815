package dataplane

import (
	"math/bits"

	"photon/units"
)

// queue is a ring of frames that grows to the longest it has been.
type queue struct {
	ring  []Frame // a power of two
	head  uint32  // index of the first, not reduced
	tail  uint32
	bytes units.Size
	most  units.Size // bytes, as of the last that left
}

// ringFor is how long a ring is that has room for n frames.
func ringFor(n int) int { return 1 << bits.Len(uint(max(n, 16)-1)) }

func (q *queue) len() int { return int(q.tail - q.head) }

func (q *queue) push(f *Frame) { q.place(f.Len).copy(f) }

// place appends a place for a frame of a length.
func (q *queue) place(length uint16) *Frame {
	if q.tail-q.head == uint32(len(q.ring)) {
		q.grow()
	}
	at := &q.ring[q.tail&uint32(len(q.ring)-1)]
	q.tail++
	q.bytes += units.Size(length)
	return at
}

// peak is the most bytes that were in the queue: it is most before some leave.
func (q *queue) peak() units.Size { return max(q.most, q.bytes) }

// pop moves the first frame to f.
func (q *queue) pop(f *Frame) {
	f.copy(&q.ring[q.head&uint32(len(q.ring)-1)])
	q.drop(1, units.Size(f.Len))
}

// run is the first frames, at most n and as far as they lie in a row. There is one at least.
func (q *queue) run(n int) []Frame {
	at := int(q.head & uint32(len(q.ring)-1))
	return q.ring[at:][:min(n, q.len(), len(q.ring)-at)]
}

// drop advances beyond n frames of so many bytes. An empty queue begins anew, so that a short one
// stays in the same few lines of the cache.
func (q *queue) drop(n int, bytes units.Size) {
	q.most = max(q.most, q.bytes)
	q.bytes -= bytes
	if q.head += uint32(n); q.head == q.tail {
		q.head, q.tail = 0, 0
	}
}

func (q *queue) grow() { q.move(make([]Frame, ringFor(2*len(q.ring)))) }

// move has a longer ring take the place of that there is.
func (q *queue) move(bigger []Frame) {
	n := q.len()
	for i := range n {
		bigger[i] = q.ring[(q.head+uint32(i))&uint32(len(q.ring)-1)]
	}
	q.ring, q.head, q.tail = bigger, 0, uint32(n)
}

// each calls do for every frame in the queue.
func (q *queue) each(do func(Frame)) {
	for i := q.head; i != q.tail; i++ {
		do(q.ring[i&uint32(len(q.ring)-1)])
	}
}
