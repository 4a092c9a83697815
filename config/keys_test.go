package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// keyRow is a key of a file: what counts without it, which values it may have, and which not.
type keyRow struct {
	key   string   // as the types have it: ports[].mtu, weights.*
	text  string   // the part of the file, with KEY where the key belongs; made of the key if empty
	usual string   // what counts where the file leaves it out
	a, b  string   // values with which something else is in force; a may be empty: it is left out
	ends  []string // the first and last that are taken
	bad   []string // the next ones, which are refused
	fixed bool     // a switch that runs keeps it
}

// where the ports of a file are, and what else it needs.
const (
	switchBase = "ports: [{device: net_null0}, {device: net_null1}]\n"
	hostBase   = "port: {device: net_null0}\nip: 10.0.0.1\n"
	nicBase    = "role: nic\nport: {device: net_null0}\napplication: {device: net_tap0}\n"
)

// file is the text with a value for the key, and the line on which that stands.
func (r *keyRow) file(base, value string) (text string, line int) {
	parts := strings.Split(strings.TrimSuffix(r.key, "[]"), ".")
	name := strings.Replace(parts[len(parts)-1], "*", "0", 1)
	if r.key == "scheme.params.*" {
		name = "kmin"
	}
	if text = r.text; text == "" {
		text = "KEY"
		for i := len(parts) - 2; i >= 0; i-- {
			switch of, list := strings.CutSuffix(parts[i], "[]"); {
			case of == "ports" && i == 0:
				text = "ports: [{device: net_null0}, {device: net_null1, " + text + "}]"
			case of == "port" && i == 0:
				text = "port: {device: net_null0, " + text + "}"
			case of == "application":
				text = "application: {device: net_tap0, " + text + "}"
			case list:
				text = of + ": [{" + text + "}]"
			default:
				text = strings.Replace(of, "*", "0", 1) + ": {" + text + "}"
			}
		}
	}
	entry := ""
	if value != "" {
		entry = "\n  " + name + ": " + value + "\n  "
	}
	if strings.HasPrefix(text, "KEY") { // at the top, where nothing is indented
		entry = strings.ReplaceAll(strings.TrimSpace(entry), "\n  ", "\n")
	}
	for _, l := range strings.SplitAfter(base, "\n") { // but for keys that the part has itself
		of, _, ok := strings.Cut(l, ":")
		if !ok || r.key != of && !regexp.MustCompile(`(?m)^`+of+":").MatchString(text) {
			text = l + text
		}
	}
	before, after, found := strings.Cut(text, "KEY")
	if !found {
		panic(r.key + ": no KEY in its text")
	}
	line = 1 + strings.Count(before+entry[:strings.Index(entry+name+":", name+":")], "\n")
	return before + entry + after + "\n", line
}

// leaves are the keys of a type.
func leaves(path string, v reflect.Type) (keys []string) {
	switch {
	case v.Implements(reflect.TypeFor[setting]()):
	case v.Kind() == reflect.Pointer:
		return leaves(path, v.Elem())
	case v.Kind() == reflect.Slice:
		return leaves(path+"[]", v.Elem())
	case v.Kind() == reflect.Map:
		return leaves(path+".*", v.Elem())
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if name := v.Field(i).Tag.Get("yaml"); name != "" && name != "-" {
				keys = append(keys, leaves(strings.TrimPrefix(path+"."+name, "."), v.Field(i).Type)...)
			}
		}
		return keys
	}
	return []string{path}
}

// dump writes all that is in a value, however deep; functions cannot be looked into.
func dump(to *strings.Builder, v reflect.Value, depth int) {
	if depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if to.WriteString("&"); !v.IsNil() {
			dump(to, v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			to.WriteString(v.Type().Field(i).Name + ":")
			dump(to, v.Field(i), depth+1)
			to.WriteString(" ")
		}
	case reflect.Slice, reflect.Array:
		fmt.Fprint(to, v.Kind() == reflect.Slice && v.IsNil(), v.Len(), "[")
		for i := range min(v.Len(), 64) { // tables of flows have more
			dump(to, v.Index(i), depth+1)
			to.WriteString(" ")
		}
	case reflect.Map:
		var all []string
		for of := v.MapRange(); of.Next(); {
			var one strings.Builder
			dump(&one, of.Key(), depth+1)
			dump(&one, of.Value(), depth+1)
			all = append(all, one.String())
		}
		slices.Sort(all)
		fmt.Fprint(to, all)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		fmt.Fprint(to, v.IsNil())
	default:
		fmt.Fprint(to, v)
	}
}

// dumped is all that is in some values.
func dumped(all ...any) string {
	var to strings.Builder
	dump(&to, reflect.ValueOf(all), 0)
	return to.String()
}

// switchInForce is what a switch's file comes to: all that is asked of it.
func switchInForce(c *Switch) string {
	n, err := c.Resolve(nil)
	if err != nil {
		panic(err)
	}
	var ports []string
	for _, p := range c.Ports {
		ports = append(ports, fmt.Sprint(p.Device.V, p.Shutdown.V))
	}
	priorities, flows := c.Series.Bounds()
	sampled := ""
	if s := c.SFlow; s != nil {
		sampled = fmt.Sprint(s.Collector.V, s.Every(), s.Interval(), s.Agent.V)
	}
	all := []any{
		n, c.Options(), c.NodeName(), c.MetricsAddress(), c.AdminSocket(), c.PProfAddress(), c.Live.Address(),
		c.Announced(), c.Impaired(), ports, priorities, flows, sampled, c.DPDK.GarbageLimit(), c.Warnings(), c.Says(),
		n.Describe(),
	}
	return dumped(all...)
}

// agentInForce is what an agent's file comes to.
func agentInForce(c *Agent) string {
	priorities, flows := c.Series.Bounds()
	all := []any{
		c.Options(), c.Name.Or("agent"), c.MetricsAddress(), c.AdminSocket(), c.PProfAddress(), c.Live.Address(),
		priorities, flows, c.DPDK.GarbageLimit(), c.Warnings(), c.TrafficFile(), c.Results.V, c.Port.Device.V,
	}
	if c.IsNIC() {
		n, err := c.ResolveNIC(nil)
		if err != nil {
			panic(err)
		}
		all = append(all, n, n.Describe(), n.Config.NewRP(nil), c.NICPorts()[1].Device.V)
	} else {
		n, err := c.Resolve(nil)
		if err != nil {
			panic(err)
		}
		all = append(all, n, n.Describe(), n.Config.NewRP(nil))
	}
	if c.Memory != nil {
		all = append(all, c.Memory.Size.V, c.memoryPath())
	}
	return dumped(all...)
}

// readKeys reads a text as one of the two kinds of file.
func readKeys[T any](text string, check func(*T) error) (*T, error) {
	c := new(T)
	err := Decode("x.yaml", []byte(text), c)
	if err == nil {
		err = check(c)
	}
	return c, err
}

// checkKeys holds each key to its row: left out it is what its row says, another value is another thing, its range
// ends where the row says, and a value beyond it is refused with its line.
func checkKeys[T any](t *testing.T, base string, rows []keyRow, check func(*T) error, inForce func(*T) string) {
	t.Helper()
	for i := range rows {
		r := &rows[i]
		read := func(value string) *T {
			text, _ := r.file(base, value)
			c, err := readKeys(text, check)
			if err != nil {
				t.Errorf("%s is refused:\n%s%v", r.key, text, err)
				return nil
			}
			return c
		}
		same := func(one, other string) bool {
			a, b := read(one), read(other)
			return a != nil && b != nil && inForce(a) == inForce(b)
		}
		if r.usual != "" && !same("", r.usual) {
			t.Errorf("%s: %s is said to be usual, and is not", r.key, r.usual)
		}
		for _, end := range r.ends {
			read(end)
		}
		if r.b != "" && same(r.a, r.b) {
			t.Errorf("%s: %q and %q are the same", r.key, r.a, r.b)
		}
		for _, bad := range r.bad {
			text, line := r.file(base, bad)
			_, err := readKeys(text, check)
			if at := (*Error)(nil); !errors.As(err, &at) || at.Line != line {
				t.Errorf("%s: %s is not refused in line %d:\n%s%v", r.key, bad, line, text, err)
			}
		}
	}
}

// A key of a switch's file does what it is there for, and a reload changes it and nothing else, or says in
// which line is what it cannot change.
func TestEveryKeyOfASwitch(t *testing.T) {
	check := func(c *Switch) error { return c.Check() }
	checkKeys(t, switchBase, switchKeys, check, switchInForce)
	rows := map[string]bool{}
	for i := range switchKeys {
		r := &switchKeys[i]
		rows[r.key] = true
		if r.b == "" || r.key == "ports[].device" {
			continue // it is refused, or may be the same; by its device a port is known
		}
		read := func(value string) *Switch {
			text, _ := r.file(switchBase, value)
			c, err := readKeys(text, check)
			if err != nil {
				t.Errorf("%s: %v", r.key, err)
			}
			return c
		}
		_, line := r.file(switchBase, r.b)
		changes, err := read(r.a).Changes(read(r.b))
		if r.fixed {
			if at := (*Error)(nil); !errors.As(err, &at) || at.Line != line {
				t.Errorf("%s: a reload says %v, %v", r.key, changes, err)
			}
			if r.usual == "" || strings.HasSuffix(r.key, "rate") {
				continue // devices may say another rate than the usual one
			}
			if none, err := read("").Changes(read(r.usual)); len(none) > 0 || err != nil {
				t.Errorf("%s: %s, which is usual, is a change: %v, %v", r.key, r.usual, none, err)
			}
			continue
		}
		if len(changes) != 1 || err != nil || !sameKey(changes[0].Key, r.key) {
			t.Errorf("%s: a reload changes %v, %v", r.key, changes, err)
		}
	}
	for _, key := range leaves("", reflect.TypeFor[Switch]()) {
		if !rows[key] {
			t.Errorf("no row is of %s", key)
		}
	}
}

// sameKey reports whether a change is of a key: one of a list or of a map, or the list as a whole.
func sameKey(change, key string) bool {
	change = regexp.MustCompile(`\[\d+\]`).ReplaceAllString(change, "[]")
	change = regexp.MustCompile(`\.\d+\b`).ReplaceAllString(change, ".*")
	if strings.HasPrefix(change, "scheme.params.") {
		change = "scheme.params.*"
	}
	return change == key || change+"[]" == key
}
