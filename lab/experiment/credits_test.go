package experiment

import (
	"strings"
	"testing"
)

const credited = `id: test/credits
title: credits
duration: 2ms
topology: {kind: star, hosts: 3}
parameters:
  {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, buffer: 16MB,
  flow_control: credits,
  lane_buffer: 64KiB,
  credit_update: 1KB}
flows:
- {name: f, from: H0, to: H2, size: 1MB}
impair:
- {link: H0>S0, rules: [{do: lose, frames: all, rate: 0.01}]}
schemes: [none]
measure: {sample: 10us}
`

// What does not go with credits is said where it stands, and by its name.
func TestBadCredits(t *testing.T) {
	if _, err := Parse("x.yaml", []byte(credited)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{"64KiB", "1KB", "x.yaml:8: buffer of a lane 1KB must hold a frame of 1522 bytes, which takes 24 blocks of 64 bytes"},
		{"update: 1KB", "update: 65KiB", "x.yaml:9: credit_update 66.56KB: at most the buffer of a lane, 65.536KB"},
		{"credit_update: 1KB", "alpha_by_rate: true", "x.yaml:9: alpha_by_rate: the buffer of a lane with credits is its own"},
		// 1518 B and 67 B, each with 24 B around it, at 10 Gbit/s.
		{"update: 1KB", "period: 1306ns", "x.yaml:9: credit_period 1.306us: on a link of 10Gbps a frame and the flow control packets take 1.3064us"},
		{"do: lose, frames: all, rate: 0.01", "do: pause, priority: 3, every: 1ms", "x.yaml:13: do: pause: links with credits have no pauses"},
		{"frames: all", "frames: pfc", "x.yaml:13: frames: pfc: links with credits have none"},
		{"frames: all", "frames: xoff", "x.yaml:13: frames: xoff: links with credits have none"},
		{"frames: all", "frames: xon", "x.yaml:13: frames: xon: links with credits have none"},
	} {
		text := strings.Replace(credited, c.from, c.to, 1)
		if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v; want %s", c.to, err, c.want)
		}
	}
	for _, to := range []string{"period: 1307ns", "period: 0s", "update: 64KiB", "update: 0B"} {
		if _, err := Parse("x.yaml", []byte(strings.Replace(credited, "update: 1KB", to, 1))); err != nil {
			t.Errorf("%s: %v", to, err)
		}
	}
}

// An event that makes a link so slow that it would carry flow control packets alone is refused. Those of all lanes are
// 67 B, with 24 B around them; by default they are due after 65536 symbols of four bytes at the link's rate.
func TestEventsThatStarveLinksWithCredits(t *testing.T) {
	for _, c := range []struct {
		rate, period, event string
		bad                 bool
	}{
		{"10Gbps", "credit_period: 5us", "145Mbps", true}, // 728 bits in 5 us
		{"10Gbps", "credit_period: 5us", "146Mbps", false},
		{"10Gbps", "credit_period: 5us", "0bps", false},
		{"400Gbps", "credit_update: 1KB", "138Mbps", true}, // 5.24288 us
		{"400Gbps", "credit_update: 1KB", "139Mbps", false},
		{"10Gbps", "credit_update: 1KB", "138Mbps", false},
	} {
		text := strings.NewReplacer("link_rate: 10Gbps", "link_rate: "+c.rate, "credit_update: 1KB", c.period,
			"{kind: star, hosts: 3}", "{kind: ring, switches: 3, hosts: 2}",
			"H0", "H0-0", "H2", "H1-0").Replace(credited)
		text += "events:\n- {at: 1ms, link: S0>S1, rate: " + c.event + "}\n"
		_, err := Parse("x.yaml", []byte(text))
		refused := err != nil && strings.Contains(err.Error(), "event 1: flow control packets take ")
		if refused != c.bad || !c.bad && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
