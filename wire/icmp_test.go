package wire

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
)

// packet4 is an IPv4 packet with a payload of zeros, but for its first byte.
func packet4(proto, first byte, fragment uint16, dst ...byte) []byte {
	b := make([]byte, 100)
	b[0], b[8], b[9], b[20] = 0x45, 64, proto, first
	binary.BigEndian.PutUint16(b[2:], 100)
	binary.BigEndian.PutUint16(b[6:], fragment)
	copy(b[12:], []byte{10, 0, 0, 1})
	copy(b[16:], dst)
	SetIPv4Checksum(b)
	return b
}

// packet6 is one of IPv6, with these bytes behind the header.
func packet6(next byte, dst string, payload ...byte) []byte {
	b := make([]byte, 100)
	b[0], b[6], b[7] = 0x60, next, 64
	binary.BigEndian.PutUint16(b[4:], 60)
	for at, a := range map[int]string{8: "fd00::1", 24: dst} {
		x := netip.MustParseAddr(a).As16()
		copy(b[at:], x[:])
	}
	copy(b[40:], payload)
	return b
}

// Of which packets ICMP errors may be sent (RFC 1122 section 3.2.2, RFC 4443 section 2.4 e).
func TestMayComplain(t *testing.T) {
	for _, c := range []struct {
		name string
		ip   []byte
		want bool
	}{
		{"UDP", packet4(17, 0, 0, 10, 0, 0, 2), true}, {"echo request", packet4(1, 8, 0, 10, 0, 0, 2), true}, {"echo reply", packet4(1, 0, 0, 10, 0, 0, 2), true},
		{"unreachable", packet4(1, 3, 0, 10, 0, 0, 2), false}, {"time exceeded", packet4(1, 11, 0, 10, 0, 0, 2), false}, {"redirect", packet4(1, 5, 0, 10, 0, 0, 2), false},
		{"an unknown type", packet4(1, 200, 0, 10, 0, 0, 2), false}, {"cut", packet4(1, 8, 0, 10, 0, 0, 2)[:20], false},
		{"first fragment", packet4(17, 0, 0x2000, 10, 0, 0, 2), true}, {"later fragment", packet4(17, 0, 5, 10, 0, 0, 2), false},
		{"group", packet4(17, 0, 0, 224, 0, 0, 5), false}, {"everybody", packet4(17, 0, 0, 255, 255, 255, 255), false}, {"loopback", packet4(17, 0, 0, 127, 0, 0, 1), false},
		{"UDP, IPv6", packet6(17, "fd00::2"), true}, {"echo request, IPv6", packet6(58, "fd00::2", 128), true}, {"too big", packet6(58, "fd00::2", 2), false},
		{"redirect, IPv6", packet6(58, "fd00::2", 137), false}, {"group, IPv6", packet6(17, "ff02::1"), false}, {"cut, IPv6", packet6(58, "fd00::2", 128)[:40], false},
		{"an error behind a header", packet6(0, "fd00::2", 58, 0, 0, 0, 0, 0, 0, 0, 1), false}, {"a request behind two", packet6(0, "fd00::2", 60, 0, 0, 0, 0, 0, 0, 0, 58, 0, 0, 0, 0, 0, 0, 0, 128), true},
		{"first fragment, IPv6", packet6(44, "fd00::2", 17, 0, 0, 1), true}, {"later fragment, IPv6", packet6(44, "fd00::2", 17, 0, 0, 9), false},
		{"a header that is cut", packet6(43, "fd00::2", 58, 7), false},
	} {
		if got := MayComplain(c.ip); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Whatever is at hand of a packet whose header is right: the error is an IP packet whose sums hold, as long as it may
// be, from whom it says, and quotes how the packet begins.
func FuzzICMPError(f *testing.F) {
	f.Add(packet4(17, 0, 0, 10, 0, 0, 2), uint16(1500))
	f.Add(packet6(0, "fd00::2", 58, 0, 0, 0, 0, 0, 0, 0, 128), uint16(1500))
	f.Add(packet6(44, "fd00::2", 17, 0, 0, 9), uint16(100))
	f.Fuzz(func(t *testing.T, ip []byte, most uint16) {
		if !HeaderOK(ip, 1<<17) || most < IPv6Len+icmpLen {
			return
		}
		MayComplain(ip)
		from, headers, longest := netip.MustParseAddr("10.0.0.9"), IPv4Len+icmpLen, most4
		if ip[0]>>4 == 6 {
			from, headers, longest = netip.MustParseAddr("fd00::9"), IPv6Len+icmpLen, most6
		}
		out := make([]byte, ICMPErrorLen(ip, int(most)))
		EncodeICMPError(out, ip, from, 48<<2, ICMPError{Type: 3, Code: 4, Word: 1400})
		quote := out[headers:]
		switch {
		case !HeaderOK(out, len(out)) || TotalLen(out) != len(out) || len(out) > min(longest, int(most)):
			t.Errorf("% x", out)
		case from.Is4() && onesSum(out[IPv4Len:]) != 0xFFFF || from.Is6() && ICMPv6Sum(out) != 0xFFFF:
			t.Errorf("a sum is wrong: % x", out)
		case Source(out) != from || Destination(out) != Source(ip) || !bytes.Equal(quote, ip[:len(quote)]):
			t.Errorf("% x", out)
		case len(out) < min(longest, int(most)) && len(quote) != min(len(ip), TotalLen(ip)):
			t.Errorf("it quotes %d of %d bytes", len(quote), len(ip))
		}
	})
}
