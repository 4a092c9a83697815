package ratelimit

import (
	"fmt"

	"photon/internal/memory"
	"photon/units"
)

// MlxParams are DCQCN's reaction point as ConnectX cards have it, in the form of
// the HPCC simulator's mode 1.
type MlxParams struct {
	Line       units.Rate
	Min        units.Rate
	AI         units.Rate
	HAI        units.Rate
	G          float64    // weight of the newest sample in alpha
	AlphaTimer units.Time // alpha is renewed so often; 1 us
	CutTimer   units.Time // at most one cut in this time (rate_reduce_monitor_period); 4 us
	RateTimer  units.Time // between two increases (rpg_time_reset); 300 us
	Threshold  int        // increases of fast recovery (rpg_threshold); 1
	Clamp      bool       // every cut lowers the target (clamp_tgt_rate); false
}

// Validate says what is wrong with the parameters, in one line.
func (p MlxParams) Validate() error {
	switch {
	case p.Line <= 0:
		return fmt.Errorf("line rate %v must be positive", p.Line)
	case p.Min <= 0 || p.Min > p.Line:
		return badMin(p.Min, p.Line)
	case badSteps(p.AI, p.HAI, p.Line) != nil:
		return badSteps(p.AI, p.HAI, p.Line)
	case badG(p.G) != nil:
		return badG(p.G)
	case min(p.AlphaTimer, p.CutTimer, p.RateTimer) < shortest:
		return fmt.Errorf("alpha_timer %v, cut_timer %v and rate_timer %v must be at least %v",
			p.AlphaTimer, p.CutTimer, p.RateTimer, shortest)
	case p.Threshold < 0:
		return fmt.Errorf("threshold %d must not be negative", p.Threshold)
	}
	return nil
}

// Mlx reacts to CNPs at the ticks of two free-running timers that the first CNP
// starts: at one it renews alpha, at the other it cuts. A third begins anew at
// every cut and increases. There is no byte counter.
//
// Products are converted to float64 one by one, see PCN.
type Mlx struct {
	params    *MlxParams
	rc, rt    float64
	alpha     float64
	limited   bool // a CNP has come
	alphaSeen bool // a CNP since the last tick of the alpha timer
	cutSeen   bool // a CNP since the last tick of the cut timer
	stage     int  // increases since the last cut
	alphaAt   units.Time
	cutAt     units.Time
	rateAt    units.Time
}

var _ interface {
	Starter
	Steady
} = (*Mlx)(nil)

// NewMlx returns the reaction point of one flow; many may share p.
func NewMlx(p *MlxParams) *Mlx {
	m := memory.Alone[Mlx]()
	m.params = p
	m.Start(0)
	return m
}

// Start begins at line rate, unlimited.
func (m *Mlx) Start(units.Time) {
	line := float64(m.params.Line)
	*m = Mlx{params: m.params, rc: line, rt: line, rateAt: units.Never}
}

// Rate is R_C after all timers up to now.
func (m *Mlx) Rate(now units.Time) units.Rate {
	m.advance(now)
	return units.Rate(m.rc)
}

// Notify notes a CNP for the next ticks. The first sets alpha to 1 and starts
// the timers; the cut's is a nanosecond late, so that at common ticks alpha
// comes first.
func (m *Mlx) Notify(now units.Time, _ uint8, _ uint32) {
	m.advance(now)
	m.cutSeen = true
	if m.limited {
		m.alphaSeen = true
		return
	}
	m.limited, m.alpha = true, 1
	m.alphaAt = now + m.params.AlphaTimer
	m.cutAt = now + m.params.CutTimer + units.Nanosecond
}

// Sent does nothing: there is no byte counter.
func (m *Mlx) Sent(units.Time, int) {}

// advance lets the timers tick that are due at now. Alpha and the increases do not know of each other, so only a cut
// has to find both as they are at its instant. At most one of its ticks has seen a CNP, because Notify advances first.
// A cut and an increase at one instant: the increase first, which was set up earlier.
func (m *Mlx) advance(now units.Time) {
	if !m.limited {
		return
	}
	if m.cutSeen && m.cutAt <= now {
		m.renewAlpha(m.cutAt)
		m.recover(m.cutAt)
		m.cut()
		m.cutAt += m.params.CutTimer
	}
	m.renewAlpha(now)
	m.recover(now)
	m.cutAt += ticks(m.cutAt, m.params.CutTimer, now) * m.params.CutTimer
}

// renewAlpha lets the alpha timer tick. Of the ticks only the first can have seen a CNP.
func (m *Mlx) renewAlpha(now units.Time) {
	n, g := ticks(m.alphaAt, m.params.AlphaTimer, now), m.params.G
	m.alphaAt += n * m.params.AlphaTimer
	if n > 0 && m.alphaSeen {
		m.alpha = float64((1-g)*m.alpha) + g
		m.alphaSeen = false
		n--
	}
	m.alpha = decay(m.alpha, g, n)
}

// recover lets the timer of the increases tick.
func (m *Mlx) recover(now units.Time) {
	n := ticks(m.rateAt, m.params.RateTimer, now)
	if n == 0 {
		return // there may be no such timer yet
	}
	m.rateAt += n * m.params.RateTimer
	for n > 0 {
		rc, rt := m.rc, m.rt
		m.increase()
		n--
		if m.rc != rc || m.rt != rt {
			continue
		}
		// Increases of the same kind change nothing either, and none does at line rate.
		f, same := m.params.Threshold, units.Time(0)
		switch {
		case m.rt == float64(m.params.Line) || m.stage > f+1:
			same = n
		case m.stage < f:
			same = min(n, units.Time(f-m.stage))
		}
		m.stage += int(same)
		n -= same
	}
}

func (m *Mlx) cut() {
	m.cutSeen = false
	if m.params.Clamp || m.stage != 0 {
		m.rt = m.rc
	}
	m.rc = max(float64(m.params.Min), float64(m.rc*(1-m.alpha/2)))
	m.stage = 0
	m.rateAt = m.cutAt + m.params.RateTimer
}

// increase: fast recovery below the threshold, additive at it, hyper beyond,
// with a step that does not grow.
func (m *Mlx) increase() {
	switch {
	case m.stage < m.params.Threshold:
	case m.stage == m.params.Threshold:
		m.rt += float64(m.params.AI)
	default:
		m.rt += float64(m.params.HAI)
	}
	m.rt = min(m.rt, float64(m.params.Line))
	m.rc = (m.rt + m.rc) / 2
	m.stage++
}

// StartAt begins at a rate that is also the target, with timers that begin; as
// after the first CNP, alpha is 1.
func (m *Mlx) StartAt(now units.Time, rate units.Rate) {
	m.Start(now)
	p := m.params
	m.rc = within(rate, p.Min, p.Line)
	m.rt = m.rc
	m.limited, m.alpha = true, 1
	m.alphaAt = now + p.AlphaTimer
	m.cutAt = now + p.CutTimer + units.Nanosecond
	m.rateAt = now + p.RateTimer
}

// Steady is true before the first CNP.
func (m *Mlx) Steady() bool { return !m.limited }

// Rebase implements units.Rebaser.
func (m *Mlx) Rebase(by units.Time) {
	m.alphaAt.Rebase(by)
	m.cutAt.Rebase(by)
	m.rateAt.Rebase(by)
}
