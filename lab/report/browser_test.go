//go:build browser

package report

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"photon/internal/browser"
	"photon/lab/run"
	"photon/lab/web/pages"
)

// shown is a report in headless Chromium.
type shown struct{ *browser.Page }

func open(t *testing.T, path string, width, height int64) shown {
	t.Helper()
	return shown{browser.Open(t, "file://"+path, width, height)}
}

// is evaluates an expression of the page.
func is[T any](b shown, expression string) T { b.T.Helper(); return browser.Is[T](b.Page, expression) }

// scroll brings every chart into view once, so that all are drawn.
func (b shown) scroll() {
	b.T.Helper()
	n := is[int](b, `document.querySelectorAll('figure.chart').length`)
	for i := range n {
		b.JS(fmt.Sprintf(`document.querySelectorAll('figure.chart')[%d].scrollIntoView({block: 'center'})`, i))
		b.Becomes(fmt.Sprintf(`(f => f.hidden || f.plot && f.plot.scales.x.min != null)(document.querySelectorAll('figure.chart')[%d])`, i))
	}
}

// colored counts the pixels of a chart that have about the colour of a line.
func (b shown) colored(chart, line int) int {
	b.T.Helper()
	return is[int](b, fmt.Sprintf(`(() => {
		const u = document.querySelectorAll('figure.chart')[%d].plot, c = document.createElement('canvas');
		c.width = u.ctx.canvas.width;
		c.height = u.ctx.canvas.height;
		const copy = c.getContext('2d', {willReadFrequently: true});
		copy.drawImage(u.ctx.canvas, 0, 0);
		const want = u.series[%d].stroke().slice(1).match(/../g).map(h => parseInt(h, 16));
		const {data} = copy.getImageData(0, 0, c.width, c.height);
		let n = 0;
		for (let i = 0; i < data.length; i += 4) {
			if (data[i + 3] > 200 && want.every((w, k) => Math.abs(w - data[i + k]) < 12)) n++;
		}
		return n;
	})()`, chart, line+1))
}

// point is one in the drawing area of a chart, as parts of its width and height.
func (b shown) point(chart int, x, y float64) (left, top float64) {
	b.T.Helper()
	at := is[[]float64](b, fmt.Sprintf(`(() => {
		const f = document.querySelectorAll('figure.chart')[%d];
		f.scrollIntoView({block: 'center'});
		const r = f.plot.over.getBoundingClientRect();
		return [r.left + %g * r.width, r.top + %g * r.height];
	})()`, chart, x, y))
	return at[0], at[1]
}

// span is what a chart shows of x.
func (b shown) span(chart int) (min, max float64) {
	b.T.Helper()
	at := is[[]float64](b, fmt.Sprintf(`(s => [s.min, s.max])(document.querySelectorAll('figure.chart')[%d].plot.scales.x)`, chart))
	return at[0], at[1]
}

// drag moves the pressed mouse from one part of a chart's width to another.
func (b shown) drag(chart int, from, to float64) {
	b.T.Helper()
	x0, y := b.point(chart, from, 0.5)
	x1, _ := b.point(chart, to, 0.5)
	b.Do(chromedp.DragAndDropXY(x0, y, x1, y))
}

// reportPages writes the report of one experiment with every kind of panel in
// both worlds, and that of all that were replayed, with an index.
func reportPages(t *testing.T) (one, all string) {
	t.Helper()
	e, _, dir := everyPanel(t)
	copyWorld(t, e, dir)
	pageOf(t, e, dir)
	one = filepath.Join(Folder(e, dir), "report.html")
	replayed(t, fig11(t), run.Options{World: "sim", Schemes: []string{"none", "dcqcn", "pcn"}, Quick: true}, dir)
	finished, missing, err := Finish(dir)
	if err != nil {
		t.Fatal(err)
	}
	all = filepath.Join(dir, "report.html")
	if err := WriteReport(all, finished, missing, pages.Write); err != nil {
		t.Fatal(err)
	}
	return one, all
}

func TestReportInBrowser(t *testing.T) {
	one, all := reportPages(t)
	t.Run("drawn", func(t *testing.T) { testDrawn(t, one) })
	t.Run("paper", func(t *testing.T) { testPaper(t, one) })
	t.Run("hide", func(t *testing.T) { testHide(t, one) })
	t.Run("zoom", func(t *testing.T) { testZoom(t, all) })
	t.Run("hover", func(t *testing.T) { testHover(t, all) })
	t.Run("pinch", func(t *testing.T) { testPinch(t, all) })
	t.Run("phone", func(t *testing.T) { testPhone(t, one) })
	t.Run("phone index", func(t *testing.T) { testPhone(t, all) })
	t.Run("print", func(t *testing.T) { testPrint(t, one) })
}

// Every chart has its canvas, and every line that has values its colour on it.
func testDrawn(t *testing.T, page string) {
	b := open(t, page, 1280, 900)
	b.scroll()
	figures := is[int](b, `document.querySelectorAll('figure.chart').length`)
	if n := is[int](b, `document.querySelectorAll('figure.chart canvas').length`); n != figures || n != 18 {
		t.Errorf("%d canvases of %d charts", n, figures)
	}
	for chart := range figures {
		// Lines may lie below others: the last is on top.
		last := is[int](b, fmt.Sprintf(`document.querySelectorAll('figure.chart')[%d].plot.series.length`, chart)) - 2
		kind := is[string](b, fmt.Sprintf(`document.querySelectorAll('figure.chart figcaption')[%d].textContent`, chart))
		if n := b.colored(chart, last); n < 20 && !strings.Contains(kind, "queues") && !strings.Contains(kind, "mean queue") {
			t.Errorf("chart %d, %s: %d pixels of its last line", chart, kind, n)
		}
	}
	if n := is[int](b, `document.querySelectorAll('canvas[role=img][aria-label]').length`); n != figures {
		t.Errorf("%d charts have a description", n)
	}
	if is[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
		t.Error("the page is wider than the window")
	}
	b.Screenshot(filepath.Base(t.Name()))
	b.Quiet()
}

// A chart with the paper's numbers says what its marks are and draws them, and not those of a
// scheme that is hidden.
func testPaper(t *testing.T, page string) {
	b := open(t, page, 1280, 900)
	b.scroll()
	if !is[bool](b, `charts.some(c => c.data.paper)`) {
		t.Fatal("no chart has a number of the paper")
	}
	b.JS(`window.marked = charts.find(c => c.data.paper); window.line = marked.data.paper[0].line + 1; window.picture = () => marked.u.ctx.canvas.toDataURL()`)
	if text := is[string](b, `marked.figure.querySelector('figcaption').textContent`); !strings.Contains(text, "◇ paper") {
		t.Errorf("the chart is called %q", text)
	}
	if !is[bool](b, `marked.data.paper.every(m => m.y <= marked.u.scales.y.max)`) {
		t.Error("a number of the paper is above the axis")
	}
	b.JS(`window.before = picture(); window.marks = marked.data.paper; marked.data.paper = []; marked.u.redraw()`)
	b.Becomes(`picture() !== before`)
	b.JS(`window.without = picture(); marked.u.setSeries(line, {show: false})`)
	b.Becomes(`picture() !== without`)
	b.JS(`window.hidden = picture(); marked.data.paper = marks; marked.u.redraw()`)
	b.JS(`new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))`)
	if !is[bool](b, `picture() === hidden`) {
		t.Error("the paper's number stays when its scheme is hidden")
	}
	b.JS(`marked.u.setSeries(line, {show: true})`)
	b.Becomes(`picture() === before`)
	b.Quiet()
}

// A name in a legend hides its line in one chart, a check box in all.
func testHide(t *testing.T, page string) {
	b := open(t, page, 1280, 900)
	b.scroll()
	before := b.colored(0, 1)
	if before == 0 {
		t.Fatal("the line is not there")
	}
	legend := `document.querySelectorAll('figure.chart')[0].querySelectorAll('.u-series th')[2]`
	at := is[[]float64](b, `(() => { const e = `+legend+`; e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2]; })()`)
	b.Do(chromedp.MouseClickXY(at[0], at[1]))
	b.Becomes(`document.querySelectorAll('figure.chart')[0].plot.series[2].show === false`)
	b.Becomes(legend + `.getAttribute('aria-pressed') === 'false'`)
	b.Do(chromedp.MouseClickXY(at[0], 5)) // away, so that no line is in focus
	if n := b.colored(0, 1); n > before/20 {
		t.Errorf("of %d pixels of the line %d stay", before, n)
	}
	if !is[bool](b, `document.querySelectorAll('figure.chart')[1].plot.series[2].show`) {
		t.Error("it is hidden in another chart too")
	}
	b.JS(legend + `.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))`)
	b.Becomes(`document.querySelectorAll('figure.chart')[0].plot.series[2].show === true`)
	b.Becomes(legend + `.getAttribute('aria-pressed') === 'true'`)

	b.Do(chromedp.Click(chromedp.CSS(`input[data-scheme="dcqcn"]`)))
	b.Becomes(`[...document.querySelectorAll('figure.chart')].every(f => f.dataset.of === 'dcqcn' ? f.hidden : !f.hidden)`)
	b.Becomes(`[...document.querySelectorAll('figure.chart:not([data-of])')].every(f => f.plot.series.every(s => !s.label.startsWith('dcqcn') || !s.show))`)
	b.Do(chromedp.Click(chromedp.CSS(`input[data-scheme="dcqcn"]`)))
	b.Becomes(`[...document.querySelectorAll('figure.chart')].every(f => !f.hidden)`)
	b.Quiet()
}

// Dragging shows a part of the time, in all charts of that time; a double click shows all.
func testZoom(t *testing.T, page string) {
	b := open(t, page, 1280, 900)
	b.scroll()
	whole0, whole1 := b.span(0)
	reset := `document.querySelectorAll('figure.chart .reset')`
	if is[bool](b, `![...`+reset+`].every(r => r.hidden)`) {
		t.Error("the button to see all is there before there is anything to see")
	}
	b.drag(0, 0.25, 0.5)
	b.Becomes(fmt.Sprintf(`document.querySelectorAll('figure.chart')[0].plot.scales.x.max < %g`, whole1))
	for chart := range 2 {
		from, to := b.span(chart)
		length := whole1 - whole0
		if math.Abs(from-(whole0+0.25*length)) > 0.02*length || math.Abs(to-(whole0+0.5*length)) > 0.02*length {
			t.Errorf("chart %d shows %g to %g of %g to %g", chart, from, to, whole0, whole1)
		}
	}
	b.Becomes(`!` + reset + `[0].hidden`)
	x, y := b.point(0, 0.5, 0.5)
	b.Do(chromedp.MouseClickXY(x, y, chromedp.ClickCount(1)), chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
	b.Becomes(fmt.Sprintf(`document.querySelectorAll('figure.chart')[0].plot.scales.x.max === %g`, whole1))
	b.drag(0, 0.25, 0.5)
	b.Becomes(`!` + reset + `[0].hidden`)
	b.JS(reset + `[0].click()`)
	b.Becomes(fmt.Sprintf(`document.querySelectorAll('figure.chart')[0].plot.scales.x.max === %g && %s[0].hidden`, whole1, reset))
	b.Quiet()
}

// The legend shows means, and then the values under the cursor.
func testHover(t *testing.T, page string) {
	b := open(t, page, 1280, 900)
	b.scroll()
	const where = `document.querySelector('figure.chart .u-series .u-value').textContent`
	if text := is[string](b, where); text != "mean" {
		t.Errorf("the legend has the %q", text)
	}
	x, y := b.point(0, 0.5, 0.5)
	for _, left := range []float64{x - 5, x} {
		b.Do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, left, y))
	}
	b.Becomes(`/^time, ms: [0-9.]+$/.test(` + where + `)`)
	b.Becomes(`[...document.querySelectorAll('figure.chart')[0].querySelectorAll('.u-series:not([hidden]) .u-value')].slice(1).every(v => /^-?[0-9.]+(e-?[0-9]+)?$/.test(v.textContent))`)
	b.Quiet()
}

// On a phone nothing but tables is wider than the screen, and they scroll by themselves.
func testPhone(t *testing.T, page string) {
	b := open(t, page, 390, 844)
	b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateScale(3)), chromedp.Reload())
	b.scroll()
	b.JS(`document.querySelectorAll('details').forEach(d => d.open = true)`)
	if n := is[int](b, `Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)`); n > 390 {
		t.Errorf("the page is %d wide", n)
	}
	if n := is[float64](b, `Math.max(...[...document.querySelectorAll('canvas')].map(c => c.getBoundingClientRect().right))`); n > 390 {
		t.Errorf("a chart ends at %g", n)
	}
	if is[bool](b, `[...document.querySelectorAll('table')].some(t => !t.closest('.scroll') && !t.closest('.plot'))`) {
		t.Error("a table is not in a container that scrolls")
	}
	if n := is[float64](b, `Math.min(...[...document.querySelectorAll('p, td, th, label, summary')].map(e => parseFloat(getComputedStyle(e).fontSize)))`); n < 12 {
		t.Errorf("a text of %g pixels", n)
	}
	b.Screenshot(filepath.Base(t.Name()))
	b.Do(chromedp.EmulateViewport(844, 390, chromedp.EmulateMobile, chromedp.EmulateScale(3)))
	b.Becomes(`[...document.querySelectorAll('figure.chart')].every(f => !f.plot || Math.abs(f.plot.width - f.querySelector('.plot').clientWidth) < 1)`)
	b.Quiet()
}

// Two fingers that part show less of the time.
func testPinch(t *testing.T, page string) {
	b := open(t, page, 390, 844)
	b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.scroll()
	whole0, whole1 := b.span(0)
	_, y := b.point(0, 0.5, 0.5)
	touch := func(kind input.DispatchTouchEventType, parts ...float64) {
		var fingers []*input.TouchPoint
		for i, part := range parts {
			x, _ := b.point(0, part, 0.5)
			id := float64(i)
			fingers = append(fingers, &input.TouchPoint{X: x, Y: y, ID: &id})
		}
		if _, err := chromedp.Call(b.Ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: fingers}); err != nil {
			t.Fatal(err)
		}
	}
	touch(input.DispatchTouchEventTypeTouchStart, 0.4, 0.6)
	touch(input.DispatchTouchEventTypeTouchMove, 0.3, 0.7)
	touch(input.DispatchTouchEventTypeTouchEnd)
	b.Becomes(fmt.Sprintf(`document.querySelectorAll('figure.chart')[0].plot.scales.x.max < %g`, whole1))
	from, to := b.span(0)
	if part := (to - from) / (whole1 - whole0); math.Abs(part-0.5) > 0.05 {
		t.Errorf("%g of the time is left", part)
	}
	b.Quiet()
}

// Paper has the charts, in its width, no controls, and what a reader could unfold on the screen. Then the screen has
// what it had.
func testPrint(t *testing.T, page string) {
	b := open(t, page, 1280, 900)
	const folds = `[...document.querySelectorAll('details')].map(d => d.open)`
	b.JS(`document.querySelector('details').open = true`)
	before := is[[]bool](b, folds)
	b.Media("print", false)
	b.Becomes(folds + `.every(open => open)`)
	b.Becomes(`[...document.querySelectorAll('figure.chart')].every(f => f.plot && f.plot.width < 400)`)
	if is[bool](b, `[...document.querySelectorAll('.controls, .reset')].some(e => getComputedStyle(e).display !== 'none')`) {
		t.Error("controls are printed")
	}
	if is[string](b, `getComputedStyle(document.body).backgroundColor`) != "rgb(255, 255, 255)" {
		t.Error("the paper is not white")
	}
	b.Media("print", true)
	b.Becomes(`getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)' && charts.every(c => c.data.lines.every((l, i) => c.u.series[i + 1].stroke(c.u, i + 1) === l.color))`)
	b.Media("", false)
	b.Becomes(`[...document.querySelectorAll('figure.chart')].every(f => f.plot.width > 400)`)
	if after := is[[]bool](b, folds); !slices.Equal(before, after) || !slices.Contains(after, false) {
		t.Errorf("unfolded before %v, after %v", before, after)
	}
	b.Quiet()
}
