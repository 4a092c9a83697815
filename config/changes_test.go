package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"photon/units"
)

const basis = `ports:
- device: net_null0
- device: net_null1
scheme: {name: dcqcn, params: {kmin: 10KB}}
pfc: {xoff: 100KB}
forwarding: {static: [{mac: "02:00:00:00:00:01", port: 1}]}
dscp_to_priority: {10: 3}
`

func parse(t *testing.T, text string) *Switch {
	t.Helper()
	file := filepath.Join(t.TempDir(), "switch.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := ReadSwitch(file)
	if err != nil {
		t.Fatal(err)
	}
	c.file = "switch.yaml"
	return c
}

// Each key that may change, changed, is named; and taking it back is too.
func TestChanges(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"", "", ""},
		{"kmin: 10KB", "kmin: 20KB", "scheme.params.kmin: 10KB -> 20KB"},
		{"kmin: 10KB", "pmax: 0.5", "scheme.params.kmin: 10KB -> (default), scheme.params.pmax: (default) -> 0.5"},
		{"{name: dcqcn, params: {kmin: 10KB}}", "{name: pacc}", "scheme.name: dcqcn -> pacc, scheme.params.kmin: 10KB -> (default)"},
		{"xoff: 100KB", "xoff: 200KB, xon: 1KB", "pfc.xoff: 100KB -> 200KB, pfc.xon: (default) -> 1KB"},
		{"xoff: 100KB", "xoff: 100KB, watchdog: {action: alert}", "pfc.watchdog: none -> there, pfc.watchdog.action: (default) -> alert"},
		{"port: 1}]", "port: 0}]", "forwarding.static[0].port: 1 -> 0"},
		{"port: 1}]", "port: 1}, {mac: '02:00:00:00:00:02', port: 0}], age: 5s", "forwarding.age: (default) -> 5s, forwarding.static: 1 -> 2"},
		{"{10: 3}", "{11: 4}", "dscp_to_priority.10: 3 -> (default), dscp_to_priority.11: (default) -> 4"},
		{"net_null1\n", "net_null1\n  cable_delay: 1us\n", "ports[1].cable_delay: (default) -> 1us"},
		{"scheme:", "vlans: [{id: 10, untagged: [0, 1]}]\nscheme:", "vlans: 0 -> 1"},
		{"scheme:", "router: {mac: '02:00:00:00:00:0f', addresses: [10.0.0.1]}\nscheme:", "router.mac: (default) -> 02:00:00:00:00:0f, router.addresses: (default) -> [10.0.0.1]"},
		{"scheme:", "routes: [{prefix: 10.0.0.0/24, via: [{port: 0, mac: '02:00:00:00:00:0e'}]}]\nscheme:", "routes: 0 -> 1"},
		{"scheme:", "storm_control: {broadcast: {rate: 10pps}}\nscheme:", "storm_control.broadcast.rate: (default) -> 10pps"},
		{"net_null1\n", "net_null1\n  storm_control: {unknown_unicast: {rate: 10Mbps, burst: 1MB}}\n", "ports[1].storm_control.unknown_unicast.rate: (default) -> 10Mbps, ports[1].storm_control.unknown_unicast.burst: (default) -> 1MB"},
		{"{static:", "{flood: false, static:", "forwarding.flood: (default) -> false"},
		{"scheme:", "buffer: 20MB\nlossy_queue: 2MB\ntrust: pcp\nscheme:", "buffer: (default) -> 20MB, lossy_queue: (default) -> 2MB, trust: (default) -> pcp"},
		{"net_null1\n", "net_null1\n  cable_length: 30m\n", "ports[1].cable_length: (default) -> 30"},
		{"scheme:", "weights: {0: 1}\nlossy_alpha: 0.5\nscheme:", "lossy_alpha: (default) -> 0.5, weights.0: (default) -> 1"},
		{"scheme:", "lossy_ingress: {limit: 1MB}\nqueues: {0: {alpha: 1, min: 9KB}}\nscheme:", "lossy_ingress.limit: (default) -> 1MB, queues.0.alpha: (default) -> 1, queues.0.min: (default) -> 9KB"},
		{"net_null1\n", "net_null1\n  lossy_ingress: {alpha: 1}\n  queues: {0: {min: 9KB}}\n", "ports[1].lossy_ingress.alpha: (default) -> 1, ports[1].queues.0.min: (default) -> 9KB"},
		{"xoff: 100KB", "xoff: 100KB, priorities: []", "pfc.priorities: (default) -> []"}, // which is none, and [3] is the default
		{"xoff: 100KB", "xoff: 100KB, priorities: [3, 4]", "pfc.priorities: (default) -> [3 4]"},
		{"net_null1\n", "net_null1\n  lossless: []\n", "ports[1].lossless: (default) -> []"},
		{"xoff: 100KB", "xoff: 100KB, headroom_pool: 3MB", "pfc.headroom_pool: (default) -> 3MB"},
		{"xoff: 100KB", "xoff: 100KB, over_subscribe_ratio: 2", "pfc.over_subscribe_ratio: (default) -> 2"},
		{"xoff: 100KB", "xoff: 100KB, alpha: 0.125", "pfc.alpha: (default) -> 0.125"},
		{"xoff: 100KB", "xoff: 100KB, mac_phy_delay: 1KB", "pfc.mac_phy_delay: (default) -> 1KB"},
		{"- device: net_null1\n", "- device: net_null1\n- device: net_null2\n", "ports[2]: none -> net_null2"},
		{"- device: net_null0\n", "- device: net_null2\n- device: net_null0\n", "ports[0]: none -> net_null2"},
		{"net_null1", "net_null2", "ports[1]: none -> net_null2, ports[1]: net_null1 -> none"},
		{"net_null0\n- device: net_null1", "net_null1\n- device: net_null0", "ports: net_null0 net_null1 -> net_null1 net_null0"},
	} {
		a, b := parse(t, basis), parse(t, strings.Replace(basis, c.from, c.to, 1))
		changes, err := a.Changes(b)
		var lines []string
		for _, l := range changes {
			lines = append(lines, l.String())
		}
		if got := strings.Join(lines, ", "); err != nil || got != c.want {
			t.Errorf("%v\n got %s\nwant %s", err, got, c.want)
		}
		if back, err := b.Changes(a); err != nil || len(back) != len(changes) {
			t.Errorf("back: %v, %v", back, err)
		}
		if SchemeChanged(changes) != strings.Contains(c.want, "scheme.") {
			t.Error("scheme:", changes)
		}
	}
}

// What cannot change is refused by name, with its line, all of it at once.
func TestWhatCannotChange(t *testing.T) {
	const what = "this cannot change while photon runs (restart it, or take it back): "
	for _, c := range []struct{ from, to, want string }{
		{"- device: net_null1\n", "- device: net_null1\n  rate: 2Gbps\n", "switch.yaml:4: " + what + "ports[1].rate: (default) -> 2Gbps"},
		{"scheme:", "mtu: 9000\nrate: 1Gbps\nscheme:", "switch.yaml:5: " + what + "rate: (default) -> 1Gbps, mtu: (default) -> 9000"},
		{"scheme:", "dpdk: {workers: 2, cores: [0, 1]}\nscheme:", "switch.yaml:4: " + what + "dpdk.workers: (default) -> 2, dpdk.cores: (default) -> [0 1]"},
		{"scheme:", "name: x\nscheme:", "switch.yaml:4: " + what + "name: (default) -> x"},
		{"{static:", "{size: 5, static:", "switch.yaml:6: " + what + "forwarding.size: (default) -> 5"},
	} {
		changes, err := parse(t, basis).Changes(parse(t, strings.Replace(basis, c.from, c.to, 1)))
		if err == nil || err.Error() != c.want || changes != nil {
			t.Errorf("\n got %v\nwant %s", err, c.want)
		}
	}
}

// Who writes down what is in force anyway changes nothing, and neither does who leaves it out again. That these values are
// in force is what the file says when it is resolved.
func TestWhatIsInForceIsNoChange(t *testing.T) {
	const written = `name: switch
mtu: 1500
history: {pauses: 1024, events: 256}
metrics: 127.0.0.1:9464
live: {listen: off}
pprof: off
dpdk: {workers: 1, hugepages: false, garbage: 256MB}
scheme:`
	text := strings.Replace(strings.Replace(basis, "scheme:", written, 1), "{static:", "{size: 16384, static:", 1)
	a, b := parse(t, basis), parse(t, text)
	for _, pair := range [][2]*Switch{{a, b}, {b, a}} {
		if changes, err := pair[0].Changes(pair[1]); err != nil || len(changes) != 0 {
			t.Errorf("%v, %v", changes, err)
		}
	}
	for _, c := range []*Switch{a, b} {
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if was, is := inForce(t, a), inForce(t, b); !reflect.DeepEqual(was, is) {
		t.Errorf("left out:\n%+v\nwritten down:\n%+v", was, is)
	}
}

// inForce is what a switch makes of the keys that TestWhatIsInForceIsNoChange writes down.
func inForce(t *testing.T, c *Switch) []any {
	t.Helper()
	node, err := c.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := metricsAddress(c.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	pprof, err := profiles(c.PProf)
	if err != nil {
		t.Fatal(err)
	}
	o := node.Config
	return []any{
		c.NodeName(), o.FDBSize, o.History, node.Links, node.Workers, metrics, pprof, c.Live.Address(),
		c.DPDK.GarbageLimit(), c.Options(),
	}
}

// Every key that is said to be reloadable is one.
func TestReloadableKeysExist(t *testing.T) {
	var keys []string
	var walk func(path string, v reflect.Type)
	walk = func(path string, v reflect.Type) {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice {
			v = v.Elem()
		}
		keys = append(keys, path)
		if v.Kind() == reflect.Struct && !v.Implements(reflect.TypeFor[setting]()) {
			for i := range v.NumField() {
				if name := v.Field(i).Tag.Get("yaml"); name != "" {
					walk(strings.TrimPrefix(path+"."+name, "."), v.Field(i).Type)
				}
			}
		}
	}
	walk("", reflect.TypeFor[Switch]())
	all := "," + strings.Join(keys, ",") + ","
	for _, r := range reloadable {
		if !strings.Contains(all, ","+r+",") {
			t.Errorf("there is no key %s", r)
		}
	}
}

// A watchdog is there with the values SONiC's example has, or as the file says.
func TestWatchdogConfiguration(t *testing.T) {
	none, usual := parse(t, basis), parse(t, strings.Replace(basis, "xoff: 100KB", "watchdog: {action: forward}", 1))
	for c, want := range map[*Switch]units.Time{none: 0, usual: 400 * units.Millisecond} {
		n, err := c.Resolve(nil)
		if err != nil || n.Config.Watchdog.Detect != want || n.Config.Watchdog.Restore != want {
			t.Errorf("%+v, %v", n.Config.Watchdog, err)
		}
	}
}
