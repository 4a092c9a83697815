//go:build browser

package browser

import (
	_ "embed"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

//go:embed layout.js
var layoutScript string

// Widths are those in which a page is looked at: of a desktop, and of half a screen or a telephone.
var Widths = []int64{1400, 500}

// CheckLayout shows a page light and dark, wide and narrow, and fails if a text is on another, is cut off, is written in
// letters too small or does not stand out from its ground as WCAG AA wants it, or if the page is wider than its window;
// with what is folded, and with all of it open. ready brings everything into view, and looks at what else there is to
// be seen.
func CheckLayout(t *testing.T, name, url string, ready func(*Page)) {
	t.Helper()
	p := Watched(t)
	for _, dark := range []bool{false, true} {
		for _, width := range Widths {
			p.Media("", dark)
			p.Do(chromedp.EmulateViewport(width, 900), chromedp.Navigate(url))
			ready(p)
			ground := map[bool]string{false: "light", true: "dark"}[dark]
			p.Screenshot(fmt.Sprintf("%s-%s-%d", name, ground, width))
			for _, w := range p.Wrong() {
				t.Errorf("%s, %s, %d wide: %s", name, ground, width, w)
			}
			p.Quiet()
		}
	}
}

// Watched is an empty page of whose successors Wrong can be asked.
func Watched(t *testing.T) *Page {
	t.Helper()
	p := Open(t, "about:blank", Widths[0], 900)
	if _, err := chromedp.Call(p.Ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: layoutScript}); err != nil {
		t.Fatal(err)
	}
	return p
}

// Wrong is what a reader would find wrong with the page as it is, and with all of it unfolded.
func (p *Page) Wrong() []string {
	p.T.Helper()
	wrong := Is[[]string](p, `layoutMistakes()`)
	p.JS(`document.querySelectorAll('details').forEach(d => d.open = true)`)
	wrong = append(wrong, Is[[]string](p, `layoutMistakes()`)...)
	slices.Sort(wrong)
	return slices.Compact(wrong)
}
