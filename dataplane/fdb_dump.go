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
type FDBView struct {
	lans *lans
	era  era
}

// FDB returns the forwarding database. It is called between bursts; what it
// returns may be read while the switch runs, since every entry is one word.
func (s *Switch) FDB() FDBView { return FDBView{s.lans, s.era} }

// Entries returns the addresses that are known at now, by the clock of when FDB was called, in the order of VLANs and addresses.
func (v FDBView) Entries(now units.Time) (all []FDBEntry) {
	for _, x := range v.lans.all {
		all = x.fdb.dump(all, x, v.lans.groups, v.era.second(now))
	}
	slices.SortFunc(all, func(a, b FDBEntry) int { return cmp.Or(cmp.Compare(a.VLAN, b.VLAN), cmp.Compare(a.MAC, b.MAC)) })
	return all
}

// dump appends the addresses that are known at now.
func (t *fdb) dump(all []FDBEntry, x *lan, groups [][]uint16, now learnSecond) []FDBEntry {
	for i := range t.places {
		at := &t.places[i]
		e := entry(at.Load())
		if e == 0 || t.old(at, e, now) {
			continue
		}
		known := FDBEntry{VLAN: x.id, MAC: e.mac(), Static: true}
		switch e & fdbKind {
		case fdbRouter:
		case fdbGroup:
			known.Ports = slices.Clone(groups[e.value()])
		default:
			known.Ports = []uint16{e.value()}
		}
		if e&fdbKind == fdbLearned {
			// It may have been confirmed in a second that began after now was read.
			known.Static, known.Age = false, units.Time(max(0, int32(uint32(now)-at.confirmed.Load())))*units.Second
		}
		all = append(all, known)
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
		n += len(x.fdb.places)
	}
	return n
}
