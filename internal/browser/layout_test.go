//go:build browser

package browser

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Each fault of a page is found, and a page without faults has none.
func TestLayoutInBrowser(t *testing.T) {
	p := Watched(t)
	const canvas = `<canvas width=200 height=100 style="width: 200px"></canvas><script>
		const c = document.querySelector('canvas').getContext('2d');
		c.font = '12px sans-serif';
		c.fillStyle = COLOR;
		WRITE</script>`
	drawn := func(color, write string) string {
		return strings.NewReplacer("COLOR", "'"+color+"'", "WRITE", write).Replace(canvas)
	}
	for _, c := range []struct{ body, want string }{
		{`<p>one</p><p style="color: #767676">two</p><svg width=90 height=40><g><rect width=90 height=40 fill=#222 /><text y=20 fill=#fff>white</text></g></svg>`, ``},
		{`<p style="position: absolute">first</p><p style="position: absolute">second</p>`, `"first" and "second" are on each other`},
		{`<p style="width: 3000px">wide</p>`, `the page is 3`},
		{`<div style="overflow: hidden; width: 50px; white-space: nowrap">more than there is room for</div>`, `which is `},
		{`<div style="overflow-x: auto; width: 50px"><table><tr><td>columns<td>columns</table></div>`, `which is `},
		{`<p style="color: #999">faint</p>`, `"faint" has a contrast of 2.85`},
		{`<p style="opacity: .4">fading</p>`, `"fading" has a contrast of`},
		{`<div style="background: #333"><p style="color: #000">dark</p></div>`, `"dark" has a contrast of 1.66`},
		{`<svg width=90 height=40><g><rect width=90 height=40 fill=#222 /><text y=20>black</text></g></svg>`, `"black" has a contrast of`},
		{`<p style="font-size: 9px">small</p>`, `"small" has letters of 9px`},
		{`<details><summary>fold</summary><p style="color: #999">folded</p></details>`, `"folded" has a contrast of`},
		{drawn("#000", `c.fillText('here', 20, 20); c.fillText('there', 20, 50);`), ``},
		{drawn("#000", `c.fillText('here', 20, 20); c.fillText('there', 24, 24);`), `"here" and "there" are on each other in a chart`},
		{drawn("#000", `c.fillText('here', 190, 20);`), `"here" is cut off at the edge of a chart`},
		{drawn("#aaa", `c.fillText('here', 20, 20);`), `"here" on a chart has a contrast of 2.32`},
		{drawn("#000", `c.fillText('here', 20, 20); c.clearRect(0, 0, 200, 100); c.fillText('there', 24, 24);`), ``},
		// Beside each other at an angle, their boxes meet and they do not.
		{drawn("#000", `for (const x of [60, 90]) { c.setTransform(0.7, 0.7, -0.7, 0.7, x, 20); c.fillText('longer name', 0, 0); }`), ``},
	} {
		p.Do(chromedp.Navigate("data:text/html," + url.PathEscape("<!DOCTYPE html><meta charset=utf-8><body>"+c.body)))
		wrong := p.Wrong()
		if c.want == "" && len(wrong) > 0 || c.want != "" && !slices.ContainsFunc(wrong, func(w string) bool { return strings.Contains(w, c.want) }) {
			t.Errorf("%s: %q, want %q", c.body, wrong, c.want)
		}
	}
}
