package main

import "photon/wire"

const (
	hosts = 64
	flows = 256

	maxPorts = 4
	tos      = 26<<2 | wire.ECT0 // priority 3
)

// hostMAC is the address of a host.
func hostMAC(h int) wire.MAC { return 0x0200_0000_0000 | wire.MAC(h) }

// packet writes the headers of a packet of a flow.
func packet(b []byte, flow, length int) {
	h := wire.RoCE{
		DstMAC: hostMAC(flow % hosts), SrcMAC: hostMAC((flow + 1) % hosts), Src: wire.IPv4(10, 0, 0, byte(flow)), Dst: wire.IPv4(10, 0, 1, byte(flow)),
		TOS: tos, SrcPort: uint16(0xC000 + flow),
	}
	at := h.Encode(b, length-wire.EthernetLen-wire.IPv4Len-wire.UDPLen)
	wire.BTH(b[at:]).Encode(wire.OpSendMiddle, false, uint32(flow), false, 0)
}
