package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/units"
	"photon/wire"
)

// VLAN is a virtual LAN and its ports, which count from 0 in the order of ports.
type VLAN struct {
	ID       Value[int]   `yaml:"id"`       // 1 to 4094
	Untagged []Value[int] `yaml:"untagged"` // ports whose frames without tag belong to it; a port is so in one VLAN at most
	Tagged   []Value[int] `yaml:"tagged"`   // ports on which its frames have its tag

	Addresses []Value[Subnet] `yaml:"addresses"` // of the router in it, in addition to those of router; 10.1.0.1/24 says which next hops are there
}

// Router is the switch as a router.
type Router struct {
	MAC       Value[wire.MAC]  `yaml:"mac"`       // frames to it are routed; the first port's
	Addresses []Value[wire.IP] `yaml:"addresses"` // for which it answers ARP, neighbour solicitations and ping
	ICMP      ICMP             `yaml:"icmp"`      // what it tells the senders of packets that it does not forward
	Paths     Paths            `yaml:"paths"`     // how it chooses among next hops of equal cost
}

// Paths is how a router chooses among next hops of equal cost.
type Paths struct {
	By  Value[string]     `yaml:"by"`  // flow, round_robin, random, flowlet, queue; flow
	Gap Value[units.Time] `yaml:"gap"` // flowlet: a flow that was silent for longer may take another path
}

// choice is what it says.
func (p *Paths) choice() (c dataplane.Paths, err error) {
	by := slices.Index(dataplane.PathChoices, p.By.Or(dataplane.ByFlow.String()))
	if by < 0 {
		return c, fail(p.By, "paths by %q: there are %s", p.By.V, strings.Join(dataplane.PathChoices, ", "))
	}
	c = dataplane.Paths{By: dataplane.PathChoice(by), Gap: p.Gap.V}
	switch {
	case c.By == dataplane.ByFlowlet && c.Gap <= 0:
		return c, fail(p.By, "paths by flowlet need a gap (write it like {by: flowlet, gap: 50us})")
	case c.By != dataplane.ByFlowlet && p.Gap.IsSet():
		return c, fail(p.Gap, "paths by %v: a gap is of flowlets", c.By)
	}
	return c, nil
}

// ICMP is about errors: time exceeded, unreachable, too big. Echo requests are answered without limit.
type ICMP struct {
	Errors Value[bool]      `yaml:"errors"` // true
	Rate   Value[FloodRate] `yaml:"rate"`   // of errors, for what came through one port; 1000pps
	Burst  Value[int]       `yaml:"burst"`  // errors at once; 50
	DSCP   Value[int]       `yaml:"dscp"`   // of errors; 48
}

// Route leads to a prefix.
type Route struct {
	Prefix Value[Prefix] `yaml:"prefix"`
	Via    []NextHop     `yaml:"via"`    // several: of equal cost, chosen by flow
	Action Value[string] `yaml:"action"` // in place of via: prohibit, with an ICMP error, or blackhole, without
}

// NextHop is a neighbour.
type NextHop struct {
	Address Value[wire.IP]  `yaml:"address"` // in place of mac: the switch asks for it
	Port    Value[int]      `yaml:"port"`    // from 0, in the order of ports; of an address: where the subnet is
	MAC     Value[wire.MAC] `yaml:"mac"`
	VLAN    Value[int]      `yaml:"vlan"`   // the port's untagged one
	MTU     Value[int]      `yaml:"mtu"`    // longest packet that it takes, bytes; the switch's
	Weight  Value[int]      `yaml:"weight"` // how often it is chosen, relative to the others, 1 to 64; 1
}

// StormControl limits what a port may have flooded.
type StormControl struct {
	Broadcast Limit `yaml:"broadcast"`
	Multicast Limit `yaml:"multicast"`       // other group addresses
	Unknown   Limit `yaml:"unknown_unicast"` // unknown addresses
}

// Limit is a rate and what may come at once.
type Limit struct {
	Rate  Value[FloodRate]  `yaml:"rate"`  // 1000pps, or 10Mbps on the wire; 0pps or absent: no limit
	Burst Value[FloodBurst] `yaml:"burst"` // frames, or a size as in 64KB; 10ms of the rate, but at least a frame
}

// Prefix is an IP prefix as in 10.0.1.0/24.
type Prefix struct{ netip.Prefix }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Prefix) UnmarshalText(b []byte) (err error) {
	if p.Prefix, err = netip.ParsePrefix(string(b)); err != nil {
		return fmt.Errorf("prefix %q: neither IPv4 nor IPv6 (write it like 10.0.1.0/24 or fd00::/64)", b)
	}
	if m := p.Masked(); m != p.Prefix {
		return fmt.Errorf("prefix %v has bits beyond its length (%v has not)", p.Prefix, m)
	}
	return nil
}

// FloodRate is frames or bits per second; zero: there is no limit.
type FloodRate struct {
	Frames int
	Bits   units.Rate
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *FloodRate) UnmarshalText(b []byte) (err error) {
	if n, ok := strings.CutSuffix(string(b), "pps"); ok {
		r.Frames, err = strconv.Atoi(n)
	} else {
		r.Bits, err = units.ParseRate(string(b))
	}
	if err != nil || r.Frames < 0 || r.Bits < 0 {
		return fmt.Errorf("rate %q: not a number of frames or bits per second (write it like 1000pps or 10Mbps)", b)
	}
	const most = 1_000_000_000 // more than any link carries, and the arithmetic of a limit holds
	if r.Frames > most || r.Bits > mostRate {
		return fmt.Errorf("rate %q: at most %dpps or %v", b, most, mostRate)
	}
	return nil
}

func (r FloodRate) String() string {
	if r.Frames > 0 || r.Bits == 0 {
		return fmt.Sprintf("%dpps", r.Frames)
	}
	return r.Bits.String()
}

// FloodBurst is frames or bytes.
type FloodBurst struct {
	Frames int
	Bytes  units.Size
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *FloodBurst) UnmarshalText(b []byte) (err error) {
	if s.Frames, err = strconv.Atoi(string(b)); err != nil {
		s.Bytes, err = units.ParseSize(string(b))
	}
	if err != nil || s.Frames < 0 || s.Bytes < 0 || s.Frames == 0 && s.Bytes == 0 {
		return fmt.Errorf("burst %q: not a number of frames or bytes (write it like 100 or 64KB)", b)
	}
	return nil
}

func (s FloodBurst) String() string {
	if s.Frames > 0 {
		return strconv.Itoa(s.Frames)
	}
	return s.Bytes.String()
}

// limit is what the switch goes by.
func (l Limit) limit(mtu int) (f dataplane.FloodLimit, err error) {
	if l.Rate.V == (FloodRate{}) {
		if l.Burst.IsSet() {
			return f, fail(l.Burst, "storm control: a burst needs a rate")
		}
		return f, nil
	}
	f.Frames, f.Rate = l.Rate.V.Frames, l.Rate.V.Bits
	if l.Burst.IsSet() && (f.Frames > 0) != (l.Burst.V.Frames > 0) {
		return f, fail(l.Burst, "storm control: burst %v of rate %v: both are in frames, or neither is", l.Burst.V, l.Rate.V)
	}
	const usual = 10 * units.Millisecond
	if f.Frames > 0 {
		f.Burst = max(1, units.Size(f.Frames)*units.Size(usual)/units.Size(units.Second))
		if l.Burst.IsSet() {
			f.Burst = units.Size(l.Burst.V.Frames)
		}
	} else {
		f.Burst = max(f.Rate.Bytes(usual), units.Size(mtu+wire.EthernetLen+wire.VLANLen+wire.Overhead))
		if l.Burst.IsSet() {
			f.Burst = l.Burst.V.Bytes
		}
	}
	return f, nil
}

// or is the limit, or another if there is none.
func (l Limit) or(other Limit) Limit {
	if l.Rate.IsSet() || l.Burst.IsSet() {
		return l
	}
	return other
}

// limits are those of a port: its own, or the switch's.
func (c *Switch) limits(p Port, mtu int) (f dataplane.FloodLimits, err error) {
	all := c.Storm
	if f.Broadcast, err = p.Storm.Broadcast.or(all.Broadcast).limit(mtu); err != nil {
		return f, err
	}
	if f.Multicast, err = p.Storm.Multicast.or(all.Multicast).limit(mtu); err != nil {
		return f, err
	}
	f.Unknown, err = p.Storm.Unknown.or(all.Unknown).limit(mtu)
	return f, err
}

// where is the line of the first limit; 0: there is none.
func (s StormControl) where() int {
	for _, l := range []Limit{s.Broadcast, s.Multicast, s.Unknown} {
		if line := cmp.Or(l.Rate.Line, l.Burst.Line); line > 0 {
			return line
		}
	}
	return 0
}

// Floods reports whether any frames go to all ports. With VLANs none do: to all of a VLAN.
func (c *Switch) Floods() bool {
	l := &c.Learning
	return len(c.VLANs) == 0 && (l.Flood.Or(true) || l.Broad.Or(true) || l.Multi.Or(true))
}

// number reads a port or a VLAN.
func number(v Value[int], what string, most int) (uint16, error) {
	if v.V < 0 || v.V > most {
		return 0, fail(v, "there is no %s %d (there are 0 to %d)", what, v.V, most)
	}
	return uint16(v.V), nil
}

func (c *Switch) port(v Value[int]) (uint16, error) { return number(v, "port", len(c.Ports)-1) }

func (c *Switch) portList(list []Value[int]) (ports []uint16, err error) {
	for _, v := range list {
		p, err := c.port(v)
		if err != nil {
			return nil, err
		}
		ports = append(ports, p)
	}
	return ports, nil
}

// vlan reads the VLAN of something that is at a port; 0: the port's untagged one.
func vlan(v Value[int]) (uint16, error) {
	if v.IsSet() && (v.V < 1 || v.V > wire.MaxVLAN) {
		return 0, fail(v, "VLAN %d: there are 1 to %d", v.V, wire.MaxVLAN)
	}
	return uint16(v.V), nil
}

// forwarding fills in how frames find their way. What is wrong in the whole, the
// switch's check says.
func (c *Switch) forwarding(s *dataplane.SwitchConfig, devices []dpdk.Device) error {
	l := &c.Learning
	s.NoUnknown, s.NoBroadcast, s.NoMulticast = !l.Flood.Or(true), !l.Broad.Or(true), !l.Multi.Or(true)
	for _, v := range c.VLANs {
		if !v.ID.IsSet() {
			return FailIn([]any{v}, "a VLAN needs an id (write it like {id: 10, untagged: [0, 1]})")
		}
		x := dataplane.VLAN{}
		var err error
		if x.ID, err = vlan(v.ID); err != nil {
			return err
		}
		if x.Untagged, err = c.portList(v.Untagged); err != nil {
			return err
		}
		if x.Tagged, err = c.portList(v.Tagged); err != nil {
			return err
		}
		x.Addresses = hosts(v.Addresses)
		s.VLANs = append(s.VLANs, x)
	}
	if err := c.static(s); err != nil {
		return err
	}
	mac := c.running.Base
	if mac == 0 {
		first := dpdk.Device{}
		if devices != nil {
			first = devices[0]
		}
		mac = portMAC(first, 0)
	}
	s.Salt = uint32(mac)*0x9E3779B1 | 1 // equal paths: another choice than its neighbours'
	if m := c.Router.MAC; m.IsSet() && m.V == 0 {
		return fail(m, "router: mac %v: no station has that address (leave it out, and it is the first port's)", m.V)
	}
	if c.routes() {
		s.Router.MAC = c.Router.MAC.Or(mac)
	}
	s.Router.Addresses = addresses(c.Router.Addresses)
	for i, p := range c.Ports {
		s.Ports[i].Addresses = hosts(p.Addresses)
	}
	var err error
	if s.Paths, err = c.Router.Paths.choice(); err != nil {
		return err
	}
	if s.Router.ICMP, err = c.Router.ICMP.errors(s.Router.MAC != 0); err != nil {
		return err
	}
	for _, r := range c.Routes {
		if !r.Prefix.IsSet() {
			return FailIn([]any{r}, "a route needs a prefix (write it like {prefix: 10.0.1.0/24, via: [{address: 10.0.0.2}]})")
		}
		route := dataplane.Route{Prefix: r.Prefix.V.Prefix}
		if route.Refuse, err = refuses(r); err != nil {
			return err
		}
		for _, v := range r.Via {
			hop, err := c.nextHop(r, v)
			if err != nil {
				return err
			}
			for range v.Weight.Or(1) {
				route.Via = append(route.Via, hop)
			}
			if len(route.Via) > mostWeight {
				return fail(r.Prefix, "route %v: the weights of its next hops are more than %d together", r.Prefix.V, mostWeight)
			}
		}
		s.Router.Routes = append(s.Router.Routes, route)
	}
	return nil
}

// mostWeight is how many places the next hops of a route have.
const mostWeight = 64

// routes reports whether the switch is a router.
func (c *Switch) routes() bool {
	own := func(p Port) bool { return p.Addresses != nil }
	in := func(v VLAN) bool { return v.Addresses != nil }
	return c.Router.MAC.IsSet() || c.Router.Addresses != nil || c.Routes != nil || slices.ContainsFunc(c.Ports, own) || slices.ContainsFunc(c.VLANs, in)
}

func addresses(list []Value[wire.IP]) (all []netip.Addr) {
	for _, a := range list {
		all = append(all, a.V.Addr())
	}
	return all
}

// errors are the limits of a router.
func (c *ICMP) errors(router bool) (e dataplane.ICMP, err error) {
	rate, burst, dscp := c.Rate.Or(FloodRate{Frames: 1000}), c.Burst.Or(50), c.DSCP.Or(48)
	switch {
	case dscp < 0 || dscp > 63:
		return e, fail(c.DSCP, "icmp: dscp %d: there are 0 to 63", dscp)
	case rate.Frames == 0:
		return e, fail(c.Rate, "icmp: rate %v: errors are counted (write it like 1000pps; `errors: false` for none)", rate)
	case burst < 1 || burst > 1000*rate.Frames:
		return e, fail(c.Burst, "icmp: burst %d must be from 1 error to 1000 seconds of the rate", burst)
	case !router || !c.Errors.Or(true):
		return e, nil
	}
	return dataplane.ICMP{Rate: rate.Frames, Burst: burst, DSCP: uint8(dscp)}, nil
}

// refuses says what a route without next hops does.
func refuses(r Route) (dataplane.Refuse, error) {
	switch {
	case !r.Action.IsSet():
		return dataplane.Carry, nil
	case r.Via != nil:
		return 0, fail(r.Action, "route %v: it has an action or next hops, not both", r.Prefix.V)
	case r.Action.V == "prohibit":
		return dataplane.Prohibit, nil
	case r.Action.V == "blackhole":
		return dataplane.Blackhole, nil
	}
	return 0, fail(r.Action, "route %v: action %q: prohibit or blackhole", r.Prefix.V, r.Action.V)
}

// places are the ports behind one of which the address is.
func (a *StaticAddress) places() []Value[int] {
	if a.Port.IsSet() {
		return []Value[int]{a.Port}
	}
	return a.Ports
}

func (c *Switch) static(s *dataplane.SwitchConfig) error {
	for _, a := range c.Learning.Static {
		if !a.MAC.IsSet() {
			return FailIn([]any{a}, "a static address needs a mac (write it like {mac: 02:00:00:00:00:01, port: 0})")
		}
		if a.Port.IsSet() == (len(a.Ports) > 0) {
			return fail(a.MAC, "static address %v: say behind which port it is (`port: 0`, or one of several: "+
				"`ports: [0, 1]`)", a.MAC.V)
		}
		var ports []uint16
		for _, p := range a.places() {
			if p.V < 0 || p.V >= len(c.Ports) {
				return fail(p, "static address %v: there is no port %d (they count from 0 to %d)",
					a.MAC.V, p.V, len(c.Ports)-1)
			}
			ports = append(ports, uint16(p.V))
		}
		v, err := vlan(a.VLAN)
		if err != nil {
			return err
		}
		s.Static = append(s.Static, dataplane.StaticEntry{MAC: a.MAC.V, Ports: ports, VLAN: v})
	}
	return nil
}

// itemLine is the line of what the switch's check found wrong in one of its lists.
func (c *Switch) itemLine(err error) (line int, ok bool) {
	var e *dataplane.ItemError
	if !errors.As(err, &e) {
		return 0, false
	}
	switch e.List {
	case "ports":
		if line = c.Ports[e.Index].Storm.where(); line == 0 {
			line = c.Storm.where()
		}
	case "vlans":
		line = c.VLANs[e.Index].ID.Line
	case "static":
		line = c.Learning.Static[e.Index].MAC.Line
	case "routes":
		line = c.Routes[e.Index].Prefix.Line
	case "router":
		line = c.Router.MAC.Line
	case "paths":
		line = c.Router.Paths.By.Line
	case "addresses":
		line = c.addressLine(e.Index)
	}
	return line, true
}

// addressLine is the line of one of all addresses: those of the router, of ports and of VLANs, in this order.
func (c *Switch) addressLine(i int) int {
	var lines []int
	for _, a := range c.Router.Addresses {
		lines = append(lines, a.Line)
	}
	for _, p := range c.Ports {
		for _, a := range p.Addresses {
			lines = append(lines, a.Line)
		}
	}
	for _, v := range c.VLANs {
		for _, a := range v.Addresses {
			lines = append(lines, a.Line)
		}
	}
	return lines[i]
}

// describeForwarding prints VLANs, routes and limits.
func describeForwarding(s *dataplane.SwitchConfig) (lines []string) {
	in := make([]bool, len(s.Ports))
	for _, v := range s.VLANs {
		lines = append(lines, fmt.Sprintf("VLAN %d: ports %v untagged, %v tagged", v.ID, v.Untagged, v.Tagged))
		for _, p := range append(append([]uint16{}, v.Untagged...), v.Tagged...) {
			in[p] = true
		}
	}
	for p := range in {
		if s.VLANs != nil && !in[p] && !s.Ports[p].Vacant {
			lines = append(lines, fmt.Sprintf("port %d: in no VLAN, so every frame it receives is discarded", p))
		}
	}
	if r := s.Router; r.MAC != 0 {
		lines = append(lines, fmt.Sprintf("router %v: addresses %v, %d routes", r.MAC, r.Addresses, len(r.Routes)))
		for p := range s.Ports {
			if a := s.Ports[p].Addresses; a != nil {
				lines = append(lines, fmt.Sprintf("port %d: addresses %v", p, a))
			}
		}
		for _, v := range s.VLANs {
			if v.Addresses != nil {
				lines = append(lines, fmt.Sprintf("VLAN %d: addresses %v", v.ID, v.Addresses))
			}
		}
		if e := r.ICMP; e.Rate > 0 {
			lines = append(lines, fmt.Sprintf("ICMP errors: at most %dpps for what comes through a port, burst %d, DSCP %d", e.Rate, e.Burst, e.DSCP))
		} else {
			lines = append(lines, "ICMP errors: none")
		}
		if s.Paths.By != dataplane.ByFlow {
			lines = append(lines,
				fmt.Sprintf("equal next hops: by %v; packets of a flow may overtake each other", s.Paths))
		}
	}
	for p := range s.Ports {
		f := &s.Ports[p].Flood
		for _, l := range []struct {
			what string
			dataplane.FloodLimit
		}{{"broadcast", f.Broadcast}, {"multicast", f.Multicast}, {"unknown unicast", f.Unknown}} {
			switch {
			case l.Frames > 0:
				lines = append(lines, fmt.Sprintf("port %d: %s at most %dpps, burst %d", p, l.what, l.Frames, l.Burst))
			case l.Rate > 0:
				lines = append(lines, fmt.Sprintf("port %d: %s at most %v, burst %v", p, l.what, l.Rate, l.Burst))
			}
		}
	}
	for _, k := range []struct {
		never bool
		what  string
	}{
		{s.NoUnknown, "frames to unknown addresses"},
		{s.NoBroadcast, "broadcasts"}, {s.NoMulticast, "other frames to groups"},
	} {
		if k.never {
			lines = append(lines, k.what+" are discarded")
		}
	}
	return lines
}
