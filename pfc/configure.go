package pfc

import "photon/units"

// Configure changes the thresholds, the pause and the rate of a running port. No frame that is
// buffered, or on its way, is lost: if the peer is paused, or will be, the old headroom stays until
// an XON was sent, at the pool's expense if less is reserved now. The caller looks at Next afterwards.
// The thresholds must be valid.
func (g *Ingress) Configure(t [Classes]Thresholds, pause units.Time, rate units.Rate) {
	if !g.silent() {
		g.setPause(pause, rate)
	}
	g.pool.Await(0) // the conditions for XONs may change, with all that follows
	for p := range Classes {
		bit, k, l := uint8(1)<<p, &g.class[p], &g.limits[p]
		if g.enabled&bit == 0 {
			continue
		}
		pooled, headed := g.pooled(uint8(p)), g.headed(uint8(p))
		k.set(t[p])
		l.xon, l.headroom = int64(t[p].XON), int64(t[p].Headroom)
		g.chargePools(uint8(p), pooled, headed)
		if l.room = max(l.room, l.headroom); k.head == 0 && g.peerStopped&bit == 0 {
			l.room = l.headroom
		}
		g.xoffCheck |= bit
	}
}

// Restart changes which priorities have thresholds, or whether all share one account, and empties the accounts: the
// caller sets the thresholds (Configure) and then charges what is buffered again (ChargeAll). A priority without
// thresholds is resumed. A peer that changes between PFC and PAUSE goes on when the time of its last pause is over.
func (g *Ingress) Restart(now units.Time, enabled uint8, whole bool) {
	for p := range Classes {
		g.pool.Add(-g.pooled(uint8(p)))
		g.heads.Add(-g.headed(uint8(p)))
		g.class[p].base, g.class[p].head = 0, 0
		if (g.peerStopped&g.enabled)>>p&1 == 0 { // nothing was promised to the peer
			g.limits[p].room = 0
		}
	}
	g.refused = 0
	g.pool.Await(0)
	if whole != g.Whole() {
		if g.peerStopped&1 != 0 {
			g.count.Paused[0] += now - g.since[0]
			g.history.add(Pause{g.since[0], now, 0, true})
		}
		g.peerStopped &^= 1
		g.xoffCheck &^= 1
	}
	g.enable(enabled, whole)
}

// CheckXOFF makes Poll check whether an XOFF is due.
func (g *Ingress) CheckXOFF() { g.xoffCheck |= g.enabled }

func (g *Ingress) setPause(pause units.Time, rate units.Rate) {
	g.quanta = quantaOf(pause, rate)
	// Half of the pause is left for the refresh to queue behind a frame, to
	// travel, and to be late by a poll.
	g.interval = Duration(g.quanta, rate) / 2
}

// quantaOf is what an XOFF asks for by IngressConfig's Pause.
func quantaOf(pause units.Time, rate units.Rate) uint16 {
	if pause > 0 {
		return max(1, Quanta(pause, rate))
	}
	return MaxQuanta
}

// Paused is how long an XOFF pauses the peer on a link of rate r by IngressConfig's Pause, and spare how much later
// than at its time the refresh may reach the peer without that it goes on meanwhile.
func Paused(pause units.Time, r units.Rate) (lasts, spare units.Time) {
	lasts = Duration(quantaOf(pause, r), r)
	return lasts, lasts - lasts/2
}

// StopPeer has the peer paused from now on, whatever is buffered, and whatever is configured meanwhile, or ends that.
// The caller looks at Next afterwards.
func (g *Ingress) StopPeer(stop bool) {
	if g.stopped = stop; stop {
		g.xoffCheck |= g.enabled
	} else {
		g.pool.Await(0)
	}
}

// Relink says that the port has a new link, whose peer knows of no pause. Before it obeys one it may send as much as
// the whole headroom: so what is in headroom moves to the pool, as far as that has room, the room promised to the
// former peer is withdrawn, and an XOFF in force is sent again at once. The caller looks at Next afterwards.
func (g *Ingress) Relink(now units.Time) {
	g.pool.Await(0)
	for p := range Classes {
		k := &g.class[p]
		if g.peerStopped>>p&1 != 0 {
			g.refresh[p] = now
		}
		if g.enabled>>p&1 == 0 {
			continue
		}
		g.limits[p].room = g.limits[p].headroom
		if k.head > 0 {
			pooled, headed := g.pooled(uint8(p)), g.headed(uint8(p))
			provided := max(0, k.head-g.limits[p].headroom) // by the pool already
			moved := min(k.head, max(0, k.xoff-k.base)+provided+g.pool.Free())
			k.base, k.head = k.base+moved, k.head-moved
			g.chargePools(uint8(p), pooled, headed)
			g.xoffCheck |= 1 << p
		}
	}
}

// Unlink says that the port was removed: no peer is paused, and counters begin at zero. What is buffered stays accounted
// until it is released.
func (g *Ingress) Unlink() {
	g.peerStopped, g.xoffCheck, g.refused, g.stopped, g.count = 0, 0, 0, false, IngressCounters{}
	g.headsMax = 0
	for p := range g.class {
		g.class[p].peak = 0
	}
}
