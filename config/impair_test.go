package config

import (
	"strings"
	"testing"

	"photon/impair"
	"photon/units"
)

// readImpaired is a switch whose first port has rules, one a line from line 4 on.
func readImpaired(t *testing.T, rules string) (*Switch, error) {
	t.Helper()
	text := "ports:\n- device: net_null0\n  impair: {seed: 9, rules: [\n" + rules + "\n  ]}\n- device: net_null1\n"
	c := &Switch{file: "s.yaml"}
	if err := Decode("s.yaml", []byte(text), c); err != nil {
		return nil, err
	}
	return c, c.Check()
}

func TestImpair(t *testing.T) {
	c, err := readImpaired(t, "    {do: lose, frames: xon, priority: 3, packets: [1, 5]},\n    {do: delay, by: 20us, rate: 0.5, queue_pair: 17}")
	if err != nil {
		t.Fatal(err)
	}
	specs := c.Impaired()
	if len(specs) != 1 || specs[0].Seed != 9 || len(specs[0].Rules) != 2 {
		t.Fatalf("%+v", specs)
	}
	a, b := specs[0].Rules[0], specs[0].Rules[1]
	if a.Do != impair.Lose || a.Kind != impair.XON || a.Priority != 3 || len(a.Numbers) != 2 || a.Numbers[1] != 5 {
		t.Errorf("%+v", a)
	}
	if b.Do != impair.Delay || b.By != 20*units.Microsecond || b.Part != 0.5 || b.QP != 17 || b.Priority != -1 {
		t.Errorf("%+v", b)
	}
}

// What no rule can say is one line that names the place.
func TestImpairRefuses(t *testing.T) {
	for rule, want := range map[string]string{
		"{do: lsoe}":                           "there are lose, duplicate, reorder, delay, corrupt, mark, pause",
		"{do: lose, frames: ackk}":             "there are all, data, ack, cnp, pfc, xoff, xon",
		"{frames: ack}":                        "a rule says what it does (`do: lose`)",
		"{do: lose, rate: 1.5}":                "rate 1.5: a part of the frames, from 0 to 1",
		"{do: lose, rate: 0}":                  "rate 0: a part of the frames, above 0",
		"{do: lose, packets: [0]}":             "packets are counted from 1, not 0",
		"{do: lose, rate: 0.1, packets: [1]}":  "rate and packets: either one",
		"{do: delay}":                          "by is how long frames are delayed",
		"{do: lose, by: 1us}":                  "by is how long frames are delayed",
		"{do: reorder}":                        "behind is how many frames pass",
		"{do: pause}":                          "every is how often the port is paused",
		"{do: pause, every: 1ms, frames: ack}": "it is about no frames",
		"{do: lose, priority: 8}":              "priority 8: there are 0 to 7",
		"{do: lose, queue_pair: 16777216}":     "queue_pair 16777216 must be from 1 to 16777215",
		"{do: lose, start: 2s, stop: 1s}":      "there is no such span",
		"{do: lose, priorty: 3}":               "priorty",
	} {
		_, err := readImpaired(t, "    "+rule)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "s.yaml:4: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want s.yaml:4: ... %s", rule, err, want)
		}
	}
}
