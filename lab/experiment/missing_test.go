package experiment

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"photon/config"
)

const much = `id: test/much
title: much
duration: 2ms
topology: {kind: star, hosts: 5}
parameters: {link_rate: 25Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 256KB, buffer: 16MB}
flows:
- {name: long, from: H0..H3, to: H4}
- {name: part, from: H0, to: H4, size: 1MB, start: 1ms}
collectives:
- {name: ring, do: all-reduce, hosts: H0..H3, size: 1MB}
workloads:
- {name: W, sizes: pcn-w1, from: "*", to: "*", load: 0.1, capacity: 10Gbps}
- {name: B, burst: 10KB, from: H0, to: H1, load: 0.1, capacity: 10Gbps}
- {name: P, sizes: pareto, mean: 10KB, shape: 1.5, from: "*", to: "*", load: 0.1, capacity: 10Gbps}
events:
- {at: 1ms, flow: part, cap: 1Gbps}
- {at: 1ms, link: S0>H1, rate: 10Gbps}
impair:
- {link: S0>H1, rules: [{do: lose, frames: xon, packets: [1]}]}
schemes: [pcn, dcqcn]
sweep: {name: n, values: [1, 2], label: x}
measure:
  sample: 10us
  probes:
  - {name: queue, kind: queue, at: [S0>H4]}
  - {name: got, kind: received, flows: [long]}
  metrics:
  - {name: q, do: mean, of: queue}
  - {name: p99, do: fct, stat: p99, flows: [part]}
claims:
- {id: c, text: x, metric: "q@1", schemes: [pcn], paper: 3, bound: at_most, unit: B}
`

// places are all keys and elements below a node.
func places(n *yaml.Node, path []string, to *[][]string) {
	for i := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			at := append(slices.Clone(path), string(rune('0'+i%10)))
			places(n.Content[i], at, to)
		case n.Kind == yaml.MappingNode && i%2 == 0:
			at := append(slices.Clone(path), n.Content[i].Value)
			*to = append(*to, at)
			places(n.Content[i+1], at, to)
		}
	}
}

// damage does something to the value of a key.
func damage(n *yaml.Node, path []string, do func(mapping *yaml.Node, key int)) {
	for i := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode && string(rune('0'+i%10)) == path[0]:
			damage(n.Content[i], path[1:], do)
			return
		case n.Kind == yaml.MappingNode && i%2 == 0 && n.Content[i].Value == path[0]:
			if len(path) == 1 {
				do(n, i)
			} else {
				damage(n.Content[i+1], path[1:], do)
			}
			return
		}
	}
}

// parseDamaged parses what is left of a text when something was done to a key. A mistake is one line.
func parseDamaged(t interface{ Errorf(string, ...any) }, text string, path []string, what string, do func(*yaml.Node, int)) error {
	var doc yaml.Node
	if err := yaml.Load([]byte(text), &doc); err != nil {
		t.Errorf("%v", err)
		return nil
	}
	damage(doc.Content[0], path, do)
	b, err := yaml.Dump(&doc)
	if err != nil {
		t.Errorf("%v", err)
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s %s: panic: %v", strings.Join(path, "."), what, p)
		}
	}()
	_, err = Parse("x.yaml", b)
	if err != nil && (strings.ContainsAny(err.Error(), "\n\r") || !strings.HasPrefix(err.Error(), "x.yaml")) {
		t.Errorf("%s %s: %q", strings.Join(path, "."), what, err)
	}
	return err
}

func without(mapping *yaml.Node, key int) {
	mapping.Content = slices.Delete(mapping.Content, key, key+2)
}

// Whichever key is left out: what is said names it, and its line, or it was not needed.
func TestMissingKeysAreNamed(t *testing.T) {
	if _, err := Parse("x.yaml", []byte(much)); err != nil {
		t.Fatal(err)
	}
	var doc yaml.Node
	if err := yaml.Load([]byte(much), &doc); err != nil {
		t.Fatal(err)
	}
	var all [][]string
	places(doc.Content[0], nil, &all)
	where := regexp.MustCompile(`^x\.yaml:[0-9]+: `)
	for _, path := range all {
		err := parseDamaged(t, much, path, "left out", without)
		if err == nil {
			continue
		}
		key := path[len(path)-1]
		if last := strings.TrimSuffix(key, "s"); !strings.Contains(err.Error(), last) && !slices.Contains([]string{"at", "name", "of", "paper", "cap", "rules"}, key) {
			t.Errorf("%s left out: %v", strings.Join(path, "."), err)
		}
		if located := new(config.Error); len(path) > 1 && !(errors.As(err, &located) && where.MatchString(err.Error())) {
			t.Errorf("%s left out: no line in %v", strings.Join(path, "."), err)
		}
	}
}

// Whatever stands in an experiment: it is read, or one line says what is wrong.
func TestDamagedExperiments(t *testing.T) {
	texts := []string{much, small}
	for _, id := range []string{"pcn/fig11", "pcn/fig19", "tcd/fig3", "pacc/fig7", "af-qcn/fig3a", "dcqcnplus/fig5"} {
		if _, b, err := Source(id); err == nil {
			texts = append(texts, string(b))
		}
	}
	if len(texts) < 4 {
		t.Fatalf("%d experiments to damage", len(texts))
	}
	values := []string{`""`, "0", "-1", "3", "0.5", "[]", "{}", "null", "true", "abc", "1e300", ".nan", ".inf", "-1ms", "1ms", "0s", "9223372036854775807", "10Gbps", "-5Gbps", "1KB", `"*"`, "[a, b]", "{a: 1}", "$n", "H0", "H9..H0", "H0..", `"S0>H1"`, "[[1]]", "18446744073709551616", "\"\u00e9\\n\""}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(t, "text")
		var doc yaml.Node
		if err := yaml.Load([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		var all [][]string
		places(doc.Content[0], nil, &all)
		path := rapid.SampledFrom(all).Draw(t, "key")
		what := rapid.SampledFrom(append(values, "left out", "twice")).Draw(t, "what")
		_ = parseDamaged(t, text, path, what, func(m *yaml.Node, key int) {
			switch what {
			case "left out":
				without(m, key)
			case "twice":
				m.Content = append(m.Content, m.Content[key], m.Content[key+1])
			default:
				var v yaml.Node
				if err := yaml.Load([]byte(what), &v); err != nil {
					t.Fatal(err)
				}
				m.Content[key+1] = v.Content[0]
			}
		})
	})
}
