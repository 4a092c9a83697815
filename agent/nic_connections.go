package agent

import (
	"encoding/binary"
	"math/bits"

	"photon/flowtable"
	"photon/units"
	"photon/wire"
)

// A reliable connection has a queue pair at each end. Data name the receiver's, and so do photon's
// flows; a CNP in the standard form (IBA annex A17.9.3) goes to the data's sender and names the
// queue pair there. No packet names both. A NIC learns which belong together
//
//   - from the connection manager, if one is used: ConnectRequest and ConnectReply on queue pair 1
//     name a queue pair each, and the reply names the request (IBA volume 1, 12.6);
//   - from a packet that asks to be acknowledged, and the packet that answers it: it goes the other
//     way, names the other queue pair, and has the same packet sequence number.
//
// Two unanswered packets with one number between the same hosts are ambiguous: nothing is learned from
// them, but from a later packet. All memory is allocated at the start. A host that sends false packets
// can only corrupt entries between itself and another host, and the next answer corrects them.
type connections struct {
	table    *flowtable.Table[connection]
	peers    []uint32 // by slot: the queue pair at the other end
	asked    [askedPlaces]asked
	requests [requestPlaces]connectRequest
}

// connection is one seen from this host.
type connection struct {
	here, there wire.IP
	qp          uint32 // here
}

// asked is a packet that is to be answered.
type asked struct {
	connection        // here is where it goes to; qp is what it names
	psn        uint32 // of it, and of the answer
	at         units.Time
	twice      bool // there was another
}

// connectRequest is a ConnectRequest without a reply yet.
type connectRequest struct {
	connection        // here is where it comes from; qp is what it names
	id         uint32 // of the sender's end
	at         units.Time
}

const (
	askedPlaces   = 4096
	requestPlaces = 256
	// answerWithin is how long an answer may take: longer than any round trip, shorter than packet
	// sequence numbers need to come round again.
	answerWithin = units.Second
)

func newConnections(n int) *connections {
	return &connections{table: flowtable.New(n, hashConnection), peers: make([]uint32, n)}
}

func hashConnection(c connection) uint64 {
	a := le(c.here[0:8]) ^ bits.RotateLeft64(le(c.here[8:16]), 17)
	b := le(c.there[0:8]) ^ bits.RotateLeft64(le(c.there[8:16]), 31)
	hi, lo := bits.Mul64(a^0xA0761D6478BD642F, b^0xE7037ED1A0B428DB)
	hi, lo = bits.Mul64(hi^lo^0x8EBC6AF09C88C6E3, uint64(c.qp)^0x589965CC75374CC3)
	return hi ^ lo
}

// peer is the queue pair at the other end, if it is known.
func (c *connections) peer(k connection) (qp uint32, ok bool) {
	s := c.table.Lookup(k)
	if s == flowtable.None {
		return 0, false
	}
	return c.peers[s], true
}

// learn notes the queue pair at the other end. An entry that was not learned again for age makes
// room for another.
func (c *connections) learn(now, age units.Time, k connection, peer uint32) {
	s, _ := c.table.Insert(k, now)
	if s == flowtable.None {
		old := c.table.Expire(now-age, expiryVisits)
		if old == flowtable.None {
			return
		}
		c.table.Delete(old)
		s, _ = c.table.Insert(k, now)
	}
	c.peers[s] = peer
}

// Opcodes of reliable connections, and that of the connection manager's datagrams (IBA volume 1, table 38).
const (
	readRequest       = 0x0C
	readResponseFirst = 0x0D
	readResponseOnly  = 0x10
	atomicAcknowledge = 0x12
	compareSwap       = 0x13
	fetchAdd          = 0x14
	lastReliable      = 0x1F
	datagram          = 0x64
)

// answers reports whether a packet has the number of the one that it answers.
func answers(opcode uint8) bool {
	switch opcode {
	case wire.OpAcknowledge, atomicAcknowledge, readResponseFirst, readResponseOnly:
		return true
	}
	return false
}

// isAnswer reports whether a packet is one that brings no data, and is not to wait behind any.
func isAnswer(b []byte, h *wire.Header) bool {
	if h.BTH == 0 {
		return false
	}
	op := wire.BTH(b[h.BTH:]).Opcode()
	return op == wire.OpAcknowledge || op == atomicAcknowledge
}

// follow learns from a packet that an application sends (out) or receives.
func (c *connections) follow(now, age units.Time, b []byte, h *wire.Header, out bool) {
	if h.BTH == 0 {
		return
	}
	bth := wire.BTH(b[h.BTH:])
	src, dst := wire.Addresses(b[h.L3:])
	qp, psn := bth.DestQP(), bth.PSN()
	switch op := bth.Opcode(); {
	case op == datagram && qp == 1:
		c.manage(now, age, b[h.BTH:], src, dst, out)
	case answers(op):
		if op == wire.OpAcknowledge && (len(b) < h.BTH+wire.BTHLen+wire.AETHLen || !wire.IsACK(wire.AETH(b[h.BTH+wire.BTHLen:]).Syndrome())) {
			return // of a packet that is missing: its number is of none that came
		}
		a := &c.asked[askedAt(src, dst, psn)]
		if a.here != src || a.there != dst || a.psn != psn || a.twice || now-a.at > answerWithin {
			return
		}
		c.pair(now, age, src, a.qp, dst, qp, out)
	case op <= lastReliable && (bth.AckRequest() || op == readRequest || op == compareSwap || op == fetchAdd):
		a := &c.asked[askedAt(dst, src, psn)]
		k := connection{here: dst, there: src, qp: qp}
		same := a.here == dst && a.there == src && a.psn == psn && now-a.at <= answerWithin
		*a = asked{connection: k, psn: psn, at: now, twice: same && (a.twice || a.qp != qp)}
	}
}

// pair learns that queue pair p of a packet's source and queue pair q of its destination belong together.
func (c *connections) pair(now, age units.Time, src wire.IP, p uint32, dst wire.IP, q uint32, out bool) {
	if out {
		c.learn(now, age, connection{src, dst, p}, q)
	} else {
		c.learn(now, age, connection{dst, src, q}, p)
	}
}

func askedAt(here, there wire.IP, psn uint32) int {
	return int(hashConnection(connection{here, there, psn}) >> 20 & (askedPlaces - 1))
}

// Of a packet of the connection manager, from the base transport header on: behind it and the
// datagram's header (8 bytes) is the management datagram (IBA volume 1, 13.4.2 and 12.6.5, 12.6.8).
const (
	madAt       = wire.BTHLen + 8
	madClass    = madAt + 1  // 7: of the connection manager
	madKind     = madAt + 16 // 0x10: ConnectRequest; 0x13: ConnectReply
	localID     = madAt + 24
	remoteID    = madAt + 28 // of a reply
	replyQP     = madAt + 36
	requestQP   = madAt + 56
	madEnd      = madAt + 60
	classCM     = 7
	kindRequest = 0x10
	kindReply   = 0x13
)

// manage learns from a packet of the connection manager.
func (c *connections) manage(now, age units.Time, p []byte, src, dst wire.IP, out bool) {
	if len(p) < madEnd || p[madClass] != classCM {
		return
	}
	id := binary.BigEndian.Uint32(p[localID:])
	switch binary.BigEndian.Uint16(p[madKind:]) {
	case kindRequest:
		qp := binary.BigEndian.Uint32(p[requestQP:]) >> 8
		c.requests[requestAt(src, dst, id)] = connectRequest{connection: connection{src, dst, qp}, id: id, at: now}
	case kindReply:
		id = binary.BigEndian.Uint32(p[remoteID:])
		r := &c.requests[requestAt(dst, src, id)]
		if r.here != dst || r.there != src || r.id != id || now-r.at > 60*units.Second {
			return
		}
		c.pair(now, age, src, binary.BigEndian.Uint32(p[replyQP:])>>8, dst, r.qp, out)
	}
}

func requestAt(from, to wire.IP, id uint32) int {
	return int(hashConnection(connection{from, to, id}) >> 20 & (requestPlaces - 1))
}

// Rebase implements units.Rebaser.
func (c *connections) Rebase(by units.Time) {
	c.table.Rebase(by)
	for i := range c.asked {
		c.asked[i].at.Rebase(by)
	}
	for i := range c.requests {
		c.requests[i].at.Rebase(by)
	}
}
