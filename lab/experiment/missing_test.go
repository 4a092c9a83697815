package experiment

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

// much is a small experiment with something of everything.
var much = strings.NewReplacer(
	"workloads:\n", `- {name: part, from: H0, to: H4, size: 1MB, start: 1ms}
collectives:
- {name: ring, do: all-reduce, hosts: H0..H3, size: 1MB}
workloads:
- {name: B, burst: 10KB, from: H0, to: H1, load: 0.1, capacity: 10Gbps}
- {name: P, sizes: pareto, mean: 10KB, shape: 1.5, from: "*", to: "*", load: 0.1, capacity: 10Gbps}
`,
	"schemes:", `events:
- {at: 1ms, flow: part, cap: 1Gbps}
- {at: 1ms, link: S0>H1, rate: 10Gbps}
impair:
- {link: S0>H1, rules: [{do: lose, frames: xon, packets: [1]}]}
sweep: {name: n, values: [1, 2], label: $n}
claims:
- {id: c, text: x of $n, metric: "q@1", schemes: [pcn], paper: 3, bound: at_most, unit: B}
schemes:`,
).Replace(strings.Replace(small, "do: fct", "do: fct, stat: p99, flows: [part]", 1))

// places are all keys and elements below a node.
func places(n *yaml.Node, path []string, to *[][]string) {
	for i := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			at := append(slices.Clone(path), strconv.Itoa(i))
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
		case n.Kind == yaml.SequenceNode && strconv.Itoa(i) == path[0]:
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

type errorer interface{ Errorf(string, ...any) }

// parseDamaged parses what is left of a text when something was done to a key. A mistake is one line.
func parseDamaged(t errorer, text string, path []string, what string, do func(*yaml.Node, int)) error {
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
	inOtherWords := []string{"at", "name", "of", "paper", "cap", "rules"}
	where := regexp.MustCompile(`^x\.yaml:[0-9]+: `)
	for _, path := range all {
		err := parseDamaged(t, much, path, "left out", without)
		if err == nil {
			continue
		}
		key := path[len(path)-1]
		if !strings.Contains(err.Error(), strings.TrimSuffix(key, "s")) && !slices.Contains(inOtherWords, key) {
			t.Errorf("%s left out: %v", strings.Join(path, "."), err)
		}
		if len(path) > 1 && !where.MatchString(err.Error()) {
			t.Errorf("%s left out: no line in %v", strings.Join(path, "."), err)
		}
	}
}

// Whatever stands in an experiment: it is read, or one line says what is wrong.
func TestDamagedExperiments(t *testing.T) {
	texts := []string{much, small}
	ids, err := IDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if strings.Contains(id, "fig14") {
			continue // of tens of thousands of flows: that takes long to read
		}
		_, b, err := Source(id)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	values := []string{
		`""`, "0", "-1", "3", "0.5", "9223372036854775807", "18446744073709551616", "1e300", ".nan", ".inf",
		"-1ms", "1ms", "0s", "10Gbps", "-5Gbps", "1KB", "[]", "{}", "null", "true", "abc", "[a, b]", "{a: 1}", "[[1]]",
		`"*"`, "$n", "H0", "H9..H0", "H0..", `"S0>H1"`, "\"\u00e9\\n\"",
	}
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

// Networks that do not hold together, and what cannot go through them, are refused with the line that says so.
func TestNetworksThatDoNotHoldTogether(t *testing.T) {
	free := func(links string) string {
		return strings.Replace(strings.Replace(small, "H0..H3", "H0", 1), "{kind: star, hosts: 5}",
			"\n  kind: free\n  nodes: [{name: H0, host: true}, {name: H4, host: true}, {name: S0},\n"+
				"    {name: S1}]\n  links: [{a: H0, b: S0},\n    "+links+"]", 1)
	}
	apart := strings.Replace(small, "kind: star, hosts: 5", "kind: leaf-spine, tors: 5, hosts: 1, spines: 0", 1)
	flows, random := "flows:\n- {name: long, from: H0..H3, to: H4}\n", apart[strings.Index(apart, "workloads:"):]
	random = random[:strings.Index(random, "schemes:")]
	collective := "collectives:\n- {name: sum, do: all-reduce,\n  hosts: H0..H3, size: 1MB}\n"
	sum := strings.NewReplacer(flows, collective, random, "").Replace(apart)
	for text, want := range map[string]string{
		free("{a: H4, b: S0}, {a: S1, b: S0}, {a: S0, b: S0}"): "x.yaml:9: link S0-S0: it is from a node to itself",
		free("{a: H4, b: S0}, {a: S1, b: S0}, {a: H4, b: H4}"): "x.yaml:9: link H4-H4: it is from a node to itself",
		free("{a: H4, b: S0}"):                                 "x.yaml:7: node S1 has no link",
		free("{a: H4, b: S1}"):                                 "x.yaml:12: flows long: nothing leads from H0 to H4",
		strings.Replace(apart, flows, "", 1):                   "x.yaml:7: flows W: nothing leads from H",
		sum:                                                    "x.yaml:8: flows sum: nothing leads from H0 to H1",
		apart:                                                  "x.yaml:7: flows long: nothing leads from H0 to H4",
	} {
		if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// A Pareto distribution has a mean if its shape is above 1, and a host that nobody else sends to receives nothing.
func TestWorkloadsThatCannotBeDrawn(t *testing.T) {
	with := func(what string) string { return strings.Replace(small, `sizes: pcn-w1, from: "*", to: "*"`, what, 1) }
	for text, want := range map[string]string{
		with(`sizes: pareto, mean: 10KB, shape: 1.01, from: "*", to: H0`): "",
		with(`sizes: pareto, mean: 10KB, shape: 1, from: "*", to: H0`):    "x.yaml:9: workload W: shape 1: above 1",
		with(`sizes: pareto, mean: 10KB, shape: 0.5, from: "*", to: H0`):  "x.yaml:9: workload W: shape 0.5: above 1",
		with("sizes: pcn-w1, from: H1, to: H1"):                           "host H1 can receive from itself only",
	} {
		_, err := Parse("x.yaml", []byte(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// What would take all memory is refused with its line.
func TestTooMuchIsRefused(t *testing.T) {
	to := func(with string) string { return strings.Replace(small, "to: H4}", "to: H4, "+with+"}", 1) }
	for text, want := range map[string]string{
		to("count: 9000000000"):                   "x.yaml:7: flows long are about 3.6e+10",
		to("size: 1B, every: 1ps"):                "x.yaml:7: flows long are about 8e+09",
		to("size: 1B, repeat: 60000, count: 900"): "x.yaml:7: flows long are about 2.2e+08",
	} {
		if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// Parameters that are missing are named together, but for what follows from another.
func TestMissingParameters(t *testing.T) {
	_, err := Parse("x.yaml", []byte("id: x\ntopology: {kind: star, hosts: 2}\n"+
		"parameters: {link_rate: 10Gbps, mtu: 1500B, buffer: 1MB}\n"))
	const want = "x.yaml:3: parameters host_delay, payload, priority, trunk_delay, xoff have no value or no source"
	if err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}
