package sim

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"photon/pfc"
	"photon/units"
)

// When SideBySide returns each portion has been done, and once, however many parts and processors there are.
func TestPortionsAreDoneOnce(t *testing.T) {
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
				d.SideBySide(n, func(portion int) { times[portion]++ })
				for portion, did := range times {
					if did != 1 {
						t.Fatalf("%d parts: portion %d of %d was done %d times", on.parts, portion, n, did)
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

// A part that waits for the first does portions: two that wait for each other end.
func TestWhoWaitsDoesPortions(t *testing.T) {
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
	d.SideBySide(2, func(int) {
		both.Done()
		both.Wait()
	})
	b.wait(nil)
	<-waited
}

// If a portion panics so does Run, once all parts have ended.
func TestPortionThatPanics(t *testing.T) {
	d := newDumbbell(t, "none", units.Microsecond)
	d.SetParts(2)
	d.flow(t, 0, 3, 1, units.MB, 0)
	d.Every(3*units.Microsecond, func(units.Time) {
		d.SideBySide(8, func(portion int) {
			if portion == 5 {
				panic("portion 5")
			}
		})
	})
	defer func() {
		why := recover()
		if p, ok := why.(*Panic); ok {
			why = p.Value
		}
		if why != "portion 5" {
			t.Errorf("Run panics with %v", why)
		}
	}()
	_ = d.Run(context.Background(), 300*units.Microsecond)
	t.Error("Run returned")
}
