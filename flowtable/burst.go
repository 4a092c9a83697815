package flowtable

import (
	"unsafe"

	"photon/internal/memory"
)

// LookupBurst is Lookup of several keys, whose slots it writes to the places in slots of the same
// numbers. The memory of all is asked for before the first is looked at, so it is waited for once.
func (t *Table[K]) LookupBurst(keys []K, slots []int) {
	const most = 16 // as many lines as a processor asks for at a time
	var homes [most]int
	slots = slots[:len(keys)]
	for len(keys) > 0 {
		some := keys[:min(most, len(keys))]
		for i, k := range some {
			homes[i] = t.home(t.hash(k))
			memory.Prefetch(unsafe.Pointer(&t.places[homes[i]]), 1)
		}
		for i, k := range some {
			slots[i] = int(t.places[t.find(k, homes[i])].slot) - 1
		}
		keys, slots = keys[len(some):], slots[len(some):]
	}
}
