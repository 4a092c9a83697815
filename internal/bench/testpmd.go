package main

import (
	"fmt"
	"strings"
)

// testpmd is DPDK's own forwarder: one engine, no table.
type testpmd struct {
	*process
	ports int
}

func startTestpmd(engine string) func(testCase, string) (contestant, error) {
	return func(c testCase, dir string) (contestant, error) {
		others, polling, err := cores()
		if err != nil {
			return nil, err
		}
		args := []string{"-l", fmt.Sprintf("%d,%d", others, polling), "--main-lcore", fmt.Sprint(others), "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
			"--file-prefix", "bench-" + engine, "-m", "512"}
		for i := range c.Ports {
			args = append(args, "--vdev", c.device(i))
		}
		args = append(args, "--", "-i", "--forward-mode="+engine, "--nb-cores=1", "--total-num-mbufs=32768", "--no-lsc-interrupt", fmt.Sprintf("--txpkts=%d", c.Bytes))
		// Without hugepages DPDK gives every buffer that is shorter than a page a
		// page of its own, and all of them compete for one set of the first-level
		// cache. Longer ones do not: testpmd is three times as fast with them.
		args = append(args, "--mbuf-size=4100", "--mbcache=128")
		p, err := startProcess("stdbuf", append([]string{"-oL", "dpdk-testpmd"}, args...)...)
		if err != nil {
			return nil, err
		}
		t := &testpmd{p, c.Ports}
		start := "start"
		if c.Vdev == "net_ring" {
			start = fmt.Sprintf("start tx_first %d", ringFrames/32)
		}
		if err := p.say(start); err != nil {
			return nil, err
		}
		if _, err := p.expect("packet forwarding - ports"); err != nil {
			return nil, err
		}
		return t, nil
	}
}

// ringFrames are sent around in each net_ring.
const ringFrames = 128

// device is the specification of port i's device.
func (c testCase) device(i int) string {
	if c.Vdev == "net_null" {
		return fmt.Sprintf("net_null%d,size=%d", i, c.Bytes)
	}
	return fmt.Sprintf("%s%d", c.Vdev, i)
}

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
	return "its own buffers; it looks at no field", t.end()
}
