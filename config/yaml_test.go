package config

import (
	"testing"

	"photon/units"
)

type nested struct {
	Rate Value[units.Rate] `yaml:"rate"`
	List []struct {
		Size Value[units.Size] `yaml:"size"`
	} `yaml:"list"`
	Count Value[int]      `yaml:"count"`
	Names Value[[]string] `yaml:"names"`
	On    Value[bool]     `yaml:"on"`
	Prios []Value[int]    `yaml:"prios"`

	Time  units.Time             `yaml:"time"` // without a line of their own
	Sizes [2]units.Size          `yaml:"sizes"`
	Times map[string]*units.Time `yaml:"times"`
	Deep  []struct {
		Rate units.Rate `yaml:"rate"`
	} `yaml:"deep"`
}

func TestDecode(t *testing.T) {
	var n nested
	text := "rate: 10Gbps\nlist:\n- size: 512KB\n- {size: 5B}\ncount: 7\nnames: [a, b]\non: true\nprios: [3, 4]\n"
	if err := Decode("x.yaml", []byte(text), &n); err != nil {
		t.Fatal(err)
	}
	if n.Rate != (Value[units.Rate]{10 * units.Gbps, 1, true}) || n.List[1].Size != (Value[units.Size]{5, 4, true}) || n.Count.V != 7 ||
		len(n.Names.V) != 2 || !n.On.V || n.Prios[1].V != 4 || n.Prios[1].Line != 8 {
		t.Fatalf("%+v", n)
	}
}

func TestErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"rate: 10Gbps\nspeed: 5\n":             `x.yaml:2: unknown key "speed"`,
		"count: 1\n\nrate: fast\n":             `x.yaml:3: rate "fast": not a number with a unit (write it like 10Mbps)`,
		"list:\n- size: 1KB\n- size: 2 XB":     `x.yaml:3: size "2 XB": unknown unit (write it like 10MB)`,
		"list:\n- size: 1KB\n  weight: 2\n":    `x.yaml:3: unknown key "weight"`,
		"sizee: 1KB\n":                         `x.yaml:1: unknown key "sizee": is "sizes" meant?`,
		"size: 1KB\n":                          `x.yaml:1: unknown key "size": is "sizes" meant?`,
		"list:\n- count: 7\n":                  `x.yaml:2: unknown key "count": it belongs at the top level`,
		"list:\n- prio: 7\n":                   `x.yaml:2: unknown key "prio": is "prios" meant, at the top level?`,
		"list:\n- rate: 1bps\n":                `x.yaml:2: unknown key "rate": it belongs at the top level or under deep`,
		"list:\n- size: 1KB\n  Count: 2\n":     `x.yaml:3: unknown key "Count": is "count" meant, at the top level?`,
		"count: many":                          `x.yaml:1: "many" is not a whole number`,
		"rate: [1, 2]":                         `x.yaml:1: a single value belongs here (in quotes if there is a colon in it)`,
		"rate: 1bps\nrate: 2bps":               `x.yaml:2: mapping key "rate" already defined at line 1`,
		"count: 1\nlist:\n- size: 1B\n bad: x": `x.yaml:4: did not find expected key`,
		"prios: [1, x]":                        `x.yaml:1: "x" is not a whole number`,
		"count: 1\ntime: 3xx":                  `x.yaml:2: time "3xx": unknown unit (write it like 10ms)`,
		"names: [3xx]\n\ntime:\n  3xx":         `x.yaml:4: time "3xx": unknown unit (write it like 10ms)`,
		"sizes:\n- 1B\n- '2 XB'":               `x.yaml:3: size "2 XB": unknown unit (write it like 10MB)`,
		"times: {a: 1s,\n b: 1x}":              `x.yaml:2: time "1x": unknown unit (write it like 10ms)`,
		"deep:\n- rate: 1bps\n- {rate: 1s}":    `x.yaml:3: rate "1s": unknown unit (write it like 10Mbps)`,
		"on: maybe":                            `x.yaml:1: true or false belongs here`,
		"count: 1\nnames: a":                   `x.yaml:2: a list belongs here ([a, b], or a line that begins with - for each)`,
		"count: 1\nlist: [1KB]":                `x.yaml:2: keys with values belong here (size: value, or {size: value})`,
		"names: [a]\ntimes: [1]":               `x.yaml:2: keys with values belong here (key: value, or {key: value})`,
		"count: 1\nrate: *x":                   `x.yaml:2: unknown anchor 'x' referenced`,
		"count: 1\n---\ncount: 2":              `x.yaml:2: a second document begins here, and a file has one`,
	} {
		var n nested
		if err := Decode("x.yaml", []byte(text), &n); err == nil || err.Error() != want {
			t.Errorf("%q:\n  got  %v\n  want %s", text, err, want)
		}
	}
	var n nested
	if err := Read("/nowhere/x.yaml", &n); err == nil || err.Error() != "/nowhere/x.yaml: no such file or directory" {
		t.Error(err)
	}
}

// A file may say nothing, and may say something once for several places.
func TestWhatElseIsYAML(t *testing.T) {
	for _, text := range []string{"", "# a comment\n", "---\n", "count:\n"} {
		var n nested
		if err := Decode("x.yaml", []byte(text), &n); err != nil || n.Count.IsSet() {
			t.Errorf("%q: %v, %+v", text, err, n)
		}
	}
	var n nested
	if err := Decode("x.yaml", []byte("list:\n- &a {size: 1KB}\n- <<: *a\n- {size: 2B, <<: *a}\n"), &n); err != nil || len(n.List) != 3 || n.List[1].Size.V != 1000 || n.List[2].Size.V != 2 {
		t.Errorf("%v, %+v", err, n)
	}
}

func TestLineOf(t *testing.T) {
	text := []byte("# a comment\na: 1\nb:\n  c: {d: 2,\n    e: 3}\n")
	for _, c := range []struct {
		keys []string
		want int
	}{{[]string{"a"}, 2}, {[]string{"b"}, 4}, {[]string{"b", "c"}, 4}, {[]string{"b", "c", "e"}, 5}, {[]string{"c"}, 0}, {[]string{"a", "c"}, 0}} {
		if got := LineOf(text, c.keys...); got != c.want {
			t.Errorf("%v: line %d, want %d", c.keys, got, c.want)
		}
	}
	if LineOf([]byte("a: [1"), "a") != 0 || LineOf(nil, "a") != 0 {
		t.Error("a line of what cannot be read")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("rate: 10Gbps\nlist:\n- size: 512KB\n"))
	f.Add([]byte("a: &x [*x]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var n nested
		_ = Decode("x.yaml", b, &n)
	})
}
