package dataplane

import (
	"math"

	"photon/wire"
)

// row is static entries once more, by their addresses, where these follow one another,
// as those of an experiment's hosts do: two bytes of memory for each, where the hash
// table has a line of the cache for one or two. In a large network each frame looks into
// another switch's database at another place.
type row struct {
	first wire.MAC
	to    []uint16 // the lower bits of the entries, from that of first on; 0: none is here
}

// entry is the lower 16 bits of a static entry; 0: it is not here.
func (r *row) entry(mac wire.MAC) uint16 {
	if i := uint64(mac - r.first); i < uint64(len(r.to)) {
		return r.to[i]
	}
	return 0
}

// static is where an entry of a row leads.
func (t *fdb) static(e uint16, hash uint32) int {
	value := int(e >> 4)
	if uint64(e&15) == fdbGroup {
		g := t.groups[value]
		return int(g[pick(hash, t.salt, len(g))])
	}
	return value
}

// setRow makes the row, if static entries are a quarter or more of the addresses from
// the first to the last. It comes after they were set.
func (t *fdb) setRow() {
	n, first, last := 0, wire.MAC(math.MaxUint64), wire.MAC(0)
	t.eachStatic(func(mac wire.MAC, _ uint16) {
		n++
		first, last = min(first, mac), max(last, mac)
	})
	if n < 2 || uint64(last-first) >= uint64(4*n) {
		return
	}
	t.row = row{first, make([]uint16, last-first+1)}
	t.eachStatic(func(mac wire.MAC, to uint16) { t.row.to[mac-first] = to })
}

// eachStatic calls do for each static entry, with its lower bits.
func (t *fdb) eachStatic(do func(mac wire.MAC, to uint16)) {
	for i := range t.entries {
		if e := t.entries[i].Load(); e&15 == fdbStatic || e&15 == fdbGroup {
			do(wire.MAC(e>>16), uint16(e))
		}
	}
}
