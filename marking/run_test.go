package marking

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// However frames leave, one by one or judged together: the same are marked, and the next ones are too.
func TestRunIsAsOneByOne(t *testing.T) {
	red := func() Runner {
		return NewRED(REDParams{Kmin: 5 * units.KB, Kmax: 200 * units.KB, Pmax: 0.5}, 1)
	}
	for name, make := range map[string]func() Runner{
		"NPECN": func() Runner { return NewNPECN() }, "RED": red, "PACC": func() Runner { return NewPACC(paper25(1)) },
	} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { runIsAsOneByOne(t, make(), make()) })
		})
	}
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
