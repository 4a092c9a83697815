package pfc

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

const src wire.MAC = 0x0200_0000_00AA

// A PFC frame byte by byte, from IEEE 802.1Q clause 36: XOFF of 3 for 65535
// quanta, XON of 4.
func TestFrameBytes(t *testing.T) {
	want, _ := hex.DecodeString("0180c2000001" + "0200000000aa" + "8808" + "0101" + "0018" +
		"000000000000ffff0000000000000000" + "0000000000000000000000000000000000000000000000000000")
	f := Frame{Enable: 0x18}
	f.Quanta[3] = MaxQuanta
	got := bytes.Repeat([]byte{0xEE}, FrameLen)
	f.Encode(got, src)
	if !bytes.Equal(got, want) {
		t.Fatalf("\n% x\n% x", got, want)
	}
	global := Frame{Global: true}
	global.Quanta[0] = 0x1234
	global.Encode(got, src)
	if got[14] != 0 || got[15] != 1 || got[16] != 0x12 || got[17] != 0x34 || got[18] != 0 {
		t.Fatalf("% x", got)
	}
}

// A PAUSE has one time, which is that of all priorities (IEEE 802.3 annex 31B): byte by byte, with what pads it.
func TestPauseStopsAll(t *testing.T) {
	b, _ := hex.DecodeString("0180c2000001" + "0200000000aa" + "8808" + "0001" + "1234" + strings.Repeat("ee", 42))
	var f Frame
	const q = 0x1234
	want := Frame{Global: true, Enable: 0xFF, Quanta: [8]uint16{q, q, q, q, q, q, q, q}}
	if err := f.Decode(b); err != nil || f != want {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestFrameRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f, g Frame
		f.Enable = rapid.Uint8().Draw(t, "enable")
		for i := range f.Quanta {
			f.Quanta[i] = rapid.Uint16().Draw(t, "quanta")
		}
		var b [FrameLen]byte
		f.Encode(b[:], src)
		if err := g.Decode(b[:]); err != nil || f != g {
			t.Fatalf("%+v -> %+v, %v", f, g, err)
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	var f Frame
	b := make([]byte, FrameLen)
	(&Frame{Enable: 1}).Encode(b, src)
	for n := range FrameLen {
		if err := f.Decode(b[:n]); !errors.Is(err, ErrShort) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
	b[15] = 2
	if err := f.Decode(b); !errors.Is(err, ErrOpcode) {
		t.Fatal(err)
	}
}

func FuzzDecode(f *testing.F) {
	b := make([]byte, FrameLen)
	(&Frame{Enable: 0xFF}).Encode(b, src)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var frame Frame
		if frame.Decode(b) == nil && !frame.Global {
			again := make([]byte, FrameLen)
			frame.Encode(again, src)
			if !bytes.Equal(again[14:16], b[14:16]) || again[17] != b[17] || !bytes.Equal(again[18:34], b[18:34]) {
				t.Fatalf("% x\n% x", b, again)
			}
		}
	})
}

func TestQuanta(t *testing.T) {
	for _, c := range []struct {
		q    uint16
		rate units.Rate
		want units.Time
	}{{1, 10 * units.Gbps, 51_200}, {1, 40 * units.Gbps, 12_800}, {1, 100 * units.Gbps, 5_120}, {65535, 40 * units.Gbps, 838_848_000}} {
		if got := Duration(c.q, c.rate); got != c.want {
			t.Errorf("%d quanta at %v: %v, want %v", c.q, c.rate, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		rate := units.Rate(rapid.Int64Range(1e6, 4e11).Draw(t, "rate"))
		q := rapid.Uint16Range(1, MaxQuanta).Draw(t, "q")
		d := Duration(q, rate)
		if got := Quanta(d, rate); got != q {
			t.Fatalf("Quanta(%v) = %d, want %d", d, got, q)
		}
	})
}

func xoff(q uint16, ps ...int) *Frame {
	f := &Frame{}
	for _, p := range ps {
		f.Enable |= 1 << p
		f.Quanta[p] = q
	}
	return f
}

func TestPauseEndsByXONOrByTimer(t *testing.T) {
	const rate = 10 * units.Gbps
	e := NewEgress(0b11000, rate)
	if e.Receive(100, xoff(10, 3)); e.Paused() != 0b01000 || e.Next() != 100+512_000 {
		t.Fatalf("paused %b until %v", e.Paused(), e.Next())
	}
	// By the timer, at its exact time and not before.
	if r := e.Expire(100 + 512_000 - 1); r != 0 {
		t.Fatal("resumed early")
	}
	if r := e.Expire(1_000_000); r != 0b01000 || e.Paused() != 0 || e.Next() != units.Never {
		t.Fatalf("timer: resumed %b", r)
	}
	// By XON; an XON without a pause is no transition.
	e.Receive(2_000_000, xoff(10, 3, 4))
	if r := e.Receive(2_100_000, xoff(0, 3)); r != 0b01000 || e.Paused() != 0b10000 {
		t.Fatalf("XON: resumed %b, paused %b", r, e.Paused())
	}
	if r := e.Receive(2_200_000, xoff(0, 3)); r != 0 {
		t.Fatal("XON of a running priority is a transition")
	}
	// A refresh prolongs.
	e.Receive(2_300_000, xoff(10, 4))
	if e.Next() != 2_300_000+512_000 {
		t.Fatalf("refresh: %v", e.Next())
	}
	c := e.Counters(2_400_000)
	if c.Paused[3] != 512_000+100_000 || c.Paused[4] != 400_000 || c.Transitions[3] != 2 || c.Transitions[4] != 0 ||
		c.Pauses[3] != 2 || c.Pauses[4] != 2 || c.Resumes[3] != 2 {
		t.Fatalf("%+v", c)
	}
}

// A port that is to obey PFC for other priorities goes on with those that nobody can pause any more; with none it obeys
// PAUSE, which counts in place of PFC, so that no pause lasts. At another rate the pauses to come have other lengths.
func TestObeysOthers(t *testing.T) {
	for _, c := range []struct{ before, after, stay uint8 }{
		{0b11000, 0b11000, 0b11000}, {0b11000, 0b01000, 0b01000}, {0b11000, 0b01100, 0b01000},
		{0b11000, 0b11111, 0b11000}, {0b11000, 0, 0}, {0, 0b11000, 0},
	} {
		e := NewEgress(c.before, 10*units.Gbps)
		if c.before == 0 {
			e.Receive(0, &Frame{Global: true, Enable: 0xFF, Quanta: [8]uint16{10, 10, 10, 10, 10, 10, 10, 10}})
		}
		e.Receive(0, xoff(10, 3))
		e.Receive(100, xoff(20, 4))
		was := e.Paused()
		resumed := e.Obey(7, c.after)
		if e.Paused() != c.stay || resumed != was&^c.stay {
			t.Errorf("from %08b to %08b: %08b are paused, %08b resumed", c.before, c.after, e.Paused(), resumed)
		}
		for p := range Classes {
			if from, until := e.Last(p); resumed>>p&1 != 0 && (until != 7 || e.Counters(9).Transitions[p] != 1) {
				t.Errorf("priority %d, which resumed at 7, was paused from %v to %v", p, from, until)
			}
		}
		if c.stay == 0 != (e.Next() == units.Never) {
			t.Errorf("from %08b to %08b: a pause ends at %v", c.before, c.after, e.Next())
		}
		if e.Receive(1000, xoff(1, 2)); e.Paused()&^c.stay != c.after&0b100 {
			t.Errorf("it obeys %08b, and is paused: %08b", c.after, e.Paused())
		}
	}
	e := NewEgress(1<<3|1<<4, 10*units.Gbps)
	e.Receive(0, xoff(10, 3))
	e.SetRate(40 * units.Gbps)
	if e.Receive(0, xoff(10, 4)); e.Ends(3) != 512_000 || e.Ends(4) != 128_000 || e.Next() != 128_000 {
		t.Errorf("pauses of 10 quanta end at %v and, at four times the rate, at %v", e.Ends(3), e.Ends(4))
	}
}

// An XOFF, its refreshes and the XON are counted each, as is the pause.
func TestIngressCountsWhatItSends(t *testing.T) {
	th := [Classes]Thresholds{3: {XOFF: 2000, XON: 1000, Headroom: 5000}}
	g := NewIngress(IngressConfig{Enabled: 1 << 3, Thresholds: th, Rate: 10 * units.Gbps, Pause: units.Microsecond})
	g.Admit(3, 3000)
	var f Frame
	for range 3 { // every half microsecond
		if now := g.Next(0); !g.Poll(now, &f) || f.Quanta[3] == 0 {
			t.Fatalf("at %v it sends %+v", now, f)
		}
	}
	g.Release(3, 3000)
	if !g.Poll(5*units.Microsecond, &f) || f.Quanta[3] != 0 {
		t.Fatalf("%+v", f)
	}
	c := g.Counters(units.Second)
	if c.Pauses[3] != 3 || c.Resumes[3] != 1 || c.Transitions[3] != 1 || c.Paused[3] != 5*units.Microsecond ||
		g.Sent()[3] != 3 {
		t.Errorf("%+v", c)
	}
}

// A pause is over when its time is, and counts as that, also where nothing waits and nobody asks.
func TestPauseIsOverWhenItsTimeIs(t *testing.T) {
	e := NewEgress(1<<3, 10*units.Gbps)
	e.Receive(100, xoff(10, 3)) // 512 ns
	c := e.Counters(100 + 512_000 - 1)
	if c.PausedNow != 1<<3 || c.Transitions[3] != 0 || c.Paused[3] != 512_000-1 {
		t.Errorf("before: %+v", c)
	}
	for range 2 {
		c = e.Counters(units.Second)
		if c.PausedNow != 0 || c.Transitions[3] != 1 || c.Paused[3] != 512_000 {
			t.Errorf("after: %+v", c)
		}
	}
	if e.Expire(units.Second); e.Counters(units.Second) != c {
		t.Errorf("that somebody asked changes it: %+v", e.Counters(units.Second))
	}
}

func TestPauseOfOthersIsIgnored(t *testing.T) {
	e := NewEgress(1<<3, 10*units.Gbps)
	e.Receive(0, xoff(5, 0, 1))
	e.Receive(0, &Frame{Global: true, Enable: 0xFF, Quanta: [8]uint16{5, 5, 5, 5, 5, 5, 5, 5}})
	if e.Paused() != 0 || e.Counters(0).Ignored != 2 {
		t.Fatalf("paused %b", e.Paused())
	}
	e.Receive(0, xoff(5, 1, 3))
	e.Receive(0, xoff(0, 1))
	c := e.Counters(0)
	if want := [Classes]uint64{0: 1, 1: 3, 3: 1}; [Classes]uint64{c.Received(0), c.Received(1), c.Received(2), c.Received(3)} != want || c.Ignored != 3 {
		t.Errorf("%d ignored, and received %+v, expected %v by priority", c.Ignored, c, want)
	}
	plain := NewEgress(0, 10*units.Gbps)
	plain.Receive(0, &Frame{Global: true, Enable: 0xFF, Quanta: [8]uint16{5, 5, 5, 5, 5, 5, 5, 5}})
	if plain.Paused() != 0xFF {
		t.Fatal("PAUSE without PFC must stop everything")
	}
}

// slowIngress is the rule book, byte by byte: a list of what is buffered.
type slowIngress struct {
	buffered   []int
	peerPaused bool
	last       units.Time // of the last XOFF
}

func (s *slowIngress) sum() (n int) {
	for _, b := range s.buffered {
		n += b
	}
	return n
}

func TestIngressAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		th := Thresholds{XOFF: 10_000, XON: units.Size(rapid.IntRange(0, 10_000).Draw(t, "xon")), Headroom: 5_000}
		const rate, pause = 10 * units.Gbps, 102400 * units.Nanosecond // 2000 quanta
		fast := NewIngress(IngressConfig{Enabled: 1 << 3, Thresholds: [8]Thresholds{3: th}, Rate: rate, Pause: pause})
		var slow slowIngress
		now, most := units.Time(0), units.Size(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += units.Time(rapid.Int64Range(0, int64(60*units.Microsecond)).Draw(t, "dt"))
			switch rapid.IntRange(0, 2).Draw(t, "what") {
			case 0:
				n := rapid.IntRange(60, 4000).Draw(t, "n")
				fits := slow.sum()+n <= 15_000
				if fast.Admit(3, int64(n)) != fits {
					t.Fatalf("Admit(%d) at %d bytes: %v", n, slow.sum(), !fits)
				}
				if fits {
					slow.buffered = append(slow.buffered, n)
				}
			case 1:
				if len(slow.buffered) > 0 {
					fast.Release(3, int64(slow.buffered[0]))
					slow.buffered = slow.buffered[1:]
				}
			}
			if int(fast.Bytes(3)) != slow.sum() {
				t.Fatalf("%d bytes, want %d", fast.Bytes(3), slow.sum())
			}
			used := units.Size(max(0, slow.sum()-int(th.XOFF)))
			most = max(most, used)
			if c := fast.Counters(now); c.Headroom[3] != used || c.HeadroomMax[3] != most {
				t.Fatalf("headroom: %v used, at most %v; want %v and %v", c.Headroom[3], c.HeadroomMax[3], used, most)
			}
			wantXOFF := !slow.peerPaused && slow.sum() > int(th.XOFF) ||
				slow.peerPaused && slow.sum() > int(th.XON) && now-slow.last >= pause/2
			wantXON := slow.peerPaused && slow.sum() <= int(th.XON)
			if due := fast.Next(now) <= now; due != (wantXOFF || wantXON) {
				t.Fatalf("due %v, want XOFF %v XON %v", due, wantXOFF, wantXON)
			}
			var f Frame
			sent := fast.Poll(now, &f)
			if sent != (wantXOFF || wantXON) || sent && (f.Quanta[3] == 0) != wantXON {
				t.Fatalf("sent %v %+v, want XOFF %v XON %v", sent, f, wantXOFF, wantXON)
			}
			if wantXOFF {
				slow.peerPaused, slow.last = true, now
			}
			if wantXON {
				slow.peerPaused = false
			}
			if slow.peerPaused && (fast.Next(now) > slow.last+pause/2) {
				t.Fatalf("refresh at %v, pause ends at %v", fast.Next(now), slow.last+pause)
			}
		}
	})
}

func TestReleaseTellsOfXON(t *testing.T) {
	g := NewIngress(IngressConfig{Enabled: 1, Thresholds: [8]Thresholds{{XOFF: 1000, XON: 500, Headroom: 1000}}, Rate: units.Gbps})
	var f Frame
	g.Admit(0, 1500)
	if !g.Poll(0, &f) || g.PeerStopped() != 1 || g.Counters(0).PausedNow != 1 || g.Counters(0).Headroom[0] != 500 {
		t.Fatal("no XOFF")
	}
	if g.Release(0, 900) || !g.Release(0, 100) {
		t.Fatal("XON is due at 500 bytes, not above")
	}
	if !g.Poll(7, &f) || f.Enable != 1 || f.Quanta[0] != 0 || g.Counters(9).Paused[0] != 7 || g.Counters(9).Peak[0] != 1500 || g.Counters(9).PausedNow != 0 || g.Counters(9).Headroom[0] != 0 || g.Counters(9).HeadroomMax[0] != 500 {
		t.Fatalf("%+v", f)
	}
}

// DCQCN's testbed reserved 22.4 KB at 40 Gbit/s with 1.5 KB frames and some
// metres of cable; the formula must be in that neighbourhood and grow by both
// directions of a longer cable.
func TestHeadroom(t *testing.T) {
	h := Headroom(40*units.Gbps, 1500*units.Nanosecond, 0, 1500)
	if h < 20*units.KB || h > 30*units.KB {
		t.Errorf("40 Gbit/s, 300 m: %v", h)
	}
	longer := Headroom(10*units.Gbps, 240*units.Microsecond, 0, 1500) - Headroom(10*units.Gbps, 0, 0, 1500)
	if longer != 600*units.KB {
		t.Errorf("480 us at 10 Gbit/s: %v", longer)
	}
	if PeerResponse(10*units.Gbps) != 4288 || PeerResponse(11*units.Gbps) != 5120 || PeerResponse(units.Rate(8e11)) != 57920 {
		t.Error("peer response")
	}
}

func TestThresholdsValidate(t *testing.T) {
	for _, bad := range []Thresholds{{}, {XOFF: -1, XON: -1}, {XOFF: 1, XON: 2}, {XOFF: 1, XON: -1}, {XOFF: 1, Headroom: -1}, {XOFF: 1, Alpha: -0.1}, {XOFF: 1, Alpha: 1024.1}, {XOFF: 1, Alpha: math.NaN()}} {
		if bad.Validate() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
	for _, good := range []Thresholds{{XOFF: 5, XON: 5}, {XOFF: 1}, {XOFF: 1, Alpha: 1024}} {
		if err := good.Validate(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
}

func TestNothingAllocates(t *testing.T) {
	g := NewIngress(IngressConfig{Enabled: 1, Thresholds: [8]Thresholds{{XOFF: 1000, Headroom: 1000}}, Rate: units.Gbps})
	e := NewEgress(1, units.Gbps)
	b := make([]byte, FrameLen)
	if n := testing.AllocsPerRun(100, func() {
		var f Frame
		g.Admit(0, 1500)
		g.Poll(0, &f)
		f.Encode(b, src)
		_ = f.Decode(b)
		e.Receive(0, &f)
		g.Release(0, 1500)
		g.Poll(1, &f)
		e.Receive(1, &f)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// anyIngress is a port in any state, and its pool, which others use too.
func anyIngress(t *rapid.T) (*Ingress, *Pool) {
	pool := NewPool(60_000, rapid.Bool().Draw(t, "shared"))
	c := IngressConfig{Enabled: 1<<3 | 1<<4, Rate: 10 * units.Gbps, Pool: pool}
	for _, p := range []int{3, 4} {
		c.Thresholds[p] = Thresholds{XOFF: 10_000, XON: 4_000, Headroom: 6_000, Alpha: rapid.SampledFrom([]float64{0, 0.125, 1, 8}).Draw(t, "alpha")}
	}
	g := NewIngress(c)
	pool.Take(rapid.Int64Range(0, 60_000).Draw(t, "others"))
	for range rapid.IntRange(0, 60).Draw(t, "steps") {
		p, n := uint8(rapid.IntRange(3, 4).Draw(t, "priority")), rapid.Int64Range(60, 3000).Draw(t, "n")
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			g.Release(p, min(n, int64(g.Bytes(p))))
		case 1:
			g.Poll(0, new(Frame))
		default:
			g.Admit(p, n)
		}
	}
	return g, pool
}

// For whatever there is Room, in however many frames and whatever others take of the pool: nothing of it comes into
// headroom, and nothing asks for an XOFF. It is as much as may be: little more would.
func TestRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, pool := anyIngress(t)
		others := rapid.Int64Range(0, 20_000).Draw(t, "meanwhile")
		room, head := g.Room(3, others), g.Counters(0).Headroom[3]
		pool.Add(min(others, pool.Free()))
		if together := rapid.Bool().Draw(t, "together"); together && room > 0 {
			g.ChargeAll(3, room)
		} else {
			for left := room; left > 0; {
				n := min(left, rapid.Int64Range(60, 3000).Draw(t, "n"))
				if !g.Charge(3, n) {
					t.Fatalf("%d of the %d bytes do not fit", left, room)
				}
				left -= n
			}
		}
		if room > 0 && g.class[3].base > g.raised(&g.class[3], g.class[3].xoff) {
			t.Fatalf("with %d bytes more XOFF is exceeded by %d", room, g.class[3].base-g.raised(&g.class[3], g.class[3].xoff))
		}
		if g.Counters(0).Headroom[3] != head {
			t.Fatal("headroom was touched")
		}
		for range 20 {
			if g.Counters(0).Headroom[3] == head {
				g.Admit(3, 1)
			}
		}
		if n := g.Counters(0).Headroom[3]; n == head && g.class[3].alpha < 8 && room >= 0 && head < 6000 {
			t.Fatalf("there was room for more than %d bytes", room)
		}
	})
}

// What fits is that for which there is Room.
func TestFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, _ := anyIngress(t)
		room := g.Room(3, 0)
		for _, n := range []int64{1, 60, 1500, 9000, room - 1, room, room + 1, rapid.Int64Range(1, 40_000).Draw(t, "n")} {
			if n > 0 && g.Fits(3, n) != (n <= room) {
				t.Fatalf("%d bytes fit: %v, and there is room for %d", n, g.Fits(3, n), room)
			}
		}
	})
}

// A plain release is a release: where it is one it does the same, and else it does nothing.
func TestReleasePlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, pool := anyIngress(t)
		if g.Bytes(3) == 0 {
			return
		}
		twin, twinPool := *g, *pool
		twin.pool = &twinPool
		n := rapid.Int64Range(1, int64(g.Bytes(3))).Draw(t, "n")
		if !g.ReleaseFast(3, n) {
			if *pool != twinPool || g.class != twin.class {
				t.Fatal("it is refused, and changes something")
			}
			return
		}
		if twin.Release(3, n) || g.class != twin.class || g.peerStopped != twin.peerStopped || g.xoffCheck != twin.xoffCheck || *pool != twinPool {
			t.Fatalf("%+v, want %+v", g.class, twin.class)
		}
	})
}

// What leaves as it comes was there: the watermark tells.
func TestPassIsSeen(t *testing.T) {
	c := IngressConfig{Enabled: 1 << 3, Rate: 10 * units.Gbps}
	c.Thresholds[3] = Thresholds{XOFF: 5000, XON: 3000, Headroom: 10_000}
	in := NewIngress(c)
	in.Admit(3, 1000)
	if in.Note(3, 1500); in.Bytes(3) != 1000 || in.Counters(0).Peak[3] != 2500 {
		t.Errorf("%v are held, the most were %v", in.Bytes(3), in.Counters(0).Peak[3])
	}
}

// The reserved half of the vector of priorities does not count, nor does MAC control from a group (IEEE 802.1Q clause
// 36.1.3.3, IEEE 802.3 clause 3.2.3).
func TestWhatOfAFrameCounts(t *testing.T) {
	b := make([]byte, FrameLen)
	(&Frame{Enable: 1 << 3, Quanta: [Classes]uint16{3: 7}}).Encode(b, 0x0200_0000_0001)
	b[16] = 0xFF
	var f Frame
	if err := f.Decode(b); err != nil || f.Enable != 1<<3 {
		t.Errorf("%v, priorities %08b", err, f.Enable)
	}
	for h, want := range map[wire.Header]bool{
		{Dst: Destination, Src: 0x0200_0000_0001}:      true,
		{Dst: Destination, Src: 0x0300_0000_0001}:      false,
		{Dst: 0x0200_0000_0002, Src: 0x0200_0000_0001}: false,
	} {
		if Addressed(&h) != want {
			t.Errorf("from %v to %v: %v", h.Src, h.Dst, !want)
		}
	}
}

// Quanta are the fewest that pause for a time, or the most there are.
func TestFewestQuanta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := units.Gbps * rapid.SampledFrom([]units.Rate{1, 10, 25, 400}).Draw(t, "rate")
		d := units.Time(rapid.Int64Range(1, int64(50*units.Millisecond)).Draw(t, "time"))
		if rapid.Bool().Draw(t, "just above") {
			d = Duration(uint16(rapid.IntRange(1, MaxQuanta).Draw(t, "quanta")), rate) + 1
		}
		q := Quanta(d, rate)
		if q < MaxQuanta && Duration(q, rate) < d || q > 1 && Duration(q-1, rate) >= d {
			t.Errorf("%d quanta, %v, for %v", q, Duration(q, rate), d)
		}
	})
}

// When the clock is set back, what was counted and what is due stay as far from now as they were.
func TestTimesMove(t *testing.T) {
	const by = 5 * units.Second
	now := 6 * units.Second
	e := NewEgress(1<<3|1<<4, 10*units.Gbps)
	e.Receive(now, &Frame{Enable: 1<<3 | 1<<4, Quanta: [Classes]uint16{3: 1000, 4: 500}})
	e.Receive(now+units.Microsecond, &Frame{Enable: 1 << 4})
	w := NewWatchdog(WatchdogConfig{Detect: units.Microsecond, Restore: units.Microsecond}, 1<<3)
	h := NewHistory(4)
	h.add(Pause{From: now, Until: now + 1, Priority: 3})
	h.add(Pause{From: now + 1, Until: units.Never, Priority: 4})
	now += 2 * units.Microsecond
	w.Update(now, &e)
	was, storms, next, ends, look := e.Counters(now), w.Counters(now), e.Next(), e.Ends(3), w.Next()
	from, until := e.Last(4)
	e.Rebase(by)
	w.Rebase(by)
	h.Rebase(by)
	now -= by
	if got, _ := h.Ended(nil); len(got) != 2 || got[0] != (Pause{From: units.Second, Until: units.Second + 1, Priority: 3}) || got[1] != (Pause{From: units.Second + 1, Until: units.Never, Priority: 4}) {
		t.Errorf("the pauses were %+v", got)
	}
	if got := e.Counters(now); got != was {
		t.Errorf("counted are %+v, were %+v", got, was)
	}
	if got := w.Counters(now); got != storms || storms.Storm != 1<<3 {
		t.Errorf("storms are %+v, were %+v", got, storms)
	}
	if a, b := e.Last(4); a != from-by || b != until-by {
		t.Errorf("the last pause is from %v until %v, was from %v until %v", a, b, from, until)
	}
	if e.Next() != next-by || e.Ends(3) != ends-by || w.Next() != look-by {
		t.Errorf("due at %v, %v and %v, were at %v, %v and %v", e.Next(), e.Ends(3), w.Next(), next, ends, look)
	}
	if later := now + units.Microsecond; w.Counters(later).Time[3] != storms.Time[3]+units.Microsecond {
		t.Errorf("a storm lasts %v, and a microsecond before %v", w.Counters(later).Time[3], storms.Time[3])
	}
}
