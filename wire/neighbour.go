package wire

import (
	"encoding/binary"
	"net/netip"
)

// Protocols by which hosts find and try their router.
const (
	ProtoICMP   = 1
	ProtoICMPv6 = 58
	ProtoNone   = 59 // of IPv6: nothing follows

	arpLen      = 28 // of Ethernet and IPv4
	ndLen       = 24 // of a solicitation or advertisement without options
	ndOptionLen = 8  // of a link-layer address

	// AdvertisementLen is how long a neighbour advertisement is, from the IPv6 header on.
	AdvertisementLen = IPv6Len + ndLen + ndOptionLen
)

// ARPTarget returns for which address an ARP request asks (RFC 826). ok is false
// if the bytes after the Ethernet header are no request of Ethernet and IPv4.
func ARPTarget(a []byte) (target netip.Addr, ok bool) {
	const request = 0x0001_0800_06_04_0001 // hardware, protocol, their lengths, operation
	if len(a) < arpLen || binary.BigEndian.Uint64(a) != request {
		return target, false
	}
	return netip.AddrFrom4([4]byte(a[24:28])), true
}

// AnswerARP makes the reply of a request: the target is at mac.
func AnswerARP(a []byte, mac MAC) {
	var target [4]byte
	copy(target[:], a[24:28])
	a[7] = 2
	copy(a[18:28], a[8:18]) // who asked is who is answered
	mac.Put(a[8:])
	copy(a[14:18], target[:])
}

// SolicitationTarget returns for which address a neighbour solicitation asks
// (RFC 4861 section 7.1.1). ip is the packet from the IPv6 header on; length is
// how many bytes of the frame there are. ok is false if it is none, is broken, or is
// not all at hand.
func SolicitationTarget(ip []byte, length int) (target netip.Addr, ok bool) {
	if !IPv6OK(ip, length) || ip[6] != ProtoICMPv6 || ip[7] != 255 {
		return target, false
	}
	end := IPv6Len + int(binary.BigEndian.Uint16(ip[4:]))
	if end < IPv6Len+ndLen || end > len(ip) || ip[40] != 135 || ip[41] != 0 || ICMPv6Sum(ip[:end]) != 0xFFFF {
		return target, false
	}
	from, to := netip.AddrFrom16([16]byte(ip[8:24])), [16]byte(ip[24:40])
	mac, ok := ndMAC(ip[IPv6Len+ndLen:end], ndSource)
	if !ok || from.IsMulticast() || from.IsLoopback() {
		return target, false
	}
	if from.IsUnspecified() && (mac != 0 || [13]byte(to[:13]) != solicitedNodes) {
		return target, false
	}
	return netip.AddrFrom16([16]byte(ip[48:64])), true
}

// Advertise makes a neighbour advertisement of a solicitation: the target is a
// router, at mac. ip has AdvertisementLen bytes. Who has no address yet cannot be answered alone: the packet is then
// for AllNodes, and toAll is true.
func Advertise(ip []byte, mac MAC) (toAll bool) {
	const router, solicited, override = 1 << 31, 1 << 30, 1 << 29
	ip = ip[:AdvertisementLen]
	binary.BigEndian.PutUint16(ip[4:], ndLen+ndOptionLen)
	copy(ip[24:40], ip[8:24])
	copy(ip[8:24], ip[48:64])
	ip[40], ip[41], ip[42], ip[43] = 136, 0, 0, 0
	flags := uint32(router | solicited | override)
	if toAll = [16]byte(ip[24:40]) == [16]byte{}; toAll {
		ip[24], ip[25], ip[39] = 0xFF, 2, 1
		flags &^= solicited
	}
	binary.BigEndian.PutUint32(ip[44:], flags)
	ip[64], ip[65] = 2, 1 // target link-layer address, 8 bytes
	mac.Put(ip[66:])
	binary.BigEndian.PutUint16(ip[42:], ^ICMPv6Sum(ip))
	return toAll
}

// Kinds of options that have an address of the link (RFC 4861 section 4.6.1).
const (
	ndSource = 1
	ndTarget = 2
)

// AllNodes is where all hosts of a link hear packets to ff02::1 (RFC 2464 section 7).
const AllNodes MAC = 0x3333_0000_0001

// solicitedNodes is how the groups begin in which hosts are asked for (RFC 4291 section 2.7.1).
var solicitedNodes = [13]byte{0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF}

// ndMAC finds the address of the link in options of neighbour discovery; 0: there is none of the kind. ok is false if
// an option is broken, so that the packet does not count.
func ndMAC(options []byte, kind byte) (mac MAC, ok bool) {
	for rest := options; len(rest) > 0; {
		n := 8
		if len(rest) >= 2 {
			n = 8 * int(rest[1])
		}
		if n == 0 || n > len(rest) {
			return 0, false
		}
		if rest[0] == kind && n == ndOptionLen {
			mac = MACAt(rest[2:])
		}
		rest = rest[n:]
	}
	return mac, true
}

// IsICMPv6 reports whether an IP packet is one of ICMPv6, without extension headers.
func IsICMPv6(ip []byte) bool { return ip[0]>>4 == 6 && ip[6] == ProtoICMPv6 }

// ICMPv6Sum is the ones' complement sum over an ICMPv6 packet and its pseudo
// header (RFC 4443 section 2.3), 0xFFFF if its checksum is right. ip is the packet
// without extension headers, whole.
func ICMPv6Sum(ip []byte) uint16 {
	sum := uint32(onesSum(ip[8:])) + ProtoICMPv6 + uint32(len(ip)-IPv6Len)
	sum = sum&0xFFFF + sum>>16
	return uint16(sum&0xFFFF + sum>>16)
}

// AnswerEcho makes the reply of an echo request (RFC 792, RFC 4443 section 4.1),
// and reports whether the packet is one. Checksums are corrected incrementally: a
// payload that is not at hand does not matter, and one that was broken stays so.
func AnswerEcho(ip []byte) bool {
	if ip[0]>>4 == 6 {
		long := len(ip) >= IPv6Len+4 && binary.BigEndian.Uint16(ip[4:]) >= icmpLen
		if !long || ip[6] != ProtoICMPv6 || ip[40] != 128 || ip[41] != 0 {
			return false
		}
		swap(ip[8:24], ip[24:40])
		ip[7], ip[40] = 64, 129
		Correct(ip[42:], 128<<8, 129<<8)
		return true
	}
	at := int(ip[0]&15) * 4
	long := len(ip) >= at+4 && int(binary.BigEndian.Uint16(ip[2:])) >= at+icmpLen
	fragment := binary.BigEndian.Uint16(ip[6:])&0x3FFF != 0
	if !long || fragment || ip[9] != ProtoICMP || ip[at] != 8 || ip[at+1] != 0 {
		return false
	}
	swap(ip[12:16], ip[16:20])
	before := binary.BigEndian.Uint16(ip[8:])
	ip[8], ip[at] = 64, 0
	Correct(ip[10:], before, binary.BigEndian.Uint16(ip[8:]))
	Correct(ip[at+2:], 8<<8, 0)
	return true
}

func swap(a, b []byte) {
	for i := range a {
		a[i], b[i] = b[i], a[i]
	}
}
