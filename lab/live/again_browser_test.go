//go:build browser

package live

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"photon/internal/browser"
	"photon/lab/experiment"
	"photon/lab/run"
	"photon/lab/web/site"
	"photon/telemetry/page"
)

// A page that stays open shows the command that serves at its address, not what it knows of an earlier one, whose
// runs had the same numbers.
func TestAnotherCommandInBrowser(t *testing.T) {
	replayed := func(size string) *Status {
		e, err := experiment.Parse("again.yaml", []byte(`id: test/again
title: of `+size+`
duration: 1ms
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 100KB, buffer: 9MB}
flows: [{name: f, from: H0, to: H1, size: `+size+`}]
schemes: [none]
measure: {sample: 10us, metrics: [{name: x, do: fct, flows: [f]}]}
`))
		if err != nil {
			t.Fatal(err)
		}
		b := NewStatus("again", []*experiment.Experiment{e}, func() (float64, time.Duration) { return 1, 0 })
		if _, err := run.Replay(context.Background(), e, run.Options{World: "sim", Viewer: b}); err != nil {
			t.Fatal(err)
		}
		b.End(nil)
		return b
	}
	serve := func(b *Status, address string) *page.Server {
		s, err := page.Listen(address)
		if err != nil {
			t.Fatal(err)
		}
		s.Serve(site.Of(b))
		return s
	}
	// sum is how many bits per second the spans of the only run have together.
	sum := func(b *Status) string {
		total := 0.0
		for _, v := range b.Traces(0, 0, false).(tracesDocument).Total {
			total += v
		}
		return fmt.Sprintf(`data.get(0) && Math.abs(data.get(0).lines.total_bps.reduce((a, v) => a + v, 0) / %g - 1) < 1e-9`, total)
	}
	first, second := replayed("100KB"), replayed("700KB")
	s := serve(first, "127.0.0.1:0")
	p := browser.Open(t, s.URL(), 1280, 900)
	p.Becomes(sum(first))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p.Becomes(`document.querySelector('.state').textContent === 'photon has ended'`)
	address := strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http://"), "/")
	s = serve(second, address)
	defer s.Close()
	p.Becomes(`document.body.textContent.includes('of 700KB') && ` + sum(second))
}
