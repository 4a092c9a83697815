package report

import (
	"fmt"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/web"
)

// slowdown draws how much longer flows take than in an empty network, by their size: the
// median, the 95th and the 99th percentile of all seeds.
func (c *charter) slowdown(p *experiment.Plot, r *claim.Judged) (charts []*web.Chart) {
	value := r.Shown(c.e)
	var all []measure.Ended
	whole := r.Result
	if c.whole != nil {
		whole = c.whole
	}
	for i := range whole.Runs { // of all schemes: figures side by side have the same ranges
		run := &whole.Runs[i]
		all = append(all, whole.EndedOf(run.Scheme, value, p.Slowdown)...)
	}
	ends := measure.Sizes(all)
	if len(ends) == 0 || c.page && len(ends) == 1 { // a page says of one size what tables say
		return nil
	}
	axis := web.Axis{Label: "flow size, up to"}
	for i, end := range ends {
		axis.Values, axis.Names = append(axis.Values, float64(i)), append(axis.Names, measure.About(end))
	}
	for _, s := range []struct{ stat, name string }{{"p50", "median"}, {"p95", "95th percentile"}, {"p99", "99th percentile"}} {
		ch := &web.Chart{Kind: "sweep", X: axis, Y: "slowdown, " + s.name, Title: s.name}
		ch.Note = sentence([]string{atValue(c.e, value), fmt.Sprintf("%d flows", len(all))})
		for _, run := range r.Runs {
			l := web.Line{Name: run.Scheme, Scheme: run.Scheme, LineStyle: c.styles[run.Scheme]}
			l.Values = web.RoundAll(measure.Slowdowns(r.EndedOf(run.Scheme, value, p.Slowdown), ends, s.stat), 5)
			ch.Lines = append(ch.Lines, l)
		}
		charts = append(charts, ch)
	}
	return charts
}
