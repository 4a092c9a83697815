package sim

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"photon/dataplane"
	"photon/internal/memory"
	"photon/units"
)

// exchange is what a part shares with the others. What it writes for a meeting is
// double-buffered: the others read one half until the next meeting, while it writes the other.
type exchange struct {
	_          [64]byte // padding: no other part's cache line
	part       int
	round      uint32            // of meetings; its lowest bit is the half that is written
	parts      []uint8           // that each port belongs to
	out        []*pipe[crossing] // to each part
	in         []neighbour       // the parts that it has links from
	all        []*exchange       // of all parts
	published  uint64            // events at its last publish
	end        units.Time        // everything before it has happened here
	roundStart units.Time        // nothing happened anywhere before it since the parts met
	meetAt     units.Time        // when they meet next
	first      units.Time        // of the frames that it sent, and that arrive when they meet or later, the first
	span       units.Time        // from one meeting to the next
	events     uint64            // until they met last
	idle       time.Duration     // that it waited for others

	_         [64]byte         // what the others read when they meet
	next      [2]units.Time    // the first that will happen here, or elsewhere by a frame from here; at the earliest
	executed  [2]uint64        // events since the last meeting
	frames    [2]int           // frames, less those that came from others and more those that went there
	idleTotal [2]time.Duration // that it waited for others, in all
	stop      [2]verdict

	_      [64]byte
	shared []atomic.Uint64 // what the others read all the time, in lines of its own: see publish
	_      [64]byte
}

// neighbour is a part from which frames come.
type neighbour struct {
	delay units.Time // of the shortest link from it
	from  *pipe[crossing]
	clock *atomic.Uint64
}

// crossing is a frame that goes to another part.
type crossing struct {
	at    units.Time
	port  int32
	frame dataplane.Frame
}

// Indices of exchange.shared.
const (
	clock     = iota // units.Time: everything before it has happened, and what was sent can be read
	sentCount        // frames for the first part, and so on
)

func newExchange(number, parts int) *exchange {
	b := &exchange{part: number, first: units.Never}
	b.shared = make([]atomic.Uint64, (sentCount+parts+7)&^7)
	for i := range parts {
		b.out = append(b.out, newPipe[crossing](&b.shared[sentCount+i]))
	}
	return b
}

// half is the half that is written.
func (b *exchange) half() int { return int(b.round & 1) }

// send puts the frame at hand on its way to another part.
func (b *exchange) send(w *part, src *port) {
	f, to := &w.burst[0], inOtherPart(src.peer)
	at := src.exit.Free + src.delay
	*b.out[b.parts[to]].push() = crossing{at, to, *f}
	if at >= b.meetAt {
		b.first = min(b.first, at)
	}
}

// take takes what another part sent so far.
func (b *exchange) take(w *part, from *pipe[crossing]) {
	for x := from.next(); len(x) > 0; x = from.next() {
		for at := uintptr(0); at < uintptr(len(x))*unsafe.Sizeof(x[0]); at += 64 {
			memory.Prefetch(unsafe.Add(unsafe.Pointer(&x[0]), at), 1)
		}
		for i := range x {
			c := &x[i]
			if c.at < b.end {
				panic(fmt.Sprintf("sim: a frame for %v comes from another part when everything before %v has happened", c.at, b.end))
			}
			w.pool.Fetch(c.frame.Ref)
			w.carry(int(c.port), c.at, &c.frame)
		}
		from.drop(len(x))
	}
}

// publish lets the others know that everything before an instant has happened here.
func (b *exchange) publish(w *part, now units.Time) {
	b.published = w.events
	for i := range b.out {
		if i != b.part {
			b.out[i].publish()
		}
	}
	b.shared[clock].Store(uint64(now))
}

// horizon is the time before which this part may run, given what the others have
// published. Frames of theirs that arrive before it have been taken.
func (b *exchange) horizon(w *part) units.Time {
	limit := b.meetAt
	for i := range b.in {
		n := &b.in[i]
		limit = min(limit, max(units.Time(n.clock.Load()), b.roundStart)+n.delay)
		b.take(w, n.from)
	}
	return limit
}
