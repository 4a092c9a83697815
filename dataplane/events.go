package dataplane

import (
	"cmp"
	"math/bits"
	"slices"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// What happened at a port is kept for who asks later: each pause (pfc.History), and events, which are discards with
// the headers of the first frame, and what the watchdog found. Both are rings of fixed size that the port's worker
// writes; a frame that nothing happens to touches neither.

// History says how much is kept at each port; 0: nothing.
type History struct {
	Pauses int
	Events int
}

// EventKind is what happened.
type EventKind uint8

// Kinds of events.
const (
	FramesLost EventKind = iota // frames were discarded, for one reason, of one priority
	StormBegan                  // the watchdog found that the peer pauses without end
	StormEnded
)

var eventNames = [...]string{"discard", "storm", "restored"}

func (k EventKind) String() string { return eventNames[k] }

// EventHead is how many bytes are kept of a frame.
const EventHead = 96

// quiet is how long nothing more is discarded until what comes then is another event.
const quiet = units.Second

// Event is what happened at a port.
type Event struct {
	Kind     EventKind
	Reason   fabric.Reason // of a discard
	Priority uint8
	Length   uint16     // of the first frame, bytes without FCS; of a storm: of the first that waits, 0: none does
	At, Last units.Time // of the first frame and of the last
	Frames   uint64     // discarded; of a storm: waiting when it began
	headLen  uint8
	head     [EventHead]byte
}

// Head is the beginning of the first frame.
func (e *Event) Head() []byte { return e.head[:e.headLen] }

func (e *Event) setHead(b []byte, length uint16) {
	e.headLen, e.Length = uint8(copy(e.head[:], b)), length
}

// eventLog is the last events of a port.
type eventLog struct {
	ring []Event
	ever uint64
	last [fabric.Reasons][pfc.Classes]uint64 // the number of the last event of a kind of discard, from 1; 0: there was none
}

func newEventLog(events int) *eventLog {
	if events <= 0 {
		return nil
	}
	return &eventLog{ring: make([]Event, events)}
}

// next is the place of a new event.
func (l *eventLog) next() *Event {
	e := &l.ring[l.ever%uint64(len(l.ring))]
	l.ever++
	*e = Event{}
	return e
}

// lost keeps that a frame was discarded. Frames of one priority that are discarded for one reason, less than a second
// apart, are one event.
func (l *eventLog) lost(now units.Time, why fabric.Reason, prio uint8, length uint16, b []byte) {
	n := uint64(len(l.ring))
	if number := l.last[why][prio]; number > 0 && number+n > l.ever {
		if e := &l.ring[(number-1)%n]; now-e.Last < quiet {
			e.Last = now
			e.Frames++
			return
		}
	}
	e := l.next()
	l.last[why][prio] = l.ever
	e.Kind, e.Reason, e.Priority, e.At, e.Last, e.Frames = FramesLost, why, prio, now, now, 1
	e.setHead(b, length)
}

// logStorms keeps what the watchdog found, with the headers of what waits first.
func (p *switchPort) logStorms(now units.Time, began, ended uint8) {
	if p.log == nil {
		return
	}
	for rest := began | ended; rest != 0; rest &= rest - 1 {
		prio := bits.TrailingZeros8(rest)
		e := p.log.next()
		e.Kind, e.Priority, e.At, e.Last = StormEnded, uint8(prio), now, now
		if began>>prio&1 == 0 {
			continue
		}
		e.Kind = StormBegan
		if q := &p.queues[prio]; q.frames > 0 {
			f := q.run(1)[0]
			e.Frames = uint64(q.frames)
			e.setHead(p.env.Bytes(&f), f.Len)
		}
	}
}

// Rebase implements units.Rebaser.
func (l *eventLog) Rebase(by units.Time) {
	if l == nil {
		return
	}
	for i := range l.ring {
		l.ring[i].At.Rebase(by)
		l.ring[i].Last.Rebase(by)
	}
}

// Events appends what happened at a port to list, oldest first, and returns it and how many events there ever were. It is called
// between bursts.
func (s *Switch) Events(port int, list []Event) ([]Event, uint64) {
	l := s.ports[port].log
	if l == nil {
		return list, 0
	}
	n := uint64(len(l.ring))
	for i := l.ever - min(l.ever, n); i < l.ever; i++ {
		list = append(list, l.ring[i%n])
	}
	return list, l.ever
}

// PauseHistory appends the pauses of a port to list, those that have ended first, in the order of their ends, and returns
// it and how many ended ever. It is called between bursts.
func (s *Switch) PauseHistory(now units.Time, port int, list []pfc.Pause) ([]pfc.Pause, uint64) {
	p := &s.ports[port]
	if p.history == nil {
		return list, 0
	}
	before := len(list)
	list, ever := p.history.Ended(list)
	kept := len(list)
	list = p.egress.Lasting(now, list)
	slices.SortStableFunc(list[kept:], func(a, b pfc.Pause) int { return cmp.Compare(a.Until, b.Until) })
	for kept < len(list) && list[kept].Until != units.Never { // its time is over, and nobody was there to end it
		ever++
		kept++
	}
	if more := kept - before - s.config.History.Pauses; more > 0 { // as if somebody had been
		list = slices.Delete(list, before, before+more)
	}
	return p.ingress.Lasting(list), ever
}

// HistorySize is how much is kept at each port. It is called between bursts.
func (s *Switch) HistorySize() History { return s.config.History }
