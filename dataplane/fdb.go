package dataplane

import (
	"fmt"
	"math/bits"
	"sync/atomic"

	"photon/units"
	"photon/wire"
)

// fdb is the forwarding database: which port leads to an address. Any worker
// looks up, one writes: an entry is one word, read and written atomically.
// Learned entries age lazily; an old one is as good as none, and its place is
// taken when a new one needs it.
//
// A static entry may name a group of ports of equal cost, among which a frame's
// flow hash chooses.
type fdb struct {
	entries []fdbEntry // a power of two; linear probing over maxProbe places
	groups  [][]uint16
	row     row
	age     uint32 // seconds; 0: entries do not age
	salt    uint32 // of this switch's choice among equal paths; 0: none
	full    atomic.Uint64
	changes *atomic.Uint32 // counts what was learned anew; the switch's
}

// fdbEntry is one place. What is read together lies together.
type fdbEntry struct {
	atomic.Uint64               // the entry
	seen          atomic.Uint32 // second in which a learned one was last confirmed
}

// An entry: address 48 bits, port or group 12 bits, kind 4 bits; zero is an empty place.
const (
	fdbLearned uint64 = 1
	fdbStatic  uint64 = 2
	fdbGroup   uint64 = 3
	fdbRouter  uint64 = 4 // the switch itself, which routes

	maxPorts = 1 << 12
	maxProbe = 32
)

// What a lookup returns in place of a port.
const (
	noPort   = -1 // the address is unknown
	toRouter = -2 // it is the switch's own, as a router
)

func newFDB(capacity int, age units.Time, salt uint32) *fdb {
	return &fdb{entries: make([]fdbEntry, places(capacity)), age: uint32(age / units.Second), salt: salt, changes: new(atomic.Uint32)}
}

// places is how many places a database of so many addresses has.
func places(capacity int) int { return 1 << bits.Len(uint(max(2*capacity, maxProbe)-1)) }

func seconds(now units.Time) uint32 { return uint32(now / units.Second) }

func (t *fdb) home(mac wire.MAC) int { return spread(mac) & (len(t.entries) - 1) }

// spread hashes an address.
func spread(mac wire.MAC) int {
	hi, lo := bits.Mul64(uint64(mac), 0x9E3779B97F4A7C15)
	return int(hi ^ lo)
}

// lookup returns the port for a frame to mac of a flow with the given hash, noPort or toRouter.
func (t *fdb) lookup(mac wire.MAC, hash uint32, now units.Time) int {
	if e := t.row.entry(mac); e != 0 {
		return t.static(e, hash)
	}
	at := t.home(mac)
	for range maxProbe {
		e := t.entries[at].Load()
		if e == 0 {
			return noPort
		}
		if e>>16 == uint64(mac) {
			value := int(e >> 4 & (maxPorts - 1))
			switch e & 15 {
			case fdbGroup:
				g := t.groups[value]
				return int(g[pick(hash, t.salt, len(g))])
			case fdbRouter:
				return toRouter
			case fdbLearned:
				if t.old(at, now) {
					return noPort
				}
			}
			return value
		}
		at = (at + 1) & (len(t.entries) - 1)
	}
	return noPort
}

func (t *fdb) old(at int, now units.Time) bool {
	return t.age != 0 && seconds(now)-t.entries[at].seen.Load() > t.age
}

// known reports whether mac is learned on port, confirming it, or is static; if
// not, the writer is to learn it.
func (t *fdb) known(mac wire.MAC, port int, now units.Time) bool {
	at := t.home(mac)
	for range maxProbe {
		e := t.entries[at].Load()
		if e == 0 {
			return false
		}
		if e>>16 == uint64(mac) {
			if e&15 != fdbLearned {
				return true
			}
			if int(e>>4&(maxPorts-1)) != port || t.old(at, now) {
				return false
			}
			if s := seconds(now); t.entries[at].seen.Load() != s {
				t.entries[at].seen.Store(s)
			}
			return true
		}
		at = (at + 1) & (len(t.entries) - 1)
	}
	return false
}

// confirmed reports whether nothing is to be learned of an address at a port: it
// is static, or was last confirmed there in this second.
func (t *fdb) confirmed(mac wire.MAC, port int, now units.Time) bool {
	e, at := t.further(mac)
	return e != 0 && (e&15 != fdbLearned || int(e>>4&(maxPorts-1)) == port && at.seen.Load() == seconds(now))
}

// entry finds the entry of an address; zero, or that of another: there is none.
func (t *fdb) entry(mac wire.MAC) (e uint64, entry *fdbEntry) {
	entry = &t.entries[t.home(mac)]
	if e = entry.Load(); e>>16 != uint64(mac) && e != 0 {
		return t.further(mac)
	}
	return e, entry
}

// further finds the entry of an address that is not in its first place; zero: it
// is nowhere.
func (t *fdb) further(mac wire.MAC) (e uint64, entry *fdbEntry) {
	at := t.home(mac)
	for range maxProbe {
		entry = &t.entries[at]
		if e = entry.Load(); e == 0 || e>>16 == uint64(mac) {
			return e, entry
		}
		at = (at + 1) & (len(t.entries) - 1)
	}
	return 0, entry
}

// learn sets the port of a learned address. Writer only.
func (t *fdb) learn(mac wire.MAC, port int, now units.Time) {
	at := t.home(mac)
	place := -1
	for range maxProbe {
		e := t.entries[at].Load()
		if e>>16 == uint64(mac) && e != 0 {
			if e&15 != fdbLearned {
				return
			}
			place = at
			break
		}
		if place < 0 && (e == 0 || e&15 == fdbLearned && t.old(at, now)) {
			place = at
		}
		if e == 0 {
			break
		}
		at = (at + 1) & (len(t.entries) - 1)
	}
	if place < 0 {
		t.full.Add(1)
		return
	}
	t.entries[place].seen.Store(seconds(now))
	t.entries[place].Store(uint64(mac)<<16 | uint64(port)<<4 | fdbLearned)
	t.changes.Add(1)
}

// set makes a static entry of one port or of several of equal cost. Before the
// switch runs only.
func (t *fdb) set(mac wire.MAC, ports []uint16) error {
	value, kind := uint64(ports[0]), fdbStatic
	if len(ports) > 1 {
		value, kind = t.group(ports), fdbGroup
		if value >= maxPorts {
			return fmt.Errorf("more than %d groups of ports", maxPorts)
		}
	}
	at := t.home(mac)
	for range maxProbe {
		if e := t.entries[at].Load(); e == 0 || e>>16 == uint64(mac) {
			t.entries[at].Store(uint64(mac)<<16 | value<<4 | kind)
			return nil
		}
		at = (at + 1) & (len(t.entries) - 1)
	}
	return fmt.Errorf("no place for static entry %v", mac)
}

// setRouter makes the entry of the switch's own address. Before the switch runs only.
func (t *fdb) setRouter(mac wire.MAC) { t.entries[t.home(mac)].Store(uint64(mac)<<16 | fdbRouter) }

// adopt learns what another database, which may be in use, has learned, but at
// one port; noPort: at all. What was learned at a port that sends in no form is left out.
func (t *fdb) adopt(from *fdb, but int, forms []form) {
	for i := range from.entries {
		if e := from.entries[i].Load(); e&15 == fdbLearned {
			if port := int(e >> 4 & (maxPorts - 1)); port != but && forms[port] != absent {
				t.learn(wire.MAC(e>>16), port, units.Time(from.entries[i].seen.Load())*units.Second)
			}
		}
	}
}

// group returns the number of a group with these ports.
func (t *fdb) group(ports []uint16) uint64 {
	for i, g := range t.groups {
		if len(g) != len(ports) {
			continue
		}
		same := true
		for j := range g {
			same = same && g[j] == ports[j]
		}
		if same {
			return uint64(i)
		}
	}
	t.groups = append(t.groups, append([]uint16(nil), ports...))
	return uint64(len(t.groups) - 1)
}
