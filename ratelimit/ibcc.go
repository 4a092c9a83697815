package ratelimit

import (
	"fmt"

	"photon/internal/memory"
	"photon/units"
	"photon/wire"
)

// CCT is a congestion control table: each entry has a shift in its upper two bits and a multiplier in the other
// fourteen. After a packet the sender waits so many times the packet's own time, multiplier/2^shift (annex A10.2.2).
type CCT []uint16

// NewCCT returns a table up to the index limit in which entry i is i times a multiplier, with a shift.
func NewCCT(limit, multiplier, shift int) (CCT, error) {
	switch {
	case limit < 0 || limit > 16383:
		return nil, fmt.Errorf("ccti_limit %d must be from 0 to 16383", limit)
	case multiplier < 0 || multiplier > 0x3FFF || limit*multiplier > 0x3FFF:
		return nil, fmt.Errorf("entry %d is %d times %d: a multiplier has 14 bits, 0 to 16383", limit, limit, multiplier)
	case shift < 0 || shift > 3:
		return nil, fmt.Errorf("shift %d has 2 bits, 0 to 3", shift)
	}
	t := make(CCT, limit+1)
	for i := range t {
		t[i] = uint16(shift<<14 | i*multiplier)
	}
	return t, nil
}

// Rate is what an entry leaves of a line.
func (t CCT) Rate(i int, line units.Rate) units.Rate {
	shift, multiplier := t[i]>>14, t[i]&0x3FFF
	return line << shift / (1<<shift + units.Rate(multiplier))
}

// CCTUnit is what CCTI_Timer counts.
const CCTUnit = 1024 * units.Nanosecond

// IBCCParams are the reaction point of InfiniBand, the attributes CACongestionSetting and CongestionControlTable of a
// channel adapter (InfiniBand Architecture Specification, volume 1, annex A10).
type IBCCParams struct {
	Line     units.Rate
	Table    CCT
	Increase int        // CCTI_Increase, of the index at a BECN
	Limit    int        // CCTI_Limit, the largest index
	Min      int        // CCTI_Min, the smallest
	Timer    units.Time // CCTI_Timer: so often the index falls by one
	Shared   bool       // Port_Control: one index for all flows of a priority, instead of one for each
	Ternary  bool       // a notice with TCD's UE only holds
}

// Validate says what is wrong with the parameters, in one line.
func (p IBCCParams) Validate() error {
	switch {
	case p.Line <= 0:
		return fmt.Errorf("line rate %v must be positive", p.Line)
	case p.Increase < 0 || p.Increase > 255:
		return fmt.Errorf("ccti_increase %d must be from 0 to 255", p.Increase)
	case p.Min < 0 || p.Min > p.Limit || p.Min > 255:
		return fmt.Errorf("ccti_min %d must be from 0 to 255, and at most ccti_limit %d", p.Min, p.Limit)
	case p.Limit >= len(p.Table):
		return fmt.Errorf("ccti_limit %d must be below the %d entries of the table", p.Limit, len(p.Table))
	case p.Timer <= 0 || p.Timer > 65535*CCTUnit:
		return fmt.Errorf("ccti_timer %v must be positive and at most 65535 times %v", p.Timer, CCTUnit)
	}
	return nil
}

// ccti is an index into a table, and its timer. The timer begins at a BECN, goes on until the index has come down, and
// no other BECN moves it, as in Linux's driver of a channel adapter (hfi1).
type ccti struct {
	of     *IBCCParams
	index  int
	falls  units.Time // when the timer expires next; Never: it does not run
	frozen bool       // that will not lower the index
}

func (c *ccti) begin(p *IBCCParams) { *c = ccti{of: p, index: p.Min, falls: units.Never} }

func (c *ccti) advance(now units.Time) {
	for c.falls <= now {
		if !c.frozen {
			c.index--
		}
		c.frozen = false
		if c.falls += c.of.Timer; c.index <= c.of.Min {
			c.falls = units.Never
		}
	}
}

func (c *ccti) raise(now units.Time, by int) {
	c.advance(now)
	if c.index = min(c.index+by, c.of.Limit); c.index > c.of.Min && c.falls == units.Never {
		c.falls = now + c.of.Timer
	}
}

func (c *ccti) freeze(now units.Time) {
	c.advance(now)
	c.frozen = c.falls != units.Never
}

// IBCC is the reaction point of InfiniBand's congestion control: a BECN, here a CNP, moves a flow up a table of ever
// lower rates, and a timer moves it down again.
//
// Behind TCD's switches a notice that tells of undetermined ports only leaves the index alone, and the timer's next
// expiry lowers nothing.
type IBCC struct {
	params *IBCCParams
	own    ccti
	port   *Port // whose index it goes by; nil: its own
}

var _ interface {
	Starter
	Steady
} = (*IBCC)(nil)

// NewIBCC returns the reaction point of one flow behind a port; many may share p.
func NewIBCC(p *IBCCParams, port *Port) *IBCC {
	b := memory.Alone[IBCC]()
	b.params = p
	if b.own.begin(p); p.Shared && port != nil {
		if b.port = port; port.ccti.of != p {
			port.ccti.begin(p)
		}
	}
	return b
}

func (b *IBCC) at() *ccti {
	if b.port != nil {
		return &b.port.ccti
	}
	return &b.own
}

// Start begins with the smallest index; one that is shared stays what it is.
func (b *IBCC) Start(units.Time) { b.own.begin(b.params) }

// Rate is what the table has at the index, after all expiries of the timer up to now.
func (b *IBCC) Rate(now units.Time) units.Rate {
	at := b.at()
	at.advance(now)
	return b.params.Table.Rate(at.index, b.params.Line)
}

// Notify is a BECN, or what TCD tells.
func (b *IBCC) Notify(now units.Time, ecn uint8, _ uint32) {
	b.onMark(now, !b.params.Ternary || ecn == wire.CE)
}

func (b *IBCC) onMark(now units.Time, congested bool) {
	if at := b.at(); congested {
		at.raise(now, b.params.Increase)
	} else {
		at.freeze(now)
	}
}

// Sent does nothing.
func (b *IBCC) Sent(units.Time, int) {}

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

// Steady is true while the index is the smallest, unless other flows may move it.
func (b *IBCC) Steady() bool { return b.port == nil && b.own.falls == units.Never }

// Rebase implements units.Rebaser. An index that is shared is the port's.
func (b *IBCC) Rebase(by units.Time) { b.own.falls.Rebase(by) }

// AckedIBCC is IBCC where acknowledgements bring BECN back.
type AckedIBCC struct{ *IBCC }

var _ Acker = AckedIBCC{}

// Ack takes the mark that an acknowledged packet had.
func (b AckedIBCC) Ack(now units.Time, a *Ack) {
	if a.CE || a.UE && b.params.Ternary {
		b.onMark(now, a.CE)
	}
}

// Steady is false: an acknowledgement may change the rate at any time.
func (AckedIBCC) Steady() bool { return false }
