// Package pages writes reports. What runs experiments makes them and does not write them:
// a program that only runs them has no templates in it.
package pages

import (
	"embed"
	"encoding/json"
	"html/template"
	"io"

	"photon/lab/web"
	"photon/telemetry/page"
)

//go:embed page.html experiment.html wiring.html report.css charts.js report.js
var files embed.FS

// data is what the charts of an experiment are drawn from.
func data(e *web.Experiment) (template.JS, error) {
	type scheme struct {
		Name   string `json:"name"`
		Hidden bool   `json:"hidden,omitempty"`
	}
	data := struct {
		Schemes []scheme     `json:"schemes"`
		Charts  []*web.Chart `json:"charts"`
	}{Charts: e.Charts}
	for _, s := range e.Schemes {
		data.Schemes = append(data.Schemes, scheme{s.Name, s.Hidden})
	}
	b, err := json.Marshal(data) // with < as \u003c, so that no text ends the script element
	return template.JS(b), err
}

// Write writes the page.
func Write(w io.Writer, p *web.Page) error {
	functions := template.FuncMap{
		"verdicts": func() []string { return web.Verdicts },
		"style":    func() template.CSS { return template.CSS(page.UPlotStyle() + text("report.css")) },
		"script":   script,
		"dash":     web.LineStyle.SVG,
		"stroke":   stroke,
		"add":      func(a, b int) int { return a + b },
		"half":     func(middle, size int) int { return middle - size/2 },
		"data":     data,
	}
	t, err := template.New("page.html").Funcs(functions).ParseFS(files, "page.html", "experiment.html", "wiring.html")
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// script is uPlot, and ours.
func script() template.JS {
	return template.JS(page.UPlot() + page.Ground() + text("charts.js") + text("report.js"))
}

// stroke is the colour of a line as a style of a drawing, on whichever ground the page has.
func stroke(l web.LineStyle) template.CSS {
	if l.Dark == "" {
		return template.CSS("stroke: " + l.Color)
	}
	return template.CSS("stroke: light-dark(" + l.Color + ", " + l.Dark + ")")
}

// text of an embedded file, which is there or the program does not build.
func text(name string) string {
	b, _ := files.ReadFile(name)
	return string(b)
}
