package agent

import (
	"errors"

	"photon/units"
	"photon/wire"
)

// Flows to queue pairs of the InfiniBand specification (volume 1, section 9.7), as network cards and Soft-RoCE have them:
// the two ends have agreed on a queue pair and on its first PSN, acknowledgements count messages, and a receiver that was
// restarted does not come back. Between agents there are epochs in their place (requester).

// ErrRefused is why a flow ended whose receiver answered with an error.
var ErrRefused = errors.New("the receiver's queue pair refused it")

// acknowledgeStandard takes an acknowledgement: its PSN and the syndrome of its AETH. wait is how long the receiver wants
// to be left alone before the packet is sent again.
func (r *requester) acknowledgeStandard(psn uint32, syndrome uint8) (m meaning, wait units.Time) {
	ack, notReady := wire.IsACK(syndrome), wire.IsRNR(syndrome)
	if ack {
		psn++
	}
	more := uint64((psn - uint32(r.acked)) & psnMask)
	if under := r.outstanding(); more > under || !ack && more == under { // of what was never sent
		return nothing, 0
	}
	if !ack && !notReady && syndrome != wire.SyndromeNAK {
		return refused, 0
	}
	upTo := r.acked + more
	r.advance(upTo)
	switch {
	case ack && r.end > 0 && upTo == r.end:
		return complete, 0
	case !ack:
		r.goBack(upTo)
		return goBack, rnrDelay(syndrome)
	case more == 0:
		return repeated, 0
	}
	r.probing = false
	return arrived, 0
}

// rnrTimers are the times that an RNR NAK may ask for (table 45), in units of 10 us.
var rnrTimers = [32]units.Time{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
	16384, 24576, 32768, 49152,
}

// rnrDelay is how long a receiver that is not ready wants to be left alone; 0: it does not say so.
func rnrDelay(syndrome uint8) units.Time {
	if !wire.IsRNR(syndrome) {
		return 0
	}
	return rnrTimers[syndrome&31] * 10 * units.Microsecond
}
