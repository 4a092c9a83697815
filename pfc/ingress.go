package pfc

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"photon/units"
)

// Thresholds of one lossless priority of one ingress port, in bytes.
type Thresholds struct {
	XOFF     units.Size // send XOFF when more than this is buffered
	XON      units.Size // send XON when no more than this is left; at most XOFF
	Headroom units.Size // buffered beyond XOFF while the XOFF takes effect; what exceeds it is lost
	// Alpha raises XOFF and XON by a part of what is free of the switch's pool; 0:
	// they stand still, and the port takes nothing from the pool.
	Alpha float64
}

// XONBelow is the XON where none is set: two frames of the longest below XOFF, as
// DCQCN has it (SIGCOMM'15, section 4), and not below 0.
func XONBelow(xoff, mtu units.Size) units.Size { return max(0, xoff-2*mtu) }

// Validate says what is wrong with the thresholds, in one line.
func (t Thresholds) Validate() error {
	switch {
	case t.XOFF <= 0:
		return fmt.Errorf("xoff %v must be positive", t.XOFF)
	case t.XON < 0:
		return fmt.Errorf("xon %v must not be negative", t.XON)
	case t.XON > t.XOFF:
		return fmt.Errorf("xon %v is above xoff %v: the peer would be resumed before it is paused", t.XON, t.XOFF)
	case t.Headroom < 0:
		return fmt.Errorf("headroom %v must not be negative", t.Headroom)
	case !(t.Alpha >= 0 && t.Alpha <= 1024):
		return fmt.Errorf("alpha %v must be from 0 to 1024", t.Alpha)
	}
	return nil
}

// Ingress accounts what came in through one port and has not left yet, and
// decides when the peer must stop. Only the worker that owns the port calls
// it, but for Release, which the workers of other ports may call if the Ingress
// was made shared.
type Ingress struct {
	// What most frames look at comes first, so that it fits behind other things in
	// one line of the cache.
	enabled uint8
	over    uint8 // above XOFF when last admitted: Poll will look
	held    uint8 // priorities whose peer holds an XOFF of ours
	many    bool  // shared is there
	quanta  uint16
	spare   uint16 // KB of any priority that fit as long as none is above XOFF: the least headroom; 0 with alpha

	shared   *[Classes]occupancy // nil: one worker does all, and what is buffered is in class
	interval units.Time          // between refreshes of an XOFF
	pool     *Pool
	_        [40]byte // whole lines of the cache
	class    [Classes]class
	marks    [Classes]marks
	since    [Classes]units.Time
	refresh  [Classes]units.Time // when an XOFF is sent again
	settled  [Classes]int64      // what limit will be when an XON has been sent; Configure tells why
	promised [Classes]int64      // what limit is not to fall below until then, if Configure was called meanwhile
	count    IngressCounters
}

// class is what one priority goes by: one line of the cache.
type class struct {
	bytes    int64 // buffered, if no other worker counts
	peak     int64
	easy     int64 // to account and to release bytes is to count, while there are at most so many: see calm
	limit    int64 // what is never exceeded; with alpha, what was there when XOFF was last respected, and headroom
	alpha    float64
	headroom int64
	frames   uint64 // what Count counted
	total    uint64
}

// Where assembly that releases bytes finds the account of a priority in an Ingress, those
// of all in a row, and what Easy compares in it, both int64.
const (
	AccountsAt = unsafe.Offsetof(Ingress{}.class)
	AccountLen = unsafe.Sizeof(class{})
	BytesAt    = unsafe.Offsetof(class{}.bytes)
	EasyAt     = unsafe.Offsetof(class{}.easy)
)

// marks are what one priority goes by beyond easy.
type marks struct{ xoff, xon int64 }

// IngressCounters count what this port did to its peer.
type IngressCounters struct {
	Pauses      [Classes]uint64     // XOFF frames sent, refreshes included
	Resumes     [Classes]uint64     // XON frames sent
	Transitions [Classes]uint64     // from paused to running
	Paused      [Classes]units.Time // time the peer was told to be silent
	Peak        [Classes]units.Size // most bytes buffered
	Headroom    [Classes]units.Size // bytes beyond XOFF, now
	HeadroomMax [Classes]units.Size // the most there were
	Held        uint8               // priorities whose peer is told to be silent, now
}

// occupancy is a byte count that one worker raises and several lower. It fills
// a cache line of its own.
type occupancy struct {
	bytes int64
	_     [56]byte
}

func (g *Ingress) add(p uint8, n int64) int64 {
	if g.many {
		return atomic.AddInt64(&g.shared[p&7].bytes, n)
	}
	g.class[p&7].bytes += n
	return g.class[p&7].bytes
}

func (g *Ingress) load(p uint8) int64 {
	if g.many {
		return atomic.LoadInt64(&g.shared[p&7].bytes)
	}
	return g.class[p&7].bytes
}

// IngressConfig describes the receiving end of one link.
type IngressConfig struct {
	Enabled    uint8               // lossless priorities
	Thresholds [Classes]Thresholds // of the lossless ones
	Rate       units.Rate          // of the link: the unit of pause times
	Pause      units.Time          // asked for by an XOFF; 0 or too long: MaxQuanta
	Shared     bool                // other workers call Release
	Pool       *Pool               // of the switch; only thresholds with alpha need one
}

// NewIngress returns the accounting of a port. The thresholds must be valid.
func NewIngress(c IngressConfig) *Ingress {
	g := &Ingress{enabled: c.Enabled, pool: c.Pool}
	g.setPause(c.Pause, c.Rate)
	if c.Shared {
		g.shared, g.many = new([Classes]occupancy), true
	}
	for p := range Classes {
		g.marks[p].xoff, g.class[p].limit, g.class[p].easy = math.MaxInt64, math.MaxInt64, -1
		if c.Enabled>>p&1 != 0 {
			t := c.Thresholds[p]
			g.marks[p].xoff, g.marks[p].xon, g.class[p].limit = int64(t.XOFF), int64(t.XON), int64(t.XOFF+t.Headroom)
			g.class[p].alpha, g.class[p].headroom = t.Alpha, int64(t.Headroom)
			g.settled[p] = g.class[p].limit
		}
		g.calm(p)
	}
	g.setSpare()
	return g
}

// calm brings easy up to date: no other worker counts, the peer waits for no XON, and
// nothing is the pool's. It comes after every change of xoff and held.
func (g *Ingress) calm(p int) {
	switch {
	case g.many: // never, and nothing is written that other workers read
	case g.held>>p&1 == 0:
		g.class[p].easy = g.marks[p].xoff
	default:
		g.class[p].easy = -1
	}
}

// Admit accounts n bytes that arrived with priority p. It reports false, and
// accounts nothing, if they exceed XOFF and headroom: the peer did not stop.
func (g *Ingress) Admit(p uint8, n int) bool {
	c := &g.class[p&7]
	if after := c.bytes + int64(n); after <= c.easy { // below XOFF, and the pool has no part in it
		c.bytes, c.peak = after, max(c.peak, after)
		if c.alpha > 0 {
			c.limit = after + c.headroom
		}
		return true
	}
	return g.admit(p, n)
}

func (g *Ingress) admit(p uint8, n int) bool {
	c, xoff := &g.class[p&7], g.marks[p&7].xoff
	// The others only ever lower the count, so what fits now still fits when added.
	after := g.load(p) + int64(n)
	switch {
	case c.alpha > 0:
		if after <= xoff { // the pool has no part in it
			g.respect(p&7, after)
			break
		}
		return g.admitMoving(p, int64(n))
	case after > c.limit:
		return false
	case after > xoff:
		g.over |= 1 << (p & 7)
		g.noteHeadroom(p&7, after)
	}
	c.peak = max(c.peak, g.add(p, int64(n)))
	return true
}

// Count counts a frame of n bytes that came in with priority p, beside its account:
// what every frame touches of a priority is in one line of the cache. Counted returns
// what was counted since the last call.
func (g *Ingress) Count(p uint8, n int) { g.CountAll(p, 1, uint64(n)) }

// CountAll is Count of several frames.
func (g *Ingress) CountAll(p uint8, frames, bytes uint64) {
	c := &g.class[p&7]
	c.frames += frames
	c.total += bytes
}

// Counted returns what Count counted since the last call, and begins anew.
func (g *Ingress) Counted(p uint8) (frames, bytes uint64) {
	c := &g.class[p&7]
	frames, bytes = c.frames, c.total
	c.frames, c.total = 0, 0
	return frames, bytes
}

// Pass accounts n bytes of priority p that arrive and leave at once, in place of
// Admit and Release. It only notes the peak. Where they would do more than that it
// does nothing and reports false, and the caller uses them.
func (g *Ingress) Pass(p uint8, n int) bool {
	c := &g.class[p&7]
	after := c.bytes + int64(n)
	if after > c.easy {
		return false
	}
	if c.peak = max(c.peak, after); c.alpha > 0 {
		c.limit = after + c.headroom
	}
	return true
}

// admitMoving is Admit where thresholds move: what is beyond XOFF without the
// pool's part is taken from the pool, headroom included.
func (g *Ingress) admitMoving(p uint8, n int64) bool {
	c := &g.class[p&7]
	xoff := g.marks[p&7].xoff
	switch after := g.load(p) + n; {
	case after <= g.raised(xoff, p):
		g.respect(p, after)
	case after > c.limit:
		return false
	default:
		g.over |= 1 << (p & 7)
		g.noteHeadroom(p, after)
	}
	now := g.add(p, n)
	g.pool.Add(max(0, now-xoff) - max(0, now-n-xoff))
	c.peak = max(c.peak, now)
	return true
}

// respect moves the limit along with what is buffered while that is no more than XOFF. A
// peer that is paused may still send as much as the headroom was when it was told.
func (g *Ingress) respect(p uint8, bytes int64) {
	c := &g.class[p]
	c.limit = bytes + c.headroom
	if g.held>>p&1 != 0 {
		c.limit = max(c.limit, g.promised[p])
	}
}

// noteHeadroom keeps the most that was used of the headroom. It is the upper end
// of what may be buffered.
func (g *Ingress) noteHeadroom(p uint8, bytes int64) {
	g.count.HeadroomMax[p&7] = max(g.count.HeadroomMax[p&7], g.usedHeadroom(p&7, bytes))
}

func (g *Ingress) usedHeadroom(p uint8, bytes int64) units.Size {
	return units.Size(max(0, bytes-(g.class[p].limit-g.class[p].headroom)))
}

// raised is a threshold with what is added to it for the free part of the pool.
func (g *Ingress) raised(threshold int64, p uint8) int64 {
	if g.class[p].alpha == 0 {
		return threshold
	}
	return threshold + int64(g.class[p].alpha*float64(g.pool.Free()))
}

// Room is how many bytes of priority p Admit would take now. It is 0 if thresholds
// follow the free pool, since only Admit can tell then.
func (g *Ingress) Room(p uint8) int64 {
	if g.class[p&7].alpha > 0 {
		return 0
	}
	return g.class[p&7].limit - g.load(p)
}

// Fits reports whether there is Room for n bytes, whichever priorities they are of.
func (g *Ingress) Fits(n int64) bool {
	return g.over|g.held == 0 && n <= int64(g.spare)<<10 || g.fitsEach(n)
}

func (g *Ingress) fitsEach(n int64) bool {
	for p := range Classes {
		if g.enabled>>p&1 != 0 && g.Room(uint8(p)) < n {
			return false
		}
	}
	return true
}

// setSpare works out spare. It comes after every change of headroom and alpha.
func (g *Ingress) setSpare() {
	spare := int64(math.MaxUint16)
	for p := range Classes {
		if g.class[p].alpha > 0 {
			spare = 0
		} else if g.enabled>>p&1 != 0 {
			spare = min(spare, g.class[p].headroom>>10)
		}
	}
	g.spare = uint16(spare)
}

// AdmitAll accounts several frames of priority p, n bytes together, for which
// there was Room.
func (g *Ingress) AdmitAll(p uint8, n int64) {
	now := g.add(p, n)
	c := &g.class[p&7]
	if now > g.marks[p&7].xoff {
		g.over |= 1 << (p & 7)
		g.noteHeadroom(p, now)
	}
	c.peak = max(c.peak, now)
}

// AdmitEasily is AdmitAll if that is only to count; else it does nothing and reports false.
func (g *Ingress) AdmitEasily(p uint8, n int64) bool {
	c := &g.class[p&7]
	now := c.bytes + n
	if now > c.easy {
		return false
	}
	c.bytes, c.peak = now, max(c.peak, now)
	return true
}

// Release takes back n bytes that left or were dropped. It reports whether
// that makes an XON due, which the caller tells the port's world; with several
// workers the port's own finds out at its next Poll.
func (g *Ingress) Release(p uint8, n int) (due bool) {
	if !g.Easy(p) {
		return g.release(p, int64(n))
	}
	g.Ease(p, int64(n))
	return false
}

// Easy reports whether releasing bytes of a priority only lowers a count, with no
// XON or pool to consider; mostly it does. Ease is enough then.
func (g *Ingress) Easy(p uint8) bool { return g.class[p&7].bytes <= g.class[p&7].easy }

// Ease releases n bytes of a priority that is Easy.
func (g *Ingress) Ease(p uint8, n int64) { g.class[p&7].bytes -= n }

func (g *Ingress) release(p uint8, n int64) (due bool) {
	left := g.add(p, -n)
	if xoff := g.marks[p&7].xoff; g.class[p&7].alpha > 0 {
		g.pool.Add(max(0, left-xoff) - max(0, left+n-xoff))
	}
	return !g.many && g.held>>(p&7)&1 != 0 && left <= g.raised(g.marks[p&7].xon, p&7)
}

// Quiet reports that Poll has nothing to send, and will not before more is admitted.
func (g *Ingress) Quiet() bool { return g.over|g.held == 0 }

// Bytes returns how many bytes of priority p are buffered.
func (g *Ingress) Bytes(p uint8) units.Size { return units.Size(g.load(p)) }

// XON is the threshold in force now: the peer is resumed when no more bytes than
// this are left.
func (g *Ingress) XON(p uint8) units.Size { return units.Size(g.raised(g.marks[p&7].xon, p&7)) }

// Held is the set of priorities that the peer was told not to send.
func (g *Ingress) Held() uint8 { return g.held }

// Next is when Poll will have a frame to send, if nothing is admitted or
// released meanwhile: now, at the next refresh, or Never.
func (g *Ingress) Next(now units.Time) units.Time {
	if g.over|g.held == 0 {
		return units.Never
	}
	next := units.Never
	for p := range Classes {
		switch xoff, xon := g.due(now, p, g.over); {
		case xoff || xon:
			return now
		case g.held>>p&1 != 0:
			next = min(next, g.refresh[p])
		}
	}
	g.over = 0 // released again meanwhile
	return next
}

// due says whether an XOFF (the first or a refresh) or an XON of p is to be sent
// at now; over is the priorities that were above XOFF when last admitted.
func (g *Ingress) due(now units.Time, p int, over uint8) (xoff, xon bool) {
	bytes := g.load(uint8(p))
	if g.held>>p&1 == 0 {
		// Where thresholds move, what went into headroom asks for an XOFF even if
		// the threshold is higher again: else headroom might be used up unnoticed.
		return bytes > g.raised(g.marks[p].xoff, uint8(p)) || g.class[p].alpha > 0 && over>>p&1 != 0, false
	}
	xon = bytes <= g.raised(g.marks[p].xon, uint8(p))
	return !xon && now >= g.refresh[p], xon
}

// Poll fills f with what is due at now, one frame for all priorities, and
// reports whether there is anything. The caller sends the frame.
func (g *Ingress) Poll(now units.Time, f *Frame) bool {
	if g.over|g.held == 0 {
		return false
	}
	over := g.over
	g.over = 0
	*f = Frame{}
	for p := range Classes {
		if g.enabled>>p&1 == 0 {
			continue
		}
		bit := uint8(1) << p
		switch xoff, xon := g.due(now, p, over); {
		case xoff:
			f.Enable |= bit
			f.Quanta[p] = g.quanta
			g.count.Pauses[p]++
			if g.held&bit == 0 {
				g.held |= bit
				g.since[p] = now
				g.calm(p)
			}
			g.refresh[p] = now + g.interval
		case xon:
			f.Enable |= bit
			g.held &^= bit
			g.promised[p] = 0
			g.calm(p)
			if g.class[p].alpha == 0 {
				g.class[p].limit = g.settled[p]
			}
			g.count.Resumes[p]++
			g.count.Transitions[p]++
			g.count.Paused[p] += now - g.since[p]
		}
	}
	return f.Enable != 0
}

// Counters returns the counts, pauses that still last included up to now.
func (g *Ingress) Counters(now units.Time) IngressCounters {
	c := g.count
	c.Held = g.held
	for p := range Classes {
		c.Headroom[p] = g.usedHeadroom(uint8(p), g.load(uint8(p)))
		c.Peak[p] = units.Size(g.class[p].peak)
		if g.held>>p&1 != 0 {
			c.Paused[p] += now - g.since[p]
		}
	}
	return c
}

// Sent is how many XOFF frames were sent per priority, refreshes included.
func (g *Ingress) Sent() *[Classes]uint64 { return &g.count.Pauses }
