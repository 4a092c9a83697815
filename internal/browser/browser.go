//go:build browser

package browser

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Patience is how long a page may take for anything: the machine may be busy.
const Patience = 3 * time.Minute

// Page is a page in headless Chromium, and what it says on its console.
type Page struct {
	T    *testing.T
	Ctx  context.Context
	said iter.Seq2[chromedp.ConsoleMessage, error]
}

// Open shows an address in a window of a size. Without Chromium the test fails.
func Open(t *testing.T, url string, width, height int64) *Page {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, stopTab := chromedp.NewContext(ctx)
	t.Cleanup(stopTab)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	ctx, stopWait := context.WithTimeout(ctx, 3*Patience)
	t.Cleanup(stopWait)
	p := &Page{T: t, Ctx: ctx, said: chromedp.Console(ctx)}
	p.Do(chromedp.EmulateViewport(width, height), chromedp.Navigate(url))
	return p
}

// Do does something with the page.
func (p *Page) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.T.Helper()
	if err := chromedp.Do(p.Ctx, actions...); err != nil {
		p.T.Fatal(err)
	}
}

// Quiet fails if the page said anything until now.
func (p *Page) Quiet() {
	p.T.Helper()
	const end = "nothing else"
	p.JS(fmt.Sprintf("console.log(%q)", end))
	for m, err := range p.said {
		if err != nil {
			p.T.Fatal(err)
		}
		if m.Text == end {
			return
		}
		p.T.Errorf("the page says: %s", m)
	}
}

// Is evaluates an expression of the page.
func Is[T any](p *Page, expression string) T {
	p.T.Helper()
	v, err := chromedp.Run(p.Ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.T.Fatalf("%s: %v", expression, err)
	}
	return v
}

// JS does something in the page.
func (p *Page) JS(statement string) { p.T.Helper(); Is[chromedp.Void](p, statement) }

// Becomes waits until an expression is true, also of the page's next load.
func (p *Page) Becomes(expression string) {
	p.T.Helper()
	for {
		_, err := chromedp.Run(p.Ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(Patience)))
		if err != nil && p.Ctx.Err() == nil && loads(err) {
			continue
		}
		if err != nil {
			p.T.Fatalf("never true: %s: %v", expression, err)
		}
		return
	}
}

// loads reports whether an expression has no answer because the page loads anew, as Chromium says it.
func loads(err error) bool {
	return strings.Contains(err.Error(), "navigated") || strings.Contains(err.Error(), "Cannot find context")
}

// Media makes the page believe that it is printed ("print"), or on a screen ("");
// dark says that its reader prefers light on dark.
func (p *Page) Media(name string, dark bool) {
	p.T.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Media: name, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(p.Ctx, emulation.SetEmulatedMedia, media); err != nil {
		p.T.Fatal(err)
	}
}

// Fits fails if the page is wider than its window, or a text of it too small to read.
func (p *Page) Fits() {
	p.T.Helper()
	if wide, window := Is[int](p, `Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)`), Is[int](p, `innerWidth`); wide > window {
		p.T.Errorf("the page is %d wide, its window %d", wide, window)
	}
	if n := Is[float64](p, `Math.max(0, ...[...document.querySelectorAll('canvas')].map(c => c.getBoundingClientRect().right))`); n > Is[float64](p, `innerWidth`) {
		p.T.Errorf("a chart ends at %g", n)
	}
	if n := Is[float64](p, `Math.min(...[...document.querySelectorAll('p, td, th, label, summary, li, dt, dd')].map(e => parseFloat(getComputedStyle(e).fontSize)))`); n < 12 {
		p.T.Errorf("a text of %g pixels", n)
	}
}

// Screenshot leaves a picture of the page in a folder that the environment names.
func (p *Page) Screenshot(name string) {
	p.T.Helper()
	dir := os.Getenv("PHOTON_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(p.Ctx, chromedp.FullScreenshot(100))
	if err != nil {
		p.T.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		p.T.Fatal(err)
	}
}
