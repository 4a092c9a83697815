package ratelimit

import (
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// serve lets backlogged flows send frames of equal length for a time and
// returns how many each sent.
func serve(p *Pacer[struct{}], flows int, until, frame units.Time, bytes int) []int {
	sent := make([]int, flows)
	for now := units.Time(0); now < until; now += frame {
		if p.Advance(now) == 0 {
			continue
		}
		f, _ := p.Pop(3)
		sent[f]++
		p.Sent(now, f, bytes)
		p.Wait(f, 3, now)
	}
	return sent
}

func TestWeights(t *testing.T) {
	p := NewPacer[struct{}](3)
	for f, w := range []int{1, 2, 4} {
		p.Join(f, w, -1)
		p.Wait(f, 3, 0)
	}
	var order []int
	for range 14 {
		p.Advance(0)
		f, _ := p.Pop(3)
		order = append(order, f)
		p.Wait(f, 3, 0)
	}
	if !slices.Equal(order, []int{0, 1, 1, 2, 2, 2, 2, 0, 1, 1, 2, 2, 2, 2}) {
		t.Error(order)
	}
}

// Tenants share the port by their weights however many flows they have, and
// their flows share what they get by theirs.
func TestTenantsShareByWeight(t *testing.T) {
	p := NewPacer[struct{}](101, Tenant{Weight: 3}, Tenant{Weight: 1})
	p.Join(0, 1, 0)
	for f := range 100 {
		p.Join(f+1, 1+f%2, 1)
	}
	for f := range 101 {
		p.Wait(f, 3, 0)
	}
	sent := serve(p, 101, 60_000, 1, 1000)
	if sent[0] != 45_000 {
		t.Errorf("the tenant of weight 3 sent %d of 60000 frames", sent[0])
	}
	for f, n := range sent[1:] {
		if n != 100*(1+f%2) {
			t.Errorf("flow %d sent %d frames", f+1, n)
		}
	}
}

// A capped tenant sends exactly its cap, to the frame, whatever its flows want
// and on whichever class; the others have the rest.
func TestTenantCap(t *testing.T) {
	const gap = 100 * units.Nanosecond
	p := NewPacer[struct{}](50, Tenant{Weight: 200, Cap: units.RateOf(125, gap)})
	for f := range 49 {
		p.Join(f, 1, 0)
		p.Wait(f, 3, 0)
	}
	p.Wait(49, 3, 0)
	sent := serve(p, 50, 10*units.Microsecond, 10*units.Nanosecond, 125)
	total := 0
	for _, n := range sent[:49] {
		total += n
		if n < 2 || n > 3 {
			t.Errorf("a flow of the tenant sent %d frames of its 100", n)
		}
	}
	if total != 100 || sent[49] != 900 {
		t.Errorf("the tenant sent %d frames, the other flow %d: expected 100 and 900", total, sent[49])
	}
}

// Whatever comes, no flow is lost or served twice, none before its time, and no
// tenant exceeds its cap over any span by more than a frame for each end of it.
func TestPacerProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const flows, bytes = 12, 1000
		const rate = 8 * units.Gbps // a frame of 1000 bytes in a microsecond
		p := NewPacer[struct{}](flows, Tenant{Weight: 2, Cap: rate}, Tenant{Weight: 1}, Tenant{Weight: 1, Cap: rate / 4})
		member := make([]int, flows)
		waits := map[int]units.Time{}
		for f := range flows {
			member[f] = rapid.IntRange(-1, 2).Draw(t, "tenant")
			p.Join(f, rapid.IntRange(1, 3).Draw(t, "weight"), member[f])
		}
		now := units.Time(0)
		left := map[int][]units.Time{}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				f := rapid.IntRange(0, flows-1).Draw(t, "flow")
				if at, ok := waits[f]; ok && at <= now {
					break // it may stand in a queue
				}
				at := now + units.Time(rapid.Int64Range(-1000, 5_000_000).Draw(t, "in"))
				p.Wait(f, uint8(rapid.IntRange(0, 7).Draw(t, "class")), at)
				waits[f] = at
			case 1:
				f := rapid.IntRange(0, flows-1).Draw(t, "flow")
				p.Stop(f)
				delete(waits, f)
			default:
				now += units.Time(rapid.Int64Range(0, 2_000_000).Draw(t, "dt"))
				if ready := p.Advance(now); ready != 0 {
					class := 7
					for ready>>class&1 == 0 {
						class--
					}
					f, due := p.Pop(class)
					if at, ok := waits[f]; !ok || at != due || at > now {
						t.Fatalf("flow %d, due at %v, is served at %v (waits: %v, %v)", f, due, now, at, ok)
					}
					delete(waits, f)
					if rapid.IntRange(0, 9).Draw(t, "fails") == 0 { // no memory: it goes back
						p.Wait(f, uint8(class), due)
						waits[f] = due
						break
					}
					p.Sent(now, f, bytes)
					left[member[f]] = append(left[member[f]], now)
				}
			}
		}
		for of, gap := range map[int]units.Time{0: units.Microsecond, 2: 4 * units.Microsecond} {
			for i, from := range left[of] {
				for k, to := range left[of][i:] {
					if units.Time(k-1)*gap > to-from {
						t.Fatalf("tenant %d: %d frames from %v to %v", of, k+1, from, to)
					}
				}
			}
		}
		for range 100 * flows { // what waits comes out in the end
			now += 5 * units.Microsecond
			if ready := p.Advance(now); ready != 0 {
				class := 7
				for ready>>class&1 == 0 {
					class--
				}
				f, _ := p.Pop(class)
				if _, ok := waits[f]; !ok {
					t.Fatalf("flow %d is served and did not wait", f)
				}
				delete(waits, f)
				p.Sent(now, f, bytes)
			}
		}
		if len(waits) != 0 || p.Next() != units.Never {
			t.Fatalf("still waiting: %v, next %v", waits, p.Next())
		}
	})
}

// A timer beyond the horizon comes at its time although the wheel was turned a
// little at a time on the way there.
func TestTimerBeyondTheHorizon(t *testing.T) {
	w := NewWheel[struct{}](1 + shortListLen)
	now := 3*Horizon - 1
	w.Expire(now)
	for f := range shortListLen { // others, so that there are not few
		w.Schedule(1+f, now+Horizon)
	}
	w.Schedule(0, now+2)
	if _, ok := w.Expire(now + 1); ok {
		t.Error("it expires early")
	}
	if _, ok := w.Expire(now + 2); !ok {
		t.Error("it does not expire")
	}
}

// A few timers come out of their list in the order in which they would come out of
// the wheel, those of one instant included.
func TestFewAreAsMany(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const flows = 12
		few, many := NewWheel[struct{}](flows+shortListLen), NewWheel[struct{}](flows+shortListLen)
		now := rapid.SampledFrom([]units.Time{0, Slot<<digitBits - 5, Slot<<(2*digitBits) - 5}).Draw(t, "now")
		few.Expire(now)
		many.Expire(now)
		for f := range shortListLen {
			many.Schedule(flows+f, Horizon/2)
		}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			flow := rapid.IntRange(0, flows-1).Draw(t, "flow")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0, 1:
				at := now + units.Time(rapid.Int64Range(0, 5).Draw(t, "in"))*rapid.SampledFrom([]units.Time{1, Slot / 2, 100 * Slot, 1 << 30}).Draw(t, "scale")
				few.Schedule(flow, at)
				many.Schedule(flow, at)
			case 2:
				few.Cancel(flow)
				many.Cancel(flow)
			default:
				now += units.Time(rapid.Int64Range(0, 1<<rapid.IntRange(1, 34).Draw(t, "log")).Draw(t, "dt"))
				for {
					a, ok := few.Expire(now)
					b, also := many.Expire(now)
					if ok != also || ok && a != b {
						t.Fatalf("at %v: %d (%v) of few, %d (%v) of many", now, a, ok, b, also)
					}
					if !ok {
						break
					}
				}
			}
			if few.Len()+shortListLen != many.Len() || few.Scheduled(flow) != many.Scheduled(flow) {
				t.Fatalf("%d and %d timers", few.Len(), many.Len())
			}
			if few.Next() < many.Next() {
				t.Fatalf("few expire from %v on, many from %v", few.Next(), many.Next())
			}
		}
	})
}

// A timer that is set to the time which it has already goes behind the others of that
// time, among few and among many.
func TestSetAgainToTheSameTime(t *testing.T) {
	for _, others := range []int{0, shortListLen} {
		for again := range 3 {
			w := NewWheel[struct{}](3 + shortListLen)
			for f := range others {
				w.Schedule(3+f, Horizon/2)
			}
			for f := range 3 {
				w.Schedule(f, Slot)
			}
			w.Schedule(again, Slot)
			want := []int{again}
			for f := 2; f >= 0; f-- {
				if f != again {
					want = append([]int{f}, want...)
				}
			}
			for i, f := range want {
				if got, ok := w.Expire(Slot); !ok || got != f {
					t.Errorf("%d others, %d set again: flow %d came out as number %d, want %v", others, again, got, i, want)
				}
			}
			if _, ok := w.Expire(Slot); ok || w.Len() != others {
				t.Errorf("%d timers are left of %d", w.Len(), others)
			}
		}
	}
}

// A port that is served in time sends no frame before a gap has passed. One that is late makes good for as long as
// it is, and for no more than so many frames.
func TestAfter(t *testing.T) {
	p := NewPacer[struct{}](1)
	for _, c := range []struct{ late, due, gap, want units.Time }{
		{0, 1000, 10, 1010}, {0, 995, 10, 1005}, {0, 900, 10, 1000}, {0, 0, units.Never, units.Never},
		{50, 960, 10, 970}, {50, 900, 10, 950}, {900, 100, 10, 1000 - 10*maxCatchUp}, {900, 100, 1, 1000 - maxCatchUp},
		{900, 990, 10, 1000}, {50, 0, units.Never, units.Never}, {900, 0, 50, 100},
	} {
		p.SetLateness(c.late)
		if got := p.Departure(1000, c.due, c.gap); got != c.want {
			t.Errorf("late by %d, due at %d, gap %d: %d, want %d", c.late, c.due, c.gap, got, c.want)
		}
	}
}

// PopSole is a short way: who takes it where it can be taken serves the same flows at the same times as who never does,
// whatever classes are open.
func TestPopSoleIsTheSame(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		const flows = 4
		short, long := NewPacer[struct{}](flows, Tenant{Weight: 1}), NewPacer[struct{}](flows, Tenant{Weight: 1})
		for f := range flows {
			weight := rapid.IntRange(1, 3).Draw(t, "weight")
			tenant := rapid.SampledFrom([]int{-1, -1, -1, 0}).Draw(t, "tenant")
			short.Join(f, weight, tenant)
			long.Join(f, weight, tenant)
		}
		now := units.Time(0)
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			now += units.Time(rapid.IntRange(0, 2).Draw(t, "later")) * units.Microsecond
			if rapid.Bool().Draw(t, "waits") {
				f := rapid.IntRange(0, flows-1).Draw(t, "flow")
				class := rapid.SampledFrom([]uint8{0, 3, 7}).Draw(t, "class")
				at := now + units.Time(rapid.IntRange(-1, 3).Draw(t, "in"))*units.Microsecond
				short.Wait(f, class, at)
				long.Wait(f, class, at)
				continue
			}
			open := rapid.SampledFrom([]uint8{0xFF, 0xFF, 1 << 3, 0x7F, 0}).Draw(t, "open")
			pop := func(p *Pacer[struct{}]) (flow int, due units.Time) {
				if ready := p.Advance(now) & open; ready != 0 {
					return p.Pop(bits.Len8(ready) - 1)
				}
				return -1, 0
			}
			flow, due, ok := short.PopSole(now, open)
			if !ok {
				flow, due = pop(short)
			} else {
				taken++
			}
			if f, d := pop(long); f != flow || d != due {
				t.Fatalf("at %v flow %d, due at %v, is served, should be %d, due at %v", now, flow, due, f, d)
			}
		}
	})
	if taken == 0 {
		t.Error("the short way was never taken")
	}
}
