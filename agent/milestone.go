package agent

import (
	"photon/units"
	"photon/wire"
)

// Milestone is something that happened to a flow at this host, for which others may wait.
type Milestone struct {
	Peer wire.IP
	QP   uint32
	What Reached
	// Packets of the flow that have arrived, of Passed and Arrived.
	Packets uint64
}

// Reached is what happened to a flow.
type Reached uint8

// What can happen to a flow.
const (
	Acknowledged Reached = iota // its sender has the acknowledgement of its last packet
	Arrived                     // its receiver has all of it
	Passed                      // its receiver has as many packets as Config.Next said
)

// reach records a milestone. It is reported after the current burst, when flows may be
// added.
func (h *Host) reach(m Milestone) {
	h.reached = append(h.reached, m)
	h.attend = 0
}

// reportMilestones reports the milestones to Config.Reached.
func (h *Host) reportMilestones(now units.Time) {
	for i := 0; i < len(h.reached); i++ {
		h.config.Reached(now, h.reached[i])
	}
	h.reached = h.reached[:0]
	h.note()
}

// arrivedAt checks whether a packet that arrived in order is a milestone of its flow.
func (h *Host) arrivedAt(slot int, p *peer) {
	k := h.table.Key(slot)
	m := Milestone{Peer: k.ip(), QP: k.qp, Packets: p.frames}
	o := &h.origins[slot]
	if p.watched && p.frames >= o.milestone {
		m.What = Passed
		h.reach(m)
		h.watch(slot, p)
	}
	if p.epoch == wholeEpoch {
		m.What = Arrived
		h.reach(m)
	}
}

// watch asks Config.Next which packet of a received flow is the next that a flow waits for.
func (h *Host) watch(slot int, p *peer) {
	k := h.table.Key(slot)
	next := h.config.Next(k.ip(), k.qp, p.frames)
	h.origins[slot].milestone, p.watched = next, next > 0
}
