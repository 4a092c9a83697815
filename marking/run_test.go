package marking

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// runners are the congestion points that judge frames which leave together in one call; each is made twice
// alike.
var runners = map[string]func(t *rapid.T) Runner{
	"NPECN": func(*rapid.T) Runner { return NewNPECN() },
	"RED": func(t *rapid.T) Runner {
		kmin := units.Size(rapid.IntRange(0, 50_000).Draw(t, "kmin"))
		kmax := kmin + units.Size(rapid.SampledFrom([]int{0, 1, 20_000, 100_000}).Draw(t, "kmax"))
		return NewRED(REDParams{Kmin: kmin, Kmax: kmax, Pmax: rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "pmax")}, 7)
	},
	"QCN":  func(*rapid.T) Runner { return NewQCN(hotAF.QCNParams, 1) },
	"PACC": func(*rapid.T) Runner { return NewPACC(paper25(1)) },
	"IB": func(t *rapid.T) Runner {
		return NewIB(IBParams{
			Weight: rapid.IntRange(0, 15).Draw(t, "weight"), Reference: units.Size(rapid.IntRange(1, 200_000).Draw(t, "reference")),
			PacketSize: 64 * units.Size(rapid.IntRange(0, 20).Draw(t, "size")), Rate: rapid.IntRange(0, 3).Draw(t, "rate"), Victims: rapid.Bool().Draw(t, "victims"),
		})
	},
}

// However frames leave, one by one or judged together: the same are marked, and the next ones are too.
func TestRunsAreAsFrameByFrame(t *testing.T) {
	for name, newRunner := range runners {
		t.Run(name, func(t *testing.T) { rapid.Check(t, func(t *rapid.T) { checkRuns(t, newRunner) }) })
	}
}

func checkRuns(t *rapid.T, newRunner func(*rapid.T) Runner) {
	run := newRunner(t)
	one := clone(run)
	all := rapid.SliceOfN(rapid.Uint16Range(60, 9216), 1, 200).Draw(t, "sizes")
	q := Queue{Frames: len(all)}
	for _, n := range all {
		q.Bytes += units.Size(n)
	}
	for len(all) > 0 {
		if rapid.IntRange(0, 3).Draw(t, "resume") == 0 { // what was queued when the pause ended
			paused := Queue{Frames: rapid.IntRange(0, len(all)).Draw(t, "paused")}
			run.Resume(0, paused)
			one.Resume(0, paused)
		}
		sizes := all[:rapid.IntRange(1, min(63, len(all))).Draw(t, "n")]
		got, want := run.DequeueRun(0, q, sizes), uint64(0)
		for i, n := range sizes {
			q.Bytes -= units.Size(n)
			q.Frames--
			if one.Dequeue(0, q, &Packet{Size: int(n)}) == Congestion {
				want |= 1 << i
			}
		}
		if got != want {
			t.Fatalf("of %d frames together %b are marked, one by one %b", len(sizes), got, want)
		}
		all = all[len(sizes):]
	}
}

// clone is a congestion point in the same state.
func clone(r Runner) Runner {
	switch r := r.(type) {
	case *NPECN:
		c := *r
		return &c
	case *RED:
		c := *r
		return &c
	case *QCN:
		c := *r
		return &c
	case *PACC: // nothing of what both have is changed when frames leave
		c := *r
		return &c
	case *IB:
		c := *r
		return &c
	}
	panic("a congestion point that cannot be copied")
}

// A congestion point that is not shown a frame which meets an empty queue and leaves at once would have kept it,
// and judges all later ones alike: whether it saw such frames nobody can tell.
func TestIdlersMissNothing(t *testing.T) {
	for name, newRunner := range runners {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				shown := newRunner(t)
				idle, ok := clone(shown).(Idler)
				if !ok {
					t.Fatal("it is to be shown every frame")
				}
				checkIdle(t, shown, idle)
			})
		})
	}
}

func checkIdle(t *rapid.T, shown, idle CP) {
	var queued []int // sizes
	state := func() (q Queue) {
		q.Frames = len(queued)
		for _, n := range queued {
			q.Bytes += units.Size(n)
		}
		return q
	}
	for range rapid.IntRange(1, 200).Draw(t, "steps") {
		size := rapid.IntRange(60, 9216).Draw(t, "size")
		p := &Packet{Size: size}
		switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
		case what == 0: // a pause ends
			shown.Resume(0, state())
			idle.Resume(0, state())
		case what < 5:
			queued = append(queued, size)
		case len(queued) == 0: // past the queue
			if shown.Dequeue(0, Queue{}, p) != Unchanged {
				t.Fatal("a frame alone is marked")
			}
		default:
			p.Size, queued = queued[0], queued[1:]
			if a, b := shown.Dequeue(0, state(), p), idle.Dequeue(0, state(), p); a != b {
				t.Fatalf("%v, and %v by one that did not see what passed", a, b)
			}
		}
	}
}
