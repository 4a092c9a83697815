package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a NIC cannot do is said before anything starts.
func TestNICConfigurationErrors(t *testing.T) {
	const good = "role: nic\nport: {device: net_null0}\napplication:\n  device: net_null1\n"
	for text, want := range map[string]string{
		good + "  mtu: 9200\nscheme: {name: hpcc}\n":                                        ":4: application: mtu 9200: the scheme adds 122 bytes",
		good + "  flows: 70000\nscheme: {name: tcd+timely}\n":                               ":4: application: room for 70000 sent flows: echoes tell 65536 apart",
		good + "  match: [{port: 5201, tenant: gold}]\n":                                    ":5: there is no tenant \"gold\"",
		good + "  match: [{protocol: sctp}]\n":                                              ":5: protocol \"sctp\": tcp, udp, or a number",
		good + "  match: [{port: 70000}]\n":                                                 ":5: port 70000: from 1 to 65535",
		good + "  match: [{port: 5, qp: 6}]\n":                                              ":5: a flow is named by ports or by a queue pair",
		good + "  match: [{to: 10.0.0.1/24}]\n":                                             ":5: prefix 10.0.0.1/24 has bits beyond its length",
		good + "  match: [{weight: 0}]\n":                                                   ":5: weight 0: from 1 to 255",
		good + "  match: [{port: 5, rate: 0bps}]\n":                                         ":5: rate 0bps must be positive",
		good + "tenants: [{name: gold, weight: 300}]\n":                                     ":5: tenant gold: weight 300",
		good + "np_delay: -1us\n":                                                           ":5: delay -1us must not be negative",
		good + "ip: 10.0.0.1\n":                                                             ":5: ip: a NIC has no address",
		good + "flows:\n- to: 10.0.0.1\n":                                                   ":6: flows: a NIC sends and receives nothing",
		good + "pfc: {alpha: 0.5}\n":                                                        ":5: alpha: a NIC has no shared buffer",
		good + "payload: 100B\n":                                                            ":5: payload: a NIC",
		good + "  full: burst\n":                                                            ":5: full \"burst\": hold or drop",
		good + "  ecn: yes\n":                                                               ":5: ecn \"yes\": clear or keep",
		good + "  dscp: 64\n":                                                               ":5: DSCP 64",
		good + "  mtu: -9\n":                                                                ":5: mtu -9 must be from 46 to 9216",
		good + "  flow_queue: 5000\n":                                                       ":4: application: a queue of 4096 frames in all",
		"role: nic\nport: {device: net_null0}\n":                                            ":1: a NIC needs a port for applications",
		"role: nic\nport: {device: net_null0}\napplication: {device: net_null0}\n":          ":3: device net_null0 is used twice",
		"role: nic\nport: {device: net_null0}\napplication: {device: 0000:03:00.0}\n":       ":3: application: device 0000:03:00.0: a virtual device",
		"role: router\nport: {device: net_null0}\nip: 10.0.0.1\n":                           ":1: role \"router\": sender, receiver, both or nic",
		"role: sender\nport: {device: net_null0}\nip: 10.0.0.1\nreceive: 5\n":               ":4: receive: a sender takes no flows",
		"role: receiver\nport: {device: net_null0}\nip: 10.0.0.1\nflows:\n- to: 10.0.0.2\n": ":5: flows: a receiver sends none",
		"port: {device: net_null0}\nip: 10.0.0.1\napplication: {device: net_null1}\n":       ":3: application: only an agent with `role: nic`",
	} {
		file := filepath.Join(t.TempDir(), "agent.yaml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		root := newRoot()
		root.SetArgs([]string{"agent", "-c", file})
		if err := root.Execute(); err == nil || !strings.HasPrefix(err.Error(), file+want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
		if code := run([]string{"agent", "-c", file}); code != exitBadInput {
			t.Errorf("exit code %d", code)
		}
	}
}
