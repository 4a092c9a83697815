package pfc

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// What is within bounds fits, and is no new peak if that was asked for, whatever was charged and released meanwhile, as
// long as no more of the pool is used than the bounds were worked out for. While an XOFF may be due nothing is.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const prios = 0b1001
		alpha := rapid.SampledFrom([]float64{0, 0.125, 1, 8}).Draw(t, "alpha")
		th := Thresholds{XOFF: 4000, XON: 1000, Headroom: 6000, Alpha: alpha}
		pool := NewPool(rapid.SampledFrom([]units.Size{10_000, 40_000}).Draw(t, "pool"), false)
		var ports [2]*Ingress
		for i := range ports {
			ports[i] = NewIngress(IngressConfig{
				Enabled: prios, Thresholds: [8]Thresholds{0: th, 3: th}, Rate: units.Gbps, Pool: pool,
				Whole: rapid.Bool().Draw(t, "whole"),
			})
		}
		g, most, peaks := ports[0], int64(-1), false
		queued := map[*Ingress]map[uint8][]int64{ports[0]: {}, ports[1]: {}}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			port := rapid.SampledFrom(ports[:]).Draw(t, "port")
			prio := rapid.SampledFrom([]uint8{0, 3}).Draw(t, "priority")
			n := int64(rapid.SampledFrom([]int{64, 500, 2000}).Draw(t, "bytes"))
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1, 2:
				if port.Admit(prio, n) {
					queued[port][prio] = append(queued[port][prio], n)
				}
			case 3:
				if q := queued[port][prio]; len(q) > 0 {
					port.Release(prio, q[0])
					queued[port][prio] = q[1:]
				}
			case 4:
				var f Frame
				port.Poll(units.Time(n), &f)
			case 5:
				most = pool.Used() + n*rapid.SampledFrom([]int64{0, 5}).Draw(t, "more")
				peaks = rapid.Bool().Draw(t, "peaks")
				g.SetBounds(prios, most, peaks)
			}
			if pool.Used()+n > most || !g.Within(prio, n) {
				continue
			}
			if g.Room(prio, 0) < n {
				t.Fatalf("%d bytes of priority %d are within bounds, and there is room for %d", n, prio, g.Room(prio, 0))
			}
			if peak := int64(g.Counters(0).Peak[prio]); peaks && !g.Whole() && int64(g.Bytes(prio))+n > peak {
				t.Fatalf("%d bytes more than %v are within bounds, and the peak is %d", n, g.Bytes(prio), peak)
			}
		}
	})
}

// What makes an XOFF due ends the bounds of all priorities, until it is sent: what comes decides whether it still is.
func TestBoundsEndWithAnXOFF(t *testing.T) {
	th := Thresholds{XOFF: 4000, XON: 1000, Headroom: 6000}
	g := NewIngress(IngressConfig{Enabled: 0b1001, Thresholds: [8]Thresholds{0: th, 3: th}, Rate: units.Gbps})
	g.SetBounds(0b1001, 0, false)
	if !g.Within(0, 1500) || !g.Within(3, 1500) {
		t.Fatal("nothing is within the bounds of an empty port")
	}
	for range 3 {
		g.Admit(3, 1500)
	}
	if !g.Undecided() || g.Stopped(3) || g.Within(0, 1500) || g.Within(3, 64) {
		t.Error("4500 bytes, 4000 of them below XOFF: bounds still hold")
	}
	g.SetBounds(0b0001, 0, false)
	var f Frame
	if !g.Poll(0, &f) || g.Undecided() || !g.Stopped(3) || g.Stopped(0) {
		t.Fatal("no XOFF")
	}
	if g.Admit(3, 1500); g.Undecided() || !g.Within(0, 1500) || g.Within(3, 64) {
		t.Error("a frame in the headroom of one priority, whose peer is paused, concerns another")
	}
	g.ClearBounds()
	if g.Within(0, 64) {
		t.Error("bounds that were cleared hold")
	}
	g = NewIngress(IngressConfig{Enabled: 0xFF, Thresholds: [8]Thresholds{th}, Rate: units.Gbps, Whole: true})
	g.Admit(3, 4500)
	if !g.Poll(0, &f) || !g.Stopped(3) || !g.Stopped(6) {
		t.Error("a peer that is sent PAUSE stops what has any priority")
	}
}

// Nor are bounds those of a priority with something in headroom: what came and went would leave it there.
func TestNothingIsWithinBoundsBehindHeadroom(t *testing.T) {
	th := Thresholds{XOFF: 4000, XON: 1000, Headroom: 6000, Alpha: 1}
	pool := NewPool(10_000, false)
	g := NewIngress(IngressConfig{Enabled: 1, Thresholds: [8]Thresholds{th}, Rate: units.Gbps, Pool: pool})
	var f Frame
	g.Admit(0, 10_000)
	g.Poll(0, &f)
	g.Release(0, 8000) // still paused: 2000 are more than XON
	g.SetBounds(1, 2000, false)
	pool.Add(9000) // others have it
	g.Admit(0, 5000)
	pool.Add(-9000)
	if head := g.Counters(0).Headroom[0]; !g.Stopped(0) || head == 0 {
		t.Fatalf("%v in headroom", head)
	}
	if g.Within(0, 64) {
		t.Error("a frame is within bounds, and would be charged to what is not headroom")
	}
}

// Nor is it where the threshold has risen above what is buffered, as long as headroom is in use.
func TestNothingIsWithinBoundsBehindHeadroomThatStays(t *testing.T) {
	th := [Classes]Thresholds{{XOFF: 1000, Headroom: 5000}}
	g := NewIngress(IngressConfig{Enabled: 1, Thresholds: th, Rate: 10 * units.Gbps})
	g.Admit(0, 3000)
	th[0].XOFF = 9000
	g.Configure(th, 0, 10*units.Gbps)
	if g.SetBounds(1, 0, false); g.Within(0, 64) || g.Bounded(0) {
		t.Errorf("2000 bytes are in headroom, and a frame is within bounds: %v", g.Bounded(0))
	}
	g.Release(0, 2500)
	if g.SetBounds(1, 0, false); !g.Within(0, 8500) || g.Within(0, 8501) {
		t.Error("500 bytes are left of 9000")
	}
}
