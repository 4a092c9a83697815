package config

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/dataplane/dpdk"
	"photon/units"
)

// What the switch as a whole finds wrong with one of several has the line of that one.
func TestOneOfSeveralHasItsLine(t *testing.T) {
	const base = "ports: [{device: net_null0}, {device: net_null1}]\n"
	for text, line := range map[string]int{
		"vlans:\n- {id: 1, untagged: [0]}\n- {id: 1, untagged: [1]}\n":                                           4,
		"vlans:\n- {id: 1, untagged: [0]}\n- {id: 2, untagged: [0]}\n":                                           4,
		"vlans:\n- {id: 1, untagged: [0]}\n- {id: 2, untagged: [1], tagged: [1]}\n":                              4,
		"forwarding:\n  static:\n  - {mac: " + one + ", port: 0}\n  - {mac: " + one + ", port: 1}\n":             5,
		"forwarding:\n  static:\n  - {mac: " + one + ", port: 0}\n  - {mac: " + group + ", port: 1}\n":           5,
		"vlans: [{id: 1, untagged: [0, 1]}]\nforwarding:\n  static:\n  - {mac: " + one + ", port: 0, vlan: 9}\n": 5,
		"routes:\n- {prefix: 10.0.0.0/8, action: prohibit}\n- {prefix: 10.0.0.0/8, action: blackhole}\n":         4,
		"routes:\n- {prefix: 10.0.0.0/8, action: prohibit}\n- {prefix: 10.1.0.0/16}\n":                           4,
		"router:\n  addresses:\n  - 10.0.0.1\n  - 10.0.0.2\n  - 10.0.0.1\n":                                      6,
		"router:\n  addresses: [10.0.0.1]\nvlans:\n- {id: 1, untagged: [0, 1],\n   addresses: [10.0.0.1/24]}\n":  6,
		"router:\n  addresses: [10.0.0.1]\n  mac: " + group + "\n":                                               4,
		"dpdk: {workers: 2}\nrouter:\n  addresses: [10.0.0.1]\n  paths:\n    by: queue\n":                        6,
		"storm_control:\n  broadcast: {rate: 1pps,\n    burst: 2000000000}\n":                                    3,
		"storm_control:\n  broadcast: {rate: 1Gbps}\n  multicast: {rate: 1Mbps,\n    burst: 1000GB}\n":           3,
	} {
		_, err := readKeys(base+text, func(c *Switch) error { return c.Check() })
		if at := (*Error)(nil); !errors.As(err, &at) || at.Line != line {
			t.Errorf("%s%v; want line %d", text, err, line)
		}
	}
}

// A link has the rate that its device says, unless the file says another: of a switch's port, a host and a NIC.
func TestDevicesSayTheirRates(t *testing.T) {
	for _, own := range []string{"", ", rate: 4Gbps"} {
		want := 25 * units.Gbps
		if own != "" {
			want = 4 * units.Gbps
		}
		device := dpdk.Device{Rate: 25 * units.Gbps}
		sw := parse(t, "ports: [{device: net_null0"+own+"}, {device: net_null1"+own+"}]\n")
		n, err := sw.Resolve([]dpdk.Device{device, device})
		if err != nil || n.Links[1].Rate != want || n.Config.Ports[1].Link.Rate != want || n.Line != want {
			t.Errorf("a switch's port of %q is of %v, %v", own, n.Links, err)
		}
		_, host, err := readAgent(t, "port: {device: net_null0"+own+"}\nip: 10.0.0.1\n")
		if err != nil {
			t.Fatal(err)
		}
		if h, err := host.Resolve(&device); err != nil || h.Link.Rate != want || h.Config.Link.Rate != want {
			t.Errorf("a host of %q is of %v, %v", own, h.Link.Rate, err)
		}
		_, nic, err := readAgent(t, "role: nic\nport: {device: net_null0"+own+"}\napplication: {device: net_tap0}\n")
		if err != nil {
			t.Fatal(err)
		}
		if x, err := nic.ResolveNIC([]dpdk.Device{device, device}); err != nil || x.Link.Rate != want {
			t.Errorf("a NIC of %q is of %v, %v", own, x.Link.Rate, err)
		}
	}
}

// So many bytes are in the agent's memory if each of them is: no address wraps.
func TestWhatIsInMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		near := func(name string) uint64 {
			at := rapid.SampledFrom([]uint64{0, 1000, 1 << 63, ^uint64(0)}).Draw(t, name)
			return at + uint64(rapid.IntRange(-9, 9).Draw(t, name))
		}
		m := &Memory{Address: Set(near("address")), Size: Set(units.Size(rapid.IntRange(1, 12).Draw(t, "size")))}
		at, size := near("at"), units.Size(rapid.IntRange(0, 12).Draw(t, "bytes"))
		number := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
		plus := func(v uint64, n units.Size) *big.Int { return new(big.Int).Add(number(v), big.NewInt(int64(n))) }
		want := number(at).Cmp(number(m.Address.V)) >= 0 && plus(at, size).Cmp(plus(m.Address.V, m.Size.V)) <= 0
		if got := m.has(at, size); got != want {
			t.Fatalf("%v from %d on in %v from %d on: %v", size, at, m.Size.V, m.Address.V, got)
		}
	})
	if (*Memory)(nil).has(0, 0) {
		t.Error("there is no memory, and something is in it")
	}
}

// A port more or less is another configuration: that which runs stays as it is, for a reload to be compared with.
func TestTheRunningConfigurationStays(t *testing.T) {
	c := parse(t, "rate: 1Gbps\n"+
		"ports: [{device: net_null0}, {device: net_null1}, {device: net_null2}, {device: net_null3}]\n"+
		"vlans: [{id: 1, untagged: [0, 2], tagged: [3]}]\nforwarding: {static: [{mac: "+one+", port: 2}]}\n"+
		"routes: [{prefix: 10.0.0.0/8, via: [{port: 3, vlan: 1, "+hopMAC+"}]}]\n")
	c.Start(c.Options().Frames, 1)
	all := func(c *Switch) string { return dumped(*c) }
	before := all(c)
	less, err := c.Without(1)
	if err != nil {
		t.Fatal(err)
	}
	more, err := c.With("net_null4", 5*units.Gbps)
	if err != nil {
		t.Fatal(err)
	}
	usual, err := c.With("net_null4", 0)
	if err != nil {
		t.Fatal(err)
	}
	if all(c) != before {
		t.Error("what runs was changed")
	}
	n, err := less.Resolve(nil)
	if err != nil || fmt.Sprint(n.Config.VLANs[0].Untagged, n.Config.VLANs[0].Tagged, n.Config.Static[0].Ports,
		n.Config.Router.Routes[0].Via[0].Port) != "[0 1] [2] [1] 2" {
		t.Errorf("%+v, %v", n.Config, err)
	}
	for of, want := range map[*Switch]units.Rate{more: 5 * units.Gbps, usual: units.Gbps} {
		if n, err := of.Resolve(nil); err != nil || n.Links[4].Rate != want {
			t.Errorf("the port added has %v, not %v; %v", n.Links[4].Rate, want, err)
		}
	}
	_, _, _, err = more.AssignPlaces(c, nil)
	if err == nil || !strings.Contains(err.Error(), "net_null4: there is no place") {
		t.Errorf("a port without a place: %v", err)
	}
}

// Receive rings have room for the gap between two polls that the headroom allows for; without lossless frames they need
// none.
func TestRingsAreForTheResponse(t *testing.T) {
	for text, want := range map[string]units.Time{
		"": 100 * units.Microsecond, "pfc: {response: 7us}\n": 7 * units.Microsecond, "pfc: {priorities: []}\n": 0,
		"ports: [{device: net_null0, lossless: [4]}, {device: net_null1}]\npfc: {priorities: []}\n": 100 * units.Microsecond,
		"ports: [{device: net_null0, pause: true}, {device: net_null1}]\npfc: {priorities: []}\n":   100 * units.Microsecond,
		"ports: [{device: net_null0, lossless: []}, {device: net_null1}]\npfc: {priorities: []}\n":  0,
	} {
		if !strings.Contains(text, "ports:") {
			text = twoPorts + text
		}
		if got := parse(t, text).Options().Gap; got != want {
			t.Errorf("%s%v, not %v", text, got, want)
		}
	}
}

// A card is given frames ahead, behind which the next XOFF waits: polls may be that much less apart.
func TestCardsHavePausesLessFarApart(t *testing.T) {
	n, err := parse(t, "rate: 100Gbps\nports: [{device: net_null0}, {device: '0000:03:00.0'}]\n").Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if less := n.PauseGap[0] - n.PauseGap[1]; less != dpdk.Ahead(n.Links[1]) || less <= 0 {
		t.Errorf("polls may be %v apart, of a card %v", n.PauseGap[0], n.PauseGap[1])
	}
}
