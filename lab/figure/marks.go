package figure

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"photon/lab/web"
)

// shapes tell the points of lines from each other, as colours do.
var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{},
}

// outline is a white shape with a coloured edge: a number of the paper. A diamond is the number
// itself; what is at least or at most a number points to where it may be.
type outline []vg.Point

var (
	diamond = outline{{X: 0, Y: 1.3}, {X: 1.1, Y: 0}, {X: 0, Y: -1.3}, {X: -1.1, Y: 0}}
	up      = outline{{X: -1, Y: 0}, {X: 0, Y: 1.7}, {X: 1, Y: 0}}
	down    = outline{{X: -1, Y: 0}, {X: 0, Y: -1.7}, {X: 1, Y: 0}}
)

// DrawGlyph implements draw.GlyphDrawer.
func (o outline) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	var corners []vg.Point
	for _, p := range o {
		corners = append(corners, vg.Point{X: at.X + p.X*style.Radius, Y: at.Y + p.Y*style.Radius})
	}
	c.FillPolygon(color.White, corners)
	corners = append(corners, corners[0], corners[1]) // so that the last corner is one, too
	c.StrokeLines(draw.LineStyle{Color: color.White, Width: vg.Points(3)}, corners)
	c.FillPolygon(color.White, corners)
	c.StrokeLines(draw.LineStyle{Color: style.Color, Width: vg.Points(1.4)}, corners)
}

// bounds are what the legend calls marks, in its order.
var bounds = []struct {
	bound, name string
	shape       outline
}{{"", "paper", diamond}, {"at_least", "paper: at least", up}, {"at_most", "paper: at most", down}}

// papers are numbers of the paper, of one kind.
type papers struct {
	chart *web.Chart
	bound string
	shape outline
}

// addPaper adds the paper's numbers to the measured ones, with an entry in the legend.
func (d *drawing) addPaper(ch *web.Chart) {
	for _, b := range bounds {
		p := &papers{ch, b.bound, b.shape}
		if len(p.marks()) > 0 {
			d.Add(p)
			d.legend.Add(b.name, p)
		}
	}
}

// marks are those of the kind.
func (p *papers) marks() (list []web.Mark) {
	for _, m := range p.chart.Paper {
		if m.Bound == p.bound {
			list = append(list, m)
		}
	}
	return list
}

func (p *papers) style(c color.Color) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: vg.Points(3.6), Shape: p.shape}
}

// Plot implements plot.Plotter.
func (p *papers) Plot(c draw.Canvas, pl *plot.Plot) {
	x, y := pl.Transforms(&c)
	xs := values(&p.chart.X)
	for _, m := range p.marks() {
		at := xs[m.At]
		if p.chart.Kind == "bars" {
			offset, _ := place(p.chart, m.Line)
			at += offset
		}
		c.DrawGlyph(p.style(colorOf(p.chart.Lines[m.Line].LineStyle)), vg.Point{X: x(at), Y: y(m.Y)})
	}
}

// Thumbnail is the mark in the legend.
func (p *papers) Thumbnail(c *draw.Canvas) {
	c.DrawGlyphNoClip(p.style(color.Black), vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: (c.Min.Y + c.Max.Y) / 2})
}
