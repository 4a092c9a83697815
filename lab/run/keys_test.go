package run

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"photon/lab/build"
	"photon/lab/experiment"
)

// keyRow is a key of an experiment's file: what it is where the file leaves it out, and two values with which a run is
// another. a may be empty: the key is left out.
type keyRow struct {
	key, usual, a, b string
	part             string   // of the file, with KEY; made of the key if empty
	with             []string // other parts of the file, in place of the usual ones
	refused          bool     // b is refused, with its line
}

// usualParts are the parts of a file: two senders for one receiver, behind two spines.
var usualParts = []string{
	"topology: {kind: leaf-spine, tors: 2, hosts: 2, spines: 2}",
	"parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, " +
		"xoff: 20KB, buffer: 1MB, start_phase: 0s}",
	"flows: [{name: f, from: H0..H1, to: H2, size: 200KB}]",
	"schemes: [none]",
	"measure: {sample: 10us, metrics: [{name: m, do: fct}]}",
	"duration: 500us",
}

// text is the file with a value of the key.
func (r *keyRow) text(value string) string {
	name := strings.TrimSuffix(r.key[strings.LastIndex(r.key, ".")+1:], "[]")
	entry := ""
	if value != "" {
		entry = name + ": " + value
	}
	parts := append(slices.Clone(r.with), r.part)
	top, _, _ := strings.Cut(r.key, ".")
	if r.part == "" {
		for _, part := range append(r.with, usualParts...) {
			if strings.HasPrefix(part, strings.TrimSuffix(top, "[]")+":") {
				part = regexp.MustCompile(`([{ ])`+name+`: [^,}]*(, )?`).ReplaceAllString(part, "$1")
				at := strings.Index(part, "}")
				if i := strings.Index(part, "metrics: [{"); i > 0 && strings.HasPrefix(r.key, "measure.metrics") {
					at = i + strings.Index(part[i:], "}")
				}
				parts = append([]string{part[:at] + ", KEY" + part[at:]}, r.with...)
				break
			}
		}
	}
	file := "id: a/b\ntitle: t\n"
	for _, part := range append(parts, usualParts...) {
		of, _, _ := strings.Cut(part, ":")
		if of == "KEY" {
			of = name
		}
		if part != "" && !strings.Contains(file, "\n"+of+":") {
			file += strings.ReplaceAll(part, "KEY", entry) + "\n"
		}
	}
	return file
}

// outcome is what comes of a file.
func (r *keyRow) outcome(t *testing.T, value string) string {
	t.Helper()
	e, err := experiment.Parse("x.yaml", []byte(r.text(value)))
	if err != nil {
		t.Errorf("%s: %s: %v", r.key, value, err)
		return ""
	}
	said := ""
	for _, use := range e.Schemes {
		o, err := RunOnce(context.Background(), e, Options{World: "sim", Seed: e.Seed}, use, build.Observer{})
		if err != nil {
			t.Errorf("%s: %s: %v", r.key, value, err)
			return ""
		}
		said += o.TraceHash
		for _, name := range e.MetricNames() {
			if v := o.Metrics[name]; v != nil {
				said += fmt.Sprint(" ", name, "=", *v)
			}
		}
	}
	return said
}

// leaves are the keys of a type.
func leaves(path string, v reflect.Type) (keys []string) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	value := strings.HasPrefix(v.Name(), "Value[") || strings.HasPrefix(v.Name(), "Sourced[")
	switch {
	case v.Kind() == reflect.Slice && v.Elem().Kind() == reflect.Struct:
		return leaves(path+"[]", v.Elem())
	case v.Kind() != reflect.Struct || value:
		return []string{path}
	}
	for i := range v.NumField() {
		if name := v.Field(i).Tag.Get("yaml"); name != "" && name != "-" {
			keys = append(keys, leaves(strings.TrimPrefix(path+"."+name, "."), v.Field(i).Type)...)
		}
	}
	return keys
}

// forReaders are keys that say something to readers, and of which nothing comes in a run; and those of claims and
// sweeps, which have tests of their own.
var forReaders = []string{
	"id", "title", "about", "story", "paper", "worlds", "plots", "alternatives", "claims", "sweep", "quick", "repeat",
	"measure.plot", "measure.probes[].name", "measure.metrics[].name", "measure.metrics[].doc",
	"measure.metrics[].unit", "flows[].name", "workloads[].name", "collectives[].name", "topology.nodes[].name",
	"schemes[].label",
}

// Every key of an experiment does something: with another value of it a run is another. Where the file leaves it out it
// is what the documentation says.
func TestEveryKeyOfAnExperiment(t *testing.T) {
	rows := map[string]bool{}
	for i := range experimentKeys {
		r := &experimentKeys[i]
		rows[r.key] = true
		if r.refused {
			_, err := experiment.Parse("x.yaml", []byte(r.text(r.b)))
			if err == nil || !strings.HasPrefix(err.Error(), "x.yaml:3: ") {
				t.Errorf("%s: %v", r.key, err)
			}
			continue
		}
		a := r.outcome(t, r.a)
		if a == r.outcome(t, r.b) {
			t.Errorf("%s: %q and %q are the same:\n%s", r.key, r.a, r.b, r.text(r.b))
		}
		if r.usual != "" {
			if r.a != "" {
				a = r.outcome(t, "")
			}
			if a != r.outcome(t, r.usual) {
				t.Errorf("%s: %s is said to be usual, and is not", r.key, r.usual)
			}
		}
	}
	for _, key := range leaves("", reflect.TypeFor[experiment.Experiment]()) {
		said := slices.ContainsFunc(forReaders, func(of string) bool {
			return key == of || strings.HasPrefix(key, of+".") || strings.HasPrefix(key, of+"[]")
		})
		if !rows[key] && !said {
			t.Errorf("no row is of %s", key)
		}
	}
}
