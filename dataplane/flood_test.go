package dataplane

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// Each limit lets its burst pass at once and then its rate, to the picosecond;
// what is beyond is counted, and the other kinds are not concerned.
func TestFloodLimits(t *testing.T) {
	group := packet(0, 9, 26, 0)
	wire.MAC(0x0100_5E00_0001).Put(group)
	broadcast := packet(0, 9, 26, 0)
	wire.Broadcast.Put(broadcast)
	frames := map[string][]byte{"broadcast": broadcast, "multicast": group, "unknown": packet(0, 9, 26, 0)}
	for name, limit := range map[string]struct {
		FloodLimit
		each units.Time // between frames of 976 bytes, which are 1000 on the wire
	}{
		"frames": {FloodLimit{Frames: 1_000_000, Burst: 5}, us}, "bits": {FloodLimit{Rate: 8 * units.Gbps, Burst: 5000}, us},
		"a rate that does not divide a second": {FloodLimit{Frames: 3_000_000, Burst: 5}, 333_334},
	} {
		for kind, b := range frames {
			c := config(3)
			c.Ports[0].Flood = map[string]FloodLimits{"broadcast": {Broadcast: limit.FloodLimit}, "multicast": {Multicast: limit.FloodLimit}, "unknown": {Unknown: limit.FloodLimit}}[kind]
			r := newRig(t, c)
			passed := func(b []byte) bool {
				r.in(0, b, 976)
				one, two := len(r.out(1, 9)), len(r.out(2, 9))
				if one != two {
					t.Fatalf("%d and %d frames", one, two)
				}
				return one == 1
			}
			pass := func(want bool, what string) {
				t.Helper()
				if passed(b) != want {
					t.Errorf("%s, %s: %s", name, kind, what)
				}
			}
			r.now = 77
			for range 5 {
				pass(true, "of the burst")
			}
			pass(false, "beyond the burst")
			r.now += limit.each - 1
			pass(false, "a picosecond before its time")
			r.now++
			pass(true, "in its time")
			pass(false, "right after")
			r.now += 100 * us
			for range 5 {
				pass(true, "of the burst, after a rest")
			}
			pass(false, "beyond it")
			for other, b := range frames {
				if other != kind && !passed(b) {
					t.Errorf("%s: a limit of %s holds %s", name, kind, other)
				}
			}
			if n := r.stats(0).Discards[fabric.DropFlood][3]; n != 4 {
				t.Errorf("%s, %s: %d discarded", name, kind, n)
			}
			known := packet(0, 1, 26, 0)
			r.in(0, known, 976)
			if len(r.out(1, 9)) != 1 {
				t.Error("an address that is known")
			}
			r.in(1, b, 976)
			if len(r.out(2, 9)) != 1 {
				t.Error("another port")
			}
			r.out(0, 9)
		}
	}
}

// A flooded frame is one for each port that it goes to: each that there is no room for is discarded and counted by itself,
// and received frames and copies are as many as sent and discarded ones.
func TestEachCopyOfAFloodedFrameIsDiscardedByItself(t *testing.T) {
	c := config(4)
	c.Tail = 100
	r := newRig(t, c)
	b := packet(0, 9, 0, 0)
	for range 3 {
		r.in(0, b, 976)
	}
	sent := uint64(len(r.out(1, 9)) + len(r.out(2, 9)) + len(r.out(3, 9)))
	received, discards := uint64(0), uint64(0)
	for i := range 4 {
		st := r.stats(i)
		received += st.RxFrames[0]
		discards += st.Discards[fabric.DropTail][0]
	}
	if copies := 2 * received; received != 3 || discards == 0 || received+copies != sent+discards {
		t.Errorf("%d received, %d copies made, %d sent, %d discarded", received, copies, sent, discards)
	}
	if err := r.sw.Audit(); err != nil {
		t.Error(err)
	}
}

// A copy of a flooded frame for which there is no memory is lost as others are: of every frame and copy it is
// known where it went.
func TestCopyWithoutMemory(t *testing.T) {
	c := config(4)
	c.Static = nil
	r := newCrewOf(t, c, 1, 2)
	r.in(0, packet(0, 9, 0, 0), 100)
	sent := len(r.out(1, 9)) + len(r.out(2, 9)) + len(r.out(3, 9))
	if st := r.stats(0); sent != 2 || st.Discards[fabric.DropNoMemory][0] != 1 {
		t.Errorf("%d of three are sent, %d are lost for want of memory", sent, st.Discards[fabric.DropNoMemory][0])
	}
}

// The bucket against one that holds tokens and is filled as time passes.
func TestBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := FloodLimit{Frames: rapid.IntRange(1, 10_000_000).Draw(t, "rate"), Burst: units.Size(rapid.IntRange(1, 100).Draw(t, "burst"))}
		if rapid.Bool().Draw(t, "bits") {
			l = FloodLimit{Rate: units.Rate(rapid.IntRange(1, 100).Draw(t, "Gbps")) * units.Gbps, Burst: units.Size(rapid.IntRange(1542, 20_000).Draw(t, "burst"))}
		}
		if err := l.check(1518); err != nil {
			t.Skip(err)
		}
		var b bucket
		b.set(0, l)
		now, held := units.Time(0), b.depth // in time that fills the bucket
		for range rapid.IntRange(1, 300).Draw(t, "frames") {
			bytes, cost := rapid.IntRange(84, 1542).Draw(t, "bytes"), b.frame
			if cost == 0 {
				cost = l.Rate.Serialize(units.Size(bytes))
			}
			want := held >= cost
			if want {
				held -= cost
			}
			if got := b.take(now, bytes); got != want {
				t.Fatalf("at %v: %v", now, got)
			}
			dt := units.Time(rapid.Int64Range(0, int64(2*cost)).Draw(t, "dt"))
			now, held = now+dt, min(b.depth, held+dt)
		}
	})
}

func TestNoFloodOfUnknownAddresses(t *testing.T) {
	c := config(3)
	c.NoUnknown, c.Learn = true, true
	r := newRig(t, c)
	r.in(0, packet(0, 50, 26, 0), 100)
	if n := r.stats(0).Discards[fabric.DropUnicast][3]; n != 1 || len(r.out(1, 4))+len(r.out(2, 4)) != 0 {
		t.Errorf("%d discarded", n)
	}
	broadcast := packet(0, 9, 26, 0)
	wire.Broadcast.Put(broadcast)
	r.in(0, broadcast, 100)
	r.in(1, packet(50, 0, 26, 0), 100)
	r.in(0, packet(0, 50, 26, 0), 100)
	if a, b := len(r.out(1, 4)), len(r.out(2, 4)); a != 2 || b != 1 {
		t.Errorf("a broadcast, and an address that is known by now: %d and %d frames", a, b)
	}
	c.NoUnknown = false
	r.reload(c)
	if r.in(0, packet(0, 51, 26, 0), 100); len(r.out(1, 4)) != 1 || len(r.out(2, 4)) != 1 {
		t.Error("flooding is allowed again")
	}
	r.out(0, 4)
}

// A switch in a loop floods nothing: neither what is for all, nor what is for a group, and counts both.
func TestNoFloodOfGroups(t *testing.T) {
	to := func(dst wire.MAC) []byte {
		b := packet(0, 9, 26, 0)
		dst.Put(b)
		return b
	}
	for _, k := range []struct{ broadcast, multicast bool }{{}, {broadcast: true}, {multicast: true}, {true, true}} {
		c := config(3)
		c.NoBroadcast, c.NoMulticast = k.broadcast, k.multicast
		r := newRig(t, c)
		lost := uint64(0)
		for dst, never := range map[wire.MAC]bool{
			wire.Broadcast: k.broadcast, 0x0100_5E00_0001: k.multicast, 0x3333_0000_0001: k.multicast,
		} {
			r.in(0, to(dst), 100)
			want := 1
			if never {
				want = 0
				lost++
			}
			if a, b := len(r.out(1, 4)), len(r.out(2, 4)); a != want || b != want {
				t.Errorf("%+v: %d and %d frames to %v", k, a, b, dst)
			}
		}
		if got := r.stats(0).Discards[fabric.DropFlood][3]; got != lost {
			t.Errorf("%+v: %d discards, not %d", k, got, lost)
		}
	}
}

// A reload changes limits; what was taken stays taken.
func TestReloadOfFloodLimits(t *testing.T) {
	c := config(2)
	c.Ports[0].Flood.Unknown = FloodLimit{Frames: 1000, Burst: 2}
	r := newRig(t, c)
	count := func() int {
		r.in(0, packet(0, 9, 26, 0), 100)
		return len(r.out(1, 4))
	}
	if n := count() + count() + count(); n != 2 {
		t.Error(n)
	}
	r.reload(c)
	if count() != 0 {
		t.Error("a reload fills the bucket")
	}
	c.Ports = []PortConfig{c.Ports[0], c.Ports[1]}
	c.Ports[0].Flood = FloodLimits{}
	r.reload(c)
	if count() != 1 {
		t.Error("no limit any more")
	}
}

func TestCheckOfFloodLimits(t *testing.T) {
	for want, l := range map[string]FloodLimit{
		"storm control of multicast: it has a positive rate": {Frames: 1, Rate: 1, Burst: 1},
		"it has a positive rate":                             {Burst: 1},
		"in frames or in bits":                               {Frames: -1, Burst: 1},
		"a burst is from 1 frame":                            {Frames: 1},
		"to 1000 seconds of the rate, not 1001":              {Frames: 1, Burst: 1001},
		"a burst is from the longest frame, 1542 bytes":      {Rate: units.Gbps, Burst: 1541},
		"to 1000 seconds of the rate, not 1MB":               {Rate: 1000, Burst: units.MB},
	} {
		c := config(2)
		c.Ports[1].Flood.Multicast = l
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// A limit that a reload has raised holds at once: what was taken at the lower rate is at most what the bucket holds.
func TestRaisedFloodLimit(t *testing.T) {
	c := config(3)
	c.Ports[0].Flood.Unknown = FloodLimit{Frames: 1, Burst: 100}
	r := newRig(t, c)
	unknown := packet(0, 9, 26, 0)
	for range 100 {
		r.in(0, unknown, 100)
	}
	r.out(1, 200)
	r.out(2, 200)
	c = config(3)
	c.Ports[0].Flood.Unknown = FloodLimit{Frames: 1_000_000, Burst: 100}
	r.reload(c)
	r.now += 10 * units.Second // ten million frames' worth of the new limit
	r.in(0, unknown, 100)
	if n := len(r.out(1, 9)); n != 1 {
		t.Errorf("%d frames pass 10 s after the limit was raised to a million frames a second", n)
	}
}

// Of several limits that are wrong the first is named, whenever it is asked.
func TestFloodLimitsNameTheFirst(t *testing.T) {
	wrong := FloodLimit{Frames: -1}
	c := config(2)
	c.Ports[0].Flood = FloodLimits{Broadcast: wrong, Multicast: wrong, Unknown: wrong}
	for range 100 {
		if err := c.Check(); err == nil || !strings.HasPrefix(err.Error(), "storm control of broadcast: ") {
			t.Fatal(err)
		}
	}
}
