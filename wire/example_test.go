package wire_test

import (
	"fmt"

	"photon/wire"
)

// A frame's headers are read in place, and its mark is written in place.
func Example() {
	to := wire.RoCE{DstMAC: 0x0200_0A09_0003, SrcMAC: 0x0200_0A09_0001, Src: wire.IPv4(10, 9, 0, 1), Dst: wire.IPv4(10, 9, 0, 3), TOS: 26<<2 | wire.ECT0, SrcPort: 49152}
	frame := make([]byte, wire.RoCEMaxLen+wire.BTHLen+1000+wire.ICRCLen)
	bth := to.Encode(frame, wire.BTHLen+1000+wire.ICRCLen)
	wire.BTH(frame[bth:]).Encode(wire.OpSendOnly, false, 0x17, true, 42)

	var h wire.Header
	if !wire.Parse(frame, &h) {
		fmt.Println("no Ethernet header")
		return
	}
	src, dst := wire.Addresses(frame[h.L3:])
	fmt.Println(h.Dst, src, "to", dst, "DSCP", h.TOS>>2, "queue pair", wire.BTH(frame[h.BTH:]).DestQP())
	wire.SetECN(frame[h.L3:], wire.CE)
	fmt.Println(wire.ECN(frame[h.L3:]) == wire.CE, wire.IPv4ChecksumOK(frame[h.L3:]))
	// Output:
	// 02:00:0a:09:00:03 10.9.0.1 to 10.9.0.3 DSCP 26 queue pair 23
	// true true
}
