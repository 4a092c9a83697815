package collective

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// run has the tasks happen in an order that a source of randomness chooses among those that may, and
// tells of each message when it is sent and when it arrives.
func run(t *rapid.T, tasks []Task, sent, arrived func(i int)) {
	const (
		waits = iota
		underway
		over
	)
	state := make([]int, len(tasks))
	for left := len(tasks); left > 0; {
		var may []int
		for i := range tasks {
			ready := state[i] == underway
			if state[i] == waits {
				ready = true
				for _, d := range tasks[i].After {
					ready = ready && state[d.Task] == over
				}
			}
			if ready {
				may = append(may, i)
			}
		}
		if len(may) == 0 {
			t.Fatal("everything waits for something else")
		}
		i := rapid.SampledFrom(may).Draw(t, "next")
		if state[i]++; state[i] == underway {
			sent(i)
		} else {
			arrived(i)
			left--
		}
	}
}

// In whatever order messages arrive, a ring's ranks send what they have made of what they got, and have the
// sum of all in the end.
func TestRingAllReduceAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{2, 3, 4, 5}).Draw(t, "ranks")
		s := Spec{Do: "all-reduce", Ranks: n, Size: 1000, Chunks: rapid.IntRange(1, 2).Draw(t, "chunks"), Channels: rapid.IntRange(1, 2).Draw(t, "channels")}
		tasks, err := s.Tasks()
		if err != nil {
			t.Fatal(err)
		}
		// A piece of a channel has chunks, which are told apart by the order in which they are listed.
		have := make([]map[string]uint64, n)
		name := make([]string, len(tasks))
		for r := range have {
			have[r] = map[string]uint64{}
		}
		for i := range tasks {
			name[i] = fmt.Sprintf("%d/%d/%d", tasks[i].Channel, tasks[i].Piece, i%s.Chunks)
			for r := range have {
				have[r][name[i]] = 1 << r
			}
		}
		cargo := make([]uint64, len(tasks))
		run(t, tasks, func(i int) { cargo[i] = have[tasks[i].Rank][name[i]] }, func(i int) {
			have[tasks[i].To][name[i]] |= cargo[i]
		})
		for r := range have {
			for piece, sum := range have[r] {
				if sum != 1<<n-1 {
					t.Fatalf("rank %d has %b of %s", r, sum, piece)
				}
			}
		}
	})
}

// What each rank sends and gets is what the algorithm is known for.
func TestVolumes(t *testing.T) {
	const size = 1 << 20
	for _, c := range []struct {
		s    Spec
		each units.Size // that each rank sends
	}{
		{Spec{Do: "all-reduce", Ranks: 5}, 2 * size * 4 / 5},
		{Spec{Do: "all-reduce", Ranks: 8, Algorithm: "halving-doubling", Channels: 2}, 2 * size * 7 / 8},
		{Spec{Do: "reduce-scatter", Ranks: 8, Algorithm: "halving-doubling"}, size * 7 / 8},
		{Spec{Do: "all-gather", Ranks: 8, Algorithm: "halving-doubling"}, size * 7 / 8},
		{Spec{Do: "reduce-scatter", Ranks: 3, Chunks: 4}, size * 2 / 3},
		{Spec{Do: "all-gather", Ranks: 3, Channels: 4}, size * 2 / 3},
		{Spec{Do: "all-to-all", Ranks: 4, Window: 2}, size * 3 / 4},
		{Spec{Do: "tensor-parallel", Ranks: 4, Layers: 2}, 8 * 2 * size * 3 / 4},
	} {
		c.s.Size = size
		tasks, err := c.s.Tasks()
		if err != nil {
			t.Fatal(err)
		}
		out, in := make([]units.Size, c.s.Ranks), make([]units.Size, c.s.Ranks)
		for _, x := range tasks {
			if x.To != Compute {
				out[x.Rank] += x.Size
				in[x.To] += x.Size
			}
		}
		for r := range out {
			if d := out[r] - c.each; d < -64 || d > 64 || in[r]-out[r] < -64 || in[r]-out[r] > 64 {
				t.Errorf("%+v: rank %d sends %d and gets %d, not %d", c.s, r, out[r], in[r], c.each)
			}
		}
	}
}

// By halving and doubling, too, all have the sum of all.
func TestHalvingDoublingAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{2, 4, 8}).Draw(t, "ranks")
		tasks, err := Spec{Do: "all-reduce", Ranks: n, Size: 1 << 12, Algorithm: "halving-doubling"}.Tasks()
		if err != nil {
			t.Fatal(err)
		}
		have := make([][]uint64, n) // by rank and piece
		for r := range have {
			have[r] = make([]uint64, n)
			for p := range have[r] {
				have[r][p] = 1 << r
			}
		}
		cargo := make([][]uint64, len(tasks))
		run(t, tasks, func(i int) { cargo[i] = append([]uint64{}, have[tasks[i].Rank]...) }, func(i int) {
			x := tasks[i]
			for p, v := range cargo[i] {
				// On the way there, what the receiver is to have; on the way back, what the sender has whole.
				if i < len(tasks)/2 && (p^x.To)&^((n/2>>(i/n))-1) == 0 || i >= len(tasks)/2 && v == 1<<n-1 {
					have[x.To][p] |= v
				}
			}
		})
		for r := range have {
			for p, v := range have[r] {
				if v != 1<<n-1 {
					t.Fatalf("%d ranks: rank %d has %b of piece %d", n, r, v, p)
				}
			}
		}
	})
}

func TestSpecsThatMeanNothing(t *testing.T) {
	for _, s := range []Spec{
		{Do: "all-reduse", Ranks: 2, Size: 10}, {Do: "all-reduce", Ranks: 1, Size: 10}, {Do: "all-reduce", Ranks: 2},
		{Do: "all-reduce", Ranks: 6, Size: 100, Algorithm: "halving-doubling"}, {Do: "all-to-all", Ranks: 4, Size: 100, Algorithm: "ring"},
		{Do: "all-reduce", Ranks: 4, Size: 3}, {Do: "pipeline", Ranks: 4, Size: 3}, {Do: "broadcast", Ranks: 4, Size: 3, Root: 4},
		{Do: "all-reduce", Ranks: 4, Size: 100, Algorithm: "tree"}, {Do: "pipeline", Ranks: 4, Size: 3, Microbatches: 2, Channels: 2},
	} {
		if _, err := s.Tasks(); err == nil {
			t.Errorf("%+v is fine", s)
		}
	}
}

// A rank has nothing to send of what it has not computed: as long as one computes, none of its messages behind that
// moves, whatever comes from others.
func TestNoRankSendsAheadOfWhatItComputes(t *testing.T) {
	for _, s := range []Spec{
		{Do: "tensor-parallel", Ranks: 4, Layers: 1, Chunks: 2},
		{Do: "tensor-parallel", Ranks: 3, Layers: 1, Channels: 2},
		{Do: "tensor-parallel", Ranks: 4, Layers: 1, Algorithm: "halving-doubling"},
		{Do: "pipeline", Ranks: 3, Microbatches: 2},
	} {
		s.Size = 1 << 10
		tasks, err := s.Tasks()
		if err != nil {
			t.Fatal(err)
		}
		for late := range tasks {
			if tasks[late].To != Compute {
				continue
			}
			over := make([]bool, len(tasks)) // what happens without it: nothing waits for what is behind it
			for i := range tasks {
				over[i] = i != late
				for _, d := range tasks[i].After {
					over[i] = over[i] && over[d.Task]
				}
				if over[i] && i > late && tasks[i].Rank == tasks[late].Rank {
					t.Fatalf("%+v: task %d of rank %d does not wait for task %d, which it computes",
						s, i, tasks[i].Rank, late)
				}
			}
		}
	}
}

// Bus bandwidth is that of a rank's link: times the time of an operation it is what the rank that sends most sends,
// where none sends more than it has to.
func TestBusFactorIsWhatARankSends(t *testing.T) {
	for name := range Kinds {
		for _, ranks := range []int{3, 8} {
			s := Spec{Do: name, Ranks: ranks, Size: 24_000, Degree: 1, Microbatches: 5, Layers: 3}
			tasks, err := s.Tasks()
			if err != nil {
				t.Fatal(err)
			}
			sent := make([]units.Size, ranks)
			for i := range tasks {
				if tasks[i].To != Compute {
					sent[tasks[i].Rank] += tasks[i].Size
				}
			}
			if got := s.BusFactor() * float64(s.Moved()); math.Abs(got-float64(slices.Max(sent))) > 0.5 {
				t.Errorf("%s of %d ranks: %v B, and a rank sends %v", name, ranks, got, slices.Max(sent))
			}
		}
	}
}
