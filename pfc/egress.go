package pfc

import (
	"photon/units"
)

// Egress is the sending end of a link: it keeps which priorities the peer has paused. A paused
// priority resumes on XON or when its quanta run out, whichever comes first:
// a peer that wants it stopped for longer must refresh its XOFF.
//
// The zero value is not usable; call NewEgress.
type Egress struct {
	enabled uint8
	paused  uint8
	rate    units.Rate
	next    units.Time // earliest of until over the paused priorities
	until   [Classes]units.Time
	since   [Classes]units.Time
	ended   [Classes]units.Time
	count   EgressCounters
	history *History
}

// EgressCounters count what the peer did to this port. Transitions are
// resumptions, by XON or by the timer (mlx5: rx_prioN_pause_transition).
type EgressCounters struct {
	Pauses      [Classes]uint64     // XOFF frames received, refreshes included
	Resumes     [Classes]uint64     // XON frames received
	Transitions [Classes]uint64     // from paused to running
	Paused      [Classes]units.Time // time spent paused
	PausedNow   uint8               // priorities that are paused now
	Unheeded    [Classes]uint64     // PFC frames received for a priority without PFC, XOFF and XON
	Ignored     uint64              // frames for priorities without PFC, and PAUSE frames where PFC is on
}

// Received is how many PFC frames came for a priority, XOFF and XON, whether it has PFC or not (SAI: PFC_N_RX_PKTS).
// Where PAUSE is obeyed it is how many of those.
func (c *EgressCounters) Received(p int) uint64 { return c.Pauses[p] + c.Resumes[p] + c.Unheeded[p] }

var _ Stops = (*Egress)(nil)

// NewEgress returns the state of a port whose link runs at rate and on which
// the priorities in enabled obey PFC. A port on which none does obeys 802.3x
// PAUSE instead; the two exclude each other (IEEE 802.1Q clause 36.1.1).
func NewEgress(enabled uint8, rate units.Rate) Egress {
	return Egress{enabled: enabled, rate: rate, next: units.Never}
}

// Paused is the set of priorities that must not send.
func (e *Egress) Paused() uint8 { return e.paused }

// Last is the last pause of a priority: when it began and when it ended, Never
// if it lasts still. Both are zero if there was none.
func (e *Egress) Last(p int) (from, until units.Time) {
	if e.paused>>p&1 != 0 {
		return e.since[p], units.Never
	}
	return e.since[p], e.ended[p]
}

// Ends is when the pause of a priority that lasts ends by itself.
func (e *Egress) Ends(p int) units.Time { return e.until[p] }

// Obey has the port obey PFC for other priorities, and returns those that resume: who cannot pause them has not.
func (e *Egress) Obey(now units.Time, enabled uint8) (resumed uint8) {
	if enabled == e.enabled {
		return 0
	}
	gone := ^enabled
	if e.enabled == 0 || enabled == 0 { // PAUSE counts in place of PFC, or the other way round
		gone = 0xFF
	}
	for p := range Classes {
		if gone>>p&1 != 0 {
			resumed |= e.resume(p, now)
		}
	}
	e.enabled = enabled
	e.schedule()
	return resumed
}

// SetRate changes the rate of the link, by which quanta are times; pauses that last end when they would have.
func (e *Egress) SetRate(rate units.Rate) { e.rate = rate }

// Next is when the earliest pause timer runs out, or Never.
func (e *Egress) Next() units.Time { return e.next }

// Receive applies a frame and returns the priorities that resumed: an XON for
// a priority that was not paused changes nothing. Call Expire(now) first.
func (e *Egress) Receive(now units.Time, f *Frame) (resumed uint8) {
	obeyed := e.enabled
	if f.Global && obeyed == 0 {
		obeyed = 0xFF
	} else if f.Global {
		obeyed = 0
	}
	if strange := f.Enable &^ obeyed; strange != 0 && !f.Global {
		for p := range Classes {
			e.count.Unheeded[p] += uint64(strange >> p & 1)
		}
	}
	if f.Enable&obeyed == 0 {
		e.count.Ignored++
		return 0
	}
	for p := range Classes {
		if f.Enable&obeyed>>p&1 == 0 {
			continue
		}
		if f.Quanta[p] == 0 {
			e.count.Resumes[p]++
			resumed |= e.resume(p, now)
			continue
		}
		e.count.Pauses[p]++
		if e.paused>>p&1 == 0 {
			e.paused |= 1 << p
			e.since[p] = now
		}
		e.until[p] = now.Add(Duration(f.Quanta[p], e.rate))
	}
	e.schedule()
	return resumed
}

// Expire ends the pauses whose timers ran out at or before now and returns
// their priorities.
func (e *Egress) Expire(now units.Time) (resumed uint8) {
	if now < e.next {
		return 0
	}
	for p := range Classes {
		if e.paused>>p&1 != 0 && e.until[p] <= now {
			resumed |= e.resume(p, e.until[p])
		}
	}
	e.schedule()
	return resumed
}

// Clear ends all pauses: their link is gone. It returns the priorities that resumed.
func (e *Egress) Clear(now units.Time) (resumed uint8) {
	for p := range Classes {
		resumed |= e.resume(p, now)
	}
	e.schedule()
	return resumed
}

func (e *Egress) resume(p int, at units.Time) uint8 {
	bit := uint8(1) << p
	if e.paused&bit == 0 {
		return 0
	}
	e.paused &^= bit
	e.ended[p] = at
	e.count.Transitions[p]++
	e.count.Paused[p] += at - e.since[p]
	e.history.add(Pause{e.since[p], at, uint8(p), false})
	return bit
}

func (e *Egress) schedule() {
	e.next = units.Never
	for p := range Classes {
		if e.paused>>p&1 != 0 {
			e.next = min(e.next, e.until[p])
		}
	}
}

// Counters returns the counts, pauses that still last included up to now. A pause whose time is over has ended, whether
// somebody called Expire or not: at a port with nothing to send nobody does.
func (e *Egress) Counters(now units.Time) EgressCounters {
	c := e.count
	for p := range Classes {
		if e.paused>>p&1 == 0 {
			continue
		}
		c.Paused[p] += min(now, e.until[p]) - e.since[p]
		if e.until[p] <= now {
			c.Transitions[p]++
		} else {
			c.PausedNow |= 1 << p
		}
	}
	return c
}
