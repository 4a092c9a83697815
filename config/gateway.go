package config

import (
	"errors"
	"fmt"

	"photon/wire"
)

// Gateway is the router of an agent: flows to addresses outside of the agent's own network go to it.
type Gateway struct {
	MAC     Value[wire.MAC] `yaml:"mac"`     // the router's
	Network Value[Prefix]   `yaml:"network"` // the agent's own, as in 10.9.1.0/24
}

func (g *Gateway) isSet() bool { return g.MAC.IsSet() || g.Network.IsSet() }

// missing is an error of what stands nowhere, at the line of what does.
func (g *Gateway) missing(what string) error {
	return &Error{Line: g.line(), Err: errors.New("gateway: " + what)}
}

func (g *Gateway) line() int { return max(g.MAC.Line, g.Network.Line) }

// check says what is wrong with the gateway of an agent with this address.
func (g *Gateway) check(ip Value[wire.IP]) error {
	network := g.Network.V.Prefix
	switch {
	case !g.isSet():
		return nil
	case !g.MAC.IsSet():
		return g.missing("the router's Ethernet address is missing (`mac:`, as `photon show routes` has it)")
	case !g.MAC.V.Unicast():
		return fail(g.MAC, "gateway: mac %v: that is no address of a router", g.MAC.V)
	case !g.Network.IsSet():
		return g.missing("which addresses are not behind it is missing (`network: 10.9.1.0/24`)")
	case !network.Contains(ip.V.Addr()):
		return fail(g.Network, "gateway: network %v: the agent's own address, %v, is not in it", network, ip.V)
	}
	return nil
}

// MACFor makes a locally administered address from an IP address: both ends do
// the same, so that no address resolution is needed between agents.
func MACFor(a wire.IP) wire.MAC { return 0x0200_0000_0000 | wire.MACAt(a[10:])&0xFFFF_FFFF }

// MACTo is the Ethernet address to which packets for a peer go, if a flow does not say it: the router's, or that which
// the peer's agent makes of its own.
func (g *Gateway) MACTo(peer wire.IP) wire.MAC {
	if g.MAC.IsSet() && !g.Network.V.Contains(peer.Addr()) {
		return g.MAC.V
	}
	return MACFor(peer)
}

// describe says so behind the agent's address.
func (g *Gateway) describe() string {
	if !g.MAC.IsSet() {
		return ""
	}
	return fmt.Sprintf("; out of %v by the router at %v", g.Network.V, g.MAC.V)
}
