package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"photon/agent"
	"photon/fabric"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
)

// seenRun is all that can be told of a run.
type seenRun struct {
	hash    uint64
	events  uint64
	now     units.Time
	samples []string
	results [][]agent.Result
	stats   []fabric.Stats
}

func (d *dumbbell) seen() (s seenRun) {
	s.hash, _ = d.Hash()
	s.events, s.now = d.Events(), d.Now()
	for _, h := range d.hosts {
		s.results = append(s.results, h.TakeResults())
		s.stats = append(s.stats, h.Stats(d.Now()))
	}
	for _, sw := range d.switches {
		s.stats = append(s.stats, sw.Stats(d.Now()))
	}
	return s
}

// play has random flows go through a network, some of which are made while it runs,
// while a link changes its rate and the world is run piece by piece.
func (d *dumbbell) play(t *testing.T, seed uint64) seenRun {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	qp := 0
	add := func(start units.Time) {
		from := r.IntN(len(d.hosts))
		to := (from + 1 + r.IntN(len(d.hosts)-1)) % len(d.hosts)
		qp++
		d.flow(t, from, to, qp, units.Size(r.IntN(200_000)), start+units.Time(r.Int64N(int64(100*units.Microsecond))))
	}
	for range 6 {
		add(0)
	}
	var samples []string
	d.Every(units.Time(1+r.IntN(50))*units.Microsecond, func(now units.Time) {
		if r.IntN(10) == 0 && qp < 12 {
			add(now)
		}
		if r.IntN(10) == 0 {
			if err := d.SetRate(end(len(d.hosts)+r.IntN(len(d.switches)), r.IntN(3)), units.Rate(1+r.IntN(20))*units.Gbps); err != nil {
				t.Fatal(err)
			}
		}
		samples = append(samples, fmt.Sprint(now, d.Now(), d.switches[0].QueueBytes(1, 3), d.hosts[0].DataSent()))
	})
	for until := units.Time(0); until < 2*units.Millisecond; {
		until += units.Time(r.Int64N(int64(units.Millisecond)))
		if err := d.Run(context.Background(), until); err != nil {
			t.Fatal(err)
		}
		if err := d.Audit(); err != nil {
			t.Fatal(err)
		}
	}
	s := d.seen()
	s.samples = samples
	return s
}

// differs says where two runs do first.
func (s seenRun) differs(other seenRun) string {
	a, b := fmt.Sprintf("%+v", s), fmt.Sprintf("%+v", other)
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-200)
	return fmt.Sprintf("%s, the other: %s", a[from:min(len(a), i+100)], b[from:min(len(b), i+100)])
}

// However many parts a world has, and whether they run at the same time or in turns,
// the same happens.
func TestPartsDoNotMatter(t *testing.T) {
	defer func(n int, m uint64) { maxPolls, publishEvery = n, m }(maxPolls, publishEvery)
	maxPolls, publishEvery = 10, 0 // there may be fewer processors than are said to be
	defer moveAtRandom()()
	names, several := scheme.Names(), 0
	for seed := range uint64(len(names)) {
		name := names[seed]
		build := func() *dumbbell {
			if seed%2 == 1 {
				return ring(t, pfc.WatchdogConfig{})
			}
			return newDumbbell(t, name, []units.Time{0, 300 * units.Nanosecond, units.Microsecond, 40 * units.Microsecond}[seed/2%4]) // 0: one part
		}
		alone := build().play(t, seed)
		if alone.events < 1000 {
			t.Fatalf("%d events: nothing to compare", alone.events)
		}
		for _, on := range []struct{ parts, processors int }{{2, 1}, {2, 2}, {3, 1}, {3, 3}} {
			before := runtime.GOMAXPROCS(on.processors)
			d := build()
			d.SetParts(on.parts)
			got := d.play(t, seed)
			runtime.GOMAXPROCS(before)
			several = max(several, len(d.parts))
			if !reflect.DeepEqual(got, alone) {
				t.Errorf("%s, seed %d: %d parts on %d processors: %s",
					name, seed, len(d.parts), on.processors, got.differs(alone))
			}
		}
	}
	if several != 3 {
		t.Errorf("%d parts at most, not 3", several)
	}
	if strayed < 100 {
		t.Errorf("%d nodes moved from one part to another", strayed)
	}
}

// While there is much to do, parts meet less often than a link's delay passes, and rounds get short again when there is
// little.
func TestRoundsGetLonger(t *testing.T) {
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	const delay = units.Microsecond
	d := newDumbbell(t, "none", delay)
	d.SetParts(2)
	for i := range 3 {
		d.flow(t, i, 3+i, i+1, 10*units.MB, 0)
		d.flow(t, 3+i, i, i+11, 10*units.MB, 0)
	}
	d.run(t, 100*delay)
	first := d.exchange.round
	d.run(t, 1100*delay)
	if n := d.exchange.round - first; len(d.parts) != 2 || n < 1000/maxLookaheads || n > 100 {
		t.Errorf("%d parts meet %d times in 1000 delays", len(d.parts), n)
	}
	for range 100 { // flows end in less than half of that
		d.run(t, d.Now()+units.Millisecond)
	}
	if d.exchange.roundLength != delay {
		t.Errorf("rounds of %v when nothing happens", d.exchange.roundLength)
	}
}

// A world whose nodes have several workers stays in one part, whatever it may have.
func TestSharedNodesStayInOnePart(t *testing.T) {
	c := chat{ports: []int{2, 2, 2}, seed: 3}
	w := New()
	w.SetWorkers(2, units.Microsecond)
	w.SetParts(3)
	var nodes []*chatter
	for i, n := range c.ports {
		envs := w.NewEnvs(n)
		nodes = append(nodes, c.node(i, envs[0]))
		w.Add("", nodes[i], envs, []int{0, 1})
	}
	for i := range nodes {
		if err := w.Connect(end(i, 0), end((i+1)%len(nodes), 1), fabric.Link{Rate: rate, Delay: units.Microsecond}); err != nil {
			t.Fatal(err)
		}
		nodes[i].env.Wake(0, 0)
	}
	if err := w.Run(context.Background(), 100*units.Microsecond); err != nil {
		t.Fatal(err)
	}
	if len(w.parts) != 1 || w.Events() < 10 {
		t.Errorf("%d parts, %d events", len(w.parts), w.Events())
	}
}
