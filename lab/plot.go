package lab

import (
	"bytes"
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

var (
	blue = color.RGBA{R: 0x1f, G: 0x77, B: 0xb4, A: 0xff}
	grey = color.RGBA{R: 0x88, G: 0x88, B: 0x88, A: 0xff}
)

// plot draws a series as the paper does: the aggregate rate above, the
// bottleneck's queue below. format is "png" or "svg".
func (e *Experiment) plot(s *Series, title, format string) ([]byte, error) {
	column, err := e.column(s, title)
	if err != nil {
		return nil, err
	}
	return render([][]*plot.Plot{{column[0]}, {column[1]}}, format)
}

// overview draws all schemes of a result beside each other.
func (e *Experiment) overview(r *Result, format string) ([]byte, error) {
	rows := make([][]*plot.Plot, 2)
	for _, run := range r.Runs {
		column, err := e.column(r.series[run.Scheme], run.Scheme)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i] = append(rows[i], column[i])
		}
	}
	return render(rows, format)
}

// column is the two plots of a scheme.
func (e *Experiment) column(s *Series, title string) (column [2]*plot.Plot, err error) {
	end := e.Measure.Plot
	if end == 0 {
		end = e.Duration
	}
	rate, queue := plot.New(), plot.New()
	rate.Title.Text = title
	rate.Y.Label.Text, queue.Y.Label.Text = "rate, Gbit/s", "queue, KB"
	queue.X.Label.Text = "time, ms"
	var rates, queues plotter.XYs
	step := max(1, int(end/e.Measure.Sample)/1500) // a point per pixel is enough
	for i := 0; i < len(s.Time) && s.Time[i] <= end; i += step {
		x := s.Time[i].Seconds() * 1e3
		rates = append(rates, plotter.XY{X: x, Y: s.Rate[i] / 1e9})
		queues = append(queues, plotter.XY{X: x, Y: float64(s.Queue[i]) / 1e3})
	}
	if len(rates) == 0 {
		return column, fmt.Errorf("nothing to plot: no sample before %v", end)
	}
	capacity := float64(e.Parameters.LinkRate.Value.V) / 1e9
	reference := plotter.XYs{{X: 0, Y: capacity}, {X: end.Seconds() * 1e3, Y: capacity}}
	for _, l := range []struct {
		p      *plot.Plot
		xy     plotter.XYs
		c      color.Color
		dashed bool
	}{{rate, reference, grey, true}, {rate, rates, blue, false}, {queue, queues, blue, false}} {
		if err := addLine(l.p, l.xy, l.c, l.dashed); err != nil {
			return column, err
		}
	}
	column = [2]*plot.Plot{rate, queue}
	for _, p := range column {
		p.X.Min, p.X.Max, p.Y.Min = 0, end.Seconds()*1e3, 0
		p.Add(plotter.NewGrid())
	}
	return column, nil
}

func addLine(p *plot.Plot, xy plotter.XYs, c color.Color, dashed bool) error {
	l, err := plotter.NewLine(xy)
	if err != nil {
		return err
	}
	l.Color, l.Width = c, vg.Points(1)
	if dashed {
		l.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	}
	p.Add(l)
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
