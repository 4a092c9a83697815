package config

import (
	"slices"
	"strings"
	"testing"

	"photon/marking"
	"photon/units"
)

// A scheme is in the lossless priorities, or in those that the file names, whichever these are: others have none.
func TestPrioritiesOfAScheme(t *testing.T) {
	for _, c := range []struct {
		file, line string
		judged     uint8
		points     []int // of all priorities that a switch asks for
	}{
		{"", "", 0, []int{3}},
		{"pfc: {priorities: [3, 4]}\n", "", 0, []int{3, 4}},
		{"scheme: {priorities: [0, 3]}\n", "the scheme's priorities: 0 3", 1<<0 | 1<<3, []int{0, 3}},
		{"scheme: {name: dcqcn, priorities: [1]}\npfc: {priorities: []}\n",
			"the scheme's priorities: 1", 1 << 1, []int{1}},
		{"scheme: {name: hpcc, priorities: [4]}\npfc: {priorities: [3, 4]}\n",
			"the scheme's priorities: 4", 1 << 4, []int{4}},
	} {
		n, err := parse(t, twoPorts+c.file).Resolve(nil)
		if err != nil {
			t.Fatal(c.file, err)
		}
		var points []int
		for prio := range 8 {
			if (n.Config.Judged|n.Config.Lossless)>>prio&1 == 0 {
				continue
			}
			if n.Config.CP(marking.Place{Prio: prio, Rate: 10 * units.Gbps}) != (marking.None{}) {
				points = append(points, prio)
			}
		}
		if n.Config.Judged != c.judged || !slices.Equal(points, c.points) {
			t.Errorf("%q: %08b, congestion points of %v, not of %v", c.file, n.Config.Judged, points, c.points)
		}
		if c.line != "" && !slices.Contains(n.Describe(), c.line) {
			t.Errorf("%q: nobody says %q: %q", c.file, c.line, n.Describe())
		}
	}
}

// A static address is behind one port, or behind several of equal cost, which stay its own when another port goes.
func TestStaticAddresses(t *testing.T) {
	c := parse(t, "ports:\n- device: net_null0\n- device: net_null1\n- device: net_null2\n- device: net_null3\n"+
		"forwarding: {static: [{mac: '02:00:00:00:00:01', port: 0}, {mac: '02:00:00:00:00:02', ports: [3, 2]}]}\n")
	ports := func(c *Switch) (of [][]uint16) {
		n, err := c.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range n.Config.Static {
			of = append(of, e.Ports)
		}
		return of
	}
	same := func(a, b [][]uint16) bool { return slices.EqualFunc(a, b, slices.Equal[[]uint16]) }
	if got := ports(c); !same(got, [][]uint16{{0}, {3, 2}}) {
		t.Errorf("behind %v", got)
	}
	less, err := c.Without(1)
	if err != nil {
		t.Fatal(err)
	}
	if got := ports(less); !same(got, [][]uint16{{0}, {2, 1}}) {
		t.Errorf("behind %v when port 1 is gone", got)
	}
	if got := ports(c); !same(got, [][]uint16{{0}, {3, 2}}) {
		t.Errorf("behind %v in the file of before", got)
	}
	for _, port := range []int{0, 2, 3} {
		if _, err := c.Without(port); err == nil {
			t.Errorf("port %d can go, and an address is behind it", port)
		}
	}
}

// So it is in a NIC, which slows the flows of these priorities down.
func TestPrioritiesOfANICsScheme(t *testing.T) {
	const nic = "role: nic\nport: {device: net_null0, rate: 10Gbps}\napplication: {device: net_null1}\n"
	for lines, want := range map[string][2]uint8{ // with PFC, with the scheme
		"":                            {1 << 3, 1 << 3},
		"pfc: {priorities: [3, 5]}\n": {1<<3 | 1<<5, 1<<3 | 1<<5},
		"scheme: {priorities: [0]}\n": {1 << 3, 1 << 0},
		"scheme: {priorities: [0, 3]}\npfc: {priorities: []}\n": {0, 1<<0 | 1<<3},
	} {
		c, err := ParseAgent("nic.yaml", []byte(nic+lines))
		if err != nil {
			t.Fatal(err)
		}
		n, err := c.ResolveNIC(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]uint8{n.Config.Lossless, n.Config.Judged}; got != want {
			t.Errorf("%q: PFC in %08b, the scheme in %08b", lines, got[0], got[1])
		}
	}
}

// Flows have what the file's first rule about them says: of two that send alike only the one that has more than its
// share is notified, whichever that is.
func TestSharesOfFlows(t *testing.T) {
	const shares = "scheme: {name: af-qcn, params: {floor: yes}, shares: [" +
		"{from: 10.0.0.1/32, protocol: udp, weight: 5}, {to: 10.0.0.9/32, qp: 7, weight: 3}, " +
		"{from: 10.0.0.0/8, cap: 1Mbps, weight: 3}]}\n"
	roce := func(from byte, qp byte) []byte {
		b := make([]byte, 100)
		b[12], b[14], b[17], b[22], b[23] = 8, 0x45, 86, 64, 17
		copy(b[26:], []byte{10, 0, 0, from, 10, 0, 0, 9, qp, from, 0x12, 0xB7})
		b[42+7] = qp
		return b
	}
	for _, c := range []struct {
		one, two []byte
		notified [2]bool
	}{
		{roce(1, 8), roce(2, 7), [2]bool{false, true}}, // 5 to 3
		{roce(2, 7), roce(1, 7), [2]bool{true, false}}, // 3 to 5
		{roce(2, 7), roce(3, 7), [2]bool{false, false}},
		{roce(3, 7), roce(3, 8), [2]bool{false, true}}, // which has a cap
	} {
		n, err := parse(t, twoPorts+shares).Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		cp := n.Config.CP(marking.Place{Port: 1, Prio: 3, Rate: 10 * units.Gbps}).(marking.Sampler)
		var notified [2]bool
		for i := range units.Time(200_000) { // for 200 ms
			p := &marking.Packet{}
			p.Show(1000, 14, [][]byte{c.one, c.two}[i%2])
			_, sampled := cp.Enqueue(i*units.Microsecond, marking.Queue{Bytes: 20 * units.KB}, p)
			notified[i%2] = notified[i%2] || sampled && i > 50_000
		}
		if notified != c.notified {
			t.Errorf("% x and % x: notified %v, not %v", c.one[26:50], c.two[26:50], notified, c.notified)
		}
	}
	for file, want := range map[string]string{
		"scheme: {name: dcqcn, shares: [{weight: 2}]}\n": ":4: shares: flows have weights and caps under af-qcn, " +
			"and not under dcqcn",
		"scheme:\n  name: af-qcn\n  shares: [{from: 10.0.0.1/32}]\n": ":6: share: a weight or a cap belongs here",
	} {
		c, err := ParseSwitch("x.yaml", []byte(twoPorts+file))
		if err == nil {
			err = c.Check()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", file, err)
		}
	}
}
