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

// By halving and doubling each rank gets what it is to have: its part of the sum, or all of it, with what each rank has
// counted once. Buffers have a byte for each rank, so that a message's size says how many parts are in it.
func TestHalvingDoublingAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{2, 4, 8}).Draw(t, "ranks")
		do := rapid.SampledFrom([]string{"all-reduce", "reduce-scatter", "all-gather"}).Draw(t, "do")
		tasks, err := Spec{Do: do, Ranks: n, Size: units.Size(n), Algorithm: "halving-doubling"}.Tasks()
		if err != nil {
			t.Fatal(err)
		}
		all := uint64(0) // a digit for each rank: how often what it has is in a sum
		for r := range n {
			all |= 1 << (4 * r)
		}
		if do == "all-gather" {
			all = 1
		}
		have := make([][]uint64, n) // by rank and part
		for r := range have {
			have[r] = make([]uint64, n)
			for p := range have[r] {
				if do != "all-gather" {
					have[r][p] = 1 << (4 * r)
				} else if p == r {
					have[r][p] = 1
				}
			}
		}
		cargo := make([][]uint64, len(tasks))
		run(t, tasks, func(i int) {
			x := tasks[i]
			cargo[i] = slices.Clone(have[x.Rank][x.Piece : x.Piece+int(x.Size)])
		}, func(i int) {
			x := tasks[i]
			for k, v := range cargo[i] {
				if had := &have[x.To][x.Piece+k]; v == all { // it is whole: nothing is added to it
					*had = v
				} else {
					*had += v
				}
			}
		})
		for r := range have {
			for p, v := range have[r] {
				if v != all && (p == r || do != "reduce-scatter") {
					t.Fatalf("%s of %d ranks: rank %d has %x of part %d", do, n, r, v, p)
				}
			}
		}
	})
}

// A collective moves as soon as each piece has a byte, and none of its messages is ever empty. With a byte less there
// is an error.
func TestPiecesHaveAByteAtLeast(t *testing.T) {
	for _, s := range specs() {
		least := max(1, s.Chunks) * max(1, s.Channels)
		switch s.Do {
		case "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "tensor-parallel":
			least *= s.Ranks // whose parts they are
		}
		for size := range 2*least + 2 {
			s.Size = units.Size(size)
			tasks, err := s.Tasks()
			if (err == nil) != (size >= least) {
				t.Fatalf("%+v, of which %d are the least: %v", s, least, err)
			}
			for _, x := range tasks {
				if x.To != Compute && x.Size <= 0 {
					t.Fatalf("%+v: a message of %v", s, x.Size)
				}
			}
		}
	}
}

// The root of a broadcast sends to as many as its degree says, 2 if it says nothing, and an error names the ranks that
// may be the root.
func TestRootOfBroadcasts(t *testing.T) {
	for degree, want := range map[int]int{0: 2, 1: 1, 2: 2, 3: 3, 7: 7, 9: 7} {
		tasks, err := Spec{Do: "broadcast", Ranks: 8, Size: 9, Root: 5, Degree: degree}.Tasks()
		if err != nil {
			t.Fatal(err)
		}
		sends := 0
		for _, x := range tasks {
			if x.Rank == 5 {
				sends++
			}
		}
		if sends != want {
			t.Errorf("degree %d: the root sends to %d", degree, sends)
		}
	}
	_, err := Spec{Do: "broadcast", Ranks: 4, Size: 9, Root: 4}.Tasks()
	if want := "root 4: there are ranks 0 to 3"; err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}

// Whatever the size, halving and doubling move all of it: a rank that gets everything lacks nothing but its own part,
// and the parts of all ranks are the buffer. Bytes are cut into as many parts as there are ranks, no two of which
// differ by more than one byte.
func TestHalvingDoublingMovesEveryByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{2, 4, 8, 16}).Draw(t, "ranks")
		size := units.Size(rapid.IntRange(n, 50*n).Draw(t, "size"))
		for do, each := range map[string]units.Size{"reduce-scatter": 1, "all-gather": 1, "all-reduce": 2} {
			tasks, err := Spec{Do: do, Ranks: n, Size: size, Algorithm: "halving-doubling"}.Tasks()
			if err != nil {
				t.Fatal(err)
			}
			all, in := units.Size(0), make([]units.Size, n)
			for _, x := range tasks {
				all += x.Size
				in[x.To] += x.Size
			}
			if want := each * units.Size(n-1) * size; all != want {
				t.Errorf("%s of %d ranks and %v: %v move, not %v", do, n, size, all, want)
			}
			if do != "all-gather" {
				continue
			}
			for r, got := range in {
				if own := size - got; own != size/units.Size(n) && own != (size+units.Size(n)-1)/units.Size(n) {
					t.Errorf("%d ranks and %v: rank %d gets %v, and its own part cannot be %v", n, size, r, got, own)
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
		{Do: "broadcast", Ranks: 4, Size: 3, Root: -1}, {Do: "broadcast", Ranks: 4, Size: 30, Degree: -1},
		{Do: "all-reduce", Ranks: 4, Size: 100, Chunks: -1}, {Do: "all-reduce", Ranks: 4, Size: 100, Channels: -1},
		{Do: "all-to-all", Ranks: 4, Size: 100, Window: -1}, {Do: "pipeline", Ranks: 4, Size: 100, Microbatches: -1},
		{Do: "tensor-parallel", Ranks: 4, Size: 100, Layers: -1}, {Do: "tensor-parallel", Ranks: 4, Size: 100},
		{Do: "pipeline", Ranks: 4, Size: 100, Microbatches: 1, Compute: -1},
		{Do: "pipeline", Ranks: 4, Size: 100, Microbatches: 1, Backward: -1},
		{Do: "all-to-all", Ranks: 4, Size: 100, Chunks: 2}, {Do: "all-reduce", Ranks: 4, Size: 7, Chunks: 2},
		{Do: "all-reduce", Ranks: 4, Size: 100, Chunks: 2, Algorithm: "halving-doubling"},
		{Do: "all-to-all", Ranks: 1 << 13, Size: units.GB},
		{Do: "broadcast", Ranks: 2, Size: units.GB, Chunks: MostTasks + 1},
		{Do: "all-to-all", Ranks: 2, Size: units.GB, Channels: MostTasks},
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

// specs are of all kinds, with all that divides them.
func specs() (all []Spec) {
	for _, ranks := range []int{2, 3, 5, 8} {
		for _, chunks := range []int{1, 3} {
			for _, channels := range []int{1, 2} {
				both := Spec{Ranks: ranks, Size: 1009, Chunks: chunks, Channels: channels, Layers: 2, Compute: 5}
				for _, do := range []string{"all-reduce", "reduce-scatter", "all-gather", "tensor-parallel"} {
					s := both
					s.Do = do
					all = append(all, s)
					if s.Algorithm = "halving-doubling"; ranks&(ranks-1) == 0 && chunks == 1 {
						all = append(all, s)
					}
				}
				for degree := range 4 {
					s := both
					s.Do, s.Degree, s.Root = "broadcast", degree, ranks/2
					all = append(all, s)
				}
				one := Spec{Ranks: ranks, Size: 1009, Channels: channels, Microbatches: chunks + 1}
				one.Compute, one.Backward = 5, 7
				for window := range 3 {
					s := one
					s.Do, s.Window = "all-to-all", window
					all = append(all, s)
				}
				if s := one; channels == 1 {
					s.Do = "pipeline"
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// behind has for each task all that is over when it begins, whatever the order: what it waits for, and what that
// waited for.
func behind(tasks []Task) []map[int]bool {
	all := make([]map[int]bool, len(tasks))
	for i := range tasks {
		all[i] = map[int]bool{}
		for _, d := range tasks[i].After {
			all[i][d.Task] = true
			for j := range all[d.Task] {
				all[i][j] = true
			}
		}
	}
	return all
}

// A rank waits for what it can know of: messages to it, and what it did itself. And of a collective of so many tasks
// as are there, the number that is held against the most is theirs, or little more.
func TestTasksWaitForWhatTheirRankKnows(t *testing.T) {
	for _, s := range specs() {
		tasks, err := s.Tasks()
		if err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		for i, x := range tasks {
			if x.Rank < 0 || x.Rank >= s.Ranks || x.To != Compute && (x.To < 0 || x.To >= s.Ranks || x.To == x.Rank) {
				t.Fatalf("%+v: task %d is %+v", s, i, x)
			}
			for _, d := range x.After {
				if d.Task >= i || tasks[d.Task].To != x.Rank && tasks[d.Task].Rank != x.Rank {
					t.Fatalf("%+v: task %d is %+v, and waits for %+v", s, i, x, tasks[d.Task])
				}
			}
		}
		about := Kinds[s.Do].count(&s, float64(s.Ranks)) * float64(max(1, s.Chunks)*max(1, s.Channels))
		if n := float64(len(tasks)); about < n || about > n*3/2 {
			t.Errorf("%+v: %v tasks, and about %v", s, n, about)
		}
	}
}

// Pieces make up the whole, of whatever size, and are alike but for a byte each time that they are cut.
func TestPiecesMakeUpTheWhole(t *testing.T) {
	for _, size := range []units.Size{1_000_003, math.MaxInt64} {
		for _, s := range []Spec{
			{Do: "broadcast", Ranks: 2, Chunks: 10_007}, {Do: "all-reduce", Ranks: 100, Channels: 7},
			{Do: "all-to-all", Ranks: 100},
		} {
			s.Size = size
			tasks, err := s.Tasks()
			if err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			least, most, left := size, units.Size(0), size
			for _, x := range tasks {
				least, most = min(least, x.Size), max(most, x.Size)
				left -= x.Size
			}
			if least <= 0 || most > least+2 || s.Do == "broadcast" && left != 0 {
				t.Errorf("%+v: pieces of %d to %d, and %d is left", s, least, most, left)
			}
		}
	}
}

// Every rank gets all pieces of the buffer from one that has them: the root, or one that has got them before.
func TestBroadcastSpreads(t *testing.T) {
	for _, s := range specs() {
		if s.Do != "broadcast" {
			continue
		}
		tasks, _ := s.Tasks()
		before := behind(tasks)
		got, to := make([]units.Size, s.Ranks), map[[2]int]bool{}
		for i, x := range tasks {
			got[x.To] += x.Size
			to[[2]int{x.Rank, x.To}] = true
			has := x.Rank == s.Root
			for j := range before[i] {
				y := tasks[j]
				has = has || y.To == x.Rank && y.Piece == x.Piece && y.Channel == x.Channel && y.Size == x.Size
			}
			if !has {
				t.Fatalf("%+v: rank %d does not have what task %d sends", s, x.Rank, i)
			}
		}
		sends := make([]int, s.Ranks)
		for pair := range to {
			sends[pair[0]]++
		}
		degree := s.Degree
		if degree == 0 {
			degree = 2
		}
		for r := range got {
			if want := s.Size; r != s.Root && got[r] != want || r == s.Root && got[r] != 0 || sends[r] > degree {
				t.Errorf("%+v: rank %d gets %v and sends to %d", s, r, got[r], sends[r])
			}
		}
	}
}

// Each rank has one message per channel for each other, which make up its part of the buffer, and no more than a
// window of them at a time.
func TestAllToAllExchanges(t *testing.T) {
	for _, s := range specs() {
		if s.Do != "all-to-all" {
			continue
		}
		tasks, _ := s.Tasks()
		before := behind(tasks)
		sum, count := map[[2]int]units.Size{}, map[[2]int]int{}
		for i, x := range tasks {
			sum[[2]int{x.Rank, x.To}] += x.Size
			count[[2]int{x.Rank, x.To}]++
			under := map[int]bool{} // of the rank and channel, listed before: with it under way, these may be
			for j, y := range tasks[:i] {
				if y.Rank == x.Rank && y.Channel == x.Channel && !before[i][j] {
					under[j] = true
					for k := range before[j] {
						delete(under, k)
					}
				}
			}
			if s.Window > 0 && len(under) != min(s.Window-1, i%(s.Ranks*(s.Ranks-1))/s.Ranks) {
				t.Fatalf("%+v: with task %d go %d others", s, i, len(under))
			}
		}
		part := s.Size / units.Size(s.Ranks)
		for a := range s.Ranks {
			for b := range s.Ranks {
				got, n := sum[[2]int{a, b}], count[[2]int{a, b}]
				if a != b && (got < part || got > part+1 || n != s.Channels) {
					t.Errorf("%+v: %d to %d: %v in %d", s, a, b, got, n)
				}
			}
		}
	}
}

// A pipeline of k stages and m microbatches is over after k+m-1 times what one takes forward and backward: all but a
// part (k-1)/(k+m-1) of a stage's time is filled (GPipe, arXiv 1811.06965). Messages, which take a little, add what
// one microbatch needs through all stages and back.
func TestPipelineTakesAsLongAsGPipe(t *testing.T) {
	for _, s := range specs() {
		if s.Do != "pipeline" {
			continue
		}
		for _, backward := range []units.Time{0, 7} {
			s.Backward = backward
			tasks, _ := s.Tasks()
			ends, last := make([]units.Time, len(tasks)), units.Time(0)
			for i, x := range tasks {
				for _, d := range x.After {
					ends[i] = max(ends[i], ends[d.Task])
				}
				if ends[i] += x.Time; x.To != Compute {
					ends[i]++
				}
				last = max(last, ends[i])
			}
			if backward == 0 {
				backward = s.Compute
			}
			k, m := units.Time(s.Ranks), units.Time(s.Microbatches)
			if want := (k+m-1)*(s.Compute+backward) + 2*(k-1); last != want {
				t.Errorf("%+v takes %d, not %d", s, last, want)
			}
		}
	}
}

// After reduce-scatter the ranks have the whole sum of one part each, no two of the same; after all-gather each has all
// parts. Each rank sends what it has of a piece when it begins to.
func TestRingsScatterAndGather(t *testing.T) {
	for _, s := range specs() {
		if s.Do != "reduce-scatter" && s.Do != "all-gather" || s.halves() {
			continue
		}
		tasks, _ := s.Tasks()
		before := behind(tasks)
		type name struct{ channel, piece, chunk int }
		of := func(i int) name { return name{tasks[i].Channel, tasks[i].Piece, i % s.Chunks} }
		cargo := make([]int, len(tasks)) // the ranks that are in the sum
		have := map[name][]int{}
		for i, x := range tasks {
			// Everybody has its own of all; to gather, of the piece that it sends first.
			if s.Do == "reduce-scatter" || x.Piece == x.Rank {
				cargo[i] = 1 << x.Rank
			}
			for j := range before[i] {
				if of(j) == of(i) && tasks[j].To == x.Rank {
					cargo[i] |= cargo[j]
				}
			}
			if have[of(i)] == nil {
				have[of(i)] = make([]int, s.Ranks)
			}
			have[of(i)][x.To] |= cargo[i]
		}
		whole := make([]int, s.Ranks)
		for n, ranks := range have {
			for r, v := range ranks {
				if v|1<<r == 1<<s.Ranks-1 && s.Do == "reduce-scatter" ||
					(v == 1<<n.piece || r == n.piece) && s.Do == "all-gather" {
					whole[r]++
				}
			}
		}
		want := s.Chunks * s.Channels
		if s.Do == "all-gather" {
			want *= s.Ranks
		}
		for r, got := range whole {
			if got != want {
				t.Errorf("%+v: rank %d has %d pieces whole, not %d", s, r, got, want)
			}
		}
	}
}

// Names are in the order of the alphabet, and of all kinds.
func TestNames(t *testing.T) {
	if names := Names(); !slices.IsSorted(names) || len(names) != len(Kinds) {
		t.Error(names)
	}
}
