package agent

import (
	"encoding/binary"
	"math/bits"

	"photon/cnp"
	"photon/pfc"
	"photon/wire"
)

// appKey names a flow of an application at either end: here is the end on this
// host. The packets to a RoCEv2 queue pair are one flow, whatever their source
// port; other flows are named by protocol and ports, fragments by the protocol.
type appKey struct {
	here, there wire.IP
	name        uint32 // ports, this end's first; or the queue pair
	proto       uint8
	kind        appKind
	prio        uint8
}

type appKind uint8

const (
	byPorts appKind = iota
	byQP
)

func hashApp(k appKey) uint64 {
	a := le(k.here[0:8]) ^ bits.RotateLeft64(le(k.here[8:16]), 17)
	b := le(k.there[0:8]) ^ bits.RotateLeft64(le(k.there[8:16]), 31)
	hi, lo := bits.Mul64(a^0xA0761D6478BD642F, b^0xE7037ED1A0B428DB)
	c := uint64(k.name)<<24 | uint64(k.proto)<<16 | uint64(k.kind)<<8 | uint64(k.prio)
	hi, lo = bits.Mul64(hi^lo^0x8EBC6AF09C88C6E3, c^0x589965CC75374CC3)
	return hi ^ lo
}

// Of ICMPv6, neighbour discovery is types 133 to 137 (RFC 4861).
const (
	protoICMPv6  = 58
	firstND      = 133
	lastND       = 137
	ipv4Fragment = 0x3FFF // more fragments, or an offset
)

// classify names the flow of a frame that an application sends (out) or
// receives. Frames that find hosts belong to none, nor does what is not IP.
func classify(b []byte, h *wire.Header, prio uint8, out bool) (k appKey, ok bool) {
	if h.L3 == 0 || h.Dst.Multicast() {
		return k, false
	}
	ip := b[h.L3:]
	src, dst := wire.Addresses(ip)
	k.proto, k.prio = h.Proto, prio
	sport, dport := h.SrcPort, h.DstPort
	switch {
	case ip[0]>>4 == 4 && binary.BigEndian.Uint16(ip[6:])&ipv4Fragment != 0:
		k.proto, sport, dport = ip[9], 0, 0
	case h.BTH != 0:
		k.kind, k.name = byQP, wire.BTH(b[h.BTH:]).DestQP()
	case h.Proto == protoICMPv6 && len(ip) > wire.IPv6Len && ip[wire.IPv6Len] >= firstND && ip[wire.IPv6Len] <= lastND:
		return k, false
	}
	if !out {
		src, dst, sport, dport = dst, src, dport, sport
	}
	k.here, k.there = src, dst
	if k.kind == byPorts {
		k.name = uint32(sport)<<16 | uint32(dport)
	}
	return k, true
}

// isCNP reports whether a frame is a congestion notification packet.
func isCNP(b []byte, h *wire.Header) bool {
	return h.BTH != 0 && wire.BTH(b[h.BTH:]).Opcode() == wire.OpCNP
}

// isProbe reports whether a frame is between switches that look for deadlocks.
func isProbe(h *wire.Header) bool {
	return h.EtherType == pfc.ProbeType && h.Dst == pfc.ProbeDestination
}

// cnpName is what a CNP says of a received flow, for its sender to find it by: the sender's queue
// pair, as the standard has it, if it is known, and the one that the data name.
func (n *NIC) cnpName(k *appKey) (qp uint32, name cnp.Name) {
	if k.kind == byQP {
		name = cnp.Name{Data: true, QP: k.name}
		if qp, ok := n.connections.peer(connection{k.here, k.there, k.name}); ok {
			return qp, name
		}
		return k.name, name
	}
	return 0, cnp.Name{Ports: true, Proto: k.proto, SrcPort: uint16(k.name), DstPort: uint16(k.name >> 16)}
}

// keyOfCNP is the flow that a CNP is about, but for its priority: the CNP goes
// from the flow's receiver to its sender, which is here. A flow that is not named is the one of the
// queue pair, which is the receiver's or, in the standard form, the sender's.
func keyOfCNP(b []byte, h *wire.Header, qp uint32) (k appKey, named bool) {
	k.there, k.here = wire.Addresses(b[h.L3:])
	name := cnp.NameOf(b, h)
	if name.Ports {
		k.proto, k.name = name.Proto, uint32(name.SrcPort)<<16|uint32(name.DstPort)
		return k, true
	}
	k.kind, k.proto, k.name = byQP, wire.ProtoUDP, qp
	if name.Data {
		k.name = name.QP
	}
	return k, name.Data
}
