//go:build browser

package report

import (
	"path/filepath"
	"testing"

	"photon/lab/web"
	"photon/lab/web/pages"
)

// What has one value is seen: one flow that ended, or one sample.
func TestOneValueInBrowser(t *testing.T) {
	p := &web.Page{Title: "one", Experiments: []*web.Experiment{{ID: "x/one", Anchor: "x-one", Title: "one", Schemes: []web.Scheme{{Name: "pcn"}}}}}
	kinds := []string{"cdf", "lines", "sweep"}
	for _, kind := range kinds {
		ch := &web.Chart{Kind: kind, Title: kind, X: web.Axis{Label: "x", Values: web.Numbers{5}}}
		ch.Lines = []web.Line{{Name: "pcn", Values: web.Numbers{1}, LineStyle: web.LineStyles([]string{"pcn"})["pcn"]}}
		ch.SetLegendValues()
		p.Experiments[0].Charts = append(p.Experiments[0].Charts, ch)
	}
	path := filepath.Join(t.TempDir(), "report.html")
	if err := writePage(path, p, pages.Write); err != nil {
		t.Fatal(err)
	}
	b := open(t, path, 1280, 900)
	b.scroll()
	for i, kind := range kinds {
		if n := b.colored(i, 0); n < 8 {
			t.Errorf("%s: %d pixels of its colour", kind, n)
		}
	}
	b.Quiet()
}
