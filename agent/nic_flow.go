package agent

import (
	"photon/units"
	"photon/wire"
)

// NICFlow is what can be seen of a flow that applications behind a NIC send.
type NICFlow struct {
	From, To         wire.IP
	FromPort, ToPort uint16 // of those that have ports; else 0
	QP               uint32 // of RoCEv2 flows, which have no ports of their own
	Proto            uint8  // IP protocol
	RoCE             bool   // named by its queue pair
	Prio             uint8
	Rate             units.Rate // that its reaction point and its limit allow
	Limited          bool       // its reaction point holds it below the line's rate
	Waiting          int        // frames
	Silent           bool       // none waits, and none left for longer than the NIC's Age
	Frames, Bytes    uint64     // sent; bytes on the wire
	Notified         uint64     // notifications that counted
}

// Slots is how many flows there can be: their slots are 0 to Slots()-1.
func (n *NIC) Slots() int { return len(n.flows) }

// Flow is the flow in a slot, if it is taken. It is called between bursts.
func (n *NIC) Flow(now units.Time, slot int) (NICFlow, bool) {
	f := &n.flows[slot]
	if !f.active() {
		return NICFlow{}, false
	}
	k := n.byKey.Key(slot)
	s := NICFlow{
		From: k.here, To: k.there, Proto: k.proto, Prio: f.prio, Rate: f.rate(now), Limited: f.limited(now, n.config.Link.Rate), Waiting: f.queue.n,
		Frames: f.frames, Bytes: f.bytes, Notified: f.notified,
	}
	s.Silent = s.Waiting == 0 && n.idle.links[slot].since < now-n.config.Age
	if s.RoCE = k.kind == byQP; s.RoCE {
		s.QP = k.name
	} else {
		s.FromPort, s.ToPort = uint16(k.name>>16), uint16(k.name)
	}
	return s, true
}
