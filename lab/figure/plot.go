package figure

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"photon/lab/experiment"
	"photon/lab/run"
)

// one draws one scheme's panels below each other. format is "png" or "svg".
func one(e *experiment.Experiment, r *run.Result, scheme, format string) ([]byte, error) {
	panels, err := column(e, r, []string{scheme}, scheme+", "+r.World)
	if err != nil {
		return nil, err
	}
	var rows [][]*plot.Plot
	for _, p := range panels {
		rows = append(rows, []*plot.Plot{p})
	}
	return render(rows, format)
}

// overview draws all schemes of a result: beside each other if there are panels
// over time, else in one.
func overview(e *experiment.Experiment, r *run.Result, format string) ([]byte, error) {
	var names []string
	over := false
	for _, run := range r.Runs {
		names = append(names, run.Scheme)
	}
	for _, p := range e.Panels() {
		over = over || len(p.Lines) > 0
	}
	groups := [][]string{names}
	if over {
		groups = nil
		for _, n := range names {
			groups = append(groups, []string{n})
		}
	}
	var rows [][]*plot.Plot
	for _, g := range groups {
		title := r.World
		if over {
			title = g[0]
		}
		panels, err := column(e, r, g, title)
		if err != nil {
			return nil, err
		}
		if rows == nil {
			rows = make([][]*plot.Plot, len(panels))
		}
		for i, p := range panels {
			rows[i] = append(rows[i], p)
		}
	}
	return render(rows, format)
}

// column is the panels for some schemes.
func column(e *experiment.Experiment, r *run.Result, schemes []string, title string) (column []*plot.Plot, err error) {
	panels := e.Panels()
	if len(panels) == 0 { // nothing was asked for: what there is
		panels = []experiment.Plot{{Bars: e.MetricNames()}}
	}
	for i := range panels {
		p := plot.New()
		if i == 0 {
			p.Title.Text = title
		}
		if err := panel(e, p, &panels[i], r, schemes); err != nil {
			return nil, err
		}
		column = append(column, p)
	}
	return column, nil
}

// draw puts one panel's data into a plot.
func panel(e *experiment.Experiment, p *plot.Plot, spec *experiment.Plot, r *run.Result, schemes []string) error {
	p.Y.Label.Text = spec.Y
	if p.Title.Text == "" || spec.Title != "" {
		p.Title.Text = strings.TrimPrefix(p.Title.Text+": "+spec.Title, ": ")
	}
	scale := spec.Scale
	if scale == 0 {
		scale = 1
	}
	switch {
	case len(spec.Lines) > 0:
		return drawLines(e, p, spec, r, schemes, scale)
	case len(spec.Sweep) > 0:
		return drawSweep(e, p, spec, r, schemes, scale)
	case spec.FCT != "":
		return drawFCT(e, p, spec, r, schemes)
	case spec.Slowdown != "":
		return drawSlowdown(e, p, spec, r, schemes)
	}
	return drawBars(p, spec, r, schemes, scale)
}

func drawLines(e *experiment.Experiment, p *plot.Plot, spec *experiment.Plot, r *run.Result, schemes []string, scale float64) error {
	end := spec.To
	if end == 0 {
		end = e.Lasts(r.Quick)
	}
	p.X.Label.Text = "time, ms"
	drawn := 0
	for _, scheme := range schemes {
		s := r.Series(scheme, r.Shown(e))
		if s == nil {
			continue
		}
		first, _ := slices.BinarySearch(s.Time, spec.From)
		last, _ := slices.BinarySearch(s.Time, end+1)
		for _, probe := range spec.Lines {
			for _, name := range s.Columns(probe) {
				v := s.Column(name)
				var xy plotter.XYs
				for i := first; i < last; i++ {
					xy = append(xy, plotter.XY{X: s.Time[i].Seconds() * 1e3, Y: v[i] / scale})
				}
				if len(xy) == 0 {
					return fmt.Errorf("nothing to plot: no sample from %v to %v", spec.From, end)
				}
				label := name
				if len(schemes) > 1 {
					label = scheme + " " + name
				}
				if err := addLine(p, thin(xy), plotutil.Color(drawn), label); err != nil {
					return err
				}
				drawn++
			}
		}
	}
	p.Legend.Top = true
	p.X.Min, p.X.Max, p.Y.Min = spec.From.Seconds()*1e3, end.Seconds()*1e3, 0
	p.Add(plotter.NewGrid())
	return nil
}

func drawSweep(e *experiment.Experiment, p *plot.Plot, spec *experiment.Plot, r *run.Result, schemes []string, scale float64) error {
	p.X.Label.Text = e.Sweep.Label
	drawn := 0
	for _, scheme := range schemes {
		m := r.Metrics(scheme)
		for _, metric := range spec.Sweep {
			var xy plotter.XYs
			for _, v := range e.Values() {
				x, err := experiment.SweepNumber(v)
				if err != nil {
					continue
				}
				y := math.NaN() // there is none
				if v := m[experiment.Key(metric, v)]; v != nil {
					y = *v / scale
				}
				xy = append(xy, plotter.XY{X: x, Y: y})
			}
			ok, err := addSweep(p, xy, look{plotutil.Color(drawn), nil}, scheme+" "+metric)
			if err != nil {
				return err
			}
			if ok {
				drawn++
			}
		}
	}
	if e.Sweep.Log && drawn > 0 {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{}
	}
	p.Y.Min = min(0, p.Y.Min)
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	return nil
}

func drawFCT(e *experiment.Experiment, p *plot.Plot, spec *experiment.Plot, r *run.Result, schemes []string) error {
	p.X.Label.Text, p.Y.Label.Text = "completion time, ms", "part of flows"
	for i, scheme := range schemes {
		times := r.Completion(scheme, r.Shown(e), spec.FCT)
		var xy plotter.XYs
		for k, t := range times {
			xy = append(xy, plotter.XY{X: t, Y: float64(k+1) / float64(len(times))})
		}
		if len(xy) == 0 {
			continue
		}
		if err := addLine(p, xy, plotutil.Color(i), scheme); err != nil {
			return err
		}
	}
	if spec.Log {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{}
	}
	p.Add(plotter.NewGrid())
	return nil
}

func drawBars(p *plot.Plot, spec *experiment.Plot, r *run.Result, schemes []string, scale float64) error {
	// All bars of a panel have some 280 points, and those of a metric 60 at most.
	width := vg.Points(max(2, min(60, 280/float64(len(spec.Bars)))/float64(len(schemes))))
	for i, scheme := range schemes {
		m := r.Metrics(scheme)
		offset := width * vg.Length(float64(i)-float64(len(schemes)-1)/2)
		for k, metric := range spec.Bars {
			if err := bar(p, float64(k), m[metric], scale, width, offset, i); err != nil {
				return err
			}
		}
		p.Legend.Add(scheme, &plotter.BarChart{Color: plotutil.Color(i)})
	}
	p.Legend.Top = true
	p.NominalX(spec.Bars...)
	slant(p, spec.Bars)
	return nil
}

// slant turns the names below an axis if they would overlap.
func slant(p *plot.Plot, names []string) {
	if len(strings.Join(names, " ")) > 60 {
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign = math.Pi/8, draw.XRight
	}
}

// bar draws one bar. What is missing is said, and is no bar of height 0.
func bar(p *plot.Plot, x float64, v *float64, scale float64, width, offset vg.Length, color int) error {
	if v == nil {
		labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: 0}}, Labels: []string{"none"}})
		if err != nil {
			return err
		}
		labels.Offset.X = offset
		labels.TextStyle[0].XAlign, labels.TextStyle[0].Color = draw.XCenter, plotutil.Color(color)
		p.Add(labels)
		return nil
	}
	b, err := plotter.NewBarChart(plotter.Values{*v / scale}, width)
	if err != nil {
		return err
	}
	b.XMin, b.Color, b.Offset = x, plotutil.Color(color), offset
	p.Add(b)
	return nil
}

// look is that of a line.
type look struct {
	color  color.Color
	dashes []vg.Length
}

// addSweep draws a line with a mark at each value; it is broken where there is none. It
// reports whether there was any.
func addSweep(p *plot.Plot, xy plotter.XYs, l look, label string) (any bool, err error) {
	for len(xy) > 0 {
		n := 0
		for n < len(xy) && !math.IsNaN(xy[n].Y) {
			n++
		}
		if n > 0 {
			line, points, err := plotter.NewLinePoints(xy[:n])
			if err != nil {
				return any, err
			}
			line.Color, line.Width, line.Dashes = l.color, vg.Points(1), l.dashes
			points.Color, points.Radius = l.color, vg.Points(2)
			p.Add(line, points)
			if !any {
				p.Legend.Add(label, line, points)
			}
			any = true
		}
		xy = xy[min(n+1, len(xy)):]
	}
	return any, nil
}

func addLine(p *plot.Plot, xy plotter.XYs, c color.Color, label string) error {
	l, err := plotter.NewLine(xy)
	if err != nil {
		return err
	}
	l.Color, l.Width = c, vg.Points(1)
	p.Add(l)
	p.Legend.Add(label, l)
	return nil
}

// render draws plots in rows and columns, with their axes aligned.
func render(rows [][]*plot.Plot, format string) ([]byte, error) {
	const width, height = 14 * vg.Centimeter, 6 * vg.Centimeter
	columns := len(rows[0])
	w, h := width*vg.Length(columns), height*vg.Length(len(rows))
	var canvas vg.CanvasWriterTo
	switch format {
	case "svg":
		canvas = vgsvg.New(w, h)
	case "png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(120))}
	default:
		return nil, fmt.Errorf("format %q: png or svg", format)
	}
	tiles := draw.Tiles{
		Rows: len(rows), Cols: columns, PadX: vg.Points(10), PadY: vg.Points(6),
		PadTop: vg.Points(4), PadRight: vg.Points(8), PadBottom: vg.Points(2), PadLeft: vg.Points(2),
	}
	canvases := plot.Align(rows, tiles, draw.New(canvas))
	for i := range rows {
		for j, p := range rows[i] {
			p.Draw(canvases[i][j])
		}
	}
	var b bytes.Buffer
	_, err := canvas.WriteTo(&b)
	return b.Bytes(), err
}
