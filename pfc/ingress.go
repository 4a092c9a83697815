package pfc

import (
	"math"
	"math/bits"

	"photon/units"
)

// Ingress accounts, per priority, for frames that arrived at one port and have not left the switch, and
// decides when the peer must stop. Only the worker that owns the port calls it.
//
// What arrives is charged to the priority's base as long as base stays within the threshold, XOFF
// and what Alpha adds to it: up to XOFF that is buffer set aside for the priority, beyond it is the
// pool's. What does not fit there is charged to headroom, which is set aside for the priority, too,
// and asks for an XOFF. What leaves is taken from headroom first. An XON is sent when headroom is
// empty and base within its threshold. So the whole headroom is free whenever the peer may send,
// however the thresholds have changed: they depend on every other port's traffic.
//
// Headroom comes from a pool of its own. It may be smaller than the headroom of all ports and priorities together,
// since they rarely need it at the same time (SONiC's shared headroom pool). Then a frame may find it empty, and is
// lost although its priority has used none. Such a frame still causes an XOFF.
type Ingress struct {
	// What every frame needs comes first: eight bytes that share a cache line with fields of the
	// port, and then a cache line for each priority.
	enabled     uint8
	peerStopped uint8  // priorities whose peer holds an XOFF of ours
	xoffCheck   uint8  // priorities for which an XOFF may be due
	stopped     bool   // by StopPeer
	quanta      uint16 // of an XOFF; 0: see silent
	index       uint8  // and-ed with a priority: its account; 7, or 0 where all have one
	refused     uint8  // priorities of which a frame was lost for want of room since the last XOFF

	interval units.Time // between refreshes of an XOFF
	pool     *Pool
	heads    *Pool // that provides headroom
	headsMax int64 // the most of it that was used, by all, when this port took some
	class    [Classes]class
	limits   [Classes]limits
	since    [Classes]units.Time
	refresh  [Classes]units.Time // when an XOFF is sent again
	count    IngressCounters
	history  *History
}

// class is the account of one priority: one cache line.
type class struct {
	base, head    int64 // charged
	peak          int64 // the most of both
	xoff          int64
	alpha         float64
	bound         int64  // see SetBounds
	frames, bytes uint64 // received, see Count
}

// limits are what else the account of one priority needs.
type limits struct {
	xon      int64
	headroom int64 // set aside
	room     int64 // the most that head may be: headroom, or what was promised to a peer before Configure
}

// IngressCounters count what this port did to its peer.
type IngressCounters struct {
	Pauses      [Classes]uint64     // XOFF frames sent, refreshes included
	Resumes     [Classes]uint64     // XON frames sent
	Transitions [Classes]uint64     // from paused to running
	Paused      [Classes]units.Time // time for which the peer was paused
	Peak        [Classes]units.Size // most bytes buffered
	Headroom    [Classes]units.Size // bytes in headroom, now
	HeadroomMax [Classes]units.Size // the most there were
	PausedNow   uint8               // priorities that are paused at the peer now
}

// IngressConfig describes the receiving end of one link.
type IngressConfig struct {
	Enabled    uint8               // lossless priorities
	Thresholds [Classes]Thresholds // of the lossless ones
	Rate       units.Rate          // of the link: the unit of pause times
	Pause      units.Time          // asked for by an XOFF; 0 or too long: MaxQuanta
	Pool       *Pool               // of the switch; nil: there is none, and no Alpha
	Headroom   *Pool               // that provides the headroom of all ports; nil: each has its own
	Whole      bool                // all priorities have one account, the first, and the peer is sent PAUSE (IEEE 802.3 annex 31B)
	Silent     bool                // the link has another flow control: the peer is never paused
}

// NewIngress returns the accounting of a port. The thresholds must be valid.
func NewIngress(c IngressConfig) *Ingress {
	g := &Ingress{pool: c.Pool, heads: c.Headroom}
	if g.pool == nil {
		g.pool = NewPool(0, false)
	}
	if g.heads == nil {
		g.heads = NewPool(math.MaxInt64, false)
	}
	if !c.Silent {
		g.setPause(c.Pause, c.Rate)
	}
	g.enable(c.Enabled, c.Whole)
	for p := range Classes {
		k := &g.class[p]
		if t := c.Thresholds[p]; g.enabled>>p&1 != 0 {
			k.set(t)
			g.limits[p] = limits{int64(t.XON), int64(t.Headroom), int64(t.Headroom)}
		}
	}
	return g
}

// set puts a threshold in force.
func (k *class) set(t Thresholds) {
	k.xoff, k.alpha, k.bound = int64(t.XOFF), t.Alpha, 0
}

// enable says which accounts have thresholds. The others take everything, and no peer is paused for them.
func (g *Ingress) enable(priorities uint8, whole bool) {
	g.enabled, g.index = priorities, Classes-1
	if whole {
		g.enabled, g.index = 1, 0
	}
	for p := range Classes {
		if g.enabled>>p&1 == 0 {
			g.class[p].set(Thresholds{XOFF: math.MaxInt64})
			g.limits[p] = limits{xon: math.MaxInt64, room: math.MaxInt64}
		}
	}
}

// Whole reports whether all priorities have one account.
func (g *Ingress) Whole() bool { return g.index == 0 }

// raised is a threshold of k with what is added to it for the free part of the pool.
func (g *Ingress) raised(k *class, threshold int64) int64 {
	if k.alpha == 0 {
		return threshold
	}
	return threshold + int64(k.alpha*float64(g.pool.Free()))
}

// pooled is how much of what is charged to a priority the pool provides: what is beyond the buffer that
// is set aside.
func (g *Ingress) pooled(p uint8) int64 {
	k := &g.class[p&7]
	return max(0, k.base-k.xoff) + max(0, k.head-g.limits[p&7].headroom)
}

// headed is how much of what is charged to a priority the pool of headroom provides.
func (g *Ingress) headed(p uint8) int64 { return min(g.class[p&7].head, g.limits[p&7].headroom) }

// chargePools takes of both pools, or gives back, what a priority has of them now and had not before.
func (g *Ingress) chargePools(p uint8, pooled, headed int64) {
	g.pool.Add(g.pooled(p) - pooled)
	g.heads.Add(g.headed(p) - headed)
}

// Moves reports whether the thresholds of priority p follow what is free of the pool.
func (g *Ingress) Moves(p uint8) bool { return g.class[p&g.index&7].alpha > 0 }

// Room is how many bytes of priority p can be charged to base, in any number of frames, while others take
// so many bytes of the pool. While headroom is in use there is none: a frame that came and went without being charged
// would not give back the headroom that its like in a queue gives back.
func (g *Ingress) Room(p uint8, others int64) int64 {
	k := &g.class[p&g.index&7]
	if k.head > 0 {
		return 0
	}
	room := k.xoff - k.base
	if k.alpha == 0 {
		return room
	}
	// With n bytes more of the pool's, its free part is n less: what is beyond xoff is to be at most
	// alpha times what is left free after the last of the frames.
	free, pooled := max(0, g.pool.Free()-others), max(0, -room)
	return max(room, room+k.beyond(free+pooled))
}

// beyond is how much may be charged beyond xoff if so much is free of the pool without what is. A byte is for rounding.
func (k *class) beyond(free int64) int64 {
	return min(int64(k.alpha/(1+k.alpha)*float64(free))-1, free)
}

// SetBounds works out up to how much may be charged to some priorities whatever else is charged, as long as no more
// than so much is used of the pool, and is no new peak, if that matters.
func (g *Ingress) SetBounds(priorities uint8, mostPooled int64, peaks bool) {
	for rest := priorities; rest != 0; rest &= rest - 1 {
		k := &g.class[uint8(bits.TrailingZeros8(rest))&g.index&7]
		most := k.xoff
		if free := g.pool.size - mostPooled; k.alpha != 0 && free > 0 { // what Room asks, with so much free afterwards
			most += max(0, int64(k.alpha*float64(free))-int64(k.alpha)-2)
		}
		if peaks {
			most = min(most, k.peak)
		}
		if k.bound = most; k.head > 0 {
			k.bound = 0
		}
	}
}

// Bounded reports that there are bounds for priority p.
func (g *Ingress) Bounded(p uint8) bool { return g.class[p&g.index&7].bound != 0 }

// ClearBounds has nothing be within bounds, until SetBounds works them out again. What makes an XOFF due does so, too.
func (g *Ingress) ClearBounds() {
	for p := range g.class {
		g.class[p].bound = 0
	}
}

// Within reports whether n bytes more of priority p are within what SetBounds worked out.
func (g *Ingress) Within(p uint8, n int64) bool {
	k := &g.class[p&g.index&7]
	return k.base+n <= k.bound
}

// Fits reports whether Room is at least n bytes, while others take nothing. Most often the buffer that is set aside for the
// priority has room: then the pool is not asked.
func (g *Ingress) Fits(p uint8, n int64) bool {
	k := &g.class[p&g.index&7]
	return k.head == 0 && k.base+n <= k.xoff || g.Room(p, 0) >= n
}

// Absorbs reports whether n bytes more of priority p fit, and are no new peak: neither of the account nor, if there was
// so much in use of the pool, of that.
func (g *Ingress) Absorbs(p uint8, n, mostPooled int64) bool {
	k := &g.class[p&g.index&7]
	if k.head != 0 || k.base+n > k.peak {
		return false
	}
	return k.base+n <= k.xoff || g.pool.Used()+n <= mostPooled && g.Room(p, 0) >= n
}

// Pools reports whether n bytes more of priority p would take something of the pool.
func (g *Ingress) Pools(p uint8, n int64) bool {
	return g.class[p&g.index&7].base+n > g.class[p&g.index&7].xoff
}

// Charge charges a frame of n bytes of priority p to base, for which there was Room. It reports
// false, and charges nothing, if another worker was faster and the pool has no room for it.
func (g *Ingress) Charge(p uint8, n int64) bool {
	k := &g.class[p&g.index&7]
	if k.base += n; k.base > k.xoff && !g.pool.Take(min(n, k.base-k.xoff)) {
		k.base -= n
		return false
	}
	return true
}

// ChargeAll charges n bytes of priority p to base, for which there was Room.
func (g *Ingress) ChargeAll(p uint8, n int64) {
	k := &g.class[p&g.index&7]
	if k.base += n; k.base > k.xoff {
		g.pool.Add(min(n, k.base-k.xoff))
	}
}

// Count counts frames that arrived with priority p. It is next to the account, so that a frame touches one
// cache line. Counted returns what was counted since the last call.
func (g *Ingress) Count(p uint8, frames, bytes uint64) {
	g.class[p&7].frames += frames
	g.class[p&7].bytes += bytes
}

// Counted returns what Count counted since the last call.
func (g *Ingress) Counted(p uint8) (frames, bytes uint64) {
	k := &g.class[p&7]
	frames, bytes = k.frames, k.bytes
	k.frames, k.bytes = 0, 0
	return frames, bytes
}

// Note notes the most that was buffered of priority p, after some frames were charged, and one of
// passed bytes came and left at once.
func (g *Ingress) Note(p uint8, passed int64) {
	k := &g.class[p&g.index&7]
	k.peak = max(k.peak, k.base+k.head+passed)
}

// Admit accounts a frame of n bytes that arrived with priority p. It reports false, and accounts
// nothing, if it does not fit into headroom either: the peer did not stop, or there was no XOFF.
// An XOFF may be due then.
func (g *Ingress) Admit(p uint8, n int64) bool {
	k := &g.class[p&g.index&7]
	fits := max(0, min(n, g.raised(k, k.xoff)-k.base))
	taken := max(0, k.base+fits-k.xoff) - max(0, k.base-k.xoff)
	if taken > 0 && !g.pool.Take(taken) {
		fits, taken = max(0, min(n, k.xoff-k.base)), 0
	}
	if rest := n - fits; rest > 0 {
		l := &g.limits[p&g.index&7]
		own := min(k.head+rest, l.headroom) - g.headed(p&g.index)
		if k.head+rest > l.room || own > 0 && !g.heads.Take(own) {
			g.pool.Add(-taken)
			g.check(p)
			g.refused |= 1 << (p & g.index & 7)
			return false
		}
		k.head += rest
		g.pool.Add(rest - max(0, own)) // what was promised beyond headroom
		g.headsMax = max(g.headsMax, g.heads.Used())
		g.check(p)
		g.count.HeadroomMax[p&g.index&7] = max(g.count.HeadroomMax[p&g.index&7], units.Size(k.head))
	}
	k.base += fits
	k.peak = max(k.peak, k.base+k.head)
	if taken > 0 && k.base > g.raised(k, k.xoff) { // the frame itself lowered the threshold below what is there now
		g.check(p)
	}
	return true
}

// check has Next and Poll see whether an XOFF is due.
func (g *Ingress) check(p uint8) {
	if g.xoffCheck |= 1 << (p & g.index & 7); g.Stopped(p) { // then it is not due
		g.class[p&g.index&7].bound = 0
	} else {
		g.ClearBounds()
	}
}

// Stopped reports whether the peer is paused for what is charged to a priority.
func (g *Ingress) Stopped(p uint8) bool { return g.peerStopped>>(p&g.index&7)&1 != 0 }

// Release takes back n bytes that left or were dropped. It reports whether that makes an XON due,
// which the caller tells the port's world.
func (g *Ingress) Release(p uint8, n int64) (due bool) {
	if g.ReleaseFast(p, n) {
		return false
	}
	k := &g.class[p&g.index&7]
	pooled, headed, head := g.pooled(p&g.index), g.headed(p&g.index), min(k.head, n)
	k.head -= head
	k.base -= n - head
	g.chargePools(p&g.index, pooled, headed)
	if g.peerStopped>>(p&g.index&7)&1 == 0 {
		return false
	}
	g.await(p & g.index)
	return g.xonDue(p & g.index)
}

// ReleaseFast is Release where the peer is not paused and headroom has no part in it: else it does nothing, and reports
// false.
func (g *Ingress) ReleaseFast(p uint8, n int64) bool {
	k := &g.class[p&g.index&7]
	if k.head != 0 || g.peerStopped != 0 {
		return false
	}
	if beyond := k.base - k.xoff; beyond > 0 {
		g.pool.Add(-min(n, beyond))
	}
	k.base -= n
	return true
}

// xonDue reports whether the peer may be resumed for an account, if it is paused.
func (g *Ingress) xonDue(p uint8) bool {
	k := &g.class[p&7]
	return k.head == 0 && (!g.stopped || g.enabled>>(p&7)&1 == 0) && k.base <= g.raised(k, g.limits[p&7].xon)
}

// await tells the pool how much of it must at least be free for an XON of an account, as long as no frame of the
// account leaves.
func (g *Ingress) await(p uint8) {
	if k := &g.class[p&7]; k.head == 0 && k.alpha > 0 {
		const rounding = 2
		g.pool.Await(int64(float64(k.base-g.limits[p&7].xon)/k.alpha) - rounding)
	}
}

// Await tells the pool of all XONs that the port waits for.
func (g *Ingress) Await() {
	for rest := g.peerStopped; rest != 0; rest &= rest - 1 {
		g.await(uint8(bits.TrailingZeros8(rest)))
	}
}

// silent reports that the link has another flow control: an XOFF, which would have no length, is never due.
func (g *Ingress) silent() bool { return g.quanta == 0 }

// xoffDue reports whether the peer is to be paused, if it is not. Only what arrives asks for it
// (xoffCheck): a threshold that others lower below what is there waits for the port's next frame.
func (g *Ingress) xoffDue(p uint8) bool {
	k := &g.class[p&7]
	return !g.silent() && (k.head > 0 || g.stopped || g.refused>>(p&7)&1 != 0 || k.base > g.raised(k, k.xoff))
}

// Undecided reports that an XOFF may be due, of which Poll or Next has not decided yet.
func (g *Ingress) Undecided() bool { return g.xoffCheck&^g.peerStopped != 0 }

// Quiet reports that Poll has nothing to send, and will not before more is admitted.
func (g *Ingress) Quiet() bool { return g.xoffCheck|g.peerStopped == 0 }

// Bytes returns how many bytes are in an account: of priority p, or of all in the first.
func (g *Ingress) Bytes(p uint8) units.Size { return units.Size(g.class[p&7].base + g.class[p&7].head) }

// Pooled is how many bytes the pool provides for what is buffered.
func (g *Ingress) Pooled() (sum int64) {
	for p := range g.class {
		sum += g.pooled(uint8(p))
	}
	return sum
}

// Headed is how many bytes the pool of headroom provides.
func (g *Ingress) Headed() (sum int64) {
	for p := range g.class {
		sum += g.headed(uint8(p))
	}
	return sum
}

// XON is the threshold in force now: the peer is resumed when no more bytes than
// this are left.
func (g *Ingress) XON(p uint8) units.Size {
	return units.Size(g.raised(&g.class[p&g.index&7], g.limits[p&g.index&7].xon))
}

// PeerStopped is the set of priorities that are paused at the peer.
func (g *Ingress) PeerStopped() uint8 { return g.peerStopped }

// Next is when Poll will have a frame to send, if nothing is admitted or
// released meanwhile: now, at the next refresh, or Never.
func (g *Ingress) Next(now units.Time) units.Time {
	if g.xoffCheck|g.peerStopped == 0 {
		return units.Never
	}
	next := units.Never
	for rest := g.xoffCheck | g.peerStopped; rest != 0; rest &= rest - 1 {
		p := bits.TrailingZeros8(rest) & 7
		bit := uint8(1) << p
		switch {
		case g.peerStopped&bit != 0:
			if g.xonDue(uint8(p)) {
				return now
			}
			next = min(next, g.refresh[p])
		case g.xoffCheck&bit != 0:
			if g.xoffDue(uint8(p)) {
				return now
			}
			g.xoffCheck &^= bit // it was released before Poll
		}
	}
	return max(now, next)
}

// Poll fills f with what is due at now, one frame for all priorities, and
// reports whether there is anything. The caller sends the frame.
func (g *Ingress) Poll(now units.Time, f *Frame) bool {
	*f = Frame{}
	if g.xoffCheck|g.peerStopped == 0 {
		return false
	}
	again := uint8(0)
	if g.index == 0 && g.peerStopped&^1 != 0 { // priorities that were paused one by one are resumed first
		again = g.xoffCheck & 1
		g.xoffCheck &^= 1
	}
	for p := range Classes {
		bit := uint8(1) << p
		stopped, check := g.peerStopped&bit != 0, g.xoffCheck&bit != 0
		switch {
		case stopped && g.xonDue(uint8(p)):
			f.Enable |= bit
			g.peerStopped &^= bit
			g.refused &^= bit
			g.limits[p].room = g.limits[p].headroom
			g.count.Resumes[p]++
			g.count.Transitions[p]++
			g.count.Paused[p] += now - g.since[p]
			g.history.add(Pause{g.since[p], now, uint8(p), true})
		case stopped && now >= g.refresh[p], !stopped && check && g.xoffDue(uint8(p)):
			f.Enable |= bit
			g.refused &^= bit
			f.Quanta[p] = g.quanta
			g.count.Pauses[p]++
			if !stopped {
				g.peerStopped |= bit
				g.since[p] = now
				g.await(uint8(p))
			}
			g.refresh[p] = now + g.interval
		}
	}
	g.xoffCheck = again
	f.Global = g.index == 0 && f.Enable == 1
	return f.Enable != 0
}

// ClearPeaks resets the watermarks to what is buffered now.
func (g *Ingress) ClearPeaks() {
	for p := range g.class {
		k := &g.class[p]
		k.peak = k.base + k.head
		g.count.HeadroomMax[p] = 0
		if g.enabled>>p&1 != 0 {
			g.count.HeadroomMax[p] = units.Size(k.head)
		}
	}
}

// HeadroomPeak is the most of the pool of headroom that was used, by all ports, when this one took some.
func (g *Ingress) HeadroomPeak() units.Size { return units.Size(g.headsMax) }

// ClearHeadroomPeak resets it to what is used now.
func (g *Ingress) ClearHeadroomPeak() { g.headsMax = g.heads.Used() }

// Counters returns the counts, pauses that still last included up to now.
func (g *Ingress) Counters(now units.Time) IngressCounters {
	c := g.count
	c.PausedNow = g.peerStopped
	for p := range Classes {
		if g.enabled>>p&1 != 0 {
			c.Headroom[p] = units.Size(g.class[p].head)
		}
		c.Peak[p] = units.Size(g.class[p].peak)
		if g.peerStopped>>p&1 != 0 {
			c.Paused[p] += now - g.since[p]
		}
	}
	return c
}

// Sent is how many XOFF frames were sent per priority, refreshes included.
func (g *Ingress) Sent() *[Classes]uint64 { return &g.count.Pauses }
