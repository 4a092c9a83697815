package sweep

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"photon/lab/experiment"
	"photon/lab/figure"
	"photon/lab/stat"
	"photon/lab/web"
	"photon/lab/web/pages"
)

// Page puts the curves of metrics on a page of the folder, plots.html, and their numbers into tables below, and
// returns its name. command is what makes it again.
func (f Folder) Page(c *Collected, metrics []string, over, command string) (file string, err error) {
	page := &web.Page{Title: filepath.Base(string(f))}
	for _, metric := range metrics {
		s, err := c.samples(metric, over)
		if err != nil {
			return "", err
		}
		panels, err := c.Curves(metric, over)
		if err != nil {
			return "", err
		}
		for i := range panels {
			addPanel(page, &panels[i], s)
		}
	}
	for _, section := range page.Experiments {
		section.Command = command
		section.Title = "over " + section.Title
	}
	var b bytes.Buffer
	if err := pages.Write(&b, page); err != nil {
		return "", err
	}
	file = filepath.Join(string(f), "plots.html")
	return file, renameio.WriteFile(file, b.Bytes(), 0o644)
}

// mostNamed is how many values an axis has that names them all (charts.js).
const mostNamed = 12

// addPanel puts a panel, and the table that belongs to it, on a page: an experiment's metrics are in one section.
func addPanel(page *web.Page, panel *figure.Panel, s *samples) {
	i := slices.IndexFunc(page.Experiments, func(e *web.Experiment) bool { return e.ID == panel.Title })
	if i < 0 {
		i = len(page.Experiments)
		page.Experiments = append(page.Experiments, &web.Experiment{
			Anchor: fmt.Sprintf("e%d", i+1), ID: panel.Title, Title: panel.X, Worlds: []string{"sim"}, Sound: true, Sweep: true,
			Schemes: schemes(panel.Title, s),
		})
	}
	e := page.Experiments[i]
	texts := s.of(panel.Title)
	x := slices.Sorted(maps.Keys(texts))
	scale, label := panel.Scaled()
	chart := &web.Chart{Kind: "sweep", Title: panel.Y, Y: label, Group: "over"}
	chart.X = web.Axis{Label: panel.X, Log: panel.Log}
	for _, v := range x {
		chart.X.Values, chart.X.Names = append(chart.X.Values, v), append(chart.X.Names, texts[v])
		row := web.Row{Name: fmt.Sprintf("%s, %s = %s", panel.Y, panel.X, texts[v]), Differs: make([]bool, len(e.Schemes))}
		for _, scheme := range e.Schemes {
			values := s.values[place{panel.Title, scheme.Name, v}]
			row.Values = append(row.Values, cell(values, experiment.UnitByName(panel.Y)))
		}
		e.Metrics = append(e.Metrics, row)
	}
	for k := range panel.Curves {
		chart.Lines = append(chart.Lines, lineOf(&panel.Curves[k], x, scale, e.Schemes))
	}
	if !panel.Log && len(x) > mostNamed && panel.Words == nil {
		chart.X.Values, chart.X.Label = panel.ScaledX(chart.X.Values)
	}
	chart.SetLegendValues()
	names := strings.Join(namesOf(panel), ", ")
	chart.Label = fmt.Sprintf("%s over %s, medians and their intervals; %s", panel.Y, panel.X, names)
	e.Charts = append(e.Charts, chart)
}

// of are the values of the setting that an experiment has, as they are written.
func (s *samples) of(experiment string) map[float64]string {
	texts := map[float64]string{}
	for _, text := range s.texts {
		x, err := s.read(text)
		for at := range s.values {
			if err == nil && at.panel == experiment && at.x == x {
				texts[x] = text
			}
		}
	}
	return texts
}

// schemes are the curves of an experiment: schemes look as everywhere, and if a scheme has several curves all
// have looks of their own.
func schemes(experiment string, s *samples) (list []web.Scheme) {
	var names []string
	plain := true
	for _, line := range s.lines {
		if line.panel == experiment {
			names = append(names, line.curve)
			plain = plain && !strings.Contains(line.curve, " ")
		}
	}
	styles := web.LineStyles(slices.Sorted(slices.Values(names)))
	for i, name := range names {
		look := styles[name]
		if !plain {
			look = web.Numbered(i)
		}
		list = append(list, web.Scheme{LineStyle: look, Name: name})
	}
	return list
}

// lineOf is a curve at the values of an axis, in the unit of the chart.
func lineOf(c *figure.Curve, x []float64, scale float64, schemes []web.Scheme) web.Line {
	l := web.Line{Name: c.Name, Scheme: c.Name}
	if i := slices.IndexFunc(schemes, func(s web.Scheme) bool { return s.Name == c.Name }); i >= 0 {
		l.LineStyle = schemes[i].LineStyle
	}
	for _, at := range x {
		p := figure.Point{Y: math.NaN(), Low: math.NaN(), High: math.NaN()}
		if i := slices.IndexFunc(c.Points, func(p figure.Point) bool { return p.X == at }); i >= 0 {
			p = c.Points[i]
		}
		l.Values, l.Low = append(l.Values, p.Y*scale), append(l.Low, p.Low*scale)
		l.High = append(l.High, p.High*scale)
	}
	for _, v := range [][]float64{l.Values, l.Low, l.High} {
		web.RoundAll(v, 9) // the page rounds to 4, and twice rounded is not what the table has
	}
	return l
}

func namesOf(p *figure.Panel) (names []string) {
	for i := range p.Curves {
		names = append(names, p.Curves[i].Name)
	}
	return names
}

// cell is what a table says of the values of several seeds, which have a unit or none.
func cell(v []float64, unit string) string {
	if len(v) == 0 {
		return "–"
	}
	never := 0
	for _, y := range v {
		if y == stat.Never {
			never++
		}
	}
	text := fmt.Sprintf("never in %d of %d", never, len(v))
	number := func(v float64) string { return experiment.Number(&v, unit) }
	if m := stat.Median(v); m == stat.Never {
		return text
	} else if p := pointOf(0, v); never == 0 && len(v) == 1 {
		return number(m)
	} else if median := fmt.Sprintf("%s (%s to %s)", number(p.Y), number(p.Low), number(p.High)); never == 0 {
		return median
	} else {
		return median + ", " + text
	}
}
