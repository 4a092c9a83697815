package figure

import (
	"bytes"
	"context"
	"image/png"
	"os"
	"path/filepath"
	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/report"
	"photon/lab/run"
	"strings"
	"testing"
)

const text = `
id: test/figure
title: two flows
duration: 1ms
topology: {kind: star, hosts: 3}
parameters:
  link_rate: {value: 10Gbps, source: the test}
  host_delay: {value: 1us, source: the test}
  trunk_delay: {value: 1us, source: the test}
  payload: {value: 1000B, source: the test}
  mtu: {value: 1100B, source: the test}
  priority: {value: 3, source: the test}
  xoff: {value: 1MB, source: the test}
  xon: {value: 1MB, source: the test}
  buffer: {value: 12MB, source: the test}
flows: [{name: F, from: H0..H1, to: H2, size: 100KB}]
schemes: [{name: dcqcn, params: {kmax: {value: $kmax, source: the test}}}, {name: none}]
sweep: {name: kmax, label: Kmax, values: [20KB, 300KB]}
measure:
  sample: 100us
  probes: [{name: queue, kind: queue, at: [S0>H2]}]
  metrics: [{name: most, do: max, of: queue}]
`

// Every kind of panel is drawn, with what it is of in it, and Write leaves
// pictures that can be decoded.
func TestWrite(t *testing.T) {
	for panel, want := range map[string]string{
		"{title: over time, lines: [queue]}": ">queue<", "{y: queue, sweep: [most]}": ">dcqcn most<", "{bars: [most@20KB]}": ">most@20KB<", "{fct: '*'}": ">completion time, ms<",
	} {
		e, err := experiment.Parse("figure.yaml", []byte(text+"plots: ["+panel+"]\n"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := run.Replay(context.Background(), e, run.Options{World: "sim"})
		if err != nil {
			t.Fatal(err)
		}
		svg, err := overview(e, r, "svg")
		if err != nil || !strings.Contains(string(svg), want) {
			t.Errorf("%s: no %s, %v", panel, want, err)
		}
		out := t.TempDir()
		if err := report.Write(e, out, claim.Judge(e, r)); err != nil {
			t.Fatal(err)
		}
		if err := Write(e, out, r); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"overview", "dcqcn", "none"} {
			b, err := os.ReadFile(filepath.Join(out, "test-figure", "sim", name+".png"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := png.Decode(bytes.NewReader(b)); err != nil {
				t.Errorf("%s: %s.png: %v", panel, name, err)
			}
		}
	}
}
