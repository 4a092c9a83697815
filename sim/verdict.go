package sim

import (
	"context"
	"time"
)

// verdict is whether the parts go on after a barrier. The first part gives it, for all.
type verdict uint8

const (
	proceed    verdict = iota
	imbalanced         // but first nodes move to other parts
	contended          // not in parallel: processors are busy with other programs
	stopped            // no: the context has ended
	ended              // no: there are no more events before the end of the run
)

const (
	// checkEvery is how many rounds pass between two checks of the context.
	checkEvery = 8
	// Processors are contended if for more than two fifths of a contentionSpan parts wait for one that has none. With
	// less, two parts in parallel are still faster than interleaved.
	contentionSpan = 20 * time.Millisecond
)

// check is the first part's verdict, before a barrier.
func (w *World) check(ctx context.Context, round uint32) verdict {
	s := w.parallel
	if round%checkEvery == 0 && ctx.Err() != nil {
		return stopped
	}
	now := time.Now()
	if past := now.Sub(s.checkedAt); past >= contentionSpan {
		s.checkedAt = now
		if time.Duration(s.barrier.lost.Swap(0)) > past*2/5 {
			return contended
		}
	}
	if w.isImbalanced(now, round) {
		return imbalanced
	}
	return proceed
}
