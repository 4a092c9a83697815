package marking

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// Who is the root, who a victim, and both sides of every limit.
func TestIBMarks(t *testing.T) {
	plain := IBParams{Weight: 15, Reference: 16_000}
	set := func(change func(*IBParams)) IBParams {
		p := plain
		change(&p)
		return p
	}
	for _, c := range []struct {
		name   string
		p      IBParams
		resume int // frames that wait when the peer gives credits; -1: it does not
		left   units.Size
		size   int
		mark   Mark
	}{
		{"a sixteenth is left: not above", plain, -1, 1000, 500, Unchanged},
		{"a byte more", plain, -1, 1001, 500, Congestion},
		{"weight 1: fifteen sixteenths", set(func(p *IBParams) { p.Weight = 1 }), -1, 15_000, 500, Unchanged},
		{"weight 1, a byte more", set(func(p *IBParams) { p.Weight = 1 }), -1, 15_001, 500, Congestion},
		{"weight 0: never", set(func(p *IBParams) { p.Weight = 0 }), -1, 1_000_000, 500, Unchanged},
		{"short", set(func(p *IBParams) { p.PacketSize = 512 }), -1, 5000, 511, Unchanged},
		{"long enough", set(func(p *IBParams) { p.PacketSize = 512 }), -1, 5000, 512, Congestion},
		{"a victim", plain, 3, 5000, 500, Unchanged},
		{"a victim that is to mark", set(func(p *IBParams) { p.Victims = true }), 3, 5000, 500, Congestion},
		{"credits came, and nothing waited", plain, 0, 5000, 500, Congestion},
	} {
		b := NewIB(c.p)
		if c.resume >= 0 {
			b.Resume(0, Queue{Frames: c.resume})
		}
		if m := b.Dequeue(0, Queue{Bytes: c.left}, &Packet{Size: c.size}); m != c.mark {
			t.Errorf("%s: %d, want %d", c.name, m, c.mark)
		}
		// Only the first frame after the credits had waited for them.
		if m := b.Dequeue(0, Queue{Bytes: 1_000_000}, &Packet{Size: 9000}); (m == Congestion) != (c.p.Weight > 0) {
			t.Errorf("%s: the next one %d", c.name, m)
		}
	}
}

// ibFrame is a frame that left: what it left behind, and whether it had waited.
type ibFrame struct {
	left, size units.Size
	waited     bool
}

// slowIB judges a whole history at once: among the frames that could be marked it takes each (Rate+1)th.
func slowIB(p IBParams, history []ibFrame) (marked []bool) {
	marked = make([]bool, len(history))
	eligible := 0
	for i, f := range history {
		congested := p.Weight >= 1 && f.left > p.Reference*units.Size(16-p.Weight)/16
		root := !f.waited
		if congested && (root || p.Victims) && f.size >= p.PacketSize {
			marked[i] = eligible%(p.Rate+1) == 0
			eligible++
		}
	}
	return marked
}

func TestIBAgainstSlowTwin(t *testing.T) {
	seen := map[string]int{}
	thousands(t, func(t *rapid.T) {
		p := IBParams{
			Weight: rapid.IntRange(0, 15).Draw(t, "weight"), Reference: units.Size(rapid.IntRange(1, 100_000).Draw(t, "reference")),
			PacketSize: 64 * units.Size(rapid.IntRange(0, 30).Draw(t, "least")), Rate: rapid.IntRange(0, 4).Draw(t, "rate"), Victims: rapid.Bool().Draw(t, "victims"),
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		b := NewIB(p)
		var history []ibFrame
		var got []bool
		for range rapid.IntRange(1, 8).Draw(t, "runs") {
			sizes := rapid.SliceOfN(rapid.Uint16Range(64, 4096), 1, 20).Draw(t, "sizes")
			left := units.Size(rapid.IntRange(0, 120_000).Draw(t, "queue"))
			q := Queue{Bytes: left, Frames: len(sizes)}
			for _, n := range sizes {
				q.Bytes += units.Size(n)
			}
			waited := rapid.Bool().Draw(t, "waited")
			if waited {
				b.Resume(0, q)
			}
			together := rapid.Bool().Draw(t, "together")
			if together {
				m := b.DequeueRun(0, q, sizes)
				for i := range sizes {
					got = append(got, m>>i&1 != 0)
				}
				seen["marked"] += bits.OnesCount64(m)
			}
			for i, n := range sizes {
				q.Bytes -= units.Size(n)
				history = append(history, ibFrame{q.Bytes, units.Size(n), waited && i == 0})
				if !together {
					got = append(got, b.Dequeue(0, q, &Packet{Size: int(n)}) == Congestion)
				}
			}
		}
		for i, want := range slowIB(p, history) {
			if got[i] != want {
				t.Fatalf("%+v, frame %d of %+v: marked %v, want %v", p, i, history, got[i], want)
			}
			if history[i].waited && !want {
				seen["victim"]++
			}
		}
	})
	if seen["marked"] < 1000 || seen["victim"] < 1000 {
		t.Errorf("%v", seen)
	}
}

// Behind TCD's states a port that is in no pattern of waits marks as InfiniBand does, and what is told of credits
// reaches both.
func TestTCDOverIB(t *testing.T) {
	const T = 50 * us
	c := NewTCDOver(T, NewIB(IBParams{Weight: 15, Reference: 16_000}))
	judge := func(at units.Time, left units.Size) Mark {
		return c.Dequeue(at, Queue{Bytes: left, Frames: 9}, &Packet{Size: 1000})
	}
	if m := judge(0, 1001); m != Congestion || c.State() != TCDCongestion {
		t.Errorf("%d, state %d", m, c.State())
	}
	c.Resume(us, Queue{Bytes: 9000, Frames: 9})
	if m := judge(2*us, 8000); m != Undetermined || c.State() != TCDUndetermined {
		t.Errorf("%d, state %d", m, c.State())
	}
	if m := judge(us+T+1, 9000); m != Unchanged || c.State() != TCDCongestion { // it is the first since credits came that IB sees
		t.Errorf("%d, state %d", m, c.State())
	}
	if m := judge(us+T+2, 9000); m != Congestion {
		t.Errorf("%d", m)
	}
}
