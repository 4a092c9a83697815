package sim

import "sync/atomic"

// portions is something that a sampler does in portions, with the help of parts that wait for it.
type portions struct {
	do   func(portion int)
	n    int32
	next atomic.Int32 // the portion that nobody does yet
	done atomic.Int32 // how many are done
}

// SideBySide calls do once for each of n portions, on the processors of the world's parts. Only samplers may call it,
// and what portions change must be apart, as different nodes are.
func (w *World) SideBySide(n int, do func(portion int)) {
	s := &portions{do: do, n: int32(n)}
	if w.parallel == nil {
		s.work()
		return
	}
	b := &w.parallel.barrier
	b.portions.Store(s)
	s.work()
	b.portions.Store(nil)
	var others stall
	for s.done.Load() < s.n {
		others.poll(b, nil)
	}
}

// work does what nobody else does.
func (s *portions) work() {
	for {
		portion := s.next.Add(1) - 1
		if portion >= s.n {
			return
		}
		s.do(int(portion))
		s.done.Add(1)
	}
}

// help does portions, if there are any.
func (b *barrier) help() {
	if s := b.portions.Load(); s != nil {
		s.work()
	}
}
