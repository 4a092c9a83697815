package agent

import (
	"encoding/binary"
	"errors"
	"fmt"

	"photon/fabric"
	"photon/flowtable"
	"photon/units"
	"photon/wire"
)

// A flow with a Pair goes to a queue pair of the InfiniBand specification (volume 1, chapter 9), as network cards and
// Soft-RoCE have them. The configuration tells both ends each other's numbers and first PSNs. The host is a requester there
// (pair_send.go: SEND, WRITE and READ) and a responder (pair_take.go), which places what comes in a piece of memory and
// answers what is read from it (pair_read.go).
//
//	makeSpecial → makePairPacket → request   of the flow, at the pace of its reaction point
//	                             → respond   of another flow, which has the responses of READs, while there are any
//	take        → takePair       → takeRequest, takeResponse, takeAnswer
//
// A pair goes on answering when its own messages are done, until another flow takes its number or its place. One that
// has no messages ends with its flow.

// Verb is what a message does.
type Verb uint8

// Verbs.
const (
	Send Verb = iota
	Write
	Read
	noVerb // no message is under way
)

// Pair says that a flow goes to a queue pair of the specification: the flow's QP is the peer's, and its PSN is what that
// expects first. The flow's size is that of all messages together.
type Pair struct {
	Local    uint32 // number of the host's own queue pair
	PeerPSN  uint32 // that the peer sends first
	Expects  bool   // PeerPSN is known; else whatever comes first is right
	Verb     Verb
	Messages int        // 0: the host only answers
	Size     units.Size // of each message
	Remote   Region     // of Write and Read: messages have their places in it one after the other, and begin again at its start
	Into     Region     // of Read: places in the host's own memory; without a size what is read is not kept
	Receive  Buffers    // of what the peer sends; none: it is not kept

	queue *queuePair
}

// Region is a part of the memory at either end.
type Region struct {
	Address uint64
	Size    uint64
	Key     uint32 // of the peer's
}

// Buffers are equal parts of the host's memory, one behind the other. Each SEND takes the next; behind the last comes the
// first.
type Buffers struct {
	Address uint64
	Size    uint64 // of one
	Count   uint64
}

// Memory is what the peers of a host may write to and read from.
type Memory struct {
	Address uint64 // by which they name its first byte
	Key     uint32
	Bytes   []byte
}

// NewMemory makes a memory, which begins as a message of that size (fillPattern).
func NewMemory(address uint64, key uint32, size int) *Memory {
	m := &Memory{Address: address, Key: key, Bytes: make([]byte, size)}
	fillPattern(m.Bytes, 0, 0)
	return m
}

// at is a part of it; it is not ok if that is not all there.
func (m *Memory) at(address, length uint64) (b []byte, ok bool) {
	if m == nil || address < m.Address {
		return nil, false
	}
	from, size := address-m.Address, uint64(len(m.Bytes))
	if from > size || length > size-from {
		return nil, false
	}
	return m.Bytes[from : from+length], true
}

const (
	// MostMessage is the size of the longest message (section 9.7.7).
	MostMessage = 1 << 31
	// A packet is for a pair if it is of the default partition, whether its sender is a full member or a limited one,
	// and of reliable connections, which the upper bits of opcodes say.
	membership         = 1 << 15
	defaultPartition   = 0x7FFF
	transportShift     = 5
	reliableConnection = 0
	// MostPackets is how many packets a message has at most: so many may be under way.
	MostPackets = maxOutstanding
	// maxReads is how many READs of a peer wait to be answered: what it may have under way is less (section 9.7.4.1.2).
	maxReads = 16
)

// errRegion: a message has no place.
var errRegion = errors.New("agent: a message does not fit into the memory for it")

// check says what is wrong with a pair, in one line, whose packets have payload bytes.
func (p *Pair) check(payload int, own *Memory) error {
	size := uint64(p.Size)
	switch {
	case p.Local >= 1<<24:
		return fmt.Errorf("agent: queue pair %d has more than 24 bits", p.Local)
	case p.PeerPSN > psnMask:
		return fmt.Errorf("agent: PSN %d has more than 24 bits", p.PeerPSN)
	case p.Messages < 0 || p.Size < 0 || p.Size > MostMessage || p.perMessage(payload) > maxOutstanding:
		return fmt.Errorf("agent: %d messages of %v: none has more than 2 GiB, or more packets than may be under way", p.Messages, p.Size)
	case p.Verb > Read:
		return fmt.Errorf("agent: there is no verb %d", p.Verb)
	case p.Verb != Send && p.Messages > 0 && p.Remote.Size < size:
		return errRegion
	}
	if p.Verb == Read && p.Into.Size > 0 {
		if _, ok := own.at(p.Into.Address, p.Into.Size); !ok || p.Into.Size < size {
			return errRegion
		}
	}
	if r := p.Receive; r.Count > 0 {
		if _, ok := own.at(r.Address, r.Size*r.Count); !ok || r.Size == 0 || r.Count > uint64(len(own.Bytes)) || r.Size > uint64(len(own.Bytes)) {
			return errRegion
		}
	}
	return nil
}

// perMessage is how many packets a message has.
func (p *Pair) perMessage(payload int) uint64 {
	return packetsOf(uint64(p.Size), uint64(payload))
}

// packetsOf is how many packets bring so many bytes: one, if there are none.
func packetsOf(bytes, payload uint64) uint64 { return max(1, (bytes+payload-1)/payload) }

// offset is where a message's place begins in a region.
func (p *Pair) offset(message, region uint64) uint64 {
	if p.Size == 0 {
		return 0
	}
	return message % max(1, region/uint64(p.Size)) * uint64(p.Size)
}

// queuePair is the host's end of a connection.
type queuePair struct {
	spec    *Pair
	key     peerKey // the peer's address, and the host's own number
	peer    wire.IP
	mac     wire.MAC
	remote  uint32
	place   int32 // in pairs.list
	flow    int32 // slot of the flow that sends on it; -1: none does
	answers int32 // slot of the flow that has what is to be answered; -1: none
	mtu     uint64
	dscp    uint8
	srcPort uint16
	weight  int
	tenant  int
	limit   units.Rate

	sender    pairSender
	taker     pairTaker
	responses Responses
}

// pairs are the queue pairs of a host.
type pairs struct {
	byKey map[peerKey]*queuePair
	list  []*queuePair // by place; nil: it is free
}

// find is the pair that a packet from a peer names.
func (p *pairs) find(key peerKey) *queuePair {
	if p == nil {
		return nil
	}
	return p.byKey[key]
}

// clash reports whether the packets of a flow would be taken for those of another.
func (h *Host) clash(spec *FlowSpec) bool {
	if spec.Pair == nil {
		return h.pairs.find(keyOf(spec.Peer, spec.QP)) != nil
	}
	key := keyOf(spec.Peer, spec.Pair.Local)
	if q := h.pairs.find(key); q != nil && q.flow >= 0 {
		return true
	}
	id := h.byPeer.Lookup(key)
	return id != flowtable.None && h.flows[id].spec.Pair == nil
}

// openPair makes the host's end of the connection of a flow that was just given a slot, and returns what the flow is to have
// in place of its own description. A pair whose flow has ended makes room.
func (h *Host) openPair(spec *FlowSpec, id int) *Pair {
	if h.pairs == nil {
		h.pairs = &pairs{byKey: map[peerKey]*queuePair{}}
	}
	p := *spec.Pair
	q := &queuePair{
		spec: &p, key: keyOf(spec.Peer, p.Local), peer: spec.Peer, mac: spec.PeerMAC, remote: spec.QP, flow: int32(id), answers: -1,
		mtu: uint64(h.config.Payload), dscp: spec.DSCP, srcPort: spec.sourcePort(), weight: spec.Weight, tenant: spec.Tenant, limit: spec.Limit,
		taker: pairTaker{expected: p.PeerPSN, known: p.Expects, verb: noVerb},
	}
	p.queue = q
	if old := h.pairs.find(q.key); old != nil {
		h.closePair(old)
	}
	// An agent may have sent on that queue pair before: its packets are not to be guessed any more (known).
	if slot := h.table.Lookup(q.key); slot != flowtable.None {
		h.peers[slot].key = 0
	}
	q.place = h.pairs.room(h.config.Senders+h.config.Receivers, h.closePair)
	h.pairs.list[q.place], h.pairs.byKey[q.key] = q, q
	return &p
}

// room is a free place of so many, or that of a pair whose flow has ended.
func (p *pairs) room(most int, closePair func(*queuePair)) int32 {
	idle := -1
	for i, q := range p.list {
		switch {
		case q == nil:
			return int32(i)
		case q.flow < 0 && idle < 0:
			idle = i
		}
	}
	if len(p.list) < most || idle < 0 {
		p.list = append(p.list, nil)
		return int32(len(p.list) - 1)
	}
	closePair(p.list[idle])
	return int32(idle)
}

// closePair has the host forget a pair.
func (h *Host) closePair(q *queuePair) {
	if q.answers >= 0 {
		h.StopFlow(0, int(q.answers))
	}
	delete(h.pairs.byKey, q.key)
	h.pairs.list[q.place] = nil
}

// detach is called when a flow of a pair has ended.
func (h *Host) detach(q *queuePair, id int) {
	switch {
	case id == int(q.answers):
		q.answers = -1
	case id == int(q.flow):
		if q.flow = -1; q.spec.Messages == 0 { // it is there for as long as it answers
			h.closePair(q)
		}
	}
}

// takePair takes a packet of a pair.
func (h *Host) takePair(now units.Time, length uint16, b []byte, hdr *wire.Header, q *queuePair) (fabric.Reason, bool) {
	bth := wire.BTH(b[hdr.BTH:])
	if !h.env.Whole(int(length)) || bth.Version() != 0 {
		return fabric.DropMalformed, false
	}
	if !h.dataIntact(b, hdr.L3, hdr.BTH) {
		return fabric.DropBadICRC, false
	}
	if bth.PKey()&^membership != defaultPartition || bth.Opcode()>>transportShift != reliableConnection {
		return fabric.DropUnknown, false // in silence: an answer would end the connection
	}
	end := hdr.BTH - wire.UDPLen + int(binary.BigEndian.Uint16(b[hdr.BTH-wire.UDPLen+4:])) - wire.ICRCLen
	body := b[hdr.BTH+wire.BTHLen : end]
	switch op := bth.Opcode(); op {
	case wire.OpAcknowledge:
		return h.takeAnswer(now, q, bth, body)
	case wire.OpResponseFirst, wire.OpResponseMid, wire.OpResponseLast, wire.OpResponseOnly:
		return h.takeResponse(now, q, bth, body)
	default:
		return h.takeRequest(now, q, bth, body)
	}
}

// PairState is what can be seen of a queue pair.
type PairState struct {
	Peer          wire.IP
	Local, Remote uint32
	Messages      [3]uint64 // that the peer has done, by verb
	Bytes         uint64    // of them that were placed or counted, and of what was read
}

// Pairs returns what there is to know of the queue pairs of the specification.
func (h *Host) Pairs() (all []PairState) {
	if h.pairs == nil {
		return nil
	}
	for _, q := range h.pairs.list {
		if q != nil {
			all = append(all, PairState{Peer: q.peer, Local: q.spec.Local, Remote: q.remote, Messages: q.taker.messages, Bytes: q.taker.bytes})
		}
	}
	return all
}
