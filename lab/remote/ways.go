package remote

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"photon/lab/nodecontrol"
	"photon/telemetry/node"
	"photon/wire"
)

// awaitLearning waits until every switch has learned every host's port.
func (b *Run) awaitLearning(ctx context.Context) error {
	for i, n := range b.nodes {
		for deadline := time.Now().Add(20 * time.Second); !b.plan.Nodes[i].Host; {
			where, err := n.HostPorts(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", n.Name, err)
			}
			missing := ""
			for _, to := range b.plan.Endpoints() {
				ports := b.routes.Ports(i, to)
				if len(ports) == 0 {
					continue
				}
				name, want := b.plan.Nodes[to].Name, b.names(n, ports)
				at, there := whereIs(&b.nodes[to].Info, where)
				switch {
				case !there:
					missing = fmt.Sprintf("%s has not heard of %s: is the cable in, and is the agent up?", n.Name, name)
				case sorted(at) == want:
				case len(ports) > 1:
					missing = fmt.Sprintf("%s has %s behind %s, and the experiment behind each of %s (`forwarding: "+
						"{static: [{mac: %v, ports: [...]}]}`)", n.Name, name, at, want, b.nodes[to].Info.MAC)
				default:
					missing = fmt.Sprintf("%s has %s behind %s, and the experiment behind %s: are cables swapped?",
						n.Name, name, at, want)
				}
			}
			if missing == "" {
				break
			}
			if time.Now().After(deadline) {
				return errors.New(missing)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	return nil
}

// nextHop is the Ethernet address to which an agent sends what is for another: that agent's, or its router's.
func nextHop(from, to *node.Info) wire.MAC {
	if g := from.Gateway; g != nil && !g.Network.Contains(to.IP.Addr()) {
		return g.MAC
	}
	return to.MAC
}

// whereIs are the ports of a switch behind which a host is, by its Ethernet address, or else by the longest prefix.
func whereIs(host *node.Info, where map[string]string) (ports string, there bool) {
	if ports, there = where[host.MAC.String()]; there {
		return ports, true
	}
	longest := -1
	for key, behind := range where {
		p, err := netip.ParsePrefix(key)
		if err == nil && p.Contains(host.IP.Addr()) && p.Bits() > longest {
			longest, ports = p.Bits(), behind
		}
	}
	return ports, longest >= 0
}

// names are ports of a node by the plan's, with commas between, in the order of their names.
func (b *Run) names(n *nodecontrol.Running, ports []uint16) string {
	var names []string
	for _, port := range ports {
		names = append(names, n.Info.Ports[n.Port[port]])
	}
	return sorted(strings.Join(names, ","))
}

// sorted are names with commas between, in order.
func sorted(names string) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(names, ",")), ",")
}
