package cnp

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

const us = units.Microsecond

// thousands runs a property on some thousands of random sequences; rapid's own
// hundred is too few for the rare corners of a list.
func thousands(t *testing.T, prop func(*rapid.T)) {
	t.Helper()
	for range 40 {
		rapid.Check(t, prop)
	}
}

// evenly draws from a range without rapid's liking for small numbers, which
// would leave long sequences untried.
func evenly(low, high int64) *rapid.Generator[int64] {
	return rapid.Map(rapid.Uint64(), func(u uint64) int64 { return low + int64(u*0x9E3779B97F4A7C15>>11%uint64(high-low+1)) })
}

// slow is a twin of an NP.
type slow interface {
	data(now units.Time, flow int, ecn uint8)
	next() units.Time
	poll(now units.Time) []report
	forget(flow int)
}

// compare puts an NP and its twin through one random sequence of frames and
// forgotten flows, polled when they ask for it or, if lazy, whenever.
func compare(t *rapid.T, np NP, twin slow, flows int, scale units.Time) {
	now := units.Time(0)
	poll := func() {
		want := twin.poll(now)
		for i := 0; ; i++ {
			flow, n, ok := np.Poll(now)
			if !ok {
				if i != len(want) {
					t.Fatalf("at %v: %d notices, want %v", now, i, want)
				}
				return
			}
			if i >= len(want) || (report{now, flow, n}) != want[i] {
				t.Fatalf("at %v: notice %d is %+v of flow %d, want %v", now, i, n, flow, want)
			}
		}
	}
	// An NP need not be asked when its twin is, but whenever there is something to tell.
	visit := func() {
		if np.Next() <= now {
			poll()
		} else if late := twin.poll(now); len(late) > 0 {
			t.Fatalf("at %v: not due before %v, but there is %v", now, np.Next(), late)
		}
	}
	step := evenly(1, int64(scale)).Draw(t, "step")
	lazy := rapid.IntRange(0, 3).Draw(t, "lazy") == 0
	for range evenly(1, 120).Draw(t, "events") {
		at := now + units.Time(evenly(0, step).Draw(t, "later"))
		if evenly(0, 40).Draw(t, "silence") == 0 {
			at += 20*scale + 1 // not at the instant of a visit: either may come first then
		}
		for !lazy && twin.next() <= at {
			now = max(now, twin.next())
			visit()
		}
		now = at
		flow := int(evenly(0, int64(flows)-1).Draw(t, "flow"))
		switch evenly(0, 15).Draw(t, "what") {
		case 0:
			poll() // when a flow is forgotten is not said
			np.Forget(flow)
			twin.forget(flow)
		case 1:
			poll()
		default:
			ecn := rapid.SampledFrom([]uint8{wire.CE, wire.ECT0, wire.ECT1, wire.NotECT}).Draw(t, "ecn")
			np.Data(now, flow, ecn, 1000)
			twin.data(now, flow, ecn)
		}
		if np.Next() < twin.next() {
			t.Fatalf("at %v: due at %v, want %v", now, np.Next(), twin.next())
		}
	}
	for twin.next() != units.Never {
		now = max(now, twin.next())
		visit()
	}
	if np.Next() != units.Never && np.Next() > now {
		t.Fatalf("at %v: due at %v, want never", now, np.Next())
	}
}

// slowPlus is ICNP'18 section IV.B.2 with a list that is scanned and maps.
type slowPlus struct {
	p        DCQCNPlusParams
	list     []int
	visit    units.Time
	marked   map[int]bool
	lastMark map[int]units.Time // last mark
	lastCNP  map[int]units.Time // missing: none yet
}

func newSlowPlus(p DCQCNPlusParams) *slowPlus {
	return &slowPlus{p: p, marked: map[int]bool{}, lastMark: map[int]units.Time{}, lastCNP: map[int]units.Time{}}
}

func (s *slowPlus) data(now units.Time, flow int, ecn uint8) {
	if ecn != wire.CE {
		return
	}
	for len(s.marked) == 0 && len(s.list) > 0 && s.visit < now {
		s.visitNext() // a visit that nobody waits for was when it was
	}
	s.marked[flow], s.lastMark[flow] = true, now
	if !slices.Contains(s.list, flow) {
		if len(s.list) == 0 && s.visit < now {
			s.visit = now // an idle scan begins at once
		}
		s.list = append(s.list, flow)
	}
}

func (s *slowPlus) next() units.Time {
	if len(s.list) == 0 {
		return units.Never
	}
	return s.visit
}

// poll visits the records that are due, one in each gap.
func (s *slowPlus) poll(now units.Time) (got []report) {
	for len(s.list) > 0 && s.visit <= now {
		if flow, n, ok := s.visitNext(); ok {
			got = append(got, report{now, flow, n})
		}
	}
	return got
}

// visitNext visits one record. How a flow leaves the list is not in the paper; here silence
// decides, even over a mark that was not told yet.
func (s *slowPlus) visitNext() (int, Notice, bool) {
	at, period := s.visit, units.Time(len(s.list))*s.p.Gap
	s.visit += s.p.Gap
	flow := s.list[0]
	s.list = s.list[1:]
	if seen, ever := s.lastMark[flow]; !ever || at > seen+s.p.Silence {
		delete(s.marked, flow)
		return 0, Notice{}, false
	}
	s.list = append(s.list, flow)
	last, before := s.lastCNP[flow]
	if !s.marked[flow] || before && at < last+s.p.Interval {
		return 0, Notice{}, false
	}
	delete(s.marked, flow)
	s.lastCNP[flow] = at
	return flow, Notice{Word: uint32(period / units.Nanosecond)}, true
}

// forget leaves the place in the list: it goes at its next visit, or to the
// slot's next flow.
func (s *slowPlus) forget(flow int) {
	delete(s.marked, flow)
	delete(s.lastMark, flow)
	delete(s.lastCNP, flow)
}

func TestDCQCNPlusAgainstSlowTwin(t *testing.T) {
	thousands(t, func(t *rapid.T) {
		p := DCQCNPlusParams{
			Gap:      units.Time(evenly(300, 4000).Draw(t, "gap")) * units.Nanosecond,
			Interval: units.Time(rapid.IntRange(0, 60).Draw(t, "interval")) * us,
		}
		p.Silence = p.Interval + units.Time(evenly(0, 200).Draw(t, "silence"))*us
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		flows := rapid.IntRange(1, 40).Draw(t, "flows")
		compare(t, NewDCQCNPlus(p, flows), newSlowPlus(p), flows, 10*us)
	})
}

// A list of flows that have nothing to tell is due when the first of them leaves it, not before.
func TestDCQCNPlusIsNotDueForNothing(t *testing.T) {
	const flows = 100
	np := NewDCQCNPlus(plus, flows)
	for flow := range flows {
		np.Data(0, flow, wire.CE, 1000)
	}
	notified, asked := 0, 0
	for now := units.Time(0); np.Next() != units.Never; asked++ {
		now = max(now, np.Next())
		if _, _, ok := np.Poll(now); ok {
			notified++
		}
	}
	if notified != flows || asked > 4*flows {
		t.Errorf("%d CNPs of %d flows, asked %d times", notified, flows, asked)
	}
}

var plus = DCQCNPlusParams{Gap: us, Interval: 45 * us, Silence: 10 * units.Millisecond}

// A first mark is told at once, the second 45 us after it, and none without a mark.
func TestDCQCNPlusInterval(t *testing.T) {
	np := NewDCQCNPlus(plus, 1)
	var notified []units.Time
	for now := 100 * us; now < 400*us; now += us {
		if now < 300*us {
			np.Data(now, 0, wire.CE, 1000)
		}
		for np.Next() <= now {
			if _, n, ok := np.Poll(now); ok {
				notified = append(notified, now/us)
				if n != (Notice{ECN: wire.NotECT, Word: 1000}) { // a list of one, every microsecond
					t.Errorf("%v: %+v", now, n)
				}
			}
		}
	}
	if !slices.Equal(notified, []units.Time{100, 145, 190, 235, 280, 325}) {
		t.Error(notified)
	}
}

// The period that a CNP tells is that of a round: 1 us for each flow in the list.
func TestDCQCNPlusPeriod(t *testing.T) {
	for _, flows := range []int{1, 2, 44, 45, 46, 1000} {
		np := NewDCQCNPlus(plus, flows)
		last := make([]units.Time, flows)
		cnps := 0
		for now := units.Millisecond; now < 5*units.Millisecond; now += us {
			if now%(10*us) == 0 {
				for flow := range flows {
					np.Data(now, flow, wire.CE, 1000)
				}
			}
			flow, n, ok := np.Poll(now)
			if !ok {
				continue
			}
			cnps++
			if n.Word != uint32(1000*flows) {
				t.Fatalf("%d flows: period of %d ns", flows, n.Word)
			}
			if gap := now - last[flow]; last[flow] > 0 && (gap < 45*us || gap < units.Time(flows)*us) {
				t.Fatalf("%d flows: two CNPs %v apart", flows, gap)
			}
			last[flow] = now
		}
		// At the first visit that is 45 us later: with 44 flows the second, after 88 us.
		if apart := (44 + flows) / flows * flows; cnps < (4000/apart-1)*flows {
			t.Errorf("%d flows: %d CNPs only", flows, cnps)
		}
	}
}

// A flow without marks is in the list, and in the period, until it has been silent.
func TestDCQCNPlusSilence(t *testing.T) {
	p := plus
	p.Silence = 100 * us
	np := NewDCQCNPlus(p, 2)
	np.Data(1000*us, 0, wire.CE, 1000)
	var words []uint32
	for now := 1000 * us; now < 1300*us; now += us {
		if now < 1290*us {
			np.Data(now, 1, wire.CE, 1000)
		}
		for np.Next() <= now {
			if flow, n, ok := np.Poll(now); ok && flow == 1 {
				words = append(words, n.Word)
			}
		}
	}
	if !slices.Equal(words, []uint32{2000, 2000, 2000, 1000, 1000, 1000, 1000}) {
		t.Error(words)
	}
	for now := 1300 * us; np.Next() != units.Never; now += us {
		if np.Poll(now); now > 1500*us {
			t.Fatal("a silent list is visited for ever")
		}
	}
}

func TestForgottenDCQCNPlusFlowNotifiesAtOnce(t *testing.T) {
	np := NewDCQCNPlus(plus, 1)
	np.Data(us, 0, wire.CE, 1)
	if _, _, ok := np.Poll(us); !ok {
		t.Fatal("no CNP")
	}
	np.Forget(0)
	np.Data(2*us, 0, wire.CE, 1)
	if _, _, ok := np.Poll(2 * us); !ok {
		t.Fatal("still silent")
	}
}
