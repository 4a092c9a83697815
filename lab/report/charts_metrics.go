package report

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/run"
	"photon/lab/web"
)

// Charts of metrics and of flows that ended: those of samples are in charts.go.

// sweep draws metrics over the values of the sweep: a chart for each metric, all schemes in it;
// of one scheme, all metrics in one. Values that are no numbers are groups of bars.
func (c *charter) sweep(p *experiment.Plot, r *claim.Judged) (charts []*web.Chart) {
	if c.e.Sweep == nil {
		return nil
	}
	axis, values := sweepAxis(c.e, r)
	kind := "sweep"
	if axis.Step != 0 {
		kind = "bars"
	}
	line := func(ch *web.Chart, run *run.Run, metric string) web.Line {
		l := web.Line{Name: run.Scheme, Scheme: run.Scheme, LineStyle: c.styles[run.Scheme]}
		for i, v := range values {
			l.Values = append(l.Values, scaled(run.Metrics[experiment.Key(metric, v)], p.Per()))
			c.mark(ch, r, len(ch.Lines), i, run.Scheme, experiment.Key(metric, v), p.Per())
		}
		return l
	}
	if len(r.Runs) == 1 {
		ch := &web.Chart{Kind: kind, X: axis, Y: p.Y, Note: r.Runs[0].Scheme}
		for i, metric := range p.Sweep {
			l := line(ch, &r.Runs[0], metric)
			if len(p.Sweep) > 1 {
				l.Name, l.Scheme, l.LineStyle = metric, "", web.Numbered(i)
			}
			ch.Lines = append(ch.Lines, l)
		}
		return []*web.Chart{ch}
	}
	for _, metric := range p.Sweep {
		ch := &web.Chart{Kind: kind, X: axis, Y: p.Y}
		if len(p.Sweep) > 1 {
			ch.Title = metric
		}
		for i := range r.Runs {
			ch.Lines = append(ch.Lines, line(ch, &r.Runs[i], metric))
		}
		charts = append(charts, ch)
	}
	return charts
}

// sweepAxis is the axis of the values that were run. Values that are not ascending
// numbers of one unit are put at equal distances, as bars are.
func sweepAxis(e *experiment.Experiment, r *claim.Judged) (axis web.Axis, values []string) {
	axis = web.Axis{Label: e.Sweep.Label, Log: e.Sweep.Log}
	unit, regular := "", true
	values = sweepValues(e, r)
	for i, v := range values {
		x, err := experiment.SweepNumber(v)
		u := strings.TrimLeft(v, "+-.0123456789")
		regular = regular && err == nil && (i == 0 || u == unit && x > axis.Values[i-1]) && (x > 0 || !axis.Log)
		unit = u
		axis.Values = append(axis.Values, x)
		axis.Names = append(axis.Names, v)
	}
	if !regular {
		axis.Log, axis.Values, axis.Step, axis.N = false, nil, 1, len(values)
	}
	return axis, values
}

// bars draws metrics side by side: a group of bars for each metric, or for
// one metric a bar for each scheme.
func (c *charter) bars(p *experiment.Plot, r *claim.Judged) []*web.Chart {
	ch := &web.Chart{Kind: "bars", Y: p.Y}
	for i := range r.Runs {
		run := &r.Runs[i]
		l := web.Line{Name: run.Scheme, Scheme: run.Scheme, LineStyle: c.styles[run.Scheme]}
		if len(p.Bars) == 1 {
			l.Values = make(web.Numbers, len(r.Runs))
			for k := range l.Values {
				l.Values[k] = math.NaN()
			}
			l.Values[i] = scaled(run.Metrics[p.Bars[0]], p.Per())
			c.mark(ch, r, i, i, run.Scheme, p.Bars[0], p.Per())
			ch.X.Names = append(ch.X.Names, run.Scheme)
		} else {
			for k, metric := range p.Bars {
				l.Values = append(l.Values, scaled(run.Metrics[metric], p.Per()))
				c.mark(ch, r, i, k, run.Scheme, metric, p.Per())
			}
			ch.X.Names = p.Bars
		}
		ch.Lines = append(ch.Lines, l)
	}
	ch.X.Step, ch.X.N = 1, len(ch.X.Names)
	return []*web.Chart{ch}
}

func scaled(v *float64, per float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return web.Round(*v/per, 9) // the page rounds to 4, and twice rounded is not what the table has
}

// cdf draws the distribution of the completion times of a group's flows.
func (c *charter) cdf(p *experiment.Plot, r *claim.Judged) []*web.Chart {
	value := r.Shown(c.e)
	var all []float64
	ch := &web.Chart{Kind: "cdf", Y: "part of flows that ended", Note: sentence([]string{atValue(c.e, value)})}
	var times [][]float64
	for _, run := range r.Runs {
		completion := r.Completion(run.Scheme, value, p.FCT)
		if len(completion) == 0 {
			continue
		}
		times = append(times, completion)
		all = append(all, completion...)
		name := fmt.Sprintf("%s (%d flows)", run.Scheme, len(completion))
		ch.Lines = append(ch.Lines, web.Line{Name: name, Scheme: run.Scheme, LineStyle: c.styles[run.Scheme]})
	}
	if len(all) == 0 {
		return nil
	}
	ch.X = web.Axis{Label: "completion time, ms", Log: p.Log, Values: quantiles(all, cdfPoints)}
	for i := range ch.Lines {
		for _, x := range ch.X.Values {
			below := sort.Search(len(times[i]), func(k int) bool { return web.Round(times[i][k], 5) > x })
			ch.Lines[i].Values = append(ch.Lines[i].Values, web.Round(float64(below)/float64(len(times[i])), 4))
		}
	}
	return []*web.Chart{ch}
}

// quantiles returns so many of the values at most, with equally many between
// them, the least and the largest included.
func quantiles(values []float64, most int) (some web.Numbers) {
	slices.Sort(values)
	n := min(most, len(values))
	for i := range n {
		at := len(values) - 1
		if n > 1 {
			at = i * (len(values) - 1) / (n - 1)
		}
		some = append(some, web.Round(values[at], 5))
	}
	return slices.Compact(some)
}
