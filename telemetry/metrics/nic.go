package metrics

import (
	"photon/fabric"
)

// nic is what a NIC counts of the applications behind it.
func (c *scrape) nic() {
	n, node := &c.s.Stats.NIC, c.s.Node
	c.put(nicFlows, float64(n.Flows), node, "tx")
	c.put(nicFlows, float64(n.Received), node, "rx")
	c.put(nicQueued, float64(n.Queued), node)
	c.put(nicControl, float64(n.Control), node)
	c.put(nicECT, float64(n.ECT), node)
	c.put(nicCleared, float64(n.Cleared), node)
	c.put(nicUntracked, float64(n.Untracked), node)
	c.put(nicEchoes, float64(n.EchoesSent), node, "tx")
	c.put(nicEchoes, float64(n.EchoesTaken), node, "rx")
	c.put(nicReleased, float64(n.Released), node)
	for why := range fabric.CNPRefusals {
		c.put(nicRefused, float64(n.Refused[why]), node, why.String())
	}
	c.put(nicHolds, float64(n.Holds), node)
	c.put(nicHeld, n.Held.Seconds(), node)
}
