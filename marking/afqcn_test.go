package marking

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// waterFill divides total among weights with caps by raising one level until
// all of it is spent: slow, and there is nothing to get wrong.
func waterFill(total float64, weights, caps []float64) []float64 {
	spent := func(level float64) (sum float64) {
		for i, w := range weights {
			sum += min(caps[i], level*w)
		}
		return sum
	}
	low, high := 0.0, 1.0
	for spent(high) < total && high < 1e18 {
		high *= 2
	}
	for range 200 {
		if mid := (low + high) / 2; spent(mid) < total {
			low = mid
		} else {
			high = mid
		}
	}
	parts := make([]float64, len(weights))
	for i, w := range weights {
		parts[i] = min(caps[i], high*w)
	}
	return parts
}

// divide asks the implementation. With an interval of 8 s, a rate in bit/s is a
// cap in bytes.
func divide(total float64, shares []Share) (parts []float64) {
	f := &fairness{params: AFQCNParams{Interval: 8 * units.Second}}
	var active []int
	for i, s := range shares {
		f.classes = append(f.classes, class{share: s})
		active = append(active, i)
	}
	f.allocate(active, total)
	for _, c := range f.classes {
		parts = append(parts, c.fair)
	}
	return parts
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

func TestAFQCNMaxMinVectors(t *testing.T) {
	for _, c := range []struct {
		total  float64
		shares []Share
		want   []float64
	}{
		{10, []Share{{Weight: 4}, {Weight: 3}, {Weight: 2}, {Weight: 1}}, []float64{4, 3, 2, 1}},
		{10, []Share{{4, 1}, {Weight: 3}, {Weight: 2}, {Weight: 1}}, []float64{1, 4.5, 3, 1.5}},
		{10, []Share{{1, 2}, {1, 3}, {Weight: 1}}, []float64{2, 3, 5}},
		{9, []Share{{1, 2}, {1, 3}, {Weight: 1}}, []float64{2, 3, 4}},
		{9, []Share{{1, 100}, {2, 100}}, []float64{3, 6}}, // caps that do not bind
		{10, []Share{{1, 2}, {1, 3}}, []float64{2, 3}},    // more than all may have
		{10, []Share{{1, 4}, {4, 5}, {Weight: 1}}, []float64{2.5, 5, 2.5}},
		{7, []Share{{Weight: 0.5}}, []float64{7}},
		{0, []Share{{Weight: 1}, {2, 1}}, []float64{0, 0}},
		{5, nil, nil},
	} {
		got := divide(c.total, c.shares)
		for i := range c.want {
			if !near(got[i], c.want[i]) {
				t.Errorf("%v among %+v: %v, want %v", c.total, c.shares, got, c.want)
				break
			}
		}
	}
}

func TestAFQCNMaxMinAgainstWaterFilling(t *testing.T) {
	thousands(t, func(t *rapid.T) {
		var shares []Share
		var weights, caps []float64
		for range rapid.IntRange(1, 12).Draw(t, "classes") {
			s := Share{Weight: float64(evenly(1, 40).Draw(t, "weight")) / 8, Max: units.Rate(evenly(0, 1000).Draw(t, "max") * rapid.Int64Range(0, 1).Draw(t, "capped"))}
			shares, weights, caps = append(shares, s), append(weights, s.Weight), append(caps, float64(s.Max))
			if s.Max == 0 {
				caps[len(caps)-1] = math.Inf(1)
			}
		}
		total := float64(evenly(0, 5000).Draw(t, "total"))
		got, want := divide(total, shares), waterFill(total, weights, caps)
		for i := range want {
			if !near(got[i], want[i]) {
				t.Fatalf("%v among %+v:\ngot  %v\nwant %v", total, shares, got, want)
			}
		}
	})
}

// apart is how far the hashes of flows are from each other that share two guesses.
const apart = guesses / 2

// slowAF is AF-QCN's controller with a map and without memory of how far it got.
type slowAF struct {
	p        AFQCNParams
	shares   map[uint32]Share
	interval units.Time // number of the current one
	classes  map[uint32]*slowClass
}

type slowClass struct{ arrived, m, fair float64 }

func (s *slowAF) arrive(now units.Time, hash uint32, size int) {
	for ; s.interval < now/s.p.Interval; s.interval++ {
		s.endInterval()
	}
	if s.classes[hash] == nil {
		s.classes[hash] = &slowClass{}
	}
	s.classes[hash].arrived += float64(size)
}

func (s *slowAF) endInterval() {
	var active []*slowClass
	var weights, caps []float64
	total := 0.0
	for hash := uint32(0); hash < 8*apart; hash += apart {
		c := s.classes[hash]
		if c == nil {
			continue
		}
		c.m = float64((1-s.p.Beta)*c.m) + float64(s.p.Beta*c.arrived) // equation 5
		c.arrived, c.fair = 0, 0
		if c.m < 1 { // less than a byte: forgotten, a choice that bounds the table
			delete(s.classes, hash)
			continue
		}
		if c.m > float64(s.p.Active) {
			share := s.shares[hash]
			limit := math.Inf(1)
			if share.Max > 0 {
				limit = float64(share.Max) * s.p.Interval.Seconds() / 8
			}
			active, weights, caps = append(active, c), append(weights, share.Weight), append(caps, limit)
			total += c.m
		}
	}
	for i, part := range waterFill(total, weights, caps) {
		active[i].fair = part
	}
}

// between returns FbAF of a class; two values if real numbers leave it open
// which side of a step D is on.
func (s *slowAF) between(hash uint32) (low, high int64) {
	c := s.classes[hash]
	if c == nil || c.fair == 0 {
		return 0, 0
	}
	at := func(shift float64) int64 {
		d := max(0, 1-c.fair/c.m)
		return min(63, max(0, int64(math.Floor(64*d+shift))))
	}
	return at(-1e-7), at(1e-7)
}

// mixed is equation 4 in whole numbers, with alpha in 64ths, to the nearest. Rounding
// is a choice: the paper does not say, and rounding down would hide an FbAF below 8.
func mixed(alpha64, qcn, af int64) uint8 {
	return uint8(max(0, (64-alpha64)*qcn+alpha64*af+32) / 64)
}

func TestAFQCNAgainstSlowTwin(t *testing.T) {
	thousands(t, func(t *rapid.T) {
		alpha64 := evenly(1, 63).Draw(t, "alpha*64")
		q := &slowQCN{
			setPoint: evenly(1000, 50_000).Draw(t, "set point"),
			weight16: evenly(1, 64).Draw(t, "w/16"),
			base:     evenly(10_000, 20_000).Draw(t, "base"),
			fixed:    rapid.Bool().Draw(t, "fixed"),
		}
		p := AFQCNParams{
			QCNParams: QCNParams{SetPoint: units.Size(q.setPoint), Weight: float64(q.weight16) / 16, SampleBase: units.Size(q.base), Sampling: sampling(q.fixed)},
			Alpha:     float64(alpha64) / 64,
			Interval:  units.Time(rapid.IntRange(1, 4).Draw(t, "Ts")) * units.Millisecond,
			Beta:      float64(evenly(1, 15).Draw(t, "beta*16")) / 16,
			Active:    units.Size(evenly(0, 5000).Draw(t, "active")),
			Classes:   8,
			Floor:     rapid.Bool().Draw(t, "floor"),
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		shares := map[uint32]Share{}
		redraw := func(hash uint32) {
			shares[hash] = Share{Weight: float64(evenly(1, 16).Draw(t, "weight")) / 4}
			if rapid.Bool().Draw(t, "capped") { // in whole bytes per interval
				shares[hash] = Share{shares[hash].Weight, units.Rate(evenly(1, 500).Draw(t, "max")) * 80 * units.Kbps}
			}
		}
		for n := range uint32(8) {
			redraw(n * apart)
		}
		s := &slowAF{p: p, shares: shares, classes: map[uint32]*slowClass{}}
		c := NewAFQCN(p, 1, func(hash uint32, _ *Packet) (Share, bool) { return shares[hash], true })
		now := units.Time(0)
		step := evenly(0, int64(p.Interval)).Draw(t, "step")
		for range evenly(1, 100).Draw(t, "frames") {
			now += units.Time(evenly(0, step).Draw(t, "gap"))
			switch evenly(0, 40).Draw(t, "what") {
			case 0: // silence, in which estimates decay
				now += p.Interval * units.Time(rapid.IntRange(0, 300).Draw(t, "silent"))
			case 1: // a share that changes holds from the next interval on
				redraw(rapid.Uint32Range(0, 7).Draw(t, "whose") * apart)
			}
			hash := rapid.Uint32Range(0, 7).Draw(t, "class") * apart
			size := int(evenly(60, 9014).Draw(t, "size"))
			queue := evenly(0, 3*q.setPoint).Draw(t, "queue")
			s.arrive(now, hash, size)
			got, ok := c.Enqueue(now, queued(units.Size(queue)), ofFlow(size, hash))

			if !q.sampled(int64(size)) {
				if ok || got != (Sample{}) {
					t.Fatalf("sampled early: %+v", got)
				}
			} else {
				low, high := s.between(hash)
				fb := q.signed(queue)
				if p.Floor {
					fb = max(0, fb)
				}
				if got.QntzFb != mixed(alpha64, fb, low) && got.QntzFb != mixed(alpha64, fb, high) || ok != (got.QntzFb > 0) ||
					got.QOffset != units.Size(q.setPoint-queue) || got.QDelta != units.Size(queue-q.old) {
					t.Fatalf("%+v %v, want a mix of %d and %d to %d", got, ok, fb, low, high)
				}
				q.renew(queue, got.QntzFb) // the mix drives the sampling, a choice
			}
			if c.fair.table.Len() != len(s.classes) {
				t.Fatalf("%d classes, want %d", c.fair.table.Len(), len(s.classes))
			}
			for hash, want := range s.classes {
				have := c.fair.classes[c.fair.table.Lookup(hash)]
				if g := &c.fair.guesses[hash%guesses]; g.hash == hash && g.class != 0 {
					have.arrived += g.arrived
				}
				if !near(have.estimate, want.m) || !near(have.fair, want.fair) || float64(have.arrived) != want.arrived {
					t.Fatalf("class %d: %+v, want %+v", hash, have, want)
				}
			}
		}
	})
}

var hotAF = AFQCNParams{
	QCNParams: QCNParams{SetPoint: 26_000, Weight: 2, SampleBase: 10_000},
	Alpha:     0.125, Interval: units.Millisecond, Beta: 0.125, Active: 20_000, Classes: 4, Floor: true,
}

// settled returns a congestion point that saw each class send so many bytes in
// every interval, for so long that the estimates stand still.
func settled(p AFQCNParams, share Shares, sends ...int) (c *QCN, now units.Time) {
	c = NewAFQCN(p, 1, share)
	for range 400 {
		for hash, n := range sends {
			c.Enqueue(now, queued(0), ofFlow(n, uint32(hash)))
		}
		now += p.Interval
	}
	return c, now
}

// always is the shares of flows by their hashes, whatever else is known of them.
func always(share func(hash uint32) Share) Shares {
	return func(hash uint32, _ *Packet) (Share, bool) { return share(hash), true }
}

// ofFlow is a packet of a flow with such a hash.
func ofFlow(size int, hash uint32) *Packet { return &Packet{Size: size, hash: hash, known: true} }

// An estimate is an average with weight beta for the newest interval.
func TestAFQCNEstimate(t *testing.T) {
	c := NewAFQCN(hotAF, 1, Equal)
	want := 0.0
	for i, n := range []int{80_000, 80_000, 0, 160_000} {
		now := units.Time(i) * units.Millisecond
		c.Enqueue(now, queued(0), ofFlow(n, 5))
		c.Enqueue(now+units.Millisecond, queued(0), ofFlow(0, 5)) // ends the interval
		want += (float64(n) - want) / 8
		if got := c.fair.classes[c.fair.table.Lookup(5)].estimate; !near(got, want) {
			t.Errorf("after %d intervals: %v, want %v", i+1, got, want)
		}
	}
}

// FbAF is 64 D rounded down; with no congestion it alone speaks, an eighth of it.
func TestAFQCNFeedback(t *testing.T) {
	threeToOne := always(func(h uint32) Share { return Share{Weight: 3 - 2*float64(h)} })
	capped := always(func(uint32) Share { return Share{1, 400 * units.Mbps} })
	for _, c := range []struct {
		sends  []int
		share  Shares
		queue  units.Size // -Fb of QCN is 3 queue - 26 000, since all samples before saw an empty one
		want   uint8      // of the first class
		reason string
	}{
		{[]int{100_000, 100_000}, Equal, 0, 0, "equal"},
		{[]int{200_000, 100_000}, Equal, 0, 2, "D = 1/4, FbAF = 16"},
		{[]int{300_000, 100_000}, Equal, 0, 3, "D = 1/3, FbAF = 21, 2.6"},
		{[]int{500_000, 300_000}, Equal, 0, 2, "D = 1/5, FbAF = 12, 1.5"},
		{[]int{400_000, 300_000}, Equal, 0, 1, "D = 1/8, FbAF = 8"},
		{[]int{100_000, 300_000}, Equal, 0, 0, "below its share"},
		{[]int{300_000, 100_000}, Equal, 52_000, 58, "63 and 21 are 57.75"},
		{[]int{100_000, 300_000}, Equal, 52_000, 55, "63 and 0 are 55.1"},
		{[]int{300_000, 100_000}, threeToOne, 0, 0, "3 to 1 is its due"},
		{[]int{200_000, 100_000}, capped, 0, 6, "cap 50 KB: D = 3/4, FbAF = 48"},
		{[]int{400_000, 19_000}, Equal, 0, 0, "the other one is not active: all is its own"},
		{[]int{19_000, 400_000}, Equal, 0, 0, "not active itself"},
	} {
		p, now := settled(hotAF, c.share, c.sends...)
		s, ok := p.Enqueue(now, queued(c.queue), ofFlow(1_000_000, 0))
		if s.QntzFb != c.want || ok != (c.want > 0) {
			t.Errorf("%v, queue %d: %d, want %d (%s)", c.sends, c.queue, s.QntzFb, c.want, c.reason)
		}
	}
}

// Without a floor, a queue below its set point forgives a flow that exceeds its
// share: with Qold = 0, QCN's part is 63 (3 Q - Qeq) / (5 Qeq).
func TestAFQCNSigned(t *testing.T) {
	p := hotAF
	p.Floor = false
	for _, c := range []struct {
		queue units.Size
		want  uint8
	}{
		{0, 0},      // -12 and 32 are -6.5
		{5_000, 0},  // -5 and 32 are -0.4
		{7_000, 2},  // -2 and 32 are 2.25
		{8_666, 4},  // 0 and 32
		{10_000, 5}, // 1 and 32 are 4.9
		{52_000, 59},
	} {
		oneToFive := always(func(h uint32) Share { return Share{Weight: 1 + 4*float64(h)} })
		cp, now := settled(p, oneToFive, 300_000, 600_000) // D = 1/2, FbAF = 32
		if s, ok := cp.Enqueue(now, queued(c.queue), &Packet{Size: 1_000_000}); s.QntzFb != c.want || ok != (c.want > 0) {
			t.Errorf("queue %d: %d, want %d", c.queue, s.QntzFb, c.want)
		}
	}
}

// Flows that the table cannot tell apart any more get QCN's feedback alone.
func TestAFQCNFullTable(t *testing.T) {
	p := hotAF
	p.Classes = 1
	c, now := settled(p, always(func(uint32) Share { return Share{1, 8 * units.Mbps} }), 100_000, 100_000)
	if s, _ := c.Enqueue(now, queued(52_000), ofFlow(1_000_000, 1)); s.QntzFb != 55 { // 7/8 of 63
		t.Errorf("QntzFb %d", s.QntzFb)
	}
	if s, _ := c.Enqueue(now, queued(0), ofFlow(1_000_000, 0)); s.QntzFb != 8 { // D = 0.99, FbAF = 63
		t.Errorf("QntzFb %d", s.QntzFb)
	}
}

// A cap of less than a byte in an interval is a cap still: D is 1, and FbAF
// has six bits only.
func TestAFQCNSmallestCap(t *testing.T) {
	c, now := settled(hotAF, always(func(uint32) Share { return Share{1, 1 * units.Kbps} }), 100_000)
	if s, _ := c.Enqueue(now, queued(0), &Packet{Size: 1_000_000}); s.QntzFb != 8 {
		t.Errorf("QntzFb %d, want an eighth of 63", s.QntzFb)
	}
}
