package remote

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"photon/agent"
	"photon/config"
	"photon/dataplane"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/pfc"
	"photon/sim"
	"photon/telemetry/node"
	"photon/units"
	"photon/wire"
)

// unevenText has two ways between its hosts, one of which carries twice as much, and data that is lossy.
const unevenText = `id: test/uneven
title: two ways
duration: 20ms
worlds: [dpdk]
topology:
  kind: free
  nodes: [{name: A, host: true}, {name: B, host: true}, {name: T0}, {name: T1}, {name: C0}, {name: C1}]
  links:
  - {a: A, b: T0, rate: 20Mbps, delay: 1ms}
  - {a: B, b: T1, rate: 20Mbps, delay: 1ms}
  - {a: T0, b: C0, rate: 20Mbps, delay: 1us}
  - {a: T0, b: C1, rate: 20Mbps, delay: 1us}
  - {a: C0, b: T1, rate: 10Mbps, delay: 1us}
  - {a: C1, b: T1, rate: 20Mbps, delay: 1us}
parameters:
  link_rate: 20Mbps
  host_delay: 1ms
  trunk_delay: 1us
  payload: 1000B
  mtu: 1500B
  priority: 0
  lossless: [3]
  xoff: 16KB
  xon: 12KB
  buffer: 4MB
  alpha: 0.125
  lossy_alpha: 0.5
  recovery: selective
  window: 64
  low_timeout: 20ms
  path_weights: capacity
  PATHS
flows: [{name: all, from: A, to: B}]
schemes: [{name: dcqcn, params: {min_rate: 2Mbps}}]
measure: {sample: 1ms}
`

// uneven is the run of that experiment with a way to choose paths.
func uneven(t *testing.T, paths string) (*Run, *experiment.FlowList) {
	t.Helper()
	e, err := experiment.Parse("uneven.yaml", []byte(strings.Replace(unevenText, "PATHS", paths, 1)))
	if err != nil {
		t.Fatal(err)
	}
	p, flows, err := testbedPlan(e, 1)
	if err != nil {
		t.Fatal(err)
	}
	return newRun(e, p, flows), flows
}

// The files of switches have all ways to a host, those that carry more more often, share as much of their buffers as in
// virtual time, and have the scheme in the data's priority; those of agents repeat what is lost.
func TestWaysOfATestbed(t *testing.T) {
	for paths, want := range map[string]struct {
		paths   dataplane.Paths
		entropy string
	}{
		"paths: flow":                          {dataplane.Paths{}, ""},
		"entropy: packet":                      {dataplane.Paths{}, "packet"},
		"entropy: flowlet\n  flowlet_gap: 2ms": {dataplane.Paths{}, "flowlet"},
		"paths: random":                        {dataplane.Paths{By: dataplane.AtRandom}, ""},
		"paths: flowlet\n  flowlet_gap: 2ms": {
			dataplane.Paths{By: dataplane.ByFlowlet, Gap: 2 * units.Millisecond}, "",
		},
		"paths: round_robin\n  low_packets: 5":    {dataplane.Paths{By: dataplane.ByRoundRobin}, ""},
		"paths: queue\n  lossy_ingress: 100KB":    {dataplane.Paths{By: dataplane.ByQueue}, ""},
		"lossy_queue: 60KB\n  pause_delay: 300us": {dataplane.Paths{}, ""},
	} {
		b, flows := uneven(t, paths)
		for i, n := range b.plan.Nodes {
			known := b.e.Known(b.plan, flows, 0)
			s, err := schemeIn(b.e.Schemes[0], known)
			if err != nil {
				t.Fatal(err)
			}
			s.Priorities = pfc.Priorities(b.e.DataMask())
			var devices []string
			for k := range n.Ends {
				devices = append(devices, fmt.Sprintf("net_ring%d", k))
			}
			text, err := b.config(i, known, s, devices, "/tmp/admin", true, 3*units.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if n.Host {
				a := agentIn(t, text)
				if r := b.e.Parameters.Repeats(known); a.Selective == nil || *a.Selective != *r {
					t.Errorf("%s, %s: %v, not %v", paths, n.Name, a.Selective, r)
				}
				if got := a.Entropy; got != b.e.Parameters.SourcePorts() {
					t.Errorf("%s, %s: ports by %v", paths, n.Name, got)
				}
				continue
			}
			c := switchIn(t, text)
			if !c.NoUnknown || !c.NoBroadcast || !c.NoMulticast {
				t.Errorf("%s, %s: it floods, and links form a loop", paths, n.Name)
			}
			if c.Paths != want.paths || c.Judged != 1<<0|1<<3 || c.Lossless != 1<<3 {
				t.Errorf("%s, %s: paths %v, scheme in %08b, PFC in %08b", paths, n.Name, c.Paths, c.Judged, c.Lossless)
			}
			if c.Share != 0.5 || c.PFC[3].Alpha != 0.125 {
				t.Errorf("%s, %s: alphas %v and %v", paths, n.Name, c.Share, c.PFC[3].Alpha)
			}
			if got, want := c.Buffer-c.Reserved(), sharedInVirtualTime(t, b.e, n.Name); got != want {
				t.Errorf("%s, %s: %v are shared, in virtual time %v", paths, n.Name, got, want)
			}
			if n.Name == "T0" {
				checkWays(t, c, n, b.plan)
			}
		}
	}
}

// checkWays wants the way to B by C1, which carries twice as much as that by C0, to be there twice.
func checkWays(t *testing.T, c *dataplane.SwitchConfig, n topology.Node, p *topology.Plan) {
	t.Helper()
	ways := map[string]int{}
	for _, entry := range c.Static {
		if entry.MAC == topology.MAC(1, 0) {
			for _, port := range entry.Ports {
				ways[p.Nodes[n.Ends[port].Node].Name]++
			}
		}
	}
	if len(ways) != 2 || ways["C1"] != 2*ways["C0"] {
		t.Errorf("ways from T0 to B: %v", ways)
	}
}

// sharedInVirtualTime is how much of a switch's buffer is shared there.
func sharedInVirtualTime(t *testing.T, e *experiment.Experiment, name string) units.Size {
	t.Helper()
	n, err := build.Build(e, sim.New(), e.Schemes[0], 1, build.Observer{})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range n.Switches {
		if n.Plan.Nodes[i].Name == name {
			return s.(*dataplane.Switch).Buffer().Lossy
		}
	}
	t.Fatalf("there is no switch %s", name)
	return 0
}

func agentIn(t *testing.T, text string) *agent.Config {
	t.Helper()
	c, err := config.ParseAgent("agent.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	n, err := c.Resolve(nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return &n.Config
}

func switchIn(t *testing.T, text string) *dataplane.SwitchConfig {
	t.Helper()
	c, err := config.ParseSwitch("switch.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	n, err := c.Resolve(nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return &n.Config
}

// Nodes that run already have their ways, and what they repeat, in their files: they are refused where the experiment
// is about something else, and a remark says what differs besides.
func TestNodesThatRunHaveOtherWays(t *testing.T) {
	for _, c := range []struct {
		name, paths string
		set         func(name string, info *node.Info)
		refused     string
		remarked    []string
	}{
		{"as it is", "paths: flow", func(string, *node.Info) {}, "", nil},
		{"other paths", "paths: random", func(string, *node.Info) {},
			"T0: it chooses paths by flow, the experiment by random", nil},
		{"other flowlets", "paths: flowlet\n  flowlet_gap: 2ms",
			func(_ string, n *node.Info) { n.Paths = "flowlet after 1ms" },
			"T0: it chooses paths by flowlet after 1ms, the experiment by flowlet after 2ms", nil},
		{"an older photon", "paths: random", func(_ string, n *node.Info) { n.Paths = "" },
			"T0: it chooses paths by what it does not say, the experiment by random", nil},
		{"an older photon, by flow", "paths: flow",
			func(_ string, n *node.Info) { n.Paths, n.Entropy = "", "" }, "", nil},
		{"one source port", "entropy: packet", func(string, *node.Info) {},
			"A: its flows have UDP source ports by flow, the experiment's by packet", nil},
		{"floods", "paths: flow", func(name string, n *node.Info) { n.Floods = name == "C0" },
			"C0: it floods, and the experiment's links form a loop", nil},
		{"goes back", "paths: flow", func(_ string, n *node.Info) { n.Selective = "" },
			"A: it goes back to a packet that is missing, the experiment repeats what is lost", nil},
		{"another window", "paths: flow",
			func(_ string, n *node.Info) { n.Selective = "9 under way, lost when 1 behind have come" }, "",
			[]string{"A: it sends packets again so: 9 under way", "B: it sends packets again so: 9 under way"}},
		{"other alpha", "paths: flow", func(name string, n *node.Info) {
			if name == "T0" {
				n.Thresholds[0][3].Alpha = 0.25
			}
		},
			"T0: port toA: its thresholds move by alpha 0.25, the experiment's by 0.125", nil},
		{"other shares", "paths: flow", func(name string, n *node.Info) {
			if name == "C1" {
				n.LossyAlpha, n.Shared = 0, 9*units.MB
			}
		}, "", []string{"C1: its lossy_alpha is 0, the experiment's 0.5", "C1: 9MB of its buffer are shared"}},
	} {
		run, _ := uneven(t, c.paths)
		bed := &bed{set: func(name string, f *fake) {
			i := slices.IndexFunc(run.plan.Nodes, func(n topology.Node) bool { return n.Name == name })
			as(run, i, f)
			c.set(name, &f.info)
		}}
		r, err := Start(context.Background(), run.e, bed, run.e.Schemes[0], 1)
		switch {
		case c.refused != "":
			if err == nil || !strings.HasPrefix(err.Error(), c.refused) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if notes := r.Notes(); !slices.EqualFunc(notes, c.remarked, strings.HasPrefix) {
			t.Errorf("%s: %q, not %q", c.name, notes, c.remarked)
		}
		for name, n := range bed.nodes {
			if n.info.Switch != slices.Equal(n.scheme.Priorities, []int{0, 3}) {
				t.Errorf("%s, %s: the scheme is in priorities %v", c.name, name, n.scheme.Priorities)
			}
		}
	}
}

// as makes a node what the experiment has of it.
func as(run *Run, i int, f *fake) {
	p, info := &run.e.Parameters, &f.info
	known := run.e.Known(run.plan, run.all, 0)
	info.Rates, info.AckTimeout = nil, p.Patience()
	info.Paths, info.Entropy, info.Selective = "flow", "flow", p.Repeats(known).String()
	for _, end := range run.plan.Nodes[i].Ends {
		info.Rates = append(info.Rates, end.Link.Rate)
	}
	if !info.Switch {
		info.IP, info.MAC = topology.IP(i), topology.MAC(i, 0)
		return
	}
	info.LossyQueue, info.LossyAlpha, info.Shared = units.MB, 0.5, run.shared(i)
	for port := range info.Thresholds {
		info.Thresholds[port][3].Alpha = 0.125
	}
	clear(f.ports)
	for _, to := range run.plan.Endpoints() {
		var names []string
		for _, port := range run.routes.Ports(i, to) {
			names = append(names, info.Ports[port])
		}
		slices.Reverse(names) // a file may have them in another order
		f.ports[topology.MAC(to, 0).String()] = strings.Join(names, ",")
	}
}

// An agent sends to its router what leaves its network; and a host is behind the port where its Ethernet address is, or
// else behind those to which the longest prefix leads.
func TestHostsBehindRouters(t *testing.T) {
	network := netip.MustParsePrefix("10.1.0.0/16")
	from := &node.Info{Gateway: &node.Gateway{MAC: 0x02_00_00_00_aa_aa, Network: network}}
	where := map[string]string{
		"02:00:00:00:00:01": "a", "10.2.0.0/16": "b", "10.2.3.0/24": "c,d", "0.0.0.0/0": "e", "fd00::/8": "f",
	}
	for _, c := range []struct {
		mac       wire.MAC
		ip, ports string
		routed    bool
	}{
		{0x02_00_00_00_00_01, "10.1.9.9", "a", false}, {0x02_00_00_00_00_01, "10.2.9.9", "a", true},
		{0x02_00_00_00_00_02, "10.2.9.9", "b", true}, {0x02_00_00_00_00_02, "10.2.3.9", "c,d", true},
		{0x02_00_00_00_00_02, "10.9.3.9", "e", true}, {0x02_00_00_00_00_02, "fd00::9", "f", true},
		{0x02_00_00_00_00_02, "fe80::9", "", true},
	} {
		ip, err := wire.ParseIP(c.ip)
		if err != nil {
			t.Fatal(err)
		}
		to := &node.Info{MAC: c.mac, IP: ip}
		if got, there := whereIs(to, where); got != c.ports || there != (c.ports != "") {
			t.Errorf("%s is behind %q", c.ip, got)
		}
		want := c.mac
		if c.routed {
			want = from.Gateway.MAC
		}
		if got := nextHop(from, to); got != want {
			t.Errorf("what is for %s goes to %v", c.ip, got)
		}
		if got := nextHop(&node.Info{}, to); got != c.mac {
			t.Errorf("without a router what is for %s goes to %v", c.ip, got)
		}
	}
}

// Under a scheme that knows of shares, switches are told the weights and caps of flows, by addresses and by the queue
// pairs that agents then get for them; under others nobody is told.
func TestSharesOfATestbed(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer(
		`from: "H0,H1", to: H2}`, `from: "H0,H1", to: H2, weight: 4}`,
		"size: 50KB, start: 3ms}", "size: 50KB, start: 3ms}\n  - {name: capped, from: H1, to: H2, cap: 5Mbps}",
		"[none]", "[af-qcn, none]",
	).Replace(twoIntoOne)
	e, err := experiment.Parse("two.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range e.Schemes {
		b := &bed{}
		r, err := Start(context.Background(), e, b, use, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(context.Background(), func(float64) {}); err != nil {
			t.Fatal(err)
		}
		want := map[node.Share]bool{} // of the flows that agents were asked for
		for _, host := range []string{"H0", "H1"} {
			for i, f := range b.nodes[host].ordered.Flows {
				share := node.Share{From: b.nodes[host].info.IP, To: f.To, QP: f.QP, Weight: 4}
				switch {
				case i == 1 && host == "H0": // the short one is as all others
					continue
				case i == 1:
					share.Weight, share.Cap = 1, 5*units.Mbps
				}
				want[share] = true
			}
		}
		got := b.nodes["S0"].scheme.Shares
		if use.Name.V == "none" {
			want = nil
		}
		if len(got) != len(want) {
			t.Errorf("%s: %+v, not %+v", use.Name.V, got, want)
		}
		for _, s := range got {
			if !want[s] {
				t.Errorf("%s: nobody has the share %+v", use.Name.V, s)
			}
		}
		for _, host := range []string{"H0", "H1", "H2"} {
			if s := b.nodes[host].scheme; s.Shares != nil {
				t.Errorf("%s: %s is told of %+v", use.Name.V, host, s.Shares)
			}
		}
	}
}
