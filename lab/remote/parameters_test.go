package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"photon/config"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/pfc"
	"photon/telemetry/node"
	"photon/units"
	"photon/wire"
)

// treeText is an experiment in which every kind of link is used, on a tree: from each host one way leads to each other.
var treeText = strings.NewReplacer(
	"kind: star, hosts: 3", "kind: clos, pods: 2, tors: 1, leafs: 1, spines: 1, hosts: 2",
	"S0>H2", "T1>H2",
).Replace(twoIntoOne)

// otherwise are parameters of an experiment, each with another value, and what else that needs.
var otherwise = map[string]string{
	"link_rate": "40Mbps", "host_delay": "2ms", "trunk_delay": "2us", "payload": "900B", "mtu": "2000B", "priority": "4",
	"xoff": "17KB", "buffer": "5MB", "xon": "11KB", "trunk_rate": "30Mbps", "core_rate": "30Mbps", "core_delay": "2us",
	"overhead": "20", "lossless": "[3, 4]", "lossy_queue": "2MB", "lossy_alpha": "0.5", "lossy_ingress": "100KB",
	"flow_control": "credits\n  lane_buffer: 16KB", "lane_buffer": "17KB\n  flow_control: credits",
	"credit_period": "1ms\n  lane_buffer: 16KB\n  flow_control: credits",
	"credit_update": "2KB\n  lane_buffer: 16KB\n  flow_control: credits",
	"np_delay":      "1us", "pause_delay": "2us", "start_phase": "1ms", "alpha": "0.125",
	"alpha_by_rate": "true\n  alpha: 0.125\n  trunk_rate: 40Mbps", "ack_each": "true", "ack_priority": "5",
	"paths": "round_robin", "flowlet_gap": "50us\n  paths: flowlet", "entropy": "packet",
	"recovery": "selective", "window": "8\n  recovery: selective", "reorder": "2\n  recovery: selective",
	"ack_timeout": "50ms", "low_timeout": "1ms\n  recovery: selective", "low_packets": "2\n  low_timeout: 1ms\n  recovery: selective",
}

// Without events and without flows that wait, which testbeds refuse, and where one way leads to each host, these change
// nothing (ways: TestWaysOfATestbed).
var idle = []string{"signal_delay", "convergence", "path_weights"}

// everywhere is what a testbed makes of an experiment: the files of all its nodes, and the starts of its flows.
func everywhere(t *testing.T, text string) (string, error) {
	t.Helper()
	e, err := experiment.Parse("tree.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := Check(e, &bed{}); err != nil {
		return "", err
	}
	p, flows, err := testbedPlan(e, 1)
	if err != nil {
		return "", err
	}
	b, all := newRun(e, p, flows), ""
	for i, node := range p.Nodes {
		known := e.Known(p, flows, 0)
		s, err := schemeIn(e.Schemes[0], known)
		if err != nil {
			t.Fatal(err)
		}
		devices := make([]string, len(node.Ends))
		for k := range devices {
			devices[k] = fmt.Sprintf("net_ring%d", k)
		}
		text, err := b.config(i, known, s, devices, "/tmp/admin", false, units.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		all += text
	}
	for _, f := range flows.All() {
		all += f.Start.String() + "\n"
	}
	return all, nil
}

// Whatever an experiment says of its network reaches the nodes of a testbed, or it is refused.
func TestEveryParameterReachesATestbed(t *testing.T) {
	usual, err := everywhere(t, treeText)
	if err != nil {
		t.Fatal(err)
	}
	kind := reflect.TypeFor[experiment.Parameters]()
	for i := range kind.NumField() {
		name := kind.Field(i).Tag.Get("yaml")
		value, there := otherwise[name]
		switch {
		case strings.Contains(strings.Join(idle, " "), name):
			continue
		case !there:
			t.Errorf("parameter %s: does it reach a testbed?", name)
			continue
		}
		head, tail, _ := strings.Cut(treeText, "parameters:\n")
		var kept []string
		for _, line := range strings.Split(tail, "\n") {
			replaced := strings.HasPrefix(line, "  "+name+":")
			threshold := strings.HasPrefix(line, "  xoff:") || strings.HasPrefix(line, "  xon:")
			paused := threshold && strings.Contains(value, "credits") // credits stand in their place
			if !replaced && !paused {
				kept = append(kept, line)
			}
		}
		text := head + "parameters:\n  " + name + ": " + value + "\n" + strings.Join(kept, "\n")
		if got, err := everywhere(t, text); err == nil && got == usual {
			t.Errorf("%s: %s changes nothing of any node of a testbed, and is not refused", name, value)
		}
	}
	impaired := treeText + "impair:\n  - {link: H0>T0, rules: [{do: lose, frames: data, rate: 0.01}]}\n"
	if got, err := everywhere(t, impaired); err == nil && got == usual {
		t.Error("impair changes nothing of any node of a testbed, and is not refused")
	}
}

// Agents that run already keep their acknowledgements: too few are refused, more are remarked.
func TestAcknowledgementsOfAgentsThatRun(t *testing.T) {
	const each = "parameters:\n  ack_each: true\n"
	for _, c := range []struct {
		scheme, parameters string
		every              int
		refused, remarked  string
	}{
		{"none", "parameters:\n", 0, "", ""},
		{"none", "parameters:\n", 32, "", "H0: one packet in 32 asks for an acknowledgement, in the experiment the last of a flow alone"},
		{"timely", "parameters:\n", 32, "", ""}, // which has them all acknowledged
		{"none", each, 1, "", ""},
		{"none", each, 32, "H0: its agent has one packet in 32 acknowledged, the experiment every one (`ack_every: 1`)", ""},
		{"none", each, 0, "H0: its agent has the last packet of a flow acknowledged, the experiment every one (`ack_every: 1`)", ""},
	} {
		text := strings.Replace(twoIntoOne, "parameters:\n", c.parameters, 1)
		e, err := experiment.Parse("two.yaml", []byte(strings.Replace(text, "[none]", "["+c.scheme+"]", 1)))
		if err != nil {
			t.Fatal(err)
		}
		b := &bed{set: func(_ string, f *fake) {
			if !f.info.Switch {
				f.info.AckEvery = c.every
			}
		}}
		r, err := Start(context.Background(), e, b, e.Schemes[0], 1)
		switch {
		case c.refused != "":
			if err == nil || !strings.HasPrefix(err.Error(), c.refused) {
				t.Errorf("%+v: %v", c, err)
			}
		case err != nil:
			t.Errorf("%+v: %v", c, err)
		default:
			notes := r.Notes()
			if c.remarked == "" && len(notes) > 0 || c.remarked != "" && (len(notes) != 2 || !strings.HasPrefix(notes[0], c.remarked)) {
				t.Errorf("%+v: %q", c, notes)
			}
		}
	}
}

// So they do their times: each that differs from the experiment's, and matters to the host, is remarked.
func TestTimesOfAgentsThatRun(t *testing.T) {
	for _, c := range []struct {
		parameters string
		info       node.Info
		remarked   []string // of the first sender
		receiver   bool     // the same is remarked of the receiver
	}{
		{"", node.Info{}, nil, false}, // it says nothing
		{"", node.Info{AckTimeout: 67 * units.Millisecond}, nil, false},
		{"", node.Info{AckTimeout: 5 * units.Millisecond},
			[]string{"H0: its ack_timeout is 5ms, the experiment's 67ms"}, false},
		{"  ack_timeout: 5ms\n", node.Info{AckTimeout: 5 * units.Millisecond}, nil, false},
		{"", node.Info{AckTimeout: 67 * units.Millisecond, NPDelay: 10 * units.Microsecond},
			[]string{"H0: its np_delay is 10us, the experiment's 0ps"}, true},
		{"  np_delay: 10us\n  pause_delay: 2us\n", node.Info{AckTimeout: 67 * units.Millisecond},
			[]string{"H0: its np_delay is 0ps, the experiment's 10us",
				"H0: its pause_delay is 0ps, the experiment's 2us"}, true},
	} {
		text := strings.Replace(twoIntoOne, "parameters:\n", "parameters:\n"+c.parameters, 1)
		e, err := experiment.Parse("two.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		b := &bed{set: func(_ string, f *fake) {
			if !f.info.Switch {
				f.info.AckTimeout = c.info.AckTimeout
				f.info.NPDelay, f.info.PauseDelay = c.info.NPDelay, c.info.PauseDelay
			}
		}}
		r, err := Start(context.Background(), e, b, e.Schemes[0], 1)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		var want []string
		for _, host := range []string{"H0", "H1", "H2"} {
			for _, remark := range c.remarked {
				if host != "H2" || c.receiver {
					want = append(want, strings.Replace(remark, "H0", host, 1))
				}
			}
		}
		if got := r.Notes(); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", c.parameters, got, want)
		}
	}
}

// So they do the priorities of what is not data, and switches what they hold of lossy ones.
func TestLossyPrioritiesOfNodesThatRun(t *testing.T) {
	right := node.Info{
		Priorities: &node.Priorities{Ack: 6, CNP: 6}, LossyQueue: units.MB, LossyIngress: make([]units.Size, 3),
	}
	wrong := node.Info{
		Priorities: &node.Priorities{Ack: 0, CNP: 5}, LossyQueue: 200_000, LossyIngress: []units.Size{0, 50_000, 0},
	}
	for _, c := range []struct {
		parameters string
		info       node.Info
		remarked   []string // of H2 and S0
	}{
		{"", node.Info{}, nil}, // they say nothing
		{"", right, nil},
		{"", wrong, []string{
			"S0: a queue of a lossy priority holds 200KB, the experiment's 1MB",
			"S0: the limit of lossy frames that came through toH1 is 50KB, the experiment's none",
			"H2: the priority of its acknowledgements is 0, the experiment's 6",
			"H2: the priority of its CNPs is 5, the experiment's 6",
		}},
		{"  ack_priority: 5\n  lossy_queue: 2MB\n  lossy_ingress: 50KB\n", right, []string{
			"S0: a queue of a lossy priority holds 1MB, the experiment's 2MB",
			"S0: the limit of lossy frames that came through toH0 is none, the experiment's 50KB",
			"S0: the limit of lossy frames that came through toH1 is none, the experiment's 50KB",
			"S0: the limit of lossy frames that came through toH2 is none, the experiment's 50KB",
			"H2: the priority of its acknowledgements is 6, the experiment's 5",
		}},
	} {
		text := strings.Replace(twoIntoOne, "parameters:\n", "parameters:\n"+c.parameters, 1)
		e, err := experiment.Parse("two.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		b := &bed{set: func(name string, f *fake) {
			if f.info.Switch {
				f.info.LossyQueue, f.info.LossyIngress = c.info.LossyQueue, c.info.LossyIngress
			} else if name == "H2" {
				f.info.Priorities = c.info.Priorities
			}
		}}
		r, err := Start(context.Background(), e, b, e.Schemes[0], 1)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if got := r.Notes(); !slices.Equal(got, c.remarked) {
			t.Errorf("%q: %q, want %q", c.parameters, got, c.remarked)
		}
	}
}

// What a switch that runs already does besides is remarked. A shaper that is as fast as the link, or of a priority that
// the experiment does not use, is none.
func TestWhatSwitchesDoBesides(t *testing.T) {
	e, err := experiment.Parse("two.yaml", []byte(twoIntoOne))
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{set: func(name string, f *fake) {
		if f.info.Switch {
			f.info.Besides = []string{"its ports share headroom", "its priorities have weights"}
			f.info.Shapers = make([][pfc.Classes]units.Rate, 3)
			f.info.Shapers[0] = [pfc.Classes]units.Rate{1: units.Mbps, 3: 20 * units.Mbps, 6: 30 * units.Mbps}
		}
	}}
	r, err := Start(context.Background(), e, b, e.Schemes[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"S0: its ports share headroom, unlike the experiment's", "S0: its priorities have weights, unlike the experiment's",
	}
	if got := r.Notes(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Recipes know the same network on a testbed as in virtual time: by its hops and packets Swift's windows go, and by
// the hosts' line the thresholds of a switch whose fastest port is another's.
func TestSchemesOfATestbedKnowItsNetwork(t *testing.T) {
	text := strings.Replace(twoIntoOne, "[none]", "[swift]", 1)
	e, err := experiment.Parse("two.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b := &bed{}
	if _, err := Start(context.Background(), e, b, e.Schemes[0], 1); err != nil {
		t.Fatal(err)
	}
	for name, f := range b.nodes {
		if f.schemes != 1 || f.scheme.Network == nil {
			t.Errorf("%s: it was given its scheme %d times, with %+v", name, f.schemes, f.scheme)
			continue
		}
		var got node.Network // as it comes out at the other end
		if sent, err := json.Marshal(f.scheme.Network); err != nil || json.Unmarshal(sent, &got) != nil {
			t.Fatal(err)
		}
		want := node.Network{
			Line: 20 * units.Mbps, Rates: []units.Rate{20 * units.Mbps},
			RTT: 4 * units.Millisecond, Hops: 2, LongFlows: 2,
			Packet: 14 + 20 + 8 + 12 + 1000 + 4 + 24, // headers, payload, ICRC; preamble, gap and FCS
			// The packet on the second link, and the acknowledgement, four bytes longer than its headers, on both.
			PathRTT: 4*units.Millisecond + (20 * units.Mbps).Serialize(1082+2*(58+4+24)),
		}
		want.Seed = got.Seed
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: it knows %+v, not %+v", name, got, want)
		}
	}
	if b.nodes["H0"].scheme.Network.Seed == b.nodes["H1"].scheme.Network.Seed {
		t.Error("two nodes draw the same numbers")
	}
}

// The file of every node is one that photon takes: its ports, their cables, what waits there, and the way to each host.
func TestFilesOfNodesAreConfigurations(t *testing.T) {
	text := strings.Replace(treeText, "[none]", "[{name: dcqcn, params: {kmin: 7KB, kmax: 90KB, min_rate: 2Mbps}}]", 1)
	e, err := experiment.Parse("tree.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, flows, err := testbedPlan(e, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := newRun(e, p, flows)
	for i, n := range p.Nodes {
		known := e.Known(p, flows, 0)
		s, err := schemeIn(e.Schemes[0], known)
		if err != nil {
			t.Fatal(err)
		}
		devices, file := make([]string, len(n.Ends)), filepath.Join(t.TempDir(), "node.yaml")
		for k := range devices {
			devices[k] = fmt.Sprintf("net_ring%d", k)
		}
		text, err := b.config(i, known, s, devices, filepath.Join(t.TempDir(), "admin"), false, units.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var ports []config.Port
		var use config.Scheme
		if n.Host {
			c, err := config.ReadAgent(file)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			use = c.Scheme
			if ports = []config.Port{c.Port}; c.Payload.V != e.Parameters.Payload.Value.V || c.IP.V != topology.IP(i) {
				t.Errorf("%s: payload %v, address %v", n.Name, c.Payload.V, c.IP.V)
			}
		} else {
			c, err := config.ReadSwitch(file)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			r, err := c.Resolve(nil)
			if err != nil {
				t.Fatal(err)
			}
			ports, use = c.Ports, c.Scheme
			if got := r.Config.PFC[3]; got.XOFF != e.Parameters.XOFF.Value.V || got.XON != e.Parameters.XON.Value.V {
				t.Errorf("%s: xoff %v, xon %v", n.Name, got.XOFF, got.XON)
			}
			ways := map[wire.MAC]int{}
			for _, entry := range r.Config.Static {
				ways[entry.MAC] = int(entry.Ports[0])
			}
			for _, h := range p.Hosts() {
				if end := n.Ends[ways[topology.MAC(h, 0)]]; end.Node != p.Path(i, h)[0].Node {
					t.Errorf("%s: %s is looked for at %s", n.Name, p.Nodes[h].Name, p.Nodes[end.Node].Name)
				}
			}
			if len(ways) != len(p.Hosts()) {
				t.Errorf("%s: ways to %d hosts of %d", n.Name, len(ways), len(p.Hosts()))
			}
		}
		if use.Name.V != "dcqcn" || use.Params["kmin"].V != "7KB" || use.Params["kmax"].V != "90KB" {
			t.Errorf("%s: %+v", n.Name, use)
		}
		if len(ports) != len(n.Ends) {
			t.Fatalf("%s: %d ports of %d", n.Name, len(ports), len(n.Ends))
		}
		for k, port := range ports {
			rate, delay := n.Ends[k].Link.Rate, n.Ends[k].Link.Delay
			if n.Host {
				delay = 0 // it has no headroom
			}
			if port.Device.V != devices[k] || port.Rate.V != rate || port.CableDelay.V != delay {
				t.Errorf("%s: port %d: %+v", n.Name, k, port)
			}
		}
	}
}
