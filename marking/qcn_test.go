package marking

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// thousands runs a property on some thousands of random sequences; rapid's own
// hundred is too few for the rare corners of a state machine.
func thousands(t *testing.T, prop func(*rapid.T)) {
	t.Helper()
	for range 40 {
		rapid.Check(t, prop)
	}
}

// evenly draws from a range without rapid's liking for small numbers, which
// would leave long queues and long sequences untried.
func evenly(low, high int64) *rapid.Generator[int64] {
	return rapid.Map(rapid.Uint64(), func(u uint64) int64 { return low + int64(u*0x9E3779B97F4A7C15>>11%uint64(high-low+1)) })
}

func queued(n units.Size) Queue { return Queue{Bytes: n, Frames: int(n+999) / 1000} }

// slowQCN is clause 30.2 in whole numbers: the weight is in sixteenths, so that
// nothing is rounded but where the standard rounds.
type slowQCN struct {
	setPoint, weight16, base int64
	fixed                    bool  // the table has its first row only
	old                      int64 // queue at the last sample
	bytes                    int64 // since the last sample
	index                    int64 // in the mark table
}

// sampled counts a frame. It is sampled when more than the table's bytes have
// passed: time_to_mark below zero.
func (s *slowQCN) sampled(size int64) bool {
	s.bytes += size
	return s.bytes*(s.index+1) > s.base
}

func (s *slowQCN) feedback(queue int64) uint8 { return uint8(max(0, s.signed(queue))) }

// signed is the feedback that AF-QCN mixes: below 0 without congestion.
func (s *slowQCN) signed(queue int64) (fb int64) {
	worst := s.setPoint * (2*s.weight16 + 16)
	minus := -(16*(s.setPoint-queue) - s.weight16*(queue-s.old))
	for fb < 63 && (fb+1)*worst <= 63*minus {
		fb++
	}
	for fb > -63 && (fb-1)*worst >= 63*minus {
		fb--
	}
	return fb
}

// renew begins the next interval, whether the sample was worth a message or not.
func (s *slowQCN) renew(queue int64, fb uint8) {
	s.old, s.bytes, s.index = queue, 0, int64(fb/8)
	if s.fixed {
		s.index = 0
	}
}

func TestQCNAgainstSlowTwin(t *testing.T) {
	thousands(t, func(t *rapid.T) {
		s := &slowQCN{
			setPoint: evenly(100, 100_000).Draw(t, "set point"),
			weight16: evenly(1, 100).Draw(t, "w/16"),
			base:     evenly(10_000, 40_000).Draw(t, "base"),
			fixed:    rapid.Bool().Draw(t, "fixed"),
		}
		p := QCNParams{SetPoint: units.Size(s.setPoint), Weight: float64(s.weight16) / 16, SampleBase: units.Size(s.base), Sampling: sampling(s.fixed)}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		c := NewQCN(p, rapid.Uint64().Draw(t, "seed"))
		worst := s.setPoint * (2*s.weight16 + 16) / 16
		for range evenly(1, 60).Draw(t, "frames") {
			size := evenly(60, 9014).Draw(t, "size")
			queue := evenly(0, worst/2+s.setPoint).Draw(t, "queue")
			old := s.old
			want, wantOK := Sample{}, false
			if s.sampled(size) {
				want = Sample{s.feedback(queue), units.Size(s.setPoint - queue), units.Size(queue - old)}
				wantOK = want.QntzFb > 0
				s.renew(queue, want.QntzFb)
			}
			got, ok := c.Enqueue(0, queued(units.Size(queue)), &Packet{Size: int(size)})
			if got != want || ok != wantOK {
				t.Fatalf("queue %d after %d: %+v %v, want %+v %v", queue, old, got, ok, want, wantOK)
			}
			if c.Dequeue(0, queued(units.Size(queue)), &Packet{Size: int(size)}) != Unchanged {
				t.Fatal("QCN marked")
			}
		}
	})
}

func sampling(fixed bool) Sampling {
	if fixed {
		return Fixed
	}
	return Adaptive
}

// Fixed sampling: after a sample of each of the 64 levels the next one comes after
// as many bytes as after one without congestion. With frames of one size that is
// one in so many, as PCN's paper has it: here the 100 of 1062 B that 106 200 B are.
func TestQCNFixedSampling(t *testing.T) {
	p := mibQCN
	p.SampleBase, p.Sampling = 106_200, Fixed
	for level := range int64(64) {
		c := NewQCN(p, 1)
		queue := units.Size((26_000 + (level*130_000+62)/63 + 2) / 3)
		if got := atOnce(c, queue); int64(got) != level {
			t.Fatalf("QntzFb %d, want %d", got, level)
		}
		frames := 0
		for {
			frames++
			if s, _ := c.Enqueue(0, queued(1), &Packet{Size: 1062}); s.QOffset != 0 {
				break
			}
		}
		if frames != 101 { // more than the base, so the frame after the hundredth
			t.Errorf("QntzFb %d: next sample at frame %d, want 101", level, frames)
		}
	}
}

// The defaults of IEEE8021-CN-MIB.
var mibQCN = QCNParams{SetPoint: 26_000, Weight: 2, SampleBase: 150_000}

// atOnce samples the first frame: with Qold = 0, -Fb is 3 Q - Qeq.
func atOnce(c *QCN, queue units.Size) uint8 {
	s, _ := c.Enqueue(0, queued(queue), &Packet{Size: 1_000_000})
	return s.QntzFb
}

// Each of the 64 levels begins where 63 (-Fb) reaches that multiple of
// Qeq (2w+1) = 130 000, not a byte earlier, and the last one has no end.
func TestQCNQuantisation(t *testing.T) {
	for level := range int64(64) {
		need := (level*130_000 + 62) / 63 // least -Fb
		queue := units.Size((26_000 + need + 2) / 3)
		if got := atOnce(NewQCN(mibQCN, 1), queue); int64(got) != level {
			t.Errorf("queue %d: QntzFb %d, want %d", queue, got, level)
		}
		if level > 0 {
			if got := atOnce(NewQCN(mibQCN, 1), queue-1); int64(got) != level-1 {
				t.Errorf("queue %d: QntzFb %d, want %d", queue-1, got, level-1)
			}
		}
	}
	for _, c := range []struct {
		queue units.Size
		want  uint8
	}{{0, 0}, {8666, 0}, {51_999, 62}, {52_000, 63}, {52_001, 63}, {1 << 40, 63}} {
		if got := atOnce(NewQCN(mibQCN, 1), c.queue); got != c.want {
			t.Errorf("queue %d: QntzFb %d, want %d", c.queue, got, c.want)
		}
	}
}

// The standard's table in its division form, for each of the 64 levels.
func TestQCNMarkTable(t *testing.T) {
	table := [8]int{150_000, 75_000, 50_000, 37_500, 30_000, 25_000, 21_428, 18_750}
	for level := range int64(64) {
		c := NewQCN(mibQCN, 1)
		queue := units.Size((26_000 + (level*130_000+62)/63 + 2) / 3)
		if got := atOnce(c, queue); int64(got) != level {
			t.Fatalf("QntzFb %d, want %d", got, level)
		}
		bytes := 0
		for {
			bytes++
			// QOffset tells a sample even without congestion.
			if s, _ := c.Enqueue(0, queued(1), &Packet{Size: 1}); s.QOffset != 0 {
				break
			}
		}
		if bytes != table[level/8]+1 {
			t.Errorf("QntzFb %d: next sample after %d bytes, want more than %d", level, bytes, table[level/8])
		}
	}
}

// A sample without congestion is no message, but its queue counts as the old one.
func TestQCNRemembersEverySample(t *testing.T) {
	c := NewQCN(mibQCN, 1)
	for _, step := range []struct {
		queue units.Size
		want  Sample
		ok    bool
	}{
		{5_000, Sample{0, 21_000, 5_000}, false},
		{20_000, Sample{11, 6_000, 15_000}, true}, // -Fb = 24 000
		{30_000, Sample{11, -4_000, 10_000}, true},
		{1_000, Sample{0, 25_000, -29_000}, false},
		{26_000, Sample{24, 0, 25_000}, true}, // 50 000
	} {
		got, ok := c.Enqueue(0, queued(step.queue), &Packet{Size: 200_000})
		if got != step.want || ok != step.ok {
			t.Errorf("queue %d: %+v %v, want %+v %v", step.queue, got, ok, step.want, step.ok)
		}
	}
}

// Every interval is within 1-j to 1+j of the table's, and they fill that range.
// The first is drawn as well, a choice: the ports of a network do not sample in step.
func TestQCNJitter(t *testing.T) {
	for _, j := range []float64{0.15, 0.25} {
		p := QCNParams{SetPoint: 26_000, Weight: 2, SampleBase: 10_000, Jitter: j}
		for _, c := range []struct {
			queue units.Size
			index float64
		}{{0, 0}, {1 << 30, 7}} {
			point := NewQCN(p, 3)
			low, high, sum, bytes := math.Inf(1), 0.0, 0.0, 0
			const n = 1000
			for i := 0; i < n; {
				bytes++
				// A growth beyond all bounds keeps QntzFb at 63.
				s, _ := point.Enqueue(0, queued(c.queue*units.Size(i+1)), &Packet{Size: 1})
				if s.QOffset == 0 {
					continue
				}
				index := c.index
				if i == 0 {
					index = 0
				}
				ratio := float64(bytes) * (index + 1) / 10_000
				low, high, sum, bytes = min(low, ratio), max(high, ratio), sum+ratio, 0
				i++
			}
			byteMore := (c.index + 1) / 10_000
			if low < 1-j || high > 1+j+byteMore {
				t.Errorf("jitter %v, index %v: from %.4f to %.4f", j, c.index, low, high)
			}
			if low > 1-0.95*j || high < 1+0.95*j || math.Abs(sum/n-1) > 0.05*j/0.15 {
				t.Errorf("jitter %v, index %v: %.4f to %.4f, mean %.4f do not fill the range", j, c.index, low, high, sum/n)
			}
		}
	}
}

func TestQCNRepeats(t *testing.T) {
	p := mibQCN
	p.Jitter = 0.15
	a, b, c := NewQCN(p, 7), NewQCN(p, 7), NewQCN(p, 8)
	same := true
	for i := range 10_000 {
		q := queued(units.Size(i % 500 * 200))
		x, okX := a.Enqueue(0, q, &Packet{Size: 1000})
		if y, okY := b.Enqueue(0, q, &Packet{Size: 1000}); x != y || okX != okY {
			t.Fatal("one seed, two sequences")
		}
		z, _ := c.Enqueue(0, q, &Packet{Size: 1000})
		same = same && x == z
	}
	if same {
		t.Fatal("two seeds, one sequence")
	}
}
