//go:build browser

package sweep

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"photon/internal/browser"
)

// The page of a sweep draws its curves with their intervals, says them under the cursor, hides what is not wanted,
// and has room on a phone.
func TestSweepPageInBrowser(t *testing.T) {
	c := Collected{records: records()}
	file, err := Folder(t.TempDir()).Page(&c, []string{"fct_s"}, "size", "photon sweep collect here")
	if err != nil {
		t.Fatal(err)
	}
	file, err = filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	b := browser.Open(t, "file://"+file, 1280, 900)
	const plot = `document.querySelector('figure.chart').plot`
	b.Becomes(plot + `?.scales.x.min != null`)
	if y := browser.Is[[]float64](b, `[`+plot+`.scales.y.min, `+plot+`.scales.y.max]`); y[0] != 0 || y[1] < 32 {
		t.Errorf("y is from %g to %g, and an interval ends at 32", y[0], y[1])
	}
	// Half way between the second value and an end of its interval, and a quarter of the way to the third: the first is
	// on the interval, the other on nothing.
	const pixel = `((at, y) => {
		const u = ` + plot + `, x = u.valToPos(at, 'x', true), c = document.createElement('canvas');
		c.width = u.ctx.canvas.width;
		c.height = u.ctx.canvas.height;
		const copy = c.getContext('2d', {willReadFrequently: true});
		copy.drawImage(u.ctx.canvas, 0, 0);
		const d = copy.getImageData(Math.round(x) - 2, Math.round(u.valToPos(y, 'y', true)), 5, 1).data;
		return [0, 4, 8, 12, 16].map(i => d.slice(i, i + 4)).some(([r, g, b, opaque]) =>
			opaque > 100 && Math.max(r, g, b) - Math.min(r, g, b) > 60);
	})`
	if !browser.Is[bool](b, pixel+`(1e6, 20.4)`) || browser.Is[bool](b, pixel+`(1.3e6, 20.4)`) {
		t.Error("the interval of the second value is not drawn, or something else is")
	}
	b.JS(plot + `.setCursor({left: ` + plot + `.valToPos(1e6, 'x'), top: 20})`)
	const said = `[...document.querySelectorAll('.u-series .u-value')].map(v => v.textContent)`
	b.Becomes(said + `.filter(v => v === '21 (20 to 22)').length === 2`)
	b.JS(plot + `.setCursor({left: -10, top: -10})`)
	for _, curve := range []string{"a w=1/2", "b"} {
		b.Do(chromedp.Click(chromedp.CSS(`input[data-scheme="` + curve + `"]`)))
	}
	b.Becomes(plot + `.series.slice(1).every(s => !s.show) && !` + pixel + `(1e6, 20.4)`)
	b.Do(chromedp.Click(chromedp.CSS(`input[data-scheme="b"]`)))
	b.Becomes(pixel + `(1e6, 20.4)`)
	b.Screenshot(t.Name())
	b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateScale(3)), chromedp.Reload())
	b.JS(`document.querySelectorAll('details').forEach(d => d.open = true)`)
	if n := browser.Is[int](b, `Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)`); n > 390 {
		t.Errorf("the page is %d wide", n)
	}
	b.Quiet()
	browser.CheckLayout(t, "sweep", "file://"+file, func(p *browser.Page) { p.Becomes(plot + `?.scales.x.min != null`) })
}
