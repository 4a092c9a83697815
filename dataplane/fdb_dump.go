package dataplane

import (
	"cmp"
	"slices"

	"photon/units"
	"photon/wire"
)

// FDBEntry is an address that a switch knows.
type FDBEntry struct {
	MAC    wire.MAC
	Ports  []uint16 // one, or several of equal cost
	Static bool
	Age    units.Time // since a frame from it was last seen, whole seconds; 0 for static ones
}

// FDBView is a switch's forwarding database, to be read while it runs.
type FDBView struct{ fdb *fdb }

// FDB returns the forwarding database. It is called between bursts; what it
// returns may be read while the switch runs, since every entry is one word.
func (s *Switch) FDB() FDBView { return FDBView{s.fdb} }

// Entries returns the addresses that are known at now, in their order.
func (v FDBView) Entries(now units.Time) (all []FDBEntry) {
	t := v.fdb
	for i := range t.entries {
		e := t.entries[i].Load()
		value := e >> 4 & (maxPorts - 1)
		entry := FDBEntry{MAC: wire.MAC(e >> 16), Static: true}
		switch {
		case e == 0 || e&15 == fdbLearned && t.old(i, now):
			continue
		case e&15 == fdbGroup:
			entry.Ports = slices.Clone(t.groups[value])
		default:
			entry.Ports = []uint16{uint16(value)}
		}
		if e&15 == fdbLearned {
			// It may have been confirmed in a second that began after now was read.
			entry.Static, entry.Age = false, max(0, units.Time(seconds(now))-units.Time(t.entries[i].seen.Load()))*units.Second
		}
		all = append(all, entry)
	}
	slices.SortFunc(all, func(a, b FDBEntry) int { return cmp.Compare(a.MAC, b.MAC) })
	return all
}

// Full is how often an address was not learned because its places were taken.
func (v FDBView) Full() uint64 { return v.fdb.full.Load() }

// Capacity is how many places there are.
func (v FDBView) Capacity() int { return len(v.fdb.entries) }
