package figure

import (
	"bytes"
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"photon/lab/web"
)

const (
	width, height = 12 * vg.Centimeter, 5.4 * vg.Centimeter // of a chart without its legend, at least
	gap           = vg.Length(10)
	around        = vg.Length(60) // what is above and below the values of a chart
	mostColumns   = 3             // of charts of one panel side by side
	mostRows      = 3             // of panels with one chart each; more are in two columns
)

// grid puts charts into rows: those of one panel side by side, and then as many panels as
// there is room for. Panels that all have one chart are below each other, unless there are many.
func grid(panels [][]*web.Chart) (rows [][]*web.Chart) {
	columns := 1
	for _, charts := range panels {
		columns = max(columns, min(len(charts), mostColumns))
	}
	if columns == 1 && len(panels) > mostRows {
		columns = 2
	}
	left := 0 // places of the last row
	for _, charts := range panels {
		if len(charts) > left {
			left = 0
		}
		for _, ch := range charts {
			if left == 0 {
				rows, left = append(rows, make([]*web.Chart, columns)), columns
			}
			rows[len(rows)-1][columns-left] = ch
			left--
		}
	}
	return rows
}

// render draws panels with their axes aligned, each with its legend at its side, below a heading.
func render(heading string, panels [][]*web.Chart, format string) ([]byte, error) {
	rows := grid(panels)
	if len(rows) == 0 {
		rows = [][]*web.Chart{{nil}} // nothing was measured: the heading is there
	}
	drawings := make([][]*drawing, len(rows))
	plots := make([][]*plot.Plot, len(rows))
	var beside vg.Length // of the widest legend
	tall := height       // enough for the longest
	for i, row := range rows {
		drawings[i], plots[i] = make([]*drawing, len(row)), make([]*plot.Plot, len(row))
		for k, ch := range row {
			if ch == nil {
				continue
			}
			d, err := newDrawing(ch)
			if err != nil {
				return nil, err
			}
			drawings[i][k], plots[i][k] = d, d.Plot
			size := d.legend.Rectangle(draw.Canvas{}).Size()
			beside, tall = max(beside, size.X), max(tall, size.Y+around)
		}
	}
	columns := vg.Length(len(rows[0]))
	style := draw.TextStyle{Font: sans(12), Color: color.Black, YAlign: draw.YTop, Handler: plot.DefaultTextHandler}
	w := columns * (width + gap + beside + gap)
	lines := broken(heading, style, w-2*gap)
	above := vg.Length(len(lines)) * 15
	h := tall*vg.Length(len(rows)) + above
	tiles := draw.Tiles{
		Rows: len(rows), Cols: len(rows[0]), PadX: 2*gap + beside, PadY: 8,
		PadTop: above + 6, PadRight: 2*gap + beside - 4, PadBottom: 2, PadLeft: 4,
	}
	// Charts whose axes need different room are moved when they are aligned, some of them up, to where the heading is.
	moved := vg.Length(0)
	for _, c := range plot.Align(plots, tiles, draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: w, Y: h}}})[0] {
		moved = max(moved, c.Max.Y-(h-above-6))
	}
	h += moved
	tiles.PadTop += moved
	canvas, err := canvasOf(format, w, h)
	if err != nil {
		return nil, err
	}
	whole := draw.New(canvas)
	whole.FillPolygon(color.White, []vg.Point{{}, {Y: h}, {X: w, Y: h}, {X: w}}) // also where the page behind it is dark
	for i, l := range lines {
		whole.FillText(style, vg.Point{X: gap, Y: h - 3 - vg.Length(i)*15}, l)
	}
	canvases := plot.Align(plots, tiles, whole)
	for i, row := range drawings {
		for k, d := range row {
			if d == nil {
				continue
			}
			c := canvases[i][k]
			d.Draw(c)
			data := d.DataCanvas(c)
			c.Min.X, c.Max.X = data.Max.X+gap, data.Max.X+gap+beside
			c.Max.Y = data.Max.Y
			d.legend.Draw(c)
		}
	}
	var b bytes.Buffer
	_, err = canvas.WriteTo(&b)
	return b.Bytes(), err
}

// broken is a heading in lines that are no wider than a picture.
func broken(heading string, style draw.TextStyle, width vg.Length) (lines []string) {
	for _, word := range strings.Fields(heading) {
		last := len(lines) - 1
		if last >= 0 && style.Width(lines[last]+" "+word) <= width {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return lines
}

// canvasOf is an empty picture.
func canvasOf(format string, w, h vg.Length) (vg.CanvasWriterTo, error) {
	switch format {
	case "svg":
		return vgsvg.New(w, h), nil
	case "png":
		return vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(120))}, nil
	}
	return nil, fmt.Errorf("format %q: png or svg", format)
}
