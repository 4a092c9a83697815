package dataplane

import (
	"cmp"
	"slices"

	"photon/units"
	"photon/wire"
)

// FDBEntry is an address that a switch knows.
type FDBEntry struct {
	VLAN   uint16 // 0: the switch has none
	MAC    wire.MAC
	Ports  []uint16 // one, or several of equal cost; none: the switch itself, as a router
	Static bool
	Age    units.Time // since a frame from it was last seen, whole seconds; 0 for static ones
}

// FDBView is a switch's forwarding database, to be read while it runs.
type FDBView struct{ lans *lans }

// FDB returns the forwarding database. It is called between bursts; what it
// returns may be read while the switch runs, since every entry is one word.
func (s *Switch) FDB() FDBView { return FDBView{s.lans} }

// Entries returns the addresses that are known at now, in the order of VLANs and addresses.
func (v FDBView) Entries(now units.Time) (all []FDBEntry) {
	for _, x := range v.lans.all {
		all = x.fdb.dump(all, x.id, now)
	}
	slices.SortFunc(all, func(a, b FDBEntry) int { return cmp.Or(cmp.Compare(a.VLAN, b.VLAN), cmp.Compare(a.MAC, b.MAC)) })
	return all
}

// dump appends the addresses that are known at now.
func (t *fdb) dump(all []FDBEntry, vlan uint16, now units.Time) []FDBEntry {
	for i := range t.entries {
		e := t.entries[i].Load()
		value := e >> 4 & (maxPorts - 1)
		entry := FDBEntry{VLAN: vlan, MAC: wire.MAC(e >> 16), Static: true}
		switch {
		case e == 0 || e&15 == fdbLearned && t.old(i, now):
			continue
		case e&15 == fdbRouter:
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
	return all
}

// Full is how often an address was not learned because its places were taken.
func (v FDBView) Full() (n uint64) {
	for _, x := range v.lans.all {
		n += x.fdb.full.Load()
	}
	return n
}

// Capacity is how many places there are, in all VLANs.
func (v FDBView) Capacity() (n int) {
	for _, x := range v.lans.all {
		n += len(x.fdb.entries)
	}
	return n
}
