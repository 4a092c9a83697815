package claim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"photon/lab/experiment"
	"photon/lab/run"
	"photon/lab/stat"
)

// Judged is a result, and the claims that it decides.
type Judged struct {
	*run.Result
	Claims []Result `json:"claims"`
}

// Result is a claim and what became of it. Of a claim with several measurements the
// numbers are those of the one that decides.
type Result struct {
	ID      string   `json:"id"`
	Text    string   `json:"text"`
	Schemes []string `json:"schemes"`
	Measurement
	Note string `json:"note"`
	// Measurements are all of them, if there are several.
	Measurements []Measurement `json:"measurements,omitempty"`
}

// Measurement is our number, and the paper's.
type Measurement struct {
	Name     string           `json:"name,omitempty"` // distinguishes it from the others of its claim
	Schemes  []string         `json:"schemes,omitempty"`
	Metric   string           `json:"metric"`
	Over     string           `json:"over,omitempty"` // the metric of the divisor, if it is another
	Paper    *float64         `json:"paper"`          // null: the paper prints none
	Bound    experiment.Bound `json:"bound,omitempty"`
	Limit    *float64         `json:"limit,omitempty"`  // of what it says in words
	Within   *float64         `json:"within,omitempty"` // the same, if it says that two are alike: a part of limit
	As       experiment.As    `json:"as"`
	Unit     string           `json:"unit"`
	Measured *float64         `json:"measured"`           // over the seeds; null: infinite, or not known
	AtLeast  *float64         `json:"at_least,omitempty"` // where something never happened: what is known of it by the time for which was waited
	AtMost   *float64         `json:"at_most,omitempty"`  // the same of what has no end below, and of a quotient by what never happened
	Unknown  bool             `json:"unknown,omitempty"`  // a quotient is senseless or of two zeros, or what is no time lacks a value
	Interval []*float64       `json:"interval"`           // null: there is one seed; an end that is null is without bound
	Of       string           `json:"of"`                 // what is over the seeds: the median, the mean, the min or the max
	N        int              `json:"n"`
	Never    int              `json:"never"` // in so many of them it never happened
	Verdict  Verdict          `json:"verdict"`
	left     bool             // out, on purpose, by --quick
	unsound  bool             // it ran, and its runs are worth nothing

	// Direction says of an inequality that is violated that the effect is there, at least half of it.
	Direction bool `json:"direction,omitempty"`
}

// Judge judges all claims of an experiment by a result. A claim about a scheme or a
// value of the sweep that is not in it is not run, as is one about runs that are worth nothing.
func Judge(e *experiment.Experiment, r *run.Result) *Judged {
	j := &Judged{Result: r}
	for i := range e.Claims {
		j.Claims = append(j.Claims, judge(e, &e.Claims[i], r))
	}
	return j
}

// judge judges one claim.
func judge(e *experiment.Experiment, c *experiment.Claim, r *run.Result) Result {
	return of(c, func(p *experiment.Part) Measurement { return measure(e, p, r) })
}

// of puts a claim together from its measurements, of which the worst decides. With --quick some
// are left out on purpose: the others decide.
func of(c *experiment.Claim, measured func(*experiment.Part) Measurement) Result {
	out := Result{ID: c.ID, Text: c.Text, Note: c.Note}
	for _, p := range c.Parts() {
		m := measured(&p)
		m.about(&p)
		out.Measurements = append(out.Measurements, m)
		for _, s := range p.Schemes {
			if !slices.Contains(out.Schemes, s) {
				out.Schemes = append(out.Schemes, s)
			}
		}
		if out.Verdict == "" || out.left || !m.left && m.worseThan(&out.Measurement) {
			out.Measurement = m
		}
	}
	if len(out.Measurements) == 1 {
		out.Measurements = nil
	}
	return out
}

// about says what a measurement measures.
func (m *Measurement) about(p *experiment.Part) {
	m.Name, m.Schemes, m.Metric, m.Over = p.Name, p.Schemes, p.Metric, p.Over
	m.Paper, m.Bound, m.Limit = p.Paper, p.Bound, p.Limit
	m.As, m.Unit, m.Of, m.Within = p.Kind(), p.Unit, p.Statistic(), nil
	if p.Within > 0 {
		m.Within = &p.Within
	}
}

// is reports whether a measurement is of the same thing, whatever the paper has of it.
func (m *Measurement) is(p *experiment.Part) bool {
	return m.Verdict != NotRun && m.Name == p.Name && m.Metric == p.Metric && m.Over == p.Over &&
		m.As == p.Kind() && m.Of == p.Statistic() && slices.Equal(m.Schemes, p.Schemes)
}

// judgedAgain is a measurement judged by what the paper has of it.
func (m Measurement) judgedAgain(p *experiment.Part) Measurement {
	est := estimated{value: m.number(m.Measured), least: m.AtLeast, most: m.AtMost, n: m.N, never: m.Never}
	if m.Unknown {
		est.value, m.Interval = math.NaN(), nil
	}
	est.low, est.high = est.value, est.value
	if len(m.Interval) == 2 {
		est.low, est.high = m.number(m.Interval[0]), m.number(m.Interval[1])
	}
	m.Verdict = ""
	est.judge(p, &m)
	return m
}

// number is what was measured; null has no end: a reduction by what never came none below, and all else none above.
func (m *Measurement) number(v *float64) float64 {
	switch {
	case v != nil:
		return *v
	case m.As == experiment.Reduction:
		return math.Inf(-1)
	}
	return stat.Never
}

// worseThan reports whether a measurement rather than another decides a claim: its verdict is worse or, of two of one
// verdict, nothing is said in its favour.
func (m *Measurement) worseThan(other *Measurement) bool {
	if m.Verdict != other.Verdict {
		return worse(m.Verdict, other.Verdict)
	}
	return m.Says() == string(m.Verdict) && other.Says() != string(other.Verdict)
}

// worse orders verdicts. A part that was not run leaves the whole claim undecided, so it is the worst.
func worse(a, b Verdict) bool { return slices.Index(Verdicts, a) > slices.Index(Verdicts, b) }

// measure measures what a claim is about and judges it.
func measure(e *experiment.Experiment, p *experiment.Part, r *run.Result) Measurement {
	var m Measurement
	var all []sampled
	schemes := p.Schemes
	if len(schemes) == 1 && p.Over != "" {
		schemes = []string{schemes[0], schemes[0]}
	}
	for i, s := range schemes {
		ran, metric := r.Of(s), p.MetricOf(i)
		if ran == nil || !ran.Sound() {
			m.Verdict, m.unsound = NotRun, ran != nil
			return m
		}
		v := ran.Samples(metric)
		if v == nil {
			m.Verdict, m.left = NotRun, r.Quick
			return m
		}
		x := sampled{v: v, watched: e.WatchedFor(metric, r.Quick), event: e.IsEvent(metric)}
		if end := e.Outlasts(metric, r.Quick); end > 0 {
			x.until(end)
		}
		x.never = slices.Contains(x.v, stat.Never)
		m.Unknown = m.Unknown || x.never && (!e.MayBeLate(metric) || i == 1 && apart(p) && x.watched == 0)
		all = append(all, x)
	}
	m.Unknown = m.Unknown || len(all) == 2 && senseless(all[0].v, all[1].v)
	est := estimate(p, all, m.Unknown)
	est.put(p, &m)
	est.judge(p, &m)
	return m
}

// sampled is a metric over seeds.
type sampled struct {
	v       []float64
	never   bool    // with some of them it never happened
	watched float64 // for so long it was waited for; 0: it is not known
	event   bool    // 1 or 0: whether a run had it
}

// apart reports whether a part compares two metrics, and not one of two schemes or at two values of a sweep: what they
// are of need not have begun at one time.
func apart(p *experiment.Part) bool {
	metric, _, _ := strings.Cut(p.Metric, "@")
	over, _, _ := strings.Cut(p.Over, "@")
	return p.Over != "" && metric != over
}

// until takes what lasted to the end of a watch for what did not end.
func (x *sampled) until(end float64) {
	x.v, x.watched = slices.Clone(x.v), end
	for k, v := range x.v {
		if v >= end*(1-roundOff) {
			x.v[k] = stat.Never
		}
	}
}

// estimated is a number over seeds and its interval.
type estimated struct {
	value, low, high float64 // infinite where something never happened
	sure             bool    // low and high are there
	// least is what is at least so where value, low or high are without end above, or all of it is gone, by what never
	// happened; most is the same below. nil: nothing never happened.
	least, most *float64
	n, never    int
}

// later is what a time that never came is, at least, by one that came: nothing else is known without a watch.
const later = 1 + 2*roundOff

// estimate works out what a claim is about: a statistic over the seeds, or the quotient of
// two schemes' whose runs have the same seeds. The interval is drawn from seeds, and so from pairs.
func estimate(p *experiment.Part, samples []sampled, unknown bool) estimated {
	n := len(samples[0].v)
	for _, x := range samples {
		n = min(n, len(x.v))
	}
	if unknown {
		return estimated{value: math.NaN(), low: math.NaN(), high: math.NaN(), n: n}
	}
	value := func(runs []int, neither float64) float64 {
		var statistics [2]float64
		for i, x := range samples {
			statistics[i] = statistic(p, x, runs)
		}
		return combine(p, statistics[:len(samples)], neither)
	}
	all := make([]int, n)
	for k := range all {
		all[k] = k
	}
	est := estimated{n: n, value: value(all, math.NaN())}
	for k := range n {
		if slices.ContainsFunc(samples, func(x sampled) bool { return math.IsInf(x.v[k], 0) }) {
			est.never++
		}
	}
	switch {
	case len(samples) == 2:
		est.least, est.most = lateness(p, samples, all)
	case samples[0].never:
		x := samples[0].cameAt(samples[0].watched)
		least, _ := extremes(all, func(runs []int) float64 { return statistic(p, x, runs) })
		est.least = &least
	}
	interval := func(neither float64) (low, high float64, ok bool) {
		return stat.Interval(n, func(runs []int) float64 {
			v := value(runs, neither)
			if math.IsNaN(v) { // zero by zero: no difference
				return map[experiment.As]float64{experiment.Ratio: 1}[p.Kind()]
			}
			return v
		})
	}
	est.low, est.high, est.sure = interval(0)
	if len(samples) == 2 && samples[0].never && samples[1].never { // either may have been later
		low, high, _ := interval(stat.Never)
		est.low, est.high = min(est.low, low), max(est.high, high)
	}
	if !est.sure {
		est.low, est.high = est.value, est.value
		return est
	}
	for _, statistics := range binomialEnds(p, samples, all) {
		v := combine(p, statistics, math.NaN())
		est.low, est.high = min(est.low, v), max(est.high, v)
	}
	return est
}

// statistic is what a claim is about of a metric over some runs, whose numbers are given.
func statistic(p *experiment.Part, x sampled, runs []int) float64 {
	drawn := make([]float64, len(runs))
	for i, k := range runs {
		drawn[i] = x.v[k]
	}
	switch p.Statistic() {
	case "mean":
		return stat.Mean(drawn)
	case "min":
		return slices.Min(drawn)
	case "max":
		return slices.Max(drawn)
	}
	return stat.Median(drawn)
}

// combine makes the number that a claim is about of the statistic of one scheme, or of two: neither is the quotient if
// both never came.
func combine(p *experiment.Part, statistics []float64, neither float64) float64 {
	v := statistics[0]
	if len(statistics) == 2 {
		v = quotient(v, statistics[1], neither)
	}
	if p.Kind() == experiment.Reduction {
		v = 1 - v
	}
	return v
}

// binomialEnds are the statistics of all samples if an event that came in none of the runs is as frequent as it may be,
// and one that came in all as rare. Whatever is drawn from such runs is as they are, so that a bootstrap does not see
// it. all are the numbers of the runs.
func binomialEnds(p *experiment.Part, samples []sampled, all []int) (ends [][]float64) {
	ends = [][]float64{nil}
	for _, x := range samples {
		v := statistic(p, x, all)
		known := ends
		ends = nil
		for _, statistics := range known {
			ends = append(ends, append(slices.Clone(statistics), v))
			if x.event && p.Statistic() == "mean" && (v == 0 || v == 1) {
				ends = append(ends, append(slices.Clone(statistics), math.Abs(v-stat.MostUnseen(len(all)))))
			}
		}
	}
	return ends[1:] // the first are the statistics as they are
}

// cameAt is x if what never came had come at a time.
func (x sampled) cameAt(at float64) sampled {
	x.v = slices.Clone(x.v)
	for k, v := range x.v {
		if math.IsInf(v, 1) {
			x.v[k] = at
		}
	}
	return x
}

// extremes are the least and the most of a number and its interval.
func extremes(all []int, of func(runs []int) float64) (least, most float64) {
	v := of(all)
	if low, high, ok := stat.Interval(len(all), of); ok {
		return min(v, low), max(v, high)
	}
	return v, v
}

// lateness is what is known of a quotient, and of its interval, if something never came in some seeds of one scheme, or
// of both: as much as if it had come when it was last looked for or, if nobody knows when that was, just after all that
// came. all are the numbers of the runs.
func lateness(p *experiment.Part, samples []sampled, all []int) (least, most *float64) {
	last := 0.0 // of what came
	for _, x := range samples {
		last = max(last, slices.Max(x.cameAt(0).v))
	}
	over := func(a, b sampled) func(runs []int) float64 {
		return func(runs []int) float64 {
			v := quotient(statistic(p, a, runs), statistic(p, b, runs), 1)
			if math.IsNaN(v) { // zero by zero: no difference
				return 1
			}
			return v
		}
	}
	if a, b := samples[0], samples[1]; a.never && statistic(p, b, all) > 0 {
		known := a.watched > 0 || apart(p)
		at := a.watched
		if !known {
			at = last * later
		}
		v, _ := extremes(all, over(a.cameAt(at), b))
		if !known {
			v = min(v, later)
		}
		least = &v
	}
	if a, b := samples[0], samples[1]; b.never {
		at := b.watched
		if at == 0 {
			at = last * later
		}
		_, v := extremes(all, over(a, b.cameAt(at)))
		if b.watched == 0 {
			v = max(v, 1/later)
		}
		v = min(v, math.MaxFloat64) // a file has no infinity
		most = &v
	}
	if p.Kind() == experiment.Reduction {
		less := func(v *float64) *float64 {
			if v == nil {
				return nil
			}
			x := 1 - *v
			return &x
		}
		return less(most), less(least)
	}
	return least, most
}

// senseless reports whether quotients of a and b may not say which one is ahead: of seeds of which one is divided by a
// number below zero, as phase margins may be, or is itself below zero and divided by none.
func senseless(a, b []float64) bool {
	least := slices.Min(b)
	return least < 0 || least == 0 && slices.Min(a) < 0
}

// quotient of two numbers, which may be times of what never happened (infinite); neither if both are.
func quotient(a, b, neither float64) float64 {
	switch {
	case b == 0 && a > 0:
		return math.Inf(1)
	case math.IsInf(a, 1) && math.IsInf(b, 1):
		return neither
	}
	return a / b
}

// put writes down the numbers.
func (est *estimated) put(p *experiment.Part, m *Measurement) {
	m.Measured, m.N, m.Never, m.Unknown = run.Finite(est.value), est.n, est.never, math.IsNaN(est.value)
	if est.sure && !m.Unknown { // around what is no number there is none, whatever was drawn
		m.Interval = []*float64{run.Finite(est.low), run.Finite(est.high)}
	}
	if m.Unknown {
		return
	}
	for _, v := range []float64{est.value, est.low, est.high} {
		if least, most := est.known(p.Kind(), v); least != nil {
			m.AtLeast = least
		} else if most != nil {
			m.AtMost = most
		}
	}
}

// known is what is known of a number that is as it is because something never happened.
func (est *estimated) known(as experiment.As, v float64) (least, most *float64) {
	switch {
	case math.IsInf(v, 1), as == experiment.Reduction && v == 1:
		return est.least, nil
	case math.IsInf(v, -1), as == experiment.Ratio && v == 0:
		return nil, est.most
	}
	return nil, nil
}

// judge gives the verdict: it is that of the worst end of the interval.
func (est *estimated) judge(p *experiment.Part, m *Measurement) {
	if p.Paper == nil && p.Limit == nil {
		m.Verdict = Shape
		return
	}
	ends := []float64{est.value, est.low, est.high}
	for _, v := range ends[:3:3] {
		if least, most := est.known(p.Kind(), v); least != nil {
			ends = append(ends, *least)
		} else if most != nil {
			ends = append(ends, *most)
		}
	}
	m.Direction = true
	for _, v := range ends {
		var verdict Verdict
		direction := true
		switch {
		case math.IsNaN(v) && p.Paper != nil:
			verdict, direction = Differs, false
		case math.IsNaN(v):
			verdict = Contradicted
		case p.Paper != nil:
			verdict, direction = grade(p.Kind(), p.Bound, *p.Paper, v)
		case stands(p.Kind(), p.Bound, *p.Limit, p.Within, v):
			verdict = Holds
		default:
			verdict = Contradicted
		}
		if m.Verdict == "" || worse(verdict, m.Verdict) {
			m.Verdict = verdict
		}
		m.Direction = m.Direction && direction
	}
	m.Direction = m.Direction && p.Bound != "" && m.Verdict == Differs
}

// Undecided reports whether there are numbers on both sides of what decides: of a number that the paper prints, whether
// the interval has it.
func (m *Measurement) Undecided() bool {
	if m.Paper != nil && m.Bound == "" && m.Verdict == Differs && len(m.Interval) == 2 {
		return m.number(m.Interval[0]) <= *m.Paper && *m.Paper <= m.number(m.Interval[1])
	}
	if m.Limit == nil || m.Bound == "" || m.Verdict != Contradicted || m.Unknown {
		return false
	}
	return slices.ContainsFunc(append([]*float64{m.Measured}, m.Interval...), func(v *float64) bool {
		return stands(m.As, m.Bound, *m.Limit, 0, m.number(v))
	})
}

// Count counts verdicts.
func Count(claims []Result) (n map[Verdict]int) {
	n = map[Verdict]int{}
	for _, c := range claims {
		n[c.Verdict]++
	}
	return n
}

// Says is the verdict as tables print it.
func (m *Measurement) Says() string {
	switch {
	case m.Direction:
		return string(m.Verdict) + " (direction)"
	case m.Undecided():
		return string(m.Verdict) + " (undecided)"
	}
	return string(m.Verdict)
}

// Ours prints what was measured as tables do.
func (m *Measurement) Ours() string {
	switch {
	case m.AtLeast != nil && *m.AtLeast > 0 && (m.Measured == nil || m.As == experiment.Reduction && *m.Measured == 1):
		return "≥ " + experiment.Number(m.AtLeast, m.Unit)
	case m.AtMost != nil && (m.Measured == nil || m.As == experiment.Ratio && *m.Measured == 0):
		return "≤ " + experiment.Number(m.AtMost, m.Unit)
	case m.Measured == nil && m.N > 0 && 2*m.Never >= m.N:
		return "never"
	}
	return experiment.Number(m.Measured, m.Unit)
}

// Theirs prints what the paper has, or what its words were taken to mean.
func (m *Measurement) Theirs() string {
	sign := map[experiment.Bound]string{experiment.AtLeast: "≥ ", experiment.AtMost: "≤ "}[m.Bound]
	switch {
	case m.Paper != nil:
		return sign + experiment.Number(m.Paper, m.Unit)
	case m.Limit == nil:
		return experiment.Number(nil, "")
	case m.Within != nil:
		return fmt.Sprintf("words: %s ± %.4g %%", experiment.Number(m.Limit, m.Unit), 100**m.Within)
	case *m.Limit == 1 && m.As == experiment.Ratio, *m.Limit == 0 && m.As == experiment.Reduction:
		sign = map[experiment.Bound]string{experiment.AtLeast: "> ", experiment.AtMost: "< "}[m.Bound]
	}
	return "words: " + sign + experiment.Number(m.Limit, m.Unit)
}

// Spread prints the interval, and how often it never came.
func (m *Measurement) Spread() string {
	text := ""
	if len(m.Interval) == 2 {
		text = fmt.Sprintf("%s to %s", experiment.Number(m.Interval[0], m.Unit), cmp.Or(end(m.Interval[1], m.Unit), "∞"))
	}
	switch never := fmt.Sprintf("never in %d", m.Never); {
	case m.Never == 0:
		return text
	case text == "":
		return never
	default:
		return text + "; " + never
	}
}

func end(v *float64, unit string) string {
	if v == nil {
		return ""
	}
	return experiment.Number(v, unit)
}
