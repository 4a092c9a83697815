package dataplane

import (
	"math/bits"

	"photon/wire"
)

// pairs remembers to which port plain frames from one address to another go, if
// they came through one port: what findPorts found out in this second, with the
// tables as they are. One look at it takes the place of two at the forwarding
// database. A pair that leads to the port through which it came is for the router:
// nothing else goes back. Each worker has one.
type pairs struct {
	second  uint32 // in which addresses were confirmed
	changes uint32 // of the switch's tables; see Switch.changes
	epoch   uint64 // places with another are empty; 1 to 255
	mask    uint   // one less than the places, which are a power of two
	places  []pair
}

// pairsPerPort is how many places a table has for each of its worker's ports, and
// leastPairs and mostPairs what it has at least and at most: 32 and 512 KB. Most stay
// empty, so that most pairs are where they are looked for first: of 64 ports each of
// which sends to all others it has one in four.
const (
	pairsPerPort = 256
	leastPairs   = 1 << 11
	mostPairs    = 1 << mostPairsLog2

	mostPairsLog2 = 15
)

// newPairs makes the table of a worker with so many ports.
func newPairs(ports int) pairs {
	log2 := bits.Len(uint(min(max(pairsPerPort*ports, leastPairs), mostPairs) - 1))
	return pairs{mask: 1<<log2 - 1, places: make([]pair, 1<<log2)}
}

// pair is a place: both addresses as they lie in a frame, behind the second of
// them the port they came through (12 bits), the epoch (8 bits) and the port they lead
// to (12 bits).
type pair struct {
	first uint64
	rest  uint64
}

// mine is what a place has behind its addresses, but for the port it leads to, if it
// holds for a port.
func (t *pairs) mine(port int) uint64 { return uint64(port)<<32 | t.epoch<<44 }

// place is where a pair is kept, or beside that.
func place(first uint64, rest uint32, mask uint) uint {
	return uint((first^uint64(rest)*mixRest)*mixBoth>>mixDown) & mask
}

// What addresses are mixed by: odd numbers without a pattern. The upper bits of the
// product depend on all of them.
const (
	mixRest = 0x9E3779B97F4A7C15
	mixBoth = 0xE7037ED1A0B428DB
	mixDown = 64 - mostPairsLog2
)

// besides are the four places of one line of the cache, from a place on.
const besides = 4

// beside looks for a pair beside its place; rest is as in differs.
func (t *pairs) beside(at uint, first, rest uint64) (out uint32, ok bool) {
	for i := range uint(besides) {
		if e := &t.places[at^i]; e.differs(first, rest) == 0 {
			return e.out(), true
		}
	}
	return 0, false
}

// differs is zero if a place holds a pair; rest is what is behind its addresses, too.
func (e *pair) differs(first, rest uint64) uint64 { return e.first ^ first | (e.rest^rest)<<12 }

// out is the port that a place leads to.
func (e *pair) out() uint32 { return uint32(e.rest >> 52) }

// remember keeps where the frames of a pair go that came through a port.
func (t *pairs) remember(b *wire.Quick, port, out int) {
	first, rest := b.Pair()
	at := place(first, rest, t.mask)
	mine := uint64(rest) | t.mine(port)
	to := at ^ 1 // if all are taken
	for i := range uint(besides) {
		// A burst may have several frames of a pair that nobody knew.
		if e := &t.places[at^i]; e.rest>>44&0xFF != t.epoch || e.differs(first, mine) == 0 {
			to = at ^ i
			break
		}
	}
	t.places[to] = pair{first, mine | uint64(out)<<52}
}

// renew forgets everything if the second or the tables are other than they were.
func (t *pairs) renew(second, changes uint32) {
	if t.second == second && t.changes == changes && t.epoch != 0 {
		return
	}
	t.second, t.changes = second, changes
	if t.epoch++; t.epoch == 256 {
		t.epoch = 1
		clear(t.places)
	}
}
