package sim

import "sync/atomic"

// shares is something that a sampler does in shares, with the help of parts that wait for it.
type shares struct {
	do   func(share int)
	n    int32
	next atomic.Int32 // the share that nobody does yet
	done atomic.Int32 // how many are done
}

// Share calls do once for each of n shares, side by side on the processors of the world's parts. Only samplers may call
// it, and what shares change must be apart, as different nodes are.
func (w *World) Share(n int, do func(share int)) {
	s := &shares{do: do, n: int32(n)}
	if w.parallel == nil {
		s.work()
		return
	}
	b := &w.parallel.barrier
	b.shares.Store(s)
	s.work()
	b.shares.Store(nil)
	var others stall
	for s.done.Load() < s.n {
		others.poll(b, nil)
	}
}

// work does what nobody else does.
func (s *shares) work() {
	for {
		share := s.next.Add(1) - 1
		if share >= s.n {
			return
		}
		s.do(int(share))
		s.done.Add(1)
	}
}

// help does shares, if there are any.
func (b *barrier) help() {
	if s := b.shares.Load(); s != nil {
		s.work()
	}
}
