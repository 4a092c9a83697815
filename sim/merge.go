package sim

import (
	"sync/atomic"
	"unsafe"

	"photon/internal/memory"
	"photon/units"
)

// merger adds the arrivals that the parts note to the trace hash, in the order of all.
// Whoever waits for another part does that meanwhile, one at a time.
type merger struct {
	_     [64]byte
	busy  atomic.Bool // somebody does it
	hash  uint64
	heads []head
	_     [64]byte
}

// head is where one is in a part's arrivals.
type head struct {
	clock *atomic.Uint64
	log   *pipe[arrival]
	ahead []arrival // to be read next
	read  int       // of those that ahead began with
}

// refill finds more to read; false: there is nothing.
func (h *head) refill() bool {
	h.log.drop(h.read)
	h.ahead, h.read = h.log.next(), 0
	return len(h.ahead) > 0
}

// much is how many arrivals a part notes until it looks whether it can add some.
const much = 512

// help adds arrivals, now and then, for a part that others do not wait for.
func (m *merger) help(b *beside) {
	if n := b.log.sent(); n-b.tried >= much {
		b.tried = n
		m.some()
	}
}

// some adds arrivals that happened before anything that is not noted yet, if nobody
// else does that. It reports whether it added any.
func (m *merger) some() bool {
	if m.busy.Load() || !m.busy.CompareAndSwap(false, true) {
		return false
	}
	before := units.Time(units.Never)
	for i := range m.heads {
		before = min(before, units.Time(m.heads[i].clock.Load()))
	}
	n := m.add(before)
	m.busy.Store(false)
	return n > 0
}

// add adds the arrivals before an instant, and returns how many.
func (m *merger) add(before units.Time) (n int) {
	for i := range m.heads {
		m.heads[i].refill()
	}
	for {
		// The first of all, and the first of the others.
		from, other := m.firsts()
		if from == nil {
			return n
		}
		k := 0
		if other == nil {
			k = from.alone(m, before)
		} else {
			k = m.two(from, other, before)
		}
		if k == 0 {
			return n
		}
		n += k
	}
}

// firsts are the parts that had the first arrival of all, and the first of the others.
func (m *merger) firsts() (a, b *head) {
	for i := range m.heads {
		x := &m.heads[i]
		if len(x.ahead) == 0 && !x.refill() {
			continue
		}
		switch {
		case a == nil:
			a = x
		case x.ahead[0].before(&a.ahead[0]):
			a, b = x, a
		case b == nil || x.ahead[0].before(&b.ahead[0]):
			b = x
		}
	}
	return a, b
}

// alone adds those of a part that are left when there are no others.
func (x *head) alone(m *merger, before units.Time) (i int) {
	h := m.hash
	for ; i < len(x.ahead) && x.ahead[i].at < before; i++ {
		h = x.ahead[i].into(h)
	}
	m.hash = h
	x.ahead = x.ahead[i:]
	x.read += i
	return i
}

// two adds arrivals of two parts, of which there are no others, or no earlier ones.
func (m *merger) two(a, b *head, before units.Time) int {
	const soon = 24 // arrivals ahead: they come from another core's cache
	h := m.hash
	x, y := a.ahead, b.ahead
	i, j := 0, 0
	for k := 0; k < soon; k += 2 { // two are in a line of the cache
		memory.Prefetch(unsafe.Pointer(&x[min(k, len(x)-1)]), 1)
		memory.Prefetch(unsafe.Pointer(&y[min(k, len(y)-1)]), 1)
	}
	several := len(m.heads) > 2
	for i < len(x) && j < len(y) {
		p, q := &x[i], &y[j]
		k := 0
		if q.at < p.at {
			k = 1
		}
		if q.at == p.at && q.before(p) {
			k = 1
		}
		next := &x[min(i+soon, len(x)-1)]
		if k != 0 {
			p, next = q, &y[min(j+soon, len(y)-1)]
		}
		if p.at >= before {
			break
		}
		memory.Prefetch(unsafe.Pointer(next), 1)
		h = p.into(h)
		i += 1 - k
		j += k
		if several && k != 0 {
			break
		}
	}
	m.hash = h
	a.ahead, b.ahead = x[i:], y[j:]
	a.read += i
	b.read += j
	return i + j
}

// into mixes an arrival into the trace hash, as trace does in a world of one part.
func (a *arrival) into(h uint64) uint64 {
	h = mix(mix(h, uint64(a.at)), a.where&^bare)
	if a.where&bare == 0 {
		h = mix(mix(h, a.a), a.b)
	}
	return h
}

func (a *arrival) before(b *arrival) bool {
	return a.at < b.at || a.at == b.at && a.where&^bare < b.where&^bare
}
