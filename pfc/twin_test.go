package pfc

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// twin is what Ingress promises, told slowly: each priority of each port has what its frames were charged to.
type twin struct {
	size, lossy int64
	headroom    int64 // that all share
	ports       []*twinPort
}

type twinPort struct {
	pool       *twin
	thresholds [Classes]Thresholds
	base, head [Classes]int64
	room       [Classes]int64 // the most that head may be
	peak, most [Classes]int64 // of all, and of head
	held       [Classes]bool
	refresh    [Classes]units.Time
	refused    [Classes]bool // a frame was, since the last XOFF
	arrived    [Classes]bool // or was configured since the last poll: a threshold that moves does not ask for an XOFF by itself
	enabled    uint8         // priorities with thresholds
}

// restart has all that is there be base's, whether it fits or not. A priority that has no thresholds any more takes
// everything, and its peer goes on. A peer that was paused, and stays so, may use the headroom that there was.
func (p *twinPort) restart(prio int, was uint8) {
	p.base[prio], p.head[prio], p.refused[prio] = p.base[prio]+p.head[prio], 0, false
	p.peak[prio] = max(p.peak[prio], p.base[prio])
	if p.enabled>>prio&1 == 0 {
		p.thresholds[prio] = Thresholds{XOFF: math.MaxInt64, XON: math.MaxInt64}
		return
	}
	headroom := int64(p.thresholds[prio].Headroom)
	if p.arrived[prio] = true; p.held[prio] && was>>prio&1 != 0 {
		headroom = max(headroom, p.room[prio])
	}
	p.room[prio] = headroom
}

// pooled is what a priority has of the pool: what is set aside for nobody.
func (p *twinPort) pooled(prio int) int64 {
	t := p.thresholds[prio]
	return max(0, p.base[prio]-int64(t.XOFF)) + max(0, p.head[prio]-int64(t.Headroom))
}

func (s *twin) used() (sum int64) {
	sum = s.lossy
	for _, p := range s.ports {
		for prio := range Classes {
			sum += p.pooled(prio)
		}
	}
	return sum
}

// heads is what is used of the headroom that all share: what was promised beyond a priority's headroom is the pool's.
func (s *twin) heads() (sum int64) {
	for _, p := range s.ports {
		for prio := range Classes {
			sum += min(p.head[prio], int64(p.thresholds[prio].Headroom))
		}
	}
	return sum
}

func (s *twin) free() int64 { return max(0, s.size-s.used()) }

// raise is what a priority's thresholds are higher by, because so much of the pool is free.
func (p *twinPort) raise(prio int) int64 {
	return int64(p.thresholds[prio].Alpha * float64(p.pool.free()))
}

// admit charges a frame byte by byte: a byte is base's if the threshold of before the frame lets it and the pool has all
// that base needs of it, else headroom's.
func (p *twinPort) admit(prio int, n int64) bool {
	xoff := int64(p.thresholds[prio].XOFF)
	threshold, free := xoff+p.raise(prio), p.pool.free()
	base, beyond := p.base[prio], int64(0)
	for range n {
		if base < threshold {
			if base++; base > xoff {
				beyond++
			}
		}
	}
	if beyond > free {
		base -= beyond
	}
	head := p.head[prio] + n - (base - p.base[prio])
	own := int64(p.thresholds[prio].Headroom)
	dry := min(head, own) > min(p.head[prio], own) && p.pool.heads()+min(head, own)-min(p.head[prio], own) > p.pool.headroom
	if head > p.head[prio] && (head > p.room[prio] || dry) {
		p.arrived[prio], p.refused[prio] = true, true
		return false
	}
	grown := base > p.base[prio] || head > p.head[prio]
	p.base[prio], p.head[prio] = base, head
	p.arrived[prio] = p.arrived[prio] || grown && (head > 0 || base > xoff+p.raise(prio))
	p.peak[prio], p.most[prio] = max(p.peak[prio], base+head), max(p.most[prio], head)
	return true
}

// release gives bytes back one by one, headroom's first.
func (p *twinPort) release(prio int, n int64) {
	for range n {
		if p.head[prio] > 0 {
			p.head[prio]--
		} else {
			p.base[prio]--
		}
	}
}

// due is what a poll is to send.
func (p *twinPort) due(now units.Time, prio int) (xoff, xon bool) {
	t := p.thresholds[prio]
	switch {
	case !p.held[prio]:
		return p.arrived[prio] && (p.head[prio] > 0 || p.refused[prio] || p.base[prio] > int64(t.XOFF)+p.raise(prio)), false
	case p.head[prio] == 0 && p.base[prio] <= int64(t.XON)+p.raise(prio):
		return false, true
	}
	return now >= p.refresh[prio], false
}

func anyThresholds(t *rapid.T) (all [Classes]Thresholds) {
	from := func(what string, sizes ...units.Size) units.Size { return rapid.SampledFrom(sizes).Draw(t, what) }
	for prio := range all {
		x := &all[prio]
		x.XOFF = from("XOFF", 1, 64, 1500, 4000)
		x.XON = min(x.XOFF, from("XON", 0, 100, 4000))
		x.Headroom = from("headroom", 0, 700, 3000)
		x.Alpha = rapid.SampledFrom([]float64{0, 0, 0.125, 0.3, 1, 8}).Draw(t, "alpha")
	}
	return all
}

// Several ports with several lossless priorities share a pool with lossy frames. Frames come alone or as many
// together as there is room for, leave, thresholds change, and so do the priorities that have some, and links are
// replaced; peers obey or not. At every step
// accounts, pool, XOFF, XON and refreshes are what the slow twin says.
func TestIngressIsAsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const lossless, rate, pause = 1<<0 | 1<<3 | 1<<7, 10 * units.Gbps, 10 * units.Microsecond
		prios := []uint8{0, 3, 7}
		interval := Duration(Quanta(pause, rate), rate) / 2
		shared := rapid.Bool().Draw(t, "shared")
		slow := &twin{size: rapid.SampledFrom([]int64{0, 100, 2000, 20_000}).Draw(t, "pool")}
		pool := NewPool(units.Size(slow.size), shared)
		slow.headroom = rapid.SampledFrom([]int64{1 << 40, 3000, 3700, 700, 0}).Draw(t, "headroom pool")
		heads := NewPool(units.Size(slow.headroom), shared)
		fast := make([]*Ingress, rapid.IntRange(1, 3).Draw(t, "ports"))
		for i := range fast {
			p := &twinPort{pool: slow, thresholds: anyThresholds(t), enabled: lossless}
			for _, prio := range prios {
				p.room[prio] = int64(p.thresholds[prio].Headroom)
			}
			for prio := range Classes {
				if lossless>>prio&1 == 0 {
					p.thresholds[prio] = Thresholds{}
				}
			}
			slow.ports = append(slow.ports, p)
			fast[i] = NewIngress(IngressConfig{Enabled: lossless, Thresholds: p.thresholds, Rate: rate, Pause: pause, Pool: pool, Headroom: heads})
		}
		now := units.Time(0)
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			now += units.Time(rapid.SampledFrom([]int64{0, 0, 1, int64(units.Microsecond), int64(interval)}).Draw(t, "after"))
			i := rapid.IntRange(0, len(fast)-1).Draw(t, "port")
			g, p, prio := fast[i], slow.ports[i], rapid.SampledFrom(prios).Draw(t, "priority")
			n := int64(rapid.SampledFrom([]int{1, 64, 64, 500, 1518}).Draw(t, "bytes"))
			switch rapid.IntRange(0, 13).Draw(t, "what") {
			case 0: // a lossy frame
				if took := pool.Take(n); took != (n <= slow.size-slow.used()) {
					t.Fatalf("a lossy frame of %d bytes with %d free: taken %v", n, slow.size-slow.used(), took)
				} else if took {
					slow.lossy += n
				}
			case 1: // lossy frames leave
				pool.Add(-slow.lossy)
				slow.lossy = 0
			case 2, 3, 4: // frames leave
				n = min(n, p.base[prio]+p.head[prio])
				p.release(int(prio), n)
				_, xon := p.due(now, int(prio))
				if due := g.Release(prio, n); due != xon {
					t.Fatalf("priority %d: %d bytes leave, an XON is due: %v, should be %v", prio, n, due, xon)
				}
			case 5: // some together, for which there is room
				frames := int64(rapid.IntRange(1, 4).Draw(t, "frames"))
				if g.Room(prio, 0) < frames*n {
					break
				}
				for range frames {
					if !p.admit(int(prio), n) || p.head[prio] != 0 && p.arrived[prio] && g.Counters(now).Headroom[prio] < units.Size(p.head[prio]) {
						t.Fatalf("priority %d: there is room for %d frames of %d bytes, and one goes to headroom", prio, frames, n)
					}
				}
				if rapid.Bool().Draw(t, "all at once") {
					g.ChargeAll(prio, frames*n)
				} else {
					for range frames {
						if !g.Charge(prio, n) {
							t.Fatalf("priority %d: there is room, and the pool has none", prio)
						}
					}
				}
				g.Note(prio, 0)
			case 6: // other thresholds
				was := p.thresholds
				p.thresholds = anyThresholds(t)
				for q := range Classes {
					if headroom := int64(p.thresholds[q].Headroom); p.enabled>>q&1 == 0 {
						p.thresholds[q] = was[q]
					} else if p.arrived[q] = true; p.held[q] || p.head[q] > 0 {
						p.room[q] = max(p.room[q], headroom)
					} else {
						p.room[q] = headroom
					}
				}
				g.Configure(p.thresholds, pause, rate)
			case 8, 9: // other priorities have thresholds
				was := p.enabled
				sets := []uint8{lossless, lossless, lossless &^ (1 << 7), 1 << 0}
				p.enabled = rapid.SampledFrom(sets).Draw(t, "enabled")
				p.thresholds = anyThresholds(t)
				g.Restart(now, p.enabled, false)
				g.Configure(p.thresholds, pause, rate)
				for _, q := range prios {
					g.ChargeAll(q, p.base[q]+p.head[q])
					g.Note(q, 0)
					p.restart(int(q), was)
				}
			case 7: // another link
				if rapid.IntRange(0, 3).Draw(t, "relink") > 0 {
					break
				}
				for _, q := range prios {
					before := slow.used() // what one gives back to a pool that is used up is not there for the next
					if p.held[q] {
						p.refresh[q] = now
					}
					p.arrived[q] = p.arrived[q] || p.head[q] > 0
					for p.head[q] > 0 { // byte by byte, if there is room for it
						p.base[q], p.head[q] = p.base[q]+1, p.head[q]-1
						if slow.used() > max(before, slow.size) {
							p.base[q], p.head[q] = p.base[q]-1, p.head[q]+1
							break
						}
					}
					p.room[q] = int64(p.thresholds[q].Headroom)
				}
				g.Relink(now)
			default:
				if fits := p.admit(int(prio), n); g.Admit(prio, n) != fits {
					t.Fatalf("priority %d: a frame of %d bytes at %d and %d: admitted %v", prio, n, p.base[prio], p.head[prio], !fits)
				}
			}
			if rapid.IntRange(0, 2).Draw(t, "poll") > 0 {
				pollBoth(t, now, interval, g, p)
			}
			pooled := int64(0)
			for i, p := range slow.ports {
				compareTwins(t, now, fast[i], p)
				pooled += fast[i].Pooled()
			}
			if heads.Used() != slow.heads() {
				t.Fatalf("%d bytes of headroom are used, should be %d", heads.Used(), slow.heads())
			}
			if _, used := pool.State(); int64(used) != slow.used() || pooled+slow.lossy != slow.used() || pool.Free() != slow.free() {
				t.Fatalf("%d bytes of the pool are used, by the ports' accounts %d, should be %d", used, pooled+slow.lossy, slow.used())
			}
		}
	})
}

// pollBoth has a port send what is due.
func pollBoth(t *rapid.T, now, interval units.Time, g *Ingress, p *twinPort) {
	var want, got Frame
	for prio := range Classes {
		xoff, xon := p.due(now, prio)
		if xoff || xon {
			want.Enable |= 1 << prio
		}
		switch {
		case xoff:
			want.Quanta[prio] = 1
			p.held[prio], p.refresh[prio] = true, now+interval
			p.refused[prio] = false
		case xon:
			p.held[prio], p.room[prio] = false, int64(p.thresholds[prio].Headroom)
			p.refused[prio] = false
		}
		p.arrived[prio] = false
	}
	sent := g.Poll(now, &got)
	if sent != (want.Enable != 0) || got.Enable != want.Enable {
		t.Fatalf("priorities %b are told something, should be %b", got.Enable, want.Enable)
	}
	for prio := range Classes {
		if (got.Quanta[prio] != 0) != (want.Quanta[prio] != 0) {
			t.Fatalf("priority %d is told %d quanta", prio, got.Quanta[prio])
		}
	}
}

// compareTwins compares what can be seen of a port.
func compareTwins(t *rapid.T, now units.Time, g *Ingress, p *twinPort) {
	c, next := g.Counters(now), units.Never
	held := uint8(0)
	for prio := range Classes {
		if p.held[prio] {
			held |= 1 << prio
		}
		if xoff, xon := p.due(now, prio); xoff || xon {
			next = now
		} else if p.held[prio] {
			next = min(next, max(now, p.refresh[prio]))
		}
		if b := int64(g.Bytes(uint8(prio))); b != p.base[prio]+p.head[prio] || int64(c.Headroom[prio]) != p.head[prio] {
			t.Fatalf("priority %d: %d bytes, %d of them in headroom, should be %d and %d", prio, b, c.Headroom[prio], p.base[prio]+p.head[prio], p.head[prio])
		}
		if int64(c.Peak[prio]) != p.peak[prio] || int64(c.HeadroomMax[prio]) != p.most[prio] {
			t.Fatalf("priority %d: peaks %d and %d, should be %d and %d", prio, c.Peak[prio], c.HeadroomMax[prio], p.peak[prio], p.most[prio])
		}
		if xon := int64(p.thresholds[prio].XON) + p.raise(prio); int64(g.XON(uint8(prio))) != xon && held>>prio&1 != 0 {
			t.Fatalf("priority %d: XON at %d, should be at %d", prio, g.XON(uint8(prio)), xon)
		}
	}
	if g.PeerStopped() != held || c.PausedNow != held {
		t.Fatalf("priorities %b are held, should be %b", g.PeerStopped(), held)
	}
	if got := g.Next(now); got != next {
		t.Fatalf("next at %v, should be %v", got, next)
	}
	// Who asks when something is due, and nothing is, does not hear of what came before any more.
	for prio := range Classes {
		xoff, xon := p.due(now, prio)
		if xon || xoff && !p.held[prio] {
			break
		}
		p.arrived[prio] = p.arrived[prio] && p.held[prio]
	}
}
