package sim

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"photon/fabric"
	"photon/internal/memory"
	"photon/units"
)

// exchange is what a part knows of the others, and what it tells them.
type exchange struct {
	_     [64]byte // no other part's cache line
	self  int      // number of the part
	owner []uint8  // by port: the part that it belongs to
	out   []*pipe[crossing]
	in    []channel
	all   []*exchange // of all parts

	clock        units.Time // all events before it have been handled
	published    uint64     // events that had been handled when the part published last
	round        uint32     // number of the round; its lowest bit is the report that is written
	roundStart   units.Time // no part has an event before
	roundEnd     units.Time
	roundLength  units.Time       // at most
	firstBeyond  units.Time       // of the frames sent to other parts that arrive after the round: when the first does
	eventsBefore uint64           // before the round
	waited       time.Duration    // for other parts, by the wall
	busy         [2]time.Duration // by side: in its turns, as far as their time is taken
	turns        uint32           // of both

	_       [64]byte // what the others read after a barrier
	reports [2]report

	_      [64]byte        // what the others read all the time, in lines of its own
	shared []atomic.Uint64 // its sides' clocks, its events, and for each part how many frames that may read
	_      [64]byte
}

// channel is the links from another part.
type channel struct {
	lookahead units.Time        // the shortest delay of them
	clocks    *[2]atomic.Uint64 // of the sides of that part; the same, if there are none
	frames    *pipe[crossing]
}

// crossing is a frame that goes to another part.
type crossing struct {
	at    units.Time
	port  int32
	frame fabric.Frame
}

// Indices of exchange.shared.
const (
	sharedClocks = 0
	sharedBeat   = 2 // events that the part has handled, now and then
	sharedSent   = 3 // to the first part, and so on
)

func newExchange(self, parts int, owner []uint8) *exchange {
	const perLine = 8
	x := &exchange{self: self, owner: owner, firstBeyond: units.Never}
	x.shared = make([]atomic.Uint64, (sharedSent+parts+perLine-1)&^(perLine-1))
	for i := range parts {
		x.out = append(x.out, newPipe[crossing](&x.shared[sharedSent+i]))
	}
	return x
}

// send puts a frame on its way to another part. That reads it when this part publishes its clock.
func (x *exchange) send(src *port, at units.Time, f *fabric.Frame) {
	to := inOtherPart(src.peer)
	*x.out[x.owner[to]].push() = crossing{at, to, *f}
	if at >= x.roundEnd {
		x.firstBeyond = min(x.firstBeyond, at)
	}
}

// publishEvery is the number of events after which a part publishes its clock within a window. Tests have fewer.
var publishEvery uint64 = 32

// publishEarly publishes clocks before the nodes in the interior are visited, if there was enough to do at the border.
func (p *part) publishEarly(clocks [2]units.Time) {
	if x := p.exchange; x != nil && p.events-x.published >= publishEvery {
		p.publish(clocks)
	}
}

// beatEvery is after how many events a part shows that it goes on, a fraction of a millisecond.
const beatEvery = 512

func (p *part) beat() {
	p.beatAt = p.events + beatEvery
	p.exchange.shared[sharedBeat].Store(p.events)
}

// publish lets the other parts read the frames that were sent to them, and then the clocks up to which these are all.
func (p *part) publish(clocks [2]units.Time) {
	x := p.exchange
	x.published = p.events
	for i := range x.out {
		if i != x.self {
			x.out[i].publish()
		}
	}
	for side, clock := range clocks {
		if at := &x.shared[sharedClocks+side]; at.Load() != uint64(clock) { // else others keep the line
			at.Store(uint64(clock))
		}
	}
}

// clocks are those of the sides at the border; the same, if there are none.
func (p *part) clocks() (clocks [2]units.Time) {
	for side := range clocks {
		switch s := p.sides; {
		case s == nil:
			clocks[side] = p.exchange.clock
		case len(s.nodes[quarterOf(side, border)]) == 0: // nothing comes from there
			clocks[side] = p.exchange.roundEnd
		default:
			clocks[side] = s.clock[quarterOf(side, border)]
		}
	}
	return clocks
}

// safeTimes are the times before which the quarters of the part hear nothing from other parts, given the clocks that these
// have published: what a side does is heard by the other. Frames of theirs that arrive before have been received.
func (p *part) safeTimes() (safe [quarters]units.Time) {
	x := p.exchange
	for q := range safe {
		safe[q] = x.roundEnd
	}
	for i := range x.in {
		c := &x.in[i]
		for side := range 2 {
			q := quarterOf(side, border)
			safe[q] = min(safe[q], max(units.Time(c.clocks[1-side].Load()), x.roundStart)+c.lookahead)
		}
		p.receive(c.frames) // after the clocks were read: all frames before them had been published then
	}
	if p.sides == nil {
		safe[0] = min(safe[0], safe[quarterOf(1, border)])
	}
	return safe
}

// receive puts the frames of another part that can be read on their way to their ports.
func (p *part) receive(from *pipe[crossing]) {
	for list := from.next(); len(list) > 0; list = from.next() {
		for at := uintptr(0); at < uintptr(len(list))*unsafe.Sizeof(list[0]); at += 64 {
			memory.Prefetch(unsafe.Add(unsafe.Pointer(&list[0]), at), 1)
		}
		for i := range list {
			c := &list[i]
			clock := p.exchange.clock
			if s := p.sides; s != nil {
				q := p.members[p.ports[c.port].flight.node].quarter
				clock = s.clock[q]
				s.next[q] = min(s.next[q], c.at)
			}
			if c.at < clock {
				panic(fmt.Sprintf("sim: a frame for %v comes from another part when all events before %v have been handled", c.at, clock))
			}
			p.pool.Fetch(c.frame.Ref)
			p.carry(int(c.port), c.at, &c.frame)
		}
		from.drop(len(list))
	}
}
