package pfc

import "photon/units"

// Pause is one time for which a priority was stopped on a link, from the frame that stopped it to the one, or the end
// of the time, that let it go on; refreshes do not end it.
type Pause struct {
	From     units.Time
	Until    units.Time // Never: it lasts
	Priority uint8
	Sent     bool // the port stopped its peer; else the peer stopped the port
}

// History is the last pauses of a port that have ended, in the order of their ends: a ring of fixed size. The port's
// worker writes it. What a ring has lost it counts, so that what is in it is all there was since.
type History struct {
	ring []Pause
	ever uint64
}

// NewHistory returns one for so many pauses; nil for none, which is a History that keeps nothing.
func NewHistory(pauses int) *History {
	if pauses <= 0 {
		return nil
	}
	return &History{ring: make([]Pause, pauses)}
}

// add keeps a pause that has ended.
func (h *History) add(p Pause) {
	if h == nil {
		return
	}
	h.ring[h.ever%uint64(len(h.ring))] = p
	h.ever++
}

// Ended appends the pauses that are kept to list, oldest first, and returns it and how many ended ever.
func (h *History) Ended(list []Pause) ([]Pause, uint64) {
	if h == nil {
		return list, 0
	}
	n := uint64(len(h.ring))
	for i := h.ever - min(h.ever, n); i < h.ever; i++ {
		list = append(list, h.ring[i%n])
	}
	return list, h.ever
}

// Rebase implements units.Rebaser.
func (h *History) Rebase(by units.Time) {
	if h == nil {
		return
	}
	for i := range h.ring {
		h.ring[i].From.Rebase(by)
		h.ring[i].Until.Rebase(by)
	}
}

// Lasting appends the pauses of a port that its peer asked for and that last now, or whose time has run out since
// somebody called Expire.
func (e *Egress) Lasting(now units.Time, list []Pause) []Pause {
	for p := range Classes {
		if e.paused>>p&1 == 0 {
			continue
		}
		x := Pause{From: e.since[p], Until: units.Never, Priority: uint8(p)}
		if e.until[p] <= now {
			x.Until = e.until[p]
		}
		list = append(list, x)
	}
	return list
}

// Lasting appends the pauses that the port asked its peer for and that last now.
func (g *Ingress) Lasting(list []Pause) []Pause {
	for p := range Classes {
		if g.peerStopped>>p&1 != 0 {
			list = append(list, Pause{From: g.since[p], Until: units.Never, Priority: uint8(p), Sent: true})
		}
	}
	return list
}

// SetHistory has pauses that end be kept; nil: no more.
func (e *Egress) SetHistory(h *History) { e.history = h }

// SetHistory has pauses that end be kept; nil: no more.
func (g *Ingress) SetHistory(h *History) { g.history = h }
