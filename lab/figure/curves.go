package figure

import (
	"math"
	"slices"
	"strings"

	"photon/lab/experiment"
	"photon/lab/web"
)

// Panel is a plot of curves over one axis.
type Panel struct {
	Title, X, Y string
	XUnit       string   // of X: B, s, bit/s, or none
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

// Curves draws panels below each other, with legends at their side. format is "png" or "svg".
func Curves(panels []Panel, format string) ([]byte, error) {
	var charts [][]*web.Chart
	for i := range panels {
		charts = append(charts, []*web.Chart{panels[i].chart()})
	}
	return render("", charts, format)
}

// chart is a panel as all others are drawn.
func (p *Panel) chart() *web.Chart {
	ch := &web.Chart{Kind: "sweep", Title: p.Title, Y: p.Y, X: web.Axis{Label: p.X, Log: p.Log}}
	for i := range p.Curves {
		for _, point := range p.Curves[i].Points {
			ch.X.Values = append(ch.X.Values, point.X)
		}
	}
	slices.Sort(ch.X.Values)
	ch.X.Values = slices.Compact(ch.X.Values)
	if p.Words != nil {
		ch.X.Values = nil
		for i := range p.Words {
			ch.X.Values = append(ch.X.Values, float64(i))
		}
		ch.X.Names = p.Words
	}
	styles := p.lineStyles()
	scale, label := p.Scaled()
	ch.Y = label
	for i := range p.Curves {
		c := &p.Curves[i]
		l := web.Line{Name: c.Name, LineStyle: styles[c.Name]}
		for _, x := range ch.X.Values {
			at := Point{X: x, Y: math.NaN(), Low: math.NaN(), High: math.NaN()}
			if k := slices.IndexFunc(c.Points, func(q Point) bool { return q.X == x }); k >= 0 {
				at = c.Points[k]
			}
			l.Values, l.Low, l.High = append(l.Values, at.Y*scale), append(l.Low, at.Low*scale), append(l.High, at.High*scale)
		}
		ch.Lines = append(ch.Lines, l)
	}
	if p.Words == nil {
		ch.X.Values, ch.X.Label = p.ScaledX(ch.X.Values)
	}
	return ch
}

// Scaled is what values are multiplied by to be in the unit in which the largest reads best, and the label of Y with
// it.
func (p *Panel) Scaled() (scale float64, label string) {
	unit := experiment.UnitByName(p.Y)
	if unit == "" {
		return 1, p.Y
	}
	scale, unit = experiment.Scaled(p.largest(), unit)
	return scale, p.Y + ", " + unit
}

// ScaledX are places on the axis in the unit in which the largest reads best, and the label of X with it.
func (p *Panel) ScaledX(x []float64) (scaled []float64, label string) {
	if p.XUnit == "" || len(x) == 0 {
		return x, p.X
	}
	scale, unit := experiment.Scaled(slices.Max(x), p.XUnit)
	for _, v := range x {
		scaled = append(scaled, web.Round(v*scale, 12)) // 1.0000000000000002 is no label
	}
	return scaled, p.X + ", " + unit
}

// largest is the largest value of all curves.
func (p *Panel) largest() (most float64) {
	for i := range p.Curves {
		for _, point := range p.Curves[i].Points {
			most = max(most, math.Abs(point.Y))
		}
	}
	return most
}

// lineStyles are those that schemes have everywhere; if a scheme has several curves, each has its own.
func (p *Panel) lineStyles() map[string]web.LineStyle {
	var names []string
	for i := range p.Curves {
		names = append(names, p.Curves[i].Name)
	}
	slices.Sort(names)
	if !slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, " ") }) {
		return web.LineStyles(names)
	}
	styles := map[string]web.LineStyle{}
	for i := range p.Curves {
		styles[p.Curves[i].Name] = web.Numbered(i)
	}
	return styles
}
