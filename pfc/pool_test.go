package pfc

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// Thresholds that follow the pool, against the rule book: three ports, whose
// peers stop after they were paused and a little more has come, and lossy frames
// beside them. Nobody's frame is refused, and all of them together hold no more
// than pool, XOFF and headroom, but for one frame.
func TestMovingThresholdsAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const xoff, xon, headroom, size, largest = 4_000, 1_000, 6_000, 40_000, 1_500
		shared := rapid.Bool().Draw(t, "shared")
		pool := NewPool(size, shared)
		type port struct {
			alpha    float64
			in       *Ingress
			buffered []int
			held     bool
			after    int  // bytes since the threshold was crossed
			fresh    bool // admitted above the threshold since the last poll
		}
		var ports [3]*port
		for i := range ports {
			p := &port{alpha: rapid.SampledFrom([]float64{0.125, 0.5, 1, 8}).Draw(t, "alpha")}
			p.in = NewIngress(IngressConfig{Enabled: 1, Thresholds: [8]Thresholds{{XOFF: xoff, XON: xon, Headroom: headroom, Alpha: p.alpha}}, Rate: units.Gbps, Pool: pool})
			ports[i] = p
		}
		sum := func(p *port) (n int) {
			for _, b := range p.buffered {
				n += b
			}
			return n
		}
		lossy := 0
		free := func() int {
			used := lossy
			for _, p := range ports {
				used += max(0, sum(p)-xoff)
			}
			return max(0, size-used)
		}
		now := units.Time(0)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			now += units.Microsecond
			p := ports[rapid.IntRange(0, 2).Draw(t, "port")]
			n := rapid.IntRange(60, largest).Draw(t, "n")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				if took := pool.Take(n); took != (n <= free()) {
					t.Fatalf("lossy frame of %d with %d free: %v", n, free(), took)
				} else if took {
					lossy += n
				}
			case 1:
				if lossy > 0 {
					pool.Add(-int64(lossy))
					lossy = 0
				}
			case 2:
				if len(p.buffered) > 0 {
					p.in.Release(0, p.buffered[0])
					p.buffered = p.buffered[1:]
				}
			default:
				threshold := xoff + int(p.alpha*float64(free()))
				if sum(p)+n <= threshold {
					p.after = 0
				} else if p.after+n > headroom {
					continue // the peer has stopped by now
				} else {
					p.fresh = true
					p.after += n
				}
				if !p.in.Admit(0, n) {
					t.Fatalf("%d bytes refused at %d, threshold %d, %d of the headroom used", n, sum(p), threshold, p.after-n)
				}
				p.buffered = append(p.buffered, n)
			}
			total := lossy
			for _, p := range ports {
				total += sum(p)
			}
			if total > size+3*(xoff+headroom)+largest {
				t.Fatalf("%d bytes in a buffer of %d", total, size+3*(xoff+headroom))
			}
			if got := int(pool.Free()); got != free() {
				t.Fatalf("%d free, want %d", got, free())
			}
			for i, p := range ports {
				raise := int(p.alpha * float64(free()))
				// A threshold that fell below what is there waits for the next frame.
				wantXOFF, wantXON := !p.held && p.fresh, p.held && sum(p) <= xon+raise
				var f Frame
				sent := p.in.Poll(now, &f)
				if sent != (wantXOFF || wantXON) || sent && (f.Quanta[0] == 0) != wantXON {
					t.Fatalf("port %d: sent %v %+v, want XOFF %v XON %v at %d bytes, %d free", i, sent, f, wantXOFF, wantXON, sum(p), free())
				}
				p.fresh = false
				p.held = p.held != sent
			}
		}
	})
}
