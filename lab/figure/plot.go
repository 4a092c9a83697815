package figure

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"photon/lab/web"
)

// sans is the font of all text, in points.
func sans(size float64) font.Font {
	return font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, vg.Length(size))
}

// drawing is a chart with its legend at its side.
type drawing struct {
	*plot.Plot
	legend plot.Legend
}

// newDrawing draws a chart.
func newDrawing(ch *web.Chart) (*drawing, error) {
	d := &drawing{plot.New(), plot.NewLegend()}
	d.Title.Text, d.X.Label.Text, d.Y.Label.Text = ch.Title, ch.X.Label, ch.Y
	d.Title.Padding = vg.Points(4)
	d.Title.TextStyle.Font, d.legend.TextStyle.Font = sans(11), sans(10)
	for _, axis := range []*plot.Axis{&d.X, &d.Y} {
		axis.Label.TextStyle.Font, axis.Tick.Label.Font = sans(10), sans(9)
		axis.Tick.Marker = ticks{}
	}
	d.legend.Top, d.legend.Left, d.legend.Padding, d.legend.YPosition = true, true, vg.Points(3), draw.PosCenter
	grid := plotter.NewGrid()
	for _, l := range []*draw.LineStyle{&grid.Horizontal, &grid.Vertical} {
		l.Color, l.Width = color.Gray{0xdd}, vg.Points(0.5)
	}
	if ch.Kind == "bars" {
		grid.Vertical.Color = nil
	}
	d.Add(grid)
	var err error
	if ch.Kind == "bars" {
		err = d.addBars(ch)
	} else {
		err = d.addLines(ch)
	}
	if err != nil {
		return nil, err
	}
	d.addPaper(ch)
	d.setAxes(ch)
	return d, nil
}

// addLines draws the lines of a chart, with points and intervals where they are few.
func (d *drawing) addLines(ch *web.Chart) error {
	xs := values(&ch.X)
	for i := range ch.Lines {
		l := &ch.Lines[i]
		style := styleOf(l.LineStyle)
		glyph := draw.GlyphStyle{Color: style.Color, Radius: vg.Points(2.6), Shape: shapes[i%len(shapes)]}
		var shown []plot.Thumbnailer
		for _, part := range parts(xs, l, ch.Kind == "sweep") {
			line, err := plotter.NewLine(part)
			if err != nil {
				return err
			}
			line.LineStyle = style
			if ch.Kind == "cdf" {
				line.StepStyle = plotter.PostStep
			}
			d.Add(line)
			legend := []plot.Thumbnailer{line}
			if ch.Kind == "sweep" || len(part) == 1 { // a line through one point is none
				points, err := plotter.NewScatter(part)
				if err != nil {
					return err
				}
				points.GlyphStyle = glyph
				bars, err := plotter.NewYErrorBars(part)
				if err != nil {
					return err
				}
				bars.Color = style.Color
				d.Add(bars, points)
				legend = append(legend, points)
			}
			shown = legend
		}
		if shown != nil {
			d.legend.Add(l.Name, shown...)
		}
	}
	return nil
}

// points are what the library takes: values with errors.
type points []Point

func (p points) Len() int                         { return len(p) }
func (p points) XY(i int) (x, y float64)          { return p[i].X, p[i].Y }
func (p points) YError(i int) (low, high float64) { return p[i].Y - p[i].Low, p[i].High - p[i].Y }

// parts are the points of a line. It is broken where a value is missing; a line over time, whose
// axis has the times of other lines too, is not.
func parts(xs []float64, l *web.Line, broken bool) (list []points) {
	var part points
	end := func() {
		if len(part) > 0 {
			list = append(list, part)
		}
		part = nil
	}
	for i, y := range l.Values {
		if math.IsNaN(y) {
			if broken {
				end()
			}
			continue
		}
		p := Point{X: xs[i], Y: y, Low: y, High: y}
		if l.Low != nil && !math.IsNaN(l.Low[i]) {
			p.Low, p.High = l.Low[i], l.High[i]
		}
		part = append(part, p)
	}
	end()
	return list
}

// values are those of an axis.
func values(x *web.Axis) []float64 {
	if x.Values != nil {
		return x.Values
	}
	list := make([]float64, max(x.N, len(x.Names)))
	for i := range list {
		list[i] = x.From + float64(i)*x.Step
	}
	return list
}

// styleOf is the line of a look.
func styleOf(l web.LineStyle) draw.LineStyle {
	style := draw.LineStyle{Color: colorOf(l), Width: vg.Points(1.3)}
	for _, n := range l.Dash {
		style.Dashes = append(style.Dashes, vg.Points(0.7*float64(n)))
	}
	return style
}

// colorOf is the colour of a look; it is written as in a page: #rrggbb.
func colorOf(l web.LineStyle) color.Color {
	if len(l.Color) != 7 {
		return color.Black
	}
	v, err := strconv.ParseUint(l.Color[1:], 16, 32)
	if err != nil {
		return color.Black
	}
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
}
