package flowtable

import (
	"math/bits"

	"photon/internal/memory"
	"photon/units"
)

// None is the slot of a flow that is not in the table.
const None = -1

// Table is a hash table with open addressing and linear probing over twice as many
// places as flows. All there is of a flow is in its place: a lookup or an insertion of a flow
// that is there waits for memory once. Deleting moves later places back, so no
// tombstones pile up.
//
// Keys are best made of numbers, four words of them at most: so they stay in registers. An array goes
// through memory whenever it is handed on, in pieces that overlap; the processor then
// waits until all before is done, and cannot begin the next lookup while this one waits.
type Table[K comparable] struct {
	hash   func(K) uint64
	places []place[K]
	slots  []int32 // where a slot's place is; if it is not in use, which is free after it (release)
	most   int     // that slots may become
	free   int     // slot, or None
	count  int
	hand   int      // where Expire goes on
	_      [40]byte // whole lines of the cache
}

// place is where a flow may be.
type place[K comparable] struct {
	key      K
	slot     int32 // slot+1; 0: there is none
	lastSeen units.Time
}

// New returns an empty table for capacity flows. The hash must spread well over
// all 64 bits, the highest above all.
func New[K comparable](capacity int, hash func(K) uint64) *Table[K] {
	t := NewElastic(capacity, hash)
	t.grow(capacity)
	memory.Huge(t.places)
	memory.Huge(t.slots)
	return t
}

// NewElastic returns an empty table without places. They are made when a flow needs
// one and none is free, up to most, and handed out in the order in which New's are:
// users that keep data by slot call Room after an Insert.
func NewElastic[K comparable](most int, hash func(K) uint64) *Table[K] {
	return &Table[K]{hash: hash, places: make([]place[K], 1), most: most, free: None}
}

// grow makes room for so many flows.
func (t *Table[K]) grow(room int) {
	was, old := len(t.slots), t.places
	t.slots = append(make([]int32, 0, room), t.slots...)[:room]
	for s := room - 1; s >= was; s-- {
		t.release(s)
	}
	t.places = make([]place[K], 2*room+1) // one is always empty: there searches end
	for i := range old {
		if old[i].slot != 0 {
			t.put(t.find(old[i].key, t.home(t.hash(old[i].key))), &old[i])
		}
	}
}

// release makes a slot the first that is free.
func (t *Table[K]) release(s int) {
	t.slots[s] = int32(None - 1 - t.free)
	t.free = s
}

// home is the place where the search for a key begins that has this hash.
func (t *Table[K]) home(hash uint64) int {
	at, _ := bits.Mul64(hash, uint64(len(t.places)))
	return int(at)
}

// find returns the place of k, or the empty place where it belongs. The search begins at its home.
// This is inlined, and given no more than it needs, lest keys be copied.
func (t *Table[K]) find(k K, at int) int {
	for {
		if p := &t.places[at]; p.slot == 0 || p.key == k {
			return at
		}
		if at++; at == len(t.places) {
			at = 0
		}
	}
}

// after is the next place.
func (t *Table[K]) after(at int) int {
	if at++; at < len(t.places) {
		return at
	}
	return 0
}

// put fills an empty place.
func (t *Table[K]) put(at int, p *place[K]) {
	t.places[at] = *p
	t.slots[p.slot-1] = int32(at)
}

// Room is the number of places that there are: slots are below it.
func (t *Table[K]) Room() int { return len(t.slots) }

// Len is the number of flows in the table.
func (t *Table[K]) Len() int { return t.count }

// Cap is the number of flows it can hold.
func (t *Table[K]) Cap() int { return t.most }

// Key returns the key of a slot in use.
func (t *Table[K]) Key(s int) K { return t.places[t.slots[s]].key }

// Lookup returns the flow's slot, or None.
func (t *Table[K]) Lookup(k K) int { return int(t.places[t.find(k, t.home(t.hash(k)))].slot) - 1 }

// Insert returns the flow's slot, a new one if it had none, and marks it seen
// at now. It is None if the table is full.
func (t *Table[K]) Insert(k K, now units.Time) (s int, fresh bool) {
	at := t.find(k, t.home(t.hash(k)))
	if p := &t.places[at]; p.slot != 0 {
		p.lastSeen = now
		return int(p.slot) - 1, false
	}
	if t.free == None {
		if len(t.slots) == t.most {
			return None, false
		}
		t.grow(min(t.most, max(4, len(t.slots)*3/2)))
		at = t.find(k, t.home(t.hash(k)))
	}
	s = t.free
	t.free = None - 1 - int(t.slots[s])
	p := &t.places[at] // field by field: a copy of what has just been written waits for it
	p.key, p.slot, p.lastSeen = k, int32(s)+1, now
	t.slots[s] = int32(at)
	t.count++
	return s, true
}

// Touch marks a slot in use as seen at now.
func (t *Table[K]) Touch(s int, now units.Time) { t.places[t.slots[s]].lastSeen = now }

// Seen is when a slot in use was seen last.
func (t *Table[K]) Seen(s int) units.Time { return t.places[t.slots[s]].lastSeen }

// Delete frees a slot in use.
func (t *Table[K]) Delete(s int) {
	hole := int(t.slots[s])
	t.release(s)
	t.count--
	for at := t.after(hole); t.places[at].slot != 0; at = t.after(at) {
		if t.ahead(t.home(t.hash(t.places[at].key)), at) >= t.ahead(hole, at) { // its home is not behind the hole: it may move there
			t.put(hole, &t.places[at])
			hole = at
		}
	}
	t.places[hole] = place[K]{}
}

// ahead is how many places it is from one to another.
func (t *Table[K]) ahead(from, to int) int {
	if to < from {
		to += len(t.places)
	}
	return to - from
}

// Expire looks at the next few slots and returns one whose flow was last seen
// before the given instant, without deleting it, or None. Called regularly it
// goes round the whole table.
func (t *Table[K]) Expire(before units.Time, slots int) int {
	return t.ExpireIf(slots, func(s int) bool { return t.Seen(s) < before })
}

// ExpireIf is Expire for those who know themselves which flows may go.
func (t *Table[K]) ExpireIf(slots int, old func(s int) bool) int {
	for range min(slots, len(t.slots)) {
		s := t.hand
		if t.hand++; t.hand == len(t.slots) {
			t.hand = 0
		}
		if t.slots[s] >= 0 && old(s) {
			return s
		}
	}
	return None
}
