package agent

import (
	"net/netip"

	"photon/wire"
)

// Doubles are frames by which another host says that it has one of the addresses of this one: flows to such an address
// end at either, and a receiver takes flows from one IP address for those of one host.
type Doubles struct {
	MAC uint64   // announcements from the host's own MAC address: of another host, or back by a loop of the network
	IP  uint64   // announcements, ARP and neighbour discovery that claim its IP address for another MAC address
	At  wire.MAC // which was this, the last time
}

// Doubles counts what the host has heard of others with its addresses.
func (h *Host) Doubles() Doubles { return h.doubles }

// hear takes what is no packet of a flow: the announcement of another host is for switches, and no loss. Who claims an
// address of this host is noted.
func (h *Host) hear(length uint16, b []byte, hdr *wire.Header) (announced bool) {
	says, announced := announces(b, hdr)
	ok := announced
	switch {
	case announced && hdr.Src == h.config.MAC:
		h.doubles.MAC++
	case hdr.EtherType == wire.TypeARP:
		says, ok = wire.ARPBinding(b[hdr.Payload:])
	case hdr.EtherType == wire.TypeIPv6 && hdr.Proto == wire.ProtoICMPv6:
		says, ok = wire.NDBinding(b[hdr.L3:], int(length)-hdr.L3)
	}
	if ok && says.Addr.As16() == h.config.IP && says.MAC != h.config.MAC {
		h.doubles.IP++
		h.doubles.At = says.MAC
	}
	return announced
}

// announces reports whether a frame is the announcement of another host, and what that says.
func announces(b []byte, hdr *wire.Header) (says wire.Binding, ok bool) {
	at := hdr.Payload - 2
	end := at + len(announcement)
	if hdr.EtherType != 6 || hdr.Dst != wire.Broadcast || len(b) < end || string(b[at:end]) != announcement {
		return says, false
	}
	says.MAC = hdr.Src
	if len(b) >= end+len(wire.IP{}) {
		says.Addr = netip.AddrFrom16([16]byte(b[end:]))
	}
	return says, true
}
