package pfc

import (
	"fmt"
	"math"
	"sync/atomic"

	"photon/units"
)

// Thresholds of one lossless priority of one ingress port, in bytes.
type Thresholds struct {
	XOFF     units.Size // send XOFF when more than this is buffered
	XON      units.Size // send XON when no more than this is left; at most XOFF
	Headroom units.Size // buffered beyond XOFF while the XOFF takes effect; what exceeds it is lost
}

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
	}
	return nil
}

// Ingress accounts what came in through one port and has not left yet, and
// decides when the peer must stop. Only the worker that owns the port calls
// it, but for Release, which the workers of other ports may call if the Ingress
// was made shared.
type Ingress struct {
	enabled   uint8
	over      uint8 // above XOFF when last admitted: Poll will look
	held      uint8 // priorities whose peer holds an XOFF of ours
	quanta    uint16
	interval  units.Time // between refreshes of an XOFF
	xoff      [Classes]int64
	xon       [Classes]int64
	limit     [Classes]int64
	refresh   [Classes]units.Time
	since     [Classes]units.Time
	count     IngressCounters
	occupancy [Classes]occupancy
}

// IngressCounters count what this port did to its peer.
type IngressCounters struct {
	Pauses      [Classes]uint64     // XOFF frames sent, refreshes included
	Resumes     [Classes]uint64     // XON frames sent
	Transitions [Classes]uint64     // from paused to running
	Paused      [Classes]units.Time // time the peer was told to be silent
	Peak        [Classes]units.Size // most bytes buffered
}

// occupancy is a byte count that one worker raises and several lower. It fills
// a cache line of its own.
type occupancy struct {
	bytes  int64
	shared bool
	_      [48]byte
}

func (o *occupancy) add(n int64) int64 {
	if o.shared {
		return atomic.AddInt64(&o.bytes, n)
	}
	o.bytes += n
	return o.bytes
}

func (o *occupancy) load() int64 {
	if o.shared {
		return atomic.LoadInt64(&o.bytes)
	}
	return o.bytes
}

// IngressConfig describes the receiving end of one link.
type IngressConfig struct {
	Enabled    uint8               // lossless priorities
	Thresholds [Classes]Thresholds // of the lossless ones
	Rate       units.Rate          // of the link: the unit of pause times
	Pause      units.Time          // asked for by an XOFF; 0 or too long: MaxQuanta
	Shared     bool                // other workers call Release
}

// NewIngress returns the accounting of a port. The thresholds must be valid.
func NewIngress(c IngressConfig) *Ingress {
	g := &Ingress{enabled: c.Enabled, quanta: MaxQuanta}
	if c.Pause > 0 {
		g.quanta = max(1, Quanta(c.Pause, c.Rate))
	}
	// Half of the pause is left for the refresh to queue behind a frame, to
	// travel, and to be late by a poll.
	g.interval = Duration(g.quanta, c.Rate) / 2
	for p := range Classes {
		g.occupancy[p].shared = c.Shared
		g.xoff[p], g.limit[p] = math.MaxInt64, math.MaxInt64
		if c.Enabled>>p&1 != 0 {
			t := c.Thresholds[p]
			g.xoff[p], g.xon[p], g.limit[p] = int64(t.XOFF), int64(t.XON), int64(t.XOFF+t.Headroom)
		}
	}
	return g
}

// Admit accounts n bytes that arrived with priority p. It reports false, and
// accounts nothing, if they exceed XOFF and headroom: the peer did not stop.
func (g *Ingress) Admit(p uint8, n int) bool {
	o := &g.occupancy[p&7]
	// The others only ever lower the count, so what fits now still fits when added.
	if o.load()+int64(n) > g.limit[p&7] {
		return false
	}
	now := o.add(int64(n))
	if now > g.xoff[p&7] {
		g.over |= 1 << (p & 7)
	}
	if units.Size(now) > g.count.Peak[p&7] {
		g.count.Peak[p&7] = units.Size(now)
	}
	return true
}

// Room is how many bytes of priority p Admit would take now.
func (g *Ingress) Room(p uint8) int64 { return g.limit[p&7] - g.occupancy[p&7].load() }

// AdmitAll accounts several frames of priority p, n bytes together, for which
// there was Room.
func (g *Ingress) AdmitAll(p uint8, n int64) {
	now := g.occupancy[p&7].add(n)
	if now > g.xoff[p&7] {
		g.over |= 1 << (p & 7)
	}
	g.count.Peak[p&7] = max(g.count.Peak[p&7], units.Size(now))
}

// Release takes back n bytes that left or were dropped. It reports whether
// that makes an XON due, which the caller tells the port's world; with several
// workers the port's own finds out at its next Poll.
func (g *Ingress) Release(p uint8, n int) (due bool) {
	o := &g.occupancy[p&7]
	left := o.add(-int64(n))
	return !o.shared && g.held>>(p&7)&1 != 0 && left <= g.xon[p&7]
}

// Bytes returns how many bytes of priority p are buffered.
func (g *Ingress) Bytes(p uint8) units.Size { return units.Size(g.occupancy[p&7].load()) }

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
		switch xoff, xon := g.due(now, p); {
		case xoff || xon:
			return now
		case g.held>>p&1 != 0:
			next = min(next, g.refresh[p])
		}
	}
	g.over = 0 // released again meanwhile
	return next
}

// due says whether an XOFF (the first or a refresh) or an XON of p is to be sent at now.
func (g *Ingress) due(now units.Time, p int) (xoff, xon bool) {
	bytes := g.occupancy[p].load()
	if g.held>>p&1 == 0 {
		return bytes > g.xoff[p], false
	}
	xon = bytes <= g.xon[p]
	return !xon && now >= g.refresh[p], xon
}

// Poll fills f with what is due at now, one frame for all priorities, and
// reports whether there is anything. The caller sends the frame.
func (g *Ingress) Poll(now units.Time, f *Frame) bool {
	if g.over|g.held == 0 {
		return false
	}
	g.over = 0
	*f = Frame{}
	for p := range Classes {
		if g.enabled>>p&1 == 0 {
			continue
		}
		bit := uint8(1) << p
		switch xoff, xon := g.due(now, p); {
		case xoff:
			f.Enable |= bit
			f.Quanta[p] = g.quanta
			g.count.Pauses[p]++
			if g.held&bit == 0 {
				g.held |= bit
				g.since[p] = now
			}
			g.refresh[p] = now + g.interval
		case xon:
			f.Enable |= bit
			g.held &^= bit
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
	for p := range Classes {
		if g.held>>p&1 != 0 {
			c.Paused[p] += now - g.since[p]
		}
	}
	return c
}

// Sent is how many XOFF frames were sent per priority, refreshes included.
func (g *Ingress) Sent() *[Classes]uint64 { return &g.count.Pauses }
