package wire

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// icrcSeed is the CRC of the eight bytes of ones that stand where an
// InfiniBand local route header would be.
var icrcSeed = crc32.ChecksumIEEE([]byte{255, 255, 255, 255, 255, 255, 255, 255})

// masked is what an ICRC has in place of telemetry, which switches change.
var masked = [INTLen]byte(bytes.Repeat([]byte{255}, INTLen))

// ICRC returns the invariant CRC of the RoCEv2 packet that begins with the IP
// header ip[0] and whose base transport header lies at ip[bth]; ip ends where
// the ICRC begins. Fields that routers change count as ones: IPv4 TOS, TTL and
// checksum, IPv6 traffic class, flow label and hop limit, the UDP checksum, and
// the FECN/BECN byte (IBA annex A17.3.3). So do the bytes of in-band telemetry,
// which switches write. The bytes are changed in place and put back, so that
// nothing is copied but those.
func ICRC(ip []byte, bth int) uint32 {
	var saved [8]byte
	var telemetry [INTLen]byte
	head := ip[:bth+BTHLen]
	udp := head[bth-UDPLen:]
	stamped := INTOf(ip, bth)
	copy(telemetry[:], stamped)
	copy(stamped, masked[:])
	if head[0]>>4 == 6 {
		copy(saved[:4], head)
		saved[4] = head[7]
		head[0] |= 0x0F
		head[1], head[2], head[3], head[7] = 255, 255, 255, 255
	} else {
		saved[0], saved[1], saved[2], saved[3] = head[1], head[8], head[10], head[11]
		head[1], head[8], head[10], head[11] = 255, 255, 255, 255
	}
	saved[5], saved[6], saved[7] = udp[6], udp[7], head[bth+4]
	udp[6], udp[7], head[bth+4] = 255, 255, 255
	crc := crc32.Update(icrcSeed, crc32.IEEETable, ip)
	udp[6], udp[7], head[bth+4] = saved[5], saved[6], saved[7]
	if head[0]>>4 == 6 {
		copy(head, saved[:4])
		head[7] = saved[4]
	} else {
		head[1], head[8], head[10], head[11] = saved[0], saved[1], saved[2], saved[3]
	}
	copy(stamped, telemetry[:])
	return crc
}

// SealICRC writes the ICRC into the last four bytes of a packet, which begins
// with the IP header and must be whole. It is little-endian on the wire.
func SealICRC(ip []byte, bth int) {
	end := len(ip) - ICRCLen
	binary.LittleEndian.PutUint32(ip[end:], ICRC(ip[:end], bth))
}

// ICRCOK reports whether the last four bytes of a whole packet are its ICRC.
func ICRCOK(ip []byte, bth int) bool {
	end := len(ip) - ICRCLen
	return end >= bth+BTHLen && binary.LittleEndian.Uint32(ip[end:]) == ICRC(ip[:end], bth)
}

// Sealer does what SealICRC and ICRCOK do, and is twice as quick with short packets,
// as acknowledgements are. The zero value is ready; one goroutine at a time uses it.
type Sealer struct{ scratch [shortICRC]byte }

// shortICRC is how long a short packet may be: one step of the carry-less
// multiplication that crc32 uses from this length on.
const shortICRC = 64

// Seal is SealICRC.
func (s *Sealer) Seal(ip []byte, bth int) {
	end := len(ip) - ICRCLen
	binary.LittleEndian.PutUint32(ip[end:], s.icrc(ip[:end], bth))
}

// OK is ICRCOK.
func (s *Sealer) OK(ip []byte, bth int) bool {
	end := len(ip) - ICRCLen
	return end >= bth+BTHLen && binary.LittleEndian.Uint32(ip[end:]) == s.icrc(ip[:end], bth)
}

// icrc is ICRC. Of a short IPv4 packet without telemetry a copy stands behind zeros,
// which do not change a remainder of zero: the seed's is added to the packet's first
// four bytes instead.
func (s *Sealer) icrc(ip []byte, bth int) uint32 {
	if len(ip) > shortICRC || bth < IPv4Len+UDPLen || bth+BTHLen > len(ip) || ip[0]>>4 != 4 || INTOf(ip, bth) != nil {
		return ICRC(ip, bth)
	}
	clear(s.scratch[:shortICRC-len(ip)])
	head := s.scratch[shortICRC-len(ip):]
	copy(head, ip)
	head[1], head[8], head[10], head[11] = 255, 255, 255, 255
	head[bth-2], head[bth-1], head[bth+4] = 255, 255, 255
	binary.LittleEndian.PutUint32(head, binary.LittleEndian.Uint32(head)^^icrcSeed)
	return crc32.Update(1<<32-1, crc32.IEEETable, s.scratch[:])
}
