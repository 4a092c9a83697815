package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// addFiles has a fuzz target begin with files that are right.
func addFiles(f *testing.F, patterns ...string) {
	f.Helper()
	for _, p := range patterns {
		files, err := filepath.Glob(p)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %v", p, err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
}

// refusal fails unless an error names the file, in one line.
func refusal(t *testing.T, err error) {
	t.Helper()
	if located := (*Error)(nil); !errors.As(err, &located) || !strings.HasPrefix(err.Error(), "x.yaml:") || strings.ContainsAny(err.Error(), "\n\r") {
		t.Fatalf("%T %q", err, err)
	}
}

// Whatever a switch's file says, it is refused with its name and in one line, or
// makes a switch of which all can be said and that a reload of the same file leaves alone.
func FuzzSwitch(f *testing.F) {
	addFiles(f, "../deploy/switch.yaml", "../deploy/testbed-82599/switch-*.yaml", "../deploy/demo/*switch*.yaml")
	f.Add([]byte(twoPorts + "vlans:\n- {id: 10, untagged: [0], tagged: [1]}\nroutes:\n- {prefix: \"::/0\", via: [{port: 1, vlan: 10, mac: 02:00:00:00:00:02}]}\n"))
	f.Add([]byte(twoPorts + "pfc: {priorities: [3, 4], alpha: 0.125, watchdog: {detect: 1ms, restore: 1ms, action: drop}, deadlock: 0s}\nstorm_control: {broadcast: {rate: 1pps, burst: 1}}\n"))
	f.Add([]byte(twoPorts + "scheme: {name: pacc}\nweights: {0: 1, 7: 100}\nlossy_alpha: 1\nforwarding: {static: [{mac: 02:00:00:00:00:01, port: 1}], age: 1s, flood: false}\ndpdk: {workers: 2, cores: [0, 1]}\n"))
	f.Add([]byte(twoPorts + "pfc: {over_subscribe_ratio: 1.5}\n"))
	f.Add([]byte(twoPorts + "lossy_ingress: {limit: 1MB, alpha: 0.5}\nqueues: {0: {alpha: 0, min: 10KB}}\n"))
	f.Add([]byte(twoPorts + "router: {addresses: [10.0.0.1], icmp: {rate: 10pps, burst: 2, dscp: 8}}\nroutes:\n- {prefix: 10.2.0.0/16, action: prohibit}\n- {prefix: 10.1.0.0/16, via: [{port: 1, mac: 02:00:00:00:00:02, mtu: 900}]}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		read := func() (*Switch, error) {
			c := &Switch{}
			if err := Decode("x.yaml", b, c); err != nil {
				return nil, err
			}
			c.file = "x.yaml"
			return c, c.Check()
		}
		c, err := read()
		if err != nil {
			refusal(t, err)
			return
		}
		n, err := c.Resolve(nil)
		if err != nil {
			t.Fatalf("checked, and then: %v", err)
		}
		if len(n.Describe()) == 0 || len(n.Config.Ports) != len(c.Ports) || len(n.Links) != len(c.Ports) {
			t.Fatalf("%d ports, %d in the file", len(n.Config.Ports), len(c.Ports))
		}
		for i, w := range n.Workers {
			if w < 0 || w >= c.Options().Workers && w > 0 {
				t.Fatalf("port %d is worker %d's of %d", i, w, c.Options().Workers)
			}
		}
		if o := c.Options(); n.Config.Frames()+c.worldBuffers() > o.Frames {
			t.Fatalf("%d frame buffers for a buffer that holds %d frames", o.Frames, n.Config.Frames())
		}
		again, err := read()
		if err != nil {
			t.Fatalf("read once, and then: %v", err)
		}
		if changes, err := c.Changes(again); err != nil || len(changes) > 0 {
			t.Fatalf("the same file changes %v: %v", changes, err)
		}
	})
}

// An agent's file is refused so too, or makes a host or a NIC.
func FuzzAgent(f *testing.F) {
	addFiles(f, "../deploy/agent-h*.yaml", "../deploy/nic.yaml", "../deploy/testbed-82599/agent-*.yaml")
	f.Add([]byte("ip: 10.0.0.1\nport: {device: net_null0}\ndpdk: {frames: -1, sleep: -1us}\n"))
	f.Add([]byte("port: {device: net_null0}\npfc:\n priorities: !a\n0 \n  -0")) // the YAML library panics
	f.Fuzz(func(t *testing.T, b []byte) {
		c := &Agent{}
		err := Decode("x.yaml", b, c)
		if err == nil {
			c.file = "x.yaml"
			err = c.Check()
		}
		if err != nil {
			refusal(t, err)
			return
		}
		if f := c.DPDK.Frames; f.IsSet() && f.V < leastFrames || c.DPDK.Sleep.V < 0 {
			t.Fatalf("%+v", c.DPDK)
		}
		if c.IsNIC() {
			n, err := c.ResolveNIC(nil)
			if err != nil || len(n.Describe()) == 0 {
				t.Fatal(err)
			}
			return
		}
		n, err := c.Resolve(nil)
		if err != nil || len(n.Describe()) == 0 || len(n.Flows) < len(c.Flows) {
			t.Fatalf("%d flows of %d: %v", len(n.Flows), len(c.Flows), err)
		}
	})
}
