package marking

import (
	"errors"
	"fmt"

	"photon/units"
)

// WREDParams is weighted random early detection on a queue of lossy frames: the curve of RED, by which
// ECN-capable frames are marked as they leave, and others dropped as they come. SONiC calls it a WRED profile. The
// zero value is none.
type WREDParams struct {
	REDParams
	NoECN  bool // ECN-capable frames are dropped as the others are, not marked
	NoDrop bool // frames that are not ECN-capable are left to the queue's limit
}

// Validate says what is wrong with the parameters, in one line.
func (p WREDParams) Validate() error {
	switch {
	case p == WREDParams{}:
		return nil
	case p.Kmax <= 0:
		return fmt.Errorf("kmax %v must be positive", p.Kmax)
	case p.NoECN && p.NoDrop:
		return errors.New("ecn and drop are both off: it would do nothing")
	}
	return p.REDParams.Validate()
}

// WRED is what WREDParams say, of one queue. Marks and drops are drawn from sequences of their own: it does not
// matter to either what the other is asked, and when.
type WRED struct {
	params       WREDParams
	marks, drops RED
}

// NewWRED returns the WRED of a queue, whose draws are given by seed.
func NewWRED(p WREDParams, seed uint64) *WRED {
	return &WRED{p, *NewRED(p.REDParams, seed), *NewRED(p.REDParams, seed|1<<63)}
}

// DequeueRun is Runner's: which of the frames that leave together are marked, if they are ECN-capable.
func (w *WRED) DequeueRun(now units.Time, q Queue, sizes []uint16) (marked uint64) {
	return w.marks.DequeueRun(now, q, sizes)
}

// Drops reports whether a frame is dropped that finds so many bytes in the queue; capable: it is ECN-capable.
func (w *WRED) Drops(queued units.Size, capable bool) bool {
	if capable && !w.params.NoECN || !capable && w.params.NoDrop {
		return false
	}
	return w.drops.congested(int64(queued))
}
