package config

import (
	"photon/agent"
	"photon/cnp"
	"photon/wire"
)

// MTU is that of the port, in bytes without Ethernet header, VLAN tags and FCS: full packets fit, with what their
// scheme adds. What is wrong with the configuration says Check.
func (c *Agent) MTU() int {
	n, err := c.resolve(nil)
	if err != nil {
		return defaultMTU
	}
	return n.Config.MTU
}

// mtu is that of the port of a host. Packets to queue pairs that are not agents' have nothing that a scheme adds, but
// may have a RETH.
func mtu(c *agent.Config) int {
	plain := *c
	plain.Carry, plain.Selective = cnp.Carry{}, nil
	return max(defaultMTU, plain.PacketLen()+wire.RETHLen, c.PacketLen())
}
