package experiment

import (
	"errors"
	"strings"
	"testing"

	"photon/config"
	"photon/wire"
)

// An agent's file of flows is refused with its name and in one line, or makes flows
// that begin in order and go to somebody.
func FuzzTraffic(f *testing.F) {
	f.Add([]byte("flows:\n- {to: 10.0.0.2, count: 2}\n- {name: b, to: 10.0.0.3, from: 10.0.0.1, size: 64KB, every: 10ms, until: 50ms, weight: 2, rate: 1Gbps}\n"))
	f.Add([]byte("hosts: [10.0.0.1, 10.0.0.2, 10.0.0.3]\nseed: 1\nworkloads:\n- {name: web, sizes: websearch, from: \"*\", to: \"*\", load: 0.3, capacity: 10Gbps, flows: 10}\n"))
	f.Add([]byte("duration: 1ms\nhosts: [10.0.0.1, \"::1\"]\nflows: [{to: \"*\", gap: 1us}]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1000 || strings.Count(string(b), "0") > 40 {
			return // hosts and flows by the million are allowed
		}
		traffic, err := ParseTraffic("x.yaml", b)
		var list []TrafficFlow
		if err == nil {
			list, err = traffic.Of(wire.IPv4(10, 0, 0, 1))
		}
		if err != nil {
			if located := (*config.Error)(nil); !errors.As(err, &located) || !strings.HasPrefix(err.Error(), "x.yaml:") || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("%T %q", err, err)
			}
			return
		}
		for i := range list {
			if i > 0 && list[i].Start < list[i-1].Start || list[i].To == (wire.IP{}) || list[i].Size < 0 || list[i].Start < 0 {
				t.Fatalf("flow %d: %+v", i, list[i])
			}
		}
	})
}
