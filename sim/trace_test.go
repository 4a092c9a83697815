package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// hashed is all that the trace hash has of one.
type hashed struct {
	at     units.Time
	port   int
	length uint16
	bytes  [64]byte
}

// hashOf is the trace hash of arrivals, dealt out to two parts.
func hashOf(t rapid.TB, list []hashed) uint64 {
	t.Helper()
	w := New()
	second := &part{pool: w.pool}
	w.parts = append(w.parts, second)
	for i := range list {
		a := &list[i]
		f, ok := w.pool.Alloc(int(a.length))
		if !ok {
			t.Fatal("no buffer")
		}
		copy(w.pool.Header(f), a.bytes[:])
		p := w.parts[(a.port+i)%2]
		f.Digest = w.pool.Digest(&f)
		p.trace(a.at, a.port, f.Len, f.Digest)
	}
	hash, ok := w.Hash()
	if !ok {
		t.Fatal("no hash")
	}
	return hash
}

func drawArrivals(t *rapid.T) (list []hashed) {
	for i := range rapid.IntRange(2, 12).Draw(t, "arrivals") {
		a := hashed{at: units.Time(rapid.Int64Range(0, 1e12).Draw(t, "time")), port: i, length: rapid.SampledFrom([]uint16{58, 62, 78, 1058, 9000}).Draw(t, "length")}
		for k := range a.bytes {
			a.bytes[k] = byte(rapid.SampledFrom([]int{0, 1, 2, 3, 0x45, 0xFF}).Draw(t, "byte"))
		}
		list = append(list, a)
	}
	return list
}

// The hash is the same in whatever order arrivals are added, by whichever part, and
// another if anything about one of them is.
func TestWhatTheHashSees(t *testing.T) {
	if got := hashOf(t, nil); got != emptyHash {
		t.Errorf("%#x of nothing", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		list := drawArrivals(t)
		want := hashOf(t, list)
		mixed := slices.Clone(list)
		for i := range mixed {
			k := rapid.IntRange(0, i).Draw(t, "swap")
			mixed[i], mixed[k] = mixed[k], mixed[i]
		}
		if got := hashOf(t, mixed); got != want {
			t.Fatalf("%#x in another order, %#x", got, want)
		}
		i := rapid.IntRange(0, len(list)-1).Draw(t, "which")
		k := (i + 1) % len(list)
		for what, change := range map[string]func(list []hashed) []hashed{
			"one more":        func(l []hashed) []hashed { return append(l, l[i]) },
			"one less":        func(l []hashed) []hashed { return slices.Delete(l, i, i+1) },
			"later":           func(l []hashed) []hashed { l[i].at++; return l },
			"another port":    func(l []hashed) []hashed { l[i].port += len(l); return l },
			"longer":          func(l []hashed) []hashed { l[i].length++; return l },
			"marked":          func(l []hashed) []hashed { l[i].bytes[15] ^= 1; return l }, // IPv4's ECN field
			"more time alive": func(l []hashed) []hashed { l[i].bytes[20] ^= 0x40; return l },
			"for another":     func(l []hashed) []hashed { l[i].bytes[5] ^= 1; return l },     // Ethernet address
			"from another":    func(l []hashed) []hashed { l[i].bytes[29] ^= 1; return l },    // IPv4 address
			"another path":    func(l []hashed) []hashed { l[i].bytes[35] ^= 1; return l },    // UDP source port
			"another pair":    func(l []hashed) []hashed { l[i].bytes[49] ^= 1; return l },    // of the BTH
			"another number":  func(l []hashed) []hashed { l[i].bytes[53] ^= 0x80; return l }, // of the BTH
			"times exchanged": func(l []hashed) []hashed { l[i].at, l[k].at = l[k].at, l[i].at; return l },
			"ports exchanged": func(l []hashed) []hashed { l[i].port, l[k].port = l[k].port, l[i].port; return l },
			"frames exchanged": func(l []hashed) []hashed {
				l[i].bytes, l[k].bytes = l[k].bytes, l[i].bytes
				return l
			},
			"marks exchanged": func(l []hashed) []hashed {
				l[i].bytes[15], l[k].bytes[15] = l[k].bytes[15], l[i].bytes[15]
				return l
			},
			"one later, one earlier": func(l []hashed) []hashed { l[i].at += 800; l[k].at -= 800; return l },
		} {
			other := change(slices.Clone(list))
			if same := sameArrivals(list, other); same != (hashOf(t, other) == want) {
				t.Fatalf("%s: the arrivals are the same: %v, and the hash says otherwise", what, same)
			}
		}
	})
}

// sameArrivals reports whether two lists are of the same arrivals, as far as the hash
// is to see them.
func sameArrivals(a, b []hashed) bool {
	count := map[hashed]int{}
	for i, list := range [][]hashed{a, b} {
		for _, x := range list {
			clear(x.bytes[58:])
			count[x] += 1 - 2*i
		}
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// Each bit of all that is hashed makes another hash, and frames that are too short for
// their bytes to be read count, too.
func TestEveryBitCounts(t *testing.T) {
	plain := hashed{at: 2 * units.Second, port: 3, length: 1024 + 62}
	seen := map[uint64]string{hashOf(t, []hashed{plain}): "nothing"}
	see := func(what string, a hashed) {
		hash := hashOf(t, []hashed{a})
		if seen[hash] != "" {
			t.Errorf("%s and %s: one hash", what, seen[hash])
		}
		seen[hash] = what
	}
	for bit := range 62 {
		a := plain
		a.at ^= 1 << bit
		see("time", a)
	}
	for bit := range 20 {
		a := plain
		a.port ^= 1 << bit
		see("port", a)
	}
	for bit := range 10 {
		a := plain
		a.length ^= 1 << bit
		see("length", a)
	}
	for i := range 58 {
		for bit := range 8 {
			a := plain
			a.bytes[i] = 1 << bit
			see("byte", a)
		}
	}
	for _, length := range []uint16{14, 34, 57} {
		a := plain
		a.length = length
		see("a short frame", a)
		a.at++
		see("a short frame, later", a)
		a.bytes[length-1] = 1
		see("a short frame with another end", a)
	}
	if len(seen) != 1+62+20+10+58*8+9 {
		t.Errorf("%d hashes", len(seen))
	}
}
