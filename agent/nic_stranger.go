package agent

import (
	"photon/fabric"
	"photon/flowtable"
	"photon/units"
	"photon/wire"
)

// A frame from the wire with an unknown destination is for another host, flooded by a
// switch that has not learned its address; or it is for an application that has sent nothing
// since the NIC started, because it waits for that very frame. So one such frame now and
// then is passed to the application, whose answer shows that the address is its own.
// Otherwise a program that only receives would be found when its peer's neighbour entry
// has run out, half a minute later.
const (
	askEvery      = 100 * units.Millisecond // for each address
	mostStrangers = 256                     // addresses that are distinguished
)

// ask reports whether the frame for an unknown address is passed on.
func (n *NIC) ask(now units.Time, to wire.MAC) bool {
	s, fresh := n.strangers.Insert(to, now)
	if s == flowtable.None {
		old := n.strangers.Expire(now-askEvery, expiryVisits)
		if old == flowtable.None {
			return false
		}
		n.strangers.Delete(old)
		s, fresh = n.strangers.Insert(to, now)
	}
	if !fresh && now-n.asked[s] < askEvery {
		return false
	}
	n.asked[s] = now
	return true
}

// toStranger passes a frame on, or discards it. Frames between NICs and switches are not
// passed to applications, nor answered on their behalf: the address may be another host's.
func (n *NIC) toStranger(now units.Time, f fabric.Frame, b []byte, h *wire.Header) {
	shim := isShim(b, h)
	echo := shim && wire.BTH(b[h.BTH:]).Opcode() == wire.OpShimEcho
	if h.EtherType == wire.TypeCNM || isProbe(h) || isCNP(b, h) || echo || !n.ask(now, h.Dst) {
		n.discard(Wire, f, fabric.DropUnknown)
		return
	}
	var a ack
	if shim && !n.unwrap(&f, h, &a) {
		n.discard(Wire, f, fabric.DropMalformed)
		return
	}
	b = n.env.Header(f)
	if h.CNTagged && n.config.Carry.Tag {
		b = n.untag(&f, h)
	}
	if n.config.ClearCE && !shim && n.config.Judged>>f.Prio&1 != 0 && h.TOS&3 != wire.NotECT {
		n.clear(b, h)
	}
	n.give(f, h)
}
