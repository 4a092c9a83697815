package dataplane

import "sync/atomic"

// ring hands frames from one worker to another: one producer, one consumer, no
// lock. Each side keeps what it last saw of the other's index, so that it reads
// the other's cache line only when the ring looks full or empty.
type ring struct {
	frames []Frame // a power of two
	_      [40]byte
	head   atomic.Uint64 // consumer's
	seen   uint64        // consumer's view of tail
	_      [48]byte
	tail   atomic.Uint64 // producer's
	known  uint64        // producer's view of head
	_      [48]byte
}

func newRing(size int) *ring { return &ring{frames: make([]Frame, size)} }

// push reports false if the ring is full. Producer only.
func (r *ring) push(f Frame) bool {
	t := r.tail.Load()
	if t-r.known == uint64(len(r.frames)) {
		if r.known = r.head.Load(); t-r.known == uint64(len(r.frames)) {
			return false
		}
	}
	r.frames[t&uint64(len(r.frames)-1)] = f
	r.tail.Store(t + 1)
	return true
}

// pop reports false if the ring is empty. Consumer only.
func (r *ring) pop() (f Frame, ok bool) {
	h := r.head.Load()
	if h == r.seen {
		if r.seen = r.tail.Load(); h == r.seen {
			return Frame{}, false
		}
	}
	f = r.frames[h&uint64(len(r.frames)-1)]
	r.head.Store(h + 1)
	return f, true
}

// empty is exact for the consumer; for others it may be out of date.
func (r *ring) empty() bool { return r.head.Load() == r.tail.Load() }
