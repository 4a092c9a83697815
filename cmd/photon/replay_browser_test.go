//go:build browser

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"photon/internal/browser"
	"photon/lab/experiment"
)

// moves waits until a chart of a page has more to show than now, and another picture.
func moves(p *browser.Page, chart int) {
	p.T.Helper()
	picture := fmt.Sprintf(`charts[%d].u.ctx.canvas.toDataURL()`, chart)
	p.Becomes(fmt.Sprintf(`charts[%d].u != null`, chart))
	p.JS(fmt.Sprintf(`window.before = %s`, picture))
	p.Becomes(`before !== ` + picture)
}

// known is how many values the longest line of a chart has.
func known(chart int) string {
	return fmt.Sprintf(`(charts[%d].u ? Math.max(...charts[%d].u.data.slice(1).map(v => v.filter(x => x != null).length)) : 0)`, chart, chart)
}

// phone shows the page as a phone has it, and by night.
func phone(p *browser.Page, url string) {
	p.T.Helper()
	p.Media("", true)
	p.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateScale(2)), chromedp.Navigate(url))
}

// The page of a replay that runs: what it shows grows, what is chosen is shown, a
// phone has room for it; nothing on it is refused by its own rules.
func TestReplayPageInBrowser(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	file := filepath.Join(t.TempDir(), "hours.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(manyRuns, "duration: 25ms", "duration: 1600s", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	s := serveReplay(ctx, t, "run", file, "--out", t.TempDir())
	defer func() {
		_ = s.cmd.Process.Kill() // it would run for long
		<-s.ended
	}()
	p := browser.Open(t, s.url, 1280, 900)
	p.Becomes(`document.querySelector('.state').textContent === 'running'`)
	p.Becomes(`document.querySelectorAll('.run').length === 2 && document.querySelector('.run.chosen .name').textContent === 'pcn'`)
	p.Becomes(`/^0 %, .* so far/.test(document.querySelector('p.num').textContent)`)
	p.JS(`window.far = document.querySelector('p.num').textContent`)
	p.Becomes(`far !== document.querySelector('p.num').textContent`)
	p.Quiet()
}

// What the page shows of figure 11 as it runs, and the report to which it leads. One seed is enough for it.
func TestFigurePageInBrowser(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	s := serveReplay(ctx, t, "replay", "pcn/fig11", "--quick", "--out", t.TempDir())
	p := browser.Open(t, s.url, 1280, 900)
	p.Becomes(`document.querySelector('h1').textContent === 'pcn/fig11' && document.querySelectorAll('.run').length === 7`)
	p.Becomes(known(0) + ` > 5`)
	p.Screenshot("replay-runs")
	p.Becomes(`document.querySelector('.state').textContent === 'done'`)
	p.Becomes(`[0, 1, 2, 3].every(k => charts[k].u && charts[k].u.series.length === 8) && ` + known(0) + ` === 300`)
	e, err := experiment.Get("pcn/fig11")
	if err != nil {
		t.Fatal(err)
	}
	p.Becomes(fmt.Sprintf(`document.querySelectorAll('.claims tbody tr').length === %d`, len(e.Claims)))
	p.Becomes(`!document.querySelector('.claims .not-run')`)
	if text := browser.Is[string](p, `document.querySelector('.claims tbody').textContent`); !strings.Contains(text, "≤ 2 ms1.81 msreproduced") {
		t.Errorf("claims: %s", text)
	}
	// A run that is chosen is shown in detail.
	p.JS(`[...document.querySelectorAll('.run')].find(r => r.textContent.includes('none')).click()`)
	p.Becomes(`document.querySelector('.run.chosen .name').textContent === 'none' && charts[4].u && charts[4].u.series.length === 5 && charts[4].lines[0].name === 'H0>R0'`)
	// Without congestion control a host is paused again and again.
	p.Becomes(`(c => {
		if (!c) return false;
		const copy = document.createElement('canvas'), to = copy.getContext('2d', {willReadFrequently: true});
		copy.width = c.width;
		to.drawImage(c, 0, 0);
		return to.getImageData(0, 0, c.width, 1).data.filter((v, i) => i % 4 === 3 && v > 0).length > 100;
	})(document.querySelector('.map canvas'))`)
	// A name in a legend hides its line.
	p.JS(`charts[0].legend.children[1].click()`)
	p.Becomes(`charts[0].u.series[2].show === false`)
	p.JS(`charts[0].legend.children[1].click()`)
	p.Fits()
	p.Screenshot("replay-done")
	phone(p, s.url)
	p.Becomes(`document.querySelector('.state').textContent === 'done' && ` + known(0) + ` === 300 && ` + known(4) + ` === 300`)
	p.Becomes(`getComputedStyle(document.documentElement).backgroundColor === 'rgb(19, 23, 27)'`)
	p.Fits()
	p.Screenshot("replay-phone")
	p.Quiet()
	p.Do(chromedp.Navigate(browser.Is[string](p, `document.querySelector('a.button').href`)))
	p.Becomes(`location.pathname === '/report/pcn-fig11' && document.querySelectorAll('figure.chart').length > 0 && document.querySelector('figure.chart').plot != null`)
	p.Quiet()
	p.Do(chromedp.Navigate(s.url))
	p.Becomes(`document.querySelector('.state') && document.querySelector('.state').textContent === 'done'`)
	browser.CheckLayout(t, "replay", s.url, func(p *browser.Page) {
		p.Becomes(`document.querySelector('.state') && document.querySelector('.state').textContent === 'done' && ` + known(0) + ` === 300 && ` + known(4) + ` === 300`)
	})
	s.stop()
	p.Becomes(`document.querySelector('.state').textContent === 'photon has ended'`)
}
