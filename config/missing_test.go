package config

import (
	"strings"
	"testing"
)

// An entry that lacks what it needs is named with its line.
func TestMissingHasItsLine(t *testing.T) {
	const ports = `ports:
- {device: net_ring0, rate: 10Gbps}
- {device: net_ring1, rate: 10Gbps}
scheme: {name: none}
`
	without := func(what, with string) string { return strings.Replace(ports, what, with, 1) }
	for text, want := range map[string]string{
		without("device: net_ring1, ", ""):                                 "x.yaml:3: a port needs a device",
		ports + "routes:\n- {via: [{address: 10.0.0.2}]}\n":                "x.yaml:6: a route needs a prefix",
		ports + "vlans:\n- {untagged: [0, 1]}\n":                           "x.yaml:6: a VLAN needs an id",
		ports + "lldp:\n  applications:\n  - {udp: 4791}\n":                "x.yaml:7: lldp: an application needs a priority",
		ports + "lldp:\n  applications:\n  - {priority: 3}\n":              "x.yaml:7: lldp: an application is named by one of",
		ports + "forwarding:\n  static:\n  - {mac: '02:00:00:00:00:01'}\n": "x.yaml:7: static address 02:00:00:00:00:01: say behind",
		ports + "queues:\n  0: {wred: {kmax: 20KB}}\n":                     "x.yaml:6: wred: kmin and kmax belong here, both",
		ports + "queues:\n  0: {wred: {kmin: 20KB}}\n":                     "x.yaml:6: wred: kmin and kmax belong here, both",
		ports + "sflow: {}\n":                                              "x.yaml:5: sflow: collector",
		ports + "sflow:\n  sampling: 100\n":                                "x.yaml:6: sflow: collector",
		without("Gbps}", "Gbps, impair: {rules: [{by: 1us}]}}"):            "x.yaml:2: impair: a rule says what it does",
	} {
		c := &Switch{}
		err := Decode("x.yaml", []byte(text), c)
		if c.file = "x.yaml"; err == nil {
			err = c.Check()
		}
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s%v; want %s", text, err, want)
		}
	}
}
