package sim

import (
	"sync/atomic"
	"unsafe"

	"photon/internal/memory"
)

// pipe carries any number of values from one goroutine to another, in their order. The reader sees them when the writer
// publishes how many there are. It is a list of blocks. Blocks that were read go back to the writer, so that nothing is
// allocated once there are enough.
type pipe[T any] struct {
	_         [64]byte
	last      *block[T] // that is written
	written   int       // values in it
	before    uint64    // values in the blocks before it
	free      *block[T] // blocks to be used again
	published *atomic.Uint64
	_         [64]byte
	first     *block[T]      // that is read
	read      int            // values of it
	readAll   uint64         // values in all
	readable  *atomic.Uint64 // published, for the reader: how many values may be read in all
	_         [64]byte
	returned  atomic.Pointer[block[T]] // blocks that were read, for the writer
	_         [64]byte
}

const (
	blockLen = 1024 // values of a block
	// prefetchLen is of how many values the writer gets the cache lines back from the reader's core at once.
	prefetchLen = 16
)

type block[T any] struct {
	next   *block[T]
	_      [56]byte
	values [blockLen]T
}

// newPipe returns an empty pipe. The number of published values is kept in a counter of the writer's.
func newPipe[T any](published *atomic.Uint64) *pipe[T] {
	b := new(block[T])
	return &pipe[T]{last: b, first: b, published: published, readable: published}
}

// push adds a value, which the caller fills in.
func (p *pipe[T]) push() *T {
	if p.written&(prefetchLen-1) == 0 {
		p.prepare()
	}
	v := &p.last.values[p.written]
	p.written++
	return v
}

// prepare makes room for prefetchLen values, and prefetches that for the next.
func (p *pipe[T]) prepare() {
	if p.written == blockLen {
		p.addBlock()
	}
	if soon := p.written + prefetchLen; soon < blockLen {
		memory.PrefetchToWrite(unsafe.Pointer(&p.last.values[soon]), prefetchLines[T]())
	}
}

// prefetchLines is how many cache lines prefetchLen values take.
func prefetchLines[T any]() int {
	var v T
	return int((prefetchLen*unsafe.Sizeof(v) + 63) / 64)
}

// addBlock puts a block behind the last.
func (p *pipe[T]) addBlock() {
	if p.free == nil {
		if p.free = p.returned.Swap(nil); p.free == nil {
			p.free = new(block[T])
		}
	}
	b := p.free
	p.free, b.next = b.next, nil
	p.last.next, p.last, p.written = b, b, 0
	p.before += blockLen
	memory.PrefetchToWrite(unsafe.Pointer(&b.values), prefetchLines[T]())
}

// publish lets the reader see what was pushed.
func (p *pipe[T]) publish() {
	if n := p.before + uint64(p.written); p.published.Load() != n {
		p.published.Store(n)
	}
}

// next returns values that can be read, as many as lie together; nil: there are none.
func (p *pipe[T]) next() []T {
	n := p.readable.Load() - p.readAll
	if n == 0 {
		return nil
	}
	if p.read == blockLen {
		p.returnBlock()
	}
	return p.first.values[p.read:min(p.read+int(n), blockLen)]
}

// returnBlock gives the first block, all of which was read, back to the writer.
func (p *pipe[T]) returnBlock() {
	b := p.first
	p.first, p.read = b.next, 0
	for {
		b.next = p.returned.Load()
		if p.returned.CompareAndSwap(b.next, b) {
			break
		}
	}
}

// drop says that so many of the next values have been read.
func (p *pipe[T]) drop(n int) {
	p.read += n
	p.readAll += uint64(n)
}
