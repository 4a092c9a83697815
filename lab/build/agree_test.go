package build

import (
	"fmt"

	"photon/fabric"
	"photon/pfc"
	"photon/sim"
)

// agree says which cable's ends do not count the same when nothing is on its way any more: frames, bytes, pauses and
// resumptions. Frames without an IP header, as CNMs, may have one priority here and another there. What was on a link
// that failed is counted at one end only, and a host that storms sends what it does not count.
func (c *randomNetwork) agree(n *Network, w *sim.World) error {
	if c.fails[1] > 0 || c.storm[1] > 0 {
		return nil
	}
	at := func(node, port int) *fabric.PortStats {
		if s, ok := n.Switches[node]; ok {
			return &s.Stats(w.Now()).Ports[port]
		}
		return &n.Hosts[node].Stats(w.Now()).Ports[port]
	}
	for _, cable := range n.Plan.Cables {
		ends := [2][2]int{{cable.A, cable.APort}, {cable.B, cable.BPort}}
		for i, from := range ends {
			to := ends[1-i]
			a, b := at(from[0], from[1]), at(to[0], to[1])
			name := fmt.Sprintf("%s to %s", n.Plan.Nodes[from[0]].Name, n.Plan.Nodes[to[0]].Name)
			switch in, out := &a.Ingress, &b.Egress; {
			case sum(a.TxFrames) != sum(b.RxFrames) || sum(a.TxBytes) != sum(b.RxBytes),
				c.lane == 0 && a.TxControl != b.RxControl:
				return fmt.Errorf("%s: sent %v and %d of control, received %v and %d",
					name, a.TxFrames, a.TxControl, b.RxFrames, b.RxControl)
			case in.Pauses != out.Pauses || in.Resumes != out.Resumes || out.PausedNow != 0:
				return fmt.Errorf("%s: XOFF %v, XON %v; received %v, %v, and paused are %08b",
					name, in.Pauses, in.Resumes, out.Pauses, out.Resumes, out.PausedNow)
			}
		}
	}
	return nil
}

func sum(of [pfc.Classes]uint64) (all uint64) {
	for _, n := range of {
		all += n
	}
	return all
}
