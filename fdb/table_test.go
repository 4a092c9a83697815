package fdb

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

func mac(i int) wire.MAC { return 0x0200_0000_0000 | wire.MAC(i) }

// Workers that learn at the same time lose nothing: an address is known as soon as it has spoken once.
func TestEveryWorkerLearns(t *testing.T) {
	const workers, each = 4, 1000
	for round := range 20 {
		var counts Counts
		db := New(workers*each*4, 300*units.Second, &counts)
		var all sync.WaitGroup
		for w := range workers {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(round), uint64(w)))
				for i := range each {
					db.Learn(wire.MAC(2<<40+i*workers+w), w, 1)
					db.Learn(wire.MAC(3<<40+r.IntN(8)), w, 1) // addresses that move all the time
				}
			})
		}
		all.Wait()
		for i := range workers * each {
			if e := db.Find(wire.MAC(2<<40+i), 1); e == 0 || int(e.Value()) != i%workers {
				t.Fatalf("round %d: address %d is known as %x, and spoke once at port %d (%d had no place)", round, i, e, i%workers, counts.Unlearned.Load())
			}
		}
		for i := range 8 {
			if e := db.Find(wire.MAC(3<<40+i), 1); e == 0 || e.Value() >= workers {
				t.Fatalf("round %d: moving address %d is known as %x", round, i, e)
			}
		}
	}
}

// A place that is taken by two at once, being free or old, ends up with one of them, and the other has another.
func TestLearnersOfOnePlace(t *testing.T) {
	var counts Counts
	for round := range 2000 {
		db := New(1, units.Second, &counts) // all addresses are in each other's way
		for i := range maxProbe / 2 {
			db.Learn(wire.MAC(1<<40+i), 7, 0)
		}
		var all sync.WaitGroup
		begin := time.Now().Add(20 * time.Microsecond)
		for w := range 3 {
			all.Go(func() {
				for time.Now().Before(begin) {
				}
				for i := range 4 {
					db.Learn(wire.MAC(2<<40+w*4+i), w, 10)
				}
			})
		}
		all.Wait()
		for i := range 12 {
			if e := db.Find(wire.MAC(2<<40+i), 10); e == 0 || int(e.Value()) != i/4 {
				t.Fatalf("round %d: address %d of worker %d is known as %x", round, i%4, i/4, e)
			}
		}
	}
}

func TestTableAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		age := rapid.SampledFrom([]units.Time{10 * units.Second, units.Second, 0}).Draw(t, "age")
		young := func(since units.Time) bool { return age == 0 || since <= age }
		var counts Counts
		table := New(20, age, &counts)
		type station struct {
			port int
			seen units.Time
		}
		slow, fixed := map[wire.MAC]station{}, mac(500)
		table.Insert(NewEntry(fixed, 7, Static), 0)
		now, moves, mayMove := units.Time(0), uint32(0), uint32(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += units.Time(rapid.IntRange(0, 4).Draw(t, "dt")) * units.Second
			m, port := mac(rapid.IntRange(490, 510).Draw(t, "mac")), rapid.IntRange(0, 3).Draw(t, "port")
			if was, ok := slow[m]; ok && was.port != port {
				mayMove++ // its place may have become another's, if it is old
				if young(now - was.seen) {
					moves++
				}
			}
			if table.Learn(m, port, Second(now/units.Second)); m != fixed {
				slow[m] = station{port, now}
			}
			if n := counts.Changes.Load(); n < moves || n > mayMove {
				t.Fatalf("%d changes: %d addresses have moved, or %d", n, moves, mayMove)
			}
			known := map[wire.MAC]station{fixed: {7, now}}
			for m, e := range slow {
				if young(now - e.seen) {
					known[m] = e
				}
			}
			table.Each(Second(now/units.Second), func(e Entry, since units.Time) {
				if want, ok := known[e.MAC()]; !ok || int(e.Value()) != want.port || since != now-want.seen {
					t.Fatalf("%x was seen %v ago, want %+v at %v", e, since, want, now)
				}
				delete(known, e.MAC())
			})
			if len(known) > 0 {
				t.Fatalf("not listed: %v", known)
			}
			for i := 490; i < 511; i++ {
				e, ok := slow[mac(i)]
				want := Entry(0)
				if ok && young(now-e.seen) {
					want = NewEntry(mac(i), uint16(e.port), Learned)
				}
				if mac(i) == fixed {
					want = NewEntry(fixed, 7, Static)
				}
				if got := table.Find(mac(i), Second(now/units.Second)); got != want {
					t.Fatalf("%v at %v: %x, want %x", mac(i), now, got, want)
				}
			}
		}
	})
}

func TestFullTableForgetsNobody(t *testing.T) {
	var counts Counts
	table := New(16, 0, &counts)
	for i := range 10_000 {
		table.Learn(mac(i), 1, 0)
	}
	known := 0
	for i := range 10_000 {
		if table.Find(mac(i), 0) != 0 {
			known++
		}
	}
	if known != len(table.places) || counts.Unlearned.Load() != uint64(10_000-known) {
		t.Errorf("%d known of %d places, %d refused", known, len(table.places), counts.Unlearned.Load())
	}
}

// A table has a place for each of as many addresses as it was made for, whichever they are: drawn at random, as virtual
// machines have them, or one after the other, as a manufacturer gives them; also for those that came when others were
// old.
func TestATableHoldsWhatItIsFor(t *testing.T) {
	for _, size := range []int{1, 100, 5000, 16384, 65536, 1 << 17} {
		for seed := range uint64(8) {
			r := rand.New(rand.NewPCG(seed, uint64(size)))
			var counts Counts
			table := New(size, 10*units.Second, &counts)
			for lap := range Second(2) {
				first := r.Uint64N(1 << 40)
				for i := range uint64(size) {
					m := wire.MAC(r.Uint64()&0xFEFF_FFFF_FFFF | 1)
					if seed%4 == 0 {
						m = wire.MAC(first + i + 1)
					}
					table.Learn(m, 1, 11*lap)
				}
			}
			if n := counts.Unlearned.Load(); n != 0 {
				t.Errorf("seed %d: of %d addresses %d have no place", seed, size, n)
			}
		}
	}
}

// Of another table what ports that stay have learned is learned, no older than it was, and nothing else.
func TestAdopt(t *testing.T) {
	const age = 10 * units.Second
	var counts Counts
	from, to := New(50, age, &counts), New(50, age, &counts)
	for i := range 40 {
		from.Learn(mac(i), i%4, Second(i))
	}
	from.Insert(NewEntry(mac(100), 1, Static), 0)
	from.Insert(NewEntry(mac(101), 2, Group), 0)
	to.Insert(NewEntry(mac(39), 0, Router), 0)
	to.Adopt(from, func(port int) bool { return port != 2 })
	const now = 40
	for i := range 102 {
		want := Entry(0)
		if i < 39 && i%4 != 2 && now-i <= 10 {
			want = NewEntry(mac(i), uint16(i%4), Learned)
		}
		if i == 39 {
			want = NewEntry(mac(39), 0, Router)
		}
		if got := to.Find(mac(i), now); got != want {
			t.Errorf("%d is known as %x, want %x", i, got, want)
		}
	}
	to.Each(now, func(e Entry, since units.Time) {
		if i := units.Time(e.MAC() & 0xFF); e.Kind() == Learned && since != (now-i)*units.Second {
			t.Errorf("%x was seen %v ago, not %v s", e, since, now-i)
		}
	})
}

// An entry that is made again is not another one; one that replaces it is, whatever kinds they have.
func TestChanges(t *testing.T) {
	var counts Counts
	table := New(50, 0, &counts)
	for i, c := range []struct {
		made    Entry
		changes uint32
	}{
		{NewEntry(mac(1), 3, Learned), 0}, {NewEntry(mac(1), 3, Learned), 0}, {NewEntry(mac(2), 3, Learned), 0},
		{NewEntry(mac(1), 3, Static), 1}, {NewEntry(mac(1), 4, Static), 2}, {NewEntry(mac(1), 4, Router), 3},
	} {
		if !table.Insert(c.made, 0) || counts.Changes.Load() != c.changes || table.Find(c.made.MAC(), 0) != c.made {
			t.Errorf("step %d: %d changes, want %d", i, counts.Changes.Load(), c.changes)
		}
	}
	if table.Learn(mac(1), 1, 0); table.Find(mac(1), 0) != NewEntry(mac(1), 4, Router) || counts.Changes.Load() != 3 {
		t.Error("an address that has a place of its own moves")
	}
	// A clock that is behind sees what was confirmed in a second to come as just seen.
	table.Learn(mac(7), 1, 100)
	table.Each(99, func(e Entry, since units.Time) {
		if e.MAC() == mac(7) && since != 0 {
			t.Errorf("seen in %v", since)
		}
	})
}

// An old entry's place is taken by an address that needs one, and only then is a table full.
func TestOldEntriesGiveWay(t *testing.T) {
	var counts Counts
	x := New(1, 10*units.Second, &counts)
	n := wire.MAC(x.Capacity())
	for m := range n {
		x.Learn(0x0200_0000_0000+m, 1, 0)
	}
	if x.Learn(0x0200_0000_1000, 2, 10); x.Find(0x0200_0000_1000, 10) != 0 || counts.Unlearned.Load() != 1 {
		t.Errorf("a full table has %v, and was full %d times", x.Find(0x0200_0000_1000, 10), counts.Unlearned.Load())
	}
	if x.Learn(0x0200_0000_1000, 2, 11); x.Find(0x0200_0000_1000, 11).Value() != 2 || counts.Unlearned.Load() != 1 {
		t.Errorf("beside old entries: %v, full %d times", x.Find(0x0200_0000_1000, 11), counts.Unlearned.Load())
	}
}
