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
		"count: many":                          `x.yaml:1: "many" is not a whole number`,
		"rate: [1, 2]":                         `x.yaml:1: a single value belongs here (in quotes if there is a colon in it)`,
		"rate: 1bps\nrate: 2bps":               `x.yaml:2: mapping key "rate" already defined at [1:1]`,
		"count: 1\nlist:\n- size: 1B\n bad: x": `x.yaml:4: value is not allowed in this context`,
		"prios: [1, x]":                        `x.yaml:1: "x" is not a whole number`,
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

func FuzzDecode(f *testing.F) {
	f.Add([]byte("rate: 10Gbps\nlist:\n- size: 512KB\n"))
	f.Add([]byte("a: &x [*x]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var n nested
		_ = Decode("x.yaml", b, &n)
	})
}
