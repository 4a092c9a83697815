package fabric

import (
	"sync"
	"testing"
)

// Pools that have frames of each other read what the other wrote, and however long one
// allocates what the other frees, there is not more memory than for the frames in use.
func TestPoolsShareFrames(t *testing.T) {
	a := NewHeaderPool()
	b := a.Another(new(sync.Mutex))
	slots := a.slots()
	inUse := 3 * slots
	var way []Frame
	most := 0
	for i := range 20 * slots {
		f, ok := a.Alloc(64)
		if !ok {
			t.Fatal("a pool that grows is empty")
		}
		a.Header(f)[0], a.Header(f)[1] = byte(i), byte(i>>8)
		if way = append(way, f); len(way) == inUse {
			f, i := way[0], i+1-inUse
			way = way[1:]
			b.Fetch(f.Ref)
			if h := b.Header(f); h[0] != byte(i) || h[1] != byte(i>>8) {
				t.Fatalf("frame %d has bytes %d and %d", i, h[0], h[1])
			}
			b.Free(f)
			b.Share()
		}
		if held := a.InUse() + b.InUse(); held != len(way) {
			t.Fatalf("%d frames are in use, not %d", held, len(way))
		}
		most = max(most, len(a.pieces))
	}
	if limit := inUse/slots + 3; most > limit {
		t.Errorf("%d pieces for %d frames, want %d at most", most, inUse, limit)
	}
}

// Bytes are those of Header.
func TestBytes(t *testing.T) {
	p := NewHeaderPool()
	for _, length := range []int{0, 1, 60, HeaderLen, 9000} {
		f, _ := p.Alloc(length)
		if h, b := p.Header(f), p.Bytes(&f); len(h) != len(b) || len(h) > 0 && &h[0] != &b[0] {
			t.Errorf("%d bytes: %d at hand, Header has %d", length, len(b), len(h))
		}
	}
}
