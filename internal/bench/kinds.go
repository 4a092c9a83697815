package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// kind is what the frames are like, and what the switch has to do with them.
type kind struct {
	name    string
	lossy   bool   // of priority 1, which is lossy; else of 3, which is not
	ipv6    bool   // in place of IPv4
	tagged  bool   // ports with an even number are access ports, the others trunks
	routed  bool   // by their IP address
	all     bool   // of all priorities
	mixed   bool   // of several lengths
	workers int    // of which each has a core; 0: one
	yaml    string // what a user would write into the switch's file for it, beside VLANs and routes
	notOVS  string // why Open vSwitch cannot do it
}

var kinds = []*kind{
	{name: "plain"},
	{name: "lossy", lossy: true},
	{name: "ipv6", ipv6: true},
	{name: "tagged", tagged: true},
	{name: "routed", routed: true},
	{name: "routed6", routed: true, ipv6: true},
	{
		name: "dynamic", yaml: "pfc: {alpha: 0.125}\n",
		notOVS: "it has no shared buffer of which thresholds could be a part",
	},
	{
		name: "prio8", all: true, yaml: "pfc: {priorities: [1, 2, 3, 4]}\n",
		notOVS: "its ports on DPDK have one queue for all priorities",
	},
	{name: "mix", mixed: true},
	{name: "workers2", workers: 2, yaml: "dpdk: {workers: 2}\n"},
}

func kindOf(name string) (*kind, error) {
	i := slices.IndexFunc(kinds, func(k *kind) bool { return k.name == name })
	if i < 0 {
		return nil, fmt.Errorf("-kinds %s: there are %s", name, allKinds())
	}
	return kinds[i], nil
}

func allKinds() string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return strings.Join(names, ",")
}

// threads is how many receive and send.
func (k *kind) threads() int { return max(1, k.workers) }

// bridges reports whether frames go by their Ethernet address, which is learned.
func (k *kind) bridges() bool { return !k.routed }

// testCase is one line of the table.
type testCase struct {
	*kind
	Vdev  string
	Bytes int // of a frame; of a mix on average
	Ports int

	sockets string // folder of the sockets of memif ports
}

// device is the specification of port i's device.
func (c testCase) device(i int) string {
	if c.Vdev == "net_memif" {
		return fmt.Sprintf("net_memif%d,role=client,id=%d,rsize=12,socket-abstract=no,socket=%s", i, i, memifSocket(c.sockets))
	}
	return fmt.Sprintf("%s%d", c.Vdev, i)
}

// memifSocket is where the generator listens.
func memifSocket(dir string) string { return filepath.Join(dir, "memif") }

func (c testCase) String() string {
	return fmt.Sprintf("%s, %s, %d bytes, %d ports", c.name, c.Vdev, c.Bytes, c.Ports)
}

// parseCases makes the cases of lists: plain frames are of all lengths, others of the first.
func parseCases(names, vdevs, sizes, ports string) (cases []testCase, err error) {
	var lengths, numbers []int
	for s := range strings.SplitSeq(sizes, ",") {
		n := 0
		if _, err := fmt.Sscan(s, &n); err != nil || n < 64 || n > 1514 {
			return nil, fmt.Errorf("-bytes %s: it is from 64 to 1514", s)
		}
		lengths = append(lengths, n)
	}
	for p := range strings.SplitSeq(ports, ",") {
		n := 0
		if _, err := fmt.Sscan(p, &n); err != nil || n != 2 && n != 4 {
			return nil, fmt.Errorf("-ports %s: it is 2 or 4", p)
		}
		numbers = append(numbers, n)
	}
	devices := strings.Split(vdevs, ",")
	for _, v := range devices {
		if v != "net_null" && v != "net_ring" {
			return nil, fmt.Errorf("-vdev %s: it is net_null or net_ring", v)
		}
	}
	for name := range strings.SplitSeq(names, ",") {
		k, err := kindOf(name)
		if err != nil {
			return nil, err
		}
		if k.workers > 1 { // frames for the other worker's ports come back, and are two of three
			cases = append(cases, testCase{kind: k, Vdev: "net_ring", Bytes: lengths[0], Ports: 4})
			continue
		}
		for _, v := range devices {
			for _, p := range numbers {
				for i, n := range lengths {
					if c := (testCase{kind: k, Vdev: v, Bytes: n, Ports: p}); k.name == "plain" || i == 0 {
						if k.mixed {
							c.Bytes = c.mean()
						}
						cases = append(cases, c)
					}
				}
			}
		}
	}
	return cases, nil
}
