package experiment

import (
	"strings"
	"testing"
)

// Keys of times and counts that would do nothing, or something else than they say, are refused with their line.
func TestTimesThatMeanNothing(t *testing.T) {
	for _, c := range []struct{ flow, want string }{
		{"size: 1KB, until: 1ms", "until 1ms: the flows come once (every, or lasts and gap, say how often)"},
		{"size: 1KB, every: 100us, until: 0s", "until 0ps: they start at 0ps"},
		{"size: 1KB, every: 100us, start: 1ms, until: 500us", "until 500us: they start at 1ms"},
		{"size: 1KB, every: 100us, start: 1ms, until: 1ms", "until 1ms: they start at 1ms"},
		{"size: 1KB, every: 0s", "every 0ps"},
		{"size: 1KB, lasts: 0s", "lasts 0ps"},
		{"lasts: 0s", "lasts 0ps"},
		{"size: 1KB, repeat: 0", "repeat 0: from 1 (absent: 1)"},
		{"size: 1KB, repeat: -1", "repeat -1: from 1 (absent: 1)"},
		{"size: 1KB, after: long", "flows long wait for something that waits for them"},
	} {
		text := strings.Replace(small, "to: H4}", "to: H4, "+c.flow+"}", 1)
		_, err := Parse("x.yaml", []byte(text))
		if err == nil || !strings.HasPrefix(err.Error(), "x.yaml:7: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nlacks x.yaml:7 and %s", c.flow, err, c.want)
		}
	}
	for _, flow := range []string{
		"size: 1KB, every: 100us, until: 1ms", "lasts: 10us, gap: 10us, until: 1ms", "size: 1KB, repeat: 1",
		"lasts: 100us, every: 200us, start: 1ms, until: 1500us", "size: 1KB, every: 100us, stop: 1ms",
	} {
		if _, err := Parse("x.yaml", []byte(strings.Replace(small, "to: H4}", "to: H4, "+flow+"}", 1))); err != nil {
			t.Errorf("%s: %v", flow, err)
		}
	}
	text := strings.Replace(small, "capacity: 10Gbps}", "capacity: 10Gbps, flows: 0}", 1)
	if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "x.yaml:9: ") ||
		!strings.Contains(err.Error(), "flows 0: from 1 (absent: all)") {
		t.Errorf("at most no flows: %v", err)
	}
}

// Of a circle of collectives, or of flows and collectives, the line of one that waits is named.
func TestCircleHasALine(t *testing.T) {
	for _, c := range []struct{ more, want string }{
		{"collectives:\n- {name: c, do: all-reduce, hosts: H0..H3, size: 1MB, after: c}\n", "x.yaml:20: flows c wait"},
		{"collectives:\n- {name: c, do: all-reduce, hosts: H0..H3, size: 1MB, after: long}\n", ""},
	} {
		text := strings.Replace(small, "to: H4}", "to: H4, size: 1KB}", 1)
		_, err := Parse("x.yaml", []byte(text+c.more))
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v\nis not %s", c.more, err, c.want)
		}
	}
}
