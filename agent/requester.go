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
// Lost packets are found by the receiver, which asks for the one it misses (a NAK, and the sender goes back to it, or
// repeats what is lost and no more, see selective.go), or by the sender's retransmission timer: an acknowledgement
// that was asked for has not come, and nothing was acknowledged, for a timeout. The timer is looked at when the
// flow's turn comes, so that a flow has one timer in the wheel and not two. After a timeout one packet is sent and
// answered before the others follow: it finds out what the receiver has.
//
// What a receiver has is of an epoch, which begins with a first packet and is named by its PSN. Acknowledgements tell
// the epoch (see responder.msn), and those of another mean nothing. If the receiver has lost the epoch the sender
// begins anew, with another first PSN. A sender gives up after so many tries in a row without progress.
type requester struct {
	*sending                 // next is there
	acked        uint64      // all packets below it have arrived
	end          uint64      // behind the last packet; 0: there is no last
	first        uint32      // the first packet's PSN, and its number
	awaiting     bool        // nothing can be sent before an acknowledgement: the timer is for its lack
	probing      bool        // after a timeout, until something is acknowledged or asked for
	retries      uint8       // timeouts and new beginnings since the last progress
	high         uint64      // where next was before it went back; below next: nothing is sent again
	asked        uint64      // behind the last packet that asked to be acknowledged
	deadline     units.Time  // of progress; Never: no acknowledgement is awaited
	ackedAtStart uint64      // acked when the timer was started for that
	repeated     uint64      // packets that were sent again, or are to be
	earlier      uint64      // packets of earlier beginnings
	scoreboard   *scoreboard // of selective repeat; nil: the sender goes back to the packet that is missing
}

// recovery is how the senders of a host deal with losses.
type recovery struct {
	every   uint64     // packets from one that asks to be acknowledged to the next
	timeout units.Time // without progress, until packets are sent again; doubled each time
	retries uint8      // in a row without progress, before a flow gives up
}

const (
	// mostOutstanding is how many packets may be under way: a receiver takes a PSN of the half
	// of all numbers that is before the one it expects for an old one.
	mostOutstanding = 1<<23 - 1
	// unconfirmed is how many acknowledgements may be awaited before the first has come: perhaps
	// nobody is there, and switches send the packets to everybody.
	unconfirmed = 64
	// askAnyway is how often acknowledgements are asked for at least, for that reason.
	askAnyway = 1 << 22
	// mostDoublings bounds what becomes of the timeout.
	mostDoublings = 6
	// doubts is how many timeouts in a row there must have been before an answer means that the
	// receiver has lost the epoch: it is older than three of them if it does not.
	doubts = 2
)

// start begins with a PSN. packets is how many there are; 0: no end.
func (r *requester) start(psn uint32, packets uint64) {
	r.first = psn
	r.next, r.acked, r.high, r.asked, r.ackedAtStart = uint64(psn), uint64(psn), 0, 0, uint64(psn)
	r.end, r.deadline = 0, units.Never
	if packets > 0 {
		r.end = uint64(psn) + packets
	}
	r.awaiting, r.probing, r.plain = false, false, 0
	if r.scoreboard != nil {
		r.scoreboard.start(uint64(psn))
	}
}

// index is the place of the next packet in the flow.
func (r *requester) index() uint64 { return r.next - uint64(r.first) }

// neverSent is the first packet that was never sent.
func (r *requester) neverSent() uint64 { return max(r.next, r.high) }

// outstanding is how many packets may be acknowledged.
func (r *requester) outstanding() uint64 { return r.neverSent() - r.acked }

// ordinal is a packet's number from 0 on, with those of earlier epochs: numbers in the PSNs' row begin anew with each.
func (r *requester) ordinal(number uint64) uint64 { return number - uint64(r.first) + r.earlier }

// frames is how many packets were sent, repetitions included.
func (r *requester) frames() uint64 { return r.index() + r.repeated }

// isLast reports whether the next packet is the last.
func (r *requester) isLast() bool { return r.end > 0 && r.next == r.end-1 }

// asks reports whether the next packet asks to be acknowledged: the last, one in so many, and
// the first of those that are sent again.
func (r *requester) asks(every uint64) bool {
	return r.scoreboard != nil || r.isLast() || (r.index()+1)%every == 0 || r.next == r.acked && r.next < r.high
}

// blocked reports whether there is nothing to send before something is acknowledged.
func (r *requester) blocked(p *recovery) bool {
	switch {
	case r.end > 0 && r.next == r.end, r.probing:
		return true
	case r.scoreboard != nil:
		return r.next >= r.high && r.next-r.acked >= r.scoreboard.window
	case r.acked == uint64(r.first):
		return r.index() >= min(mostOutstanding, unconfirmed*p.every)
	}
	return r.next-r.acked >= mostOutstanding
}

// sentNext notes that the next packet was sent.
func (r *requester) sentNext(now units.Time, asked bool, p *recovery) {
	r.next++
	if r.scoreboard != nil {
		r.scoreboard.sentSelective(r)
	}
	if !asked {
		return
	}
	r.asked = max(r.asked, r.next)
	if r.deadline == units.Never {
		r.restartTimer(now, p)
	}
}

// restartTimer sets the deadline of progress.
func (r *requester) restartTimer(now units.Time, p *recovery) {
	r.ackedAtStart = r.acked
	if r.scoreboard != nil {
		r.scoreboard.since = now
	}
	r.deadline = now + r.timeout(p)
}

// timeout is how long progress may take.
func (r *requester) timeout(p *recovery) units.Time {
	t := p.timeout
	if r.hasLowTimeout() {
		t = min(t, r.scoreboard.low)
	}
	return t << min(r.retries, mostDoublings)
}

// hasLowTimeout reports whether the low timeout of selective repeat is in force.
func (r *requester) hasLowTimeout() bool {
	return r.scoreboard != nil && r.scoreboard.low > 0 && r.outstanding() <= r.scoreboard.few
}

// overdue reports whether the deadline has passed. Whether there was progress is seen here, and
// not when each acknowledgement comes.
func (r *requester) overdue(now units.Time, p *recovery) bool {
	switch {
	case r.deadline == units.Never:
	case r.acked >= r.asked:
		r.deadline, r.retries = units.Never, 0
	case r.acked != r.ackedAtStart:
		r.retries = 0
		r.restartTimer(now, p)
	case now < r.deadline:
	case r.scoreboard != nil && r.scoreboard.low > 0: // more may be under way now than when the deadline was set
		r.deadline = max(r.deadline, r.scoreboard.since+r.timeout(p))
		return now >= r.deadline
	default:
		return true
	}
	return false
}

// retry goes back to what was not acknowledged, to send one packet of it. It reports false if
// that was tried often enough.
func (r *requester) retry(now units.Time, p *recovery) bool {
	if r.retries == p.retries {
		return false
	}
	if r.scoreboard != nil {
		r.scoreboard.expire(r)
	}
	r.goBack(r.acked)
	r.probing = true
	r.retries++
	r.restartTimer(now, p)
	return true
}

// goBack makes a packet that was sent the next.
func (r *requester) goBack(to uint64) {
	r.high = max(r.high, r.next)
	r.repeated += r.next - to
	r.next = to
	r.awaiting, r.probing, r.plain = false, false, 0
}

// beginAnew sends the whole flow again, in an epoch that begins with another PSN. It reports false if
// that was tried often enough.
func (r *requester) beginAnew(psn uint32, p *recovery) bool {
	if r.acked != r.ackedAtStart {
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
	behind := r.outstanding()
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
	r.advance(upTo)
	if r.scoreboard != nil {
		r.scoreboard.pass(upTo, more)
	}
	switch {
	case messages == 1:
		return complete
	case r.scoreboard != nil && (!nak || r.scoreboard.cause != noCause):
		return r.selectively(more)
	case nak:
		if r.scoreboard != nil { // the receiver places nothing
			r.scoreboard.expire(r)
		}
		r.goBack(upTo)
		return goBack
	case more == 0:
		return repeated
	}
	r.probing = false
	return arrived
}

// advance notes that all packets before one have arrived. If the flow has gone back for more than was lost, it goes on
// from there.
func (r *requester) advance(upTo uint64) {
	if upTo > r.next {
		r.repeated -= upTo - r.next
		r.next, r.plain = upTo, 0
	}
	r.acked = upTo
}

// unknown is told that a packet found no epoch; ours says whether it may be one of those under way.
// If nothing was acknowledged it is the first packet that was lost.
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

// contradicted is told that an answer is of another epoch, or is not to be had from a receiver that has
// what it acknowledged. That may be an old answer, from before the first packet came or of another flow:
// it is believed after some timeouts only.
func (r *requester) contradicted() meaning {
	if r.probing && r.retries >= doubts {
		return forgotten
	}
	return nothing
}
