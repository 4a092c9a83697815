package dataplane

import (
	"errors"
	"fmt"
	"math/bits"

	"photon/pfc"
	"photon/units"
)

// An egress queue, or a whole port, may have a shaper: what leaves keeps within a rate and a burst, in bytes on the wire.
// Shapers say which queues may send; among these the scheduler chooses, strict priorities before those with weights. PFC
// frames, and what the switch says to its neighbours, wait for no shaper and take none of its tokens.

// Shaper is a token bucket. In any time t no more leaves than Burst + Rate*t. The zero value bounds nothing.
type Shaper struct {
	Rate  units.Rate // on the wire
	Burst units.Size // what may leave at once, on the wire; at least a frame of the longest kind
}

// check says what is wrong with a shaper of frames that occupy at most so many bytes.
func (s Shaper) check(longest units.Size) error {
	const most = 1000 // seconds of the rate that a burst may be worth: the arithmetic holds
	switch {
	case s == Shaper{}:
		return nil
	case s.Rate <= 0:
		return errors.New("shaper: it has a positive rate")
	case s.Burst < longest || s.Rate.Serialize(s.Burst) > most*units.Second:
		return fmt.Errorf("shaper: a burst is from the longest frame, %d bytes on the wire, to %d seconds of the rate, not %v", longest, most, s.Burst)
	}
	return nil
}

// shaper is a shaper at work, as the generic cell rate algorithm has it (ITU-T I.371 annex A). A frame may leave when the
// bucket has tokens for a frame of the longest kind, however short it is: so it does not matter which frame is next.
type shaper struct {
	rate units.Rate // 0: there is none
	room units.Time // that the bucket may be from full for a frame to leave
	full units.Time // when it is full again
}

// opens is when the next frame may leave.
func (b *shaper) opens() units.Time { return b.full - b.room }

func (b *shaper) take(now units.Time, bytes units.Size) {
	b.full = max(b.full, now) + b.rate.Serialize(bytes)
}

// shapers are those of a port.
type shapers struct {
	whole       shaper
	byPriority  [pfc.Classes]shaper
	shaped      uint8 // priorities whose queues have one
	counted     uint8 // of these, those whose first frame was counted as one that waits
	portCounted bool  // the same, of the port
}

// setShapers applies the configuration's shapers. An unchanged one keeps its tokens, another starts with a full bucket.
func (p *switchPort) setShapers(was *PortConfig) {
	c, old := p.config, p.shapers
	p.shapers, p.shaped = nil, 0
	x := &shapers{}
	put := func(to, from *shaper, s, before Shaper) bool {
		if s.Rate == 0 {
			return false
		}
		longest := units.Size(c.Link.WireBytes(p.sw.config.longest()))
		*to = shaper{rate: s.Rate, room: s.Rate.Serialize(s.Burst) - s.Rate.Serialize(longest)}
		if from != nil && s == before {
			to.full = from.full
		}
		p.shapers = x
		return true
	}
	if old == nil || was == nil {
		old, was = &shapers{}, &PortConfig{}
	}
	if put(&x.whole, &old.whole, c.Shaper, was.Shaper) {
		p.shaped = 0xFF
	}
	for prio := range x.byPriority {
		if put(&x.byPriority[prio], &old.byPriority[prio], c.Queues[prio].Shaper, was.Queues[prio].Shaper) {
			x.shaped |= 1 << prio
		}
	}
	p.shaped |= x.shaped
	x.counted, x.portCounted = old.counted&x.shaped, old.portCounted && x.whole.rate != 0
}

// open are those of some priorities whose first frame may leave now, and when the first of the others may: Never, if there
// are none. What may not is counted as waiting.
func (p *switchPort) open(now units.Time, ready uint8) (open uint8, next units.Time) {
	x := p.shapers
	next = units.Never
	for rest := ready & p.shaped; rest != 0; rest &= rest - 1 {
		prio := bits.TrailingZeros8(rest)
		at, bit := x.whole.opens(), uint8(1)<<prio
		if at > now && !x.portCounted {
			x.portCounted = true
			p.stats.PortShaped++
		}
		if t := x.byPriority[prio].opens(); x.shaped&bit != 0 && t > now {
			if at = max(at, t); x.counted&bit == 0 {
				x.counted |= bit
				p.stats.Shaped[prio]++
			}
		}
		if at > now {
			ready &^= bit
			next = min(next, at)
		}
	}
	return ready, next
}

// spend takes tokens for so many bytes on the wire that leave.
func (p *switchPort) spend(now units.Time, prio uint8, bytes units.Size) {
	x := p.shapers
	if x.whole.rate != 0 {
		x.whole.take(now, bytes)
		x.portCounted = false
	}
	if x.shaped>>prio&1 != 0 {
		x.byPriority[prio].take(now, bytes)
		x.counted &^= 1 << prio
	}
}

// Rebase implements units.Rebaser.
func (x *shapers) Rebase(by units.Time) {
	x.whole.full.Rebase(by)
	for prio := range x.byPriority {
		x.byPriority[prio].full.Rebase(by)
	}
}
