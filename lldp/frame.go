package lldp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"photon/wire"
)

// EtherType of LLDP frames (IEEE 802.1AB clause 8.3).
const EtherType = 0x88CC

// NearestBridge is the destination of LLDP frames that no bridge of any kind forwards (802.1AB clause 7.1).
const NearestBridge wire.MAC = 0x0180_C200_000E

// MaxLen is the longest frame that Encode makes, bytes without FCS: every text is cut to 255 bytes.
const MaxLen = 1500

// TLV types (802.1AB table 8-1).
const (
	tlvEnd          = 0
	tlvChassis      = 1
	tlvPort         = 2
	tlvTTL          = 3
	tlvPortText     = 4
	tlvSystemName   = 5
	tlvSystemText   = 6
	tlvCapabilities = 7
	tlvOrganization = 127
)

// Subtypes of identifiers (802.1AB tables 8-2 and 8-3).
const (
	chassisMAC     = 4
	chassisAddress = 5
	portMAC        = 3
	portAddress    = 4
	portName       = 5
)

// Capabilities of a system (802.1AB table 8-4), as bits.
const (
	Bridge  = 1 << 2
	Router  = 1 << 4
	Station = 1 << 7
)

// Errors of Decode.
var (
	ErrNotLLDP = errors.New("lldp: not an LLDP frame")
	ErrOrder   = errors.New("lldp: chassis ID, port ID and time to live must come first, in this order, once each")
	ErrShort   = errors.New("lldp: a TLV is longer than what is left of the frame, or too short for what it says")
)

// Info is what a frame says of the port that sent it.
type Info struct {
	From         wire.MAC // source address of the frame
	Chassis      string   // of the system, readable: a MAC address, a name; what is neither, in hexadecimal
	Port         string   // of the port: an interface's name, mostly
	TTL          uint16   // seconds for which this holds; 0: the port goes away
	PortText     string   // what its operator calls the port
	SystemName   string
	SystemText   string
	Capabilities uint16 // that are enabled
	DCBX         DCBX
}

// Encode returns the frame of a port: chassis is the MAC address of its system, Port a name. Texts are cut to 255 bytes.
func (i *Info) Encode(chassis wire.MAC) []byte {
	b := make([]byte, wire.EthernetLen, MaxLen)
	NearestBridge.Put(b)
	i.From.Put(b[6:])
	binary.BigEndian.PutUint16(b[12:], EtherType)
	id := make([]byte, 7)
	id[0] = chassisMAC
	chassis.Put(id[1:])
	b = appendTLV(b, tlvChassis, id)
	b = appendTLV(b, tlvPort, append([]byte{portName}, cut(i.Port)...))
	b = appendTLV(b, tlvTTL, binary.BigEndian.AppendUint16(nil, i.TTL))
	if i.TTL > 0 { // a frame that takes leave has nothing else (802.1AB clause 8.2)
		for _, t := range []struct {
			kind int
			text string
		}{{tlvPortText, i.PortText}, {tlvSystemName, i.SystemName}, {tlvSystemText, i.SystemText}} {
			if t.text != "" {
				b = appendTLV(b, t.kind, []byte(cut(t.text)))
			}
		}
		able := binary.BigEndian.AppendUint16(nil, Bridge|Router|Station)
		b = appendTLV(b, tlvCapabilities, binary.BigEndian.AppendUint16(able, i.Capabilities))
		b = i.DCBX.append(b)
	}
	b = appendTLV(b, tlvEnd, nil)
	for len(b) < wire.MinFrameLen {
		b = append(b, 0)
	}
	return b
}

// cut is what fits into an identifier, after its subtype, in whole characters.
func cut(s string) string {
	if len(s) <= 255 {
		return s
	}
	end := 255
	for end > 255-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

func appendTLV(b []byte, kind int, value []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(kind<<9|len(value)))
	return append(b, value...)
}

// Decode reads a frame from its Ethernet header on. It skips what it does not know, and TLVs that are
// broken and need not be there; DCBX.Broken counts those of DCBX. Errors: ErrNotLLDP, ErrOrder, ErrShort.
func (i *Info) Decode(b []byte) error {
	*i = Info{}
	if len(b) < wire.EthernetLen || binary.BigEndian.Uint16(b[12:]) != EtherType {
		return ErrNotLLDP
	}
	i.From = wire.MACAt(b[6:])
	b = b[wire.EthernetLen:]
	for n := 0; ; n++ {
		if len(b) < 2 {
			if n < 3 {
				return ErrOrder
			}
			return nil // the end may be left out where the frame ends (802.1AB-2016 clause 8.5.1)
		}
		head := binary.BigEndian.Uint16(b)
		kind, length := int(head>>9), int(head&0x1FF)
		if length > len(b)-2 {
			return ErrShort
		}
		value := b[2 : 2+length]
		b = b[2+length:]
		if first := kind >= tlvChassis && kind <= tlvTTL; n < 3 != first || first && kind != n+1 {
			return ErrOrder
		}
		if kind == tlvEnd {
			return nil
		}
		if err := i.take(kind, value); err != nil {
			return err
		}
	}
}

// take reads a TLV. One that is broken is an error only if all frames must have it. Others count as not there: they are
// what the LLDP MIB counts as discarded TLVs.
func (i *Info) take(kind int, value []byte) error {
	switch kind {
	case tlvChassis, tlvPort:
		if len(value) < 2 || len(value) > 256 {
			return ErrShort
		}
		if kind == tlvChassis {
			i.Chassis = identifier(value, chassisMAC, chassisAddress)
		} else {
			i.Port = identifier(value, portMAC, portAddress)
		}
	case tlvTTL:
		if len(value) < 2 {
			return ErrShort
		}
		i.TTL = binary.BigEndian.Uint16(value)
	case tlvPortText:
		i.PortText = readable(value)
	case tlvSystemName:
		i.SystemName = readable(value)
	case tlvSystemText:
		i.SystemText = readable(value)
	case tlvCapabilities:
		if len(value) >= 4 {
			i.Capabilities = binary.BigEndian.Uint16(value[2:])
		}
	case tlvOrganization:
		if len(value) >= 4 {
			i.DCBX.take(value)
		}
	}
	return nil
}

// identifier is one for people, by its subtype, which comes first.
func identifier(b []byte, mac, address byte) string {
	kind, b := b[0], b[1:]
	switch {
	case kind == mac && len(b) == 6:
		return wire.MACAt(b).String()
	case kind == address && (b[0] == 1 && len(b) == 5 || b[0] == 2 && len(b) == 17): // IANA's numbers of families
		a, _ := netip.AddrFromSlice(b[1:])
		return a.String()
	}
	if text := readable(b); text == string(b) && text != "" && kind != mac && kind != address {
		return text
	}
	return "0x" + hex.EncodeToString(b)
}

// readable is a neighbour's text without what could not be seen, or would do something to a terminal.
func readable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(string(b), "\n", " "))
}

// Abilities names capabilities that are enabled.
func Abilities(bits uint16) (names []string) {
	for i, name := range []string{"other", "repeater", "bridge", "access point", "router", "telephone", "cable device", "station"} {
		if bits>>i&1 != 0 {
			names = append(names, name)
		}
	}
	for i := 8; i < 16; i++ {
		if bits>>i&1 != 0 {
			names = append(names, fmt.Sprintf("capability %d", i))
		}
	}
	return names
}
