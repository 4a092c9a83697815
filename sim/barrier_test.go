package sim

import (
	"testing"
	"time"
)

// When a part that others wait for turns out to have no processor, all of the wait is lost, not only what follows.
func TestWaitForNoProcessorIsLostFromItsBeginning(t *testing.T) {
	others := []*exchange{newExchange(0, 2, nil)}
	var b barrier
	s := stall{polls: maxPolls, stoodAt: time.Now().Add(-time.Hour)}
	s.poll(&b, others)
	first := time.Duration(b.lost.Load())
	s.poll(&b, others)
	if both := time.Duration(b.lost.Load()); first < time.Hour || both <= first || both > first+time.Hour {
		t.Errorf("%v are lost after an hour, and %v after another poll", first, both)
	}
	s = stall{polls: maxPolls, stoodAt: time.Now().Add(-time.Hour)}
	others[0].shared[sharedBeat].Store(1)
	s.poll(&b, others)
	s.polls = maxPolls
	s.poll(&b, others)
	if now := time.Duration(b.lost.Load()); now > first+time.Hour {
		t.Errorf("%v are lost though the part has gone on", now)
	}
}

// A wait is as long as it was: from its first poll to its end, and nothing without one.
func TestStallIsAsLongAsItWas(t *testing.T) {
	for polls := range 4 {
		var s stall
		begin := time.Now()
		for range polls {
			s.poll(&barrier{}, nil)
		}
		if took := s.end(); took < 0 || took > time.Since(begin) || (took > 0) != (polls > 0) {
			t.Errorf("%d polls: %v", polls, took)
		}
		if s.end() != 0 {
			t.Errorf("%d polls: it has two ends", polls)
		}
	}
}
