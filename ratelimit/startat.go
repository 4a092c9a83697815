package ratelimit

import "photon/units"

// Starter is an RP that can begin a flow below line rate, as if congestion had
// brought it there before: experiments begin with flows in their fair shares.
// What else such a past would have left behind is as after Start: DCQCN's alpha
// is 1, PCN's weight the smallest.
type Starter interface {
	RP
	StartAt(now units.Time, rate units.Rate)
}

var (
	_ Starter = (*PCN)(nil)
	_ Starter = (*QCN)(nil)
	_ Starter = (*DCQCN)(nil)
	_ Starter = (*TCD)(nil)
	_ Starter = (*DCQCNPlus)(nil)
	_ Starter = (*Mlx)(nil)
	_ Starter = (*IBCC)(nil)
	_ Starter = (*Timely)(nil)
	_ Starter = (*HPCC)(nil)
)

// within keeps a rate between the smallest and the line's.
func within(rate, low, line units.Rate) float64 { return float64(min(max(rate, low), line)) }

// StartAt begins at a rate.
func (p *PCN) StartAt(now units.Time, rate units.Rate) {
	p.Start(now)
	p.rate = within(rate, p.params.Min, p.params.Line)
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

// StartAt begins at a rate that is also the target, with timers that begin.
func (d *DCQCN) StartAt(now units.Time, rate units.Rate) {
	d.Start(now)
	d.rc = within(rate, d.params.Min, d.params.Line)
	d.rt = d.rc
	d.limited = true
	d.alphaTimer = now + d.params.AlphaTimer
	d.rateTimer = now + d.params.RateTimer
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

// StartAt begins at the highest rate of the table that is no higher, or at the limit; an index that is shared stays
// what it is if it is higher.
func (b *IBCC) StartAt(now units.Time, rate units.Rate) {
	b.Start(now)
	i := b.params.Min
	for i < b.params.Limit && b.params.Table.Rate(i, b.params.Line) > rate {
		i++
	}
	at := b.at()
	at.raise(now, max(0, i-at.index))
}

// StartAt begins at a rate.
func (t *Timely) StartAt(now units.Time, rate units.Rate) {
	t.Start(now)
	t.rate = within(rate, t.params.Min, t.params.Line)
}

// StartAt begins with the window that makes a rate.
func (x *PowerTCP) StartAt(now units.Time, rate units.Rate) {
	x.Start(now)
	x.w = x.full() * within(rate, x.params.Min, x.params.Line) / float64(x.params.Line)
	x.old = x.w
}

// StartAt begins with the window that makes a rate.
func (h *HPCC) StartAt(now units.Time, rate units.Rate) {
	h.Start(now)
	h.w = h.full() * within(rate, h.params.Min, h.params.Line) / float64(h.params.Line)
	h.wc = h.w
}
