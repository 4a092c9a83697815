// Package flowtable maps flows to small integers: slots from 0 to a fixed
// capacity, in which the rest of a node keeps what it knows of a flow. It
// allocates nothing after construction, is bounded, and forgets flows that have
// been silent for long when it is asked to.
package flowtable

import (
	"math/bits"

	"photon/units"
)

// None is the slot of a flow that is not in the table.
const None = -1

// Table is a hash table with open addressing and linear probing over at most
// half its places; deleting moves later entries back, so no tombstones pile up.
// Keys are compared only where 32 bits of their hashes agree.
type Table[K comparable] struct {
	hash  func(K) uint64
	index []place // a power of two
	slots []slot[K]
	free  int32 // list of free slots, by next
	count int
	hand  int // where Expire goes on
}

// place is one position of the index.
type place struct {
	tag  uint32 // upper half of the hash
	slot int32  // slot+1; 0: empty
}

type slot[K comparable] struct {
	key  K
	seen units.Time
	next int32 // in the list of free slots; inUse if it is not there
}

const inUse = -2

// New returns an empty table for capacity flows. The hash must spread well over
// all 64 bits.
func New[K comparable](capacity int, hash func(K) uint64) *Table[K] {
	t := &Table[K]{hash: hash, index: make([]place, 2<<bits.Len(uint(max(capacity, 1)-1))), slots: make([]slot[K], capacity), free: None}
	for s := capacity - 1; s >= 0; s-- {
		t.slots[s].next = t.free
		t.free = int32(s)
	}
	return t
}

// Len is the number of flows in the table.
func (t *Table[K]) Len() int { return t.count }

// Cap is the number of flows it can hold.
func (t *Table[K]) Cap() int { return len(t.slots) }

// Key returns the key of a slot in use.
func (t *Table[K]) Key(s int) K { return t.slots[s].key }

// Lookup returns the flow's slot, or None.
func (t *Table[K]) Lookup(k K) int {
	_, s := t.find(k, t.hash(k))
	return s
}

// find returns the place of k, or the empty place where it belongs.
func (t *Table[K]) find(k K, hash uint64) (at, s int) {
	mask := len(t.index) - 1
	tag := uint32(hash >> 32)
	for at = int(hash) & mask; ; at = (at + 1) & mask {
		p := t.index[at]
		if p.slot == 0 {
			return at, None
		}
		if s = int(p.slot) - 1; p.tag == tag && t.slots[s].key == k {
			return at, s
		}
	}
}

// Insert returns the flow's slot, a new one if it had none, and marks it seen
// at now. It is None if the table is full.
func (t *Table[K]) Insert(k K, now units.Time) (s int, fresh bool) {
	hash := t.hash(k)
	at, s := t.find(k, hash)
	if s != None {
		t.slots[s].seen = now
		return s, false
	}
	if t.free == None {
		return None, false
	}
	s = int(t.free)
	t.free = t.slots[s].next
	t.slots[s] = slot[K]{key: k, seen: now, next: inUse}
	t.index[at] = place{tag: uint32(hash >> 32), slot: int32(s) + 1}
	t.count++
	return s, true
}

// Touch marks a slot in use as seen at now.
func (t *Table[K]) Touch(s int, now units.Time) { t.slots[s].seen = now }

// Delete frees a slot in use.
func (t *Table[K]) Delete(s int) {
	hole, _ := t.find(t.slots[s].key, t.hash(t.slots[s].key))
	var zero K
	t.slots[s] = slot[K]{key: zero, next: t.free}
	t.free = int32(s)
	t.count--
	mask := len(t.index) - 1
	for at := (hole + 1) & mask; t.index[at].slot != 0; at = (at + 1) & mask {
		home := int(t.hash(t.slots[t.index[at].slot-1].key)) & mask
		if (at-home)&mask >= (at-hole)&mask { // its home is not behind the hole: it may move there
			t.index[hole] = t.index[at]
			hole = at
		}
	}
	t.index[hole] = place{}
}

// Expire looks at the next few slots and returns one whose flow was last seen
// before the given instant, without deleting it, or None. Called regularly it
// goes round the whole table.
func (t *Table[K]) Expire(before units.Time, few int) int {
	for range min(few, len(t.slots)) {
		s := t.hand
		if t.hand++; t.hand == len(t.slots) {
			t.hand = 0
		}
		if t.slots[s].next == inUse && t.slots[s].seen < before {
			return s
		}
	}
	return None
}
