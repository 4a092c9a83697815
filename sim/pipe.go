package sim

import (
	"sync/atomic"
	"unsafe"

	"photon/internal/memory"
)

// pipe carries values from one goroutine to another, in their order, as many as there
// are. What was put in is seen when it has been published. Nothing is allocated when it
// has become long enough: what was read goes back to the writer.
type pipe[T any] struct {
	_     [64]byte
	last  *block[T] // that is written
	put   int       // values in it
	full  uint64    // values in those before
	old   *block[T] // read, to be used again
	ready *atomic.Uint64
	_     [64]byte
	first *block[T]      // that is read
	got   int            // values of it
	read  uint64         // in all
	seen  *atomic.Uint64 // ready: how many values may be read, in all
	_     [64]byte
	back  atomic.Pointer[block[T]] // read, by the next: for the writer
	_     [64]byte
}

const (
	blockLen = 1024 // values that lie together
	group    = 16   // of those whose lines the writer gets back together from the reader's core
)

type block[T any] struct {
	next   *block[T]
	_      [56]byte
	values [blockLen]T
}

// newPipe makes one that publishes by a number of the writer's.
func newPipe[T any](ready *atomic.Uint64) *pipe[T] {
	b := new(block[T])
	return &pipe[T]{last: b, first: b, ready: ready, seen: ready}
}

// push puts a value in, which the caller fills.
func (p *pipe[T]) push() *T {
	if p.put&(group-1) == 0 {
		p.prepare()
	}
	v := &p.last.values[p.put]
	p.put++
	return v
}

// prepare has room for the next group.
func (p *pipe[T]) prepare() {
	if p.put == blockLen {
		p.more()
	}
	if soon := p.put + group; soon < blockLen {
		memory.PrefetchToWrite(unsafe.Pointer(&p.last.values[soon]), groupLines[T]())
	}
}

func groupLines[T any]() int {
	var v T
	return int((group*unsafe.Sizeof(v) + 63) / 64)
}

// more takes another block.
func (p *pipe[T]) more() {
	if p.old == nil {
		if p.old = p.back.Swap(nil); p.old == nil {
			p.old = new(block[T])
		}
	}
	b := p.old
	p.old, b.next = b.next, nil
	p.last.next, p.last, p.put = b, b, 0
	p.full += blockLen
	memory.PrefetchToWrite(unsafe.Pointer(&b.values), groupLines[T]())
}

// sent is how many values were put in.
func (p *pipe[T]) sent() uint64 { return p.full + uint64(p.put) }

// publish has the reader see what was put in.
func (p *pipe[T]) publish() {
	if n := p.sent(); p.ready.Load() != n {
		p.ready.Store(n)
	}
}

// next are values that can be read, as many as lie together; none: there are no more.
func (p *pipe[T]) next() []T {
	n := p.seen.Load() - p.read
	if n == 0 {
		return nil
	}
	if p.got == blockLen {
		b := p.first
		p.first, p.got = b.next, 0
		for {
			b.next = p.back.Load()
			if p.back.CompareAndSwap(b.next, b) {
				break
			}
		}
	}
	return p.first.values[p.got:min(p.got+int(n), blockLen)]
}

// drop says that so many of the next values have been read.
func (p *pipe[T]) drop(n int) {
	p.got += n
	p.read += uint64(n)
}
