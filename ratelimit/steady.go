package ratelimit

import "photon/units"

// Steady is an RP that may tell that its rate stays as it is until it is started
// or notified again, and that it has no use for Sent until then. A host with many
// flows keeps such a rate beside the flow's timer, where no frame has to wait for
// the RP's memory.
type Steady interface {
	RP
	Steady() bool
}

var (
	_ Steady = Unlimited{}
	_ Steady = (*PCN)(nil)
	_ Steady = (*QCN)(nil)
	_ Steady = (*DCQCN)(nil)
	_ Steady = (*TCD)(nil)
	_ Steady = (*DCQCNPlus)(nil)
	_ Steady = (*Mlx)(nil)
	_ Steady = (*IBCC)(nil)
)

// Steady is true: nothing happens.
func (Unlimited) Steady() bool { return true }

// Steady is true: all that PCN's sender does, it does at a CNP.
func (*PCN) Steady() bool { return true }

// Steady is true while no limiter is associated with the flow.
func (q *QCN) Steady() bool { return !q.associated }

// Steady is true before the first CNP.
func (d *DCQCN) Steady() bool { return !d.limited }

// Steady is true before the first CNP.
func (d *DCQCNPlus) Steady() bool { return !d.limited }

// Steady is true before the first CNP.
func (m *Mlx) Steady() bool { return !m.limited }

// Steady is true while the index is the smallest, unless other flows may move it.
func (b *IBCC) Steady() bool { return b.port == nil && b.own.falls == units.Never }

// Steady is false: an acknowledgement may change the rate at any time.
func (AckedIBCC) Steady() bool { return false }
