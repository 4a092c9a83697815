//go:build browser && dpdk

package main

import (
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"photon/internal/browser"
	"photon/internal/testnet"
	"photon/pfc"
)

// reach makes an address in a namespace one of this machine's.
func reach(t *testing.T, n *testnet.Namespace, address string) string {
	t.Helper()
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: "http", Host: address}) },
		Transport: n.Client().Transport,
	}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	return s.URL
}

// withPage is an example's file with a page.
func withPage(t *testing.T, file, lines string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../deploy", file))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), file)
	if err := os.WriteFile(path, append(b, lines...), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The pages of a switch and of an agent that sends through it: two senders meet at
// a port; what both pages show moves.
func TestNodePagesInBrowser(t *testing.T) {
	l := newFourHosts(t)
	sw := start(t, l.sw, "switch", "-c", withPage(t, "switch.yaml", "\nlive: {listen: 127.0.0.1:9471}\n"))
	start(t, l.hosts[2], "agent", "-c", "../../deploy/agent-h2.yaml")
	start(t, l.hosts[0], "agent", "-c", withPage(t, "agent-h0.yaml", "\nlive: {listen: 127.0.0.1:9472}\n"))
	start(t, l.hosts[1], "agent", "-c", "../../deploy/agent-h1.yaml")

	at := reach(t, l.sw, "127.0.0.1:9471")
	p := browser.Open(t, at, 1280, 900)
	p.Becomes(`document.querySelector('.state').textContent === 'live' && document.querySelector('h1').textContent !== ''`)
	row := `document.querySelector('tr[data-port="sw2"][data-priority="3"]')`
	p.Becomes(row + ` && /M$/.test(` + row + `.children[3].textContent)`) // sends megabits
	p.Becomes(row + `.querySelector('.queue .num').textContent !== '0 B'`)
	p.Becomes(`[...document.querySelectorAll('.tile')].some(t => t.textContent.startsWith('ECN marks') && !t.textContent.endsWith('marks0/s'))`)
	p.Becomes(known(0) + ` > 5 && charts[0].u.series.length === 5`)
	moves(p, 0)
	p.JS(`window.text = document.querySelector('.tiles').textContent`)
	p.Becomes(`text !== document.querySelector('.tiles').textContent`)
	// Frozen, nothing does; then it does again.
	freeze := `[...document.querySelectorAll('button')].find(b => b.textContent === 'Freeze')`
	p.JS(freeze + `.click()`)
	p.JS(`window.text = document.querySelector('.tiles').textContent; window.looks = 0; { const f = fetch; window.fetch = (...a) => f(...a).finally(() => window.looks++); }`)
	p.Becomes(`looks > 3`)
	if browser.Is[bool](p, `text !== document.querySelector('.tiles').textContent`) {
		t.Error("frozen, and yet it moves")
	}
	p.JS(freeze + `.click()`)
	p.Becomes(`text !== document.querySelector('.tiles').textContent`)
	// Priorities that nothing uses are shown on demand.
	idle := `document.querySelector('tr[data-port="sw2"][data-priority="5"]')`
	if !browser.Is[bool](p, idle+`.hidden`) {
		t.Error("an idle priority is shown")
	}
	p.JS(`[...document.querySelectorAll('button')].find(b => b.textContent === 'All priorities').click()`)
	p.Becomes(`!` + idle + `.hidden`)
	p.JS(`[...document.querySelectorAll('button')].find(b => b.textContent === 'All priorities').click()`)
	p.Becomes(idle + `.hidden`)
	// A peer that pauses is seen to.
	pauses := startStream(l.hosts[3].Open(t, "eth0"), 50*time.Millisecond, pauseFrame(3, pfc.MaxQuanta))
	defer pauses.end()
	paused := `document.querySelector('tr[data-port="sw3"][data-priority="3"] .pause')`
	p.Becomes(paused + `.classList.contains('held') && parseInt(` + paused + `.textContent) > 50`)
	p.Becomes(`[...document.querySelectorAll('.tile')].some(t => t.textContent === 'paused by peers1')`)
	p.Fits()
	p.Screenshot("switch")
	phone(p, at)
	p.Becomes(`document.querySelector('.state').textContent === 'live' && ` + known(0) + ` > 5`)
	p.Fits()
	p.Screenshot("switch-phone")
	p.Quiet()

	browser.CheckLayout(t, "switch", at, func(p *browser.Page) {
		p.Becomes(`document.querySelector('.state') && document.querySelector('.state').textContent === 'live' && ` + known(0) + ` > 5`)
	})

	at = reach(t, l.hosts[0], "127.0.0.1:9472")
	a := browser.Open(t, at, 1280, 900)
	a.Becomes(`document.querySelectorAll('.flows tbody tr').length > 0 && /bit\/s$/.test(document.querySelector('.flows tbody tr .num').textContent)`)
	a.Becomes(known(6) + ` > 5 && charts[6].title === 'Flows'`)
	moves(a, 6)
	a.Fits()
	a.Screenshot("agent")
	phone(a, at)
	a.Becomes(`document.querySelectorAll('.flows tbody tr').length > 0 && ` + known(0) + ` > 5`)
	a.Fits()
	a.Screenshot("agent-phone")
	a.Quiet()
	browser.CheckLayout(t, "agent", at, func(p *browser.Page) {
		p.Becomes(`document.querySelectorAll('.flows tbody tr').length > 0 && ` + known(0) + ` > 5`)
	})

	// What was seen stays when the switch has gone.
	sw.stop()
	p.Becomes(`document.querySelector('.state').textContent === 'nobody answers' && document.querySelectorAll('.ports tbody tr:not([hidden])').length > 0`)
}
