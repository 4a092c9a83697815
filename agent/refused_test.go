package agent

import (
	"encoding/binary"
	"testing"

	"photon/cnp"
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// What a network card does not take, a host does not take either: packets for another station or for a group of them,
// and such with a broken IP header, whatever they bring. The checksum of UDP may be anything.
func TestPacketsThatAreRefused(t *testing.T) {
	six := func(last byte) wire.IP { return wire.IP{0: 0xFD, 15: last} }
	harms := []struct {
		name string
		do   func(b []byte, l3 int)
		why  fabric.Reason // 0: it is taken
	}{
		{"none", func([]byte, int) {}, 0},
		{"another station", func(b []byte, _ int) { b[5]++ }, fabric.DropUnknown},
		{"everybody", func(b []byte, _ int) { copy(b, "\xFF\xFF\xFF\xFF\xFF\xFF") }, fabric.DropUnknown},
		{"a group", func(b []byte, _ int) { b[0] |= 1 }, fabric.DropUnknown},
		{"a mark that is not in the checksum", func(b []byte, l3 int) { b[l3+1] |= wire.CE }, fabric.DropBadIP},
		{"another time to live", func(b []byte, l3 int) { b[l3+8]-- }, fabric.DropBadIP},
		{"another checksum", func(b []byte, l3 int) { b[l3+11]++ }, fabric.DropBadIP},
		{"a checksum of UDP", func(b []byte, l3 int) { b[l3+wire.IPv4Len+6] = 1 }, 0},
	}
	packets := []struct {
		name   string
		opcode uint8
		psn    uint32
	}{
		{"first", wire.OpSendFirst, 0}, {"middle", wire.OpSendMiddle, 1}, {"last", wire.OpSendLast, 2},
		{"CNP", wire.OpCNP, 0}, {"acknowledgement", wire.OpAcknowledge, 5},
	}
	for _, tagged := range []bool{false, true} {
		for _, v6 := range []bool{false, true} {
			for _, packet := range packets {
				for _, harm := range harms {
					if v6 && (harm.why == fabric.DropBadIP || harm.name == "a checksum of UDP") {
						continue // that header has none, and no place for one at hand
					}
					c := cableConfig(1)
					from := cableAddress(0)
					if v6 {
						from, c.IP = six(1), six(2)
					}
					env := fabric.NewEnv(fabric.NewHeaderPoolOf(512), 1)
					h, err := New(c, env)
					if err != nil {
						t.Fatal(err)
					}
					flow := FlowSpec{Peer: from, PeerMAC: cableMAC(0), QP: 7, Size: 100 * cablePayload, PSN: 5, FixedPSN: true}
					if _, err := h.AddFlow(0, flow); err != nil {
						t.Fatal(err)
					}
					var burst [8]fabric.Frame
					for _, f := range burst[:h.Transmit(units.Millisecond, 0, burst[:])] {
						env.Free(f)
					}
					give := func(opcode uint8, psn uint32, harm func([]byte, int)) {
						f, _ := env.Alloc(256)
						b := env.Bytes(&f)
						length := wire.BTHLen + 16 + wire.ICRCLen
						to := wire.RoCE{DstMAC: c.MAC, SrcMAC: cableMAC(0), Src: from, Dst: c.IP, TOS: 26<<2 | wire.ECT0}
						at := to.Encode(b, length)
						switch opcode {
						case wire.OpCNP:
							f.Len = uint16(cnp.Encode(b, to, 7, cnp.Notice{}))
						case wire.OpAcknowledge:
							length = ackLen(0)
							at = to.Encode(b, length)
							wire.AETH(b[at+wire.BTHLen:]).Encode(wire.SyndromeACK, 5)
							fallthrough
						default:
							wire.BTH(b[at:]).Encode(opcode, false, 7, false, psn)
							f.Len = uint16(at + length)
							h.sealer.Seal(b[wire.EthernetLen:f.Len], at-wire.EthernetLen)
						}
						l3 := wire.EthernetLen
						if tagged {
							copy(b[l3+wire.CNTagLen:], b[l3:f.Len])
							copy(b[l3+2:], b[l3-2:l3]) // the tag, and behind it the type that was there
							binary.BigEndian.PutUint16(b[l3-2:], wire.TypeCNTag)
							copy(b[l3:], []byte{0, 7})
							f.Len, l3 = f.Len+wire.CNTagLen, l3+wire.CNTagLen
							if v6 {
								binary.BigEndian.PutUint16(b[l3-2:], wire.TypeIPv6)
							} else {
								binary.BigEndian.PutUint16(b[l3-2:], wire.TypeIPv4)
							}
						}
						harm(b, l3)
						h.Receive(units.Millisecond, 0, []fabric.Frame{f})
					}
					for _, before := range packets { // so that the host knows the flow
						if before.psn < packet.psn && packet.opcode <= wire.OpSendOnly {
							give(before.opcode, before.psn, func([]byte, int) {})
						}
					}
					before := h.Stats(units.Millisecond)
					give(packet.opcode, packet.psn, harm.do)
					after := h.Stats(units.Millisecond)
					taken := h.Received(from, 7).Frames == uint64(packet.psn)+1
					switch packet.opcode {
					case wire.OpCNP:
						taken = after.RPHandled > before.RPHandled
					case wire.OpAcknowledge:
						taken = h.flows[0].acked == 6
					}
					name := []string{packet.name, harm.name}
					if want := harm.why == 0; taken != want {
						t.Errorf("%v, tagged %v, IPv6 %v: taken %v", name, tagged, v6, taken)
					}
					if n := after.Ports[0].Discards[harm.why][3]; harm.why != 0 && n != 1 || after.NPMarked > 0 {
						t.Errorf("%v, tagged %v, IPv6 %v: %d discarded as %v, %d marks", name, tagged, v6, n, harm.why, after.NPMarked)
					}
					if err := h.Audit(); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}
