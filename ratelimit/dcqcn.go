package ratelimit

import (
	"fmt"

	"photon/internal/memory"
	"photon/units"
)

// DCQCNParams are the reaction point of DCQCN in the paper's form (SIGCOMM'15
// section 3.3 and figure 7).
type DCQCNParams struct {
	Line       units.Rate // line rate: where flows start and what they cannot exceed
	Min        units.Rate // R_min: a cut never goes below
	AI         units.Rate // R_AI: additive increase of the target rate
	HAI        units.Rate // R_HAI: hyper increase of the target rate, per stage
	G          float64    // g: weight of the newest sample in alpha
	AlphaTimer units.Time // K: without a CNP for so long, alpha decays
	RateTimer  units.Time // T: time between two steps of the timer's increase
	ByteCount  units.Size // B: bytes between two steps of the counter's increase
	Threshold  int        // F: steps of fast recovery
	Alpha      float64    // where alpha begins; 0: at 1, the paper's
	AlphaFirst bool       // a CNP raises alpha before the cut, not after it
}

// Validate says what is wrong with the parameters, in one line.
func (p DCQCNParams) Validate() error {
	switch {
	case p.Line <= 0:
		return fmt.Errorf("line rate %v must be positive", p.Line)
	case p.Min <= 0 || p.Min > p.Line:
		return badMin(p.Min, p.Line)
	case badSteps(p.AI, p.HAI, p.Line) != nil:
		return badSteps(p.AI, p.HAI, p.Line)
	case badG(p.G) != nil:
		return badG(p.G)
	case min(p.AlphaTimer, p.RateTimer) < shortest:
		return fmt.Errorf("alpha_timer %v and rate_timer %v must be at least %v", p.AlphaTimer, p.RateTimer, shortest)
	case p.ByteCount < fewestBytes:
		return fmt.Errorf("byte counter %v must be at least %v", p.ByteCount, fewestBytes)
	case p.Threshold < 1:
		return fmt.Errorf("threshold %d must be at least 1", p.Threshold)
	case !(p.Alpha >= 0 && p.Alpha <= 1):
		return fmt.Errorf("alpha %v to begin with must be from 0 to 1", p.Alpha)
	}
	return nil
}

// DCQCN cuts by alpha/2 at a CNP and recovers in stages, driven by a timer and
// a byte counter. Before its first CNP a flow is not limited.
//
// Products are converted to float64 one by one, see PCN.
type DCQCN struct {
	params     *DCQCNParams
	rc, rt     float64 // current and target rate, bit/s
	alpha      float64
	limited    bool // a CNP has come
	timeStage  int  // expiries of the timer since the last CNP
	byteStage  int  // expiries of the byte counter since the last CNP
	bytes      units.Size
	alphaTimer units.Time // when alpha decays next
	rateTimer  units.Time // when the timer expires next
}

var _ interface {
	Starter
	Steady
} = (*DCQCN)(nil)

// NewDCQCN returns the reaction point of one flow; many may share p.
func NewDCQCN(p *DCQCNParams) *DCQCN {
	d := memory.Alone[DCQCN]()
	d.params = p
	d.Start(0)
	return d
}

// Start begins at line rate, with alpha 1 unless it is said otherwise.
func (d *DCQCN) Start(units.Time) {
	line, alpha := float64(d.params.Line), d.params.Alpha
	if alpha == 0 {
		alpha = 1
	}
	*d = DCQCN{params: d.params, rc: line, rt: line, alpha: alpha}
}

// Rate is R_C after all timers up to now.
func (d *DCQCN) Rate(now units.Time) units.Rate {
	d.advance(now)
	return units.Rate(d.rc)
}

// Notify cuts the rate at a CNP: R_T = R_C, R_C = R_C(1-alpha/2), alpha = (1-g)alpha + g;
// stages and timers start again (equation 1). In the authors' simulator alpha changes first.
func (d *DCQCN) Notify(now units.Time, _ uint8, _ uint32) {
	d.advance(now)
	g := d.params.G
	alpha := float64((1-g)*d.alpha) + g
	if d.params.AlphaFirst {
		d.alpha = alpha
	}
	d.rt = d.rc
	d.rc = max(float64(d.rc*(1-d.alpha/2)), float64(d.params.Min))
	d.alpha = alpha
	d.restart(now)
}

// restart begins recovery: stages and timers from their beginnings.
func (d *DCQCN) restart(now units.Time) {
	d.limited = true
	d.timeStage, d.byteStage, d.bytes = 0, 0, 0
	d.alphaTimer = now + d.params.AlphaTimer
	d.rateTimer = now + d.params.RateTimer
}

// Sent counts towards the byte counter.
func (d *DCQCN) Sent(now units.Time, bytes int) {
	if !d.limited {
		return
	}
	d.advance(now)
	for d.bytes += units.Size(bytes); d.bytes >= d.params.ByteCount; d.bytes -= d.params.ByteCount {
		d.byteStage++
		d.increase()
	}
}

// advance lets the timers expire that are due at now. Steps of recovery do not look at alpha, so the order of the two
// does not matter.
func (d *DCQCN) advance(now units.Time) {
	if !d.limited {
		return
	}
	if n := ticks(d.alphaTimer, d.params.AlphaTimer, now); n > 0 {
		d.alpha = decay(d.alpha, d.params.G, n) // equation 2
		d.alphaTimer += n * d.params.AlphaTimer
	}
	if n := ticks(d.rateTimer, d.params.RateTimer, now); n > 0 {
		d.recover(n)
		d.rateTimer += n * d.params.RateTimer
	}
}

// recover is n expiries of the timer.
func (d *DCQCN) recover(n units.Time) {
	for n > 0 {
		rc, rt := d.rc, d.rt
		d.timeStage++
		d.increase()
		n--
		if d.rc != rc || d.rt != rt {
			continue
		}
		// Steps of the same kind change nothing either, and none does at line rate. The timer's stage is the only one
		// that grows here: when it is above F and above the counter's, the kind stays what it is.
		f, same := d.params.Threshold, units.Time(0)
		switch {
		case d.rt == float64(d.params.Line) || d.timeStage > max(f, d.byteStage):
			same = n
		case max(d.timeStage, d.byteStage) < f:
			same = min(n, units.Time(f-1-d.timeStage))
		}
		d.timeStage += int(same)
		n -= same
	}
}

// increase is one step of recovery (equations 3 and 4): fast recovery while
// both counts are below F, hyper increase when both are above, else additive.
func (d *DCQCN) increase() {
	f, line := d.params.Threshold, float64(d.params.Line)
	switch low, high := min(d.timeStage, d.byteStage), max(d.timeStage, d.byteStage); {
	case high < f:
	case low > f:
		d.rt += float64(low-f) * float64(d.params.HAI)
	default:
		d.rt += float64(d.params.AI)
	}
	d.rt = min(d.rt, line)
	d.rc = (d.rt + d.rc) / 2
}

// StartAt begins at a rate that is also the target, with timers that begin.
func (d *DCQCN) StartAt(now units.Time, rate units.Rate) {
	d.Start(now)
	d.rc = within(rate, d.params.Min, d.params.Line)
	d.rt = d.rc
	d.restart(now)
}

// Steady is true before the first CNP.
func (d *DCQCN) Steady() bool { return !d.limited }

// Rebase implements units.Rebaser.
func (d *DCQCN) Rebase(by units.Time) {
	d.alphaTimer.Rebase(by)
	d.rateTimer.Rebase(by)
}
