package experiment

import (
	"strings"
	"testing"

	"photon/units"
)

// An experiment as somebody would write it who has no paper to cite.
const unsourced = `id: mine/plain
title: values without sources, schemes without parameters
duration: 1ms
topology: {kind: star, hosts: 3}
parameters:
  link_rate: 10Gbps
  host_delay: 1us
  trunk_delay: 1us
  payload: 1000B
  mtu: 1500B
  priority: 3
  xoff: 100KB
  xon: {value: 97KB, source: two frames below}
  buffer: 9MB
flows:
  - {name: long, from: "H0,H1", to: H2}
  - {name: short, from: H0, to: H2, size: 10KB}
schemes: [none, {name: pcn, params: {wmin: 1/16, wmax: {value: 0.4, source: a guess}}}]
measure:
  sample: 10us
  probes:
    - {name: queue, kind: queue, at: [S0>H2]}
    - {name: sending, kind: sending, flows: [long], each: true}
  metrics:
    - {name: short_s, do: fct, flows: [short]}
    - {name: most, do: max, of: queue}
plots:
  - {title: queue, lines: [queue, sending.1]}
  - {title: short, fct: short}
`

func TestValuesWithoutSources(t *testing.T) {
	e, err := Parse("x.yaml", []byte(unsourced))
	if err != nil {
		t.Fatal(err)
	}
	p := &e.Parameters
	if p.LinkRate.Value.V.String() != "10Gbps" || p.LinkRate.Source != thisFile || p.LinkRate.Value.Line != 6 || p.Priority.Value.V != 3 || p.XON.Source != "two frames below" {
		t.Errorf("%+v", p)
	}
	without, err := Parse("x.yaml", []byte(strings.Replace(unsourced, "  xon: {value: 97KB, source: two frames below}\n", "", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if p := &without.Parameters; p.XON.Value.V != 97*units.KB || !strings.HasPrefix(p.XON.Source, "two MTU below XOFF") {
		t.Errorf("%+v", p.XON)
	}
	if e.Schemes[0].Name.V != "none" || len(e.Schemes[0].Params) != 0 {
		t.Errorf("%+v", e.Schemes[0])
	}
	params := e.Schemes[1].Params
	if params["wmin"].Value.V != "1/16" || params["wmin"].Source != thisFile || params["wmax"].Source != "a guess" {
		t.Errorf("%+v", params)
	}
	if got := strings.Join(e.Describe(), "\n"); !strings.Contains(got, "3 hosts, 1 switch, 3 flows; the longest base round trip is 4us\n2 runs of 1ms: 2 schemes") || strings.Contains(got, "note") {
		t.Error(got)
	}
}

// What comes with photon names the source of everything.
func TestOursHaveSources(t *testing.T) {
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		for name, source := range e.Parameters.sources() {
			if source == thisFile {
				t.Errorf("%s: parameter %s has no source", e.ID, name)
			}
		}
		for _, s := range append(e.Schemes, e.Alternatives...) {
			for name, p := range s.Params {
				if p.Source == thisFile || p.Source == "" {
					t.Errorf("%s: scheme %s: parameter %s has no source", e.ID, s.Name.V, name)
				}
			}
		}
	}
}

// A name that does not exist is an error with its line, which says what was meant.
func TestNamesThatDoNotExist(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"kind: queue", "kind: queu", `x.yaml:22: probe queue: there is no kind "queu" (is "queue" meant?)`},
		{"flows: [long]", "flows: [log]", `x.yaml:23: probe sending: there are no flows "log" (is "long" meant?)`},
		{"flows: [short]", "flows: [long, x]", `x.yaml:25: metric short_s: there are no flows "x" (there are long, short)`},
		{"do: max", "do: mx", `x.yaml:26: metric most does "mx" (is "max" meant?)`},
		{"do: max", "do: delta", `x.yaml:26: metric most: delta is of how much a counter grows, and queue is none (mean, max and the like are of samples)`},
		{"of: queue", "of: qeue", `x.yaml:26: metric most: there is no probe "qeue" (is "queue" meant?)`},
		{"sending.1]", "sendin.1]", `x.yaml: plot "queue": there is no probe "sendin.1" (is "sending" meant?)`},
		{"fct: short", "fct: shrt", `x.yaml: plot "short": there are no flows "shrt" (is "short" meant?)`},
		{"[none,", "[nnoe,", `x.yaml:18: there is no scheme "nnoe" (is "none" meant?)`},
		{"to: H2}", "to: H9}", `x.yaml:16: there is no host "H9" (there are H0, H1, H2)`},
		{"S0>H2", "S0>H9", `x.yaml:22: S0 has no link to "H9" (it has links to H0, H1, H2)`},
		{"mtu: 1500B", "mtu: 1000B", `x.yaml:10: mtu 1000B is too small: packets of 1KB payload have 1044 bytes under none`},
		{"10Gbps", "10", `x.yaml:6: rate "10": the unit is missing (write it like 10Mbps)`},
		{"10Gbps", "[1]", `x.yaml:6: a single value belongs here (in quotes if there is a colon in it)`},
		{"{value: 97KB", "{valu: 97KB", `x.yaml:13: unknown key "valu": is "value" meant?`},
		{"{kind: star, hosts: 3}", "star", `x.yaml:4: keys with values belong here (kind: value, or {kind: value})`},
	} {
		text := strings.Replace(unsourced, c.from, c.to, 1)
		if text == unsourced {
			t.Errorf("%q is not in the file", c.from)
		}
		if _, err := Parse("x.yaml", []byte(text)); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n  got  %v\n  want %s", c.to, err, c.want)
		}
	}
}

func TestDescribeFindsFlowsAfterTheEnd(t *testing.T) {
	e, err := Parse("x.yaml", []byte(strings.Replace(unsourced, "size: 10KB}", "size: 10KB, start: 2ms}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Describe(); !strings.HasPrefix(got[len(got)-1], "note: flows short: 1 start when the run is over, the first at 2.0") {
		t.Errorf("%q", got)
	}
}

// Hosts of one switch may have cables of different lengths: schemes go by the longest.
func TestBaseRoundTripOfUnequalCables(t *testing.T) {
	links := "topology: {kind: free, nodes: [{name: S0}, {name: H0, host: true}, {name: H1, host: true}, {name: H2, host: true}],\n" +
		"  links: [{a: H0, b: S0}, {a: H1, b: S0, delay: 50us}, {a: H2, b: S0}]}"
	e, err := Parse("x.yaml", []byte(strings.Replace(unsourced, "topology: {kind: star, hosts: 3}", links, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Describe()[1]; got != "3 hosts, 1 switch, 3 flows; the longest base round trip is 102us" {
		t.Error(got)
	}
}
