package dataplane

import (
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"

	"photon/units"
	"photon/wire"
)

// fdb is the forwarding database: which port leads to an address. Any worker looks up: an entry is one
// word, read and written atomically. Any worker learns, too: who finds a place changed between a look and the
// write looks again, and nobody waits. If two learn one address at once it may get two places; the
// first is the one that counts, and the second is the older. Learned entries age lazily; an old one is as good
// as none, and its place is taken when a new one needs it.
//
// A static entry may name a group of ports of equal cost, among which a frame's flow hash chooses.
type fdb struct {
	places  []fdbPlace // a power of two; linear probing over maxProbe of them
	age     uint32     // seconds; 0: entries do not age
	full    atomic.Uint64
	changes *atomic.Uint32
}

// fdbPlace is where an address is kept. What is read together lies together.
type fdbPlace struct {
	atomic.Uint64               // the entry
	confirmed     atomic.Uint32 // second, of those since the world began, in which a learned one was last confirmed
}

// entry is an address (48 bits), a port or group (12 bits) and a kind (4 bits); 0: there is none.
type entry uint64

const (
	fdbLearned entry = 1
	fdbStatic  entry = 2
	fdbGroup   entry = 3
	fdbRouter  entry = 4 // the switch itself, which routes
	fdbKind    entry = 15

	maxPorts = 1 << 12
	maxProbe = 32
)

func newEntry(mac wire.MAC, value uint16, kind entry) entry {
	return entry(mac)<<16 | entry(value)<<4 | kind
}

func (e entry) mac() wire.MAC { return wire.MAC(e >> 16) }
func (e entry) value() uint16 { return uint16(e>>4) & (maxPorts - 1) }

func newFDB(capacity int, age units.Time, changes *atomic.Uint32) *fdb {
	return &fdb{places: make([]fdbPlace, places(capacity)), age: uint32(age / units.Second), changes: changes}
}

// places is how many places a database of so many addresses has.
func places(capacity int) int { return 1 << bits.Len(uint(max(2*capacity, maxProbe)-1)) }

// probe calls do for each place where an address may be, in their order, until it says that it is done.
func (t *fdb) probe(mac wire.MAC, do func(at *fdbPlace, e entry) (done bool)) {
	hi, lo := bits.Mul64(uint64(mac), 0x9E3779B97F4A7C15)
	at := int(hi ^ lo)
	for range maxProbe {
		p := &t.places[at&(len(t.places)-1)]
		if do(p, entry(p.Load())) {
			return
		}
		at++
	}
}

// find returns the entry of an address; 0: it is not known.
func (t *fdb) find(mac wire.MAC, now learnSecond) (found entry) {
	t.probe(mac, func(at *fdbPlace, e entry) bool {
		if e != 0 && e.mac() == mac && !t.old(at, e, now) {
			found = e
		}
		return e == 0 || e.mac() == mac
	})
	return found
}

// old reports whether an entry is too old to count. Clocks of workers differ by a little: one may have been
// confirmed in a second that another has not reached.
func (t *fdb) old(at *fdbPlace, e entry, now learnSecond) bool {
	return e&fdbKind == fdbLearned && t.age != 0 && int32(uint32(now)-at.confirmed.Load()) > int32(t.age)
}

// learn remembers that mac is behind a port, unless it has a place of its own.
func (t *fdb) learn(mac wire.MAC, port int, now learnSecond) {
	known := false
	t.probe(mac, func(at *fdbPlace, e entry) bool {
		if e == 0 || e.mac() != mac {
			return e == 0
		}
		if known = e&fdbKind != fdbLearned || int(e.value()) == port && !t.old(at, e, now); known && at.confirmed.Load() != uint32(now) {
			at.confirmed.Store(uint32(now))
		}
		return true
	})
	if !known {
		t.insert(newEntry(mac, uint16(port), fdbLearned), now)
	}
}

// insert makes an entry, or changes that of its address. It reports false if there is no place.
func (t *fdb) insert(made entry, now learnSecond) bool {
	for {
		var to *fdbPlace
		was := entry(0)
		t.probe(made.mac(), func(at *fdbPlace, e entry) bool {
			same := e != 0 && e.mac() == made.mac()
			if same || to == nil && (e == 0 || t.old(at, e, now)) {
				to, was = at, e
			}
			return same || e == 0
		})
		if to == nil {
			t.full.Add(1)
			return false
		}
		to.confirmed.Store(uint32(now))
		if !to.CompareAndSwap(uint64(was), uint64(made)) {
			continue
		}
		if was != made && was != 0 && was.mac() == made.mac() { // no action is remembered for an address that was unknown
			t.changes.Add(1)
		}
		return true
	}
}

// adopt learns what another database, which may be in use, has learned, but at
// one port; noPort: at all. What was learned at a port that sends in no form is left out.
func (t *fdb) adopt(from *fdb, but int, forms []form) {
	for i := range from.places {
		if e := entry(from.places[i].Load()); e&fdbKind == fdbLearned {
			if port := int(e.value()); port != but && forms[port] != absent {
				t.learn(e.mac(), port, learnSecond(from.places[i].confirmed.Load()))
			}
		}
	}
}

// noPort is no port's number.
const noPort = -1

// setStatic makes the static entries of a LAN's database, before it is used.
func (l *lans) setStatic(x *lan, e *StaticEntry, up func(port uint16) bool) error {
	ports := alive(e.Ports, up)
	made := newEntry(e.MAC, ports[0], fdbStatic)
	if len(ports) > 1 {
		group := l.group(ports)
		if group >= maxPorts {
			return fmt.Errorf("more than %d groups of ports", maxPorts)
		}
		made = newEntry(e.MAC, uint16(group), fdbGroup)
	}
	if !x.fdb.insert(made, 0) {
		return fmt.Errorf("no place for static entry %v", e.MAC)
	}
	return nil
}

// alive are the ports that have a link; all, if none has: what goes there is discarded and counted at its port.
func alive(ports []uint16, up func(port uint16) bool) []uint16 {
	left := slices.DeleteFunc(slices.Clone(ports), func(p uint16) bool { return !up(p) })
	if len(left) == 0 {
		return ports
	}
	return left
}

// group returns the number of a group with these ports.
func (l *lans) group(ports []uint16) int {
	for i, g := range l.groups {
		if slices.Equal(g, ports) {
			return i
		}
	}
	l.groups = append(l.groups, slices.Clone(ports))
	return len(l.groups) - 1
}
