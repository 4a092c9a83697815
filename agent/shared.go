package agent

import (
	"slices"

	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// sharedRP is a reaction point that permanent connections share, one to each peer. Flows are messages on them: one of
// a connection goes after the other, in the order in which they begin, and connections take turns packet by packet,
// at the pace of the reaction point. What it has learnt, it keeps.
type sharedRP struct {
	rp       ratelimit.RP
	next     int // slot of the message whose packet is the next; -1: none has one
	ready    []int
	open     map[wire.IP]bool  // a message of the connection is next or ready
	waiting  map[wire.IP][]int // messages behind it
	base     units.Time        // departure time of the packet sent last
	gapBytes units.Size        // its length on the wire: it makes the gap to the next
	packets  uint64            // that were sent of all messages, repetitions left out: what the reaction point counts
	numbers  map[int]*numbers  // of a message's packets among them, by its slot; only if the reaction point hears of them
}

// message is a flow's part in a reaction point that others share.
type message struct {
	shared  *sharedRP // nil: the flow has its own
	started bool      // its start has come
	allSent bool      // it has left the connection to the next message; what is lost of it is still sent again
}

// numbers are those of a message's packets among all that its reaction point has sent.
type numbers struct {
	sent uint64 // packets of the message, repetitions left out
	runs []run  // of packets that nothing was sent between, those that may be acknowledged yet
}

// run is a packet of a message, and its number; those that follow it have the numbers that follow.
type run struct{ packet, number uint64 }

// count gives the next number to a message's packet if it is new: so many of the message have been sent with it.
func (s *sharedRP) count(id int, sent uint64) {
	n := s.numbers[id]
	if n == nil {
		n = &numbers{}
		s.numbers[id] = n
	}
	if sent <= n.sent {
		return
	}
	packet := sent - 1
	if i := len(n.runs) - 1; i < 0 || n.runs[i].number+packet-n.runs[i].packet != s.packets {
		n.runs = append(n.runs, run{packet, s.packets})
	}
	n.sent, s.packets = sent, s.packets+1
}

// number is that of a message's packet that was acknowledged. Nobody asks for those before the first that is not.
func (s *sharedRP) number(id int, packet, unacknowledged uint64) uint64 {
	n := s.numbers[id]
	if n == nil || len(n.runs) == 0 {
		return 0
	}
	i := len(n.runs) - 1
	for i > 0 && n.runs[i].packet > packet {
		i--
	}
	number := n.runs[i].number + packet - n.runs[i].packet
	old := 0
	for old < i && n.runs[old+1].packet <= unacknowledged {
		old++
	}
	n.runs = slices.Delete(n.runs, 0, old)
	return number
}

// join puts a flow behind its shared reaction point, which begins with the first.
func (h *Host) join(f *flow, start units.Time) {
	s, ok := h.shared[f.spec.Shared]
	if !ok {
		s = &sharedRP{rp: h.takeRP(f.prio), next: -1, open: map[wire.IP]bool{}, waiting: map[wire.IP][]int{}, numbers: map[int]*numbers{}}
		s.rp.Start(start)
		h.shared[f.spec.Shared] = s
	}
	f.shared, f.rp = s, s.rp
}

// startMessage takes up a message whose start has come, and says whether its first packet may go now.
func (h *Host) startMessage(now units.Time, id int) bool {
	f := &h.flows[id]
	s := f.shared
	if f.started {
		return true
	}
	f.started = true
	peer := f.spec.Peer
	if s.open[peer] {
		s.waiting[peer] = append(s.waiting[peer], id)
		return false
	}
	s.open[peer] = true
	if s.next < 0 && s.departure(now, f) <= now {
		s.next = id
		return true
	}
	s.ready = append(s.ready, id)
	if s.next < 0 {
		h.scheduleReady(now, s)
	}
	return false
}

// sentOfMessage accounts for a packet of a message. It reports whether messages take turns by it: the next connection has
// its turn then, unless this one has to wait for its window. What a message sends again after its last packet is beside
// the turns.
func (h *Host) sentOfMessage(now units.Time, id int, last bool) bool {
	f := &h.flows[id]
	s := f.shared
	if f.wantsAcks {
		s.count(id, f.ordinal(f.neverSent()))
	}
	if f.allSent {
		return false
	}
	s.base, s.gapBytes = f.base, units.Size(f.gapBytes)
	if last {
		h.leave(now, id)
	} else if !h.blocked(f) {
		s.ready = append(s.ready, id)
		h.scheduleReady(now, s)
	}
	return true
}

// quit is leave of a message that is stopped.
func (h *Host) quit(now units.Time, id int) {
	f := &h.flows[id]
	if !f.allSent {
		h.leave(now, id)
	}
	delete(f.shared.numbers, id)
}

// leave takes a message away that has sent all of its packets once, or is stopped.
func (h *Host) leave(now units.Time, id int) {
	f := &h.flows[id]
	s, peer := f.shared, f.spec.Peer
	f.allSent = true
	if !f.started {
		return
	}
	if i := slices.Index(s.waiting[peer], id); i >= 0 {
		s.waiting[peer] = slices.Delete(s.waiting[peer], i, i+1)
		return
	}
	s.ready = slices.DeleteFunc(s.ready, func(other int) bool { return other == id })
	if behind := s.waiting[peer]; len(behind) > 0 {
		s.ready = append(s.ready, behind[0])
		s.waiting[peer] = behind[1:]
	} else {
		s.open[peer] = false
	}
	if s.next == id {
		h.scheduleReady(now, s)
	}
}

// scheduleReady schedules the first message that is ready.
func (h *Host) scheduleReady(now units.Time, s *sharedRP) {
	if len(s.ready) == 0 {
		s.next = -1
		return
	}
	s.next, s.ready = s.ready[0], s.ready[1:]
	f := &h.flows[s.next]
	h.pacer.Wait(s.next, f.prio, max(now, s.departure(now, f)))
}

// repace moves the next packet to where the rate now puts it.
func (h *Host) repace(now units.Time, s *sharedRP) {
	if s.next < 0 {
		return
	}
	f := &h.flows[s.next]
	if _, scheduled := h.pacer.Waiting(s.next); scheduled && !f.awaiting {
		h.pacer.Wait(s.next, f.prio, max(now, s.departure(now, f)))
	}
}

// departure is when the next packet may leave, if it is of this message.
func (s *sharedRP) departure(now units.Time, f *flow) units.Time {
	if s.gapBytes == 0 { // the first of all
		return now
	}
	return s.base.Add(f.rate(now).Serialize(s.gapBytes))
}
