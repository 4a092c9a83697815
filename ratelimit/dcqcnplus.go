package ratelimit

import (
	"fmt"

	"photon/internal/memory"
	"photon/units"
)

// DCQCNPlusParams are the reaction point of DCQCN+ (ICNP'18 section IV.B.3).
type DCQCNPlusParams struct {
	Line      units.Rate // R_l
	Min       units.Rate // R_min; line rate / 10 000
	G         float64    // as DCQCN
	Timer     units.Time // K and K_alpha as long as CNPs come often; 55 us, DCQCN's
	Short     units.Time // a CNP period above this stretches the timers; 50 us
	Frame     units.Size // M, a full frame on the wire
	Lambda    int        // K = lambda max(tau, M/R_C); 2
	LambdaA   int        // K_alpha = lambda_alpha max(tau, M/R_C); 1
	Threshold int        // F; 5
	Cut       float64    // of alpha: a CNP cuts by no more than this part; 1/2
	Hyper     float64    // multiple of the steps of hyper increase; 1
}

// Validate says what is wrong with the parameters, in one line.
func (p DCQCNPlusParams) Validate() error {
	switch {
	case p.Line <= 0:
		return fmt.Errorf("line rate %v must be positive", p.Line)
	case p.Min <= 0 || p.Min > p.Line:
		return badMin(p.Min, p.Line)
	case badG(p.G) != nil:
		return badG(p.G)
	case min(p.Timer, p.Short) < shortest: // a stretched timer is longer than Short
		return fmt.Errorf("timer %v and short %v must be at least %v", p.Timer, p.Short, shortest)
	case p.Frame <= 0 || p.Threshold < 1:
		return fmt.Errorf("frame %v and threshold %d must be positive", p.Frame, p.Threshold)
	case min(p.Lambda, p.LambdaA) < 1 || max(p.Lambda, p.LambdaA) > mostRounds:
		return fmt.Errorf("factors %d and %d must be from 1 to %d", p.Lambda, p.LambdaA, mostRounds)
	case !(p.Cut > 0 && p.Cut <= 1):
		return fmt.Errorf("largest cut %v must be above 0 and at most 1", p.Cut)
	case !(p.Hyper >= 1./1000 && p.Hyper <= 1000):
		return fmt.Errorf("multiple %v of hyper increase must be from 1/1000 to 1000", p.Hyper)
	}
	return nil
}

// DCQCNPlus cuts as DCQCN does and recovers at the pace at which CNPs can come:
// a CNP says how long a round of the notifying card is. One timer counts the
// state S; steps are parts of the current rate, so that a thousand flows
// together grow no faster than one. While the port's priority is paused, a
// timer that runs out changes nothing.
//
// Products are converted to float64 one by one, see PCN.
type DCQCNPlus struct {
	params  *DCQCNPlusParams
	port    *Port
	rc, rt  float64
	alpha   float64
	limited bool
	tau     units.Time // CNP period, from the last CNP
	state   int        // S
	alphaAt units.Time
	rateAt  units.Time
}

var _ interface {
	Starter
	Steady
} = (*DCQCNPlus)(nil)

// NewDCQCNPlus returns the reaction point of one flow behind a port, which may
// be nil; many may share p.
func NewDCQCNPlus(p *DCQCNPlusParams, port *Port) *DCQCNPlus {
	d := memory.Alone[DCQCNPlus]()
	d.params, d.port = p, port
	d.Start(0)
	return d
}

// Start begins at line rate with alpha 1.
func (d *DCQCNPlus) Start(units.Time) {
	line := float64(d.params.Line)
	*d = DCQCNPlus{params: d.params, port: d.port, rc: line, rt: line, alpha: 1}
}

// Rate is R_C after all timers up to now.
func (d *DCQCNPlus) Rate(now units.Time) units.Rate {
	d.advance(now)
	return units.Rate(d.rc)
}

// Notify cuts (equations 12 to 15); word is the CNP period in nanoseconds.
func (d *DCQCNPlus) Notify(now units.Time, _ uint8, word uint32) {
	d.advance(now)
	g := d.params.G
	d.rt = d.rc
	d.rc = max(float64(d.rc*(1-float64(d.alpha*d.params.Cut))), float64(d.params.Min))
	d.alpha = float64((1-g)*d.alpha) + g
	d.limited, d.state = true, 0
	d.tau = units.Time(word) * units.Nanosecond
	d.alphaAt = now + d.period(d.params.LambdaA)
	d.rateAt = now + d.period(d.params.Lambda)
}

// mostRounds or frames that a timer may take.
const mostRounds = 1000

// period is K or K_alpha (equations 16 and 17). It follows R_C when a timer is
// armed.
func (d *DCQCNPlus) period(lambda int) units.Time {
	if d.tau <= d.params.Short {
		return d.params.Timer
	}
	one := max(d.tau, units.Rate(d.rc).Serialize(d.params.Frame))
	return units.Time(lambda) * min(one, units.Lap/mostRounds) // 38 minutes
}

// Sent does nothing: there is no byte counter.
func (d *DCQCNPlus) Sent(units.Time, int) {}

// advance lets the timers run out that are due at now, in their order; at one
// instant alpha comes first.
func (d *DCQCNPlus) advance(now units.Time) {
	if !d.limited {
		return
	}
	for d.rateAt <= now {
		d.decayAlpha(d.rateAt)
		paused, until := d.port.pausedAt(d.rateAt)
		until = min(until-1, now)
		if paused {
			k := d.period(d.params.Lambda)
			d.rateAt += ticks(d.rateAt, k, until) * k
			continue
		}
		rc, rt := d.rc, d.rt
		d.state++
		d.increase()
		k := d.period(d.params.Lambda)
		if d.rateAt += k; d.rc == rc && d.rt == rt {
			same := d.idle(ticks(d.rateAt, k, until))
			d.state += int(same)
			d.rateAt += same * k
		}
	}
	d.decayAlpha(now)
}

// idle is how many of the next n increases change nothing, after one that changed nothing: none does at line rate, nor
// in what is left of fast recovery.
func (d *DCQCNPlus) idle(n units.Time) units.Time {
	switch f := d.params.Threshold; {
	case d.rt == float64(d.params.Line):
		return n
	case d.state < f:
		return min(n, units.Time(f-d.state))
	}
	return 0
}

// decayAlpha lets the timer of alpha run out. R_C, which says how long it is, stays the same meanwhile.
func (d *DCQCNPlus) decayAlpha(now units.Time) {
	for d.alphaAt <= now {
		paused, until := d.port.pausedAt(d.alphaAt)
		k := d.period(d.params.LambdaA)
		n := ticks(d.alphaAt, k, min(until-1, now))
		if !paused {
			d.alpha = decay(d.alpha, d.params.G, n) // equation 23
		}
		d.alphaAt += n * k
	}
}

// increase is equations 18 to 22.
func (d *DCQCNPlus) increase() {
	f, line := d.params.Threshold, float64(d.params.Line)
	switch s := d.state; {
	case s <= f:
	case s <= 4*f && d.alpha > 0.1:
		d.rt += min(d.rc/5, line/50)
	case s <= 4*f:
		d.rt += min(d.rc/10, line/100)
	default:
		d.rt += float64(d.params.Hyper * min(d.rc, float64(float64(s-4*f)/100)*line))
	}
	d.rt = min(d.rt, line)
	d.rc = (d.rt + d.rc) / 2
}

// StartAt begins at a rate that is also the target, with timers that begin.
func (d *DCQCNPlus) StartAt(now units.Time, rate units.Rate) {
	d.Start(now)
	d.rc = within(rate, d.params.Min, d.params.Line)
	d.rt = d.rc
	d.limited = true
	d.alphaAt = now + d.period(d.params.LambdaA)
	d.rateAt = now + d.period(d.params.Lambda)
}

// Steady is true before the first CNP.
func (d *DCQCNPlus) Steady() bool { return !d.limited }

// Rebase implements units.Rebaser.
func (d *DCQCNPlus) Rebase(by units.Time) {
	d.alphaAt.Rebase(by)
	d.rateAt.Rebase(by)
}
