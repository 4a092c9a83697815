package report

import (
	"fmt"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/web"
)

// slowdown draws how much longer flows that ended took than in an empty network, by their size: the median, the 95th
// and the 99th percentile of all seeds. Metrics count those that had not ended, too, of which a result has no list.
func (c *charter) slowdown(p *experiment.Plot, r *claim.Judged) (charts []*web.Chart) {
	value := r.Shown(c.e)
	whole := r.Result
	if c.whole != nil {
		whole = c.whole
	}
	all := whole.Slowdowns(value, p.Slowdown) // figures side by side have the same ranges of sizes
	ends := all.Ends
	if len(ends) == 0 || c.page && len(ends) == 1 { // a page says of one size what tables say
		return nil
	}
	axis := web.Axis{Label: "size of flows that ended, up to"}
	for i, end := range ends {
		axis.Values, axis.Names = append(axis.Values, float64(i)), append(axis.Names, measure.About(end))
	}
	for _, name := range []string{"median", "95th percentile", "99th percentile"} {
		ch := &web.Chart{Kind: "sweep", X: axis, Y: "slowdown, " + name, Title: name}
		ch.Note = sentence([]string{atValue(c.e, value), fmt.Sprintf("%d flows that ended", all.Flows)})
		charts = append(charts, ch)
	}
	for _, run := range r.Runs {
		for i, values := range all.Of[run.Scheme] {
			l := web.Line{Name: run.Scheme, Scheme: run.Scheme, LineStyle: c.styles[run.Scheme]}
			l.Values = web.RoundAll(values, 5)
			charts[i].Lines = append(charts[i].Lines, l)
		}
	}
	return charts
}
