package config

import (
	"slices"
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
