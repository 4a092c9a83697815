package sim

import (
	"sync/atomic"
	"testing"
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
