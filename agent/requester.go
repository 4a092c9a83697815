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
// The receiver asks for a packet that is missing (a NAK), and the sender goes back to it, or repeats what is lost and no
// more (selective.go). If nothing comes, the sender's timer runs out (retransmit.go).
//
// What a receiver has is of an epoch, which begins with a first packet and is named by its PSN. Acknowledgements tell
// the epoch (see responder.msn), and those of another mean nothing. If the receiver has lost the epoch the sender
// begins anew, with another first PSN. A sender gives up after so many tries in a row without progress.
type requester struct {
	*sending                   // next is there
	acked          uint64      // all packets below it have arrived
	end            uint64      // behind the last packet; 0: there is no last
	first          uint32      // the first packet's PSN, and its number
	awaiting       bool        // nothing can be sent before an acknowledgement: the timer is for its lack
	probing        bool        // after a timeout, until something is acknowledged or asked for
	retries        uint8       // timeouts and new beginnings since the last progress
	high           uint64      // where next was before it went back; below next: nothing is sent again
	retransmission             // when packets are sent again
	earlier        uint64      // packets of earlier epochs
	scoreboard     *scoreboard // of selective repeat; nil: the sender goes back to the packet that is missing
}

const (
	// maxOutstanding is how many packets may be under way: a receiver takes a PSN of the half
	// of all numbers that is before the one it expects for an old one.
	maxOutstanding = 1<<23 - 1
	// unconfirmed is how many acknowledgements may be awaited before the first has come: perhaps
	// nobody is there, and switches send the packets to everybody.
	unconfirmed = 64
	// askAnyway is after how many packets at most an acknowledgement is asked for until then.
	askAnyway = 1 << 22
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
func (r *requester) blocked(c *recovery) bool {
	switch {
	case r.end > 0 && r.next == r.end, r.probing:
		return true
	case r.scoreboard != nil:
		return r.next >= r.high && r.next-r.acked >= r.scoreboard.window
	case r.acked == uint64(r.first):
		return r.index() >= min(maxOutstanding, unconfirmed*c.every)
	}
	return r.next-r.acked >= maxOutstanding
}

// sentNext notes that the next packet was sent.
func (r *requester) sentNext(now units.Time, asked bool, c *recovery) {
	r.next++
	if r.scoreboard != nil {
		r.scoreboard.sentSelective(r)
	}
	if !asked {
		return
	}
	r.asked = max(r.asked, r.next)
	if r.deadline == units.Never {
		r.restartTimer(now, c)
	}
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
	if more > behind || nak && more == behind || msn != (r.first+messages)&psnMask {
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

// contradicted handles an answer of another epoch, or one that contradicts earlier acknowledgements. It may be
// old, from before the first packet arrived, or of another flow: so it counts only after some timeouts.
func (r *requester) contradicted() meaning {
	enough := uint8(doubts)
	if r.scoreboard != nil { // low timeouts are shorter than the time for which an answer may be on its way
		enough = r.scoreboard.doubts
	}
	if r.probing && r.retries >= enough {
		return forgotten
	}
	return nothing
}
