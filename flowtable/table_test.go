package flowtable

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// Hashes that put many keys at the same few places, the first or the last, to have long searches that go round the end;
// or at both ends, where those that went round meet those that belong there.
func first(k int) uint64 { return uint64(k % 3) }
func last(k int) uint64  { return ^uint64(k % 3 << 60) }
func ends(k int) uint64 {
	if k%2 == 0 {
		return first(k)
	}
	return last(k)
}

func mixed(k int) uint64 {
	h := uint64(k) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

// sound says what is wrong with a table: every slot is either at its place or free once, every
// search finds what is there, and nothing else is left.
func (t *Table[K]) sound() error {
	used := 0
	for s, at := range t.slots {
		if at < 0 {
			continue
		}
		used++
		if p := t.places[at]; int(p.slot) != s+1 || t.find(p.key, t.home(t.hash(p.key))) != int(at) {
			return fmt.Errorf("slot %d at place %d: %+v", s, at, p)
		}
	}
	for s := t.free; s != None; s = None - 1 - int(t.slots[s]) {
		if used++; t.slots[s] >= 0 || used > len(t.slots) {
			return fmt.Errorf("slot %d is free, and is not", s)
		}
	}
	full := 0
	for _, p := range t.places {
		if p.slot != 0 {
			full++
		} else if p != (place[K]{}) {
			return fmt.Errorf("%+v is left", p)
		}
	}
	if used != len(t.slots) || full != t.count {
		return fmt.Errorf("%d of %d slots are known, %d places of %d flows in use", used, len(t.slots), full, t.count)
	}
	return nil
}

func TestAgainstMap(t *testing.T) { rapid.Check(t, againstMap) }
func FuzzAgainstMap(f *testing.F) { f.Fuzz(rapid.MakeFuzz(againstMap)) }

// A table, an elastic one and a map go through the same.
func againstMap(t *rapid.T) {
	hash := rapid.SampledFrom([]func(int) uint64{first, last, ends, mixed}).Draw(t, "hash")
	capacity := rapid.IntRange(0, 12).Draw(t, "capacity")
	table, twin := New(capacity, hash), NewElastic(capacity, hash)
	slots, seen := map[int]int{}, map[int]units.Time{}
	keys := make([]int, 0, 40) // more than LookupBurst does at a time
	for k := range cap(keys) {
		keys = append(keys, k%21)
	}
	got, twins := make([]int, len(keys)), make([]int, len(keys))
	for now := range units.Time(rapid.IntRange(1, 300).Draw(t, "steps")) {
		k := rapid.IntRange(0, 20).Draw(t, "key")
		have, known := slots[k]
		switch rapid.IntRange(0, 4).Draw(t, "what") {
		case 0, 1:
			s, fresh := table.Insert(k, now)
			if slot, isFresh := twin.Insert(k, now); slot != s || isFresh != fresh || s != None && s >= twin.Room() {
				t.Fatalf("Insert(%d) = %d, %v, an elastic table %d, %v with %d places", k, s, fresh, slot, isFresh, twin.Room())
			}
			full := !known && len(slots) == capacity
			if (s == None) != full || fresh != (!known && !full) || known && s != have {
				t.Fatalf("Insert(%d) = %d, %v", k, s, fresh)
			}
			if s != None {
				slots[k], seen[k] = s, now
			}
		case 2:
			if known {
				table.Delete(have)
				twin.Delete(have)
				delete(slots, k)
			}
		case 3:
			if known {
				table.Touch(have, now)
				seen[k] = now
			}
		case 4:
			if s := table.Expire(now-30, capacity); s != None {
				if seen[table.Key(s)] >= now-30 {
					t.Fatalf("%d expired, seen at %d of %d", s, seen[table.Key(s)], now)
				}
			} else {
				for k := range slots {
					if seen[k] < now-30 {
						t.Fatalf("%d, seen at %d, does not expire at %d", k, seen[k], now)
					}
				}
			}
		}
		table.LookupBurst(keys, got)
		twin.LookupBurst(keys, twins)
		for i, k := range keys {
			s, ok := slots[k]
			if !ok {
				s = None
			}
			if got[i] != s || twins[i] != s || table.Lookup(k) != s || twin.Lookup(k) != s || ok && table.Key(s) != k {
				t.Fatalf("%d: %d in a burst, %d alone, %d and %d in an elastic table, and not %d", k, got[i], table.Lookup(k), twins[i], twin.Lookup(k), s)
			}
		}
		for k, s := range slots {
			if table.Seen(s) != seen[k] {
				t.Fatalf("%d was seen at %d, and not at %d", k, seen[k], table.Seen(s))
			}
		}
		if table.Len() != len(slots) || twin.Len() != len(slots) || twin.Cap() != capacity || twin.Room() > capacity {
			t.Fatal(table.Len(), twin.Len(), twin.Cap(), twin.Room())
		}
		if err := errors.Join(table.sound(), twin.sound()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTouchKeepsAlive(t *testing.T) {
	table := New(4, mixed)
	s, _ := table.Insert(7, 1)
	table.Touch(s, 100)
	if table.Expire(50, 4) != None || table.Expire(101, 4) != s || table.Cap() != 4 {
		t.Fatal("age")
	}
}

func TestNothingAllocates(t *testing.T) {
	table := New(1000, mixed)
	k, keys, slots := 0, make([]int, 100), make([]int, 100)
	if n := testing.AllocsPerRun(1000, func() {
		k++
		s, _ := table.Insert(k, units.Time(k))
		table.Lookup(k - 1)
		table.LookupBurst(keys, slots)
		table.Expire(0, 8)
		if k%2 == 0 {
			table.Delete(s)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkLookup(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			table := New(n, mixed)
			for k := range n {
				table.Insert(k, 0)
			}
			k := 0
			for b.Loop() {
				if k += 7919; k >= n {
					k %= n
				}
				if table.Lookup(k) == None {
					b.Fatal(k)
				}
			}
		})
	}
}
