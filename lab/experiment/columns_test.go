package experiment

import (
	"strings"
	"testing"
)

// A metric that cannot say anything else is refused: columns against each other where there is one, equality where
// nearness was meant, and spans that do not fit into the run.
func TestMetricsThatSayNothing(t *testing.T) {
	compares := func(do string) string {
		return "18: metric m: " + do + " compares columns, and probe got has one (each: true)"
	}
	for _, c := range []struct{ probe, metric, want string }{
		{"each: false", "do: jain, of: got", compares("jain")},
		{"each: false", "do: gap, of: got", compares("gap")},
		{"each: false", "do: spread, of: got", compares("spread")},
		{"each: true", "do: jain, of: got", ""},
		{"each: true", "do: spread, of: got", ""},
		{"each: false", "do: delta, of: got", ""},
		{"each: true", "do: within, of: got, value: 5", "18: metric m: within needs a part of the value (part: 0.1)"},
		{"each: true", "do: first_within, of: got, value: 5",
			"18: metric m: first_within needs a part of the value (part: 0.1)"},
		{"each: true", "do: within, of: got, value: 5, part: 0.1", ""},
		{"over: 3ms", "do: max, of: got", "15: probe got: over 3ms is longer than the run's 2ms"},
		{"over: 2ms", "do: max, of: got", ""},
		{"each: true", "do: deadlocked, hold: 2010us", "18: metric m: hold 2.01ms is longer than the run's 2ms"},
		{"each: true", "do: deadlocked, hold: 1ms", ""},
		{"each: true", "do: max, of: got, by: m",
			`18: metric m is divided by "m": there is no such metric above it (there are none)`},
	} {
		text := strings.Replace(small, "flows: [long]}", "flows: [long], "+c.probe+"}", 1)
		text = strings.Replace(text, "{name: p99, do: fct}", "{name: m, "+c.metric+"}", 1)
		if strings.Contains(c.metric, "by: m") {
			text = strings.Replace(text, "  - {name: q, do: mean, of: queue}", "# nothing above", 1)
		}
		_, err := Parse("x.yaml", []byte(text))
		want := c.want
		if want != "" {
			want = "x.yaml:" + want
		}
		if err != nil && want == "" || err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s, %s:\n%v, not\n%s", c.probe, c.metric, err, want)
		}
	}
}
