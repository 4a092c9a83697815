package marking

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// However frames leave, one by one, judged together or as a span: the same are
// marked, and the next ones are too.
func TestNPECNBurstAndSpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var one, burst, span NPECN
		all := rapid.SliceOfN(rapid.Uint16Range(60, 9216), 0, 100).Draw(t, "sizes")
		total := func() (sum units.Size) {
			for _, n := range all {
				sum += units.Size(n)
			}
			return sum
		}
		for len(all) > 0 {
			q := Queue{Bytes: total(), Frames: len(all)}
			if rapid.IntRange(0, 3).Draw(t, "resume") == 0 {
				q := Queue{Frames: rapid.IntRange(0, len(all)).Draw(t, "paused")}
				one.Resume(0, q)
				burst.Resume(0, q)
				span.Resume(0, q)
			}
			sizes := all[:rapid.IntRange(1, len(all)).Draw(t, "n")]
			all = all[len(sizes):]
			want, got := make([]Mark, len(sizes)), make([]Mark, len(sizes))
			left, bytes := q, units.Size(0)
			for i, n := range sizes {
				left.Bytes -= units.Size(n)
				left.Frames--
				bytes += units.Size(n)
				want[i] = one.Dequeue(0, left, nil)
			}
			if burst.DequeueBurst(0, q, sizes, got); !slices.Equal(got, want) {
				t.Fatalf("together %v, one by one %v", got, want)
			}
			clear(got)
			from, to := span.DequeueSpan(0, q, len(sizes), bytes)
			for i := from; i < to; i++ {
				got[i] = Congestion
			}
			if !slices.Equal(got, want) || one != burst || one != span {
				t.Fatalf("as a span %v (%v), one by one %v (%v)", got, span, want, one)
			}
		}
	})
}
