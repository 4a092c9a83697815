package marking

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// port is an egress port with one queue: frames of 1000 bytes, one slot of
// time each. It is as slow and as obvious as figure 4 of the paper.
type port struct {
	cp     CP
	queue  []bool // true: waited through a pause
	paused bool
	marked int
	sent   int
}

func (p *port) arrive(n int) {
	for range n {
		p.queue = append(p.queue, p.paused)
	}
}

func (p *port) depart() (waited, marked bool) {
	if p.paused || len(p.queue) == 0 {
		return false, false
	}
	waited = p.queue[0]
	p.queue = p.queue[1:]
	m := p.cp.Dequeue(0, p.state(), &Packet{Size: 1000})
	p.sent++
	if m == Congestion {
		p.marked++
	}
	return waited, m == Congestion
}

func (p *port) pause() { p.paused = true }

func (p *port) resume() {
	if p.paused {
		p.paused = false
		for i := range p.queue {
			p.queue[i] = true
		}
		p.cp.Resume(0, p.state())
	}
}

func (p *port) state() Queue {
	return Queue{Bytes: units.Size(1000 * len(p.queue)), Frames: len(p.queue)}
}

// Figure 4a: more comes in than the link takes, never paused: all marked.
func TestNPECNRealCongestion(t *testing.T) {
	p := &port{cp: NewNPECN()}
	for range 1000 {
		p.arrive(2)
		p.depart()
	}
	if p.marked != p.sent || p.sent != 1000 {
		t.Fatalf("%d of %d marked", p.marked, p.sent)
	}
}

// Figure 4b: frames leave as they come: none marked.
func TestNPECNNonCongestion(t *testing.T) {
	p := &port{cp: NewNPECN()}
	for range 1000 {
		p.arrive(1)
		p.depart()
	}
	if p.marked != 0 || p.sent != 1000 {
		t.Fatalf("%d of %d marked", p.marked, p.sent)
	}
}

// Figure 4c: half the link's capacity comes in, but the port is paused half of
// the time. What waited is not marked; what came while the backlog drained is,
// so that a part is marked, far from PCN's 95 %.
func TestNPECNQuasiCongestion(t *testing.T) {
	p := &port{cp: NewNPECN()}
	for slot := range 10_000 {
		if slot%40 == 0 {
			p.pause()
		}
		if slot%40 == 20 {
			p.resume()
		}
		if slot%2 == 0 {
			p.arrive(1)
		}
		if waited, marked := p.depart(); waited && marked {
			t.Fatal("a paused frame was marked")
		}
	}
	if p.marked == 0 || p.marked*100 >= p.sent*95 {
		t.Fatalf("%d of %d marked", p.marked, p.sent)
	}
}

// PN is the number of frames that were paused, whatever else happens.
func TestNPECNAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &port{cp: NewNPECN()}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				p.pause()
			case 1:
				p.resume()
			case 2, 3:
				p.arrive(rapid.IntRange(0, 3).Draw(t, "n"))
			default:
				sent := p.sent
				waited, marked := p.depart()
				if p.sent > sent && marked != (!waited && len(p.queue) > 0) {
					t.Fatalf("waited %v, %d left behind, marked %v", waited, len(p.queue), marked)
				}
			}
		}
	})
}

// The curve, point by point: DCQCN's deployment values.
func TestREDCurve(t *testing.T) {
	params := REDParams{Kmin: 5 * units.KB, Kmax: 200 * units.KB, Pmax: 0.01}
	const n = 200_000
	for _, c := range []struct {
		bytes units.Size
		want  float64
	}{{0, 0}, {5000, 0}, {5001, 0.01 / 195_000}, {102_500, 0.005}, {200_000, 0.01}, {200_001, 1}, {1 << 30, 1}} {
		red := NewRED(params, 1)
		marks := 0
		for range n {
			if red.Dequeue(0, Queue{Bytes: c.bytes, Frames: 1}, &Packet{Size: 1000}) == Congestion {
				marks++
			}
		}
		sigma := math.Sqrt(c.want*(1-c.want)/n) + 1e-9
		if got := float64(marks) / n; math.Abs(got-c.want) > 5*sigma {
			t.Errorf("%d bytes: marked %.5f, want %.5f", c.bytes, got, c.want)
		}
	}
}

func TestREDRepeats(t *testing.T) {
	params := REDParams{Kmin: 0, Kmax: 1000, Pmax: 0.5}
	a, b, c := NewRED(params, 7), NewRED(params, 7), NewRED(params, 8)
	same := true
	for range 1000 {
		q := Queue{Bytes: 900, Frames: 1}
		x := a.Dequeue(0, q, nil)
		if x != b.Dequeue(0, q, nil) {
			t.Fatal("one seed, two sequences")
		}
		same = same && x == c.Dequeue(0, q, nil)
	}
	if same {
		t.Fatal("two seeds, one sequence")
	}
}

func TestREDValidate(t *testing.T) {
	for _, bad := range []REDParams{{Kmin: -1}, {Kmin: 2, Kmax: 1}, {Pmax: 1.1}, {Pmax: math.NaN()}} {
		if bad.Validate() == nil {
			t.Errorf("%+v passes", bad)
		}
	}
	// One threshold for both is a step, as DCTCP has it.
	step := REDParams{Kmin: 100, Kmax: 100, Pmax: 1}
	if step.Validate() != nil || NewRED(step, 0).Dequeue(0, Queue{Bytes: 101}, nil) != Congestion {
		t.Error("step")
	}
}

func TestNoneLeavesFramesUnchanged(t *testing.T) {
	if (None{}).Dequeue(0, Queue{Bytes: 1 << 40, Frames: 1 << 20}, nil) != Unchanged {
		t.Fatal("marked")
	}
}

func TestNothingAllocates(t *testing.T) {
	p := Packet{Size: 1000}
	for _, cp := range []CP{None{}, NewNPECN(), NewRED(REDParams{Kmax: 1000, Pmax: 0.5}, 1)} {
		if n := testing.AllocsPerRun(100, func() {
			cp.Dequeue(0, Queue{Bytes: 500, Frames: 1}, &p)
			cp.Resume(0, Queue{Bytes: 500, Frames: 1})
		}); n != 0 {
			t.Errorf("%T: %v allocations", cp, n)
		}
	}
}

// A curve over more than any queue holds marks as seldom as it says.
func TestREDOverMoreThanAnyQueue(t *testing.T) {
	for _, kmax := range []units.Size{units.GB, 5 * units.GB, 64 * units.GB, 1 << 62} {
		r, marked := NewRED(REDParams{Kmax: kmax, Pmax: 1}, 1), 0
		const draws, queue = 100_000, 10 * units.MB
		for range draws {
			if r.Dequeue(0, Queue{Bytes: queue, Frames: 1}, nil) == Congestion {
				marked++
			}
		}
		if want := draws * float64(queue) / float64(kmax); math.Abs(float64(marked)-want) > 5*math.Sqrt(want)+5 {
			t.Errorf("kmax %v: %d marks of %d, by the curve %.1f", kmax, marked, draws, want)
		}
	}
}

// A RED marks nothing up to the first of its thresholds, some frames up to the second, and all beyond it.
func TestThresholdsAreWhereMarksBegin(t *testing.T) {
	r := NewRED(REDParams{Kmin: 5000, Kmax: 9000, Pmax: 0.5}, 1)
	kmin, kmax := r.Thresholds()
	for queue, want := range map[units.Size]string{kmin: "none", kmax: "some", kmax + 1: "all"} {
		marked := 0
		const frames = 1000
		for range frames {
			if r.Dequeue(0, Queue{Bytes: queue}, &Packet{}) == Congestion {
				marked++
			}
		}
		got := "some"
		switch marked {
		case 0:
			got = "none"
		case frames:
			got = "all"
		}
		if got != want {
			t.Errorf("%v queued: %s are marked, %d of %d", queue, got, marked, frames)
		}
	}
	if kmin != 5000 || kmax != 9000 {
		t.Errorf("%v and %v", kmin, kmax)
	}
}
