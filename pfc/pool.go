package pfc

import (
	"math"
	"sync/atomic"

	"photon/units"
)

// Pool is the part of a switch's buffer that is not reserved: lossy frames are in it, and
// lossless ones beyond their XOFF where thresholds follow what is free.
type Pool struct {
	size    int64
	used    int64 // of a shared pool: see heldBits
	shared  bool
	awaited int64 // by accounts whose peers are paused: before so much is free none of them may let its peer go on
}

// NewPool returns an empty pool; shared says that several workers use it.
func NewPool(size units.Size, shared bool) *Pool {
	return &Pool{size: int64(size), shared: shared, awaited: math.MaxInt64}
}

// Await records that a port waits for so much to be free, unless several workers use the pool.
func (p *Pool) Await(free int64) {
	if !p.shared {
		p.awaited = min(p.awaited, free)
	}
}

// Awaited reports whether the pool has as much free as the least that Await asked for. Those that still wait call Await
// again.
func (p *Pool) Awaited() bool {
	if p.Free() < p.awaited {
		return false
	}
	p.awaited = math.MaxInt64
	return true
}

// Take takes n bytes if they are free.
func (p *Pool) Take(n int64) bool {
	if !p.shared {
		if n > p.size-p.used {
			return false
		}
		p.used += n
		return true
	}
	return p.take(n, 0)
}

// The account of a shared pool is one word, so that who reads it sees one instant: what is used or held, above heldBits, and
// what of it is held.
const (
	heldBits = 24
	mostHeld = 1<<heldBits - 1
)

// take takes n bytes of a shared pool, so many of which are held.
func (p *Pool) take(n, held int64) bool {
	for {
		was := atomic.LoadInt64(&p.used)
		if n > p.size-was>>heldBits || held > mostHeld-was&mostHeld {
			return false
		}
		if atomic.CompareAndSwapInt64(&p.used, was, was+n<<heldBits+held) {
			return true
		}
	}
}

// Hold sets n bytes of a shared pool aside, if they are free: until Settle nobody else takes them.
func (p *Pool) Hold(n int64) bool { return p.take(n, n) }

// Settle ends Hold of n bytes: so many of them were taken, and the others are free again.
func (p *Pool) Settle(n, taken int64) { atomic.AddInt64(&p.used, (taken-n)<<heldBits-n) }

// Add takes n bytes, free or not: what was promised must find room. A negative n gives them back.
func (p *Pool) Add(n int64) {
	switch {
	case n == 0:
	case p.shared:
		atomic.AddInt64(&p.used, n<<heldBits)
	default:
		p.used += n
	}
}

// Free is how many bytes are neither used nor held; 0 if more than all are used.
func (p *Pool) Free() int64 {
	if p.shared {
		return max(0, p.size-atomic.LoadInt64(&p.used)>>heldBits)
	}
	return max(0, p.size-p.used)
}

// Used is how many bytes are used.
func (p *Pool) Used() int64 {
	if p.shared {
		was := atomic.LoadInt64(&p.used)
		return was>>heldBits - was&mostHeld
	}
	return p.used
}

// Resize changes how large the pool is, between bursts; what is used stays used.
func (p *Pool) Resize(size units.Size) { p.size = int64(size) }

// State is how large the pool is and how much of it is used, between bursts.
func (p *Pool) State() (size, used units.Size) { return units.Size(p.size), units.Size(p.Used()) }
