package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"photon/dataplane"
	"photon/telemetry/page/address"
)

// profiles checks where the runtime's profiles are served; empty: nowhere. They show memory and stop the workers, so
// only users of this machine may ask for them.
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

// checkListening says what is wrong with where a node can be asked, and with what it says there.
func checkListening(metrics Value[string], series Series, socket, name Value[string], live Live, pprof Value[string]) error {
	if _, err := metricsAddress(metrics); err != nil {
		return err
	}
	if err := series.check(); err != nil {
		return err
	}
	if _, err := admin(socket, name); err != nil {
		return err
	}
	if err := live.check(); err != nil {
		return err
	}
	return sameAddress(metrics, live, pprof)
}

// sameAddress says what is wrong if two of a file's servers have one address. One that the system chooses, with port 0, is
// as many as there are servers.
func sameAddress(metrics Value[string], live Live, pprof Value[string]) error {
	at, err := metricsAddress(metrics)
	if err != nil {
		return err
	}
	profiles, err := profiles(pprof)
	if err != nil {
		return err
	}
	same := func(a, b string) bool { return a != "" && a == b && !strings.HasSuffix(a, ":0") }
	const clash = "%s: %s is the address of %s already"
	switch {
	case same(live.Address(), at):
		return fail(live.Listen, clash, "live", at, "metrics")
	case same(profiles, at):
		return fail(pprof, clash, "pprof", at, "metrics")
	case same(profiles, live.Address()):
		return fail(pprof, clash, "pprof", profiles, "live")
	}
	return nil
}

// Warnings lists what an operator should read of a switch before it runs.
func (c *Switch) Warnings() []string {
	return append(open(c.MetricsAddress(), c.Live.Address()), c.losslessCNPs()...)
}

// losslessCNPs warns if the CNPs' priority is lossless, at all ports or at some.
func (c *Switch) losslessCNPs() (lines []string) {
	all, _ := c.PFC.lossless() // Resolve has seen all of it
	dscp := dataplane.DefaultDSCP()
	_ = priorities(c.DSCP, dscp[:], "DSCP")
	warn := func(where string, lossless uint8, prio uint8) {
		if lossless>>prio&1 != 0 {
			lines = append(lines, fmt.Sprintf("warning: %spriority %d is lossless, and DSCP %d gives it to CNPs: they wait where its data are paused, and senders go on as fast as before (`dscp_to_priority: {%d: 7}`, or other lossless priorities)", where, prio, cnpDSCP, cnpDSCP))
		}
	}
	warn("", all, dscp[cnpDSCP])
	for i, p := range c.Ports {
		if p.Lossless == nil && p.DSCP == nil {
			continue
		}
		lossless, own := all, dscp
		if p.Lossless != nil {
			lossless, _ = PFC{Priorities: p.Lossless}.lossless()
		}
		_ = priorities(p.DSCP, own[:], "DSCP")
		warn(fmt.Sprintf("port %d: ", i), lossless, own[cnpDSCP])
	}
	return lines
}

// Warnings lists what an operator should read of an agent.
func (c *Agent) Warnings() []string { return open(c.MetricsAddress(), c.Live.Address()) }

// open warns of listeners on all addresses: all who reach any interface of the machine can ask them.
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
