package figure

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"photon/lab/web"
)

// addBars draws bars in groups, one of each line; a group is one wide on the axis.
func (d *drawing) addBars(ch *web.Chart) error {
	for i := range ch.Lines {
		l := &ch.Lines[i]
		offset, width := place(ch, i)
		b := &bars{heights: l.Values, offset: offset, width: width, fill: colorOf(l.LineStyle), stripes: stripes(l.LineStyle)}
		d.Add(b)
		d.legend.Add(l.Name, b)
		for at, y := range l.Values {
			if !math.IsNaN(y) || alone(ch) && at != i {
				continue
			}
			// What is missing is said, and is no bar of height 0.
			labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: float64(at) + offset, Y: 0}}, Labels: []string{"–"}})
			if err != nil {
				return err
			}
			labels.TextStyle[0].XAlign, labels.TextStyle[0].Color, labels.TextStyle[0].Font = draw.XCenter, b.fill, sans(10)
			d.Add(labels)
		}
	}
	return nil
}

// alone reports whether each line has one bar, which is named as the line is: bars of one metric.
func alone(ch *web.Chart) bool {
	return len(ch.Lines) == len(ch.X.Names) && slices.EqualFunc(ch.Lines, ch.X.Names, func(l web.Line, name string) bool { return l.Name == name })
}

// place is where the bars of a line are in their groups: the middle, and how wide they are.
func place(ch *web.Chart, line int) (offset, width float64) {
	if alone(ch) {
		return 0, 0.6
	}
	width = 0.8 / float64(len(ch.Lines))
	return -0.4 + (float64(line)+0.5)*width, width
}

// bars are those of one line.
type bars struct {
	heights       []float64
	offset, width float64
	fill          color.Color
	stripes       vg.Length // how far white stripes are from each other; 0: there are none
}

// stripes tell bars from others of a colour like theirs, as dashes do lines.
func stripes(l web.LineStyle) vg.Length {
	if l.Dash == nil {
		return 0
	}
	return vg.Points(float64(l.Dash[0]))
}

func (b *bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, h := range b.heights {
		if math.IsNaN(h) {
			continue
		}
		middle := float64(i) + b.offset
		gap := 0.04 * b.width
		b.draw(&c, x(middle-b.width/2+gap), x(middle+b.width/2-gap), y(0), y(h))
	}
}

func (b *bars) draw(c *draw.Canvas, left, right, from, to vg.Length) {
	box := func(bottom, top vg.Length) []vg.Point {
		return []vg.Point{{X: left, Y: bottom}, {X: left, Y: top}, {X: right, Y: top}, {X: right, Y: bottom}}
	}
	bottom, top := min(from, to), max(from, to)
	c.FillPolygon(b.fill, box(bottom, top))
	if b.stripes == 0 {
		return
	}
	thick := vg.Points(1.2)
	for at := bottom + b.stripes; at+thick < top; at += b.stripes + thick {
		c.FillPolygon(color.White, box(at, at+thick))
	}
}

// DataRange is how high they are: how wide, the axis says.
func (b *bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, h := range b.heights {
		if !math.IsNaN(h) {
			ymin, ymax = min(ymin, h), max(ymax, h)
		}
	}
	return 0, float64(len(b.heights) - 1), ymin, ymax
}

// Thumbnail is a bar in the legend.
func (b *bars) Thumbnail(c *draw.Canvas) { b.draw(c, c.Min.X, c.Max.X, c.Min.Y, c.Max.Y) }
