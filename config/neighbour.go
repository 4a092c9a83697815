package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"photon/dataplane"
	"photon/wire"
)

// Subnet is an address of the router, and which other addresses are where it is: 10.1.0.1/24. Without a length there
// are none.
type Subnet struct {
	Host netip.Addr
	Net  netip.Prefix
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Subnet) UnmarshalText(b []byte) error {
	if !strings.Contains(string(b), "/") {
		a, err := wire.ParseIP(string(b))
		s.Host = a.Addr()
		return err
	}
	p, err := netip.ParsePrefix(string(b))
	if err != nil || p.Addr().Is4In6() {
		return fmt.Errorf("address %q: neither IPv4 nor IPv6 (write it like 10.1.0.1/24 or fd00::1/64)", b)
	}
	s.Host, s.Net = p.Addr(), p.Masked()
	if what := s.noHost(s.Host); what != "" {
		return fmt.Errorf("address %q: that is %s, and no host's (write it like 10.1.0.1/24 or fd00::1/64)", b, what)
	}
	return nil
}

// noHost is what an address of the subnet is that no host has (RFC 1122 section 3.2.1.3, RFC 4291 section 2.6.1); empty: a
// host may have it. Two addresses are both hosts' (RFC 3021, RFC 6164).
func (s Subnet) noHost(a netip.Addr) string {
	if !s.Net.IsValid() || s.Net.Bits() >= a.BitLen()-1 {
		return ""
	}
	switch next := a.Next(); {
	case a == s.Net.Addr() && a.Is6():
		return "the address of all routers of the subnet"
	case a == s.Net.Addr():
		return "the address of the subnet"
	case a.Is4() && s.Net.Contains(a) && !(next.IsValid() && s.Net.Contains(next)):
		return "the broadcast address of the subnet"
	}
	return ""
}

func (s Subnet) String() string {
	if !s.Net.IsValid() {
		return s.Host.String()
	}
	return netip.PrefixFrom(s.Host, s.Net.Bits()).String()
}

func hosts(list []Value[Subnet]) (all []netip.Addr) {
	for _, a := range list {
		all = append(all, a.V.Host)
	}
	return all
}

// nextHop is what the switch goes by.
func (c *Switch) nextHop(r Route, v NextHop) (hop dataplane.NextHop, err error) {
	hop = dataplane.NextHop{MAC: v.MAC.V, MTU: v.MTU.V}
	switch {
	case v.Address.IsSet() && v.MAC.IsSet():
		return hop, fail(v.MAC, "route %v: a next hop has an address, for which the switch asks, or a MAC, not both", r.Prefix.V)
	case !v.Address.IsSet() && (!v.Port.IsSet() || !v.MAC.IsSet()):
		return hop, fail(r.Prefix, "route %v: a next hop needs an address, or a port and a MAC address", r.Prefix.V)
	case v.MTU.IsSet() && v.MTU.V < 1:
		return hop, fail(v.MTU, "mtu %d of a next hop must be positive", v.MTU.V)
	case v.Weight.IsSet() && (v.Weight.V < 1 || v.Weight.V > mostWeight):
		return hop, fail(v.Weight, "weight %d of a next hop: from 1 to %d", v.Weight.V, mostWeight)
	}
	if hop.VLAN, err = vlan(v.VLAN); err != nil {
		return hop, err
	}
	if v.Address.IsSet() {
		hop.Address = v.Address.V.Addr()
	}
	switch {
	case v.Port.IsSet():
		hop.Port, err = c.port(v.Port)
	case v.VLAN.IsSet():
		hop.AnyPort = true
	default:
		err = c.place(v, &hop)
	}
	if err == nil && r.Prefix.V.Addr().Is6() {
		err = c.carriesIPv6(r, hop)
	}
	return hop, err
}

// leastIPv6 is the MTU that each link with IPv6 has (RFC 8200 section 5): a host makes no shorter packets, whatever the
// router says, so that longer ones would never arrive.
const leastIPv6 = 1280

// carriesIPv6 says which port that leads to a next hop is too narrow for IPv6.
func (c *Switch) carriesIPv6(r Route, hop dataplane.NextHop) error {
	ports := []uint16{hop.Port}
	if i := slices.IndexFunc(c.VLANs, func(v VLAN) bool { return hop.AnyPort && v.ID.V == int(hop.VLAN) }); i >= 0 {
		var err error
		if ports, err = c.portList(slices.Concat(c.VLANs[i].Untagged, c.VLANs[i].Tagged)); err != nil {
			return err
		}
	}
	for _, p := range ports {
		mtu := c.MTU
		if own := c.Ports[p].MTU; own.IsSet() {
			mtu = own
		}
		if mtu.Or(defaultMTU) < leastIPv6 {
			return fail(mtu, "route %v: port %d has an mtu of %d, and IPv6 needs %d", r.Prefix.V, p, mtu.V, leastIPv6)
		}
	}
	return nil
}

// place finds where a next hop is by the addresses of ports and VLANs. The longest subnet counts.
func (c *Switch) place(v NextHop, hop *dataplane.NextHop) error {
	best, none, at, also := -1, "", "", ""
	better := func(here string, list []Value[Subnet]) bool {
		found := false
		for _, a := range list {
			n := a.V.Net
			if !n.IsValid() || !n.Contains(hop.Address) {
				continue
			}
			switch {
			case n.Bits() > best:
				best, found, none, at, also = n.Bits(), true, a.V.noHost(hop.Address), here, ""
			case n.Bits() == best && here != at:
				also = here
			}
		}
		return found
	}
	for i, p := range c.Ports {
		if better(fmt.Sprintf("port %d", i), p.Addresses) {
			hop.Port = uint16(i)
		}
	}
	for _, x := range c.VLANs {
		if better(fmt.Sprintf("VLAN %d", x.ID.V), x.Addresses) {
			hop.Port, hop.AnyPort, hop.VLAN = 0, true, uint16(x.ID.V)
		}
	}
	if also != "" {
		return fail(v.Address, "next hop %v: its subnet is at %s and at %s (say its port or VLAN)", hop.Address, at, also)
	}
	if best < 0 {
		return fail(v.Address, "next hop %v: it is in the subnet of no port or VLAN (write their `addresses` like 10.1.0.1/24, or say its port)", hop.Address)
	}
	if none != "" {
		return fail(v.Address, "next hop %v: that is %s, and no neighbour's", hop.Address, none)
	}
	return nil
}
