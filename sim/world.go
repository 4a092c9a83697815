package sim

import (
	"math"

	"photon/fabric"
	"photon/units"
)

// World carries frames between nodes in virtual time.
type World struct {
	part
	_        [64]byte  // other parts read what follows
	parts    []*part   // which divide the nodes among them; the first is the one above
	parallel *parallel // how they run together; nil: the world is one part
	maxParts int
	samplers []sampler
	due      units.Time // when the first sampler is called
	firstDue int        // which one that is
	watch    *watch     // nil: nobody watches
	workers  int        // of each node; 0: 1
	pollGap  units.Time // see SetWorkers
}

// part is some nodes of the world, or all, whose events one goroutine handles one after the other; the literature
// calls it a logical process. All parts have the lists of all nodes and ports. Each touches only its own of them.
type part struct {
	pool      *fabric.Pool
	members   []member
	ports     []port
	nextOf    []units.Time // by node: it has no event before
	border    []int32      // nodes of the part with links to other parts
	interior  []int32      // and those with none
	sides     *sides       // nil: the world has none
	next      units.Time   // no node of the part has an event before
	maxWindow units.Time   // see window
	leastTurn units.Time   // less is not worth a turn of a quarter: others would have to be told of it
	now       units.Time
	hash      uint64          // sum over the arrivals at the part's nodes, see trace
	events    uint64          // that have been handled
	beatAt    uint64          // with how many it shows the other parts that it goes on
	burst     [1]fabric.Frame // the frame at hand
	exchange  *exchange       // with other parts; nil: there are none
	taps      []*tap          // by port, of those that somebody watches; nil: nobody does
	visit     visit
}

// New returns an empty world at time 0.
func New() *World { return NewOf(fabric.HeaderLen) }

// NewOf is New for headers of so many bytes, at least fabric.HeaderLen: where
// packets travel inside others, as between NICs under hpcc.
func NewOf(headers int) *World {
	w := &World{part: part{pool: fabric.NewHeaderPoolOf(headers), beatAt: math.MaxUint64}, maxParts: 1, due: units.Never}
	w.parts = []*part{&w.part}
	return w
}

var _ fabric.World = (*World)(nil)

// Workers is 1, however many processors Run uses: to its nodes the world is one worker. But see SetWorkers.
func (w *World) Workers() int { return max(1, w.workers) }

// SetWorkers gives each node n workers, which find what another has for them a poll gap after it was put there. It
// must be called before nodes are made. Such a world is one part.
func (w *World) SetWorkers(n int, pollGap units.Time) { w.workers, w.pollGap = n, pollGap }

// SetParts lets the world run on up to n processors. What happens does not depend on their number. The world must not
// have run, and its nodes may share nothing that changes, except in functions given to Every.
func (w *World) SetParts(n int) { w.maxParts = n }

// Now is the virtual time.
func (w *World) Now() units.Time { return w.now }

// Close does nothing: there is nothing but memory to give back.
func (w *World) Close() error { return nil }

// Events is how many events there were so far: arrivals, and calls of Transmit.
func (w *World) Events() (sum uint64) {
	for _, p := range w.parts {
		sum += p.events
	}
	return sum
}

// Frames is the most frames there were at a time, in queues and on their way; in a world of several parts, the most
// at a barrier.
func (w *World) Frames() int {
	if w.parallel != nil {
		return w.parallel.peakFrames
	}
	return w.pool.Peak()
}
