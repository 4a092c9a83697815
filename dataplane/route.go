package dataplane

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/gaissmai/bart"

	"photon/fabric"
	"photon/neighbour"
	"photon/units"
	"photon/wire"
)

// Router is a switch as a router. It forwards packets to its own Ethernet address
// by their IP destination. Routes name its neighbours; where they give no MAC address, the switch asks for it.
type Router struct {
	MAC       wire.MAC     // 0: it does not route
	Addresses []netip.Addr // its own, for which it answers ARP, neighbour solicitations and echo requests; ports and VLANs may have more
	Routes    []Route
	ICMP      ICMP
}

// Route leads to a prefix, by one next hop or by several of equal cost, among
// which a packet's flow hash chooses. The longest prefix counts.
type Route struct {
	Prefix netip.Prefix
	Via    []NextHop // none: nothing goes there, as Refuse says
	Refuse Refuse
}

// Refuse is what a route without next hops does.
type Refuse uint8

// What a route may do with packets.
const (
	Carry     Refuse = iota // it has next hops
	Prohibit                // discard, and tell the sender by ICMP
	Blackhole               // discard in silence
)

func (r Refuse) String() string { return [...]string{"", "prohibit", "blackhole"}[r] }

// NextHop is a neighbour: a router, or the host itself.
type NextHop struct {
	Port uint16
	MAC  wire.MAC // 0: who has Address is asked
	VLAN uint16   // 0: the port's untagged one
	MTU  int      // longest packet; 0: the switch's

	Address netip.Addr
	AnyPort bool // with an Address and a VLAN: it is behind whichever port of it the answer comes from
}

// routes are the routing table in force. Workers read it, and it is never written: another
// takes its place.
type routes struct {
	mac    wire.MAC
	own    bool // it has addresses
	locals []local
	table  *bart.Fast[uint32]
	groups [][]hop // by what the table says

	neighbours []*nextNeighbour // that are asked
	homes      []uint16         // of neighbours: the ports whose workers ask
	byAddress  map[netip.Addr][]*nextNeighbour
	places     [][][]hop // by worker: where it has the groups, as far as neighbours are known; nil: they all are
}

// hop is a next hop, ready for use.
type hop struct {
	head           [12]byte // the addresses of a packet that goes there
	port           uint16
	vlan           uint16
	mtu            uint16
	maxPlainLength uint16 // the longest packet that needs no second look; 0: all do
	form           form

	neighbour *nextNeighbour // nil: the configuration says where it is
	state     neighbour.State
}

// routeKey is the port in the keys of destinations: none has it.
const routeKey = maxPorts - 1

// Groups of the table that have no hops.
const (
	toItself   = iota // the router's addresses
	nowhere           // what routers do not forward, unless a route names it
	prohibited        // what a route refuses
	blackholed        // to be discarded in silence
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
	switch {
	case len(r.Via) == 0 && r.Refuse == Carry:
		return fmt.Errorf("route %v: it leads nowhere", r.Prefix)
	case len(r.Via) != 0 && r.Refuse != Carry:
		return fmt.Errorf("route %v: nothing goes there, so it has no next hops", r.Prefix)
	}
	for _, v := range r.Via {
		if err := c.checkNeighbour(r.Prefix, &v); err != nil {
			return fmt.Errorf("route %v: %w", r.Prefix, err)
		}
		least := 68 // RFC 791 section 3.2, RFC 8200 section 5
		if r.Prefix.Addr().Is6() {
			least = 1280
		}
		if v.MTU != 0 && (v.MTU < least || v.MTU > c.MTU) {
			return fmt.Errorf("route %v: mtu %d of a next hop must be from %d to the switch's, %d", r.Prefix, v.MTU, least, c.MTU)
		}
	}
	return nil
}

// checkRouter says what is wrong with the routes.
func (c *SwitchConfig) checkRouter() error {
	r := &c.Router
	if r.MAC == 0 {
		if c.locals() != nil || r.Routes != nil {
			return errors.New("a router needs an Ethernet address")
		}
		return nil
	}
	if r.MAC.Multicast() {
		return &ItemError{"router", 0, fmt.Errorf("router %v: that is a group address", r.MAC)}
	}
	if err := r.ICMP.check(); err != nil {
		return &ItemError{"icmp", 0, err}
	}
	seen := map[netip.Prefix]bool{}
	err := checkAll("addresses", c.locals(), func(l *local) error {
		a := l.addr
		p := netip.PrefixFrom(a, a.BitLen())
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

// newRoutes builds the routing table of a switch with so many workers; nil: it does not route. Of neighbours that were in
// another table it is known what was.
func (c *SwitchConfig) newRoutes(up func(port uint16) bool, before *routes, workers int) *routes {
	if c.Router.MAC == 0 {
		return nil
	}
	r := &routes{mac: c.Router.MAC, locals: c.locals(), table: &bart.Fast[uint32]{}}
	for _, p := range unrouted {
		r.table.Insert(p, nowhere)
	}
	r.own = r.locals != nil
	for _, l := range r.locals {
		r.table.Insert(netip.PrefixFrom(l.addr, l.addr.BitLen()), toItself)
	}
	for i := range c.Router.Routes {
		route, group := &c.Router.Routes[i], uint32(firstGroup+i)
		switch route.Refuse {
		case Prohibit:
			group = prohibited
		case Blackhole:
			group = blackholed
		}
		r.table.Insert(route.Prefix, group)
	}
	r.setNeighbours(c, before, workers)
	r.groups = c.groups(up, r)
	r.makePlaces(workers)
	return r
}

// groups are the next hops of each route, as far as their ports are up. If none
// is, all stay: what goes there is discarded and counted at its port.
func (c *SwitchConfig) groups(up func(port uint16) bool, r *routes) [][]hop {
	groups := make([][]hop, firstGroup+len(c.Router.Routes))
	for i, route := range c.Router.Routes {
		var all []hop
		for _, v := range route.Via {
			h := hop{port: v.Port, vlan: v.VLAN, form: c.formOf(v.Port, v.VLAN), mtu: uint16(cmp.Or(v.MTU, c.MTU))}
			if h.form == untagged && up(v.Port) {
				h.maxPlainLength = uint16(c.hopMTU(&h))
			}
			if v.MAC == 0 {
				h.maxPlainLength, h.neighbour = 0, r.neighbourOf(c.placeOf(&v))
				if h.port = h.neighbour.Port; h.port == anyPort {
					h.form = absent
				}
			}
			v.MAC.Put(h.head[:])
			c.Router.MAC.Put(h.head[6:])
			all = append(all, h)
		}
		down := func(h hop) bool { return h.port != anyPort && !up(h.port) }
		if left := slices.DeleteFunc(slices.Clone(all), down); len(left) > 0 {
			all = left
		}
		groups[firstGroup+i] = all
	}
	return groups
}

// regroup returns the same table with other next hops.
func (r *routes) regroup(groups [][]hop, workers int) *routes {
	if r == nil {
		return nil
	}
	next := *r
	next.groups = groups
	next.makePlaces(workers)
	return &next
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

// flowHash is the hash of a frame's flow.
func flowHash(p *fabric.Pool, f *fabric.Frame) uint32 { return wire.FlowHash(p.Bytes(f)) }

// route does with a packet for the router what a router does, by its IP header; a is its action so
// far, which names no port. It returns the action with which it leaves, or reports false if it ends here.
func (s *Switch) route(now units.Time, p *switchPort, f *fabric.Frame, a action) (action, bool) {
	f.Words()[1] = uint64(a & actFrame) // its headers are written to: it has no digest
	b := p.env.Bytes(f)
	begin := f.L3()
	if begin != 0 && s.routes.own && wire.IsICMPv6(b[begin:]) && s.solicited(now, p, f) {
		return a, false
	}
	if !s.plainlyIP(p, f) {
		s.discard(now, p, f, fabric.DropToRouter) // not IP, or behind tags of which a router knows nothing
		return a, false
	}
	ip, length := b[begin:], int(f.Len)-begin
	switch {
	case !wire.HeaderOK(ip, length):
		s.discard(now, p, f, fabric.DropBadIP)
		return a, false
	case !wire.SourceOK(ip):
		s.discard(now, p, f, fabric.DropMartian)
		return a, false
	}
	switch group := s.routeOf(p, ip); {
	case group == nowhere:
		s.makeICMPError(now, p, f, netUnreachable)
		s.discard(now, p, f, fabric.DropNoRoute)
		return a, false
	case group == toItself:
		s.forRouter(now, p, f)
		return a, false
	case group == prohibited:
		s.makeICMPError(now, p, f, prohibition)
		s.discard(now, p, f, fabric.DropProhibited)
		return a, false
	case group == blackholed:
		s.discard(now, p, f, fabric.DropProhibited)
		return a, false
	case wire.TTL(ip) <= 1:
		s.makeICMPError(now, p, f, timeExceeded)
		s.discard(now, p, f, fabric.DropTTL)
		return a, false
	default:
		h := s.hopOf(now, p, f, a.prio(), group)
		switch {
		case h.port != anyPort && !s.up(h.port): // it is discarded at that port
			s.makeICMPError(now, p, f, hostUnreachable)
		case wire.TotalLen(ip) > s.config.hopMTU(h):
			if !wire.MayFragment(ip) {
				s.makeICMPError(now, p, f, tooBig(s.config.hopMTU(h)))
			}
			s.discard(now, p, f, fabric.DropTooBig)
			return a, false
		case h.state == neighbour.Incomplete:
			s.await(now, p, f, h.neighbour)
			return a, false
		case h.state == neighbour.Failed:
			h.neighbour.Want()
			s.makeICMPError(now, p, f, hostUnreachable)
			s.discard(now, p, f, fabric.DropNeighbour)
			return a, false
		}
		wire.DecrementTTL(ip)
		copy(b, h.head[:])
		p.stats.Routed++
		a, ok := s.tagged(a.to(h.port), h.form, h.vlan, b)
		if !ok {
			s.discard(now, p, f, fabric.DropVLAN)
		}
		return a, ok
	}
}

// hopMTU is the longest packet that a next hop takes, and the port that it is behind.
func (c *SwitchConfig) hopMTU(h *hop) int {
	if h.port == anyPort {
		return int(h.mtu)
	}
	return min(int(h.mtu), c.mtu(h.port))
}

// plainlyIP reports whether a frame has an IP header where a router looks for one: behind one tag at most.
func (s *Switch) plainlyIP(p *switchPort, f *fabric.Frame) bool {
	begin := f.L3()
	return begin == wire.EthernetLen || begin == wire.EthernetLen+wire.VLANLen && p.env.Bytes(f)[12] == wire.TypeVLAN>>8
}

// hopOf is the next hop of a packet, of a group.
func (s *Switch) hopOf(now units.Time, p *switchPort, f *fabric.Frame, prio uint8, group uint32) *hop {
	hops := p.worker.cache.groups[group]
	if len(hops) == 1 {
		return &hops[0]
	}
	return &hops[s.path(now, p, f, prio, len(hops), func(i int) uint16 { return hops[i].port })]
}

// routed does the same with a packet of which nothing is special: it has no options and no tag, its header
// is right, it is not ICMPv6, which may be for the router whatever it says, and its route was looked up lately and has one hop. Else it does nothing, and reports false.
func (c *actionCache) routed(b *[fabric.StartLen]byte, length int, a action) (action, bool) {
	k := key{where: routeKey | c.epoch<<epochShift}
	switch {
	case int(a>>56)&int(fabric.OffsetL3) != wire.EthernetLen:
		return a, false
	case b[14] == 0x45:
		if !wire.Forwardable4((*[wire.IPv4Len]byte)(b[14:]), length-wire.EthernetLen) {
			return a, false
		}
		k.first = uint64(binary.LittleEndian.Uint32(b[30:34]))
	default:
		if wire.IsICMPv6(b[14:]) || !wire.Forwardable6((*[wire.IPv6Len]byte)(b[14:]), length-wire.EthernetLen) {
			return a, false
		}
		k.first, k.second, k.where = binary.LittleEndian.Uint64(b[38:46]), binary.LittleEndian.Uint64(b[46:54]), k.where|1<<32
	}
	group, ok := c.find(k)
	if !ok || uint(group) >= uint(len(c.groups)) || len(c.groups[group]) != 1 {
		return a, false
	}
	h := &c.groups[group][0]
	if length > int(h.maxPlainLength)+wire.EthernetLen {
		return a, false
	}
	wire.DecrementTTL(b[14:])
	*(*[12]byte)(b[:]) = h.head
	return a.to(h.port), true
}

// routeOf finds the group of a packet's destination. The last ones are kept where actions are: their
// keys have no port.
func (s *Switch) routeOf(p *switchPort, ip []byte) uint32 {
	c := &p.worker.cache
	k := key{where: routeKey | c.epoch<<epochShift}
	if ip[0]>>4 == 4 {
		k.first = uint64(binary.LittleEndian.Uint32(ip[16:20]))
	} else {
		k.first, k.second, k.where = binary.LittleEndian.Uint64(ip[24:32]), binary.LittleEndian.Uint64(ip[32:40]), k.where|1<<32
	}
	if a, ok := c.find(k); ok {
		return uint32(a)
	}
	group, ok := s.routes.table.Lookup(wire.Destination(ip))
	if !ok {
		group = nowhere
	}
	c.remember(&k, action(group))
	return group
}
