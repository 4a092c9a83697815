package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"photon/units"
)

func hosts(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// load returns the rate at which flows bring bytes.
func load(list []Arrival, span units.Time) float64 {
	sum := 0.0
	for _, a := range list {
		sum += float64(a.Size) * 8
	}
	return sum / span.Seconds()
}

// groups cuts a list where the time changes.
func groups(list []Arrival) (g [][]Arrival) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].At == list[0].At {
			n++
		}
		g, list = append(g, list[:n]), list[n:]
	}
	return g
}

func TestLoad(t *testing.T) {
	const span = 40 * units.Second
	rate := 100 * units.Gbps
	for name, p := range map[string]Poisson{
		"web search":   {Sizes: named(t, "websearch"), From: hosts(0, 16), To: hosts(0, 16)},
		"random":       {Sizes: named(t, "pcn-w2"), From: hosts(0, 16), To: hosts(0, 16), IncastMin: 1, IncastMax: 15},
		"synchronised": {Sizes: named(t, "pcn-w2"), From: hosts(2, 16), To: []int{17}, Synchronised: true},
		"fixed":        {Sizes: Fixed(units.MB), From: hosts(0, 16), To: hosts(16, 32), IncastMin: 4, IncastMax: 4},
	} {
		p.Load, p.Rate, p.Start, p.End = 0.6, rate, units.Second, units.Second+span
		list, err := p.Generate(1)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := load(list, span) / float64(rate); math.Abs(got/0.6-1) > 0.05 {
			t.Errorf("%s: load %.4f, want 0.6 (%d flows)", name, got, len(list))
		}
		want := 0.6 * float64(rate) / 8 / p.Sizes.Mean() * span.Seconds()
		if math.Abs(float64(len(list))/want-1) > 0.05 {
			t.Errorf("%s: %d flows, want %.0f", name, len(list), want)
		}
	}
}

// Gaps of a Poisson process: mean and deviation are the same, and 1-1/e of them
// are below the mean.
func TestGapsAreExponential(t *testing.T) {
	p := Poisson{Sizes: Fixed(1250), Load: 1, Rate: 10 * units.Gbps, From: []int{0}, To: []int{1}, Flows: 100_000}
	list, err := p.Generate(3)
	if err != nil || len(list) != p.Flows {
		t.Fatalf("%d flows, %v", len(list), err)
	}
	mean := float64(units.Microsecond)
	var gaps []float64
	below := 0.0
	last := units.Time(0)
	for _, a := range list {
		gap := float64(a.At - last)
		last = a.At
		gaps = append(gaps, gap)
		if gap < mean {
			below++
		}
	}
	n := float64(len(list))
	got, deviation := stat.MeanStdDev(gaps, nil)
	if math.Abs(got/mean-1) > 5/math.Sqrt(n) {
		t.Errorf("mean gap %v ps", got)
	}
	if got := deviation / mean; math.Abs(got-1) > 0.02 {
		t.Errorf("deviation of the gaps %v of the mean", got)
	}
	if got := below / n; math.Abs(got-(1-1/math.E)) > 0.01 {
		t.Errorf("%v of the gaps are below the mean", got)
	}
}

// The number of senders is uniform, and so are receivers and senders.
func TestIncastIsUniform(t *testing.T) {
	p := Poisson{
		Sizes: named(t, "pcn-w1"), Load: 0.6, Rate: 160 * units.Gbps, From: hosts(0, 16), To: hosts(0, 16),
		IncastMin: 1, IncastMax: 15, End: 10 * units.Second,
	}
	list, err := p.Generate(5)
	if err != nil {
		t.Fatal(err)
	}
	events := groups(list)
	var size, to, from [16]int
	for _, g := range events {
		if len(g) > 15 {
			t.Fatalf("%d senders at %v", len(g), g[0].At)
		}
		size[len(g)]++
		to[g[0].To]++
		senders := map[int]bool{}
		for _, a := range g {
			if a.To != g[0].To {
				t.Fatalf("two receivers at %v", a.At)
			}
			senders[a.From] = true
			from[a.From]++
		}
		if len(senders) != len(g) {
			t.Fatalf("a sender is twice in %v", g)
		}
	}
	evenly := func(what string, counts []int, total int) {
		want := float64(total) / float64(len(counts))
		for i, n := range counts {
			if math.Abs(float64(n)-want) > 5*math.Sqrt(want) {
				t.Errorf("%s %d: %d of %d, want %.0f", what, i, n, total, want)
			}
		}
	}
	evenly("group size less 1:", size[1:], len(events))
	evenly("receiver", to[:], len(events))
	evenly("sender", from[:], len(list))
}

func TestSynchronised(t *testing.T) {
	p := Poisson{
		Sizes: named(t, "hadoop"), Load: 0.6, Rate: 40 * units.Gbps, From: []int{5, 2, 9}, To: []int{2, 3}, Synchronised: true,
		End: units.Second,
	}
	list, err := p.Generate(7)
	if err != nil {
		t.Fatal(err)
	}
	alike := 0
	for _, g := range groups(list) {
		if len(g) != 3 || g[0].From != 5 || g[1].From != 2 || g[2].From != 9 || g[1].To != 3 {
			t.Fatalf("%v", g)
		}
		if g[0].Size == g[1].Size && g[1].Size == g[2].Size {
			alike++
		}
	}
	if n := len(groups(list)); n < 1000 || alike > n/100 {
		t.Fatalf("%d of %d groups have one size", alike, n)
	}
}

// drawPoisson makes parameters that are valid.
func drawPoisson(t *rapid.T) *Poisson {
	c, _ := drawCDF(t)
	p := &Poisson{
		Sizes: rapid.SampledFrom([]Sizes{c, Fixed(1500), Pareto{MeanBytes: 1e4, Shape: 1.1}}).Draw(t, "sizes"),
		Load:  rapid.Float64Range(0.01, 3).Draw(t, "load"),
		Rate:  units.Rate(rapid.Int64Range(int64(units.Gbps), int64(400*units.Gbps)).Draw(t, "rate")),
		From:  rapid.SliceOfNDistinct(rapid.IntRange(0, 20), 2, 20, rapid.ID).Draw(t, "from"),
		To:    rapid.SliceOfNDistinct(rapid.IntRange(0, 20), 2, 20, rapid.ID).Draw(t, "to"),
		Start: units.Time(rapid.Int64Range(0, int64(units.Second)).Draw(t, "start")),
		Flows: rapid.IntRange(1, 300).Draw(t, "flows"),
	}
	if rapid.Bool().Draw(t, "bounded") {
		p.End = p.Start + units.Time(rapid.Int64Range(1, int64(units.Second)).Draw(t, "span"))
	}
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 1:
		p.Synchronised = true
	case 2:
		p.IncastMin = rapid.IntRange(1, len(p.From)-1).Draw(t, "min")
		p.IncastMax = rapid.IntRange(p.IncastMin, len(p.From)-1).Draw(t, "max")
	}
	return p
}

func TestPoissonProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPoisson(t)
		from, to := slices.Clone(p.From), slices.Clone(p.To)
		seed := rapid.Uint64().Draw(t, "seed")
		list, err := p.Generate(seed)
		if err != nil {
			t.Fatalf("%+v: %v", p, err)
		}
		if again, err := p.Generate(seed); err != nil || !slices.Equal(list, again) {
			t.Fatalf("the same seed: %v\n%v\n%v", err, list, again)
		}
		if !slices.Equal(p.From, from) || !slices.Equal(p.To, to) {
			t.Fatal("the caller's hosts have changed")
		}
		if len(list) > p.Flows || p.End == 0 && len(list) < p.Flows {
			t.Fatalf("%d flows of %d", len(list), p.Flows)
		}
		last := p.Start
		for _, a := range list {
			switch {
			case a.At < last:
				t.Fatalf("%v after %v", a.At, last)
			case p.End != 0 && a.At >= p.End:
				t.Fatalf("%v is not before the end %v", a.At, p.End)
			case a.From == a.To || !slices.Contains(p.From, a.From) || !slices.Contains(p.To, a.To):
				t.Fatalf("from %d to %d", a.From, a.To)
			case a.Size < 1:
				t.Fatalf("size %v", a.Size)
			}
			last = a.At
		}
	})
}

// A limit and an end cut a list; they change nothing before it.
func TestCutsKeepWhatIsBefore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPoisson(t)
		list, err := p.Generate(1)
		if err != nil {
			t.Fatal(err)
		}
		short := *p
		short.Flows = rapid.IntRange(1, p.Flows).Draw(t, "fewer")
		if got, err := short.Generate(1); err != nil || !slices.Equal(got, list[:min(len(list), short.Flows)]) {
			t.Fatalf("%d flows, %v", len(got), err)
		}
	})
}

func TestSeedsDiffer(t *testing.T) {
	p := Poisson{Sizes: named(t, "hadoop"), Load: 0.5, Rate: 10 * units.Gbps, From: hosts(0, 4), To: hosts(0, 4), Flows: 10}
	a, errA := p.Generate(1)
	b, errB := p.Generate(2)
	if errA != nil || errB != nil || slices.Equal(a, b) {
		t.Fatalf("%v %v, %v %v", a, errA, b, errB)
	}
}

// A list of one seed, so that a change of the draws is a change that is seen.
func TestGolden(t *testing.T) {
	p := Poisson{
		Sizes: named(t, "websearch"), Load: 0.6, Rate: 40 * units.Gbps, From: hosts(0, 8), To: hosts(0, 8), IncastMin: 1, IncastMax: 3, Flows: 5,
	}
	list, err := p.Generate(42)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, a := range list {
		got += fmt.Sprintf("%v %d>%d %v\n", a.At, a.From, a.To, a.Size)
	}
	const want = `586.616287us 4>3 862.73KB
586.616287us 2>3 17.705KB
586.616287us 0>3 17.531KB
2.942623541ms 5>3 1.962291MB
2.942623541ms 0>3 45.681KB
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestPoissonRefuses(t *testing.T) {
	good := Poisson{Sizes: Fixed(1000), Load: 0.5, Rate: units.Gbps, From: hosts(0, 4), To: hosts(4, 8), End: units.Millisecond}
	if _, err := good.Generate(1); err != nil {
		t.Fatal(err)
	}
	late := good // its time is as long, and so there are as many flows
	late.Start, late.End = 100_000*units.Second, 100_000*units.Second+good.End
	if _, err := late.Generate(1); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Poisson){
		"no sizes":                          func(p *Poisson) { p.Sizes = nil },
		"a mean size of 0 bytes":            func(p *Poisson) { p.Sizes = Fixed(0) },
		"a mean size of +Inf bytes":         func(p *Poisson) { p.Sizes = Pareto{MeanBytes: 1000, Shape: 1} },
		"a mean size of -1 bytes":           func(p *Poisson) { p.Sizes = Pareto{MeanBytes: -1, Shape: 2} },
		"a load of 0":                       func(p *Poisson) { p.Load = 0 },
		"a load of -1":                      func(p *Poisson) { p.Load = -1 },
		"a load of NaN":                     func(p *Poisson) { p.Load = math.NaN() },
		"a load of +Inf":                    func(p *Poisson) { p.Load = math.Inf(1) },
		"a load of the rate 0bps":           func(p *Poisson) { p.Rate = 0 },
		"no senders":                        func(p *Poisson) { p.From = nil },
		"no receivers":                      func(p *Poisson) { p.To = nil },
		"host -1 among the senders":         func(p *Poisson) { p.From = []int{0, -1} },
		"host 4 is twice among the receiv":  func(p *Poisson) { p.To = []int{4, 4} },
		"start -1ps is before time 0":       func(p *Poisson) { p.Start = -1 },
		"end 1ms is not after start 1ms":    func(p *Poisson) { p.Start = units.Millisecond },
		"neither an end nor a number":       func(p *Poisson) { p.End = 0 },
		"a limit of -1 flows":               func(p *Poisson) { p.Flows = -1 },
		"incasts of 0 to 3 senders":         func(p *Poisson) { p.IncastMax = 3 },
		"incasts of 3 to 2 senders":         func(p *Poisson) { p.IncastMin, p.IncastMax = 3, 2 },
		"up to 5 senders; host 4 has 4":     func(p *Poisson) { p.IncastMin, p.IncastMax = 1, 5 },
		"up to 4 senders; host 3 has 3":     func(p *Poisson) { p.To, p.IncastMin, p.IncastMax = []int{4, 3}, 4, 4 },
		"host 0 can receive from itself":    func(p *Poisson) { p.From, p.To = []int{0}, []int{0} },
		"synchronised senders and incasts":  func(p *Poisson) { p.Synchronised, p.IncastMin, p.IncastMax = true, 1, 1 },
		"host 2 can send to itself only":    func(p *Poisson) { p.Synchronised, p.To = true, []int{2} },
		"about 1.2e+14 flows; 67108864 are": func(p *Poisson) { p.Load, p.End = 1e6, 1000*units.Second },
	} {
		p := good
		change(&p)
		list, err := p.Generate(1)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, %d flows", want, err, len(list))
		}
	}
}

// Loads so far apart that times would overflow or stand still.
func TestExtremeLoads(t *testing.T) {
	p := Poisson{Sizes: Fixed(1000), Rate: units.BitPerSecond, From: []int{0}, To: []int{1}, Flows: 10}
	for load, want := range map[float64]int{1e-9: 0, 5e-324: 0, 1e300: 10} {
		p.Load = load
		if list, err := p.Generate(1); err != nil || len(list) != want {
			t.Errorf("load %v: %d flows, %v; want %d", load, len(list), err, want)
		}
	}
}

func TestOnOff(t *testing.T) {
	o := OnOff{Burst: 10 * units.KB, Rate: units.Gbps, From: 3, To: 1, Start: 500 * units.Millisecond, End: 5500 * units.Millisecond}
	list, err := o.Generate(1)
	if err != nil {
		t.Fatal(err)
	}
	if got := load(list, 5*units.Second); math.Abs(got/1e9-1) > 0.05 {
		t.Errorf("load %v", got)
	}
	last := o.Start
	for _, a := range list {
		if a.At < last || a.At >= o.End || a.From != 3 || a.To != 1 || a.Size != o.Burst {
			t.Fatalf("%+v after %v", a, last)
		}
		last = a.At
	}
	again, err := o.Generate(1)
	if other, errOther := o.Generate(2); err != nil || errOther != nil || !slices.Equal(list, again) || slices.Equal(list, other) {
		t.Errorf("seeds: %v, %v", err, errOther)
	}
	for _, ends := range [][2]int{{0, 1}, {1, 0}} { // hosts count from 0
		first := o
		first.From, first.To = ends[0], ends[1]
		if list, err := first.Generate(1); err != nil || list[0].From != ends[0] || list[0].To != ends[1] {
			t.Errorf("from %d to %d: %v", ends[0], ends[1], err)
		}
	}
	for want, change := range map[string]func(*OnOff){
		"bursts of 0B":               func(o *OnOff) { o.Burst = 0 },
		"a load of 0bps":             func(o *OnOff) { o.Rate = 0 },
		"from host 1 to host 1":      func(o *OnOff) { o.From = 1 },
		"from host -1 to host 1":     func(o *OnOff) { o.From = -1 },
		"no end":                     func(o *OnOff) { o.End = 0 },
		"is not after start":         func(o *OnOff) { o.End = o.Start },
		"start -1ps is before":       func(o *OnOff) { o.Start = -1 },
		"flows; 67108864 are the mo": func(o *OnOff) { o.Burst = 1 },
	} {
		bad := o
		change(&bad)
		if _, err := bad.Generate(1); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// Fixed is one size for all flows, in bytes.
type Fixed units.Size

func (f Fixed) Mean() float64               { return float64(f) }
func (f Fixed) Quantile(float64) units.Size { return max(1, units.Size(f)) }
