package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"photon/lab/figure"
	"photon/lab/stat"
)

// Draw puts the curves of a metric into the folder, as PNG and as SVG, and returns the names of the files.
func (f Folder) Draw(c *Collected, metric, over string) (files []string, err error) {
	panels, err := c.Curves(metric, over)
	if err != nil {
		return nil, err
	}
	for _, format := range []string{"png", "svg"} {
		b, err := figure.Curves(panels, format)
		if err != nil {
			return nil, err
		}
		file := filepath.Join(string(f), metric+"."+format)
		if err := renameio.WriteFile(file, b, 0o644); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// samples are the values of a metric over a setting that varies.
type samples struct {
	over   string                             // its path
	texts  []string                           // its values, as they were met
	read   func(text string) (float64, error) // of them; a number where they are none: which of the texts it is
	unit   string                             // of them; may be none
	words  bool                               // they are none
	lines  []place                            // without x, as they were met
	values map[place][]float64
}

// place is where values of several seeds belong.
type place struct {
	panel, curve string
	x            float64
}

// samples are those of a metric; what never came in a run is stat.Never.
func (c *Collected) samples(metric, over string) (s *samples, err error) {
	s = &samples{values: map[place][]float64{}}
	if s.over, err = c.axis(over); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, r := range c.records {
		if v, varies := r.Params[s.over]; varies && !slices.Contains(s.texts, v) {
			s.texts = append(s.texts, v)
		}
		for name := range r.Metrics {
			known[name] = true
		}
	}
	if !known[metric] {
		return nil, noMetric(metric, known)
	}
	if q := quantityOf(s.texts); q != nil {
		s.read, s.unit = q.read, q.unit
	} else {
		s.words = true
		s.read = func(text string) (float64, error) { return float64(slices.Index(s.texts, text)), nil }
	}
	for _, r := range c.records {
		text, varies := r.Params[s.over]
		y, measured := r.Metrics[metric]
		if !varies || !measured {
			continue
		}
		at := place{panel: r.Experiment, curve: r.Scheme}
		for _, name := range slices.Sorted(maps.Keys(r.Params)) {
			if name != s.over {
				at.curve += fmt.Sprintf(" %s=%s", last(name), r.Params[name])
			}
		}
		if !slices.Contains(s.lines, at) {
			s.lines = append(s.lines, at)
		}
		if at.x, err = s.read(text); err != nil {
			return nil, err
		}
		v := stat.Never
		if y != nil {
			v = *y
		}
		s.values[at] = append(s.values[at], v)
	}
	return s, nil
}

// Curves are medians over seeds of a metric, with the 95 % interval of the percentile bootstrap, over a setting that
// varies: a panel for each experiment, and in it a curve for each scheme and each combination of the other settings. What
// never happened in a run is later than all that did, and where the median is that there is no point. over is the
// setting's path, or its last word; "": the one that has the most values.
func (c *Collected) Curves(metric, over string) (panels []figure.Panel, err error) {
	s, err := c.samples(metric, over)
	if err != nil {
		return nil, err
	}
	for _, line := range s.lines {
		curve := figure.Curve{Name: line.curve}
		for at, v := range s.values {
			if at.panel != line.panel || at.curve != line.curve {
				continue
			}
			if p := pointOf(at.x, v); p.Y != stat.Never {
				curve.Points = append(curve.Points, p)
			}
		}
		if len(curve.Points) == 0 {
			continue
		}
		k := slices.IndexFunc(panels, func(p figure.Panel) bool { return p.Title == line.panel })
		if k < 0 {
			k = len(panels)
			p := figure.Panel{Title: line.panel, X: last(s.over), XUnit: s.unit, Y: metric, Log: true}
			panels = append(panels, p)
			if s.words {
				panels[k].Words, panels[k].Log = s.texts, false
			}
		}
		slices.SortFunc(curve.Points, func(a, b figure.Point) int { return cmp.Compare(a.X, b.X) })
		least, most := curve.Points[0].X, curve.Points[len(curve.Points)-1].X
		panels[k].Log = panels[k].Log && least > 0 && most >= 10*least
		panels[k].Curves = append(panels[k].Curves, curve)
	}
	if panels == nil {
		return nil, fmt.Errorf("%s never happened where %s varies", metric, s.over)
	}
	return panels, nil
}

// pointOf is what the values of several seeds come to. An interval that goes on to never ends at the largest
// that came.
func pointOf(x float64, v []float64) figure.Point {
	y := stat.Median(v)
	low, high, ok := stat.MedianInterval(v)
	if !ok || y == stat.Never {
		return figure.Point{X: x, Y: y, Low: y, High: y}
	}
	if high == stat.Never {
		high = y
		for _, t := range v {
			if t != stat.Never {
				high = max(high, t)
			}
		}
	}
	return figure.Point{X: x, Y: y, Low: low, High: high}
}

// axis is the path of the setting that is called over, or that has the most values.
func (c *Collected) axis(over string) (string, error) {
	values := map[string]map[string]bool{}
	for _, r := range c.records {
		for name, v := range r.Params {
			if values[name] == nil {
				values[name] = map[string]bool{}
			}
			values[name][v] = true
		}
	}
	names := slices.Sorted(maps.Keys(values))
	if len(names) == 0 {
		return "", errors.New("nothing varies in this sweep but schemes and seeds: `vary` in its file says what does")
	}
	if over == "" {
		return slices.MaxFunc(names, func(a, b string) int { return cmp.Compare(len(values[a]), len(values[b])) }), nil
	}
	var found []string
	for _, name := range names {
		if name == over || last(name) == over {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%q is none of what varies, or several: %s", over, strings.Join(names, ", "))
	}
	return found[0], nil
}

// Over is the path of the setting that curves are drawn over, if over says so.
func (c *Collected) Over(over string) string {
	path, err := c.axis(over)
	if err != nil {
		return over
	}
	return path
}

// last is the last word of a setting's path.
func last(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
