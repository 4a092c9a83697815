package main

import (
	"fmt"
	"strings"
)

// testpmdBurst is how many frames testpmd takes from a port at a time. It has 32 unless told otherwise.
var testpmdBurst = 32

// testpmd is DPDK's own forwarder: one engine, no table.
type testpmd struct {
	*process
	ports int
}

func startTestpmd(engine string) func(testCase, string, []string) (contestant, error) {
	return func(c testCase, dir string, environment []string) (contestant, error) {
		others, polling, err := cores()
		if err != nil {
			return nil, err
		}
		// The first logical core talks, the others poll; the last of them where a single one does.
		lcores := fmt.Sprintf("0@%d", others)
		for i := range c.threads() {
			lcores += fmt.Sprintf(",%d@%d", i+1, []int{polling, others}[i])
		}
		args := []string{"--lcores", lcores, "--main-lcore", "0", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
			"--file-prefix", "bench-" + engine, "-m", "512"}
		for i := range c.Ports {
			args = append(args, "--vdev", c.device(i))
		}
		args = append(args, "--", "-i", "--forward-mode="+engine, fmt.Sprintf("--nb-cores=%d", c.threads()),
			"--total-num-mbufs=32768", "--no-lsc-interrupt")
		// Without hugepages DPDK gives every buffer that is shorter than a page a
		// page of its own, and all of them compete for one set of the first-level
		// cache. Longer ones do not: testpmd is three times as fast with them.
		args = append(args, "--mbuf-size=4100", "--mbcache=128")
		args = append(args, fmt.Sprintf("--burst=%d", testpmdBurst))
		p, err := startProcess(environment, "stdbuf", append([]string{"-oL", "dpdk-testpmd"}, args...)...) // it is spoken with through pipes
		if err != nil {
			return nil, err
		}
		t := &testpmd{p, c.Ports}
		if err := p.say("start"); err != nil {
			return nil, err
		}
		if _, err := p.expect("packet forwarding - ports"); err != nil {
			return nil, err
		}
		return t, nil
	}
}

func (t *testpmd) begin() error { return nil }

func (t *testpmd) forwarded() (sum uint64, err error) {
	if err := t.say("show port stats all"); err != nil {
		return 0, err
	}
	for range t.ports {
		l, err := t.expect("TX-packets:")
		if err != nil {
			return 0, err
		}
		var n uint64
		_, after, _ := strings.Cut(l, "TX-packets:")
		if _, err := fmt.Sscan(after, &n); err != nil {
			return 0, fmt.Errorf("%q: %w", l, err)
		}
		sum += n
	}
	return sum, nil
}

func (t *testpmd) finish() (string, error) {
	if err := t.say("stop\nquit"); err != nil {
		return "", err
	}
	return "between pairs of ports; it looks at no field", t.end()
}
