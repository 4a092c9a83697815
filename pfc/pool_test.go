package pfc

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// mover is a port whose thresholds follow the pool, and its peer, which obeys as late as headroom allows.
type mover struct {
	alpha      float64
	in         *Ingress
	buffered   []int
	peerPaused bool
	fresh      bool // something came since the last poll
	inFlight   int  // bytes that the paused peer still sends
}

func (m *mover) sum() (n int) {
	for _, b := range m.buffered {
		n += b
	}
	return n
}

// A frame that fits below its threshold takes of the pool and so lowers that threshold: with more buffered than
// that, XOFF is due at once and does not wait for another frame.
func TestFrameThatLowersItsThreshold(t *testing.T) {
	pool := NewPool(40_000, false)
	th := Thresholds{XOFF: 4000, XON: 1000, Headroom: 6000, Alpha: 0.125}
	in := NewIngress(IngressConfig{Enabled: 1, Thresholds: [8]Thresholds{th}, Rate: units.Gbps, Pool: pool})
	// 8900 is below 4000 + 40 000/8 = 9000; with it the pool has 35 100 left, and the threshold is 8387.
	var f Frame
	if !in.Admit(0, 8900) || in.Counters(0).Headroom[0] != 0 {
		t.Fatalf("%+v", in.Counters(0))
	}
	if next := in.Next(1); next != 1 || !in.Poll(1, &f) || f.Enable != 1 || f.Quanta[0] == 0 {
		t.Errorf("%v, %+v", next, f)
	}
}

// Thresholds that follow the pool, against the rule book: three ports, and lossy frames beside them, that fill and
// empty the pool for each other at any moment, while an XOFF is on its way, is out, or has just been taken back. A
// peer that is paused sends on until headroom could be full. Nobody's frame is refused, all of them together hold no
// more than pool, XOFF and headroom, and XOFF and XON are sent when the book says. No XON is due before as much of
// the pool is free as somebody waits for.
func TestMovingThresholdsAgainstTheBook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const xoff, xon, headroom, size = 4_000, 1_000, 6_000, 40_000
		shared := rapid.Bool().Draw(t, "shared")
		pool := NewPool(size, shared)
		var ports [3]*mover
		for i := range ports {
			m := &mover{alpha: rapid.SampledFrom([]float64{0.125, 0.5, 1, 8}).Draw(t, "alpha")}
			th := Thresholds{XOFF: xoff, XON: xon, Headroom: headroom, Alpha: m.alpha}
			m.in = NewIngress(IngressConfig{Enabled: 1, Thresholds: [8]Thresholds{th}, Rate: units.Gbps, Pool: pool})
			ports[i] = m
		}
		lossy := 0
		used := func() int {
			n := lossy
			for _, m := range ports {
				n += max(0, m.sum()-int(m.in.Counters(0).Headroom[0])-xoff)
			}
			return n
		}
		for step := range units.Time(rapid.SampledFrom([]int{1, 30, 400}).Draw(t, "steps")) {
			m := ports[rapid.IntRange(0, 2).Draw(t, "port")]
			n := rapid.SampledFrom([]int{60, 64, 700, 1499, 1500}).Draw(t, "n")
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case what == 0:
				if took := pool.Take(int64(n)); took != (used()+n <= size) {
					t.Fatalf("lossy frame of %d, %d of the pool used: %v", n, used(), took)
				} else if took {
					lossy += n
				}
			case what == 1:
				pool.Add(-int64(lossy))
				lossy = 0
			case what < 5:
				for range rapid.IntRange(1, 20).Draw(t, "frames") {
					if len(m.buffered) > 0 {
						m.in.Release(0, int64(m.buffered[0]))
						m.buffered = m.buffered[1:]
					}
				}
			case m.peerPaused && m.inFlight < n: // it has stopped
			default:
				if m.peerPaused {
					m.inFlight -= n
				}
				if !m.in.Admit(0, int64(n)) {
					t.Fatalf("%d bytes refused with %+v, %d buffered", n, m.in.class[0], m.sum())
				}
				m.buffered, m.fresh = append(m.buffered, n), true
			}
			total := lossy
			for _, m := range ports {
				total += m.sum()
			}
			if _, n := pool.State(); int(n) != used() || used() > size || total > size+3*(xoff+headroom) {
				t.Fatalf("%d of the pool used, %d by what is there; %d in all", n, used(), total)
			}
			awaited := shared || pool.Awaited() // else no port is looked at: none of them may have an XON to send
			for i, m := range ports {
				if awaited {
					m.in.Await()
				}
				head, raise := int(m.in.Counters(0).Headroom[0]), int(m.alpha*float64(size-used()))
				// A threshold that fell below what is there waits for the next frame.
				wantXOFF := !m.peerPaused && m.fresh && (head > 0 || m.sum() > xoff+raise)
				wantXON := m.peerPaused && head == 0 && m.sum() <= xon+raise
				if wantXON && !awaited {
					t.Fatalf("port %d has an XON to send, and not as much is free as somebody waits for", i)
				}
				var f Frame
				due := m.in.Next(step) <= step
				sent := m.in.Poll(step, &f)
				if due != sent || sent != (wantXOFF || wantXON) || sent && (f.Quanta[0] == 0) != wantXON {
					t.Fatalf("port %d: due %v, sent %v %+v, want XOFF %v XON %v at %d bytes, %d in headroom, a threshold raised by %d", i, due, sent, f, wantXOFF, wantXON, m.sum(), head, raise)
				}
				if m.fresh = false; sent {
					m.peerPaused, m.inFlight = !m.peerPaused, headroom-head
				}
			}
		}
	})
}

// What is held is neither free nor used, and more than an account can hold is refused.
func TestHold(t *testing.T) {
	pool := NewPool(1000, true)
	is := func(free, used int64) {
		t.Helper()
		if pool.Free() != free || pool.Used() != used {
			t.Errorf("%d are free and %d used, not %d and %d", pool.Free(), pool.Used(), free, used)
		}
	}
	pool.Add(100)
	if !pool.Hold(600) || pool.Hold(301) || pool.Take(301) {
		t.Error("300 of 1000 are free when 100 are used and 600 held")
	}
	is(300, 100)
	if !pool.Take(300) {
		t.Error("what is free cannot be taken")
	}
	is(0, 400)
	pool.Settle(600, 250)
	is(350, 650)
	pool.Add(-650)
	is(1000, 0)
	if large := NewPool(units.GB, true); !large.Hold(mostHeld) || large.Hold(1) || !large.Take(1) {
		t.Error("an account holds as much as fits into it")
	}
}

// A port that sends PAUSE has one account: a frame of any priority that crosses its threshold makes XOFF due.
func TestWholeAsksForXOFF(t *testing.T) {
	for _, prio := range []uint8{0, 5} {
		var c IngressConfig
		c.Enabled, c.Whole, c.Rate, c.Pool = 1, true, 10*units.Gbps, NewPool(10_000, false)
		c.Thresholds[0] = Thresholds{XOFF: 1000, XON: 500, Headroom: 10_000, Alpha: 1}
		g := NewIngress(c)
		for range 5 {
			if !g.Admit(prio, 1300) {
				t.Fatal()
			}
		}
		if got := g.Bytes(0); got <= g.XON(0)+500 {
			t.Fatalf("%v buffered, threshold %v", got, g.XON(0)+500)
		}
		if at := g.Next(0); at != 0 {
			t.Errorf("priority %d: %v are buffered, XOFF is at %v, and none is due (%v)", prio, g.Bytes(0), g.XON(0)+500, at)
		}
	}
}

// A port that sends PAUSE sends no PFC frame, also while it drains.
func TestWholeSendsNoPFC(t *testing.T) {
	var c IngressConfig
	c.Enabled, c.Whole, c.Rate, c.Pool = 1, true, 10*units.Gbps, NewPool(10_000, false)
	c.Thresholds[0] = Thresholds{XOFF: 1000, XON: 500, Headroom: 10_000, Alpha: 1}
	g := NewIngress(c)
	sent := 0
	poll := func(now units.Time) {
		t.Helper()
		var f Frame
		if g.Poll(now, &f) {
			if sent++; !f.Global || f.Enable != 1 {
				t.Fatalf("a port that sends PAUSE sends a PFC frame: %+v", f)
			}
		}
	}
	for range 5 {
		g.Admit(5, 1300)
	}
	poll(0) // XOFF
	g.StopPeer(true)
	poll(1)
	for range 3 {
		poll(g.Next(1)) // again
	}
	g.StopPeer(false)
	for range 5 {
		g.Release(5, 1300)
	}
	poll(units.Second) // XON
	if sent != 5 {
		t.Errorf("%d frames were sent: an XOFF, three more before its time runs out, an XON", sent)
	}
}

// What was seen of a PAUSE is counted when the port goes over to PFC, and is kept in its history.
func TestPauseEndsWhereAPortGoesOverToPFC(t *testing.T) {
	c := IngressConfig{Enabled: 1, Whole: true, Rate: 10 * units.Gbps, Pool: NewPool(10_000, false)}
	c.Thresholds[0] = Thresholds{XOFF: 1000, XON: 500, Headroom: 10_000}
	g := NewIngress(c)
	h := NewHistory(4)
	g.SetHistory(h)
	var f Frame
	if g.Admit(5, 1300); !g.Poll(100, &f) {
		t.Fatal("no XOFF")
	}
	g.Restart(400, 1<<3, false)
	if k := g.Counters(500); k.Paused != [Classes]units.Time{300} || k.PausedNow != 0 {
		t.Errorf("%+v", k)
	}
	if list, n := h.Ended(nil); n != 1 || list[0] != (Pause{100, 400, 0, true}) {
		t.Errorf("%+v", list)
	}
}

// Watermarks that are cleared are what there is now, headroom included.
func TestClearedPeaks(t *testing.T) {
	g := NewIngress(IngressConfig{Enabled: 1 << 3, Rate: 10 * units.Gbps, Thresholds: [Classes]Thresholds{3: {XOFF: 1000, XON: 500, Headroom: 5000}}})
	for range 3 {
		g.Admit(3, 1300)
	}
	g.Release(3, 1300)
	g.ClearPeaks()
	if k := g.Counters(0); k.Peak[3] != 2600 || k.HeadroomMax[3] != k.Headroom[3] || k.Headroom[3] < 1300 {
		t.Errorf("%+v", k)
	}
}

// What others give back to the pool may let a peer go on that is paused: the pool tells of it at that moment, and not
// only the next refresh.
func TestPoolTellsOfXONs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := NewPool(units.Size(rapid.SampledFrom([]int{4000, 8000, 16_000}).Draw(t, "pool")), false)
		var ports [2]*Ingress
		for i := range ports {
			th := [Classes]Thresholds{3: {
				XOFF: 2000, XON: units.Size(rapid.IntRange(0, 2000).Draw(t, "XON")), Headroom: 5000,
				Alpha: rapid.SampledFrom([]float64{0.125, 0.5, 1, 3}).Draw(t, "alpha"),
			}}
			ports[i] = NewIngress(IngressConfig{Enabled: 1 << 3, Thresholds: th, Rate: 10 * units.Gbps, Pool: pool})
		}
		var f Frame
		lossy, held := int64(0), [len(ports)]int64{}
		for range rapid.IntRange(20, 100).Draw(t, "steps") {
			i := rapid.IntRange(0, len(ports)-1).Draw(t, "port")
			n := int64(rapid.SampledFrom([]int{64, 700, 1518}).Draw(t, "bytes"))
			switch rapid.SampledFrom([]string{"arrives", "arrives", "leaves", "lossy", "lossy leave"}).Draw(t, "what") {
			case "arrives":
				if ports[i].Admit(3, n) {
					held[i] += n
				}
				ports[i].Poll(0, &f)
			case "leaves":
				if n = min(n, held[i]); ports[i].Release(3, n) {
					ports[i].Poll(0, &f)
				}
				held[i] -= n
			case "lossy":
				if n *= 3; pool.Take(n) {
					lossy += n
				}
			case "lossy leave":
				pool.Add(-lossy)
				lossy = 0
			}
			if pool.Awaited() {
				for _, g := range ports {
					g.Poll(0, &f)
					g.Await()
				}
			}
			for i, g := range ports {
				if g.Stopped(3) && g.Next(0) == 0 {
					t.Fatalf("port %d holds %d bytes, may have its peer go on, and nobody tells: %d are free",
						i, held[i], pool.Free())
				}
			}
		}
	})
}
