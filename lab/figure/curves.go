package figure

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// Panel is a plot of curves over one axis.
type Panel struct {
	Title, X, Y string
	Log         bool     // X is logarithmic: all of it must be above 0
	Words       []string // what X counts from 0, if these are no numbers
	Curves      []Curve
}

// Curve is a line with its marks.
type Curve struct {
	Name   string
	Points []Point // by X
}

// Point is a value, and the interval in which it is.
type Point struct{ X, Y, Low, High float64 }

// points are what the library takes: values with errors.
type points []Point

func (p points) Len() int                         { return len(p) }
func (p points) XY(i int) (x, y float64)          { return p[i].X, p[i].Y }
func (p points) YError(i int) (low, high float64) { return p[i].Y - p[i].Low, p[i].High - p[i].Y }
func (c *Curve) add(p *plot.Plot, color int) error {
	line, marks, err := plotter.NewLinePoints(points(c.Points))
	if err != nil {
		return err
	}
	bars, err := plotter.NewYErrorBars(points(c.Points))
	if err != nil {
		return err
	}
	line.Color, line.Width, line.Dashes = plotutil.Color(color), vg.Points(1), plotutil.Dashes(color/len(plotutil.DefaultColors))
	marks.Color, marks.Radius = line.Color, vg.Points(2)
	bars.Color = line.Color
	p.Add(line, marks, bars)
	p.Legend.Add(c.Name, line, marks)
	return nil
}

// Curves draws panels below each other, and what their curves are beside them. format is "png" or "svg".
func Curves(panels []Panel, format string) ([]byte, error) {
	var rows [][]*plot.Plot
	for i := range panels {
		panel, p := &panels[i], plot.New()
		p.Title.Text, p.X.Label.Text, p.Y.Label.Text = panel.Title, panel.X, panel.Y
		p.Add(plotter.NewGrid())
		for k := range panel.Curves {
			if err := panel.Curves[k].add(p, k); err != nil {
				return nil, err
			}
		}
		switch {
		case panel.Words != nil:
			p.NominalX(panel.Words...)
			slant(p, panel.Words)
		case panel.Log:
			p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{}
		}
		p.Y.Min = min(0, p.Y.Min)
		names := plot.New()
		names.HideAxes()
		names.Legend, p.Legend = p.Legend, names.Legend
		names.Legend.Top, names.Legend.Left = true, true
		rows = append(rows, []*plot.Plot{p, names})
	}
	return render(rows, format)
}
