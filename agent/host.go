package agent

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"photon/cnp"
	"photon/credits"
	"photon/fabric"
	"photon/flowtable"
	"photon/pfc"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// Config describes a host. Check says what is wrong with one.
type Config struct {
	MAC  wire.MAC
	IP   wire.IP
	Link fabric.Link // what the port sends into

	Lossless    uint8           // priorities that obey PFC
	Credits     *credits.Config // flow control of these priorities in place of PFC; nil: it is PFC
	DSCP        [64]uint8       // priority of an IP frame
	DataDSCP    uint8           // of data
	ControlDSCP uint8           // of CNPs
	AckDSCP     uint8           // of acknowledgements
	Carry       cnp.Carry       // what the scheme has data and acknowledgements carry
	Payload     int             // bytes of a full packet, after the BTH and before the ICRC
	MTU         int             // of the port, bytes without Ethernet header, tags and FCS; 0: not known
	Announce    bool            // send an announcement every second, so that switches learn where the host is
	NPDelay     units.Time      // from the decision to send a CNP until it is ready to leave; 0: none
	PauseDelay  units.Time      // from the arrival of a PFC frame until the port obeys it; 0: none
	Period      units.Time      // of notifications: a flow takes one in each, at most, and none before it has sent; 0: all

	// Of the flows that it sends, which are reliable connections.
	AckEvery   int        // one packet in so many asks for an acknowledgement, and the last one does; 0: only the last
	AckTimeout units.Time // without progress, until packets are sent again; each time in a row it doubles
	Retries    int        // in a row without progress, before a flow gives up; 0: 7, the most of real queue pairs
	Selective  *Selective // repeat only lost packets; nil: all from the first missing one on (go-back-N)
	Entropy    Entropy    // UDP source ports, by which switches choose paths
	Seed       uint64     // of first packet sequence numbers; hosts that may be started again each need another

	Memory    *Memory            // what queue pairs of the specification may write to and read from; nil: nothing
	Tenants   []ratelimit.Tenant // groups of flows that share a cap and turns at the port
	Senders   int                // most flows that are sent at a time
	Receivers int                // most flows that are received at a time
	Age       units.Time         // a received flow that is silent for so long is forgotten
	Finished  int                // most flows received whole that made room for others and are still known; 0: none does

	// Elastic hosts make room for flows as it is needed, up to Senders and Receivers,
	// so that their memory is for flows under way, if their user calls Forget for
	// flows that were received completely. Others make all places at the start,
	// and allocate nothing later. NP must be a cnp.Elastic, and there are no tenants.
	Elastic bool

	// Reached is called when flows of this host reach something that other flows may wait for, once the
	// current burst is processed; it may add flows. nil: no flow waits. Next returns after how many packets
	// of a received flow, of which so many have arrived, it is to be called, too; 0: only at its end.
	Reached func(now units.Time, m Milestone)
	Next    func(from wire.IP, qp uint32, packets uint64) uint64

	NP    cnp.NP                             // for Receivers flows
	NewRP func(*ratelimit.Port) ratelimit.RP // called when a flow begins and none can be used again
}

// Limits of the configuration of retransmissions. The longest timeout is that of real queue
// pairs, 4.096 us * 2^31.
const (
	MostTimeout  = 8796 * units.Second
	UsualTimeout = 67 * units.Millisecond // 4.096 us * 2^14
	MostAckEvery = 1 << 16
	MostRetries  = 100
)

// recovery is how the host's senders deal with losses.
func (c *Config) recovery() recovery {
	p := recovery{every: uint64(c.AckEvery), timeout: c.AckTimeout, retries: uint8(c.Retries)}
	if p.every == 0 {
		p.every = askAnyway
	}
	if p.retries == 0 {
		p.retries = 7
	}
	return p
}

// Check says what is wrong with the configuration, in one line.
func (c *Config) Check() error {
	switch {
	case c.Payload < 1 || c.Payload > 9000:
		return fmt.Errorf("payload %d must be from 1 to 9000 bytes", c.Payload)
	case c.Senders < 0 || c.Receivers < 0 || c.Finished < 0:
		return fmt.Errorf("room for %d sent, %d received and %d finished flows: at least 0 of each",
			c.Senders, c.Receivers, c.Finished)
	case c.Carry.Tag && c.Senders > 1<<16:
		return fmt.Errorf("room for %d sent flows: a congestion notification tag tells %d apart", c.Senders, 1<<16)
	case c.DataDSCP > 63 || c.ControlDSCP > 63 || c.AckDSCP > 63:
		return fmt.Errorf("a DSCP is at most 63")
	case c.NPDelay < 0 || c.PauseDelay < 0:
		return fmt.Errorf("delays of CNPs and of pauses, %v and %v, must not be negative", c.NPDelay, c.PauseDelay)
	case c.Credits != nil && c.Credits.Validate(c.longest()) != nil:
		return fmt.Errorf("credits: %w", c.Credits.Validate(c.longest()))
	case c.Credits != nil && c.PauseDelay > 0:
		return errors.New("pause_delay: with credits there are no pauses")
	case c.Period < 0:
		return fmt.Errorf("notification period %v must not be negative", c.Period)
	case c.Elastic && len(c.Tenants) > 0:
		return errors.New("an elastic host has no tenants")
	case c.AckTimeout <= 0 || c.AckTimeout > MostTimeout:
		return fmt.Errorf("acknowledgement timeout %v must be positive, and at most %v", c.AckTimeout, MostTimeout)
	case c.AckEvery < 0 || c.AckEvery > MostAckEvery:
		return fmt.Errorf("an acknowledgement of every %d packets: from 0 (only of the last) to %d", c.AckEvery, MostAckEvery)
	case c.Retries < 0 || c.Retries > MostRetries:
		return fmt.Errorf("%d retries: from 1 to %d", c.Retries, MostRetries)
	case c.Selective != nil && c.Selective.Check() != nil:
		return c.Selective.Check()
	case c.Entropy.check() != nil:
		return c.Entropy.check()
	case c.Link.Rate <= 0:
		return fmt.Errorf("link rate %v must be positive", c.Link.Rate)
	}
	for i, t := range c.Tenants {
		if err := t.Validate(); err != nil {
			return fmt.Errorf("tenant %d: %w", i+1, err)
		}
	}
	return nil
}

// Host is a node with one port. Its first cache lines hold what every packet needs, copies of parts of
// the configuration included. What few packets need is elsewhere: otherwise hosts would be whole pages
// apart in memory, and compete for the same few sets of the caches.
type Host struct {
	attend       units.Time // when a pause runs out, or a PFC frame that waits is to be obeyed
	npNext       units.Time // when the notification point will have a notice, if no more data arrives
	nextAnnounce units.Time
	env          *fabric.Env
	pacer        *ratelimit.Pacer[sending]
	table        *flowtable.Table[peerKey]
	byPeer       *flowtable.Table[peerKey]
	cnpPrio      uint8
	ackPrio      uint8
	dataPrio     uint8
	dataDSCP     uint8
	noShortcuts  bool  // CNPs or pauses are delayed, or the link has credits: more is to be looked at
	ackEach      bool  // of config.Carry
	stamps       bool  // the same
	undetermined uint8 // TCD's UE: a codepoint that the data of the scheme does not leave with; noECN

	acks ackQueue
	*seldom
	dataSent  uint64 // bytes on the wire
	payload   int32  // of config
	overhead  int16  // what a link adds to a frame
	selective bool   // config.Selective is there
	whole     bool   // the world keeps all of a frame, and others than hosts of photon may have made it: see refused

	peers         []peer
	np            cnp.NP // of config
	ip4           uint64 // of config, as it lies in frames; notIPv4
	receivedSlots guesses

	lanes [pfc.Classes]lane // of priorities; see lane

	flows     []flow
	sentSlots guesses
	egress    pfc.Egress // its first bytes end the line

	config  Config
	delayed delayed
}

// noECN is no codepoint.
const noECN = 0xFF

// lane is what was counted of the frames of a priority: a line of the cache.
type lane struct {
	rxFrames, rxBytes uint64
	txFrames, txBytes uint64
	ends              uint64 // frames that ended here as they should
	_                 [3]uint64
}

// lane is a priority's. That of data comes first.
func (h *Host) lane(prio uint8) *lane { return &h.lanes[(prio^h.dataPrio)&(pfc.Classes-1)] }

// prio is the priority of an IP frame.
func (h *Host) prio(tos uint8) uint8 {
	if dscp := tos >> 2; dscp != h.dataDSCP {
		return h.config.DSCP[dscp]
	}
	return h.dataPrio
}

// onLink is what a frame of length bytes occupies there.
func (h *Host) onLink(length int) int { return length + int(h.overhead) }

// seldom is what few packets need, after what acknowledgements need.
type seldom struct {
	ackHeadsSent  []wire.AckHead // of the last acknowledgement, by slot of a received flow, if every packet is acknowledged
	ackHeadsTaken []wire.AckHead // the same of those that come, by slot of a sent flow

	origins  []origin   // by slot of a received flow
	ahead    []arrivals // the same, with selective repeat
	finished finished
	ports    [pfc.Classes]ratelimit.Port // the last pause of each priority
	stats    fabric.Stats                // but for what lanes have
	warming  []int32                     // flows whose reaction points are to be fetched
	shared   map[uint32]*sharedRP
	entropy  uint32 // number of the source port given last
	timeouts uint64 // of acknowledgements that did not come in time
	doubles  Doubles
	idleRPs  rpPool
	done     []Result
	reached  []Milestone // not reported yet
	sealer   wire.Sealer
	ack      ratelimit.Ack // scratch
	credit   *credits.Port // flow control of the link in place of egress; nil: it is PFC
	pairs    *pairs        // queue pairs of the specification; nil: there are none

	laps     units.Time // by how much the clock was set back in all: other nodes see a clock that runs on
	punctual punctual
	recovery recovery
	psn      uint32 // the first that was drawn
	epochs   uint32 // that were begun
}

var _ fabric.Server = (*Host)(nil)

// pointer is what an interface points to.
func pointer[T any](i T) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&i))[1] }

// peerKey names a flow at either end: the other end's address, and the queue pair. It is
// made of numbers, not of an array, so that it stays in registers until the lookup.
type peerKey struct {
	hi, lo half // of the address
	qp     uint32
}

// half is eight bytes of an address, the first of which is the lowest of a.
type half struct{ a, b uint32 }

func halfOf(b []byte) half { return half{le32(b[0:4]), le32(b[4:8])} }

func (h half) word() uint64 { return uint64(h.a) | uint64(h.b)<<32 }

func keyOf(ip wire.IP, qp uint32) peerKey { return peerKey{halfOf(ip[0:8]), halfOf(ip[8:16]), qp} }

// keyFrom is that of the sender of a packet, which begins with the IP header.
func keyFrom(ip []byte, qp uint32) peerKey {
	if ip[0]>>4 != 6 {
		return peerKey{half{}, half{v4Mapped, le32(ip[12:16])}, qp}
	}
	return peerKey{halfOf(ip[8:16]), halfOf(ip[16:24]), qp}
}

// v4Mapped is what comes before the four bytes of an IPv4 address, behind zeros.
const v4Mapped = 0xFFFF0000

// ip is the address.
func (k peerKey) ip() (a wire.IP) {
	binary.LittleEndian.PutUint64(a[0:8], k.hi.word())
	binary.LittleEndian.PutUint64(a[8:16], k.lo.word())
	return a
}

// isDestination reports whether the packet, which begins with the IP header, is for this host.
func (h *Host) isDestination(ip []byte) bool {
	own := keyOf(h.config.IP, 0)
	hi, lo := own.hi, own.lo
	if ip[0]>>4 != 6 {
		return hi == half{} && lo == half{v4Mapped, le32(ip[16:20])}
	}
	return hi == halfOf(ip[24:32]) && lo == halfOf(ip[32:40])
}

func hashKey(k peerKey) uint64 {
	hi, lo := bits.Mul64(k.hi.word()^bits.RotateLeft64(k.lo.word(), 32)^0xA0761D6478BD642F, uint64(k.qp)^0xE7037ED1A0B428DB)
	return hi ^ lo
}

func le(b []byte) uint64       { return binary.LittleEndian.Uint64(b) }
func le32(b []byte) uint32     { return binary.LittleEndian.Uint32(b) }
func putLE(b []byte, w uint64) { binary.LittleEndian.PutUint64(b, w) }

// New makes a host.
func New(c Config, env *fabric.Env) (*Host, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	h := &Host{
		config: c, env: env, egress: pfc.NewEgress(c.Lossless, c.Link.Rate), acks: newAckQueue(c.Carry.Ack || c.Selective != nil),
		cnpPrio: c.DSCP[c.ControlDSCP], ackPrio: c.DSCP[c.AckDSCP], dataPrio: c.DSCP[c.DataDSCP], dataDSCP: c.DataDSCP,
		payload: int32(c.Payload), overhead: int16(c.Link.WireBytes(0)), ip4: notIPv4,
		receivedSlots: newGuesses(leastGuesses), sentSlots: newGuesses(leastGuesses),
		seldom: &seldom{stats: fabric.Stats{Ports: make([]fabric.PortStats, 1)}, shared: map[uint32]*sharedRP{}},
	}
	for prio := range h.stats.Ports[0].LostAt {
		h.stats.Ports[0].LostAt[prio] = units.Never
	}
	h.recovery, h.whole = c.recovery(), env.Whole(c.Payload)
	if c.IP.Is4() {
		h.ip4 = uint64(le32(c.IP[12:16]))
	}
	h.carry()
	h.makePlaces()
	h.pacer.Warm = h.warm
	h.delayed = newDelayed(c.NPDelay, c.PauseDelay, c.Receivers)
	h.setLanes()
	h.noShortcuts = h.delayed.any() || h.credit != nil
	h.attend, h.npNext = units.Never, c.NP.Next()
	if !c.Announce {
		h.nextAnnounce = units.Never
	}
	env.Wake(0, h.nextAnnounce)
	return h, nil
}

// carry copies what every packet needs from the scheme's parts.
func (h *Host) carry() {
	h.selective = h.config.Selective != nil
	h.entropy = binary.BigEndian.Uint32(h.config.IP[12:]) // so that hosts do not use the same ports at the same time
	h.np, h.ackEach, h.stamps = h.config.NP, h.config.Carry.Ack, h.config.Carry.Stamp
	if h.undetermined = noECN; h.config.Carry.ECT == wire.ECT1 {
		h.undetermined = wire.ECT0
	}
}

// Priority is the priority of a frame by its bytes, or -1 if it has none: MAC
// control, or no frame at all.
func (h *Host) Priority(_ int, b []byte) int {
	var hdr wire.Header
	switch {
	case !wire.Parse(b, &hdr) || hdr.EtherType == wire.TypeMACControl && !hdr.Tagged:
		return -1
	case hdr.L3 != 0:
		return int(h.config.DSCP[hdr.TOS>>2])
	}
	return 0
}

// Stats copies the counters. The rates of flows are not among them: Flow
// returns them slot by slot, so that workers never wait for thousands of flows.
func (h *Host) Stats(now units.Time) fabric.Stats {
	st := fabric.Stats{Ports: make([]fabric.PortStats, 1)}
	h.CopyStats(now, &st)
	return st
}

// discard counts a frame, and notes when the first of its priority was discarded.
func (h *Host) discard(now units.Time, why fabric.Reason, prio uint8) {
	st := &h.stats.Ports[0]
	st.Discards[why][prio]++
	if st.LostAt[prio] == units.Never {
		st.LostAt[prio] = now
	}
}

// CopyStats is Stats into memory that the caller has made, with a place for the port.
func (h *Host) CopyStats(now units.Time, st *fabric.Stats) {
	ports := st.Ports
	*st = h.stats
	st.Ports, st.Timeouts = ports, h.timeouts
	p := &ports[0]
	*p = h.stats.Ports[0]
	p.Egress = h.egress.Counters(now)
	if h.credit != nil {
		p.Credits = h.credit.Counters(now)
	}
	for prio := range h.lanes {
		l := h.lane(uint8(prio))
		p.RxFrames[prio], p.RxBytes[prio], p.TxFrames[prio], p.TxBytes[prio] = l.rxFrames, l.rxBytes, l.txFrames, l.txBytes
	}
}

// Audit checks, per priority, that what was received ended here or was discarded. What is sent waits nowhere: a frame
// is made when it leaves.
func (h *Host) Audit() error {
	discards := h.stats.Ports[0].Discarded()
	for prio := range pfc.Classes {
		l := h.lane(uint8(prio))
		if out := l.ends + discards[prio]; l.rxFrames != out {
			return fmt.Errorf("priority %d: %d frames received, %d delivered or discarded", prio, l.rxFrames, out)
		}
	}
	return nil
}

// ErrBusy is returned by Adopt while flows are sent or answers wait.
var ErrBusy = errors.New("agent: it still sends: a scheme can be changed when no flow runs")

// Adopt gives the host the parts of another scheme, and has it forget the flows it
// received: their packets may carry other things from now on. np is for as many
// flows as the one before. All notifications are accepted from now on: a host gets
// another scheme in an experiment only, where all nodes are trusted, and where a host that
// did not get its core for a while must not refuse the notifications of that time.
func (h *Host) Adopt(np cnp.NP, rp func(*ratelimit.Port) ratelimit.RP, carry cnp.Carry) error {
	if h.byPeer.Len() > 0 || !h.acks.empty() || h.delayed.cnpDue(h.npNext) != units.Never && h.delayed.cnpHead != h.delayed.cnpTail {
		return ErrBusy
	}
	if carry.Tag && h.config.Senders > 1<<16 {
		return fmt.Errorf("room for %d sent flows: a congestion notification tag tells %d apart", h.config.Senders, 1<<16)
	}
	h.config.NP, h.config.NewRP, h.config.Carry, h.config.Period = np, rp, carry, 0
	h.carry()
	h.ackHeadsSent, h.ackHeadsTaken = nil, nil
	h.makeAcks()
	h.npNext = np.Next()
	h.acks = newAckQueue(carry.Ack || h.selective)
	clear(h.idleRPs[:])
	clear(h.shared)
	if h.finished.room() {
		h.finished = newFinished(len(h.finished.flows))
	}
	for {
		slot := h.table.Expire(units.Never, h.table.Cap())
		if slot == flowtable.None {
			return nil
		}
		h.table.Delete(slot)
		h.peers[slot].key = 0
	}
}

// Close does nothing: what waits to be sent are numbers, not frames.
func (h *Host) Close() {}
