package ratelimit

import (
	"photon/internal/memory"
	"photon/units"
	"photon/wire"
)

// TCD is DCQCN's reaction point behind TCD's switches: a CNP with CE is an
// ordinary one; one with UE only says that the flow met pauses that are not its
// doing. It leaves rate and alpha alone, and recovery begins anew. From the first of either kind alpha decays.
type TCD struct {
	DCQCN
	Clamp bool // such a CNP also makes the current rate the target
}

var _ interface {
	Starter
	Steady
} = (*TCD)(nil)

// NewTCD returns the reaction point of one flow; many may share p.
func NewTCD(p *DCQCNParams, clamp bool) *TCD {
	t := memory.Alone[TCD]()
	t.DCQCN, t.Clamp = *NewDCQCN(p), clamp
	return t
}

// Notify cuts at CE and holds at UE.
func (t *TCD) Notify(now units.Time, ecn uint8, word uint32) {
	if ecn == wire.CE {
		t.DCQCN.Notify(now, ecn, word)
		return
	}
	t.advance(now)
	if t.Clamp {
		t.rt = t.rc
	}
	t.restart(now)
}
