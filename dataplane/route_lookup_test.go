package dataplane

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/wire"
)

// The table against a search through all prefixes.
func TestLongestPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := routerConfig()
		c.Router.Routes, c.Router.Addresses = nil, nil
		seen := map[netip.Prefix]bool{}
		address := func() netip.Addr {
			if rapid.Bool().Draw(t, "IPv6") {
				return netip.AddrFrom16([16]byte{0: 0xFD, 1: rapid.ByteRange(0, 3).Draw(t, "a"), 15: rapid.ByteRange(0, 3).Draw(t, "b")})
			}
			return netip.AddrFrom4([4]byte{10, rapid.ByteRange(0, 3).Draw(t, "a"), rapid.ByteRange(0, 255).Draw(t, "b"), rapid.ByteRange(0, 3).Draw(t, "c")})
		}
		for i := range rapid.IntRange(0, 30).Draw(t, "routes") {
			a := address()
			p, err := a.Prefix(rapid.IntRange(0, a.BitLen()).Draw(t, "bits"))
			if err != nil {
				t.Fatal(err)
			}
			if !seen[p] {
				seen[p] = true
				c.Router.Routes = append(c.Router.Routes, Route{Prefix: p, Via: []NextHop{{Port: uint16(i % 4), MAC: mac(1000 + i)}}})
			}
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		table := c.newRoutes(func(uint16) bool { return true }, nil, 1)
		for range 20 {
			a := address()
			if slices.Contains(c.Router.Addresses, a) {
				continue // the router's own
			}
			best := -1
			for i, r := range c.Router.Routes {
				if r.Prefix.Contains(a) && (best < 0 || r.Prefix.Bits() > c.Router.Routes[best].Prefix.Bits()) {
					best = i
				}
			}
			group, ok := table.table.Lookup(a)
			if ok && group < firstGroup || !ok {
				group = firstGroup - 1
			}
			if int(group)-firstGroup != best {
				t.Fatalf("%v: route %d, not %d", a, int(group)-firstGroup, best)
			}
		}
	})
}

func TestCheckOfRoutes(t *testing.T) {
	for want, change := range map[string]func(*SwitchConfig){
		"a router needs an Ethernet address":                 func(c *SwitchConfig) { c.Router.MAC = 0 },
		"that is a group address":                            func(c *SwitchConfig) { c.Router.MAC |= 1 << 40 },
		"10.0.9.1: it is no address of a host, or there twi": func(c *SwitchConfig) { c.Router.Addresses[1] = c.Router.Addresses[0] },
		"router address ::1":                                 func(c *SwitchConfig) { c.Router.Addresses[1] = netip.IPv6Loopback() },
		"route 10.0.0.0/24: it is there twice":               func(c *SwitchConfig) { c.Router.Routes[2].Prefix = prefix("10.0.0.0/24") },
		"route 10.0.0.1/24: that is no prefix (10.0.0.0/24 ": func(c *SwitchConfig) { c.Router.Routes[0].Prefix = prefix("10.0.0.1/24") },
		"route 10.0.0.0/24: it leads nowhere":                func(c *SwitchConfig) { c.Router.Routes[0].Via = nil },
		"route 10.0.0.0/24: there is no port 4":              func(c *SwitchConfig) { c.Router.Routes[0].Via[0].Port = 4 },
		"is no neighbour's address":                          func(c *SwitchConfig) { c.Router.Routes[0].Via[0].MAC = routerMAC },
		"route 10.0.0.0/24: there is no VLAN 7":              func(c *SwitchConfig) { c.Router.Routes[0].Via[0].VLAN = 7 },
		"a DSCP is from 0 to 63":                             func(c *SwitchConfig) { c.Router.ICMP = ICMP{Rate: 1, Burst: 1, DSCP: 64} },
		"icmp: a DSCP is from 0":                             func(c *SwitchConfig) { c.Router.ICMP = ICMP{DSCP: 64} },
		"a burst is from 1 frame to 1000":                    func(c *SwitchConfig) { c.Router.ICMP = ICMP{Rate: 1} },
		"it has a positive rate":                             func(c *SwitchConfig) { c.Router.ICMP = ICMP{Rate: -1, Burst: 1} },
		"static entry 02:00:00:00:00:fe: that is the router": func(c *SwitchConfig) { c.Static[0].MAC = routerMAC },
	} {
		c := routerConfig()
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

func TestRoutingAllocatesNothing(t *testing.T) {
	eachWay(t, routerConfig(), func(t *testing.T, r *rig) {
		r.sw.Reserve()
		for _, header := range [][]byte{ip("10.0.0.1", "10.0.1.7", 100), ip("fd00::1", "fd00:1::7", 120)} {
			if n := r.allocations(header, len(header)); n != 0 {
				t.Errorf("%v allocations per burst", n)
			}
		}
	})
}

// manyRoutes are random prefixes of the lengths that tables have.
func manyRoutes(n int) (routes []Route) {
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[netip.Prefix]bool{}
	for len(routes) < n {
		a := netip.AddrFrom4([4]byte{byte(1 + random.IntN(100)), byte(random.IntN(256)), byte(random.IntN(256)), byte(random.IntN(256))})
		p, _ := a.Prefix([]int{16, 20, 22, 23, 24, 24, 24, 24, 32}[random.IntN(9)])
		if !seen[p] && p.Addr().As4()[0] != 10 {
			seen[p] = true
			routes = append(routes, Route{Prefix: p, Via: []NextHop{{Port: uint16(len(routes) % 4), MAC: mac(len(routes) % 4)}}})
		}
	}
	return routes
}

// What the longest prefix costs, in tables of several sizes, for random addresses
// that have a route.
func BenchmarkRouteLookup(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("routes=%d", n), func(b *testing.B) {
			c := routerConfig()
			c.Router.Routes = manyRoutes(n)
			table := c.newRoutes(func(uint16) bool { return true }, nil, 1).table
			addresses := make([]netip.Addr, 1<<12)
			random := rand.New(rand.NewPCG(3, 4))
			for i := range addresses {
				at := c.Router.Routes[random.IntN(n)].Prefix.Addr().As4()
				addresses[i] = netip.AddrFrom4(at)
			}
			b.ReportAllocs()
			found := 0
			for i := 0; b.Loop(); i++ {
				if _, ok := table.Lookup(addresses[i&(len(addresses)-1)]); ok {
					found++
				}
			}
			if found < b.N {
				b.Fatalf("%d of %d found", found, b.N)
			}
		})
	}
}

// What a routed frame costs beside a bridged one (BenchmarkSwitch): flows in 64
// subnets, tables of several sizes.
func BenchmarkRouting(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprintf("routes=%d", n), func(b *testing.B) {
			t := newTraffic(b, 4, 1, 64)
			c := t.rig.sw.config
			c.Router = Router{MAC: routerMAC, Routes: manyRoutes(n)}
			t.rig.reload(c)
			for p := range t.frames {
				for i, f := range t.frames[p] {
					h := t.rig.env.Header(f)
					to := (p + 1 + i%3) % 4
					via := c.Router.Routes[i%32*997*4%(n/4*4)+to] // leads to port to, and no longer prefix of the table is in it
					routerMAC.Put(h)
					copy(h[30:34], via.Prefix.Addr().AsSlice())
					wire.SetIPLength(h[14:], 50)
					t.heads[p][i] = bytes.Clone(h[:32])
				}
			}
			burst := make([]fabric.Frame, fabric.MaxBurst)
			perFrame(b, 4*fabric.MaxBurst, func() { t.round(burst) })
			st := t.rig.sw.Stats(t.rig.now)
			routed, received := uint64(0), uint64(0)
			for p := range st.Ports {
				_, n := st.Ports[p].Frames()
				routed, received = routed+st.Ports[p].Routed, received+n
			}
			if routed != received || routed == 0 {
				b.Fatalf("%d of %d frames were routed", routed, received)
			}
		})
	}
}
