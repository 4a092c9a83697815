package agent

import (
	"encoding/binary"
	"fmt"

	"photon/units"
	"photon/wire"
)

// Selective repeat, as IRN has it (Mittal et al., SIGCOMM'18, sections 3.1 and 3.2): a receiver places
// packets that come before one that is missing, and says with each which one has come; a sender repeats
// what is lost and nothing else, and has no more under way than the network holds.
//
// Each packet of data carries the PSN of its flow's first packet, so that one that overtakes the first can
// be placed, for which IRN repeats the RETH in each. Each acknowledgement that is caused by a packet out
// of order is a NAK that carries the PSN of that packet (the SACK of IRN).

// Selective configures selective repeat. Check says what is wrong with one.
type Selective struct {
	// Window is how many packets may be under way, from the first that is not acknowledged on: the
	// bandwidth-delay product (BDP-FC). A receiver places as many ahead of the first that is missing.
	Window int
	// Reorder is how many packets behind a missing one must come before it counts as lost; 1: it is lost
	// at once, as in IRN. Where packets of a flow take several paths they overtake each other.
	Reorder int
	// LowTimeout is the acknowledgement timeout in place of the host's while no more than LowPackets packets are under way
	// (RTO_low and N of IRN, section 3.1): what is lost at the end of a message has no packet behind it that
	// would show it. 0: always the host's.
	LowTimeout units.Time
	LowPackets int
}

// DefaultLowPackets is N of IRN: the low timeout is for so many packets under way (SIGCOMM'18, section 4.1).
const DefaultLowPackets = 3

// MostWindow is the largest window of selective repeat, in packets.
const MostWindow = 1 << 16

// Check says what is wrong with the configuration, in one line.
func (s *Selective) Check() error {
	switch {
	case s.Window < 1 || s.Window > MostWindow:
		return fmt.Errorf("selective repeat: a window of %d packets: from 1 to %d", s.Window, MostWindow)
	case s.Reorder < 1 || s.Reorder > s.Window:
		return fmt.Errorf("selective repeat: a packet is lost when %d behind it have come: from 1 to the window, %d",
			s.Reorder, s.Window)
	case s.LowTimeout < 0 || s.LowTimeout > MostTimeout:
		return fmt.Errorf("selective repeat: a low timeout of %v: from 0 (there is none) to %v", s.LowTimeout, MostTimeout)
	case s.LowTimeout > 0 && (s.LowPackets < 1 || s.LowPackets > s.Window):
		return fmt.Errorf("selective repeat: the low timeout is for %d packets under way: from 1 to the window, %d",
			s.LowPackets, s.Window)
	}
	return nil
}

// String says it in words.
func (s *Selective) String() string {
	text := fmt.Sprintf("%d under way, lost when %d behind have come", s.Window, s.Reorder)
	if s.LowTimeout > 0 {
		text += fmt.Sprintf(" or after %v if no more than %d are under way", s.LowTimeout, s.LowPackets)
	}
	return text
}

// ring is a set of numbers, all of which are within a window.
type ring []uint64

func newRing(window int) ring {
	words := 1
	for 64*words < window {
		words *= 2
	}
	return make(ring, words)
}

func (r ring) at(n uint64) (word *uint64, bit uint64) {
	return &r[n/64&uint64(len(r)-1)], 1 << (n % 64)
}

func (r ring) has(n uint64) bool {
	w, b := r.at(n)
	return *w&b != 0
}

// add reports whether the number is new.
func (r ring) add(n uint64) bool {
	w, b := r.at(n)
	old := *w
	*w |= b
	return old&b == 0
}

func (r ring) remove(n uint64) {
	w, b := r.at(n)
	*w &^= b
}

// scoreboard is what a sender with selective repeat knows of the packets behind the first that is not
// acknowledged.
type scoreboard struct {
	window     uint64
	reorder    uint64
	arrived    ring
	highest    uint64     // behind the last that has arrived
	scanned    uint64     // those below it were repeated, or need not be
	expired    uint64     // those below it are lost unless they have arrived: nothing came for a whole timeout
	latest     uint64     // that was acknowledged
	cause      uint32     // PSN of the packet that caused the acknowledgement at hand; noCause: it does not say
	lowTimeout units.Time // timeout while no more than lowPackets packets are under way; 0: it is as usual
	lowPackets uint64
	since      units.Time // when the deadline was set
	doubts     uint8      // how many timeouts in a row there must have been, see doubts
}

func newScoreboard(s *Selective, c *recovery) *scoreboard {
	b := &scoreboard{
		window: uint64(s.Window), reorder: uint64(s.Reorder), arrived: newRing(s.Window), cause: noCause,
		lowTimeout: s.LowTimeout, lowPackets: uint64(s.LowPackets), doubts: doubts,
	}
	if b.lowTimeout > 0 {
		b.doubts = lowDoubts(b.lowTimeout, c)
	}
	return b
}

// lowDoubts is how many low timeouts in a row take as long as so many others as make a sender doubt, but less than a
// sender has before it gives up.
func lowDoubts(low units.Time, c *recovery) uint8 {
	n, left := uint8(0), c.timeout<<doubts-c.timeout
	for ; n < doubts || left > 0 && n+1 < c.retries; n++ {
		left -= low << min(n, maxDoublings)
	}
	return n
}

// start begins with the first packet's number.
func (b *scoreboard) start(first uint64) {
	clear(b.arrived)
	b.highest, b.scanned, b.expired, b.latest = first, first, first, first
}

// lost is the first packet that is lost and was not repeated, of those before one.
func (b *scoreboard) lost(before uint64) (n uint64, ok bool) {
	end := b.expired
	if b.highest >= b.reorder {
		end = max(end, b.highest-b.reorder) // the last that has arrived is so many behind the one before it
	}
	for end = min(end, before); b.scanned < end; b.scanned++ {
		if !b.arrived.has(b.scanned) {
			return b.scanned, true
		}
	}
	return 0, false
}

// pass removes the packets before one, all of which are acknowledged now: so many more than before.
func (b *scoreboard) pass(to, more uint64) {
	for n := to - min(more, b.window); n < to; n++ {
		b.arrived.remove(n)
	}
	if more > 0 {
		b.latest = to - 1
	}
}

// selectively takes what an acknowledgement says of a flow with selective repeat: so many more packets have
// arrived in order, and perhaps one behind them (cause). It chooses the next packet to send.
func (r *requester) selectively(more uint64) meaning {
	b, fresh := r.scoreboard, more > 0
	if b.cause != noCause {
		n := r.acked + uint64((b.cause-uint32(r.acked))&psnMask)
		if n < r.neverSent() && n-r.acked < b.window && b.arrived.add(n) {
			b.highest, b.latest, fresh = max(b.highest, n+1), n, true
		}
	}
	if !fresh {
		return repeated
	}
	r.probing = false
	r.choose()
	return arrived
}

// choose has the next packet be the first that is lost, or else the first that was never sent.
func (r *requester) choose() {
	b := r.scoreboard
	b.scanned = max(b.scanned, r.acked)
	to := r.neverSent()
	if n, ok := b.lost(to); ok {
		to = n
	}
	if to < r.next {
		r.goBack(to)
		return
	}
	r.repeated -= to - r.next // it had gone back for more than was lost
	r.next = to
}

// sentSelective notes that the next packet was sent, and chooses another.
func (b *scoreboard) sentSelective(r *requester) {
	if r.next <= r.high { // a repetition: what a new packet has before it may still be lost
		b.scanned = max(b.scanned, r.next)
	}
	if !r.probing {
		r.choose()
	}
}

// expire is called when there was no progress for a whole timeout.
func (b *scoreboard) expire(r *requester) {
	b.expired, b.scanned = r.neverSent(), r.acked
}

// arrivals are the packets of a received flow ahead of the first that is missing.
type arrivals struct {
	ahead ring
	last  uint32 // PSN of the flow's last packet, if that has come
	ends  bool   // it has
	open  bool   // packets of the epoch at hand have a place
}

// judge says what becomes of a packet of the flow of a slot, from the base transport header on, where some
// senders have selective repeat. It is not ok if the packet is broken where the ICRC does not show it.
func (h *Host) judge(p *peer, slot int, psn uint32, b []byte) (v verdict, ok bool) {
	bth, a, old := wire.BTH(b), &h.ahead[slot], &h.origins[slot].retired
	ext, opcode := bth.Extensions(), bth.Opcode()
	if ext&wire.ExtPlace == 0 {
		if a.open && p.epoch != noEpoch {
			if begins := opcode == wire.OpSendFirst || opcode == wire.OpSendOnly; !begins || psn == p.start {
				return 0, false // others of its epoch have a place
			}
		}
		a.open = false
		return p.take(psn, opcode, old), true
	}
	if len(b) < wire.BTHLen+wire.ExtensionsLen(ext) {
		return 0, false
	}
	first, ok := place(b[wire.BTHLen:], ext)
	if !ok {
		return 0, false
	}
	return p.takeAny(psn, first, opcode, old, a, uint32(h.config.Selective.Window)), true
}

// takeAny judges a packet of a flow with selective repeat, which may come in any order. first is what it
// says is the PSN of its flow's first packet.
func (r *responder) takeAny(psn, first uint32, opcode uint8, old *retired, a *arrivals, window uint32) verdict {
	if r.epoch == noEpoch || first != r.start {
		if old.has(first) {
			return stale
		}
		old.add(r)
		*r = responder{start: first, expected: first, epoch: openEpoch}
		a.open = false
	}
	if !a.open {
		clear(a.ahead)
		a.ends, a.open = false, true
	}
	ahead := (psn - r.expected) & psnMask
	switch {
	case ahead >= 1<<23:
		return duplicate
	case r.epoch == wholeEpoch:
		return stranger
	case ahead >= window:
		return tooEarly
	}
	if opcode == wire.OpSendLast || opcode == wire.OpSendOnly {
		a.last, a.ends = psn, true
	}
	if ahead > 0 {
		if !a.ahead.add(uint64(psn)) {
			return placedBefore
		}
		return placed
	}
	r.refusing = false
	for r.expected = (psn + 1) & psnMask; a.ahead.has(uint64(r.expected)); r.expected = (r.expected + 1) & psnMask {
		a.ahead.remove(uint64(r.expected))
	}
	if a.ends && r.expected == (a.last+1)&psnMask {
		r.epoch = wholeEpoch
	}
	return inOrder
}

// place is what a packet of data says is the PSN of its flow's first, or an acknowledgement that of the
// packet that caused it: behind telemetry. It is not ok if there is none.
func place(rest []byte, ext uint8) (psn uint32, ok bool) {
	_, at, _ := extensions(rest, ext)
	if at == nil {
		return 0, false
	}
	word := binary.BigEndian.Uint32(at)
	return word & psnMask, word>>24 == wire.PlaceMark
}

// putPlace writes such a PSN.
func putPlace(b []byte, psn uint32) { binary.BigEndian.PutUint32(b, wire.PlaceMark<<24|psn) }
