package pfc

import "photon/units"

// Configure changes the thresholds and the pause of a running port. Nothing
// that is buffered, or on its way, is lost by it: if more is buffered than the
// new XOFF allows, or the peer is paused already, there is room for the headroom
// beyond that until an XON has been sent. The caller looks at Next afterwards.
// The thresholds must be valid.
func (g *Ingress) Configure(t [Classes]Thresholds, pause units.Time, rate units.Rate) {
	g.setPause(pause, rate)
	for p := range Classes {
		bit := uint8(1) << p
		if g.enabled&bit == 0 {
			continue
		}
		g.leavePool(p)
		g.marks[p].xoff, g.marks[p].xon, g.settled[p] = int64(t[p].XOFF), int64(t[p].XON), int64(t[p].XOFF+t[p].Headroom)
		g.class[p].alpha, g.class[p].headroom = t[p].Alpha, int64(t[p].Headroom)
		g.calm(p)
		bytes := g.load(uint8(p))
		if g.class[p].alpha > 0 {
			g.pool.Add(max(0, bytes-g.marks[p].xoff))
		}
		if bytes <= g.raised(g.marks[p].xoff, uint8(p)) && g.held&bit == 0 {
			g.class[p].limit = max(g.settled[p], bytes+g.class[p].headroom)
			continue
		}
		// What an XOFF that is under way still lets come was promised room before.
		g.class[p].limit = max(g.class[p].limit, g.settled[p], bytes+int64(t[p].Headroom))
		if g.held&bit != 0 {
			g.promised[p] = g.class[p].limit
		}
		g.over |= bit
	}
	g.setSpare()
}

// leavePool gives back to the pool what a priority took of it: its threshold
// moves no longer.
func (g *Ingress) leavePool(p int) {
	if g.class[p].alpha > 0 {
		g.pool.Add(-max(0, g.load(uint8(p))-g.marks[p].xoff))
		g.class[p].alpha = 0
	}
}

func (g *Ingress) setPause(pause units.Time, rate units.Rate) {
	g.quanta = MaxQuanta
	if pause > 0 {
		g.quanta = max(1, Quanta(pause, rate))
	}
	// Half of the pause is left for the refresh to queue behind a frame, to
	// travel, and to be late by a poll.
	g.interval = Duration(g.quanta, rate) / 2
}

// Hold has the peer paused from now on, whatever is buffered. The caller looks
// at Next afterwards.
func (g *Ingress) Hold() {
	for p := range Classes {
		if g.enabled>>p&1 != 0 {
			g.leavePool(p)
			g.marks[p].xoff, g.marks[p].xon = -1, -1
			g.calm(p)
		}
	}
	g.over |= g.enabled
}
