package dataplane

import (
	"cmp"
	"slices"

	"photon/fdb"
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
		x.fdb.Each(v.era.second(now), func(e fdb.Entry, age units.Time) {
			all = append(all, FDBEntry{x.id, e.MAC(), v.lans.portsOf(e), e.Kind() != fdb.Learned, age})
		})
	}
	slices.SortFunc(all, func(a, b FDBEntry) int { return cmp.Or(cmp.Compare(a.VLAN, b.VLAN), cmp.Compare(a.MAC, b.MAC)) })
	return all
}

// portsOf are the ports to which an entry leads.
func (l *lans) portsOf(e fdb.Entry) []uint16 {
	switch e.Kind() {
	case fdb.Router:
		return nil
	case fdb.Group:
		return slices.Clone(l.groups[e.Value()])
	default:
		return []uint16{e.Value()}
	}
}

// Known is how many addresses are known at now, in all VLANs.
func (v FDBView) Known(now units.Time) (n int) {
	for _, x := range v.lans.all {
		x.fdb.Each(v.era.second(now), func(fdb.Entry, units.Time) { n++ })
	}
	return n
}

// Capacity is how many places there are, in all VLANs.
func (v FDBView) Capacity() (n int) {
	for _, x := range v.lans.all {
		n += x.fdb.Capacity()
	}
	return n
}
