package fabric

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"testing"

	"photon/units"
)

// What fits comes out as it was, in order; what does not is counted, with the
// frame before which it is missing.
func TestTap(t *testing.T) {
	tap := NewTap(3, 60, func(_ *Frame, b []byte, _ bool) int { return int(int8(b[0])) }) // four fit
	pool := NewHeaderPool()
	var burst []Frame
	for i := range 6 {
		f, _ := pool.Alloc(1000 + i)
		pool.Header(f)[0] = []byte{3, 0xFF, 6, 0xFF, 0, 0}[i]
		burst = append(burst, f)
	}
	burst[3].Len = 9
	tap.Copy(7, false, pool, burst)
	tap.Copy(8, true, pool, burst[:0])
	check := func(want ...Tapped) {
		t.Helper()
		for _, w := range want {
			ok := tap.Take(func(got *Tapped) {
				if got.At != w.At || got.Out != w.Out || got.Priority != w.Priority || got.Len != w.Len || len(got.Bytes) != min(60, w.Len) || got.Lost != w.Lost {
					t.Errorf("got %+v, expected %+v", got, w)
				}
			})
			if !ok {
				t.Error("nothing")
			}
		}
		if tap.Take(func(*Tapped) {}) {
			t.Error("too much")
		}
	}
	check(Tapped{At: 7, Priority: 3, Len: 1000}, Tapped{At: 7, Priority: -1, Len: 1001}, Tapped{At: 7, Priority: 6, Len: 1002}, Tapped{At: 7, Priority: -1, Len: 9})
	tap.Copy(9, true, pool, burst[:1])
	check(Tapped{At: 9, Out: true, Priority: 3, Len: 1000, Lost: 2})
	if tap.Lost() != 2 {
		t.Error(tap.Lost())
	}
	if n := testing.AllocsPerRun(50, func() { tap.Copy(9, true, pool, burst) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	for _, f := range burst {
		pool.Free(f)
	}
}

// A worker at full speed, and a consumer that cannot keep up, under the race
// detector: every frame was copied whole or counted.
func TestTapOfTwoGoroutines(t *testing.T) {
	const frames = 50_000
	pool := NewHeaderPool()
	tap := NewTap(64, 100, func(*Frame, []byte, bool) int { return 3 })
	var ended atomic.Bool
	go func() {
		defer ended.Store(true)
		f, _ := pool.Alloc(100)
		b := pool.Header(f)
		for i := range uint32(frames) {
			for at := 0; at < 100; at += 4 {
				binary.LittleEndian.PutUint32(b[at:], i)
			}
			tap.Copy(units.Time(i), false, pool, []Frame{f})
		}
	}()
	seen, lost := uint64(0), uint64(0)
	take := func(got *Tapped) {
		seen++
		lost += got.Lost
		if n := uint64(binary.LittleEndian.Uint32(got.Bytes)); n != seen+lost-1 || got.At != units.Time(n) || !bytes.Equal(got.Bytes[:96], got.Bytes[4:]) {
			t.Fatalf("frame %d is %d of %v", seen+lost, n, got.At)
		}
	}
	for !ended.Load() || tap.Take(take) {
		tap.Take(take)
	}
	if seen+tap.Lost() != frames || seen == 0 {
		t.Errorf("%d seen, %d lost of %d", seen, tap.Lost(), frames)
	}
}
