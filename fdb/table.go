package fdb

import (
	"math/bits"
	"sync/atomic"

	"photon/units"
	"photon/wire"
)

// Table is the forwarding database of one virtual LAN.
type Table struct {
	places []place // a power of two; linear probing over maxProbe of them
	age    uint32  // seconds; 0: entries do not age
	counts *Counts
}

// place is where an address is kept. What is read together lies together.
type place struct {
	atomic.Uint64               // the Entry
	confirmed     atomic.Uint32 // second, of those since the world began, in which a learned one was last confirmed
}

// Entry is an address (48 bits), a port or group (12 bits) and a kind (4 bits); 0: there is none.
type Entry uint64

// Kinds of entries.
const (
	Learned Entry = 1
	Static  Entry = 2
	Group   Entry = 3 // static, of several ports
	Router  Entry = 4 // the switch itself, which routes
	kinds   Entry = 15
)

// MaxPorts is how many ports, and how many groups, entries can name.
const MaxPorts = 1 << 12

// maxProbe is how many places an address may have. Half of a table's are taken by as many addresses as it is for: with
// 32 some of a hundred thousand had none.
const maxProbe = 64

// NewEntry is the Entry of an address; value is the port or group.
func NewEntry(mac wire.MAC, value uint16, kind Entry) Entry {
	return Entry(mac)<<16 | Entry(value)<<4 | kind
}

// MAC is the address.
func (e Entry) MAC() wire.MAC { return wire.MAC(e >> 16) }

// Value is the port or group.
func (e Entry) Value() uint16 { return uint16(e>>4) & (MaxPorts - 1) }

// Kind is one of the kinds; 0: there is no entry.
func (e Entry) Kind() Entry { return e & kinds }

// Second is one of the seconds since the world began. They go round in 136 years.
type Second uint32

// Counts are of all tables that a switch has had, one after the other.
type Counts struct {
	Changes   atomic.Uint32 // of what was known: each makes remembered actions void
	Unlearned atomic.Uint64 // how often an address was not learned because its places were taken
}

// New makes a table for so many addresses. Learned ones age by whole seconds; age 0: not at all. It counts changes
// whenever a known address gets another entry.
func New(capacity int, age units.Time, counts *Counts) *Table {
	t := &Table{places: make([]place, Places(capacity)), counts: counts}
	t.SetAge(age)
	return t
}

// SetAge changes after what time learned addresses are forgotten. Nobody uses the table meanwhile.
func (t *Table) SetAge(age units.Time) { t.age = uint32(age / units.Second) }

// Age is that time; 0: never.
func (t *Table) Age() units.Time { return units.Time(t.age) * units.Second }

// Places is how many places a table of so many addresses has.
func Places(capacity int) int { return 1 << bits.Len(uint(max(2*capacity, maxProbe)-1)) }

// probe calls do for each place where an address may be, in their order, until it says that it is done.
func (t *Table) probe(mac wire.MAC, do func(at *place, e Entry) (done bool)) {
	const golden = 0x9E3779B97F4A7C15 // 2^64 divided by the golden ratio
	h := uint64(mac) * golden
	h = (h ^ h>>32) * golden // a second time: ranges of addresses that follow each other spread as others do
	at := int(h >> 32)
	for range maxProbe {
		p := &t.places[at&(len(t.places)-1)]
		if do(p, Entry(p.Load())) {
			return
		}
		at++
	}
}

// Find returns the Entry of an address; 0: it is not known.
func (t *Table) Find(mac wire.MAC, now Second) (found Entry) {
	t.probe(mac, func(at *place, e Entry) bool {
		if e.MAC() == mac && !t.old(at, e, now) {
			found = e
		}
		return e == 0 || e.MAC() == mac
	})
	return found
}

// old reports whether an entry is too old to count. Clocks of workers differ by a little: one may have been
// confirmed in a second that another has not reached.
func (t *Table) old(at *place, e Entry, now Second) bool {
	return e.Kind() == Learned && t.age != 0 && int32(uint32(now)-at.confirmed.Load()) > int32(t.age)
}

// Learn remembers that mac is behind a port, unless it has a place of its own. It reports whether that is news: the
// address was unknown, or behind another port.
func (t *Table) Learn(mac wire.MAC, port int, now Second) (news bool) {
	known := false
	t.probe(mac, func(at *place, e Entry) bool {
		if e == 0 || e.MAC() != mac {
			return e == 0
		}
		if known = e.Kind() != Learned || int(e.Value()) == port && !t.old(at, e, now); known && at.confirmed.Load() != uint32(now) {
			at.confirmed.Store(uint32(now))
		}
		return true
	})
	if !known {
		t.Insert(NewEntry(mac, uint16(port), Learned), now)
	}
	return !known
}

// Insert makes an entry, or changes that of its address. It reports false if there is no place.
func (t *Table) Insert(made Entry, now Second) bool {
	for {
		var to *place
		was := Entry(0)
		t.probe(made.MAC(), func(at *place, e Entry) bool {
			same := e != 0 && e.MAC() == made.MAC()
			if same || to == nil && (e == 0 || t.old(at, e, now)) {
				to, was = at, e
			}
			return same || e == 0
		})
		if to == nil {
			t.counts.Unlearned.Add(1)
			return false
		}
		to.confirmed.Store(uint32(now))
		if !to.CompareAndSwap(uint64(was), uint64(made)) {
			continue
		}
		if was != made && was != 0 && was.MAC() == made.MAC() { // no action is remembered for an address that was unknown
			t.counts.Changes.Add(1)
		}
		return true
	}
}

// Adopt learns what another table, which may be in use, has learned at the ports that keep names.
func (t *Table) Adopt(from *Table, keep func(port int) bool) {
	for i := range from.places {
		if e := Entry(from.places[i].Load()); e.Kind() == Learned && keep(int(e.Value())) {
			t.Learn(e.MAC(), int(e.Value()), Second(from.places[i].confirmed.Load()))
		}
	}
}

// Each calls do for every address that is known now, in any order, with the time since a frame from it was last
// seen: whole seconds, 0 of those that do not age.
func (t *Table) Each(now Second, do func(e Entry, since units.Time)) {
	for i := range t.places {
		at := &t.places[i]
		e := Entry(at.Load())
		switch {
		case e == 0 || t.old(at, e, now):
		case e.Kind() == Learned: // it may have been confirmed in a second that began after now was read
			do(e, units.Time(max(0, int32(uint32(now)-at.confirmed.Load())))*units.Second)
		default:
			do(e, 0)
		}
	}
}

// Capacity is how many places there are.
func (t *Table) Capacity() int { return len(t.places) }
