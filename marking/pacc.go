package marking

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"photon/flowtable"
	"photon/units"
	"photon/wire"
)

// mostFlows is how many flows a queue can be told to tell apart: there is room for all of them from the beginning.
const mostFlows = 1 << 16

// PACCParams are PACC's switch (INFOCOM'22, section III and algorithm 1).
type PACCParams struct {
	Period units.Time // T, between two rounds of the controller; 80 us
	Phase  units.Time // when the first round is; the paper does not say, so T
	QTh    units.Size // the queue to hold; T/2 * C
	QBurst units.Size // an average queue below it is a microburst: no CNPs
	BTh    units.Size // a flow that sent less in a period, or nothing, is forgotten
	Beta1  float64    // weight of the queue's excess; 0.05
	Beta2  float64    // weight of its growth; 0.1
	Unit   units.Size // of a queue in N_all: 1 KB
	W      float64    // weight of the newest queue in the average; 0.9
	Gap    units.Time // between two CNPs of a flow; 4 us
	Flows  int        // entries of the flow table
}

// Validate says what is wrong with the parameters, in one line.
func (p PACCParams) Validate() error {
	switch {
	case p.Period <= 0 || p.Gap <= 0 || p.Gap > p.Period:
		return fmt.Errorf("period %v and gap %v must be positive, and the gap no longer", p.Period, p.Gap)
	case p.Phase < 0:
		return fmt.Errorf("phase %v must not be negative", p.Phase)
	case p.QTh < 0 || p.QBurst < 0 || p.BTh < 0 || p.Unit <= 0:
		return fmt.Errorf("thresholds %v, %v, %v must not be negative, and the unit %v be positive", p.QTh, p.QBurst, p.BTh, p.Unit)
	case !(p.Beta1 >= 0 && p.Beta1 <= 1024 && p.Beta2 >= 0 && p.Beta2 <= 1024):
		return fmt.Errorf("beta %v and %v must be from 0 to 1024", p.Beta1, p.Beta2)
	case !(p.W > 0 && p.W <= 1):
		return fmt.Errorf("w %v must be above 0 and at most 1", p.W)
	case p.Flows < 1 || p.Flows > mostFlows:
		return fmt.Errorf("%d flows: at least 1, at most %d", p.Flows, mostFlows)
	}
	return nil
}

// PACC counts, per flow, the packets with data that met a queue above QTh when they were queued. Once
// per period a PI controller says how many CNPs the queue calls for, and each flow's sender
// gets its part of them, by its count, rounded down, one every Gap.
//
// A flow is what a reaction point limits: here addresses and queue pair, where
// the paper has addresses only because cards limit by them.
//
// What every frame needs comes first.
type PACC struct {
	tick    units.Time // of the next round
	total   int        // sum of N_cong
	counts  []paccCount
	params  PACCParams
	guesses [paccGuesses]paccGuess
	table   *flowtable.Table[paccKey]
	flows   []paccFlow // by slot, as far as there ever was one
	old     units.Size // queue at the last round
	average float64    // Qavg

	sending []int32    // flows with CNPs to be sent, one each in every beat
	cursor  int        // in sending, within a beat
	beat    units.Time // when the next beat is
}

// paccKey is of numbers, as flowtable wants it.
type paccKey struct {
	src, dst address
	qp       uint32
}

// address is an IP address, the first byte of which is the lowest of hi.
type address struct{ hi, lo uint64 }

// paccKeyOf is that of a packet, which begins with the IP header.
func paccKeyOf(ip []byte, qp uint32) paccKey {
	le := binary.LittleEndian
	if ip[0]>>4 == 6 {
		return paccKey{address{le.Uint64(ip[8:]), le.Uint64(ip[16:])}, address{le.Uint64(ip[24:]), le.Uint64(ip[32:])}, qp}
	}
	const mapped = 0xFFFF0000 // the prefix of an IPv4 address, after zeros
	src, dst := uint64(le.Uint32(ip[12:])), uint64(le.Uint32(ip[16:]))
	return paccKey{address{0, mapped | src<<32}, address{0, mapped | dst<<32}, qp}
}

func (a address) ip() (b wire.IP) {
	binary.LittleEndian.PutUint64(b[0:8], a.hi)
	binary.LittleEndian.PutUint64(b[8:16], a.lo)
	return b
}

func hashPACC(k paccKey) uint64 {
	hi, lo := bits.Mul64(k.src.lo^k.src.hi<<1^0xA0761D6478BD642F, k.dst.lo^k.dst.hi<<1^uint64(k.qp)*0xE7037ED1A0B428DB)
	return hi ^ lo
}

const paccGuesses = 64

// paccGuess says where a flow in plain IPv4 was found last, so that most frames need not search the table. Which of the
// guesses it is depends on addresses and queue pair.
type paccGuess struct {
	addresses uint64
	qp        uint32
	slot      int32 // +1; 0: none
}

// guessOf is which of the guesses a flow has.
func guessOf(addresses uint64, qp uint32) uint64 {
	return (addresses ^ uint64(qp)<<27) * 0x9E3779B97F4A7C15 >> 32 % paccGuesses
}

type paccFlow struct {
	src, dst wire.MAC
	inUse    bool
	cnps     int // N_cnp still to be sent
}

// paccCount is what a flow has sent in the period, apart from the rest: many are in a line of the cache.
type paccCount struct {
	txBytes   uint32
	congested uint8 // N_cong; it stops at 255
}

var (
	_ Notifier = (*PACC)(nil)
	_ Sampler  = (*PACC)(nil)
	_ Runner   = (*PACC)(nil)
	_ Idler    = (*PACC)(nil)
)

// NewPACC returns the congestion point of one egress queue.
func NewPACC(p PACCParams) *PACC {
	return &PACC{
		params: p, table: flowtable.New(p.Flows, hashPACC), flows: make([]paccFlow, 0, p.Flows), counts: make([]paccCount, p.Flows),
		tick: p.Phase, sending: make([]int32, 0, p.Flows),
	}
}

// Enqueue counts a frame of the flow as it is received, before the queue's delay (algorithm 1, lines 27-32).
// The queue counts without the frame itself. There is no feedback here: CNPs are sent by Poll.
func (c *PACC) Enqueue(now units.Time, q Queue, p *Packet) (s Sample, ok bool) {
	queue := q.Bytes - units.Size(p.Size)
	if now >= c.tick {
		c.rounds(now, queue)
	}
	if i := c.find(p); i >= 0 {
		f := &c.counts[i]
		f.txBytes += uint32(min(p.Size, math.MaxUint32-int(f.txBytes)))
		if queue > c.params.QTh && f.congested < math.MaxUint8 {
			f.congested++
			c.total++
		}
	}
	return Sample{}, false
}

// Dequeue marks nothing, and neither does DequeueRun.
func (c *PACC) Dequeue(units.Time, Queue, *Packet) Mark                { return Unchanged }
func (c *PACC) DequeueRun(units.Time, Queue, []uint16) (marked uint64) { return 0 }

// LeavesUnqueuedUnchanged says that Dequeue leaves every frame unchanged.
func (c *PACC) LeavesUnqueuedUnchanged() {}

// find returns the entry of the frame's flow, or -1 if it brings no data of a RoCE flow or
// the table is full. Acknowledgements are no flow: there is nothing to slow down.
func (c *PACC) find(p *Packet) int {
	if p.L3 != wire.EthernetLen || len(p.Bytes) < wire.HeadersLen {
		return c.search(p)
	}
	q := (*wire.Headers)(p.Bytes)
	if !q.RoCE() {
		return c.search(p)
	}
	bth := q.BTH() // of a packet in IPv4 without options
	if !wire.CarriesData(bth.Opcode()) {
		return flowtable.None
	}
	addresses, qp := uint64(q.Src4())|uint64(q.Dst4())<<32, bth.DestQP()
	g := &c.guesses[guessOf(addresses, qp)]
	if g.addresses != addresses || g.qp != qp || g.slot == 0 {
		g.addresses, g.qp, g.slot = addresses, qp, int32(c.insert(p, paccKeyOf(p.Bytes[wire.EthernetLen:], qp))+1)
	}
	return int(g.slot) - 1
}

// search is find without guesses.
func (c *PACC) search(p *Packet) int {
	l3, bth := wire.FindBTH(p.Bytes)
	if p.L3 == 0 || bth == 0 || !wire.CarriesData(wire.BTH(p.Bytes[bth:]).Opcode()) {
		return flowtable.None
	}
	return c.insert(p, paccKeyOf(p.Bytes[l3:], wire.BTH(p.Bytes[bth:]).DestQP()))
}

// insert returns the entry of a flow, a new one if it had none.
func (c *PACC) insert(p *Packet, k paccKey) int {
	i, fresh := c.table.Insert(k, 0)
	if fresh {
		c.flows = c.flows[:max(i+1, len(c.flows))]
		c.flows[i] = paccFlow{src: wire.MACAt(p.Bytes[6:]), dst: wire.MACAt(p.Bytes), inUse: true}
	}
	return i
}

// rounds runs the controller for every period that has ended.
func (c *PACC) rounds(now units.Time, queue units.Size) {
	if c.tick <= now && c.table.Len() == 0 { // nothing to account: only the average moves
		n := (now-c.tick)/c.params.Period + 1
		c.tick += n * c.params.Period
		c.average = float64(queue) + (c.average-float64(queue))*math.Pow(1-c.params.W, float64(n))
		c.old = queue
	}
	for c.tick <= now {
		c.round(c.tick, queue)
		c.tick += c.params.Period
	}
}

// round is algorithm 1, lines 11-25 and 33.
func (c *PACC) round(now units.Time, queue units.Size) {
	p := &c.params
	c.average = float64(p.W*float64(queue)) + float64((1-p.W)*c.average) // equation 3
	all := (float64(p.Beta1*float64(queue-p.QTh)) + float64(p.Beta2*float64(queue-c.old))) / float64(p.Unit)
	if all > 0 && c.average > float64(p.QBurst) && c.total > 0 {
		c.allot(now, all)
	}
	c.old = queue
	c.guesses = [len(c.guesses)]paccGuess{} // flows may be forgotten
	for i := range c.flows {
		f := &c.flows[i]
		if f.inUse && units.Size(c.counts[i].txBytes) < max(p.BTh, 1) && f.cnps == 0 {
			f.inUse = false
			c.table.Delete(i)
		}
		c.counts[i] = paccCount{}
	}
	c.total = 0
}

// allot gives every flow its CNPs for the coming period, rounded down and no
// more than fit in it (lines 1-9).
func (c *PACC) allot(now units.Time, all float64) {
	c.sending, c.cursor, c.beat = c.sending[:0], 0, now
	for i := range c.flows {
		f := &c.flows[i]
		if !f.inUse {
			continue
		}
		part := float64(all*float64(c.counts[i].congested)) / float64(c.total)
		if f.cnps = min(int(part), int(c.params.Period/c.params.Gap)); f.cnps > 0 {
			c.sending = append(c.sending, int32(i))
		}
	}
}

// Next is when a CNP or a round is due. A port without flows waits for its next frame.
func (c *PACC) Next() units.Time {
	next := units.Never
	if c.table.Len() > 0 {
		next = c.tick
	}
	if len(c.sending) > 0 {
		next = min(next, c.beat)
	}
	return next
}

// Poll returns the flows whose CNPs are due: in every beat one each.
func (c *PACC) Poll(now units.Time, q Queue) (Flow, bool) {
	c.rounds(now, q.Bytes)
	if len(c.sending) == 0 || c.beat > now {
		return Flow{}, false
	}
	i := int(c.sending[c.cursor])
	f := &c.flows[i]
	f.cnps--
	if c.cursor++; c.cursor == len(c.sending) {
		c.cursor = 0
		c.beat += c.params.Gap
		c.sending = slices.DeleteFunc(c.sending, func(i int32) bool { return c.flows[i].cnps == 0 })
	}
	k := c.table.Key(i)
	return Flow{SrcMAC: f.src, DstMAC: f.dst, Src: k.src.ip(), Dst: k.dst.ip(), QP: k.qp}, true
}

// Resume does nothing: PACC does not know of pauses.
func (c *PACC) Resume(units.Time, Queue) {}

// Rebase implements units.Rebaser. What the table of flows notes of time nobody asks for.
func (c *PACC) Rebase(by units.Time) {
	c.tick.Rebase(by)
	c.beat.Rebase(by)
}
