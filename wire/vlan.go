package wire

import "encoding/binary"

// MaxVLAN is the highest VLAN identifier that frames may carry; 0 means that a
// tag has only a priority, 4095 is reserved (IEEE 802.1Q table 9-2).
const MaxVLAN = 4094

// VLANID is the part of a tag's control information that names the VLAN.
const VLANID = 0x0FFF

// VLANTag returns the control information of a frame's outermost tag: priority
// (3 bits), drop eligible (1), VLAN identifier (12). ok is false if that is no
// 802.1Q C-TAG: there is none, or a provider's (802.1ad), which is payload to a
// customer bridge.
func VLANTag(b []byte) (tci uint16, ok bool) {
	if len(b) < EthernetLen+VLANLen || binary.BigEndian.Uint16(b[12:]) != TypeVLAN {
		return 0, false
	}
	return binary.BigEndian.Uint16(b[14:]), true
}

// PushVLANTag tags a frame that began VLANLen bytes into b; afterwards it begins at b.
func PushVLANTag(b []byte, tci uint16) {
	first, rest := binary.LittleEndian.Uint64(b[4:12]), binary.LittleEndian.Uint32(b[12:16])
	binary.LittleEndian.PutUint64(b[0:8], first)
	binary.LittleEndian.PutUint32(b[8:12], rest)
	binary.BigEndian.PutUint32(b[12:16], TypeVLAN<<16|uint32(tci))
}

// PopVLANTag removes the outermost tag; afterwards the frame begins VLANLen bytes into b.
func PopVLANTag(b []byte) {
	first, rest := binary.LittleEndian.Uint64(b[0:8]), binary.LittleEndian.Uint32(b[8:12])
	binary.LittleEndian.PutUint64(b[4:12], first)
	binary.LittleEndian.PutUint32(b[12:16], rest)
}

// SetPCP writes the priority code point of the C-tag of a tagged frame.
func SetPCP(b []byte, pcp uint8) { b[14] = b[14]&0x1F | pcp<<5 }
