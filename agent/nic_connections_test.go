package agent_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// Opcodes of reliable connections, by IBA volume 1, table 38.
const (
	opWriteOnly    = 0x0A
	opReadRequest  = 0x0C
	opReadFirst    = 0x0D
	opReadMiddle   = 0x0E
	opAtomicAck    = 0x12
	opFetchAdd     = 0x14
	opDatagramSend = 0x64
)

// rcFrame is a packet of a reliable connection, as rxe is, with a packet sequence number.
func rcFrame(t testing.TB, from, to int, qp uint32, opcode uint8, psn uint32, asks bool, payload []byte) []byte {
	t.Helper()
	b := rxe(t, from, to, qp, opcode, ect0, payload)
	binary.BigEndian.PutUint32(b[50:], psn)
	if asks {
		b[50] = 0x80
	}
	binary.LittleEndian.PutUint32(b[len(b)-4:], icrcOf(b))
	return b
}

// aeth is the acknowledge extended transport header of an ACK with unlimited credits.
var aeth = []byte{0x1F, 0, 0, 1}

// rcPair are the NICs of hosts 1 and 2, whose queue pairs 0x11 and 0x22 are connected.
type rcPair struct {
	t *testing.T
	a *nicBench // of host 1
	b *nicBench // of host 2
}

func newRCPair(t *testing.T) *rcPair {
	return &rcPair{t, newBench(t, nil), newBench(t, func(c *agent.NICConfig) { c.Known = []wire.MAC{mac(2)} })}
}

// carry has host 1 (or 2) send a frame, and returns what leaves its NIC and what arrives.
func (n *rcPair) carry(from int, frame []byte, mark bool) (wired, delivered [][]byte) {
	n.t.Helper()
	a, b := n.a, n.b
	if from == 2 {
		a, b = b, a
	}
	a.receive(agent.Application, frame)
	wired = a.transmitAll()
	for _, f := range wired {
		f := bytes.Clone(f)
		if mark {
			wire.SetECN(f[14:], wire.CE)
		}
		b.receive(agent.Wire, f)
		delivered = append(delivered, b.transmit(agent.Application)...)
	}
	return wired, delivered
}

// exchange has host 1 write to host 2, and host 2 acknowledge.
func (n *rcPair) exchange(psn uint32) {
	n.t.Helper()
	n.carry(1, rcFrame(n.t, 1, 2, 0x22, opWriteOnly, psn, true, make([]byte, 100)), false)
	n.carry(2, rcFrame(n.t, 2, 1, 0x11, wire.OpAcknowledge, psn, false, aeth), false)
}

// standard is a CNP as cards make it: from the data's receiver, for a queue pair of its sender, with
// sixteen bytes of zeros.
func standard(t testing.TB, from, to int, qp uint32) []byte {
	t.Helper()
	b := rxe(t, from, to, qp, wire.OpCNP, 48<<2, make([]byte, 16))
	b[46] |= 0x40 // BECN, which the ICRC does not cover
	return b
}

func (b *nicBench) refused(why fabric.CNPRefusal) uint64 { return b.stats().NIC.Refused[why] }

// notifiedOf is how often the flow to a queue pair was notified, or -1 if there is no such flow.
func (b *nicBench) notifiedOf(qp uint32) int {
	for i := range b.nic.Slots() {
		if f, ok := b.nic.Flow(b.now, i); ok && f.RoCE && f.QP == qp {
			return int(f.Notified)
		}
	}
	return -1
}

// A CNP that names the sender's queue pair slows the flow to the receiver's, though another flow goes
// to a queue pair of the very number that the CNP names.
func TestNICTakesStandardCNPs(t *testing.T) {
	n := newRCPair(t)
	n.a.receive(agent.Wire, standard(t, 2, 1, 0x11))
	expect(t, "refused before anything was learned", n.a.refused(fabric.CNPUnknown), 1)
	n.exchange(0xABCDEF)
	n.carry(1, rcFrame(t, 1, 2, 0x11, opWriteOnly, 7, false, make([]byte, 100)), false) // another connection's
	n.a.now += 10 * ms
	n.a.receive(agent.Wire, standard(t, 2, 1, 0x11))
	expect(t, "notified", n.a.notifiedOf(0x22), 1)
	expect(t, "the other flow notified", n.a.notifiedOf(0x11), 0)
	// At the other end nothing is sent that could be slowed.
	n.b.receive(agent.Wire, standard(t, 1, 2, 0x22))
	expect(t, "refused by the receiver's NIC", n.b.refused(fabric.CNPUnknown), 1)
}

// CNPs are made in the standard form, and NICs find the flow by the name beside it.
func TestNICMakesStandardCNPs(t *testing.T) {
	n := newRCPair(t)
	n.exchange(5)
	n.carry(1, rcFrame(t, 1, 2, 0x22, opWriteOnly, 6, true, make([]byte, 100)), true)
	cnps := n.b.transmit(agent.Wire)
	if len(cnps) != 1 {
		t.Fatalf("%d CNPs", len(cnps))
	}
	var h wire.Header
	wire.Parse(cnps[0], &h)
	qp, _, err := cnp.Decode(cnps[0], &h)
	if err != nil || qp != 0x11 {
		t.Errorf("the CNP names %#x, %v: the sender's queue pair is 0x11", qp, err)
	}
	n.a.receive(agent.Wire, cnps...)
	expect(t, "notified", n.a.notifiedOf(0x22), 1)
	// A NIC that knows nothing of the connection finds the flow as well.
	fresh := newBench(t, nil)
	fresh.receive(agent.Application, rcFrame(t, 1, 2, 0x22, opWriteOnly, 6, false, make([]byte, 100)))
	fresh.transmitAll()
	fresh.receive(agent.Wire, cnps...)
	expect(t, "notified without knowing the connection", fresh.notifiedOf(0x22), 1)
}

// READ responses are data of the responder, whose flow a standard CNP of the requester slows. Their
// first packet answers the request, and tells the pair.
func TestNICPacesReadResponses(t *testing.T) {
	n := newRCPair(t)
	n.carry(1, rcFrame(t, 1, 2, 0x22, opReadRequest, 9, false, make([]byte, 16)), false)
	n.carry(2, rcFrame(t, 2, 1, 0x11, opReadFirst, 9, false, append(bytes.Clone(aeth), make([]byte, 500)...)), false)
	n.carry(2, rcFrame(t, 2, 1, 0x11, opReadMiddle, 10, false, make([]byte, 500)), true)
	cnps := n.a.transmit(agent.Wire)
	if len(cnps) != 1 || wire.BTH(cnps[0][42:]).DestQP() != 0x22 {
		t.Fatalf("% x", cnps)
	}
	expect(t, "flow of the responses notified", n.b.notifiedOf(0x11), 0)
	n.b.receive(agent.Wire, standard(t, 1, 2, 0x22))
	expect(t, "flow of the responses notified", n.b.notifiedOf(0x11), 1)
	// Atomics tell it, too.
	n = newRCPair(t)
	n.carry(1, rcFrame(t, 1, 2, 0x22, opFetchAdd, 9, false, make([]byte, 28)), false)
	n.carry(2, rcFrame(t, 2, 1, 0x11, opAtomicAck, 9, false, append(bytes.Clone(aeth), make([]byte, 8)...)), false)
	n.a.receive(agent.Wire, standard(t, 2, 1, 0x11))
	expect(t, "flow of the requests notified", n.a.notifiedOf(0x22), 1)
}

// management is a datagram of the connection manager on queue pair 1.
func management(t testing.TB, from, to int, kind uint16, local, remote uint32, at int, qp uint32) []byte {
	t.Helper()
	mad := make([]byte, 8+256)
	m := mad[8:] // behind the datagram's header
	m[0], m[1], m[2], m[3] = 1, 7, 2, 3
	binary.BigEndian.PutUint16(m[16:], kind)
	binary.BigEndian.PutUint32(m[24:], local)
	binary.BigEndian.PutUint32(m[28:], remote)
	binary.BigEndian.PutUint32(m[at:], qp<<8|4)
	return rcFrame(t, from, to, 1, opDatagramSend, 0, false, mad)
}

// The connection manager's request and reply tell the pair before any data.
func TestNICLearnsFromTheConnectionManager(t *testing.T) {
	n := newRCPair(t)
	n.carry(1, management(t, 1, 2, 0x10, 0xCAFE, 0, 56, 0x11), false)
	n.carry(2, management(t, 2, 1, 0x13, 0xBEEF, 0xDEAD, 36, 0x99), false) // a reply to another request
	n.carry(2, management(t, 2, 1, 0x13, 0xBEEF, 0xCAFE, 36, 0x22), false)
	n.carry(1, rcFrame(t, 1, 2, 0x22, opWriteOnly, 0, false, make([]byte, 100)), true)
	cnps := n.b.transmit(agent.Wire)
	if len(cnps) != 1 || wire.BTH(cnps[0][42:]).DestQP() != 0x11 {
		t.Fatalf("% x", cnps)
	}
	n.a.receive(agent.Wire, standard(t, 2, 1, 0x11))
	expect(t, "notified", n.a.notifiedOf(0x22), 1)
}

// Two connections between the same hosts whose packets have the same number tell nothing; as soon as
// their numbers differ they do. NAKs, late answers, and answers to no request teach nothing.
func TestNICLearnsNothingWrong(t *testing.T) {
	n := newRCPair(t)
	ask := func(qp, psn uint32) {
		n.carry(1, rcFrame(t, 1, 2, qp, opWriteOnly, psn, true, make([]byte, 100)), false)
	}
	answer := func(qp, psn uint32, syndrome byte) {
		n.carry(2, rcFrame(t, 2, 1, qp, wire.OpAcknowledge, psn, false, []byte{syndrome, 0, 0, 1}), false)
	}
	notified := func(qp uint32) []int {
		n.a.now += 10 * ms
		n.a.receive(agent.Wire, standard(t, 2, 1, qp))
		return []int{n.a.notifiedOf(0x22), n.a.notifiedOf(0x44)}
	}
	ask(0x22, 5)
	ask(0x44, 5)
	answer(0x33, 5, 0x1F)
	answer(0x11, 5, 0x1F)
	answer(0x11, 6, 0x1F)
	ask(0x22, 7)
	answer(0x11, 7, 0x60) // NAK: sequence error
	ask(0x22, 8)
	n.a.now, n.b.now = n.a.now+2*units.Second, n.b.now+2*units.Second
	answer(0x11, 8, 0x1F)
	for _, qp := range []uint32{0x11, 0x33} {
		if got := notified(qp); got[0] != 0 || got[1] != 0 {
			t.Errorf("a CNP for %#x counts: %v", qp, got)
		}
	}
	ask(0x44, 9)
	answer(0x33, 9, 0x1F)
	ask(0x22, 10)
	answer(0x11, 10, 0x1F)
	if got := notified(0x33); got[0] != 0 || got[1] != 1 {
		t.Errorf("notified %v", got)
	}
	if got := notified(0x11); got[0] != 1 || got[1] != 1 {
		t.Errorf("notified %v", got)
	}
	// Queue pair 0x11 is used again, for another connection.
	ask(0x55, 11)
	answer(0x11, 11, 0x1F)
	if got := notified(0x11); got[0] != 1 || n.a.notifiedOf(0x55) != 1 {
		t.Errorf("notified %v, %d", got, n.a.notifiedOf(0x55))
	}
}

// Acknowledgements wait behind no data but READ responses of their own connection, which they must
// not overtake; and a marked one causes no CNP.
func TestNICAcknowledgementsPassData(t *testing.T) {
	b := newBench(t, nil)
	for i := range uint32(20) {
		b.receive(agent.Application, rcFrame(t, 1, 2, 0x22, opWriteOnly, i, false, make([]byte, 1000)))
	}
	b.receive(agent.Application, rcFrame(t, 1, 2, 0x44, wire.OpAcknowledge, 100, false, aeth))
	for i := range uint32(3) {
		b.receive(agent.Application, rcFrame(t, 1, 2, 0x66, opReadMiddle, 200+i, false, make([]byte, 1000)))
	}
	b.receive(agent.Application, rcFrame(t, 1, 2, 0x66, wire.OpAcknowledge, 203, false, aeth))
	var order []uint32
	for i, f := range b.transmitAll() {
		bth := wire.BTH(f[42:])
		if bth.DestQP() == 0x44 && i > 0 {
			t.Errorf("the acknowledgement is the %d. frame", i+1)
		}
		if bth.DestQP() == 0x66 {
			order = append(order, bth.PSN())
		}
	}
	if len(order) != 4 || order[3] != 203 {
		t.Errorf("READ responses and the acknowledgement behind them left as %v", order)
	}
	marked := rcFrame(t, 2, 1, 0x11, wire.OpAcknowledge, 5, false, aeth)
	wire.SetECN(marked[14:], wire.CE)
	b.receive(agent.Wire, marked)
	expect(t, "CNPs about an acknowledgement", len(b.transmit(agent.Wire)), 0)
}

// Whatever applications and peers send, the NIC stays whole, and keeps a connection that speaks.
func FuzzNICConnections(f *testing.F) {
	f.Add(uint8(0x0A), uint32(5), uint32(0x22), []byte{0x1F, 0, 0, 1}, true)
	f.Add(uint8(0x64), uint32(5), uint32(1), make([]byte, 264), false)
	f.Add(uint8(0x11), uint32(5), uint32(0x11), []byte{}, true)
	f.Fuzz(func(t *testing.T, opcode uint8, psn, qp uint32, payload []byte, out bool) {
		payload = payload[:min(len(payload), 1000)]
		b := newBench(t, nil)
		random := rxe(t, 1, 2, qp&0xFFFFFF, opcode, ect0, payload)
		back := rxe(t, 2, 1, qp&0xFFFFFF, opcode, ect0, payload)
		binary.BigEndian.PutUint32(random[50:], psn)
		for range 3 {
			if out {
				b.receive(agent.Application, random)
			}
			b.receive(agent.Wire, back)
			b.transmit(agent.Application)
		}
		b.receive(agent.Application, rcFrame(t, 1, 2, 0x22, opWriteOnly, 0x777777, true, nil))
		b.transmitAll()
		b.receive(agent.Wire, rcFrame(t, 2, 1, 0x11, wire.OpAcknowledge, 0x777777, false, aeth))
		b.transmit(agent.Application)
		b.now += 10 * ms
		b.receive(agent.Wire, standard(t, 2, 1, 0x11))
		if psn&0xFFFFFF != 0x777777 && b.notifiedOf(0x22) < 1 {
			t.Errorf("the flow was not notified")
		}
	})
}

// Connections without end: those that speak are learned as long as there is room, and later others.
func TestNICConnectionsAreBounded(t *testing.T) {
	b := newBench(t, nil)
	learn := func(i int) {
		qp := uint32(1000 + i)
		b.receive(agent.Wire, rcFrame(t, 2, 1, qp, opWriteOnly, uint32(i), true, nil))
		b.receive(agent.Application, rcFrame(t, 1, 2, qp+1_000_000, wire.OpAcknowledge, uint32(i), false, aeth))
		b.transmit(agent.Application)
		b.transmitAll()
	}
	for i := range 3000 {
		learn(i)
	}
	b.now += 2 * units.Second // longer than age
	for range 20 {            // as few entries are looked at a time
		learn(5000)
	}
	marked := rcFrame(t, 2, 1, 6000, opWriteOnly, 1, false, nil)
	wire.SetECN(marked[14:], wire.CE)
	b.receive(agent.Wire, marked)
	cnps := b.transmit(agent.Wire)
	if len(cnps) != 1 || wire.BTH(cnps[0][42:]).DestQP() != 1_006_000 {
		t.Errorf("% x", cnps)
	}
}
