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
			if n := rapid.Int64Range(0, 30*frame).Draw(t, "n"); g.Fits(n) != (g.Room(3) >= n) {
				t.Fatalf("%d bytes fit: %v, and there is room for %d", n, g.Fits(n), g.Room(3))
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
		if g.Held() != 0 || now.Alpha == 0 && g.class[3].limit != int64(now.XOFF+now.Headroom) || g.marks[3].xoff != int64(now.XOFF) || g.class[0].limit < 1<<60 {
			t.Fatalf("in force: %d %d, configured: %+v", g.marks[3].xoff, g.class[3].limit, now)
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
	if g.Admit(3, frame) {
		t.Error("there is room for more than was promised")
	}
	for g.Bytes(3) > 0 {
		g.Release(3, frame)
	}
	if !g.Poll(0, &f) || f.Enable == 0 || f.Quanta[3] != 0 {
		t.Fatalf("no XON: %+v", f)
	}
	if g.Admit(3, frame); g.class[3].limit != 8*frame {
		t.Errorf("after the XON the limit is %d", g.class[3].limit)
	}
}
