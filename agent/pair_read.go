package agent

import (
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// Responses to READs are data of the responder, and leave as such: at the pace of a reaction point, in turn with flows. They
// are a flow of their own, which is there while there are any. Acknowledgements of the pair are in it, too, from its first
// READ on: one that overtook a response would make the peer assume that it was lost.

// pairResponse is a READ, or what is left of it to be answered.
type pairResponse struct {
	psn     uint32 // of the next packet
	address uint64 // of its data
	left    uint64 // bytes
	begun   bool
}

// Responses are what a pair has sent in answer to READs.
type Responses struct {
	Frames, Bytes uint64 // on the wire
}

// read notes a READ that comes in order.
func (h *Host) read(now units.Time, q *queuePair, psn uint32, r wire.RETH) (syndrome uint8) {
	t := &q.taker
	if syndrome := h.allowed(r); syndrome != wire.SyndromeACK {
		return syndrome
	}
	n := packetsOf(uint64(r.Length()), q.mtu)
	if n > maxOutstanding || len(t.reads) >= maxReads {
		return wire.SyndromeInvalid
	}
	t.expected = (t.expected + uint32(n)) & psnMask
	t.done(Read)
	t.hasReads = true
	t.answer.waits = false // the responses acknowledge what was before
	t.reads = append(t.reads, pairResponse{psn: psn, address: r.Address(), left: uint64(r.Length())})
	h.startAnswers(now, q)
	return wire.SyndromeACK
}

// readAgain answers a READ, or the rest of one, that was answered before. What waits to be sent from there on the peer
// asks for again.
func (h *Host) readAgain(now units.Time, q *queuePair, psn uint32, r wire.RETH) {
	t := &q.taker
	n := packetsOf(uint64(r.Length()), q.mtu)
	if age := (t.expected - psn) & psnMask; n > uint64(age) || h.allowed(r) != wire.SyndromeACK {
		return
	}
	for i := range t.reads {
		w := &t.reads[i]
		before := uint64((psn - w.psn) & psnMask) // packets of it that the peer does not ask for again
		if before > 0 && before < 1<<23 && before*q.mtu >= w.left {
			continue
		}
		if t.reads = t.reads[:i]; before > 0 && before < 1<<23 {
			cut := *w
			cut.left = before * q.mtu
			t.reads = append(t.reads, cut)
		}
		break
	}
	if len(t.reads) >= maxReads {
		return
	}
	t.hasReads = true
	t.answer.waits = false
	t.reads = append(t.reads, pairResponse{psn: psn, address: r.Address(), left: uint64(r.Length())})
	h.startAnswers(now, q)
}

// startAnswers has the flow of a pair's answers run. If there is no room for it, nothing is answered: the peer asks again.
func (h *Host) startAnswers(now units.Time, q *queuePair) {
	if q.answers >= 0 {
		return
	}
	spec := FlowSpec{
		Pair: q.spec, Peer: q.peer, PeerMAC: q.mac, QP: q.remote, SrcPort: q.srcPort, DSCP: q.dscp, Limit: q.limit, Weight: q.weight, Tenant: q.tenant,
	}
	id, err := h.addFlow(now, keyOf(q.peer, q.spec.Local|1<<24), spec)
	if err != nil {
		q.taker.reads, q.taker.answer.waits = q.taker.reads[:0], false
		return
	}
	q.answers = int32(id)
}

// respond makes the next packet of a pair's answers.
func (h *Host) respond(now units.Time, frame *fabric.Frame, id int, due units.Time) (made, stop bool) {
	f := &h.flows[id]
	q := f.spec.Pair.queue
	t := &q.taker
	opcode, psn, extended, payload := uint8(wire.OpAcknowledge), t.answer.psn, wire.AETHLen, 0
	first, last := false, false
	if len(t.reads) > 0 {
		r := &t.reads[0]
		payload = int(min(q.mtu, r.left))
		first, last, psn = !r.begun, uint64(payload) == r.left, r.psn
		if opcode = wire.ResponseOpcode(first, last); !first && !last {
			extended = 0
		}
	}
	length, ok := h.pairFrame(frame, f, extended+payload)
	if !ok {
		h.pacer.Wait(id, f.prio, due)
		return false, true
	}
	b := h.env.Bytes(frame)
	rest := h.putPair(b, f, id, opcode, false, psn, extended, payload)
	if len(t.reads) == 0 {
		t.putAnswer(rest)
	} else {
		if extended > 0 {
			wire.AETH(rest).Encode(wire.SyndromeACK, t.msn)
		}
		r := &t.reads[0]
		data, _ := h.config.Memory.at(r.address, uint64(payload)) // it was there when the READ came
		copy(rest[extended:], data)
		r.psn, r.address, r.left, r.begun = (r.psn+1)&psnMask, r.address+uint64(payload), r.left-uint64(payload), true
		if last {
			t.reads = append(t.reads[:0], t.reads[1:]...)
		}
	}
	h.sealPair(b, f, length, extended+payload)
	q.responses.Frames++
	q.responses.Bytes += uint64(h.onLink(length))
	if h.sent(now, id, due, length, false); len(t.reads) == 0 && !t.answer.waits {
		h.StopFlow(now, id)
	}
	return true, false
}
