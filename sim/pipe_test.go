package sim

import (
	"sync/atomic"
	"testing"

	"photon/units"
)

// What goes through a pipe comes out in its order, and nothing before it was published;
// with a reader that keeps up, blocks are used again.
func TestPipe(t *testing.T) {
	var ready atomic.Uint64
	p := newPipe[int](&ready)
	const n = 20 * blockLen
	done := make(chan int)
	go func() {
		next := 0
		for next < n {
			x := p.next()
			for _, v := range x {
				if v != next {
					break
				}
				next++
			}
			p.drop(len(x))
		}
		done <- next
	}()
	for i := range n {
		*p.push() = i
		if i%7 == 0 || i == n-1 {
			p.publish()
		}
	}
	if got := <-done; got != n {
		t.Errorf("the values up to %d came in their order, of %d", got, n)
	}

	q := newPipe[int](&ready)
	ready.Store(0)
	*q.push() = 1
	if x := q.next(); len(x) != 0 {
		t.Errorf("%v before it was published", x)
	}
	kinds := map[*block[int]]bool{}
	for range 10 * blockLen {
		*q.push() = 1
		kinds[q.last] = true
		q.publish()
		for x := q.next(); len(x) > 0; x = q.next() {
			q.drop(len(x))
		}
	}
	if len(kinds) > 3 {
		t.Errorf("%d blocks for a reader that keeps up", len(kinds))
	}
}

// Arrivals of several parts are added in the order of all, however they are divided.
func TestMergeOrder(t *testing.T) {
	const n = 5 * blockLen
	one := uint64(0)
	var all []arrival
	for i := range uint64(n) {
		a := arrival{at: 1 + units.Time(i/3), where: i % 3 << 32, a: i, b: i * i}
		if i%5 == 0 {
			a.where |= bare
		}
		all = append(all, a)
		one = mix(mix(one, uint64(a.at)), a.where&^bare)
		if i%5 != 0 {
			one = mix(mix(one, a.a), a.b)
		}
	}
	for _, parts := range []int{1, 2, 3, 5} {
		var m merger
		var posts [5][logged + 1]atomic.Uint64
		for i := range parts {
			m.heads = append(m.heads, head{clock: &posts[i][clock], log: newPipe[arrival](&posts[i][logged])})
		}
		for i := range all {
			x := m.heads[i*i%7%parts].log
			*x.push() = all[i]
			if i%100 == 0 || i == n-1 {
				for k := range m.heads {
					m.heads[k].log.publish()
					posts[k][clock].Store(uint64(all[i].at))
				}
				m.some()
			}
		}
		for k := range m.heads {
			posts[k][clock].Store(uint64(all[n-1].at) + 1)
		}
		if !m.some() || m.some() {
			t.Errorf("%d parts: nothing was left for the end, or something after it", parts)
		}
		if m.hash != one {
			t.Errorf("%d parts: %x, not %x", parts, m.hash, one)
		}
	}
}
