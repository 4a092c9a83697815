package agent

import (
	"photon/units"
	"photon/wire"
)

// requester is the sending half of a reliable connection (IBA volume 1, 9.7). It knows which
// packets were sent and which arrived, and nothing of ports, rates or frames.
//
// Packets have numbers, and the lower 24 bits of a number are the sequence number on the wire
// (PSN). The first packet's number is its PSN.
//
//	first        acked           next            high           end
//	  | arrived    | under way     | sent before,  | never sent   |
//	  |            |               | to be sent    |              |
//	  |            |               | again         |              |
//
// Losses are found by the receiver, which asks for the missing packet by a NAK (the sender goes back
// to it, or repeats only lost packets, see selective.go), or by the sender: an acknowledgement that
// it asked for is missing, and there was no progress, for a timeout. The deadline is checked when it
// is the flow's turn to send, so that a flow has one timer in the wheel and not two. After a timeout one packet
// is sent and answered before the others follow: it finds out what the receiver has.
//
// Everything belongs to an epoch, which begins with a first packet and is identified by its PSN.
// Acknowledgements name their epoch (see responder.msn); those of other epochs are ignored. If the
// receiver has forgotten the epoch, the sender starts again, with another first PSN. A sender gives up
// after some tries in a row without progress.
type requester struct {
	*sending             // next is there
	acked    uint64      // all packets below it have arrived
	end      uint64      // one more than the last packet; 0: the flow has no end
	first    uint32      // the first packet's PSN, and its number
	awaiting bool        // the flow waits for an acknowledgement: its timer is the timeout
	probing  bool        // from a timeout until the next acknowledgement or NAK
	retries  uint8       // timeouts and new beginnings since the last progress
	high     uint64      // where next was before it went back; below next: nothing is sent again
	asked    uint64      // one more than the last packet that asked for an acknowledgement
	deadline units.Time  // of progress; Never: no acknowledgement is awaited
	mark     uint64      // acked when the deadline was set
	repeated uint64      // packets that were sent again, or are to be
	earlier  uint64      // packets of earlier beginnings
	board    *scoreboard // of selective repeat; nil: the sender goes back to the packet that is missing
}

// patience is the configuration of the timeouts and retries of a host's senders.
type patience struct {
	every   uint64     // packets from one that asks to be acknowledged to the next
	timeout units.Time // without progress, until packets are sent again; doubled each time
	retries uint8      // in a row without progress, before a flow gives up
}

const (
	// mostOutstanding is how many packets may be under way: a receiver takes half of all PSNs, those
	// before the expected one, for repetitions.
	mostOutstanding = 1<<23 - 1
	// unconfirmed is how many acknowledgements may be outstanding before the first has arrived: the
	// receiver may not exist, and switches flood packets to unknown addresses.
	unconfirmed = 64
	// askAnyway is after how many packets at most an acknowledgement is asked for until then.
	askAnyway = 1 << 22
	// mostDoublings is how often the timeout may double.
	mostDoublings = 6
	// doubts is after how many timeouts in a row an answer of another epoch means that the receiver
	// has forgotten this one: an old answer would not arrive so late.
	doubts = 2
)

// start begins with a PSN. packets is how many there are; 0: no end.
func (r *requester) start(psn uint32, packets uint64) {
	r.first = psn
	r.next, r.acked, r.high, r.asked, r.mark = uint64(psn), uint64(psn), 0, 0, uint64(psn)
	r.end, r.deadline = 0, units.Never
	if packets > 0 {
		r.end = uint64(psn) + packets
	}
	r.awaiting, r.probing, r.plain = false, false, 0
	if r.board != nil {
		r.board.start(uint64(psn))
	}
}

// index is the place of the next packet in the flow.
func (r *requester) index() uint64 { return r.next - uint64(r.first) }

// frames is how many packets were sent, repetitions included.
func (r *requester) frames() uint64 { return r.index() + r.repeated }

// isLast reports whether the next packet is the last.
func (r *requester) isLast() bool { return r.end > 0 && r.next == r.end-1 }

// asks reports whether the next packet asks to be acknowledged: the last, one in so many, and
// the first of those that are sent again.
func (r *requester) asks(every uint64) bool {
	return r.board != nil || r.isLast() || (r.index()+1)%every == 0 || r.next == r.acked && r.next < r.high
}

// blocked reports whether there is nothing to send before something is acknowledged.
func (r *requester) blocked(p *patience) bool {
	switch {
	case r.end > 0 && r.next == r.end, r.probing:
		return true
	case r.board != nil:
		return r.next >= r.high && r.next-r.acked >= r.board.window
	case r.acked == uint64(r.first):
		return r.index() >= min(mostOutstanding, unconfirmed*p.every)
	}
	return r.next-r.acked >= mostOutstanding
}

// sentNext notes that the next packet was sent.
func (r *requester) sentNext(now units.Time, asked bool, p *patience) {
	r.next++
	if r.board != nil {
		r.board.sentSelective(r)
	}
	if !asked {
		return
	}
	r.asked = max(r.asked, r.next)
	if r.deadline == units.Never {
		r.await(now, p)
	}
}

// await sets the deadline of progress.
func (r *requester) await(now units.Time, p *patience) {
	r.mark = r.acked
	if r.board != nil {
		r.board.since = now
	}
	r.deadline = now + r.timeout(p)
}

// timeout is how long progress may take.
func (r *requester) timeout(p *patience) units.Time {
	t := p.timeout
	if r.hasFew() {
		t = min(t, r.board.low)
	}
	return t << min(r.retries, mostDoublings)
}

// hasFew reports whether the low timeout of selective repeat is in force.
func (r *requester) hasFew() bool {
	return r.board != nil && r.board.low > 0 && max(r.next, r.high)-r.acked <= r.board.few
}

// overdue reports whether the deadline has passed. Progress is checked here, and not at each
// acknowledgement, which would cost more.
func (r *requester) overdue(now units.Time, p *patience) bool {
	switch {
	case r.deadline == units.Never:
	case r.acked >= r.asked:
		r.deadline, r.retries = units.Never, 0
	case r.acked != r.mark:
		r.retries = 0
		r.await(now, p)
	case now < r.deadline:
	case r.board != nil && r.board.low > 0: // more may be under way now than when the deadline was set
		r.deadline = max(r.deadline, r.board.since+r.timeout(p))
		return now >= r.deadline
	default:
		return true
	}
	return false
}

// retry goes back to what was not acknowledged, to send one packet of it. It reports false if
// that was tried often enough.
func (r *requester) retry(now units.Time, p *patience) bool {
	if r.retries == p.retries {
		return false
	}
	if r.board != nil {
		r.board.expire(r)
	}
	r.goBack(r.acked)
	r.probing = true
	r.retries++
	r.await(now, p)
	return true
}

// goBack makes a packet that was sent the next.
func (r *requester) goBack(to uint64) {
	r.high = max(r.high, r.next)
	r.repeated += r.next - to
	r.next = to
	r.awaiting, r.probing, r.plain = false, false, 0
}

// before is added to a packet's number, which begins with the first PSN, to get one that counts from 0 and continues
// where the epoch before ended.
func (r *requester) before() uint64 { return r.earlier - uint64(r.first) }

// beginAnew sends the whole flow again, in an epoch that begins with another PSN. It reports false if
// that was tried often enough.
func (r *requester) beginAnew(psn uint32, p *patience) bool {
	if r.acked != r.mark {
		r.retries = 0
	}
	if r.retries == p.retries {
		return false
	}
	r.retries++
	sent, packets := r.index(), uint64(0)
	if r.end > 0 {
		packets = r.end - uint64(r.first)
	}
	r.repeated += sent
	r.earlier += sent
	r.start(psn, packets)
	return true
}

// meaning is what an acknowledgement means.
type meaning uint8

const (
	nothing   meaning = iota // it is of another epoch, of packets that were never sent, or older than another
	repeated                 // it says what is known
	arrived                  // more packets have arrived
	complete                 // all of them have
	goBack                   // the next packet is one that was sent before
	forgotten                // the receiver does not have the epoch
	refused                  // the receiver takes nothing more (acknowledgeStandard)
)

// acknowledge takes an acknowledgement: its PSN, and the syndrome and message sequence number of its AETH.
func (r *requester) acknowledge(psn uint32, syndrome uint8, msn uint32) meaning {
	behind := max(r.next, r.high) - r.acked // packets that may be acknowledged
	nak := false
	switch {
	case wire.IsACK(syndrome):
		psn++
	case syndrome == wire.SyndromeNAK:
		nak = true
	case syndrome == wire.SyndromeInvalid:
		return r.unknown(uint64((psn-uint32(r.acked))&psnMask) < behind)
	default:
		return nothing
	}
	more := uint64((psn - uint32(r.acked)) & psnMask)
	upTo, messages := r.acked+more, uint32(0)
	if !nak && r.end > 0 && upTo == r.end {
		messages = 1
	}
	if more > behind || msn != (r.first+messages)&psnMask {
		return r.contradicted()
	}
	if upTo > r.next { // after it went back for more than was lost
		r.repeated -= upTo - r.next
		r.next, r.plain = upTo, 0
	}
	r.acked = upTo
	if r.board != nil {
		r.board.pass(upTo, more)
	}
	switch {
	case messages == 1:
		return complete
	case r.board != nil && (!nak || r.board.cause != noCause):
		return r.selectively(more)
	case nak:
		if r.board != nil { // the receiver places nothing
			r.board.expire(r)
		}
		r.goBack(upTo)
		return goBack
	case more == 0:
		return repeated
	}
	r.probing = false
	return arrived
}

// unknown handles the answer that the receiver knows no epoch for a packet; ours says whether the packet may be
// one of those under way. If nothing was acknowledged, the first packet was lost.
func (r *requester) unknown(ours bool) meaning {
	switch {
	case !ours:
		return nothing
	case r.acked == uint64(r.first):
		r.goBack(r.acked)
		return goBack
	}
	return r.contradicted()
}

// contradicted handles an answer of another epoch, or one that contradicts earlier acknowledgements. It may be
// old, from before the first packet arrived, or of another flow: so it counts only after some timeouts.
func (r *requester) contradicted() meaning {
	if r.probing && r.retries >= doubts {
		return forgotten
	}
	return nothing
}
