package wire

import (
	"encoding/binary"
	"fmt"
	"net"
)

// MAC is an Ethernet address in the low 48 bits, first octet highest, so that
// it compares and hashes as one word.
type MAC uint64

// Broadcast is ff:ff:ff:ff:ff:ff.
const Broadcast MAC = 0xFFFF_FFFF_FFFF

// ParseMAC reads "02:00:0a:00:00:01".
func ParseMAC(s string) (MAC, error) {
	b, err := net.ParseMAC(s)
	if err != nil || len(b) != 6 {
		return 0, fmt.Errorf("MAC address %q: not six octets (write it like 02:00:0a:00:00:01)", s)
	}
	return MACAt(b), nil
}

// MACAt reads the address in the first six bytes of b.
func MACAt(b []byte) MAC {
	return MAC(binary.BigEndian.Uint32(b))<<16 | MAC(binary.BigEndian.Uint16(b[4:6]))
}

// Put writes m to the first six bytes of b.
func (m MAC) Put(b []byte) {
	binary.BigEndian.PutUint16(b[4:6], uint16(m))
	binary.BigEndian.PutUint32(b, uint32(m>>16))
}

// Multicast reports whether m is a group address, broadcast included.
func (m MAC) Multicast() bool { return m>>40&1 != 0 }

// Unicast reports whether a station may have the address: it is no group's, and not zero.
func (m MAC) Unicast() bool { return m != 0 && !m.Multicast() }

// LinkLocal reports whether m is one of 01-80-C2-00-00-00 to -0F, which no
// bridge forwards (IEEE 802.1Q clause 8.6.3): PAUSE, LLDP, spanning tree.
func (m MAC) LinkLocal() bool { return m>>4 == 0x0180_C200_000 }

func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", byte(m>>40), byte(m>>32), byte(m>>24), byte(m>>16), byte(m>>8), byte(m))
}

// UnmarshalText implements encoding.TextUnmarshaler for configuration files.
func (m *MAC) UnmarshalText(b []byte) (err error) { *m, err = ParseMAC(string(b)); return err }

// MarshalText implements encoding.TextMarshaler.
func (m MAC) MarshalText() ([]byte, error) { return []byte(m.String()), nil }
