package pfc

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// A peer that obeys as late as the headroom allows loses nothing, however often
// and however the thresholds change; and in the end the new ones are in force.
func TestConfigureLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const frame = 1000
		alpha := rapid.SampledFrom([]float64{0, 0, 0.25, 2})
		draw := func() Thresholds {
			xoff := units.Size(rapid.IntRange(1, 50).Draw(t, "xoff")) * frame
			return Thresholds{XOFF: xoff, XON: min(xoff, units.Size(rapid.IntRange(0, 50).Draw(t, "xon"))*frame), Headroom: units.Size(rapid.IntRange(4, 20).Draw(t, "headroom")) * frame, Alpha: alpha.Draw(t, "alpha")}
		}
		pool := NewPool(100*frame, false)
		now := draw()
		g := NewIngress(IngressConfig{Enabled: 1 << 3, Rate: 10 * units.Gbps, Thresholds: [Classes]Thresholds{3: now}, Pool: pool})
		stopped, late := false, units.Size(0) // what the peer may still send
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				now = draw() // what a paused peer may still send stays what it was
				g.Configure([Classes]Thresholds{3: now}, 0, 10*units.Gbps)
			case 1, 2, 3, 4, 5:
				if stopped && late < frame {
					continue
				}
				if stopped {
					late -= frame
				}
				if !g.Admit(3, frame) {
					t.Fatalf("lost with %v buffered, %+v", g.Bytes(3), now)
				}
			default:
				if g.Bytes(3) > 0 {
					g.Release(3, frame)
				}
			}
			var f Frame
			if g.Next(0) == 0 && g.Poll(0, &f) {
				if was := stopped; f.Quanta[3] != 0 {
					stopped = true
					if !was {
						// What crosses the line is the last that is not part of the headroom.
						late = now.Headroom - frame
					}
				} else {
					stopped = false
				}
			}
		}
		for g.Bytes(3) > 0 {
			g.Release(3, frame)
			var f Frame
			g.Poll(0, &f)
		}
		if _, used := pool.State(); used != 0 {
			t.Fatalf("%v of the pool are taken by an empty port", used)
		}
		if g.PeerStopped() != 0 {
			t.Fatal("an empty port holds its peer")
		}
		if now.Alpha > 0 {
			return
		}
		for units.Size(g.Bytes(3)) < now.XOFF+now.Headroom {
			if asks := g.Next(0) == 0; asks != (g.Bytes(3) > now.XOFF) || !g.Admit(3, frame) {
				t.Fatalf("with %v buffered an XOFF is due: %v, configured %+v", g.Bytes(3), asks, now)
			}
		}
		if g.Admit(3, 1) {
			t.Fatalf("%v are admitted, configured %+v", g.Bytes(3), now)
		}
	})
}

// A lower XOFF acts at once, a higher XON too, and the pause asked for changes.
func TestConfigureActsAtOnce(t *testing.T) {
	g := NewIngress(IngressConfig{Enabled: 1 << 3, Rate: 10 * units.Gbps, Thresholds: [Classes]Thresholds{3: {XOFF: 10_000, XON: 8_000, Headroom: 5_000}}})
	g.Admit(3, 6_000)
	if g.Next(0) != units.Never {
		t.Fatal("below XOFF")
	}
	g.Configure([Classes]Thresholds{3: {XOFF: 5_000, XON: 2_000, Headroom: 5_000}}, 100*units.Microsecond, 10*units.Gbps)
	var f Frame
	if g.Next(0) != 0 || !g.Poll(0, &f) || f.Quanta[3] != Quanta(100*units.Microsecond, 10*units.Gbps) {
		t.Fatalf("no XOFF: %+v", f)
	}
	g.Configure([Classes]Thresholds{3: {XOFF: 10_000, XON: 8_000, Headroom: 5_000}}, 0, 10*units.Gbps)
	if g.Next(0) != 0 || !g.Poll(0, &f) || f.Enable != 1<<3 || f.Quanta[3] != 0 {
		t.Fatalf("no XON: %+v", f)
	}
}

// A peer that was paused may use the headroom that there was when it was told, though
// less is configured since and what is buffered is below a threshold that moves.
func TestConfigureKeepsWhatWasPromised(t *testing.T) {
	const frame = 1000
	pool := NewPool(100*frame, false)
	g := NewIngress(IngressConfig{Enabled: 1 << 3, Rate: 10 * units.Gbps, Thresholds: [Classes]Thresholds{3: {XOFF: 43 * frame, XON: 43 * frame, Headroom: 19 * frame}}, Pool: pool})
	for range 44 {
		g.Admit(3, frame)
	}
	var f Frame
	if !g.Poll(0, &f) || f.Quanta[3] == 0 {
		t.Fatalf("no XOFF: %+v", f)
	}
	g.Configure([Classes]Thresholds{3: {XOFF: 26 * frame, XON: 5 * frame, Headroom: 7 * frame, Alpha: 0.25}}, 0, 10*units.Gbps)
	for i := range 18 {
		if !g.Admit(3, frame) {
			t.Fatalf("lost frame %d of the 18 that were promised room", i)
		}
	}
	for g.Admit(3, frame) { // what fits below the threshold, which moved, and then into headroom
	}
	if n := g.Counters(0).HeadroomMax[3]; n != 19*frame {
		t.Errorf("there was headroom for %v", n)
	}
	for g.Bytes(3) > 0 {
		g.Release(3, frame)
	}
	if !g.Poll(0, &f) || f.Enable == 0 || f.Quanta[3] != 0 {
		t.Fatalf("no XON: %+v", f)
	}
	for g.Admit(3, frame) {
	}
	if n := g.Counters(0).Headroom[3]; n != 7*frame {
		t.Errorf("after the XON there is headroom for %v", n)
	}
}

// The peer of a new link knows of no pause: it hears of it at once, and may send as much as headroom holds before
// it obeys, although what the old one sent into it is still there.
func TestRelink(t *testing.T) {
	pool := NewPool(100_000, false)
	th := Thresholds{XOFF: 10_000, XON: 8_000, Headroom: 5_000}
	g := NewIngress(IngressConfig{Enabled: 1 << 3, Rate: 10 * units.Gbps, Thresholds: [Classes]Thresholds{3: th}, Pool: pool})
	var f Frame
	if g.Admit(3, 14_000); !g.Poll(0, &f) || g.Next(1) <= 1 {
		t.Fatal("no XOFF, or again and again")
	}
	for range 3 {
		g.Relink(1)
		if g.Next(1) != 1 || !g.Poll(1, &f) || f.Enable != 1<<3 || f.Quanta[3] == 0 || g.Next(2) <= 2 {
			t.Fatalf("the new peer hears nothing: %+v", f)
		}
		before := g.Bytes(3)
		if !g.Admit(3, 5_000) || g.Admit(3, 1) {
			t.Fatalf("headroom is not 5 KB with %v buffered", before)
		}
	}
	if _, used := pool.State(); used != 14_000 {
		t.Errorf("%v of the pool are used: the headroom of three links, and not that of the fourth", used)
	}
	for g.Bytes(3) > 8_000 {
		g.Release(3, 1000)
	}
	if _, used := pool.State(); used != 0 || !g.Poll(2, &f) || f.Quanta[3] != 0 || g.PeerStopped() != 0 {
		t.Errorf("%v of the pool are used, %+v", used, f)
	}
}

// A link that flaps again and again while nothing leaves never fills more than there is: XOFF, the pool and headroom.
// What does not fit any more is lost there, and not where another port has room.
func TestRelinkAgainAndAgain(t *testing.T) {
	for _, shared := range []bool{false, true} {
		pool, heads := NewPool(8_000, shared), NewPool(5_000, shared)
		th := Thresholds{XOFF: 10_000, XON: 8_000, Headroom: 5_000}
		g := NewIngress(IngressConfig{
			Enabled: 1 << 3, Rate: 10 * units.Gbps, Thresholds: [Classes]Thresholds{3: th}, Pool: pool, Headroom: heads,
		})
		var f Frame
		taken := 0
		for flap := range 5 {
			for g.Admit(3, 1000) {
				taken++
			}
			if want := min(15+5*flap, 23); taken != want {
				t.Fatalf("after %d flaps %d KB are buffered, want %d", flap, taken, want)
			}
			if pool.Used() > 8_000 || heads.Used() > 5_000 {
				t.Fatalf("after %d flaps %d of the pool are used, %d of headroom", flap, pool.Used(), heads.Used())
			}
			g.Relink(1)
			if g.Next(1) != 1 || !g.Poll(1, &f) || f.Quanta[3] == 0 {
				t.Fatalf("the peer of link %d hears nothing: %+v", flap, f)
			}
		}
		for range taken {
			g.Release(3, 1000)
		}
		if !g.Poll(1, &f) || f.Quanta[3] != 0 || pool.Used() != 0 || heads.Used() != 0 {
			t.Errorf("%+v, %d of the pool and %d of headroom are used by nothing", f, pool.Used(), heads.Used())
		}
	}
}

// What was promised to a peer that was paused is not promised to the one that comes after it.
func TestRelinkForgetsPromises(t *testing.T) {
	th := [Classes]Thresholds{3: {XOFF: 10_000, XON: 8_000, Headroom: 5_000}}
	g := NewIngress(IngressConfig{Enabled: 1 << 3, Rate: 10 * units.Gbps, Thresholds: th, Pool: NewPool(100_000, false)})
	var f Frame
	g.Admit(3, 11_000)
	g.Poll(0, &f)
	g.Release(3, 1000) // its XOFF is out, and nothing is in headroom
	th[3].Headroom = 3_000
	g.Configure(th, 0, 10*units.Gbps)
	g.Relink(1)
	if g.Admit(3, 3_001) || !g.Admit(3, 3_000) {
		t.Error("headroom is not that of the new link")
	}
}

// A port that comes where one was begins with no pause and no counts, and without what the one before used most; what that
// one has in the switch is still accounted.
func TestUnlink(t *testing.T) {
	g := NewIngress(IngressConfig{
		Enabled: 1<<0 | 1<<3, Rate: 10 * units.Gbps, Headroom: NewPool(10_000, false),
		Thresholds: [Classes]Thresholds{{XOFF: 1000, Headroom: 5000}, 3: {XOFF: 1000, Headroom: 5000}},
	})
	var f Frame
	for range 3 {
		g.Admit(0, 900)
		g.Admit(3, 900)
	}
	g.Poll(0, &f)
	if g.PeerStopped() != 1<<0|1<<3 || g.HeadroomPeak() == 0 {
		t.Fatal("nothing is paused")
	}
	g.StopPeer(true)
	g.Unlink()
	if c := g.Counters(1); c != (IngressCounters{Headroom: c.Headroom}) || g.HeadroomPeak() != 0 || g.PeerStopped() != 0 || !g.Quiet() || g.Poll(1, &f) {
		t.Errorf("%+v, headroom %v, %+v", c, g.HeadroomPeak(), f)
	}
	if g.Bytes(0) != 2700 || g.Bytes(3) != 2700 || g.Headed() == 0 {
		t.Errorf("%v and %v are accounted", g.Bytes(0), g.Bytes(3))
	}
}

// StopPeer pauses a peer that has sent nothing, whatever is configured, until it is resumed.
func TestStopPeer(t *testing.T) {
	th := [Classes]Thresholds{3: {XOFF: 10_000, XON: 8_000, Headroom: 5_000}}
	g := NewIngress(IngressConfig{Enabled: 1 << 3, Rate: 10 * units.Gbps, Thresholds: th})
	g.StopPeer(true)
	var f Frame
	if g.Next(0) != 0 || !g.Poll(0, &f) || f.Enable != 1<<3 || f.Quanta[3] == 0 || g.Next(1) <= 1 {
		t.Fatalf("%+v", f)
	}
	if g.Configure(th, 0, 10*units.Gbps); g.Next(1) <= 1 {
		t.Error("a reload ends it")
	}
	g.StopPeer(false)
	if g.Next(1) != 1 || !g.Poll(1, &f) || f.Enable != 1<<3 || f.Quanta[3] != 0 || !g.Quiet() {
		t.Fatalf("%+v", f)
	}
}
