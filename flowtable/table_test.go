package flowtable

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// A hash that puts many keys into few places, to have long probes.
func clumsy(k int) uint64 { return uint64(k%3) | uint64(k%5)<<32 }

func mixed(k int) uint64 {
	h := uint64(k) * 0x9E3779B97F4A7C15
	return h ^ h>>29
}

func TestAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hash := rapid.SampledFrom([]func(int) uint64{clumsy, mixed}).Draw(t, "hash")
		capacity := rapid.IntRange(1, 12).Draw(t, "capacity")
		table, twin := New(capacity, hash), NewElastic(capacity, hash)
		slots, seen := map[int]int{}, map[int]units.Time{}
		for now := units.Time(1); now < units.Time(rapid.IntRange(2, 300).Draw(t, "steps")); now++ {
			k := rapid.IntRange(0, 20).Draw(t, "key")
			have, known := slots[k]
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0, 1:
				s, fresh := table.Insert(k, now)
				if slot, isFresh := twin.Insert(k, now); slot != s || isFresh != fresh || s != None && s >= twin.Room() {
					t.Fatalf("Insert(%d) = %d, %v, an elastic table %d, %v with %d places", k, s, fresh, slot, isFresh, twin.Room())
				}
				if full := !known && len(slots) == capacity; (s == None) != full || fresh != (!known && !full) || known && s != have {
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
			used := map[int]bool{}
			for k := range 21 {
				s, ok := slots[k]
				if got := twin.Lookup(k); got != table.Lookup(k) {
					t.Fatalf("Lookup(%d) = %d in an elastic table, %d in the other", k, got, table.Lookup(k))
				}
				if got := table.Lookup(k); ok && (got != s || table.Key(s) != k || used[s]) || !ok && got != None {
					t.Fatalf("Lookup(%d) = %d, want %d %v", k, got, s, ok)
				}
				used[s] = ok || used[s]
			}
			if table.Len() != len(slots) {
				t.Fatal(table.Len())
			}
			if twin.Len() != len(slots) || twin.Cap() != capacity || twin.Room() > capacity {
				t.Fatal(twin.Len(), twin.Cap(), twin.Room())
			}
		}
	})
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
	k := 0
	if n := testing.AllocsPerRun(1000, func() {
		k++
		s, _ := table.Insert(k, units.Time(k))
		table.Lookup(k - 1)
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
