package collective

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"photon/units"
)

// Spec is a collective operation of ranks 0 to Ranks-1.
type Spec struct {
	Do        string // one of Kinds
	Algorithm string // ring or halving-doubling; "": ring. Of all-reduce, reduce-scatter and all-gather
	Ranks     int
	// Size is what each rank has in its buffer: of all-gather, what it has at the end; of all-to-all, what
	// it has for all ranks together, itself included; of a pipeline, of one microbatch between two
	// stages; of tensor-parallel, of one all-reduce.
	Size     units.Size
	Chunks   int // each message is cut into so many, which move by themselves; 0: 1
	Channels int // the buffer is cut into so many, each with connections of its own; 0: 1
	Window   int // all-to-all: messages of a rank under way at a time; 0: all
	Root     int // broadcast: the rank that has the data
	Degree   int // broadcast: to how many ranks each sends at most; 0: 2

	Microbatches int        // pipeline
	Layers       int        // tensor-parallel
	Compute      units.Time // pipeline: of a microbatch, forward; tensor-parallel: before each all-reduce
	Backward     units.Time // pipeline: of a microbatch, backward; 0: as long
}

// Task is what a rank does: it sends a message, or computes for a time.
type Task struct {
	Rank    int
	To      int        // receiver of a message; Compute: none
	Size    units.Size // of a message
	Time    units.Time // that it takes to compute
	Piece   int        // of the buffer: which of them the message moves, or the first of several
	Channel int        // messages of a channel from one rank to another go one after the other
	After   []Dep      // all of them; nil: it begins when its rank does
}

// MostTasks keeps a slip in a number from taking all memory.
const MostTasks = 1 << 24

// Compute is To of a task that sends nothing.
const Compute = -1

// Dep is what a task waits for: a message to its rank that has arrived, something that its
// rank has computed, or a message of its rank that was acknowledged.
type Dep struct{ Task int }

// Kind is a collective operation.
type Kind struct {
	Doc       string
	bus       func(n float64) float64
	algorithm bool // there is a choice
	chunks    bool
	channels  bool
	parts     bool // the buffer is divided among the ranks
	make      func(s *Spec) ([]Task, error)
	count     func(s *Spec, n float64) float64 // of tasks among n ranks, for each chunk of a channel
}

// Kinds are the operations there are.
var Kinds map[string]Kind

func init() {
	part := func(n float64) float64 { return (n - 1) / n }
	whole := func(float64) float64 { return 1 }
	// How many tasks there are, of all ranks.
	type count = func(s *Spec, n float64) float64
	once := count(func(s *Spec, n float64) float64 { return s.rounds(n) * n })
	twice := count(func(s *Spec, n float64) float64 { return 2 * s.rounds(n) * n })
	pairs := count(func(_ *Spec, n float64) float64 { return (n - 1) * n })
	tree := count(func(_ *Spec, n float64) float64 { return n - 1 })
	stages := count(func(s *Spec, n float64) float64 { return 4 * n * float64(s.Microbatches) })
	layers := count(func(s *Spec, n float64) float64 { return 4 * float64(s.Layers) * (twice(s, n) + n) })
	sum := func(n float64) float64 { return 2 * (n - 1) / n }
	const (
		reduces   = "every rank gets the sum of all buffers"
		scatters  = "every rank gets its part of the sum of all buffers"
		gathers   = "every rank gets the parts of all ranks"
		exchanges = "every rank sends each other one a part of its buffer"
		spreads   = "every rank gets the buffer of one, along a tree"
		passes    = "microbatches go forward through stages, one a rank, and then backward"
		tensors   = "four all-reduces for each layer, with something computed before each"
	)
	Kinds = map[string]Kind{
		"all-reduce":      {reduces, sum, true, true, true, true, (*Spec).allReduce, twice},
		"reduce-scatter":  {scatters, part, true, true, true, true, (*Spec).reduceScatter, once},
		"all-gather":      {gathers, part, true, true, true, true, (*Spec).allGather, once},
		"all-to-all":      {exchanges, part, false, false, true, true, (*Spec).allToAll, pairs},
		"broadcast":       {spreads, whole, false, true, true, false, (*Spec).broadcast, tree},
		"pipeline":        {passes, whole, false, false, false, false, (*Spec).pipeline, stages},
		"tensor-parallel": {tensors, sum, true, true, true, true, (*Spec).tensorParallel, layers},
	}
}

// Names lists the kinds, in order.
func Names() (names []string) {
	for n := range Kinds {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// BusFactor is what the algorithm bandwidth (size by time) is multiplied by to be comparable with the
// rate of a rank's link, as in NVIDIA's nccl-tests (doc/PERFORMANCE.md).
func (s *Spec) BusFactor() float64 { return Kinds[s.Do].bus(float64(s.Ranks)) }

// Moved is how many bytes the time of the operation is compared with: Size, but for those that move it
// several times.
func (s *Spec) Moved() units.Size {
	switch s.Do {
	case "pipeline":
		return s.Size * units.Size(2*s.Microbatches)
	case "tensor-parallel":
		return s.Size * units.Size(4*s.Layers)
	}
	return s.Size
}

// Tasks lists what the ranks do.
func (s Spec) Tasks() ([]Task, error) {
	kind, ok := Kinds[s.Do]
	if !ok {
		return nil, fmt.Errorf("there is no collective %q (%s)", s.Do, strings.Join(Names(), ", "))
	}
	switch {
	case s.Ranks < 2:
		return nil, fmt.Errorf("%d hosts: at least 2", s.Ranks)
	case s.Size <= 0:
		return nil, errors.New("a collective needs a size")
	case s.Chunks < 0 || s.Channels < 0 || s.Window < 0 || s.Degree < 0 || s.Microbatches < 0 || s.Layers < 0 || s.Compute < 0 || s.Backward < 0:
		return nil, errors.New("numbers and times must not be negative")
	case s.Algorithm != "" && !kind.algorithm:
		return nil, fmt.Errorf("%s has no choice of algorithms", s.Do)
	case s.Algorithm != "" && s.Algorithm != "ring" && s.Algorithm != "halving-doubling":
		return nil, fmt.Errorf("there is no algorithm %q (ring, halving-doubling)", s.Algorithm)
	case s.halves() && bits.OnesCount(uint(s.Ranks)) != 1:
		return nil, fmt.Errorf("halving-doubling among %d hosts: their number must be a power of two", s.Ranks)
	case s.Chunks > 1 && (!kind.chunks || s.halves()):
		return nil, errors.New("chunks are of rings and trees")
	case s.Channels > 1 && !kind.channels:
		return nil, fmt.Errorf("%s has no channels", s.Do)
	}
	s.Chunks, s.Channels = max(s.Chunks, 1), max(s.Channels, 1)
	least := float64(s.Chunks) * float64(s.Channels) // of bytes, with one in each piece
	if kind.parts {
		least *= float64(s.Ranks)
	}
	if float64(s.Size) < least {
		return nil, fmt.Errorf("%v is too little: a piece would be less than a byte", s.Size)
	}
	if n := kind.count(&s, float64(s.Ranks)) * float64(s.Chunks) * float64(s.Channels); n > MostTasks {
		return nil, fmt.Errorf("about %.2g messages and computations; %d are the most", n, MostTasks)
	}
	return kind.make(&s)
}

// rounds is how many exchanges it takes until every rank has a part of all.
func (s *Spec) rounds(n float64) float64 {
	if s.halves() {
		return math.Log2(n)
	}
	return n - 1
}

func (s *Spec) halves() bool { return s.Algorithm == "halving-doubling" }

// piece is the size of the i-th of n pieces of something.
func piece(size units.Size, i, n int) units.Size { return pieces(size, i, 1, n) }

// pieces is the size of several of n pieces in a row.
func pieces(size units.Size, first, count, n int) units.Size {
	before := func(i int) units.Size { // size*i/n, which might overflow
		each, rest := size/units.Size(n), size%units.Size(n)
		return each*units.Size(i) + rest*units.Size(i)/units.Size(n)
	}
	return before(first+count) - before(first)
}

func mod(i, n int) int { return (i%n + n) % n }

// ring has every rank send to the next for so many rounds, each piece as soon as it has come, and none before what is
// first of the rank: it adds its own to what has come.
// In round t rank r sends piece r-t, which it got in the round before.
func (s *Spec) ring(tasks []Task, rounds int, first [][]Dep) []Task {
	n := s.Ranks
	for c := range s.Channels {
		channel := piece(s.Size, c, s.Channels)
		base := len(tasks)
		at := func(t, r, k int) int { return base + (t*n+r)*s.Chunks + k }
		for t := range rounds {
			for r := range n {
				which := mod(r-t, n)
				for k := range s.Chunks {
					after := first[r]
					if t > 0 {
						after = append(slices.Clip(after), Dep{at(t-1, mod(r-1, n), k)})
					}
					tasks = append(tasks, Task{Rank: r, To: (r + 1) % n, Size: piece(piece(channel, which, n), k, s.Chunks), Piece: which, Channel: c, After: after})
				}
			}
		}
	}
	return tasks
}

// exchange has ranks exchange with those at distances, in this order. In the first halving rounds each sends what is
// for the other's half of the ranks that still add to each other, and after that what it has whole: the pieces of the
// ranks that it has exchanged with since.
func (s *Spec) exchange(tasks []Task, distances []int, halving int, first [][]Dep) []Task {
	n := s.Ranks
	for c := range s.Channels {
		channel, base := piece(s.Size, c, s.Channels), len(tasks)
		for i, d := range distances {
			for r := range n {
				whose := r
				if i < halving {
					whose = r ^ d
				}
				which := whose &^ (d - 1)
				after := slices.Clip(first[r])
				for j := range i { // it sends what it has made of all that it got
					after = append(after, Dep{base + j*n + r ^ distances[j]})
				}
				tasks = append(tasks, Task{
					Rank: r, To: r ^ d, Size: pieces(channel, which, d, n), Piece: which, Channel: c, After: after,
				})
			}
		}
	}
	return tasks
}

// halving are the distances of recursive halving; reversed, of doubling.
func (s *Spec) halving() (list []int) {
	for d := s.Ranks / 2; d > 0; d /= 2 {
		list = append(list, d)
	}
	return list
}

func (s *Spec) none() [][]Dep { return make([][]Dep, s.Ranks) }

func (s *Spec) allReduce() ([]Task, error) { return s.reduceAll(nil, s.none()), nil }

func (s *Spec) reduceAll(tasks []Task, first [][]Dep) []Task {
	if !s.halves() {
		return s.ring(tasks, 2*(s.Ranks-1), first)
	}
	there := s.halving()
	back := slices.Clone(there)
	slices.Reverse(back)
	return s.exchange(tasks, append(there, back...), len(there), first)
}

func (s *Spec) reduceScatter() ([]Task, error) {
	if !s.halves() {
		return s.ring(nil, s.Ranks-1, s.none()), nil
	}
	there := s.halving()
	return s.exchange(nil, there, len(there), s.none()), nil
}

func (s *Spec) allGather() ([]Task, error) {
	if !s.halves() {
		return s.ring(nil, s.Ranks-1, s.none()), nil
	}
	back := s.halving()
	slices.Reverse(back)
	return s.exchange(nil, back, 0, s.none()), nil
}

// allToAll has every rank send to the next, to the one after that, and so on, so that no
// rank is everybody's first.
func (s *Spec) allToAll() (tasks []Task, err error) {
	n := s.Ranks
	for c := range s.Channels {
		base := len(tasks)
		for i := range n - 1 {
			for r := range n {
				to := (r + i + 1) % n
				t := Task{Rank: r, To: to, Size: piece(piece(s.Size, to, n), c, s.Channels), Piece: to, Channel: c}
				if s.Window > 0 && i >= s.Window {
					t.After = []Dep{{base + (i-s.Window)*n + r}}
				}
				tasks = append(tasks, t)
			}
		}
	}
	return tasks, nil
}

// broadcast goes along a complete tree: below the i-th rank, counted from the root, are
// those from i*degree+1 on.
func (s *Spec) broadcast() (tasks []Task, err error) {
	n, degree := s.Ranks, s.Degree
	if degree == 0 {
		degree = 2
	}
	if s.Root < 0 || s.Root >= n {
		return nil, fmt.Errorf("root %d: there are ranks 0 to %d", s.Root, n-1)
	}
	for c := range s.Channels {
		base := len(tasks)
		for i := 1; i < n; i++ {
			above := (i - 1) / degree
			for k := range s.Chunks {
				t := Task{Rank: (above + s.Root) % n, To: (i + s.Root) % n, Size: piece(piece(s.Size, c, s.Channels), k, s.Chunks), Piece: k, Channel: c}
				if above > 0 {
					t.After = []Dep{{base + (above-1)*s.Chunks + k}}
				}
				tasks = append(tasks, t)
			}
		}
	}
	return tasks, nil
}

// pipeline is GPipe's schedule: a stage computes all microbatches forward, one after the other, and then
// all backward.
func (s *Spec) pipeline() (tasks []Task, err error) {
	n, m := s.Ranks, s.Microbatches
	if m == 0 {
		return nil, errors.New("a pipeline needs microbatches")
	}
	back := s.Backward
	if back == 0 {
		back = s.Compute
	}
	add := func(t Task) int {
		tasks = append(tasks, t)
		return len(tasks) - 1
	}
	last := make([]int, n) // what each stage computed last
	for b := range m {
		from := -1 // the message from the stage before
		for i := range n {
			var after []Dep
			if b > 0 {
				after = append(after, Dep{last[i]})
			}
			if from >= 0 {
				after = append(after, Dep{from})
			}
			last[i] = add(Task{Rank: i, To: Compute, Time: s.Compute, After: after})
			if i < n-1 {
				from = add(Task{Rank: i, To: i + 1, Size: s.Size, Piece: b, After: []Dep{{last[i]}}})
			}
		}
	}
	for b := range m {
		from := -1
		for i := n - 1; i >= 0; i-- {
			after := []Dep{{last[i]}}
			if from >= 0 {
				after = append(after, Dep{from})
			}
			last[i] = add(Task{Rank: i, To: Compute, Time: back, After: after})
			if i > 0 {
				from = add(Task{Rank: i, To: i - 1, Size: s.Size, Piece: b, After: []Dep{{last[i]}}})
			}
		}
	}
	return tasks, nil
}

// tensorParallel is a layer's two all-reduces forward and two backward, as Megatron-LM has them
// (arXiv 1909.08053, section 3): a rank computes when it has all of the one before.
func (s *Spec) tensorParallel() (tasks []Task, err error) {
	if s.Layers == 0 {
		return nil, errors.New("tensor-parallel needs layers")
	}
	first := s.none()
	for range 4 * s.Layers {
		for r := range s.Ranks {
			tasks = append(tasks, Task{Rank: r, To: Compute, Time: s.Compute, After: first[r]})
		}
		computed := s.none()
		for r := range s.Ranks {
			computed[r] = []Dep{{len(tasks) - s.Ranks + r}}
		}
		begin := len(tasks)
		tasks = s.reduceAll(tasks, computed)
		first = s.none()
		for i := begin; i < len(tasks); i++ {
			first[tasks[i].To] = append(first[tasks[i].To], Dep{i})
		}
	}
	return tasks, nil
}
