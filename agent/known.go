package agent

import (
	"encoding/binary"
	"math"
	"math/bits"
	"unsafe"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// This file is the shortcut of packets of flows that the host knows: data and acknowledgements in plain IPv4, data also
// behind a congestion notification tag. Where a flow's are is guessed by its name, and what is kept there says whether
// that is right: no table is searched.

// notIPv4 is no IPv4 address.
const notIPv4 = 1 << 32

// shortKey is a peerKey of an IPv4 address, never 0; of others 0.
type shortKey uint64

func (k peerKey) short() shortKey {
	if k.hi != (half{}) || k.lo.a != v4Mapped {
		return 0
	}
	return newShortKey(k.lo.b, k.qp)
}

func newShortKey(ip, qp uint32) shortKey { return shortKey(1)<<63 | shortKey(qp)<<32 | shortKey(ip) }

// guesses are the slots in which flows were found last, by a hash of their keys. There are twice as many as flows, so
// that few flows displace each other's. They take 16 bytes of a host, whose lines of the cache are full.
type guesses struct {
	first *uint16
	shift uint8 // of a hash, to a place
}

const (
	leastGuesses = 8
	mostGuesses  = math.MaxUint16 + 1
)

// newGuesses makes room for a number of guesses, a power of two.
func newGuesses(n int) guesses { return guesses{&make([]uint16, n)[0], uint8(65 - bits.Len(uint(n)))} }

func (g *guesses) len() int { return 1 << (64 - g.shift) }

// of is the guess for a key. Addresses and numbers of queue pairs mostly follow each other: multiplied once, those of
// many hosts fall on few places.
func (g *guesses) of(k shortKey) *uint16 {
	const golden = 0x9E3779B97F4A7C15
	x := uint64(k) * golden
	x = (x ^ x>>32) * golden
	return (*uint16)(unsafe.Add(unsafe.Pointer(g.first), 2*(x>>(g.shift&63))))
}

// put remembers a flow's slot. Slots are given out from 0 on, so it says how many flows there are. When there are more
// than there is room for, what was remembered is forgotten.
func (g *guesses) put(k shortKey, slot int) {
	if slot >= mostGuesses {
		return
	}
	if n := min(1<<bits.Len(uint(2*slot)), mostGuesses); n > g.len() {
		*g = newGuesses(n)
	}
	*g.of(k) = uint16(slot)
}

const bthAt = wire.HeadersLen - wire.BTHLen

// known processes a packet of a flow whose slot it guesses. If not ok, nothing was done.
// It is silent if no event is due earlier than before, see receive.
func (h *Host) known(now units.Time, f *fabric.Frame) (silent, ok bool) {
	b := h.env.Start(f)
	if b == nil || f.Len < wire.HeadersLen {
		return false, false
	}
	q, tag := (*wire.Headers)(b[:]), 0
	if !q.RoCE() {
		if q, tag = behindTag(b, f.Len); tag == 0 || !q.RoCE() {
			return false, false
		}
	}
	if uint64(q.Dst4()) != h.ip4 {
		return false, false
	}
	if h.whole {
		at := tag + wire.EthernetLen
		if _, bad := h.refused(b[at:at+wire.IPv4Len], wire.MACAt(b[:]), int(f.Len)-at); bad {
			return false, false
		}
	}
	bth := q.BTH()
	key := newShortKey(q.Src4(), bth.DestQP())
	switch bth.Opcode() {
	case wire.OpSendMiddle, wire.OpSendLast: // a first packet may be of another sender
		slot := int(*h.receivedSlots.of(key))
		if slot >= len(h.peers) || h.peers[slot].key != key {
			return false, false
		}
		rest := []byte(bth)
		if bth.Extensions() != 0 {
			rest = h.env.Bytes(f)[tag+bthAt:]
		}
		prio := h.prio(q.TOS())
		l := h.count(prio, f.Len)
		if h.env.Whole(int(f.Len)) && !h.dataIntact(h.env.Bytes(f), tag+wire.EthernetLen, tag+bthAt) {
			h.discard(now, fabric.DropBadICRC, prio)
			return false, true
		}
		begun := h.peers[slot].start
		if drop, ok := h.takeKnownData(now, slot, f.Len, rest, q.TOS()); !ok {
			h.discard(now, drop, prio)
			return false, true
		}
		if h.peers[slot].start != begun { // selective repeat: it has overtaken the first of its flow
			h.noteOrigin(slot, (*wire.Headers)(b[:]).Src(), q.SrcPort())
		}
		l.ends++
		return h.acks.empty(), true
	case wire.OpAcknowledge:
		id := int(*h.sentSlots.of(key))
		if tag != 0 || id >= len(h.ackHeadsTaken) || f.Len < wire.AckLen {
			return false, false
		}
		whole := b[:wire.AckLen]
		if bth.Extensions() != 0 {
			whole = h.env.Bytes(f)
		}
		if !h.ackHeadsTaken[id].OK(whole) {
			return false, false
		}
		prio := h.prio(q.TOS())
		l := h.count(prio, f.Len)
		if silent, ok = h.takeKnownAck(now, id, whole[bthAt:]); !ok {
			h.discard(now, fabric.DropUnknown, prio)
			return false, true
		}
		l.ends++
		return silent, true
	}
	return false, false
}

// behindTag returns what lies behind a congestion notification tag as if there were none, but for the addresses of
// Ethernet, and the length of the tag; 0: there is none.
func behindTag(b *[fabric.StartLen]byte, length uint16) (q *wire.Headers, tag int) {
	if binary.BigEndian.Uint16(b[12:14]) != wire.TypeCNTag || length < wire.HeadersLen+wire.CNTagLen {
		return nil, 0
	}
	return (*wire.Headers)(b[wire.CNTagLen:]), wire.CNTagLen
}
