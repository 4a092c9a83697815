package neighbour

import (
	"net/netip"
	"sync/atomic"

	"photon/fdb"
	"photon/units"
	"photon/wire"
)

// Of asking.
const (
	RetryInterval    = units.Second      // without an answer
	MaxRequests      = 3                 // until a neighbour has failed
	FailedRetryEvery = 10                // seconds between requests to a failed neighbour for which no packets come
	ReachableTime    = 30 * units.Second // for which an answer is valid
)

// State is what is known of a neighbour.
type State uint8

// A neighbour is in one of these.
const (
	Known      State = iota // it is resolved
	Incomplete              // it was asked
	Failed                  // it did not answer
)

// Kind is that of an entry for a neighbour in this state.
func (s State) Kind() fdb.Entry { return fdb.Entry(s) }

// Place is an address to resolve, and where to ask.
type Place struct {
	Addr netip.Addr
	Port uint16 // the router may have a number for any of the VLAN's
	VLAN uint16 // 0: the port's untagged one
	Home uint16 // the port whose worker asks
}

// Neighbour is a next hop that is asked.
type Neighbour struct {
	Place
	word          atomic.Uint64 // entry: its MAC, its port, its state; but for Known it has neither MAC nor port
	confirmations atomic.Uint32 // how often it has answered or announced itself
	wanted        atomic.Bool   // a packet was for it since it was asked, although it is not there

	// Of its home's worker:
	due                units.Time // when something is to be done
	unanswered         int        // without an answer
	confirmationsKnown uint32     // confirmations as of the last check
	requests, failures uint64
}

// New returns a neighbour that is to be asked at once.
func New(at Place) *Neighbour {
	n := &Neighbour{Place: at}
	n.word.Store(uint64(Incomplete))
	return n
}

// Load is what is known. Any worker calls it.
func (n *Neighbour) Load() (e fdb.Entry, state State) {
	e = fdb.Entry(n.word.Load())
	return e, State(e.Kind())
}

// Want notes that a packet is for it. Any worker calls it.
func (n *Neighbour) Want() { n.wanted.Store(true) }

// Update stores the address that a neighbour says it has, by the rules of RFC 4861 section 7.2.5, and reports whether what
// is known has changed. Any worker calls it.
func (n *Neighbour) Update(says *wire.Binding, is fdb.Entry) (changed bool) {
	was, state := n.Load()
	if was != is {
		if says.MAC == 0 || state == Known && was.MAC() != is.MAC() && !says.Override {
			return false
		}
		if !n.word.CompareAndSwap(uint64(was), uint64(is)) {
			return false
		}
	}
	n.confirmations.Add(1)
	return was != is
}

// Move notes that the station that the neighbour was found at is behind another port, and reports whether that is news.
// The neighbour has not said so itself: how long its answer is valid does not change. Any worker calls it.
func (n *Neighbour) Move(mac wire.MAC, port uint16) (changed bool) {
	was, state := n.Load()
	if state != Known || was.MAC() != mac || was.Value() == port {
		return false
	}
	return n.word.CompareAndSwap(uint64(was), uint64(fdb.NewEntry(mac, port, Known.Kind())))
}

// Restart forgets what is known: it is asked again at once.
func (n *Neighbour) Restart(now units.Time) {
	n.word.Store(uint64(Incomplete))
	n.due, n.unanswered = now, 0
}

// Due is when it is to be served.
func (n *Neighbour) Due() units.Time { return n.due }

// Step is what a neighbour's timer asks for.
type Step struct {
	Ask     bool      // it is to be asked
	At      fdb.Entry // where it was, to ask it there; 0: wherever it may be
	Changed bool      // what is known has changed
	Failed  bool      // it has not answered
}

// Serve runs the timer: it asks, asks again, or gives up.
func (n *Neighbour) Serve(now units.Time) (do Step) {
	confirmations := n.confirmations.Load()
	e, state := n.Load()
	if confirmations != n.confirmationsKnown {
		n.confirmationsKnown, n.unanswered = confirmations, 0
		if state == Known {
			n.due = now + ReachableTime
			return do
		}
	}
	n.due = now + RetryInterval
	switch {
	case state == Known && n.unanswered == MaxRequests: // it is gone: another station may have its address now, so all are asked
		if !n.set(e, Incomplete) {
			return do
		}
		e, n.unanswered, do.Changed = 0, 0, true
	case state == Incomplete && n.unanswered == MaxRequests:
		if !n.set(e, Failed) {
			return do
		}
		n.failures++
		n.unanswered++
		n.wanted.Store(false)
		return Step{Changed: true, Failed: true}
	case state == Failed && n.unanswered%FailedRetryEvery != 0 && !n.wanted.Load():
		n.unanswered++
		return do
	}
	n.wanted.Store(false)
	n.unanswered++
	do.Ask, do.At = true, e
	return do
}

// set changes the state, unless another worker was faster.
func (n *Neighbour) set(was fdb.Entry, to State) bool {
	return n.word.CompareAndSwap(uint64(was), uint64(to))
}

// Asked counts a request that was sent.
func (n *Neighbour) Asked() { n.requests++ }

// Counts are how many requests were sent, and how often it did not answer.
func (n *Neighbour) Counts() (requests, failures uint64) { return n.requests, n.failures }

// Statuses are all that a neighbour can be shown as.
var Statuses = [...]string{"reachable", "probe", "incomplete", "failed"}

// Status is what is known, and which of Statuses the neighbour is in.
func (n *Neighbour) Status() (e fdb.Entry, status int) {
	e, state := n.Load()
	switch {
	case state == Incomplete:
		return e, 2
	case state == Failed:
		return e, 3
	case n.unanswered > 0 && n.confirmations.Load() == n.confirmationsKnown:
		return e, 1
	}
	return e, 0
}

// Rebase implements units.Rebaser.
func (n *Neighbour) Rebase(by units.Time) { n.due.Rebase(by) }
