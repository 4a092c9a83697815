// Package flowtable maps flows to small integers: slots from 0 to a fixed
// capacity, in which the rest of a node keeps what it knows of a flow. It
// allocates nothing after construction, is bounded, and forgets flows that have
// been silent for long when it is asked to. An elastic one makes its places as they
// are needed.
package flowtable

import (
	"math/bits"

	"photon/internal/memory"
	"photon/units"
)

// None is the slot of a flow that is not in the table.
const None = -1

// Table is a hash table with open addressing and linear probing over at most
// half its places; deleting moves later entries back, so no tombstones pile up.
// Keys stand in the index itself: most lookups touch one cache line.
type Table[K comparable] struct {
	hash  func(K) uint64
	index []place[K] // a power of two
	slots []slot
	most  int   // that slots may become
	free  int32 // list of free slots, by next
	count int
	hand  int      // where Expire goes on
	_     [40]byte // whole lines of the cache
}

// place is one position of the index.
type place[K comparable] struct {
	key  K
	slot int32 // slot+1; 0: empty
}

type slot struct {
	seen units.Time
	next int32 // in the list of free slots; inUse if it is not there
	at   int32 // place in the index, if it is in use
}

const inUse = -2

// New returns an empty table for capacity flows. The hash must spread well over
// all 64 bits.
func New[K comparable](capacity int, hash func(K) uint64) *Table[K] {
	t := &Table[K]{hash: hash, index: make([]place[K], 2<<bits.Len(uint(max(capacity, 1)-1))), slots: make([]slot, capacity), most: capacity, free: None}
	memory.Huge(t.index)
	memory.Huge(t.slots)
	for s := capacity - 1; s >= 0; s-- {
		t.slots[s].next = t.free
		t.free = int32(s)
	}
	return t
}

// NewElastic returns an empty table without places. They are made when a flow needs
// one and none is free, up to most, and handed out in the order in which New's are:
// whoever keeps things by slot asks Room after an Insert.
func NewElastic[K comparable](most int, hash func(K) uint64) *Table[K] {
	return &Table[K]{hash: hash, index: make([]place[K], 2), most: most, free: None}
}

// grow makes more places, if there may be more.
func (t *Table[K]) grow() {
	was, is := len(t.slots), min(t.most, max(4, len(t.slots)*3/2))
	if was == is {
		return
	}
	t.slots = append(make([]slot, 0, is), t.slots...)[:is]
	for s := is - 1; s >= was; s-- {
		t.slots[s].next = t.free
		t.free = int32(s)
	}
	if n := 2 << bits.Len(uint(is-1)); n != len(t.index) {
		old := t.index
		t.index = make([]place[K], n)
		for _, p := range old {
			if p.slot != 0 {
				at, _ := t.find(p.key, t.hash(p.key))
				t.index[at] = p
				t.slots[p.slot-1].at = int32(at)
			}
		}
	}
}

// Room is the number of places that there are: slots are below it.
func (t *Table[K]) Room() int { return len(t.slots) }

// Len is the number of flows in the table.
func (t *Table[K]) Len() int { return t.count }

// Cap is the number of flows it can hold.
func (t *Table[K]) Cap() int { return t.most }

// Key returns the key of a slot in use.
func (t *Table[K]) Key(s int) K { return t.index[t.slots[s].at].key }

// Lookup returns the flow's slot, or None.
func (t *Table[K]) Lookup(k K) int {
	_, s := t.find(k, t.hash(k))
	return s
}

// find returns the place of k, or the empty place where it belongs.
func (t *Table[K]) find(k K, hash uint64) (at, s int) {
	mask := len(t.index) - 1
	for at = int(hash) & mask; ; at = (at + 1) & mask {
		p := &t.index[at]
		if p.slot == 0 {
			return at, None
		}
		if p.key == k {
			return at, int(p.slot) - 1
		}
	}
}

// Insert returns the flow's slot, a new one if it had none, and marks it seen
// at now. It is None if the table is full.
func (t *Table[K]) Insert(k K, now units.Time) (s int, fresh bool) {
	at, s := t.find(k, t.hash(k))
	if s != None {
		t.slots[s].seen = now
		return s, false
	}
	if t.free == None {
		if t.grow(); t.free == None {
			return None, false
		}
		at, _ = t.find(k, t.hash(k))
	}
	s = int(t.free)
	t.free = t.slots[s].next
	t.slots[s] = slot{seen: now, next: inUse, at: int32(at)}
	t.index[at] = place[K]{key: k, slot: int32(s) + 1}
	t.count++
	return s, true
}

// Touch marks a slot in use as seen at now.
func (t *Table[K]) Touch(s int, now units.Time) { t.slots[s].seen = now }

// Delete frees a slot in use.
func (t *Table[K]) Delete(s int) {
	hole := int(t.slots[s].at)
	t.slots[s] = slot{next: t.free}
	t.free = int32(s)
	t.count--
	mask := len(t.index) - 1
	for at := (hole + 1) & mask; t.index[at].slot != 0; at = (at + 1) & mask {
		home := int(t.hash(t.index[at].key)) & mask
		if (at-home)&mask >= (at-hole)&mask { // its home is not behind the hole: it may move there
			t.index[hole] = t.index[at]
			t.slots[t.index[hole].slot-1].at = int32(hole)
			hole = at
		}
	}
	t.index[hole] = place[K]{}
}

// Expire looks at the next few slots and returns one whose flow was last seen
// before the given instant, without deleting it, or None. Called regularly it
// goes round the whole table.
func (t *Table[K]) Expire(before units.Time, few int) int {
	return t.ExpireIf(few, func(s int) bool { return t.slots[s].seen < before })
}

// ExpireIf is Expire for those who know themselves when a flow was last seen.
func (t *Table[K]) ExpireIf(few int, old func(s int) bool) int {
	for range min(few, len(t.slots)) {
		s := t.hand
		if t.hand++; t.hand == len(t.slots) {
			t.hand = 0
		}
		if t.slots[s].next == inUse && old(s) {
			return s
		}
	}
	return None
}
