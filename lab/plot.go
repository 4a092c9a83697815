package lab

import (
	"bytes"
	"fmt"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// panels are the plots of an experiment; those of `dynamics` if it names none.
func (e *Experiment) panels() []Plot {
	if len(e.Plots) > 0 {
		return e.Plots
	}
	if !e.Measure.Kind.IsSet() {
		return nil
	}
	return []Plot{
		{Y: "rate, Gbit/s", Scale: 1e9, Lines: []string{"aggregate_rate_bps"}, To: e.Measure.Plot},
		{Y: "queue, KB", Scale: 1e3, Lines: []string{"queue_bytes"}, To: e.Measure.Plot},
	}
}

// plot draws one scheme's panels below each other. format is "png" or "svg".
func (e *Experiment) plot(r *Result, scheme, format string) ([]byte, error) {
	column, err := e.column(r, []string{scheme}, scheme+", "+r.World)
	if err != nil {
		return nil, err
	}
	var rows [][]*plot.Plot
	for _, p := range column {
		rows = append(rows, []*plot.Plot{p})
	}
	return render(rows, format)
}

// overview draws all schemes of a result: beside each other if there are panels
// over time, else in one.
func (e *Experiment) overview(r *Result, format string) ([]byte, error) {
	var names []string
	over := false
	for _, run := range r.Runs {
		names = append(names, run.Scheme)
	}
	for _, p := range e.panels() {
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
		column, err := e.column(r, g, title)
		if err != nil {
			return nil, err
		}
		if rows == nil {
			rows = make([][]*plot.Plot, len(column))
		}
		for i, p := range column {
			rows[i] = append(rows[i], p)
		}
	}
	return render(rows, format)
}

// column is the panels for some schemes.
func (e *Experiment) column(r *Result, schemes []string, title string) (column []*plot.Plot, err error) {
	panels := e.panels()
	if len(panels) == 0 { // nothing was asked for: what there is
		panels = []Plot{{Bars: e.MetricNames()}}
	}
	for i := range panels {
		p := plot.New()
		if i == 0 {
			p.Title.Text = title
		}
		if err := e.draw(p, &panels[i], r, schemes); err != nil {
			return nil, err
		}
		column = append(column, p)
	}
	return column, nil
}

// draw puts one panel's data into a plot.
func (e *Experiment) draw(p *plot.Plot, spec *Plot, r *Result, schemes []string) error {
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
		return e.drawLines(p, spec, r, schemes, scale)
	case len(spec.Sweep) > 0:
		return e.drawSweep(p, spec, r, schemes, scale)
	case spec.FCT != "":
		return drawFCT(p, spec, r, schemes)
	}
	return drawBars(p, spec, r, schemes, scale)
}

func (e *Experiment) drawLines(p *plot.Plot, spec *Plot, r *Result, schemes []string, scale float64) error {
	end := spec.To
	if end == 0 {
		end = e.Duration
	}
	p.X.Label.Text = "time, ms"
	drawn := 0
	for _, scheme := range schemes {
		var s *Series
		for _, v := range e.variants { // of a sweep, the first value that was run
			if s = r.series[key(scheme, v.value)]; s != nil {
				break
			}
		}
		if s == nil {
			continue
		}
		first, _ := slices.BinarySearch(s.Time, spec.From)
		last, _ := slices.BinarySearch(s.Time, end+1)
		step := max(1, (last-first)/1500) // a point per pixel is enough
		for _, probe := range spec.Lines {
			for _, name := range s.Columns(probe) {
				v := s.Column(name)
				var xy plotter.XYs
				for i := first; i < last; i += step {
					xy = append(xy, plotter.XY{X: s.Time[i].Seconds() * 1e3, Y: v[i] / scale})
				}
				if len(xy) == 0 {
					return fmt.Errorf("nothing to plot: no sample from %v to %v", spec.From, end)
				}
				label := name
				if len(schemes) > 1 {
					label = scheme + " " + name
				}
				if err := addLine(p, xy, plotutil.Color(drawn), label); err != nil {
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

func (e *Experiment) drawSweep(p *plot.Plot, spec *Plot, r *Result, schemes []string, scale float64) error {
	p.X.Label.Text = e.Sweep.Label
	drawn := 0
	for _, scheme := range schemes {
		m := r.metrics(scheme)
		for _, metric := range spec.Sweep {
			var xy plotter.XYs
			for _, v := range e.variants {
				x, err := sweepNumber(v.value)
				if y := m[key(metric, v.value)]; y != nil && err == nil {
					xy = append(xy, plotter.XY{X: x, Y: *y / scale})
				}
			}
			if len(xy) == 0 {
				continue
			}
			if err := addLine(p, xy, plotutil.Color(drawn), scheme+" "+metric); err != nil {
				return err
			}
			drawn++
		}
	}
	if e.Sweep.Log && drawn > 0 {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{}
	}
	p.Y.Min = 0
	p.Legend.Top = true
	p.Add(plotter.NewGrid())
	return nil
}

// sweepNumber reads a sweep's value, with or without a unit, as a number.
func sweepNumber(s string) (float64, error) {
	return strconv.ParseFloat(strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"), 64)
}

func drawFCT(p *plot.Plot, spec *Plot, r *Result, schemes []string) error {
	p.X.Label.Text, p.Y.Label.Text = "completion time, ms", "part of flows"
	for i, scheme := range schemes {
		var times []float64
		for _, f := range r.ended[scheme] {
			if spec.FCT == "*" || f.Group == spec.FCT {
				times = append(times, f.FCT.Seconds()*1e3)
			}
		}
		slices.Sort(times)
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

func drawBars(p *plot.Plot, spec *Plot, r *Result, schemes []string, scale float64) error {
	width := vg.Points(max(3, 60/float64(len(schemes))))
	for i, scheme := range schemes {
		m := r.metrics(scheme)
		var v plotter.Values
		for _, metric := range spec.Bars {
			y := 0.0
			if m[metric] != nil {
				y = *m[metric] / scale
			}
			v = append(v, y)
		}
		bars, err := plotter.NewBarChart(v, width)
		if err != nil {
			return err
		}
		bars.Color = plotutil.Color(i)
		bars.Offset = width * vg.Length(float64(i)-float64(len(schemes)-1)/2)
		p.Add(bars)
		p.Legend.Add(scheme, bars)
	}
	p.Legend.Top = true
	p.NominalX(spec.Bars...)
	return nil
}

// metrics returns a scheme's.
func (r *Result) metrics(scheme string) Metrics {
	for i := range r.Runs {
		if r.Runs[i].Scheme == scheme {
			return r.Runs[i].Metrics
		}
	}
	return nil
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
