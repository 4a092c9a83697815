//go:build dpdk

package dpdk

import (
	"context"
	"testing"

	"photon/units"
)

// A round that comes after several instants for which a function is to be called says of each by how much.
func TestBehind(t *testing.T) {
	w := newWorld(t, Options{Dilation: 20})
	last, calls, rounds := units.Time(0), 0, 0
	w.Every(units.Nanosecond, func(now units.Time) {
		round := now + w.Behind()
		if w.Behind() < 0 || round < last {
			t.Fatalf("%v is %v late, and the round before came at %v", now, w.Behind(), last)
		}
		if calls++; round != last {
			last = round
			rounds++
		}
	})
	const until = 20 * units.Microsecond
	if err := w.Run(context.Background(), until); err != nil {
		t.Fatal(err)
	}
	if calls != int(until/units.Nanosecond) || rounds < 2 || rounds > calls/2 || last != until {
		t.Errorf("%d calls in %d rounds, the last at %v", calls, rounds, last)
	}
}
