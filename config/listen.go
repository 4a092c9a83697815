package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"photon/telemetry/page/address"
)

// profiles checks where the runtime's profiles are served; empty: nowhere. They show memory and stop the workers, so
// nobody but who is on this machine may ask for them.
func profiles(v Value[string]) (string, error) {
	at := v.Or("off")
	if at == "off" {
		return "", nil
	}
	err := address.Check(at, false)
	if errors.Is(err, address.ErrOpen) {
		return "", fail(v, "pprof: %v (write it like 127.0.0.1:6060)", err)
	}
	if err != nil {
		return "", fail(v, "pprof: %v", err)
	}
	return at, nil
}

// PProfAddress is where profiles are served; empty: nowhere.
func (c *Switch) PProfAddress() string {
	at, _ := profiles(c.PProf) // Check has seen it
	return at
}

// PProfAddress is where profiles are served; empty: nowhere.
func (c *Agent) PProfAddress() string {
	at, _ := profiles(c.PProf) // Check has seen it
	return at
}

// Open lists what others than this machine can reach of a switch, in words that an operator should read.
func (c *Switch) Open() []string { return open(c.MetricsAddress(), c.Live.Address()) }

// Open lists what others than this machine can reach of an agent.
func (c *Agent) Open() []string { return open(c.MetricsAddress(), c.Live.Address()) }

// open warns of listeners on all addresses: whoever reaches any interface of the machine can ask them.
func open(metrics, live string) (lines []string) {
	for _, l := range []struct{ what, at string }{{"metrics", metrics}, {"live", live}} {
		host, port, err := net.SplitHostPort(l.at)
		if err != nil {
			continue
		}
		if a, err := netip.ParseAddr(host); host == "" || err == nil && a.IsUnspecified() {
			lines = append(lines, fmt.Sprintf("warning: %s listens on all addresses: whoever reaches one of this machine can ask (write it like 10.0.0.1:%s, or 127.0.0.1:%s)", l.what, port, port))
		}
	}
	return lines
}
