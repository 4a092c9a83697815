package agent

import (
	"photon/cnp"
	"photon/flowtable"
	"photon/internal/memory"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// What a host keeps by slot of a flow, of those that it sends and of those that it
// receives. All of it is there from the start, or made as it is needed.

// makePlaces makes what there is at the start.
func (h *Host) makePlaces() {
	c := &h.config
	if c.Finished > 0 && c.Receivers > 0 {
		h.finished = newFinished(c.Finished)
	}
	if c.Elastic {
		h.byPeer, h.pacer = flowtable.NewElastic(c.Senders, hashKey), ratelimit.NewElasticPacer[sending](c.Senders)
		h.table = flowtable.NewElastic(c.Receivers, hashKey)
		return
	}
	h.flows, h.byPeer = make([]flow, c.Senders), flowtable.New(c.Senders, hashKey)
	h.pacer = ratelimit.NewPacer[sending](c.Senders, c.Tenants...)
	h.peers, h.origins, h.table = make([]peer, c.Receivers), make([]origin, c.Receivers), flowtable.New(c.Receivers, hashKey)
	memory.Huge(h.flows)
	h.makeAcks()
	h.makeAhead()
}

// makeAhead makes the places of selective repeat, of received flows.
func (h *Host) makeAhead() {
	if s := h.config.Selective; s != nil {
		for len(h.ahead) < len(h.peers) {
			h.ahead = append(h.ahead, arrivals{ahead: newRing(s.Window)})
		}
	}
}

// makeAcks makes places for what acknowledgements have in common, as many as there are
// for flows, if there will be enough of them.
func (h *Host) makeAcks() {
	if h.ackEach || h.selective || h.recovery.every == 1 {
		h.ackHeadsSent = append(h.ackHeadsSent, make([]wire.AckHead, len(h.peers)-len(h.ackHeadsSent))...)
		h.ackHeadsTaken = append(h.ackHeadsTaken, make([]wire.AckHead, len(h.flows)-len(h.ackHeadsTaken))...)
	}
}

// moreFlows makes the places that the table of sent flows now has.
func (h *Host) moreFlows() {
	if n := h.byPeer.Room(); n > len(h.flows) {
		h.flows = append(make([]flow, 0, n), h.flows...)[:n]
		h.pacer.Grow(n)
		for i := range h.flows { // what lies next to their timers has moved
			if h.flows[i].sending != nil {
				h.flows[i].sending = h.pacer.Beside(i)
			}
		}
		h.makeAcks()
	}
}

// morePeers does the same for received flows.
func (h *Host) morePeers() {
	if n := h.table.Room(); n > len(h.peers) {
		h.peers = append(make([]peer, 0, n), h.peers...)[:n]
		h.origins = append(make([]origin, 0, n), h.origins...)[:n]
		h.config.NP.(cnp.Elastic).Room(n)
		h.makeAcks()
		h.makeAhead()
	}
}

// Forget drops what is known of a received flow of which nothing more will come, so
// that its place can be another's. It reports false, and changes nothing, while
// something is still to be said of it.
func (h *Host) Forget(from wire.IP, qp uint32) bool {
	slot := h.table.Lookup(keyOf(from, qp))
	if slot == flowtable.None {
		return true
	}
	if np, ok := h.config.NP.(cnp.Elastic); !ok || !np.Quiet(slot) || h.peers[slot].acks > 0 || h.delayed.waits(slot) {
		return false
	}
	h.drop(slot)
	return true
}

// drop forgets the received flow of a slot.
func (h *Host) drop(slot int) {
	h.config.NP.Forget(slot)
	h.npNext = h.config.NP.Next()
	h.table.Delete(slot)
	h.peers[slot].key = 0
}

// roomVisits is at how many places a packet of a new flow looks for one that is free. The next packet looks on from
// there: a full table of a million must not cost each packet a walk through all of it.
const roomVisits = 1024

// makeRoom gives a new flow the place of one that has been silent for long, or was received whole.
func (h *Host) makeRoom(now units.Time, k peerKey) (int, bool) {
	before, keeps := now-h.config.Age, h.finished.room()
	old := h.table.ExpireIf(roomVisits, func(slot int) bool {
		p := &h.peers[slot]
		return (p.lastSeen < before || keeps && p.epoch == wholeEpoch) && p.acks == 0 && !h.delayed.waits(slot)
	})
	if old == flowtable.None {
		return flowtable.None, false
	}
	if p := &h.peers[old]; keeps && p.epoch == wholeEpoch {
		h.finished.add(h.table.Key(old), &p.responder, h.origins[old].retired)
	}
	h.drop(old)
	return h.table.Insert(k, now)
}
