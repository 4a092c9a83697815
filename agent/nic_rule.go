package agent

import (
	"fmt"
	"net/netip"

	"photon/ratelimit"
	"photon/units"
)

// FlowRule gives flows of applications what a host's own flows are given when they are
// added: weight, tenant and limit.
type FlowRule struct {
	From, To netip.Prefix // of the application here, and of the other end; zero: any
	Proto    uint8        // IP protocol; 0: any
	Port     uint16       // at either end; 0: any
	QP       uint32       // RoCEv2 queue pair at the other end; 0: any

	Weight int        // frames per turn when flows wait for the wire, 1 to ratelimit.MaxWeight; 0: 1
	Tenant int        // of the NIC's, from 1: shares its cap and its turns; 0: of none
	Limit  units.Rate // never faster, whatever the reaction point allows; 0: no limit
}

func (r *FlowRule) check(tenants int) error {
	switch {
	case r.Weight < 0 || r.Weight > ratelimit.MaxWeight:
		return fmt.Errorf("weight %d: from 1 to %d", r.Weight, ratelimit.MaxWeight)
	case r.Tenant < 0 || r.Tenant > tenants:
		return fmt.Errorf("there is no tenant %d", r.Tenant)
	case r.Limit < 0:
		return fmt.Errorf("rate %v must not be negative", r.Limit)
	}
	return nil
}

// rule is the first that matches a flow, or nil. It is looked for when a flow begins.
func (c *NICConfig) rule(k *appKey) *FlowRule {
	for i := range c.Rules {
		if r := &c.Rules[i]; r.matches(k) {
			return r
		}
	}
	return nil
}

func (r *FlowRule) matches(k *appKey) bool {
	switch {
	case r.From.IsValid() && !r.From.Contains(k.here.Addr()), r.To.IsValid() && !r.To.Contains(k.there.Addr()):
		return false
	case r.Proto != 0 && r.Proto != k.proto:
		return false
	case r.Port != 0 && (k.kind != byPorts || r.Port != uint16(k.name>>16) && r.Port != uint16(k.name)):
		return false
	case r.QP != 0 && (k.kind != byQP || r.QP != k.name):
		return false
	}
	return true
}
