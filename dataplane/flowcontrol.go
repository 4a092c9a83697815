package dataplane

import (
	"errors"
	"fmt"

	"photon/credits"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Flow control is the part of a link that says when a port may send, and how much its peer may. What stands above
// it asks two questions, and does not know who answers: whether a priority is stopped, and until when (pfc.Stops);
// and whether the peer is (grants). The answers that every frame needs are kept in fields of the port: see refresh.

// grants is the receiving end of a link, which says what the peer may still send.
type grants interface {
	// PeerStopped is the set of priorities of which the peer may not send now.
	PeerStopped() uint8
	// XON is how much of a priority may be buffered so that the peer may send again.
	XON(p uint8) units.Size
	// StopPeer has the peer send nothing more of lossless priorities, or again.
	StopPeer(stop bool)
}

// stops answers for what the port sends.
func (p *switchPort) stops() pfc.Stops {
	if p.credits != nil {
		return p.credits
	}
	return &p.egress
}

// grants answers for what the port's peer sends.
func (p *switchPort) grants() grants {
	if p.credits != nil {
		return p.credits
	}
	return &p.ingress
}

// checkFlowControl says what is wrong with the flow control of lossless priorities, in one line.
func (c *SwitchConfig) checkFlowControl() error {
	if k := c.Credits; k != nil {
		switch err := k.Validate(c.longest()); {
		case err != nil:
			return fmt.Errorf("credits: %w", err)
		case c.Cell != 0 && c.Cell != credits.Block:
			return fmt.Errorf("cell %v: with credits frames take blocks of %d bytes", c.Cell, credits.Block)
		case c.Watchdog.Detect > 0 && c.Watchdog.Action == pfc.Forward:
			return errors.New("watchdog: with credits no frame can be forwarded that the peer has no buffer for (drop, drop_both or alert)")
		}
		return nil
	}
	for p := range pfc.Classes {
		if c.Lossless>>p&1 != 0 {
			if err := c.PFC[p].Validate(); err != nil {
				return fmt.Errorf("priority %d: %w", p, err)
			}
		}
	}
	return nil
}

// longest is the longest frame that passes, tags included, without FCS.
func (c *SwitchConfig) longest() int { return c.MTU + wire.EthernetLen + 2*wire.VLANLen }

// cell is the unit in which frames take buffer, and extra what each takes in addition to its bytes.
func (c *SwitchConfig) cell() units.Size {
	if c.Credits != nil {
		return credits.Block
	}
	return c.Cell
}

func (c *SwitchConfig) extra() units.Size {
	if c.Credits != nil {
		return c.Credits.Extra
	}
	return 0
}
