package dataplane

import (
	"photon/fabric"
	"photon/units"
)

// queue is what waits at one port in one priority: frames in the order in which they came, in a chain
// of blocks. All queues of a worker take their blocks from one store, so that a burst of short frames
// needs no memory that was not there before, wherever it goes.
type queue struct {
	head, tail  *block // nil: nothing waits
	first, last uint16 // the next to leave, in head; the place behind the last, in tail
	frames      uint32
	unjudged    uint32     // of the frames, those that no congestion point judges: lossy ones, and the switch's own
	longest     uint16     // frame that passed the queue by
	bytes       units.Size // that wait
	most        units.Size // the most there were when some left
	fastUntil   units.Time // until then a lossless frame can be appended without further checks: see refresh
	left        tally      // that left, and were not added to the port's statistics yet
}

// tally is a number of frames, in its upper 24 bits, and of their bytes: both are counted by one addition. It
// is full, and to be added up, when it is negative.
type tally int64

func tallyOf(frames int, bytes units.Size) tally { return tally(frames)<<40 | tally(bytes) }

func (t tally) frames() uint64 { return uint64(t) >> 40 }
func (t tally) bytes() uint64  { return uint64(t) & (1<<40 - 1) }

// blockLen is how many frames a block holds: with the link it is 8 lines of the cache.
const blockLen = 31

type block struct {
	frames [blockLen]fabric.Frame
	next   *block
	_      [8]byte
}

// store has a worker's blocks that are in no queue.
type store struct{ free *block }

// reserve makes blocks for n frames in so many queues.
func (s *store) reserve(n, queues int) {
	blocks := make([]block, n/blockLen+2*queues+1)
	for i := range blocks {
		s.give(&blocks[i])
	}
}

func (s *store) give(b *block) { b.next, s.free = s.free, b }

func (s *store) take() *block {
	if s.free == nil {
		s.reserve(2*blockLen, 1)
	}
	b := s.free
	s.free, b.next = b.next, nil
	return b
}

// push appends a frame.
func (q *queue) push(f *fabric.Frame, s *store) {
	if q.tail == nil || q.last == blockLen {
		q.extend(s)
	}
	q.append(f.Words()[0], f.Words()[1])
}

// appends reports that a lossless frame can be appended behind others, with nothing else to be done.
func (q *queue) appends(now units.Time) bool {
	return q.fastUntil > now && q.last < blockLen && q.frames != 0
}

// append puts a frame, of which both halves are given, into the last block, which has room.
func (q *queue) append(where, what uint64) {
	q.tail.frames[q.last].Put(where, what)
	q.last++
	q.frames++
	q.bytes += units.Size(uint16(where >> 32))
}

// pass counts a frame that leaves past the queue.
func (q *queue) pass(length uint16) {
	if q.left += 1<<40 | tally(length); length > q.longest {
		q.longest = length
	}
}

func (q *queue) extend(s *store) {
	b := s.take()
	if q.last = 0; q.tail == nil {
		q.head, q.first = b, 0
	} else {
		q.tail.next = b
	}
	q.tail = b
}

// run is the first frames, at most n and as far as they lie in a row. There is one at least.
func (q *queue) run(n int) []fabric.Frame {
	return q.head.frames[q.first:min(uint32(q.first)+min(uint32(n), q.frames), blockLen)]
}

// after is the frame behind the first n, nil if there is none. These lie in a row.
func (q *queue) after(n int) *fabric.Frame {
	if uint32(n) >= q.frames {
		return nil
	}
	if at := uint32(q.first) + uint32(n); at < blockLen {
		return &q.head.frames[at]
	}
	return &q.head.next.frames[0]
}

// drop takes off the first n frames, as run returned them, of so many bytes.
func (q *queue) drop(n int, bytes units.Size, s *store) {
	q.most = max(q.most, q.bytes)
	q.bytes -= bytes
	q.first += uint16(n)
	q.frames -= uint32(n)
	if q.frames != 0 && q.first != blockLen {
		return
	}
	b := q.head
	q.head, q.first = b.next, 0
	if q.head == nil {
		q.tail = nil
	}
	s.give(b)
}

// peak is the most bytes that were there: it is most before some leave.
func (q *queue) peak() units.Size { return max(q.most, q.bytes, units.Size(q.longest)) }

// clearPeak resets the watermark to what waits now.
func (q *queue) clearPeak() { q.most, q.longest = 0, 0 }

// each calls do for every frame in the queue.
func (q *queue) each(do func(*fabric.Frame)) {
	b, at := q.head, q.first
	for range q.frames {
		do(&b.frames[at])
		if at++; at == blockLen {
			b, at = b.next, 0
		}
	}
}
