package agent

import (
	"errors"
	"fmt"

	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// FlowSpec describes a flow to send.
type FlowSpec struct {
	Pair    *Pair // the receiver is not an agent, but a queue pair of the specification; nil: it is an agent
	Peer    wire.IP
	PeerMAC wire.MAC
	QP      uint32 // of the receiver; between agents both ends use it; 24 bits
	SrcPort uint16 // of UDP: what ECMP goes by; 0: made from the QP
	DSCP    uint8  // 0: the host's for data

	// FixedPSN says that the first packet's PSN is the one below; else the host draws one. A pair whose flow has a
	// fixed one must not be used for another before the receiver has forgotten the first.
	FixedPSN bool

	Limit  units.Rate // never faster, whatever the reaction point allows; 0: no limit
	Begin  units.Rate // the reaction point's first rate, as if it had come down to it; 0: line rate
	Size   units.Size // of payload; 0: until stopped
	Start  units.Time
	Weight int // frames per turn when flows wait for the port, 1 to ratelimit.MaxWeight; 0: 1
	Tenant int // of the host's, from 1: shares its cap and its turns; 0: of none

	PSN uint32 // of the first packet, if it is fixed, or there is a Pair

	// Shared makes flows messages: those of a host with the same number, other than 0, are behind one reaction point,
	// which has a permanent connection to each peer. Messages of a connection go one after the other, and switches
	// take them for one flow.
	Shared uint32
}

// ErrSelf: nothing is sent to oneself.
var ErrSelf = errors.New("agent: the flow would be to the host's own address")

func (h *Host) checkSpec(spec *FlowSpec) error { return h.config.CheckFlow(spec) }

// CheckFlow says what is wrong with a flow of such a host, in one line.
func (c *Config) CheckFlow(spec *FlowSpec) error {
	switch {
	case spec.QP >= 1<<24:
		return fmt.Errorf("agent: queue pair %d has more than 24 bits", spec.QP)
	case spec.Size < 0:
		return fmt.Errorf("agent: flow size %v is negative", spec.Size)
	case spec.DSCP > 63:
		return fmt.Errorf("agent: DSCP %d: there are 0 to 63", spec.DSCP)
	case spec.Weight < 0 || spec.Weight > ratelimit.MaxWeight:
		return fmt.Errorf("agent: weight %d: from 1 to %d", spec.Weight, ratelimit.MaxWeight)
	case spec.Tenant < 0 || spec.Tenant > len(c.Tenants):
		return fmt.Errorf("agent: there is no tenant %d", spec.Tenant)
	case spec.PSN > psnMask:
		return fmt.Errorf("agent: PSN %d has more than 24 bits", spec.PSN)
	case !spec.Peer.Unicast():
		return fmt.Errorf("agent: a flow to %v: that is no address of a host", spec.Peer)
	case spec.PeerMAC.Multicast():
		return fmt.Errorf("agent: a flow to %v: that is no address of a host", spec.PeerMAC)
	case spec.Peer == c.IP:
		return fmt.Errorf("%w: %v", ErrSelf, spec.Peer)
	case spec.Peer.Is4() != c.IP.Is4():
		return fmt.Errorf("agent: a flow from %v to %v mixes IPv4 and IPv6", c.IP, spec.Peer)
	case spec.Pair != nil:
		return spec.Pair.check(c.Payload, c.Memory)
	}
	return nil
}

// sourcePort is the UDP source port of a flow, made as RoCEv2 NICs do: from the queue pair, or from the number that
// messages share.
func (s *FlowSpec) sourcePort() uint16 {
	if s.SrcPort != 0 {
		return s.SrcPort
	}
	by := s.QP
	if s.Shared != 0 {
		by = s.Shared
	}
	return firstPort | uint16(by^by>>14)&0x3FFF
}
