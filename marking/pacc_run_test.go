package marking

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// So it is with PACC, which has counted its frames when they were queued.
func TestRunIsAsOneByOneWithPACC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { runIsAsOneByOne(t, NewPACC(paper25(1)), NewPACC(paper25(1))) })
}

func runIsAsOneByOne(t *rapid.T, one, run Runner) {
	all := rapid.SliceOfN(rapid.Uint16Range(60, 9216), 0, 150).Draw(t, "sizes")
	q := Queue{Frames: len(all)}
	for _, n := range all {
		q.Bytes += units.Size(n)
	}
	for len(all) > 0 {
		if rapid.IntRange(0, 3).Draw(t, "resume") == 0 {
			paused := Queue{Frames: rapid.IntRange(0, len(all)).Draw(t, "paused")}
			one.Resume(0, paused)
			run.Resume(0, paused)
		}
		sizes := all[:rapid.IntRange(1, min(len(all), 63)).Draw(t, "n")]
		all = all[len(sizes):]
		marked := run.DequeueRun(0, q, sizes)
		for i, n := range sizes {
			q.Bytes -= units.Size(n)
			q.Frames--
			if want, got := one.Dequeue(0, q, &Packet{Size: int(n)}) == Congestion, marked>>i&1 != 0; want != got {
				t.Fatalf("frame %d of %d: %v together, %v one by one", i, len(sizes), got, want)
			}
		}
		if marked>>len(sizes) != 0 {
			t.Fatalf("%b is of more than %d frames", marked, len(sizes))
		}
	}
}
