//go:build browser

package page_test

import (
	"net/http/httptest"
	"testing"
	"testing/fstest"

	"photon/internal/browser"
	"photon/telemetry/page"
)

// axes are charts of everything that pages write beside their axes, from the smallest to the largest, each over times as
// short and as long as a replay may take.
const axes = `
const formats = {si, rate, bytes, span, percent};
for (const [name, format] of Object.entries(formats))
  for (let e = -7; e <= 15; e++)
    for (const v of [1, 2.6]) {
      const end = v * 10 ** Math.min(e, 6), most = v * 10 ** e;
      const c = new Chart(name + ' ' + most, {format, least: 1e-9, x: v => short(span(v))});
      document.getElementById('page').append(c.figure);
      c.show([0, end], [{name, ...numbered(0), v: [0, most]}], [0, end]);
    }
`

// What stands beside an axis is not cut off, however long it is.
func TestAxesInBrowser(t *testing.T) {
	site := &page.Site{Title: "axes", Script: fstest.MapFS{"axes.js": {Data: []byte(axes)}}, Order: []string{"axes.js"}}
	s := httptest.NewServer(site.Handler())
	defer s.Close()
	browser.CheckLayout(t, "axes", s.URL, func(p *browser.Page) { p.Becomes(`charts.length === 5 * 23 * 2 && charts.at(-1).u.axes[1]._size > 0`) })
}
