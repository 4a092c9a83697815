package pfc

import (
	"fmt"

	"photon/units"
)

// Thresholds of one lossless priority of one ingress port, in bytes of buffer.
type Thresholds struct {
	XOFF     units.Size // set aside for the priority; more than this, and what Alpha adds, asks for an XOFF
	XON      units.Size // with no more than this, and what Alpha adds, an XON is sent; at most XOFF
	Headroom units.Size // set aside for what still comes while an XOFF takes effect; what exceeds it is lost
	// Alpha adds to XOFF and XON so much of what is free of the switch's pool (Choudhury and Hahne,
	// Trans. Networking 1998, equation 1; SONiC's dynamic_th is its logarithm); 0: they stand still.
	Alpha float64
}

// XONBelow is the XON where none is set: two frames of the longest below XOFF, as
// DCQCN has it (SIGCOMM'15, section 4), and not below 0.
func XONBelow(xoff, mtu units.Size) units.Size { return max(0, xoff-2*mtu) }

// Validate says what is wrong with the thresholds, in one line.
func (t Thresholds) Validate() error {
	switch {
	case t.XOFF <= 0:
		return fmt.Errorf("xoff %v must be positive", t.XOFF)
	case t.XON < 0:
		return fmt.Errorf("xon %v must not be negative", t.XON)
	case t.XON > t.XOFF:
		return fmt.Errorf("xon %v is above xoff %v: the peer would be resumed before it is paused", t.XON, t.XOFF)
	case t.Headroom < 0:
		return fmt.Errorf("headroom %v must not be negative", t.Headroom)
	case !(t.Alpha >= 0 && t.Alpha <= 1024):
		return fmt.Errorf("alpha %v must be from 0 to 1024", t.Alpha)
	}
	return nil
}
