package agent

import (
	"slices"

	"photon/wire"
)

// responder is the receiving half of a reliable connection: it takes packets in order, once,
// and says what to answer.
//
// An epoch begins with a first packet (First or Only), and its PSN names it. A first packet with
// another PSN begins another epoch: the sender was restarted, uses the pair for another flow, or
// started again. Late packets of earlier epochs must not do that, so the last few are remembered
// (retired), and whether they were whole: their sender may not know it yet. A packet that is not the
// first finds no epoch if the receiver was restarted or has forgotten the pair. It is refused, so that
// the sender starts again.
type responder struct {
	start    uint32 // PSN of the epoch's first packet
	expected uint32 // PSN of the packet that is to come
	asked    uint32 // PSN of the packet whose refusal was answered last
	refused  uint16 // the lower bits of that of the packet that was refused last, and in two bits how often in a row
	epoch    epoch
	refusing bool // packets are refused until the one that is missing comes
}

type epoch uint8

const (
	noEpoch    epoch = iota // no first packet has come
	openEpoch               // packets are missing
	wholeEpoch              // the last packet was taken
)

// retired are the last epochs of a pair before the present one, the newest first. Most pairs have had none: nil. A
// packet may come so late that its pair has been used by as many flows since.
type retired struct{ epochs *[8]retiredEpoch }

// retiredEpoch is an epoch after which another began.
type retiredEpoch struct {
	start  uint32 // PSN of its first packet, plus 1; 0: there is none
	behind uint32 // if it was whole, the PSN behind its last packet, plus 1; else 0
}

// verdict is what happens to a packet.
type verdict uint8

const (
	inOrder   verdict = iota // taken
	duplicate                // taken before
	tooEarly                 // one before it is missing
	stranger                 // its epoch is unknown
	stale                    // of an earlier epoch: its first packet, or any if the epoch was whole

	placed       // taken, and one before it is missing (selective repeat)
	placedBefore // so it was before
)

// psnMask has the bits of a sequence number.
const psnMask = 1<<24 - 1

// askAgain is after how many further packets a NAK is repeated if the sender does not go back.
const askAgain = 1024

// takeMiddle takes a packet in the middle of a flow if it is the one that is to come, as most are. If not, take
// judges it.
func (r *responder) takeMiddle(psn uint32, opcode uint8) bool {
	if psn != r.expected || opcode != wire.OpSendMiddle || r.epoch != openEpoch {
		return false
	}
	r.expected = (psn + 1) & psnMask
	r.refusing = false
	return true
}

// take judges a packet. old are the epochs before, which few packets need.
func (r *responder) take(psn uint32, opcode uint8, old *retired) verdict {
	begins := opcode == wire.OpSendFirst || opcode == wire.OpSendOnly
	if begins {
		switch {
		case r.epoch != noEpoch && psn == r.start:
			return duplicate
		case old.has(psn):
			return stale
		}
		old.add(r)
		*r = responder{start: psn, expected: psn, epoch: openEpoch}
	}
	ahead := (psn - r.expected) & psnMask
	switch {
	case r.epoch == noEpoch:
		return stranger
	case ahead > 0 && !begins && old.whole(psn) != nil:
		return stale
	case ahead >= 1<<23:
		return duplicate
	case r.epoch == wholeEpoch:
		return stranger
	case ahead > 0:
		return tooEarly
	}
	r.expected = (psn + 1) & psnMask
	r.refusing = false
	if opcode == wire.OpSendLast || opcode == wire.OpSendOnly {
		r.epoch = wholeEpoch
	}
	return inOrder
}

// refuse reports whether a packet that is too early, or of an unknown epoch, gets an answer. The first
// does, and later ones if the first answer seems to have been lost: it comes again, or many behind it have come. If the
// sender may be astray, in an epoch that is not the present one, any that comes three times in a row gets one, too: the
// sender tries nothing else, and what was refused before may have been late.
func (r *responder) refuse(psn uint32, astray bool) bool {
	bits, times := uint16(psn<<2), min(r.refused&3+1, 3)
	if r.refused&^3 != bits {
		times = 1
	}
	r.refused = bits | times
	again := astray && times == 3
	if further := (psn - r.asked) & psnMask; r.refusing && further > 0 && further < askAgain && !again {
		return false
	}
	r.asked, r.refusing = psn, true
	return true
}

// msn is the message sequence number of acknowledgements. It is counted from the epoch's first PSN, so
// that the sender can see which epoch is meant, and that the last packet has arrived.
func (r *responder) msn() uint32 {
	if r.epoch == wholeEpoch {
		return (r.start + 1) & psnMask
	}
	return r.start
}

// has reports whether an earlier epoch began with a PSN.
func (o *retired) has(psn uint32) bool {
	return o.epochs != nil &&
		slices.ContainsFunc(o.epochs[:], func(e retiredEpoch) bool { return e.start == psn+1 })
}

// whole is the earlier epoch that was whole and had a PSN, or nil.
func (o *retired) whole(psn uint32) *retiredEpoch {
	if o.epochs == nil {
		return nil
	}
	for i := range o.epochs {
		e := &o.epochs[i]
		if e.behind > 0 && (psn+1-e.start)&psnMask < (e.behind-e.start)&psnMask {
			return e
		}
	}
	return nil
}

// add adds the epoch of a responder, if it has one.
func (o *retired) add(r *responder) {
	if r.epoch == noEpoch {
		return
	}
	e := retiredEpoch{start: r.start + 1}
	if r.epoch == wholeEpoch {
		e.behind = r.expected + 1
	}
	if o.epochs == nil {
		o.epochs = new([8]retiredEpoch)
	}
	all := o.epochs
	copy(all[1:], all[:])
	all[0] = e
}

// answer is the acknowledgement of an earlier epoch that was whole: its last PSN, and the message sequence number.
func (e *retiredEpoch) answer() (psn, msn uint32) {
	return (e.behind - 2) & psnMask, e.start & psnMask
}
