package wire

import (
	"fmt"
	"net/netip"
)

// IP is an IPv4 or IPv6 address without pointers, so that it can be part of a
// flow table's key. IPv4 addresses are stored in their IPv6-mapped form.
type IP [16]byte

// ParseIP reads "10.0.0.1" or "fd00::1".
func ParseIP(s string) (IP, error) {
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return IP{}, fmt.Errorf("IP address %q: neither IPv4 nor IPv6 (write it like 10.0.0.1 or fd00::1)", s)
	}
	return a.As16(), nil
}

// IPv4 returns the address a.b.c.d.
func IPv4(a, b, c, d byte) IP { return netip.AddrFrom4([4]byte{a, b, c, d}).As16() }

// Addr returns the address as net/netip has it: an IPv4 address as one.
func (a IP) Addr() netip.Addr { return netip.AddrFrom16(a).Unmap() }

// Is4 reports whether a is an IPv4 address.
func (a IP) Is4() bool { return netip.AddrFrom16(a).Is4In6() }

// Unicast reports whether a host may have the address on a network: it is no group's, not all hosts' and not none's,
// and none that a host has for itself (loopback).
func (a IP) Unicast() bool {
	n := a.Addr()
	return !n.IsMulticast() && !n.IsUnspecified() && !n.IsLoopback() && n != netip.AddrFrom4([4]byte{255, 255, 255, 255})
}

func (a IP) String() string { return a.Addr().String() }

// UnmarshalText implements encoding.TextUnmarshaler for configuration files.
func (a *IP) UnmarshalText(b []byte) (err error) { *a, err = ParseIP(string(b)); return err }

// MarshalText implements encoding.TextMarshaler.
func (a IP) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// Addresses returns the source and destination of the IP header at the start of ip.
func Addresses(ip []byte) (src, dst IP) {
	if ip[0]>>4 == 6 {
		copy(src[:], ip[8:24])
		copy(dst[:], ip[24:40])
		return src, dst
	}
	src[10], src[11], dst[10], dst[11] = 0xFF, 0xFF, 0xFF, 0xFF
	copy(src[12:], ip[12:16])
	copy(dst[12:], ip[16:20])
	return src, dst
}
