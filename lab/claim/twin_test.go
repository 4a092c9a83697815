package claim

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/lab/experiment"
	"photon/lab/run"
	"photon/lab/stat"
)

// exact is a number as a judge on paper has it: a fraction, without end (inf is 1 or -1), or no number.
type exact struct {
	r   *big.Rat
	inf int
	nan bool
}

func rat(v float64) exact {
	r, ok := new(big.Rat).SetString(fmt.Sprint(v)) // as it is written
	if !ok {
		panic(v)
	}
	return exact{r: r}
}

func (a exact) cmp(b exact) int {
	if a.inf != 0 || b.inf != 0 {
		return a.inf - b.inf
	}
	return a.r.Cmp(b.r)
}

func (a exact) minus(b exact) exact { return exact{r: new(big.Rat).Sub(a.r, b.r)} }

// by is a quotient of numbers not below zero.
func (a exact) by(b exact) exact {
	switch zero := new(big.Rat); {
	case b.r.Cmp(zero) == 0 && a.r.Cmp(zero) == 0:
		return exact{nan: true}
	case b.r.Cmp(zero) == 0:
		return exact{inf: 1}
	}
	return exact{r: new(big.Rat).Quo(a.r, b.r)}
}

var zero, one = rat(0), rat(1)

// effectOnPaper is the effect of the rule's table, of numbers that are none of fractions above 1.
func effectOnPaper(as experiment.As, v exact) exact {
	switch as {
	case experiment.Value:
		return v
	case experiment.Fraction: // its odds
		return v.by(one.minus(v))
	case experiment.Reduction:
		if v.inf < 0 { // the ratio is 0
			return exact{inf: -1}
		}
		return effectOnPaper(experiment.Ratio, one.by(one.minus(v)))
	}
	switch {
	case v.inf > 0:
		return v
	case v.cmp(zero) == 0:
		return exact{inf: -1}
	case v.cmp(one) < 0:
		return one.minus(one.by(v))
	}
	return v.minus(one)
}

// verdictOnPaper is that of one number, by the words of rule.md.
func verdictOnPaper(p *experiment.Part, v exact) (verdict Verdict, direction bool) {
	as := p.Kind()
	if p.Paper == nil {
		limit, good := rat(*p.Limit), false
		order := as == experiment.Ratio && *p.Limit == 1 || as == experiment.Reduction && *p.Limit == 0
		switch {
		case v.nan:
		case order && p.Bound != "" && v.cmp(limit) == 0: // equal is neither
		case p.Bound == experiment.AtLeast:
			good = v.cmp(limit) >= 0
		case p.Bound == experiment.AtMost:
			good = v.cmp(limit) <= 0
		case v.inf == 0:
			off, part := v.minus(limit).r, new(big.Rat).Mul(rat(p.Within).r, limit.r)
			good = off.Abs(off).Cmp(part.Abs(part)) <= 0
		}
		return map[bool]Verdict{true: Holds, false: Contradicted}[good], false
	}
	if v.nan {
		return Differs, false
	}
	paper := rat(*p.Paper)
	f, e := effectOnPaper(as, paper), effectOnPaper(as, v)
	near := v.cmp(paper) == 0
	if f.inf == 0 && f.cmp(zero) != 0 {
		if e.inf != 0 { // more than all
			direction = e.cmp(zero) == f.cmp(zero) && (as == experiment.Ratio || as == experiment.Reduction)
		} else { // negative shares have another sign
			share := new(big.Rat).Quo(e.r, f.r)
			near = near || share.Cmp(big.NewRat(3, 4)) >= 0 && share.Cmp(big.NewRat(5, 4)) <= 0
			direction = share.Cmp(big.NewRat(1, 2)) >= 0
			if as == experiment.Value || as == experiment.Fraction {
				direction = direction && share.Cmp(big.NewRat(2, 1)) <= 0
			}
		}
	}
	switch {
	case p.Bound == experiment.AtLeast && v.cmp(paper) >= 0, p.Bound == experiment.AtMost && v.cmp(paper) <= 0:
		return Reproduced, true
	case p.Bound != "":
		return Differs, direction
	case near:
		return Reproduced, true
	case direction:
		return Direction, true
	}
	return Differs, false
}

// judgedOnPaper is a verdict as a table says it, of samples all of which came; no divisor is below zero.
func judgedOnPaper(p *experiment.Part, samples [][]float64) string {
	n := len(samples[0])
	of := func(x []float64, runs []int) exact {
		var drawn []*big.Rat
		for _, k := range runs {
			drawn = append(drawn, rat(x[k]).r)
		}
		slices.SortFunc(drawn, (*big.Rat).Cmp)
		switch p.Stat {
		case "":
			drawn = drawn[(n-1)/2 : n/2+1]
		case "min":
			drawn = drawn[:1]
		case "max":
			drawn = drawn[n-1:]
		}
		sum := new(big.Rat)
		for _, y := range drawn {
			sum.Add(sum, y)
		}
		return exact{r: sum.Quo(sum, big.NewRat(int64(len(drawn)), 1))}
	}
	number := func(runs []int) exact {
		v := of(samples[0], runs)
		if len(samples) == 2 {
			v = v.by(of(samples[1], runs))
		}
		if p.Kind() == experiment.Reduction && !v.nan {
			if v.inf > 0 {
				return exact{inf: -1}
			}
			return one.minus(v)
		}
		return v
	}
	var all []int
	for k := range n {
		all = append(all, k)
	}
	ends := []exact{number(all)}
	if n > 1 {
		random := rand.New(rand.NewPCG(uint64(n), 2000)) // only the draws are the judge's
		var drawn []exact
		for range 2000 {
			runs := make([]int, n)
			for k := range runs {
				runs[k] = random.IntN(n)
			}
			v := number(runs)
			if v.nan { // zero by zero: no difference
				if v = one; p.Kind() == experiment.Reduction {
					v = zero
				}
			}
			drawn = append(drawn, v)
		}
		slices.SortFunc(drawn, exact.cmp)
		ends = append(ends, drawn[49], drawn[1949])
	}
	if p.Paper == nil && p.Limit == nil {
		return "shape"
	}
	worst, all3, some := Verdict(""), true, false
	for _, v := range ends {
		verdict, direction := verdictOnPaper(p, v)
		if worst == "" || worse(verdict, worst) {
			worst = verdict
		}
		all3, some = all3 && direction, some || verdict == Holds
	}
	switch {
	case worst == Differs && p.Bound != "" && all3:
		return "differs (direction)"
	case worst == Differs && p.Bound == "" && n > 1 && !ends[0].nan &&
		ends[1].cmp(rat(*p.Paper)) <= 0 && ends[2].cmp(rat(*p.Paper)) >= 0:
		return "differs (undecided)"
	case worst == Contradicted && p.Bound != "" && some && !ends[0].nan:
		return "contradicted (undecided)"
	}
	return string(worst)
}

// drawClaim is one that may be written in a file, of schemes a and b.
func drawClaim(t *rapid.T) experiment.Part {
	p := experiment.Part{Metric: "x", Schemes: []string{"a"}}
	p.As = rapid.SampledFrom([]experiment.As{experiment.Value, experiment.Ratio, experiment.Reduction,
		experiment.Fraction}).Draw(t, "as")
	numbers := []float64{0, 0.5, 1, 1.25, 2, 3, 4}
	switch p.As {
	case experiment.Ratio:
		p.Schemes = []string{"a", "b"}
	case experiment.Reduction:
		p.Schemes = []string{"a", "b"}
		numbers = []float64{-1, 0, 0.25, 0.5, 0.8, 1}
	case experiment.Fraction:
		numbers = []float64{0, 0.2, 0.5, 0.9, 1}
	}
	p.Stat = rapid.SampledFrom([]string{"", "mean", "min", "max"}).Draw(t, "stat")
	number := rapid.SampledFrom(numbers).Draw(t, "number")
	p.Bound = rapid.SampledFrom([]experiment.Bound{"", experiment.AtLeast, experiment.AtMost}).Draw(t, "bound")
	none := p.As == experiment.Ratio && number == 1 || p.As == experiment.Reduction && number == 0 ||
		p.As == experiment.Fraction && (number == 0 || number == 1)
	switch what := rapid.IntRange(0, 8).Draw(t, "what"); {
	case what == 0:
		p.Bound = ""
	case what < 5 && (p.Bound != "" || !none):
		p.Paper = &number
	default:
		if p.Limit = &number; p.Bound == "" {
			if p.Within = 0.25; number == 0 {
				p.Bound, p.Within = experiment.AtMost, 0
			}
		}
	}
	return p
}

// judgedOf is a claim judged by samples, which is the same when it is judged again.
func judgedOf(t *rapid.T, e *experiment.Experiment, p *experiment.Part, samples [][]float64) *Measurement {
	r := &run.Result{}
	for i, v := range samples {
		one := run.Run{Scheme: p.Schemes[i], Invariants: run.Invariants{ConservationOK: true}}
		var list []*float64
		for _, x := range v {
			list = append(list, run.Finite(x))
		}
		one.SetSamples(p.Metric, list)
		r.Runs = append(r.Runs, one)
	}
	m := judge(e, &experiment.Claim{ID: "c", Part: *p}, r).Measurement
	if later := again(t, m, p); later.Says() != m.Says() {
		t.Fatalf("%v: %s, and judged again %s: %+v", samples, m.Says(), later.Says(), m)
	}
	return &m
}

// A claim has the verdict that the words of the rule give it, reckoned on paper.
func TestJudgeAgainstOneOnPaper(t *testing.T) {
	e := watched(t)
	rapid.Check(t, func(t *rapid.T) {
		p := drawClaim(t)
		values := []float64{0, 0.5, 1, 2, 2.5, 3, 4, 10}
		if p.As == experiment.Fraction {
			values = []float64{0, 0.1, 0.5, 0.875, 0.9, 0.92, 1} // 7 and 11.5 are within 25 % of 9 to one, and not
		}
		var samples [][]float64
		n := rapid.SampledFrom([]int{1, 1, 2, 3, 5}).Draw(t, "n")
		for range p.Schemes {
			samples = append(samples, rapid.SliceOfN(rapid.SampledFrom(values), n, n).Draw(t, "x"))
		}
		if got, want := judgedOf(t, e, &p, samples).Says(), judgedOnPaper(&p, samples); got != want {
			b, _ := json.Marshal(p)
			t.Fatalf("%s: %v are %s, and on paper %s", b, samples, got, want)
		}
	})
}

// What never came proves nothing that it would not prove had it come late: a verdict is no better than any that there
// might have been.
func TestNeverProvesNoMoreThanLate(t *testing.T) {
	e := unwatched(t)
	rapid.Check(t, func(t *rapid.T) {
		p := drawClaim(t)
		// The first is waited for for 3 s, the second for nobody knows how long.
		p.Metric = rapid.SampledFrom([]string{"x", "fct"}).Draw(t, "metric")
		if p.As == experiment.Fraction {
			p.As, p.Bound, p.Paper, p.Within = experiment.Value, experiment.AtLeast, nil, 0
			p.Limit = ptr(rapid.SampledFrom([]float64{0.5, 1, 2, 2.9}).Draw(t, "limit"))
		}
		n := rapid.SampledFrom([]int{1, 2, 3, 8, 20}).Draw(t, "n")
		came := rapid.SampledFrom([]float64{0.1, 0.5, 1, 2, 2.5})
		late := rapid.SampledFrom([]float64{3, 3.5, 6, 100}).Draw(t, "late")
		var samples, instead [][]float64
		for range p.Schemes {
			nevers := rapid.IntRange(0, n).Draw(t, "nevers")
			v := rapid.SliceOfN(came, n, n).Draw(t, "x")
			for k := range nevers {
				v[k] = stat.Never
			}
			x := slices.Clone(v)
			for k := range nevers {
				x[k] = late
			}
			samples, instead = append(samples, v), append(instead, x)
		}
		got, might := judgedOf(t, e, &p, samples), judgedOf(t, e, &p, instead)
		if worse(might.Verdict, got.Verdict) || got.Direction && might.Verdict == got.Verdict && !might.Direction {
			b, _ := json.Marshal(p)
			t.Fatalf("%s: %v are %s, and %v %s", b, samples, got.Says(), instead, might.Says())
		}
	})
}

// By a number below zero nothing is more or less than another, whatever other seeds say, and of two below zero the
// quotient says nothing; by a zero it says nothing of what is below it.
func TestQuotientsBelowZeroProveNothing(t *testing.T) {
	e := watched(t)
	rapid.Check(t, func(t *rapid.T) {
		p := drawClaim(t)
		p.As, p.Schemes = experiment.Ratio, []string{"a", "b"}
		if p.Limit == nil {
			p.Paper, p.Limit, p.Bound, p.Within = nil, ptr(1), "", 0.25
		}
		n := rapid.IntRange(1, 5).Draw(t, "n")
		values := rapid.SampledFrom([]float64{-9, 0, 1, 1, 1})
		a, b := rapid.SliceOfN(values, n, n).Draw(t, "a"), rapid.SliceOfN(values, n, n).Draw(t, "b")
		k := rapid.IntRange(0, n-1).Draw(t, "below")
		if b[k] = -1; rapid.Bool().Draw(t, "by zero") {
			a[k], b[k] = -9, 0
		}
		if m := judgedOf(t, e, &p, [][]float64{a, b}); m.Verdict != Contradicted {
			t.Fatalf("%v by %v: %s, %+v", a, b, m.Says(), m)
		}
	})
}
