package agent

import (
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// The host as responder of a queue pair of the specification (section 9.7.4): requests are executed in order, once, but
// for READs, which are executed as often as they come. What comes too early is asked for once. What is not allowed ends
// the pair, as the specification has it: whatever the peer sends from then on gets the same answer.

// pairTaker is what a pair knows of its peer's requests.
type pairTaker struct {
	expected uint32 // PSN
	known    bool   // that
	broken   uint8  // what every request is answered with: a NAK's syndrome; 0: requests are executed
	msn      uint32 // messages that were executed, 24 bits
	gate     responder
	verb     Verb   // of the message that is under way; noVerb: none is
	to       uint64 // of it: where the next packet's data go,
	left     uint64 // and how much may come; of a WRITE, must

	reads    []pairResponse // that are to be answered, in the order of their PSNs
	hasReads bool           // there was one: all answers go in one row
	answer   pairAnswer

	messages [3]uint64
	bytes    uint64
}

// pairAnswer is the acknowledgement that waits, behind the responses of READs.
type pairAnswer struct {
	psn      uint32
	syndrome uint8
	waits    bool
}

// pairRequest is what an opcode says of a packet.
type pairRequest struct {
	verb        Verb
	first, last bool
	known       bool
	extended    int // bytes of headers
}

var pairRequests = [...]pairRequest{
	wire.OpSendFirst: {Send, true, false, true, 0}, wire.OpSendMiddle: {Send, false, false, true, 0}, wire.OpSendLast: {Send, false, true, true, 0},
	wire.OpSendLastImm: {Send, false, true, true, wire.ImmLen}, wire.OpSendOnly: {Send, true, true, true, 0}, wire.OpSendOnlyImm: {Send, true, true, true, wire.ImmLen},
	wire.OpWriteFirst: {Write, true, false, true, wire.RETHLen}, wire.OpWriteMiddle: {Write, false, false, true, 0}, wire.OpWriteLast: {Write, false, true, true, 0},
	wire.OpWriteLastImm: {Write, false, true, true, wire.ImmLen}, wire.OpWriteOnly: {Write, true, true, true, wire.RETHLen},
	wire.OpWriteOnlyImm: {Write, true, true, true, wire.RETHLen + wire.ImmLen}, wire.OpReadRequest: {Read, true, true, true, wire.RETHLen},
}

// takeRequest takes a packet of the peer's requests, from behind the base transport header to before the ICRC.
func (h *Host) takeRequest(now units.Time, q *queuePair, bth wire.BTH, body []byte) (fabric.Reason, bool) {
	t := &q.taker
	var what pairRequest // the zero one is of opcodes that are not known
	if op := int(bth.Opcode()); op < len(pairRequests) {
		what = pairRequests[op]
	}
	psn := bth.PSN()
	if !t.known {
		if !what.known || !what.first {
			return fabric.DropUnknown, false
		}
		t.expected, t.known = psn, true
	}
	switch ahead := (psn - t.expected) & psnMask; {
	case ahead >= 1<<23:
		h.takeAgain(now, q, what, bth, body)
		return fabric.DropSequence, false
	case t.broken != 0:
		h.answer(now, q, t.broken, t.expected)
		return fabric.DropUnknown, false
	case ahead > 0:
		if t.gate.refuse(psn, false) {
			h.answer(now, q, wire.SyndromeNAK, t.expected)
		}
		return fabric.DropSequence, false
	}
	t.gate.refusing = false
	if syndrome := h.execute(now, q, what, bth, body); syndrome != wire.SyndromeACK {
		t.broken, t.verb = syndrome, noVerb
		h.answer(now, q, syndrome, psn)
		return fabric.DropUnknown, false
	}
	return 0, true
}

// takeAgain answers a request that was executed before: its answer was lost, or comes still.
func (h *Host) takeAgain(now units.Time, q *queuePair, what pairRequest, bth wire.BTH, body []byte) {
	t := &q.taker
	switch {
	case what.verb == Read && what.known:
		if len(body) >= wire.RETHLen {
			h.readAgain(now, q, bth.PSN(), wire.RETH(body))
		}
	case t.hasReads: // what is acknowledged beyond it may be the response of a READ
		h.answer(now, q, wire.SyndromeACK, bth.PSN())
	default:
		h.answer(now, q, wire.SyndromeACK, (t.expected-1)&psnMask)
	}
}

// execute does what the next packet says, and returns what it is to be answered with.
func (h *Host) execute(now units.Time, q *queuePair, what pairRequest, bth wire.BTH, body []byte) (syndrome uint8) {
	t := &q.taker
	pad := bth.Pad()
	fits := len(body) >= what.extended+pad && len(body)&3 == 0
	if !what.known || !fits || what.first != (t.verb == noVerb) || !what.first && what.verb != t.verb {
		return wire.SyndromeInvalid
	}
	data := body[what.extended : len(body)-pad]
	bytes := uint64(len(data))
	switch {
	case what.verb == Read:
		if bytes > 0 {
			return wire.SyndromeInvalid
		}
		return h.read(now, q, bth.PSN(), wire.RETH(body))
	case bytes > q.mtu || !what.last && bytes != q.mtu || what.last && !what.first && bytes == 0:
		return wire.SyndromeInvalid
	case what.first:
		if syndrome := h.place(q, what.verb, body); syndrome != wire.SyndromeACK {
			return syndrome
		}
	}
	if over := bytes > t.left; over || what.verb == Write && what.last != (bytes == t.left) {
		return wire.SyndromeInvalid
	}
	if to, ok := h.config.Memory.at(t.to, bytes); ok && (what.verb == Write || q.spec.Receive.Count > 0) {
		copy(to, data)
	}
	t.to, t.left, t.bytes = t.to+bytes, t.left-bytes, t.bytes+bytes
	if t.verb = what.verb; what.last {
		t.done(what.verb)
	}
	t.expected = (t.expected + 1) & psnMask
	if bth.AckRequest() {
		h.answer(now, q, wire.SyndromeACK, bth.PSN())
	}
	return wire.SyndromeACK
}

// done counts a message that was executed.
func (t *pairTaker) done(verb Verb) {
	t.verb = noVerb
	t.msn = (t.msn + 1) & psnMask
	t.messages[verb]++
}

// place finds out where a message goes that begins.
func (h *Host) place(q *queuePair, verb Verb, body []byte) (syndrome uint8) {
	t := &q.taker
	if verb == Write {
		r := wire.RETH(body)
		t.to, t.left = r.Address(), uint64(r.Length())
		return h.allowed(r)
	}
	t.left = MostMessage
	if r := q.spec.Receive; r.Count > 0 {
		t.to, t.left = r.Address+t.messages[Send]%r.Count*r.Size, r.Size
	}
	return wire.SyndromeACK
}

// allowed says what a peer is answered that wants to write or to read: of no bytes nothing is asked (section 9.4.3).
func (h *Host) allowed(r wire.RETH) (syndrome uint8) {
	m := h.config.Memory
	switch length := uint64(r.Length()); {
	case length > MostMessage:
		return wire.SyndromeInvalid
	case length == 0:
	case m == nil || r.Key() != m.Key:
		return wire.SyndromeAccess
	default:
		if _, ok := m.at(r.Address(), length); !ok {
			return wire.SyndromeAccess
		}
	}
	return wire.SyndromeACK
}

// answer has an acknowledgement be sent, in place of one that waits, unless that says more. One that asks for what is
// missing, or says why there is no more, is not replaced by one that does not.
func (h *Host) answer(now units.Time, q *queuePair, syndrome uint8, psn uint32) {
	t := &q.taker
	a := &t.answer
	if a.waits && wire.IsACK(syndrome) {
		if wire.IsACK(a.syndrome) && (a.psn-psn)&psnMask < 1<<23 || !wire.IsACK(a.syndrome) && (t.gate.refusing || t.broken != 0) {
			return
		}
	}
	waited := a.waits
	*a = pairAnswer{psn, syndrome, true}
	switch {
	case t.hasReads:
		h.startAnswers(now, q)
	case !waited:
		// It goes the way of those of agents' flows, whose slots are not negative.
		*h.acks.at(h.acks.push()) = ack{slot: -1 - q.place}
	}
}

// acknowledgePair makes the acknowledgement that a pair has to send, which was the next of all.
func (h *Host) acknowledgePair(f *fabric.Frame, place int) (made, stop bool) {
	q := h.pairs.list[place]
	if q == nil || q.taker.hasReads || !q.taker.answer.waits { // it is gone, or its answers go in one row with responses now
		h.acks.pop()
		return false, false
	}
	length := ackLen(0)
	if !h.env.AllocAt(f, wire.RoCEMaxLen+length) {
		return false, true
	}
	h.acks.pop()
	b := h.env.Bytes(f)
	r := wire.RoCE{DstMAC: q.mac, SrcMAC: h.config.MAC, Src: h.config.IP, Dst: q.peer, TOS: h.config.AckDSCP << 2, SrcPort: q.srcPort}
	at := r.Encode(b, length)
	wire.BTH(b[at:]).Encode(wire.OpAcknowledge, false, q.remote, false, q.taker.answer.psn)
	q.taker.putAnswer(b[at+wire.BTHLen:])
	f.Len = uint16(at + length)
	h.sealer.Seal(b[wire.EthernetLen:f.Len], at-wire.EthernetLen)
	return true, false
}

// putAnswer writes the header of the acknowledgement that waited.
func (t *pairTaker) putAnswer(b []byte) {
	wire.AETH(b).Encode(t.answer.syndrome, t.msn)
	t.answer.waits = false
}
