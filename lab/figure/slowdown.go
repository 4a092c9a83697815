package figure

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/run"
)

// drawSlowdown draws slowdown by flow size, as the field does: ranges of sizes with equally
// many flows, their 99th percentile as a line, their median dashed.
func drawSlowdown(e *experiment.Experiment, p *plot.Plot, spec *experiment.Plot, r *run.Result, schemes []string) error {
	p.X.Label.Text, p.Y.Label.Text = "flow size, up to", "slowdown"
	value := r.Shown(e)
	var all []measure.Ended
	for i := range r.Runs { // of all schemes: figures beside each other have the same ranges
		all = append(all, r.EndedOf(r.Runs[i].Scheme, value, spec.Slowdown)...)
	}
	ends := measure.Sizes(all)
	if len(ends) == 0 {
		p.HideAxes()
		p.X.Label.Text, p.Y.Label.Text = "", "" // fewer flows ended than say anything
		return nil
	}
	for i, scheme := range schemes {
		mine := r.EndedOf(scheme, value, spec.Slowdown)
		for _, s := range []struct {
			stat, name string
			dashes     []vg.Length
		}{{"p99", "99th percentile", nil}, {"p50", "median", []vg.Length{vg.Points(4), vg.Points(3)}}} {
			var xy plotter.XYs
			for k, y := range measure.Slowdowns(mine, ends, s.stat) {
				xy = append(xy, plotter.XY{X: float64(k), Y: y})
			}
			if _, err := addSweep(p, xy, look{plotutil.Color(i), s.dashes}, scheme+", "+s.name); err != nil {
				return err
			}
		}
	}
	var names []string
	for _, end := range ends {
		names = append(names, measure.About(end))
	}
	p.NominalX(names...)
	slant(p, names)
	p.Y.Min = 0
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	return nil
}
