package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"photon/dataplane"
	"photon/marking"
	"photon/pfc"
	"photon/units"
)

const twoPorts = "ports:\n- device: net_null0\n- device: net_null1\n"

// What classes and buffer say arrives in the switch's configuration.
func TestClassesAndBuffer(t *testing.T) {
	c := parse(t, twoPorts+"weights: {0: 40, 1: 60}\nlossy_alpha: 0.5\npfc: {alpha: 0.25, xoff: 100KB}\n")
	n, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &n.Config
	if s.Weights != [8]int{40, 60} || s.Share != 0.5 || s.PFC[3].Alpha != 0.25 || s.PFC[3].XOFF != 100*units.KB {
		t.Errorf("%+v", s)
	}
	for _, want := range []string{
		"scheduler: strict 7, 6, 5, 4, 3, 2; what they leave is shared by 1 (60 %), 0 (40 %)",
		"lossy queues: up to 0.5 of what is free of the shared buffer",
	} {
		if !slices.Contains(n.Describe(), want) {
			t.Errorf("nobody says %q:\n%s", want, strings.Join(n.Describe(), "\n"))
		}
	}
}

// What is said of queues counts for all ports, and what a port says of its own more.
func TestQueuesOfPorts(t *testing.T) {
	c := parse(t, "ports:\n- {device: net_null0, queues: {0: {wred: {pmax: 0.5, drop: false}}, 1: {wred: {kmin: 5KB, kmax: 9KB}}}}\n- device: net_null1\nqueues: {0: {wred: {kmin: 100KB, kmax: 400KB}}}\n")
	n, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	curve := func(kmin, kmax units.Size, pmax float64) (p marking.WREDParams) {
		p.Kmin, p.Kmax, p.Pmax = kmin, kmax, pmax
		return p
	}
	own := curve(100*units.KB, 400*units.KB, 0.5)
	own.NoDrop = true
	var want [2][8]dataplane.QueueConfig
	want[0][0].WRED, want[0][1].WRED, want[1][0].WRED = own, curve(5*units.KB, 9*units.KB, 0.1), curve(100*units.KB, 400*units.KB, 0.1)
	for i, p := range n.Config.Ports {
		if p.Queues != want[i] {
			t.Errorf("port %d: %+v", i, p.Queues)
		}
	}
	for _, line := range []string{
		"ports 0, queue 0: wred from 100KB to 400KB, at most 0.5, marks ECN-capable frames and drops none",
		"ports 1, queue 0: wred from 100KB to 400KB, at most 0.1, marks ECN-capable frames and drops others",
	} {
		if !slices.Contains(n.Describe(), line) {
			t.Errorf("nobody says %q:\n%s", line, strings.Join(n.Describe(), "\n"))
		}
	}
}

// What lossy frames may take of the buffer is said for all ports and queues, and of one.
func TestLimitsOfLossyFrames(t *testing.T) {
	n, err := parse(t, "ports:\n- {device: net_null0, lossy_ingress: {limit: 100KB}, queues: {0: {alpha: 0}, 1: {min: 50KB}}}\n- device: net_null1\n"+
		"lossy_alpha: 0.5\nlossy_ingress: {limit: 1MB, alpha: 2}\nqueues: {0: {alpha: 0.25, min: 20KB}}\n").Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := &n.Config.Ports[0], &n.Config.Ports[1]
	if a.LossyLimit != 100*units.KB || a.LossyAlpha != 2 || b.LossyLimit != units.MB || b.LossyAlpha != 2 {
		t.Errorf("%+v, %+v", a, b)
	}
	for i, want := range [2][8]dataplane.QueueConfig{{{Alpha: dataplane.NoAlpha, Min: 20 * units.KB}, {Min: 50 * units.KB}}, {{Alpha: 0.25, Min: 20 * units.KB}}} {
		if got := n.Config.Ports[i].Queues; got != want {
			t.Errorf("port %d: %+v", i, got)
		}
	}
	without, err := parse(t, twoPorts).Resolve(nil)
	if err != nil || n.Config.Buffer != without.Config.Buffer+90*units.KB {
		t.Errorf("a buffer of %v, and of %v without a min, %v", n.Config.Buffer, without.Config.Buffer, err)
	}
	for _, line := range []string{
		"ports 0, queue 0: no limit by what is free of the shared buffer; 20KB set aside", "ports 1, queue 0: up to 0.25 of what is free of the shared buffer; 20KB set aside",
		"ports 0, queue 1: 50KB set aside", "port 0: at most 100KB of lossy frames, lossy frames up to 2 of what is free of the shared buffer",
	} {
		if !slices.Contains(n.Describe(), line) {
			t.Errorf("nobody says %q:\n%s", line, strings.Join(n.Describe(), "\n"))
		}
	}
}

// Ports may share their headroom, and it is said by how much that is less than what they may need.
func TestSharedHeadroom(t *testing.T) {
	const four = twoPorts + "- device: net_null2\n- device: net_null3\n"
	for text, want := range map[string]struct {
		pool, buffer units.Size
		says         string
	}{
		"headroom_pool: 250KB":                              {250 * units.KB, 4650 * units.KB, "headroom pool 250KB, of which ports and priorities may take 800KB together: over-subscribed 3.2 times"},
		"over_subscribe_ratio: 2":                           {400 * units.KB, 4800 * units.KB, "headroom pool 400KB, of which ports and priorities may take 800KB together: over-subscribed 2 times"},
		"over_subscribe_ratio: 100":                         {100 * units.KB, 4500 * units.KB, "headroom pool 100KB, of which ports and priorities may take 800KB together: over-subscribed 8 times"},
		"headroom_pool: 1MB":                                {units.MB, 5400 * units.KB, "headroom pool 1MB, of which ports and priorities take 800KB at most: not over-subscribed"},
		"headroom_pool: 250KB, watchdog: {action: forward}": {250 * units.KB, 4650 * units.KB, ""},
	} {
		n, err := parse(t, four+"pfc: {priorities: [3, 4], xoff: 50KB, headroom: 100KB, "+text+"}\n").Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if s := &n.Config; s.Headroom != want.pool || s.Buffer != want.buffer || s.Ports[0].Headroom != 100*units.KB || want.says != "" && !slices.Contains(n.Describe(), want.says) {
			t.Errorf("%s: %v, buffer %v\n%s", text, s.Headroom, s.Buffer, strings.Join(n.Describe(), "\n"))
		}
	}
}

// Who makes the priority of CNPs lossless is told what it means.
func TestLosslessCNPsAreTold(t *testing.T) {
	const note = "  note: CNPs, which have DSCP 48 by default, are of priority 6, too: a pause holds them up"
	for text, want := range map[string]bool{"": false, "pfc: {priorities: [3, 6]}\n": true, "pfc: {priorities: [3, 6]}\ndscp_to_priority: {48: 7}\n": false} {
		n, err := parse(t, twoPorts+text).Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if said := slices.Contains(n.Describe(), note); said != want {
			t.Errorf("%q: %s", text, strings.Join(n.Describe(), "\n"))
		}
	}
}

// The headroom is the sum of its causes; a cable's length counts, and a card's
// transmit ring.
func TestHeadroomByCause(t *testing.T) {
	headroom := func(port string) (units.Size, []string) {
		t.Helper()
		n, err := parse(t, "rate: 10Gbps\npfc: {response: 10us}\nports:\n- "+port+"\n- device: net_null1\n").Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		return n.Config.Ports[0].Headroom, n.Describe()
	}
	// Three frames of 1542 bytes on the wire, a PFC frame of 84, 67 quanta, 2 x 500 ns and 10 us at 1.25 GB/s; and all of
	// that in frames of 84 bytes on the wire, each of which takes a cell of 200.
	inCells := func(bytes units.Size) units.Size { return (bytes*200 + 83) / 84 }
	short, lines := headroom("device: net_null0")
	if want := inCells(3*1542 + 84 + 67*64 + 1250 + 12500); short != want {
		t.Errorf("headroom %v, want %v", short, want)
	}
	if want := "  computed: frames 4.626KB, XOFF 84B, peer's response 4.288KB, cable 1.25KB, own response 12.5KB, transmit ring 0B, MAC and PHY 0B, cells 31.414KB"; !slices.Contains(lines, want) {
		t.Errorf("nobody says %q:\n%s", want, strings.Join(lines, "\n"))
	}
	if long, _ := headroom("{device: net_null0, cable_length: 1100m}"); long-short != inCells(2*6250) {
		t.Errorf("1000 m more of cable are %v", long-short)
	}
	// A card is given two frames of 1542 bytes and 10 us ahead, and has a MAC and a PHY.
	card, lines := headroom("device: '0000:03:00.0'")
	if ring := (card-short)*84/200 - 819; ring < 15_000 || ring > 16_000 || !strings.Contains(lines[2], ", MAC and PHY 819B") {
		t.Errorf("a card's ring is %v\n%s", ring, lines[2])
	}
	for port, was := range map[string]units.Size{"device: net_null0": short, "device: '0000:03:00.0'": card - inCells(819)} {
		n, err := parse(t, "rate: 10Gbps\npfc: {response: 10us, mac_phy_delay: 2KB}\nports:\n- "+port+"\n- device: net_null1\n").Resolve(nil)
		if err != nil || max(n.Config.Ports[0].Headroom-was-inCells(2000), was+inCells(2000)-n.Config.Ports[0].Headroom) > 1 {
			t.Errorf("%s: headroom %v, want %v", port, n.Config.Ports[0].Headroom, was+inCells(2000))
		}
	}
	jumbo, err := parse(t, "rate: 10Gbps\nmtu: 9000\npfc: {response: 10us}\nports:\n- device: net_null0\n- device: net_null1\n").Resolve(nil)
	if err != nil || jumbo.Config.Ports[0].Headroom != short+inCells(3*7500) {
		t.Errorf("headroom for frames of 9000 bytes %v, %v", jumbo.Config.Ports[0].Headroom, err)
	}
	n, err := parse(t, twoPorts+"pfc: {headroom: 5KB}\n").Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(n.Describe(), "\n"); !strings.Contains(all, "warning: headroom 5KB is less than what port 0 needs") {
		t.Error(all)
	}
}

func TestSwitchRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"pfc: {deadlock: -1ms}":              "4: deadlock -1ms must not be negative",
		"weights: {8: 1}":                    "4: weights: priority 8: there are 0 to 7",
		"weights: {1: 0}":                    "4: weights: 0 must be from 1 to 100 (leave priority 1 out and it is strict)",
		"weights: {1: 101}":                  "4: weights: 101 must be from 1 to 100 (leave priority 1 out and it is strict)",
		"scheme: {name: hpcc}\nrate: 30Gbps": "4: scheme hpcc: telemetry cannot name a link's rate of 30Gbps (it can 10Mbps, 100Mbps, 1Gbps, 2.5Gbps, 5Gbps, 10Gbps, 20Gbps, 25Gbps, 40Gbps, 50Gbps, 100Gbps, 200Gbps, 400Gbps, 800Gbps)",
		"ports:\n- {device: net_null0, rate: 100Gbps}\n- {device: net_null1, rate: 56Gbps}\nscheme: {name: powertcp}": "4: scheme powertcp: telemetry cannot name a link's rate of 56Gbps (it can 10Mbps, 100Mbps, 1Gbps, 2.5Gbps, 5Gbps, 10Gbps, 20Gbps, 25Gbps, 40Gbps, 50Gbps, 100Gbps, 200Gbps, 400Gbps, 800Gbps)",
		"queues: {8: {wred: {kmin: 1KB, kmax: 2KB}}}":                                                                 "4: queues: priority 8: there are 0 to 7",
		"queues: {3: {wred: {kmin: 1KB, kmax: 2KB}}}":                                                                 "4: queues: priority 3 is lossless, and marked as `scheme:` says: wred is for lossy ones",
		"queues: {0: {wred: {kmin: 1KB}}}":                                                                            "4: wred: kmin and kmax belong here, both",
		"queues: {0: {wred: {pmax: 0.5}}}":                                                                            "4: wred: kmin and kmax belong here, both",
		"queues: {0: {wred: {kmin: 3KB, kmax: 2KB}}}":                                                                 "4: wred: kmax 2KB is below kmin 3KB",
		"queues: {0: {wred: {kmin: 1KB, kmax: 2KB, pmax: 2}}}":                                                        "4: wred: pmax 2 is not a probability (0 to 1)",
		"queues: {0: {wred: {kmin: -1KB, kmax: 2KB}}}":                                                                "4: wred: kmin -1KB must not be negative",
		"queues: {0: {wred: {kmin: 0B, kmax: 0B}}}":                                                                   "4: wred: kmax 0B must be positive",
		"queues: {0: {wred: {kmin: 1MB, kmax: 2MB}}}":                                                                 "4: wred: kmin 1MB is no less than 1MB, beyond which the queue takes nothing: it would do nothing",
		"queues: {0: {wred: {kmin: 1KB, kmax: 2KB, ecn: false, drop: false}}}":                                        "4: wred: ecn and drop are both off: it would do nothing",
		"trust: cos":                                                                "4: trust \"cos\": dscp, pcp or none",
		"default_priority: 8":                                                       "4: default_priority 8: there are 0 to 7",
		"priority_to_pcp: {3: 8}":                                                   "4: priority_to_pcp: 3 to 8: there are priorities and code points 0 to 7",
		"queues: {3: {shaper: {rate: 1bps}}}":                                       "4: shaper: rate 1bps: two of the longest frames would take longer than 1000s",
		"pfc: {priorities: [3, 3]}":                                                 "4: priority 3 is named twice",
		"live: {listen: 127.0.0.1:9464}":                                            "4: live: 127.0.0.1:9464 is the address of metrics already",
		"pprof: 127.0.0.1:9464":                                                     "4: pprof: 127.0.0.1:9464 is the address of metrics already",
		"live: {listen: 127.0.0.1:9471}\npprof: 127.0.0.1:9471":                     "5: pprof: 127.0.0.1:9471 is the address of live already",
		"queues: {3: {shaper: {burst: 10KB}}}":                                      "4: shaper: a burst needs a rate",
		"queues: {3: {shaper: {rate: -1Gbps}}}":                                     "4: shaper: rate -1Gbps must be positive (0bps: none)",
		"queues: {3: {shaper: {rate: 1Gbps, burst: 1545B}}}":                        "4: shaper: burst 1.545KB is less than the longest frame, 1.546KB on the wire: it could not leave",
		"queues: {3: {shaper: {rate: 1Mbps, burst: 200MB}}}":                        "4: shaper: burst 200MB is more than 1000s of 1Mbps",
		"queues: {9: {shaper: {rate: 1Mbps}}}":                                      "4: queues: priority 9: there are 0 to 7",
		"queues: {3: {shaper: {rate: fast}}}":                                       `4: rate "fast": not a number with a unit (write it like 10Mbps)`,
		"ports:\n- {device: net_null0, shaper: {burst: 10KB}}\n- device: net_null1": "2: shaper: a burst needs a rate",
		"pfc: {headroom_pool: 0B}":                                                  "4: headroom_pool 0B must be positive (leave it out, and each port has its own headroom)",
		"pfc: {headroom: 100KB, headroom_pool: 90KB}":                               "4: headroom_pool 90KB is less than the headroom of a single priority, 100KB: its peer would overrun it",
		"pfc: {over_subscribe_ratio: 0.5}":                                          "4: over_subscribe_ratio 0.5 must be from 1 to 256",
		"pfc: {over_subscribe_ratio: 2, headroom_pool: 1MB}":                        "4: over_subscribe_ratio and headroom_pool say the same: leave one out",
		"lossy_ingress: {limit: 1500B}":                                             "4: lossy_ingress: limit 1.5KB is less than the longest frame, 1.518KB",
		"lossy_ingress: {alpha: 1025}":                                              "4: lossy_ingress: alpha 1025 must be from 0 to 1024",
		"queues: {0: {alpha: -1}}":                                                  "4: queues: alpha -1 must be from 0 to 1024",
		"queues: {0: {min: -1B}}":                                                   "4: queues: min -1B must not be negative",
		"queues: {3: {min: 10KB}}":                                                  "4: queues: priority 3 is lossless, and goes by `pfc:`: alpha and min are for lossy ones",
		"queues: {9: {min: 10KB}}":                                                  "4: queues: priority 9: there are 0 to 7",
		"queues: {0: {min: 1MB}}\nbuffer: 2MB\npfc: {xoff: 100KB, headroom: 100KB}": "5: the buffer is too small: xoff and headroom of the lossless priorities of 2 ports, and the min of queues, are 2.4MB, the buffer is 2MB",
		"queues: {0: {min: 200MB}}":                                                 "4: xoff and headroom of all ports and lossless priorities, and the min of queues, are 405.91225MB, and 262144 frame buffers hold 387.053568MB at most: the last XOFF would never be sent (a smaller xoff, or more by `dpdk: {frames: N}`, from the start)",
		"ports:\n- {device: net_null0, lossless: [], pause: true, lossy_ingress: {alpha: 1}}\n- device: net_null1": "2: lossy_ingress: a port that sends PAUSE discards nothing for want of room: none of its frames are lossy",
		"lossy_alpha: -1":    "4: lossy_alpha -1 must be from 0 to 1024",
		"lossy_queue: 1500B": "4: lossy_queue 1.5KB is less than the longest frame, 1.518KB",
		"buffer: -1MB":       "4: buffer -1MB must be positive",
		"buffer: 900000GB":   "4: buffer 900000GB: 262144 frame buffers hold 387.053568MB at most (a smaller one, or more by `dpdk: {frames: N}`, from the start)",
		"pfc: {xoff: 1B}":    "4: xoff 1B is less than the longest frame, 1.518KB: each would pause the peer",
		"pfc: {xoff: 1517B}": "4: xoff 1.517KB is less than the longest frame, 1.518KB: each would pause the peer",
		`name: "a\nb"`:       `4: name "a\nb": it is part of a file's name, and of lines: no slash, and nothing that cannot be seen`,
		"storm_control: {broadcast: {rate: 1000000001pps}}":                      `4: rate "1000000001pps": at most 1000000000pps or 1.6Tbps`,
		"storm_control: {multicast: {rate: 9223372036854775807pps}}":             `4: rate "9223372036854775807pps": at most 1000000000pps or 1.6Tbps`,
		"storm_control: {unknown_unicast: {rate: 1601Gbps}}":                     `4: rate "1601Gbps": at most 1000000000pps or 1.6Tbps`,
		"storm_control: {broadcast: {rate: 1Gpps}}":                              `4: rate "1Gpps": not a number of frames or bits per second (write it like 1000pps or 10Mbps)`,
		"router: {mac: 02:00:00:00:00:01, icmp: {rate: 9223372036854775807pps}}": `4: rate "9223372036854775807pps": at most 1000000000pps or 1.6Tbps`,
		"pfc: {watchdog: {detect: 1ns}}":                                         "4: watchdog: detect 1ns must be 1ms or more (leave `watchdog:` out for none)",
		"pfc: {watchdog: {detect: 0s}}":                                          "4: watchdog: detect 0ps must be 1ms or more (leave `watchdog:` out for none)",
		"pfc: {watchdog: {detect: 1ms, restore: 999us}}":                         "4: watchdog: restore 999us must be 1ms or more",
		"pfc: {watchdog: {detect: 1ms, restore: -400ms}}":                        "4: watchdog: restore -400ms must be 1ms or more",
		"rate: 0bps":                                        "4: rate 0bps must be positive, and at most 1.6Tbps",
		"rate: 2000Gbps":                                    "4: rate 2Tbps must be positive, and at most 1.6Tbps",
		"pfc: {mac_phy_delay: -1B}":                         "4: mac_phy_delay -1B must not be negative",
		"pfc: {headroom: -1B}":                              "4: headroom -1B must not be negative",
		"pfc: {pause: -1us}":                                "4: pause -1us must be positive (leave it out for the longest there is)",
		"pfc: {pause: 0s}":                                  "4: pause 0ps must be positive (leave it out for the longest there is)",
		"forwarding: {static: [{port: 0}]}":                 "4: a static address needs a mac (write it like {mac: 02:00:00:00:00:01, port: 0})",
		"router: {mac: 00:00:00:00:00:00}":                  "4: router: mac 00:00:00:00:00:00: no station has that address (leave it out, and it is the first port's)",
		"dpdk: {workers: 2}\nrouter: {paths: {by: queue}}":  "5: paths by queue: one worker must have all ports, or it does not know all queues",
		"sflow: {}":                                         `4: sflow: collector "": an address and a port belong here (write it like 10.0.0.9:6343)`,
		"sflow: {collector: 10.0.0.9:0}":                    `4: sflow: collector "10.0.0.9:0": an address and a port belong here (write it like 10.0.0.9:6343)`,
		"live: {listen: 127.0.0.1:99999}":                   `4: live: "127.0.0.1:99999" is not an address (write it like 127.0.0.1:9470; port 0 takes any that is free)`,
		"pprof: 127.0.0.1:99999":                            `4: pprof: "127.0.0.1:99999" is not an address (write it like 127.0.0.1:9470; port 0 takes any that is free)`,
		"name: " + strings.Repeat("n", 65):                  "4: name: 65 bytes, and 64 are the most: it is part of the path of a socket",
		"weights: {0x3: 1, 3: 2}":                           "4: key 3 is there twice: it is 3",
		"dscp_to_priority: {26: 3, 0x1a: 4}":                "4: key 0x1a is there twice: it is 26",
		"ports:\n- device: net_null0\n- device: net_bogus1": "3: device net_bogus1: there is no driver for such a device (net_af_packet0, net_tap0, net_memif0 and net_vhost0 have one)",
		"ports:\n- {device: net_null0, rate: 1Gbps}\n- {device: net_null1, delay: 10s}": "3: xoff and headroom of all ports and lossless priorities are 451.78957317GB, and 262144 frame buffers hold 387.053568MB at most: the last XOFF would never be sent (a shorter way to the peer, or more by `dpdk: {frames: N}`, from the start)",
		"forwarding: {age: 300ms}":                               "4: age 300ms must be 1s or more, whole seconds of which count, or 0s: addresses stay",
		"forwarding: {age: -1s}":                                 "4: age -1s must be 1s or more, whole seconds of which count, or 0s: addresses stay",
		"forwarding: {size: 0}":                                  "4: size 0 must be from 1 to 8388608 addresses",
		"forwarding: {size: 8388609}":                            "4: size 8388609 must be from 1 to 8388608 addresses",
		"metrics: 127.0.0.1:99999":                               `4: metrics "127.0.0.1:99999": not an address (write it like 127.0.0.1:9464, or off)`,
		"dscp_to_priority: {af31: 3}":                            "4: a whole number belongs here",
		"dscp_to_priority: {64: 3}":                              "4: DSCP 64: there are 0 to 63",
		"pcp_to_priority: {0: 8}":                                "4: priority 8: there are 0 to 7",
		"dpdk: {cores: [1, 1]}":                                  "4: core 1 is there twice: a worker needs one of its own",
		"ports: [{device: '0000:zz:00.0'}, {device: net_null1}]": `1: device "0000:zz:00.0": neither a PCI address (0000:03:00.0) nor a virtual device (net_af_packet0,iface=sw0)`,
		"ports: [{device: eth2}, {device: net_null1}]":           "1: device \"eth2\": write net_af_packet0,iface=eth2 for an interface of the kernel, or a card's PCI address (0000:03:00.0)",
		"pfc: {response: -1us}":                                  "4: response -1us: how long photon itself may take to see a PAUSE, 0 to 1s",
		"pfc: {response: 10s}":                                   "4: response 10s: how long photon itself may take to see a PAUSE, 0 to 1s",

		"ports:\n- device: net_null0\n- {device: net_null1, accept: tagged}":                                  "3: accept: without `vlans:` a switch takes all frames, with and without a tag",
		"ports:\n- {device: net_null0, accept: both}\n- device: net_null1":                                    `2: accept "both": all, tagged or untagged`,
		"ports:\n- {device: net_null0, pause: true}\n- device: net_null1":                                     "2: pause: PAUSE stops everything, so that a port that sends it has no lossless priorities (`lossless: []`)",
		"ports:\n- {device: net_null0, lossless: [], pause: true, asymmetric_pfc: true}\n- device: net_null1": "2: asymmetric_pfc: a port that sends PAUSE obeys PAUSE",
		"ports:\n- {device: net_null0, lossless: [8]}\n- device: net_null1":                                   "2: priority 8: there are 0 to 7",
		"ports:\n- {device: net_null0, mtu: 1501}\n- device: net_null1":                                       "2: mtu 1501 of a port must be from 46 to the switch's, 1500 (`mtu:` says what the longest is of all ports)",
		"ports:\n- {device: net_null0, trust: cos}\n- device: net_null1":                                      "2: trust \"cos\": dscp, pcp or none",
		"ports:\n- {device: net_null0, default_priority: -1}\n- device: net_null1":                            "2: default_priority -1: there are 0 to 7",
		"ports:\n- {device: net_null0, dscp_to_priority: {64: 3}}\n- device: net_null1":                       "2: DSCP 64: there are 0 to 63",
		"ports:\n- {device: net_null0, pcp_to_priority: {0: 8}}\n- device: net_null1":                         "2: priority 8: there are 0 to 7",
		"ports:\n- {device: net_null0, priority_to_pcp: {8: 0}}\n- device: net_null1":                         "2: priority_to_pcp: 8 to 0: there are priorities and code points 0 to 7",
		"ports:\n- device: net_null0\n- {device: ~, rate: }":                                                  "3: an item of this list is empty",
		"rate: 1bps":                           "4: scheme pcn: min_rate 1Mbps is above the line rate, 1bps (params: {min_rate: 1bps})",
		"rate: 1Tbps":                          "4: xoff and headroom of all ports and lossless priorities are 459.5912MB, and 262144 frame buffers hold 387.053568MB at most: the last XOFF would never be sent (a smaller xoff, or more by `dpdk: {frames: N}`, from the start)",
		"pfc: {priorities: [3, ~]}":            "4: an item of this list is empty",
		"vlans:\n- {id: 10, untagged: [null]}": "5: an item of this list is empty",
		"dpdk:\n  cores:\n  -":                 "6: an item of this list is empty",
		"lldp: {applications: [{}]}":           "4: an item of this list is empty",
		"forwarding:\n  static:\n  - {}":       "6: an item of this list is empty",
		"dscp_to_priority:\n  10: 3\n  11:":    "6: key 11 has no value",
		"weights: {0: ~}":                      "4: key 0 has no value",
		"queues: {~: {min: 20KB}}":             "4: a key is missing before the colon",
		"pfc: {mac_phy_delay: 9000000000GB}":   "4: 9000000000GB: at most 1000000GB",
		"pfc: {xoff: 9000000000GB}":            "4: 9000000000GB: at most 1000000GB",
		"queues: {0: {min: 9000000000GB}}":     "4: 9000000000GB: at most 1000000GB",
		"pfc: {watchdog: {detect: 9000000s}}":  "4: 9000000s: at most 4000000s",
		"pfc: {headroom_pool: 10GB}":           "4: xoff and headroom of all ports and lossless priorities are 10.001024GB, and 262144 frame buffers hold 387.053568MB at most: the last XOFF would never be sent (a smaller xoff, or more by `dpdk: {frames: N}`, from the start)",
		"pfc:\n  response: 10ms":               "5: xoff and headroom of all ports and lossless priorities are 453.180108MB, and 262144 frame buffers hold 387.053568MB at most: the last XOFF would never be sent (a smaller xoff, or more by `dpdk: {frames: N}`, from the start)",
		"pfc: {mac_phy_delay: 10GB}":           "4: xoff and headroom of all ports and lossless priorities are 361.434483678GB, and 262144 frame buffers hold 387.053568MB at most: the last XOFF would never be sent (a smaller xoff, or more by `dpdk: {frames: N}`, from the start)",

		"mtu: -9":                                 "4: mtu -9 must be from 46 to 9216",
		"mtu: 9217":                               "4: mtu 9217 must be from 46 to 9216",
		"mtu: 9217\nbuffer: 1MB":                  "4: mtu 9217 must be from 46 to 9216",
		"dpdk: {workers: 9999}":                   "4: 9999 workers for 2 ports: each port has one worker, so there are no more of them than ports",
		"dpdk: {workers: 3}":                      "4: 3 workers for 2 ports: each port has one worker, so there are no more of them than ports",
		"pfc: {xoff: 100GB}":                      "4: xoff and headroom of all ports and lossless priorities are 200.00488825GB, and 262144 frame buffers hold 387.053568MB at most: the last XOFF would never be sent (a smaller xoff, or more by `dpdk: {frames: N}`, from the start)",
		"pfc: {headroom: 1GB}":                    "4: xoff and headroom of all ports and lossless priorities are 2.001024GB, and 262144 frame buffers hold 387.053568MB at most: the last XOFF would never be sent (a smaller xoff, or more by `dpdk: {frames: N}`, from the start)",
		"buffer: 1GB":                             "4: buffer 1GB: 262144 frame buffers hold 387.053568MB at most (a smaller one, or more by `dpdk: {frames: N}`, from the start)",
		"pfc:\n  xoff: 2MB\ndpdk: {frames: 2048}": "6: frames 2048: rings of 2 ports and workers take 7168 of them, and the buffer needs some, too",
		"pfc:\n  xoff: 9MB\ndpdk: {frames: 8192}": "5: xoff and headroom of all ports and lossless priorities are 22.88825MB, and 8192 frame buffers hold 1.554432MB at most: the last XOFF would never be sent (a smaller xoff, or more by `dpdk: {frames: N}`, from the start)",

		"forwarding: {static: [{mac: '03:00:00:00:00:01', port: 1}]}":                                              "4: static entry 03:00:00:00:00:01: no station has that address",
		"forwarding: {static: [{mac: '00:00:00:00:00:00', port: 1}]}":                                              "4: static entry 00:00:00:00:00:00: no station has that address",
		"forwarding:\n  static:\n  - {mac: '02:00:00:00:00:01', port: 1}\n  - {mac: '02:00:00:00:00:01', port: 0}": "7: static entry 02:00:00:00:00:01 is there twice",
		"forwarding: {static: [{mac: '02:00:00:00:00:01'}]}":                                                       "4: static address 02:00:00:00:00:01: say behind which port it is (`port: 0`, or one of several: `ports: [0, 1]`)",
		twoPorts + "forwarding: {static: [{mac: '02:00:00:00:00:01', port: 0, ports: [1]}]}":                       "4: static address 02:00:00:00:00:01: say behind which port it is (`port: 0`, or one of several: `ports: [0, 1]`)",
		twoPorts + "forwarding: {static: [{mac: '02:00:00:00:00:01', ports: [0, 2]}]}":                             "4: static address 02:00:00:00:00:01: there is no port 2 (they count from 0 to 1)",
		"scheme: {priorities: [8]}":     "4: priority 8: there are 0 to 7",
		"scheme:\n  priorities: [0, 0]": "5: priority 0 is named twice",
		"queues: {0: {wred: {kmin: 20KB, kmax: 90KB}}}\nscheme: {priorities: [3, 0]}":             "5: scheme: priority 0 has WRED at port 0: one of them marks (take it out of the scheme's `priorities`, or `wred` out of `queues`)",
		"pfc:\n  xoff: 9KB\n  alpha: -1":                                                          "6: alpha -1 must be from 0 to 1024",
		"rate: 1Gbps\nports:\n- {device: net_null0, cable_length: 30}\n":                          `3: length "30": write it in metres, like 40m, up to 100000m`,
		"ports:\n- {device: net_null0, cable_length: 30m, cable_delay: 1us}\n- device: net_null1": "2: cable_length and cable_delay say the same: leave one out",
		"ports:\n- {device: net_null0, cable_delay: -1us}\n- device: net_null1":                   "2: cable_delay -1us must not be negative",
	} {
		if !strings.Contains(text, "ports:") {
			text = twoPorts + text
		}
		file := filepath.Join(t.TempDir(), "x.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSwitch(file); err == nil || err.Error() != file+":"+want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// What a file says of classes and addresses is what the switch gets.
func TestMapsAndAddresses(t *testing.T) {
	n, err := parse(t, twoPorts+`dscp_to_priority: {10: 5, 48: 7}
pcp_to_priority: {2: 6}
mtu: 9216
trust: pcp
forwarding: {age: 7s, size: 99, learn: false}
pfc: {watchdog: {detect: 1s, restore: 2s, action: forward}}
`).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := n.Config
	if s.DSCP[10] != 5 || s.DSCP[48] != 7 || s.DSCP[11] != 1 || s.Control != 7 || s.PCP != [8]uint8{0, 1, 6, 3, 4, 5, 6, 7} || s.Trust != dataplane.TrustPCP {
		t.Errorf("DSCP %v, PCP %v, PCP trusted %v, CNPs at %d", s.DSCP, s.PCP, s.Trust == dataplane.TrustPCP, s.Control)
	}
	if s.MTU != 9216 || s.Age != 7*units.Second || s.FDBSize != 99 || s.Learn {
		t.Errorf("mtu %d, age %v, size %d, learning %v", s.MTU, s.Age, s.FDBSize, s.Learn)
	}
	if (s.Watchdog != pfc.WatchdogConfig{Detect: units.Second, Restore: 2 * units.Second, Action: pfc.Forward}) {
		t.Errorf("%+v", s.Watchdog)
	}
}

// A lossless priority for CNPs gets a warning, wherever it comes from.
func TestLosslessCNPsAreWarnedOf(t *testing.T) {
	for text, prio := range map[string]string{
		"": "", "pfc: {priorities: [3, 6]}\n": "6", "pfc: {priorities: [3, 6]}\ndscp_to_priority: {48: 7}\n": "", "dscp_to_priority: {48: 3}\n": "3",
	} {
		if own := parse(t, "ports: [{device: net_null0, lossless: [6]}, {device: net_null1}]\n").Warnings(); len(own) != 1 || !strings.HasPrefix(own[0], "warning: port 0: priority 6 is lossless") {
			t.Errorf("%q", own)
		}
		w := strings.Join(parse(t, twoPorts+text).Warnings(), "\n")
		if (w != "") != (prio != "") || !strings.Contains(w, "warning: priority "+prio) && prio != "" {
			t.Errorf("%q: %q", text, w)
		}
	}
}

func TestAgentRefuses(t *testing.T) {
	const host = "port: {device: net_null0}\nip: 10.0.0.1\n"
	const nic = "role: nic\nport: {device: net_null0}\n"
	for text, want := range map[string]string{
		"port: {device: net_null0, shaper: {rate: 1Gbps}}\nip: 10.0.0.1\n":                          "1: shaper: the port of an agent has none of its own, a switch's may",
		"port: {device: net_null0}\nip: 10.0.0.1\nscheme: {priorities: [3]}\n":                      "3: scheme: priorities: all flows of an agent have it (a switch or a NIC has some)",
		"port: {device: net_null0, mtu: 1400}\nip: 10.0.0.1\n":                                      "1: mtu: the port of an agent has none of its own, a switch's may",
		"port: {device: net_null0, priority_to_pcp: {3: 5}}\nip: 10.0.0.1\n":                        "1: priority_to_pcp: the port of an agent has none of its own, a switch's may",
		"port:\n  device: net_null0\n  impair:\n    rules: [{do: lose, rate: 0.1}]\nip: 10.0.0.1\n": "4: impair: a port of a switch is impaired, an agent's is not",
		host + "np_delay: 9000000s":                                         "3: 9000000s: at most 4000000s",
		host + "pause_delay: 4000001s":                                      "3: 4000001s: at most 4000000s",
		host + "flows: [{to: 10.0.0.2, start: 9000000s}]":                   "3: 9000000s: at most 4000000s",
		host + "flows: [{to: 10.0.0.2, size: 1000001GB}]":                   "3: 1000001GB: at most 1000000GB",
		nic + "application: {device: net_tap0, age: 9000000s}":              "3: 9000000s: at most 4000000s",
		host + "data_dscp: 64":                                              "3: DSCP 64: there are 0 to 63",
		host + "cnp_dscp: -1":                                               "3: DSCP -1: there are 0 to 63",
		host + "ack_dscp: 64":                                               "3: DSCP 64: there are 0 to 63",
		host + "receive: -1":                                                "3: receive -1: from 0 to 1048576",
		host + "receive: 1048577":                                           "3: receive 1048577: from 0 to 1048576",
		host + "payload: 0B":                                                "3: payload 0B must be from 1B to 9KB",
		host + "flows: [{to: 10.0.0.2, qp: 0}]":                             "3: queue pair 0: there are 1 to 16777215 (without `qp`, its place in the list is taken)",
		host + "flows: [{to: 10.0.0.2, qp: 16777215, count: 2}]":            "3: queue pair 16777216: there are 1 to 16777215 (without `qp`, its place in the list is taken)",
		host + "flows: [{to: 10.0.0.2, count: 0}]":                          "3: count 0: from 1 to 1048576",
		host + "flows: [{to: 10.0.0.2, count: 2000000000}]":                 "3: count 2000000000: from 1 to 1048576",
		host + "flows: [{to: 10.0.0.2, size: -1KB}]":                        "3: size -1KB must not be negative (leave it out for an endless flow)",
		host + "flows: [{to: 10.0.0.2, size: 0B}]":                          "3: size 0B: a flow has something to send (leave it out for an endless flow)",
		host + "flows: [{to: 10.0.0.2, start: -1s}]":                        "3: start -1s must not be negative",
		host + "flows: [{to: 10.0.0.1}]":                                    "3: a flow to 10.0.0.1, the agent's own address",
		host + "ack_every: -1":                                              "3: ack_every -1: from 0 (the last packet of a flow only) to 65536",
		host + "ack_timeout: 0s":                                            "3: ack_timeout 0ps: more than 0s, at most 8796s",
		host + "ack_timeout: 9000s":                                         "3: ack_timeout 9000s: more than 0s, at most 8796s",
		host + "retries: 0":                                                 "3: retries 0: from 1 to 100",
		host + "retries: 101":                                               "3: retries 101: from 1 to 100",
		host + "recovery: sack":                                             `3: recovery "sack": go_back_n or selective`,
		host + "window: 9":                                                  "3: window: that is of selective repeat (`recovery: selective`)",
		host + "recovery: selective\nwindow: 0":                             "4: window 0: from 1 to 65536 packets",
		host + "entropy: port":                                              `3: entropy "port": one of flow, packet, flowlet`,
		host + "entropy: flowlet":                                           "3: entropy: flowlet needs a flowlet_gap (write it like `flowlet_gap: 50us`)",
		host + "entropy: packet":                                            "3: entropy: packet: packets then overtake each other, which only selective repeat allows (`recovery: selective`)",
		host + "entropy: flowlet\nflowlet_gap: 5us":                         "3: entropy: flowlet: packets then overtake each other, which only selective repeat allows (`recovery: selective`)",
		host + "flowlet_gap: 5us":                                           "3: flowlet_gap: that is of `entropy: flowlet`",
		nic + "application: {device: net_tap0}\nentropy: packet":            "4: entropy: a NIC sends and receives nothing of its own (role: both does)",
		host + "low_timeout: 1ms":                                           "3: low_timeout: that is of selective repeat (`recovery: selective`)",
		host + "recovery: selective\nlow_packets: 2":                        "4: low_packets: for so many there is a low_timeout (write it like `low_timeout: 100us`)",
		host + "recovery: selective\nlow_timeout: 68ms":                     "4: low_timeout 68ms: more than 0s, at most ack_timeout, 67ms",
		host + "recovery: selective\nlow_timeout: 1ms\nlow_packets: 0":      "5: low_packets 0: from 1 packet to the window, 512",
		nic + "application: {device: net_tap0}\nlow_timeout: 1ms":           "4: low_timeout: a NIC sends and receives nothing of its own (role: both does)",
		host + "recovery: selective\nreorder: 513":                          "4: reorder 513: from 1 packet to the window, 512",
		nic + "application: {device: net_tap0}\nrecovery: selective":        "4: recovery: a NIC sends and receives nothing of its own (role: both does)",
		nic + "application: {device: net_tap0}\nack_every: 1":               "4: ack_every: a NIC sends and receives nothing of its own (role: both does)",
		nic + "application: {device: net_tap0}\nretries: 1":                 "4: retries: a NIC sends and receives nothing of its own (role: both does)",
		host + "pfc: {response: -1ms}":                                      "3: response -1ms: how long photon itself may take to see a PAUSE, 0 to 1s",
		"port: {device: net_null0}\nip: 224.0.0.1":                          "2: ip 224.0.0.1: that is no address of a host",
		"port: {device: net_null0}\nip: '::'":                               "2: ip ::: that is no address of a host",
		"port: {device: net_null0}\nip: 255.255.255.255":                    "2: ip 255.255.255.255: that is no address of a host",
		host + "flows: [{to: 255.255.255.255}]":                             "3: to 255.255.255.255: that is no address of a host",
		host + "flows: [{to: 224.0.0.1}]":                                   "3: to 224.0.0.1: that is no address of a host",
		host + "flows: [{to: 0.0.0.0}]":                                     "3: to 0.0.0.0: that is no address of a host",
		host + "flows: [{to: 10.0.0.2, to_mac: 'ff:ff:ff:ff:ff:ff'}]":       "3: to_mac ff:ff:ff:ff:ff:ff: that is no address of a host (leave it out if the peer is an agent without a `mac`)",
		host + "flows: [{to: 10.0.0.2, to_mac: '01:00:5e:00:00:01'}]":       "3: to_mac 01:00:5e:00:00:01: that is no address of a host (leave it out if the peer is an agent without a `mac`)",
		host + "flows: [{to: 10.0.0.2, to_mac: '00:00:00:00:00:00'}]":       "3: to_mac 00:00:00:00:00:00: that is no address of a host (leave it out if the peer is an agent without a `mac`)",
		host + "gateway: {network: 10.0.0.0/24}":                            "3: gateway: the router's Ethernet address is missing (`mac:`, as `photon show routes` has it)",
		host + "gateway: {mac: '02:00:00:00:aa:aa'}":                        "3: gateway: which addresses are not behind it is missing (`network: 10.9.1.0/24`)",
		host + "gateway: {mac: '01:00:5e:00:00:01', network: 10.0.0.0/24}":  "3: gateway: mac 01:00:5e:00:00:01: that is no address of a router",
		host + "gateway: {mac: '02:00:00:00:aa:aa', network: 10.1.0.0/24}":  "3: gateway: network 10.1.0.0/24: the agent's own address, 10.0.0.1, is not in it",
		nic + "gateway: {mac: '02:00:00:00:aa:aa'}":                         "3: gateway: a NIC sends and receives nothing of its own (role: both does)",
		host + "mac: '01:00:5e:00:00:01'":                                   "3: mac 01:00:5e:00:00:01: that is no address of a host (leave it out for one that is made from the `ip`)",
		host + "mac: '00:00:00:00:00:00'":                                   "3: mac 00:00:00:00:00:00: that is no address of a host (leave it out for one that is made from the `ip`)",
		nic + "application: {device: net_tap0}\nmac: 'ff:ff:ff:ff:ff:ff'":   "4: mac ff:ff:ff:ff:ff:ff: that is no address of a host (leave it out for the port's own)",
		nic + "receive: -1\napplication: {device: net_tap0}":                "3: receive -1: from 0 to 1048576",
		nic + "application: {device: net_tap0, rate: -1Gbps}":               "3: rate -1Gbps must be positive, and at most 1.6Tbps",
		nic + "application: {device: net_tap0}\npfc: {mac_phy_delay: -1KB}": "4: mac_phy_delay -1KB must not be negative",
	} {
		file := filepath.Join(t.TempDir(), "x.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadAgent(file); err == nil || err.Error() != file+":"+want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// Devices are named as DPDK names them.
func TestDevices(t *testing.T) {
	for _, device := range []string{"0000:03:00.0", "03:00.1", "pci:0000:3b:1f.7,rx_vec_en=0", "auxiliary:mlx5_core.sf.8", "net_af_packet0,iface=eth0", "virtio_user0,path=/a"} {
		if err := (Port{Device: Set(device)}).check(); err != nil {
			t.Error(err)
		}
	}
}

// What has series in /metrics is checked, and is everything if nothing is said.
func TestSeries(t *testing.T) {
	dir := t.TempDir()
	read := func(name, text string) (Series, error) {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if name == "switch.yaml" {
			c, err := ReadSwitch(file)
			if err != nil {
				return Series{}, err
			}
			return c.Series, nil
		}
		c, err := ReadAgent(file)
		if err != nil {
			return Series{}, err
		}
		return c.Series, nil
	}
	const sw, host = "ports: [{device: net_null0}, {device: net_null1}]\n", "port: {device: net_null0}\nip: 10.0.0.1\n"
	for _, c := range []struct {
		name, text string
		priorities uint8
		flows      int
		err        string
	}{
		{"switch.yaml", sw, 0xFF, 0, ""},
		{"switch.yaml", sw + "series: {priorities: [3, 6]}\n", 0b01001000, 0, ""},
		{"agent.yaml", host + "series: {flows: 10}\n", 0xFF, 10, ""},
		{"switch.yaml", sw + "series: {priorities: [8]}\n", 0, 0, "switch.yaml:2: series: priority 8: there are 0 to 7"},
		{"agent.yaml", host + "series: {flows: 1000}\n", 0, 0, "agent.yaml:3: series: flows 1000: from 0 to 100 (photon show flows lists 100)"},
		{"switch.yaml", sw + "series: {flows: 3}\n", 0, 0, "switch.yaml:2: series: flows: a switch sends none, an agent does"},
	} {
		s, err := read(c.name, c.text)
		if err != nil || c.err != "" {
			if err == nil || err.Error() != filepath.Join(dir, c.err) {
				t.Errorf("%v, expected %s", err, c.err)
			}
			continue
		}
		if p, f := s.Bounds(); p != c.priorities || f != c.flows {
			t.Errorf("%s: priorities %b and %d flows", c.text, p, f)
		}
	}
}

// What DPDK would refuse at length, or take and do something else, is refused with its line.
func TestBadDPDK(t *testing.T) {
	for text, want := range map[string]string{
		"dpdk: {frames: -5}":             "x.yaml:4: frames -5 must be from 2048 to 16777216",
		"dpdk: {frames: 0}":              "x.yaml:4: frames 0 must be from 2048 to 16777216",
		"dpdk: {cores: [1, -3]}":         "x.yaml:4: core -3 must not be negative",
		"dpdk: {sleep: -1us}":            "x.yaml:4: sleep -1us must be from 0s to 100ms",
		"dpdk: {workers: 2, cores: [1]}": "x.yaml:4: 2 workers on 1 cores: name a core for each",
		"dpdk: {workers: -1}":            "x.yaml:4: -1 workers on 0 cores: name a core for each",
	} {
		c := &Switch{}
		if err := Decode("x.yaml", []byte(twoPorts+text+"\n"), c); err != nil {
			t.Fatal(err)
		}
		c.file = "x.yaml"
		if err := c.Check(); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
