package sim

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"photon/pfc"
	"photon/units"
)

// When Share returns each share has been done, and once, however many parts and processors there are.
func TestSharesAreDoneOnce(t *testing.T) {
	defer func(n int) { maxPolls = n }(maxPolls)
	maxPolls = 10
	for _, on := range []struct{ parts, processors int }{{1, 1}, {2, 1}, {2, 2}, {3, 2}, {3, 3}} {
		before := runtime.GOMAXPROCS(on.processors)
		d := ring(t, pfc.WatchdogConfig{})
		d.SetParts(on.parts)
		calls := 0
		d.Every(3*units.Microsecond, func(units.Time) {
			calls++
			for _, n := range []int{0, 1, 2, 37} {
				times := make([]int, n)
				d.Share(n, func(share int) { times[share]++ })
				for share, did := range times {
					if did != 1 {
						t.Fatalf("%d parts: share %d of %d was done %d times", on.parts, share, n, did)
					}
				}
			}
		})
		d.run(t, 300*units.Microsecond)
		runtime.GOMAXPROCS(before)
		if calls != 100 || len(d.parts) != on.parts {
			t.Errorf("%d calls with %d parts", calls, len(d.parts))
		}
	}
}

// A part that waits for the first does shares: two that wait for each other end.
func TestWhoWaitsDoesShares(t *testing.T) {
	d := newDumbbell(t, "none", units.Microsecond)
	d.SetParts(2)
	d.run(t, units.Microsecond)
	b := &d.parallel.barrier
	waited := make(chan struct{})
	go func() {
		b.wait(nil)
		close(waited)
	}()
	var both sync.WaitGroup
	both.Add(2)
	d.Share(2, func(int) {
		both.Done()
		both.Wait()
	})
	b.wait(nil)
	<-waited
}

// If a share panics so does Run, once all parts have ended.
func TestShareThatPanics(t *testing.T) {
	d := newDumbbell(t, "none", units.Microsecond)
	d.SetParts(2)
	d.flow(t, 0, 3, 1, units.MB, 0)
	d.Every(3*units.Microsecond, func(units.Time) {
		d.Share(8, func(share int) {
			if share == 5 {
				panic("share 5")
			}
		})
	})
	defer func() {
		why := recover()
		if p, ok := why.(*Panic); ok {
			why = p.Value
		}
		if why != "share 5" {
			t.Errorf("Run panics with %v", why)
		}
	}()
	_ = d.Run(context.Background(), 300*units.Microsecond)
	t.Error("Run returned")
}
