package ratelimit

import (
	"fmt"
	"math/rand/v2"

	"photon/internal/memory"
	"photon/units"
)

// QCNParams are the reaction point of QCN (IEEE 802.1Q clause 30.3; defaults of
// its MIB, IEEE8021-CN-MIB).
type QCNParams struct {
	Line      units.Rate // rpgMaxRate: line rate
	Min       units.Rate // rpgMinRate; 5 Mbit/s
	AI        units.Rate // rpgAiRate; 5 Mbit/s
	HAI       units.Rate // rpgHaiRate; 50 Mbit/s
	Gd        float64    // rpgGd: a feedback of 63 cuts by 63 Gd; 1/128
	MinDec    float64    // rpgMinDecFac: one notification cuts no lower; 1/2
	ByteReset units.Size // rpgByteReset: of a cycle of the byte counter; 150 000 B
	TimeReset units.Time // rpgTimeReset: of a cycle of the timer; 15 ms
	Threshold int        // rpgThreshold: cycles of fast recovery; 5
	Jitter    float64    // of both resets: from 1-j to 1+j; 0.15
}

// Validate says what is wrong with the parameters, in one line.
func (p QCNParams) Validate() error {
	switch {
	case p.Line <= 0:
		return fmt.Errorf("line rate %v must be positive", p.Line)
	case p.Min <= 0 || p.Min > p.Line:
		return badMin(p.Min, p.Line)
	case badSteps(p.AI, p.HAI, p.Line) != nil:
		return badSteps(p.AI, p.HAI, p.Line)
	case !(p.Gd > 0 && p.Gd <= 1./64):
		return fmt.Errorf("gd %v must be above 0 and at most 1/64", p.Gd)
	case !(p.MinDec > 0 && p.MinDec <= 1):
		return fmt.Errorf("smallest factor %v must be above 0 and at most 1", p.MinDec)
	case p.ByteReset <= 0 || p.TimeReset < shortest:
		return fmt.Errorf("byte reset %v must be positive, and time reset %v at least 1us", p.ByteReset, p.TimeReset)
	case p.Threshold < 1:
		return fmt.Errorf("threshold %d must be at least 1", p.Threshold)
	case !(p.Jitter >= 0 && p.Jitter < 1):
		return fmt.Errorf("jitter %v must be from 0 to below 1", p.Jitter)
	}
	return nil
}

// QCN is a rate limiter that a flow is associated with at its first CNM and
// released from when the rate is the line's again. It cuts by the feedback and
// recovers in cycles, counted by bytes and by time.
//
// Products are converted to float64 one by one, see PCN.
type QCN struct {
	params     *QCNParams
	crate      float64 // current rate, bit/s
	trate      float64 // target rate
	associated bool
	byteStage  int
	timeStage  int
	bytes      float64    // left in the byte counter's cycle
	timer      units.Time // when the timer's cycle ends
	random     rand.PCG
}

var _ interface {
	Starter
	Steady
} = (*QCN)(nil)

// NewQCN returns the reaction point of one flow with its own random sequence,
// given by seed; many may share p.
func NewQCN(p *QCNParams, seed uint64) *QCN {
	q := memory.Alone[QCN]()
	q.params = p
	q.random.Seed(seed, 0x9C42)
	q.Start(0)
	return q
}

// Start begins at line rate, without a limiter.
func (q *QCN) Start(units.Time) {
	q.crate, q.trate = float64(q.params.Line), float64(q.params.Line)
	q.associated = false
}

// Rate is the current rate after all cycles up to now.
func (q *QCN) Rate(now units.Time) units.Rate {
	q.advance(now)
	return units.Rate(q.crate)
}

// Notify cuts the rate by a CNM's feedback, 1 to 63, and begins fast recovery.
// Only a CNM after the first cycle of the byte counter makes the rate before it
// the target: several in a row are one event.
func (q *QCN) Notify(now units.Time, _ uint8, word uint32) {
	if word == 0 {
		return
	}
	q.advance(now)
	p := q.params
	if !q.associated {
		q.associated = true
		q.crate, q.trate = float64(p.Line), float64(p.Line)
		q.byteStage = 0
		q.bytes = q.jitter() * float64(p.ByteReset)
	}
	if q.byteStage != 0 {
		q.trate = q.crate
		q.bytes = q.jitter() * float64(p.ByteReset)
	}
	q.byteStage, q.timeStage = 0, 0
	q.crate = max(float64(p.Min), float64(q.crate*max(1-p.Gd*float64(min(word, 63)), p.MinDec)))
	q.timer = now + units.Time(q.jitter()*float64(p.TimeReset))
}

// Sent counts down the byte counter's cycle.
func (q *QCN) Sent(now units.Time, bytes int) {
	q.advance(now)
	if !q.associated {
		return
	}
	if q.bytes -= float64(bytes); q.bytes >= 0 {
		return
	}
	q.byteStage++
	reset := float64(q.params.ByteReset)
	if q.byteStage >= q.params.Threshold {
		reset /= 2
	}
	q.bytes = q.jitter() * reset
	q.increase()
}

// advance lets the timer's cycles end that are due at now.
func (q *QCN) advance(now units.Time) {
	for q.associated && q.timer <= now {
		crate, trate := q.crate, q.trate
		q.timeStage++
		reset := float64(q.params.TimeReset)
		if q.timeStage >= q.params.Threshold {
			reset /= 2
		}
		q.timer += units.Time(q.jitter() * reset)
		if q.increase(); q.crate == crate && q.trate == trate {
			q.skip(now, units.Time(reset))
		}
	}
}

// fewCycles are gone through one by one even if they change nothing: each draws from the random sequence.
const fewCycles = 1000

// skip takes the cycles together that change nothing, after one that changed nothing: what is left of fast recovery, or
// all if the timer's is the higher count. They are as long as cycles are without jitter.
func (q *QCN) skip(now, reset units.Time) {
	n, f := ticks(q.timer, reset, now)-fewCycles, q.params.Threshold
	switch {
	case q.timeStage < f && q.byteStage < f:
		n = min(n, units.Time(f-1-q.timeStage))
	case q.timeStage <= max(f, q.byteStage):
		return
	}
	if n > 0 {
		q.timeStage += int(n)
		q.timer += n * reset
	}
}

// increase is the end of a cycle: fast recovery while both counts are below the
// threshold, active increase when one has reached it, hyper-active when both
// have. In the first cycle a target far above the rate is lowered instead
// (extra fast recovery).
func (q *QCN) increase() {
	p, f := q.params, q.params.Threshold
	step := 0.0
	switch low, high := min(q.byteStage, q.timeStage), max(q.byteStage, q.timeStage); {
	case low >= f:
		step = float64(p.HAI) * float64(low-f+1)
	case high >= f:
		step = float64(p.AI)
	}
	if (q.byteStage == 1 || q.timeStage == 1) && q.trate > 10*q.crate {
		q.trate /= 8
	} else {
		q.trate = min(q.trate+step, float64(p.Line))
	}
	q.crate = min((q.crate+q.trate)/2, float64(p.Line))
	if q.crate >= float64(p.Line) {
		q.associated = false
	}
}

// jitter is a factor from 1-j to 1+j.
func (q *QCN) jitter() float64 {
	return 1 + float64(q.params.Jitter*(float64(q.random.Uint64()>>11)/(1<<52)-1))
}

// StartAt begins at a rate, with a limiter whose cycles begin.
func (q *QCN) StartAt(now units.Time, rate units.Rate) {
	q.Start(now)
	p := q.params
	if q.crate = within(rate, p.Min, p.Line); q.crate >= float64(p.Line) {
		return
	}
	q.trate = q.crate
	q.associated, q.byteStage, q.timeStage = true, 0, 0
	q.bytes = q.jitter() * float64(p.ByteReset)
	q.timer = now + units.Time(q.jitter()*float64(p.TimeReset))
}

// Steady is true while no limiter is associated with the flow.
func (q *QCN) Steady() bool { return !q.associated }

// Rebase implements units.Rebaser.
func (q *QCN) Rebase(by units.Time) { q.timer.Rebase(by) }
