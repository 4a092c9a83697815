package dataplane

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/gaissmai/bart"

	"photon/units"
	"photon/wire"
)

// Router is a switch as a router. It forwards packets to its own Ethernet address
// by their IP destination. It knows its neighbours from its routes alone.
type Router struct {
	MAC       wire.MAC     // 0: it does not route
	Addresses []netip.Addr // its own, for which it answers ARP, neighbour solicitations and echo requests
	Routes    []Route
}

// Route leads to a prefix, by one next hop or by several of equal cost, among
// which a packet's flow hash chooses. The longest prefix counts.
type Route struct {
	Prefix netip.Prefix
	Via    []NextHop
}

// NextHop is a neighbour: a router, or the host itself.
type NextHop struct {
	Port uint16
	MAC  wire.MAC
	VLAN uint16 // 0: the port's untagged one
}

// routes are the routing table in force. Workers read it, nobody writes: another
// takes its place.
type routes struct {
	mac    wire.MAC
	own    bool // it has addresses
	table  *bart.Fast[uint32]
	groups [][]hop // by what the table says
}

// hop is a next hop, ready for use.
type hop struct {
	mac  wire.MAC
	port uint16
	vlan uint16
	want form
}

// Groups of the table that have no hops.
const (
	toItself   = iota // the router's addresses
	nowhere           // what routers do not forward, unless a route names it
	firstGroup        // of the routes
)

// unrouted is what a router does not forward (RFC 1812 section 5.3.7, RFC 4291 section 2.5).
var unrouted = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("224.0.0.0/4"),
	netip.MustParsePrefix("255.255.255.255/32"), netip.MustParsePrefix("::/127"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("ff00::/8"),
}

// check says what is wrong with a route of a switch with these ports and VLANs.
func (r *Route) check(c *SwitchConfig) error {
	if !r.Prefix.IsValid() || r.Prefix.Addr().Is4In6() || r.Prefix != r.Prefix.Masked() {
		return fmt.Errorf("route %v: that is no prefix (%v would be)", r.Prefix, r.Prefix.Masked())
	}
	if len(r.Via) == 0 {
		return fmt.Errorf("route %v: it leads nowhere", r.Prefix)
	}
	for _, v := range r.Via {
		if v.MAC == 0 || v.MAC.Multicast() || v.MAC == c.Router.MAC {
			return fmt.Errorf("route %v: %v is no neighbour's address", r.Prefix, v.MAC)
		}
		if err := c.checkPlace(v.Port, v.VLAN); err != nil {
			return fmt.Errorf("route %v: %w", r.Prefix, err)
		}
	}
	return nil
}

// checkRouter says what is wrong with the routes.
func (c *SwitchConfig) checkRouter() error {
	r := &c.Router
	if r.MAC == 0 {
		if r.Addresses != nil || r.Routes != nil {
			return errors.New("a router needs an Ethernet address")
		}
		return nil
	}
	if r.MAC.Multicast() {
		return &ItemError{"router", 0, fmt.Errorf("router %v: that is a group address", r.MAC)}
	}
	seen := map[netip.Prefix]bool{}
	err := checkAll("addresses", r.Addresses, func(a *netip.Addr) error {
		p := netip.PrefixFrom(*a, a.BitLen())
		if !a.IsGlobalUnicast() || a.Is4In6() || a.Zone() != "" || seen[p] {
			return fmt.Errorf("router address %v: it is no address of a host, or there twice", a)
		}
		seen[p] = true
		return nil
	})
	if err != nil {
		return err
	}
	return checkAll("routes", r.Routes, func(r *Route) error {
		if err := r.check(c); err != nil {
			return err
		}
		if seen[r.Prefix] {
			return fmt.Errorf("route %v: it is there twice, or an address of the router", r.Prefix)
		}
		seen[r.Prefix] = true
		return nil
	})
}

// newRoutes builds the routing table; nil: the switch does not route.
func (c *SwitchConfig) newRoutes(up func(port uint16) bool) *routes {
	if c.Router.MAC == 0 {
		return nil
	}
	r := &routes{mac: c.Router.MAC, own: c.Router.Addresses != nil, table: &bart.Fast[uint32]{}}
	for _, p := range unrouted {
		r.table.Insert(p, nowhere)
	}
	for _, a := range c.Router.Addresses {
		r.table.Insert(netip.PrefixFrom(a, a.BitLen()), toItself)
	}
	for i := range c.Router.Routes {
		r.table.Insert(c.Router.Routes[i].Prefix, uint32(firstGroup+i))
	}
	r.groups = c.groups(up)
	return r
}

// groups are the next hops of each route, as far as their ports are up. If none
// is, all stay: what goes there is discarded and counted at its port.
func (c *SwitchConfig) groups(up func(port uint16) bool) [][]hop {
	groups := make([][]hop, firstGroup+len(c.Router.Routes))
	for i, route := range c.Router.Routes {
		var all, alive []hop
		for _, v := range route.Via {
			h := hop{mac: v.MAC, port: v.Port, vlan: v.VLAN, want: c.formOf(v.Port, v.VLAN)}
			all = append(all, h)
			if up(v.Port) {
				alive = append(alive, h)
			}
		}
		if alive == nil {
			alive = all
		}
		groups[firstGroup+i] = alive
	}
	return groups
}

// regroup returns the same table with other next hops.
func (r *routes) regroup(groups [][]hop) *routes {
	if r == nil {
		return nil
	}
	return &routes{mac: r.mac, own: r.own, table: r.table, groups: groups}
}

// pick chooses among n paths of equal cost by a flow's hash. A salt makes
// switches that follow each other choose differently.
func pick(hash, salt uint32, n int) int {
	if salt != 0 {
		hash = (hash ^ salt) * 0x9E3779B1
		hash ^= hash >> 15
		hash *= 0x85EBCA6B
	}
	return int(uint64(hash) * uint64(n) >> 32)
}

// route forwards a frame to the router by its IP header.
func (s *Switch) route(now units.Time, p *switchPort, in *lan, f Frame) {
	b := p.env.Header(f)
	begin := wire.EthernetLen
	if _, tag := wire.VLANTag(b); tag {
		begin += wire.VLANLen
	}
	if f.l3() != begin { // not IP, or behind tags of which a router knows nothing
		s.discard(p, f, DropToRouter)
		return
	}
	r, ip, length := s.routes, b[begin:], int(f.Len)-begin
	if ip[0]>>4 == 4 && !wire.IPv4OK(ip, length) || ip[0]>>4 == 6 && !wire.IPv6OK(ip, length) {
		s.discard(p, f, DropBadIP)
		return
	}
	group, ok := r.table.Lookup(wire.Destination(ip))
	switch {
	case !ok || group == nowhere:
		s.discard(p, f, DropNoRoute)
	case group == toItself && wire.AnswerEcho(ip):
		s.bounce(now, p, in, f)
	case group == toItself:
		s.discard(p, f, DropToRouter)
	case wire.TTL(ip) <= 1:
		s.discard(p, f, DropTTL)
	default:
		h := &r.groups[group][pick(f.Hash, s.config.Salt, len(r.groups[group]))]
		wire.DecrementTTL(ip)
		h.mac.Put(b)
		r.mac.Put(b[6:])
		p.stats.Routed++
		if !s.dress(p, &f, h.want, h.vlan) {
			s.discard(p, f, DropNoMemory)
		} else if s.admit(p, f) {
			s.hand(now, p, &s.ports[h.port], f)
		}
	}
}

// routeQuick finds the next hop of a plain packet to the router, if it leaves as
// it came, without a tag; else it goes the general way.
func (s *Switch) routeQuick(p *switchPort, f *Frame, to *wire.MAC) int32 {
	b := p.env.Quick(f)
	if !b.Routable(int(f.Len)) {
		return notSimple
	}
	r := s.routes
	group, ok := r.table.Lookup(b.IPDst())
	if !ok || group < firstGroup {
		return notSimple
	}
	hops := r.groups[group]
	hop := &hops[pick(b.Hash(), s.config.Salt, len(hops))]
	if hop.want == untagged && s.ports[hop.port].worker == p.worker {
		*to = hop.mac
		return queueOf(uint32(hop.port), f.Prio) | viaHop
	}
	return notSimple
}
