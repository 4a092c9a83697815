package dataplane

import "photon/wire"

// pairs remembers to which port plain frames from one address to another go, if
// they came through one port: what findPorts found out in this second, with the
// tables as they are. One look at it takes the place of two at the forwarding
// database. Each worker has one.
type pairs struct {
	second  uint32 // in which addresses were confirmed
	changes uint32 // of the switch's tables; see Switch.changes
	epoch   uint64 // places with another are empty; 1 to 255
	places  [1 << pairBits]pair
}

// pairBits is log2 of the places: 32 KB, of which few are used at a time.
const pairBits = 11

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

// place is where a pair is kept, or beside that, in the same line of the cache.
func (t *pairs) place(first uint64, rest uint32) uint {
	return uint((first ^ uint64(rest)*0x9E3779B97F4A7C15) * 0xE7037ED1A0B428DB >> (64 - pairBits))
}

// differs is zero if a place holds a pair; rest is what is behind its addresses, too.
func (e *pair) differs(first, rest uint64) uint64 { return e.first ^ first | (e.rest^rest)<<12 }

// out is the port that a place leads to.
func (e *pair) out() uint32 { return uint32(e.rest >> 52) }

// remember keeps where the frames of a pair go that came through a port.
func (t *pairs) remember(b *wire.Quick, port, out int) {
	first, rest := b.Pair()
	at := t.place(first, rest)
	if t.places[at].rest>>44&0xFF == t.epoch { // taken
		at ^= 1
	}
	t.places[at] = pair{first, uint64(rest) | t.mine(port) | uint64(out)<<52}
}

// renew forgets everything if the second or the tables are other than they were.
func (t *pairs) renew(second, changes uint32) {
	if t.second == second && t.changes == changes && t.epoch != 0 {
		return
	}
	t.second, t.changes = second, changes
	if t.epoch++; t.epoch == 256 {
		t.epoch = 1
		clear(t.places[:])
	}
}
