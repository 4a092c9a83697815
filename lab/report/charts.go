package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/run"
	"photon/lab/stat"
	"photon/lab/web"
	"photon/units"
)

// Charts are the panels of an experiment. The page of the report draws them, and package
// figure draws the same as pictures.

const (
	linePoints  = 2000  // of a line, at most
	panelPoints = 40000 // of all lines of a panel, about
	leastPoints = 400   // of a line, whatever the panel has
	mostColumns = 16    // of a probe with a column for each flow: more cannot be distinguished
	cdfPoints   = 1000
)

// charter makes the charts of one experiment.
type charter struct {
	e      *experiment.Experiment
	styles map[string]web.LineStyle
	many   bool        // worlds
	page   bool        // the charts are of a page, which says more than a picture
	whole  *run.Result // that slowdowns take their ranges of sizes from, if a part of its schemes is drawn
}

// Charts are the panels of a result, each with its charts, for those of its schemes that are
// named; of all if none is.
func Charts(e *experiment.Experiment, r *run.Result, schemes ...string) (panels [][]*web.Chart) {
	part := *r
	if len(schemes) > 0 {
		part.Runs = slices.DeleteFunc(slices.Clone(r.Runs), func(x run.Run) bool { return !slices.Contains(schemes, x.Scheme) })
	}
	var keys []string
	for i := range r.Runs {
		keys = append(keys, r.Runs[i].Scheme)
	}
	c := charter{e: e, styles: LineStyles(keys), whole: r}
	list := e.Panels()
	for i := range list {
		if charts := c.panel(&list[i], &claim.Judged{Result: &part}); len(charts) > 0 {
			panels = append(panels, charts)
		}
	}
	return panels
}

// charts returns all panels, with the charts of both worlds side by side.
func (c *charter) charts(results []*claim.Judged) (charts []*web.Chart) {
	c.many, c.page = len(results) > 1, true
	panels := append(c.e.Panels(), c.unseen()...)
	for i := range panels {
		var worlds [][]*web.Chart
		most := 0
		for _, r := range results {
			worlds = append(worlds, c.panel(&panels[i], r))
			most = max(most, len(worlds[len(worlds)-1]))
		}
		for k := range most {
			for _, w := range worlds {
				if k < len(w) {
					charts = append(charts, w[k])
				}
			}
		}
	}
	return charts
}

// panel returns the charts of a panel; none if there is nothing to draw.
func (c *charter) panel(p *experiment.Plot, r *claim.Judged) (charts []*web.Chart) {
	p = c.measured(p, r)
	switch {
	case len(p.Lines) > 0:
		charts = c.lines(p, r)
	case len(p.Sweep) > 0:
		charts = c.sweep(p, r)
	case p.FCT != "":
		charts = c.cdf(p, r)
	case p.Slowdown != "":
		charts = c.slowdown(p, r)
	default:
		charts = c.bars(p, r)
	}
	charts = slices.DeleteFunc(charts, empty)
	for _, chart := range charts {
		chart.Title = strings.Trim(p.Name()+": "+chart.Title, ": ")
		if at := atValue(c.e, r.Shown(c.e)); at != "" && !c.page && len(p.Sweep)+len(p.Bars) == 0 {
			chart.Title += ", " + at // which a page has in the note
		}
		if c.many {
			chart.Title += " (" + r.World + ")"
		}
		chart.Note = sentence([]string{chart.Note, paperNote(chart)})
		chart.SetLegendValues()
		chart.Label = describeChart(chart)
	}
	return charts
}

// measured is a panel whose axis has a label: one that the experiment gives none has the unit in
// which the largest of its values reads best.
func (c *charter) measured(p *experiment.Plot, r *claim.Judged) *experiment.Plot {
	names, unitOf := p.Lines, c.e.ProbeUnit
	if metrics := slices.Concat(p.Sweep, p.Bars); len(metrics) > 0 {
		names, unitOf = metrics, c.e.Unit
	}
	if p.Y != "" || p.Scale != 0 || len(names) == 0 {
		return p
	}
	unit, most := unitOf(names[0]), 0.0
	for _, n := range names {
		if unitOf(n) != unit {
			return p
		}
		for i := range r.Runs {
			most = max(most, c.largest(&r.Runs[i], r, n, len(p.Lines) > 0))
		}
	}
	labelled := *p
	scale, y := experiment.Scaled(most, unit)
	labelled.Scale = 1 / scale
	switch {
	case p.Title != "" || y == "":
		labelled.Y = y
	default:
		labelled.Y = strings.Join(names, ", ") + ", " + y
	}
	return &labelled
}

// largest is the largest of a metric's values, or of a probe's samples.
func (c *charter) largest(x *run.Run, r *claim.Judged, name string, samples bool) (most float64) {
	if !samples {
		for _, v := range c.e.Values() {
			for _, key := range []string{name, experiment.Key(name, v)} {
				if y := x.Metrics[key]; y != nil {
					most = max(most, math.Abs(*y))
				}
			}
		}
		return most
	}
	if s := r.Series(x.Scheme, r.Shown(c.e)); s != nil {
		for _, column := range s.Columns(name) {
			for _, y := range s.Column(column) {
				most = max(most, math.Abs(y))
			}
		}
	}
	return most
}

// mark adds what the paper has of a scheme's metric to what was measured. On a page that is also where a ratio of the
// paper puts the one of two schemes that has less, if the other has what was measured.
func (c *charter) mark(ch *web.Chart, r *claim.Judged, line, at int, scheme, metric string, per float64) {
	for i := range c.e.Claims {
		for _, p := range c.e.Claims[i].Parts() {
			y, bound, ok := p.Paper, p.Bound, false
			switch {
			case p.Paper == nil:
			case len(p.Schemes) == 1:
				ok = p.Over == "" && p.Schemes[0] == scheme && p.Metric == metric
			case c.page:
				y, bound, ok = c.byRatio(&p, r, scheme, metric)
			}
			m := web.Mark{Line: line, At: at, Y: scaled(y, per), Bound: string(bound), Ratio: len(p.Schemes) > 1}
			if ok && !slices.Contains(ch.Paper, m) {
				ch.Paper = append(ch.Paper, m)
			}
		}
	}
}

// byRatio is where a ratio of the paper, or a reduction, puts a scheme's metric.
func (c *charter) byRatio(p *experiment.Part, r *claim.Judged, scheme, metric string) (y *float64, bound experiment.Bound, ok bool) {
	ratio, bound := *p.Paper, p.Bound
	if p.Kind() == experiment.Reduction {
		ratio, bound = 1-ratio, opposite[bound]
	}
	ours, other := 0, 1
	if ratio > 1 {
		ratio, bound, ours, other = 1/ratio, opposite[bound], 1, 0
	}
	if ratio <= 0 || p.Kind() != experiment.Ratio && p.Kind() != experiment.Reduction || p.Schemes[ours] != scheme || p.MetricOf(ours) != metric {
		return nil, "", false
	}
	measured := r.Metrics(p.Schemes[other])[p.MetricOf(other)]
	if measured == nil {
		return nil, "", false
	}
	v := ratio * *measured
	return &v, bound, true
}

var opposite = map[experiment.Bound]experiment.Bound{experiment.AtLeast: experiment.AtMost, experiment.AtMost: experiment.AtLeast}

// unseen are panels of what no panel of the experiment shows: of what the paper has a number of, bars, or the sweep; and
// the slowdown by flow size, where slowdowns are measured.
func (c *charter) unseen() (panels []experiment.Plot) {
	shown, bySize := map[string]bool{}, false
	for _, p := range c.e.Panels() {
		bySize = bySize || p.Slowdown != ""
		for _, m := range p.Bars {
			shown[m] = true
		}
		for _, m := range p.Sweep {
			for _, v := range c.e.Values() {
				shown[experiment.Key(m, v)] = true
			}
		}
	}
	for i := range c.e.Claims {
		for _, p := range c.e.Claims[i].Parts() {
			if p.Paper == nil || len(p.Schemes) != 1 || p.Over != "" || shown[p.Metric] {
				continue
			}
			name, _, sweep := strings.Cut(p.Metric, "@")
			panel := experiment.Plot{Title: name, Bars: []string{p.Metric}}
			shown[p.Metric] = true
			if sweep && c.e.Sweep != nil {
				panel.Bars, panel.Sweep = nil, []string{name}
				for _, v := range c.e.Values() {
					shown[experiment.Key(name, v)] = true
				}
			}
			panels = append(panels, panel)
		}
	}
	if !bySize && slices.ContainsFunc(c.e.Measure.Metrics, func(m experiment.Metric) bool { return m.Do.V == "slowdown" }) {
		panels = append(panels, experiment.Plot{Title: "slowdown by flow size", Slowdown: "*"})
	}
	return panels
}

// empty reports whether a chart has no value at all.
func empty(ch *web.Chart) bool {
	for _, l := range ch.Lines {
		if slices.ContainsFunc(l.Values, func(v float64) bool { return !math.IsNaN(v) }) {
			return false
		}
	}
	return true
}

// atValue says at which value of a sweep something is drawn.
func atValue(e *experiment.Experiment, value string) string {
	if value == "" || e.Sweep == nil {
		return ""
	}
	return fmt.Sprintf("%s = %s", e.Sweep.Name, value)
}

// curve is a line before it is thinned.
type curve struct {
	scheme, name string
	web.Curve
}

// lines draws samples over time: all schemes in one chart if each has one line,
// else a chart for each scheme.
func (c *charter) lines(p *experiment.Plot, r *claim.Judged) (charts []*web.Chart) {
	end := p.To
	if end == 0 {
		end = c.e.Lasts(r.Quick)
	}
	unit, name := timeUnit(end - p.From)
	value := r.Shown(c.e)
	var curves []curve
	left, widest := 0, 0
	for _, run := range r.Runs {
		s := r.Series(run.Scheme, value)
		if s == nil {
			continue
		}
		count := 0
		for _, probe := range p.Lines {
			names := s.Columns(probe)
			if len(names) > mostColumns {
				left = max(left, len(names))
				names = names[:mostColumns]
			}
			for _, n := range names {
				if x := spanOf(s, n, p.From, end, unit, p.Per()); len(x.X) > 0 {
					curves = append(curves, curve{run.Scheme, n, x})
					count++
				}
			}
		}
		widest = max(widest, count)
	}
	if len(curves) == 0 {
		return nil
	}
	chart := func(members []curve) *web.Chart {
		ch := &web.Chart{Kind: "lines", Y: p.Y, Group: fmt.Sprintf("%s %v %v", r.World, p.From, end)}
		var plain []web.Curve
		for _, x := range members {
			plain = append(plain, x.Curve)
		}
		points := min(linePoints, max(leastPoints, panelPoints/len(curves)))
		from, to := float64(p.From)/float64(unit), float64(end)/float64(unit)
		axis, values, spans := web.Thin(plain, from, to, points)
		axis.Label, axis.Range = "time, "+name, web.Numbers{from, to}
		ch.X, ch.Said = axis, "mean"
		for i, x := range members {
			line := web.Line{Name: x.scheme, Scheme: x.scheme, LineStyle: c.styles[x.scheme], Values: values[i]}
			line.Value = web.Numbers{web.Round(stat.Mean(x.Y), 4)}
			if widest > 1 {
				line.Name, line.Scheme, line.LineStyle = x.name, "", web.Numbered(i)
			}
			ch.Lines = append(ch.Lines, line)
		}
		notes := []string{atValue(c.e, value)}
		if spans > 0 {
			span := (end - p.From).Seconds() / float64(spans)
			notes = append(notes, fmt.Sprintf("each %s by its smallest and its largest sample", experiment.Number(&span, "s")))
		}
		if left > 0 {
			notes = append(notes, fmt.Sprintf("the first %d of %d columns", mostColumns, left))
		}
		ch.Note = sentence(notes)
		return ch
	}
	if widest == 1 {
		return []*web.Chart{chart(curves)}
	}
	for _, run := range r.Runs {
		ofScheme := slices.DeleteFunc(slices.Clone(curves), func(x curve) bool { return x.scheme != run.Scheme })
		if len(ofScheme) > 0 {
			ch := chart(ofScheme)
			ch.Title, ch.Scheme = run.Scheme, run.Scheme
			charts = append(charts, ch)
		}
	}
	return charts
}

// spanOf is a column from one time to another, in the units of a chart.
func spanOf(s *measure.Series, name string, from, to, unit units.Time, per float64) (c web.Curve) {
	first, _ := slices.BinarySearch(s.Time, from)
	last, _ := slices.BinarySearch(s.Time, to+1)
	v := s.Column(name)
	for i := first; i < last; i++ {
		c.X = append(c.X, float64(s.Time[i])/float64(unit))
		c.Y = append(c.Y, v[i]/per)
	}
	return c
}

// timeUnit is the best unit for a span of time.
func timeUnit(span units.Time) (units.Time, string) {
	switch {
	case span >= 2*units.Second:
		return units.Second, "s"
	case span < units.Millisecond:
		return units.Microsecond, "µs"
	}
	return units.Millisecond, "ms"
}

// describeChart tells what a chart shows to those who do not see it.
func describeChart(ch *web.Chart) string {
	var names []string
	for _, l := range ch.Lines {
		names = append(names, l.Name)
	}
	text := ch.Title
	if ch.Y != "" {
		text += "; " + ch.Y
	}
	if ch.X.Label != "" {
		text += " over " + ch.X.Label
	}
	return text + "; " + strings.Join(names, ", ")
}

// paperNote says what the marks of a chart mean; nothing if it has none.
func paperNote(ch *web.Chart) string {
	var kinds []string
	for _, k := range []struct{ bound, text string }{{"", "◇ paper"}, {"at_least", "△ paper: at least"}, {"at_most", "▽ paper: at most"}} {
		if slices.ContainsFunc(ch.Paper, func(m web.Mark) bool { return m.Bound == k.bound }) {
			kinds = append(kinds, k.text)
		}
	}
	note := strings.Join(kinds, ", ")
	if slices.ContainsFunc(ch.Paper, func(m web.Mark) bool { return m.Ratio }) {
		note += "; ratios are of the other scheme's value here"
	}
	return note
}

// sentence joins the notes that there are.
func sentence(notes []string) string {
	return strings.Join(slices.DeleteFunc(notes, func(n string) bool { return n == "" }), "; ")
}
