package agent

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"

	"photon/units"
	"photon/wire"
)

// Order is a flow that is to be sent some time.
type Order struct {
	Group string // what its results are listed under
	FlowSpec
	Stop units.Time // ended then, complete or not; 0: at its end
}

// Stage is where an ordered flow is in its life.
type Stage uint8

// Stages.
const (
	Pending Stage = iota // its start is still to come
	Running
	Done    // its last packet was acknowledged
	Stopped // ended before that, by its order or by hand
	Refused // the host could not take it up; Why says why
	Failed  // the host gave up; Why says why
)

var stageNames = [...]string{"pending", "running", "done", "stopped", "refused", "failed"}

// StageNames are all of them.
func StageNames() []string { return slices.Clone(stageNames[:]) }

func (s Stage) String() string { return stageNames[s] }

// Ordered is what there is to know of an ordered flow.
type Ordered struct {
	ID uint64 // from 1, in the order in which flows were ordered
	Order
	FlowCounts
	Stage   Stage
	Why     error      // of Refused and Failed
	End     units.Time // of those that ended
	Allowed units.Rate // by the reaction point, the flow's own limit included; of Running
	Limited bool       // has a rate limiter, of Running: its reaction point holds it below the line's rate
}

// FCT is the flow completion time, first bit out to last acknowledgement in;
// zero of a flow that is not done.
func (o *Ordered) FCT() units.Time {
	if o.Stage != Done {
		return 0
	}
	return o.End - o.FirstBit
}

// Rate is the mean rate, in bits on the wire per second, from the first bit to
// the end, or to now.
func (o *Ordered) Rate(now units.Time) units.Rate {
	switch {
	case o.Frames == 0:
		return 0
	case o.Stage != Running:
		now = o.End
	}
	return units.RateOf(units.Size(o.Bytes), now-o.FirstBit)
}

// Traffic has a host send flows that are ordered while it runs: it takes each up
// shortly before its start, so that the host has room for those only that are
// being sent, and remembers how flows ended. All of it is called while the
// host's node does not run (dpdk.World.Do, fabric.World.Every), and it is the
// only one that adds flows to the host.
type Traffic struct {
	host      *Host
	mostEnded int // flows that ended and are remembered
	last      uint64
	ordered   []*orderedFlow // by id
	pending   byTime         // by start; those stopped before it included
	waiting   int            // of them, without those
	held      []timed        // scratch: those of pending that something is in the way of
	stops     byTime         // by stop, of flows that have one
	running   map[peerKey]*orderedFlow
	pairs     map[peerKey]int // how many flows are ordered or sent on a queue pair
	ended     int
	fresh     []*orderedFlow // ended since TakeEnded was called
	nextQP    uint32
	forgot    uint64
	refused   uint64
	failed    uint64
	down      bool // the port has no link: no flow is begun
}

type orderedFlow struct {
	Ordered
	slot int // of the host; -1: none
}

const (
	// lead is how long before its start a flow is taken up.
	lead = 20 * units.Millisecond
	// mostPerStep bounds what one Step adds: adding a flow takes about a
	// microsecond, and the port waits for it.
	mostPerStep = 64
	// firstQP is where queue pairs begin that were left to Traffic.
	firstQP = 1 << 20
)

// ErrNoFlow: no flow has this number, or it ended so long ago that it was forgotten.
var ErrNoFlow = errors.New("agent: there is no such flow")

// NewTraffic returns a Traffic for a host that remembers at least mostEnded flows
// that have ended.
func NewTraffic(h *Host, mostEnded int) *Traffic {
	return &Traffic{host: h, mostEnded: mostEnded, running: map[peerKey]*orderedFlow{}, pairs: map[peerKey]int{}, nextQP: firstQP}
}

// Add orders flows and returns the first one's number; the others follow. A
// start that has passed is now. Flows without a queue pair (0) get one that no
// flow of this host uses. What is wrong with any of them is an error, and none
// is ordered.
func (t *Traffic) Add(now units.Time, orders []Order) (first uint64, err error) {
	if err := t.Check(now, orders); err != nil {
		return 0, err
	}
	return t.AddChecked(now, orders), nil
}

// AddChecked is Add of orders in which Check has found nothing wrong, or of some of them: many take several calls. If
// the queue pair of one is in use when it begins, it is refused then.
func (t *Traffic) AddChecked(now units.Time, orders []Order) (first uint64) {
	first = t.last + 1
	for i := range orders {
		if o := &orders[i]; o.QP != 0 {
			t.count(o, 1)
		}
	}
	for _, o := range orders {
		t.last++
		o.Start = max(o.Start, now)
		if o.QP == 0 {
			o.QP = t.freeQP(o.Peer)
			t.count(&o, 1)
		}
		j := &orderedFlow{Ordered: Ordered{ID: t.last, Order: o}, slot: -1}
		t.ordered = append(t.ordered, j)
		t.waiting++
		heap.Push(&t.pending, timed{o.Start, j})
	}
	t.Step(now)
	return first
}

// count adds one to the flows that are on an ordered flow's queue pairs, or takes it off: on that of its peer, and of a
// Pair the host's own.
func (t *Traffic) count(o *Order, by int) {
	t.countPair(keyOf(o.Peer, o.QP), by)
	if o.Pair != nil {
		t.countPair(keyOf(o.Peer, o.Pair.Local), by)
	}
}

func (t *Traffic) countPair(k peerKey, by int) {
	if t.pairs[k] += by; t.pairs[k] == 0 {
		delete(t.pairs, k)
	}
}

// freeQP is a queue pair to a peer that no flow has which is sent or ordered, and none that the host answers on.
func (t *Traffic) freeQP(peer wire.IP) (qp uint32) {
	for {
		qp = t.nextQP
		if t.nextQP++; t.nextQP == 1<<24 {
			t.nextQP = firstQP
		}
		if k := keyOf(peer, qp); t.pairs[k] == 0 && t.host.pairs.find(k) == nil {
			return qp
		}
	}
}

// Check says what is wrong with orders, in one line: with one of them, or because a queue pair is in
// use and will be when another flow is to begin on it.
func (t *Traffic) Check(now units.Time, orders []Order) error {
	here := map[peerKey]*Order{}
	for i := range orders {
		o := &orders[i]
		if err := t.host.checkSpec(&o.FlowSpec); err != nil {
			return err
		}
		if o.Stop > 0 && o.Stop <= o.Start {
			return fmt.Errorf("agent: a flow starts at %v, and stops at %v", o.Start, o.Stop)
		}
		if o.QP == 0 { // it gets a free one
			continue
		}
		k := keyOf(o.Peer, o.QP)
		if j := t.running[k]; j != nil && j.Order.usesPairAt(now, o.Start) {
			return fmt.Errorf("%w: %d, to %v, by flow %d", ErrDuplicate, o.QP, o.Peer, j.ID)
		}
		if before := here[k]; before != nil && before.usesPairAt(before.Start, o.Start) {
			return fmt.Errorf("%w: %d, to %v, by another flow of the same order", ErrDuplicate, o.QP, o.Peer)
		}
		here[k] = o
	}
	return nil
}

// usesPairAt reports whether a flow that is there at one time is certain to be so at another.
func (o *Order) usesPairAt(now, then units.Time) bool {
	return then <= now || o.Size == 0 && (o.Stop == 0 || o.Stop > then)
}

// Step takes up the flows whose start is near, if there is a link, stops those whose stop has come,
// and notes the results of those that ended. It is to be called often: a flow is
// stopped by the first call after its time.
func (t *Traffic) Step(now units.Time) {
	for _, r := range t.host.TakeResults() {
		k := keyOf(r.Peer, r.QP)
		if j := t.running[k]; j != nil {
			delete(t.running, k)
			j.FlowCounts, j.End, j.Why = r.FlowCounts, r.End, r.Why
			if r.Why == nil {
				t.end(j, Done)
			} else {
				t.failed++
				t.end(j, Failed)
			}
		}
	}
	for len(t.stops) > 0 && t.stops[0].at <= now {
		t.stop(now, heap.Pop(&t.stops).(timed).orderedFlow)
	}
	for n := 0; n < mostPerStep && !t.down && len(t.pending) > 0 && t.pending[0].at <= now+lead; n++ {
		next := heap.Pop(&t.pending).(timed)
		if next.Stage != Pending {
			continue
		}
		if err := t.begin(now, next.orderedFlow); err != nil {
			t.held = append(t.held, next)
			if errors.Is(err, ErrFull) {
				break // it is in the way of all others, too
			}
		}
	}
	for _, next := range t.held {
		heap.Push(&t.pending, next)
	}
	t.held = t.held[:0]
}

// SetLink tells whether the port has a link; it is taken to have one before. Without one frames are thrown away, and a
// sender learns so from a timeout only: flows whose start comes meanwhile begin when there is a link again.
func (t *Traffic) SetLink(now units.Time, up bool) {
	t.down = !up
	t.Step(now)
}

// begin takes up a flow, or refuses it. An error says what is in its way before its start: that may be over by then.
func (t *Traffic) begin(now units.Time, j *orderedFlow) error {
	slot, err := t.host.AddFlow(now, j.FlowSpec)
	if err != nil && now < j.Start {
		return err
	}
	t.waiting--
	if err != nil {
		j.Why, j.End = err, now
		t.refused++
		t.end(j, Refused)
		return nil
	}
	j.Stage, j.slot = Running, slot
	t.running[keyOf(j.Peer, j.QP)] = j
	if j.Stop > 0 {
		heap.Push(&t.stops, timed{j.Order.Stop, j})
	}
	return nil
}

// stop reports whether the flow had not ended.
func (t *Traffic) stop(now units.Time, j *orderedFlow) bool {
	switch j.Stage {
	case Running:
		t.refresh(now, j)
		t.host.StopFlow(now, j.slot)
		delete(t.running, keyOf(j.Peer, j.QP))
	case Pending:
		t.waiting--
	default:
		return false
	}
	j.End = now
	t.end(j, Stopped)
	return true
}

// end remembers a flow that ended, and forgets the oldest of too many.
func (t *Traffic) end(j *orderedFlow, s Stage) {
	j.Stage, j.Allowed, j.Limited = s, 0, false
	t.count(&j.Order, -1)
	t.fresh = append(t.fresh, j)
	if t.ended++; t.ended < 2*t.mostEnded {
		return
	}
	surplus := t.ended - t.mostEnded
	t.forgot += uint64(surplus)
	t.ended -= surplus
	t.ordered = slices.DeleteFunc(t.ordered, func(o *orderedFlow) bool {
		if surplus == 0 || o.Stage < Done {
			return false
		}
		surplus--
		return true
	})
}

// refresh brings what is known of a running flow up to date.
func (t *Traffic) refresh(now units.Time, j *orderedFlow) {
	s := t.host.Flow(now, j.slot)
	j.FlowCounts, j.Allowed, j.Limited = s.FlowCounts, s.Rate, s.Limited
}

// Stop ends a flow, or takes it back if it has not begun. One that has ended is
// left as it is; stopped tells.
func (t *Traffic) Stop(now units.Time, id uint64) (stopped bool, err error) {
	t.Step(now) // it may just have ended
	j := t.find(id)
	if j == nil {
		return false, ErrNoFlow
	}
	return t.stop(now, j), nil
}

// StopRunning ends all flows that are being sent.
func (t *Traffic) StopRunning(now units.Time) {
	t.Step(now)                                 // some may just have ended
	for _, j := range slices.Clone(t.ordered) { // some of which may be forgotten meanwhile
		if j.Stage == Running {
			t.stop(now, j)
		}
	}
}

func (t *Traffic) find(id uint64) *orderedFlow {
	i, ok := slices.BinarySearchFunc(t.ordered, id, func(o *orderedFlow, id uint64) int { return int(int64(o.ID - id)) })
	if !ok {
		return nil
	}
	return t.ordered[i]
}

// List returns up to most flows whose numbers are above after, in their order.
func (t *Traffic) List(now units.Time, after uint64, most int) (list []Ordered) {
	i, _ := slices.BinarySearchFunc(t.ordered, after+1, func(o *orderedFlow, id uint64) int { return int(int64(o.ID - id)) })
	for _, j := range t.ordered[i:min(len(t.ordered), i+most)] {
		if j.Stage == Running {
			t.refresh(now, j)
		}
		list = append(list, j.Ordered)
	}
	return list
}

// Reader returns a function that says what there is to know of a flow, for those
// who look often; it allocates nothing.
func (t *Traffic) Reader(id uint64) (func(now units.Time) *Ordered, error) {
	j := t.find(id)
	if j == nil {
		return nil, ErrNoFlow
	}
	return func(now units.Time) *Ordered {
		if j.Stage == Running {
			t.refresh(now, j)
		}
		return &j.Ordered
	}, nil
}

// TakeEnded returns the flows that ended since the last call.
func (t *Traffic) TakeEnded() []Ordered {
	list := make([]Ordered, len(t.fresh))
	for i, j := range t.fresh {
		list[i] = j.Ordered
	}
	clear(t.fresh)
	t.fresh = t.fresh[:0]
	return list
}

// Counts are how many flows wait for their start and are sent, and how many were
// refused and forgotten in all.
func (t *Traffic) Counts() (pending, running int, refused, forgotten uint64) {
	return t.waiting, len(t.running), t.refused, t.forgot
}

// Failed is how many flows the host gave up in all.
func (t *Traffic) Failed() uint64 { return t.failed }

// timed is an order that something happens to at a time.
type timed struct {
	at units.Time
	*orderedFlow
}

// byTime is a heap of them; of equals, the one ordered first.
type byTime []timed

func (b byTime) Len() int { return len(b) }
func (b byTime) Less(i, k int) bool {
	return b[i].at < b[k].at || b[i].at == b[k].at && b[i].ID < b[k].ID
}
func (b byTime) Swap(i, k int) { b[i], b[k] = b[k], b[i] }

// Push implements heap.Interface.
func (b *byTime) Push(x any) { *b = append(*b, x.(timed)) }

// Pop implements heap.Interface.
func (b *byTime) Pop() any {
	last := (*b)[len(*b)-1]
	(*b)[len(*b)-1] = timed{}
	*b = (*b)[:len(*b)-1]
	return last
}
