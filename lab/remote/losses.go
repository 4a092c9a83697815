package remote

import (
	"context"
	"fmt"
	"slices"
	"time"

	"photon/fabric"
	"photon/pfc"
	"photon/telemetry/node"
)

// counted is what all nodes have counted, by node of the plan. Nodes are asked one after the other, and twice: none is
// asked late before all were asked early, so that what has left a node early has come to the next one late.
type counted struct {
	early, late []node.Info
	moving      bool // frames of lossless priorities went from node to node meanwhile
}

const (
	// quietTime is how long nothing may move until all frames are taken to have arrived.
	quietTime = 200 * time.Millisecond
	// drainTime is how long queues may take to run empty after a run, or after the one before.
	drainTime = 20 * time.Second
)

// settled waits until no frame of a lossless priority moves between the nodes, though not for ever: others may send
// over the same links. What is on its way when counters are read would look lost, or as if it came from nowhere.
func (b *Run) settled(ctx context.Context) (c counted, err error) {
	deadline := time.Now().Add(b.drainTime)
	if c.early, err = b.ask(ctx); err != nil {
		return c, err
	}
	for since := time.Now(); ; {
		select {
		case <-ctx.Done():
			return c, ctx.Err()
		case <-time.After(quietTime / 2):
		}
		now := time.Now()
		if c.late, err = b.ask(ctx); err != nil {
			return c, err
		}
		c.moving = !slices.Equal(b.moved(c.early), b.moved(c.late))
		switch {
		case !c.moving && now.Sub(since) >= quietTime, c.moving && now.After(deadline):
			return c, nil
		case c.moving:
			since = now
			c.early = c.late
		}
	}
}

// ask asks all nodes what they have counted.
func (b *Run) ask(ctx context.Context) (all []node.Info, err error) {
	for _, n := range b.nodes {
		info, err := n.Node(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Name, err)
		}
		all = append(all, info)
	}
	return all, nil
}

// moved are all frames of lossless priorities that nodes have sent and taken at the experiment's ports.
func (b *Run) moved(all []node.Info) (frames []uint64) {
	lossless := b.e.Parameters.LosslessMask()
	for i, n := range b.nodes {
		for _, port := range n.Port {
			if port >= len(all[i].Stats.Ports) { // it was removed
				continue
			}
			p := &all[i].Stats.Ports[port]
			for prio := range pfc.Classes {
				if lossless>>prio&1 != 0 {
					frames = append(frames, p.RxFrames[prio], p.TxFrames[prio])
				}
			}
		}
	}
	return frames
}

// vanished is how many frames of a priority left for a port of a node and did not come, and arrived is how many did.
func (b *Run) vanished(i, port, prio int) (lost, arrived uint64) {
	end, n := b.plan.Nodes[i].Ends[port], b.nodes[i]
	peer := b.nodes[end.Node]
	rx := func(all []node.Info) uint64 { return all[i].Stats.Ports[n.Port[port]].RxFrames[prio] }
	tx := func(all []node.Info) uint64 { return all[end.Node].Stats.Ports[peer.Port[end.Port]].TxFrames[prio] }
	arrived = rx(b.final.late) - rx(b.before.early)
	if sent := int64(tx(b.final.early) - tx(b.before.late)); sent > int64(arrived) { // below 0: others sent before
		lost = uint64(sent) - arrived
	}
	return lost, arrived
}

// since is what nodes say after the run, with those counters since its begin of which a report speaks.
func (b *Run) since() (all []node.Info) {
	for i, info := range b.final.late {
		info.Stats.Ports = slices.Clone(info.Stats.Ports)
		for _, at := range b.nodes[i].Port {
			p, was := &info.Stats.Ports[at], &b.before.late[i].Stats.Ports[at]
			for prio := range pfc.Classes {
				p.CNMs[prio] -= was.CNMs[prio]
				p.CNPs[prio] -= was.CNPs[prio]
				for why := range p.Discards {
					p.Discards[why][prio] -= was.Discards[why][prio]
				}
			}
		}
		all = append(all, info)
	}
	return all
}

// Lost is how many frames of lossless priorities were discarded by nodes, dropped
// before them, or did not arrive at the other end of a link; hops is how many of all data did.
func (b *Run) Lost() (lost, hops uint64) {
	lossless, data := b.e.Parameters.LosslessMask(), b.e.DataMask()
	for i, node := range b.nodes {
		for port := range b.plan.Nodes[i].Ends {
			before, after := b.counts(i, port)
			was, is := losses(before), losses(after)
			for prio := range pfc.Classes {
				if data>>prio&1 == 0 {
					continue
				}
				vanished, arrived := b.vanished(i, port, prio)
				if hops += arrived; lossless>>prio&1 != 0 {
					lost += is[prio] - was[prio] + vanished
				}
			}
		}
		if was, is := b.before.early[i].Missed, b.final.late[i].Missed; is > was { // less: another port was removed
			b.notes = append(b.notes, fmt.Sprintf("%s: its devices dropped %d frames", node.Name, is-was))
		}
	}
	return lost, hops
}

// outOfOrder is no loss where it is noticed: a packet before was lost, which is counted there, or its sender waited too
// long for an acknowledgement, and sent again what had come.
const outOfOrder = fabric.DropSequence

// losses are the frames that a port discarded, by priority, but for those that came out of order.
func losses(p *fabric.PortStats) [pfc.Classes]uint64 {
	sum := p.Discarded()
	for prio := range sum {
		sum[prio] -= p.Discards[outOfOrder][prio]
	}
	return sum
}

// FirstLoss says where a node discarded frames of a lossless priority, and why; when, its own log says. If none did,
// it says on which link some were lost. It is empty if all arrived.
func (b *Run) FirstLoss() string {
	lossless := b.e.Parameters.LosslessMask()
	for i, node := range b.nodes {
		for port := range b.plan.Nodes[i].Ends {
			before, after := b.counts(i, port)
			for why := range fabric.Reasons {
				for prio := range pfc.Classes {
					n := after.Discards[why][prio] - before.Discards[why][prio]
					if n > 0 && lossless>>prio&1 != 0 && why != outOfOrder {
						return fmt.Sprintf("%s, port %d, priority %d: %d frames (%s); its log says when",
							node.Name, node.Port[port], prio, n, why)
					}
				}
			}
		}
	}
	for i, node := range b.nodes {
		for port, end := range b.plan.Nodes[i].Ends {
			for prio := range pfc.Classes {
				if lost, _ := b.vanished(i, port, prio); lost > 0 && lossless>>prio&1 != 0 {
					return fmt.Sprintf("%d frames of priority %d left %s and did not come to %s",
						lost, prio, b.nodes[end.Node].Name, node.Name)
				}
			}
		}
	}
	return ""
}

// counts are a port's counters before the run and after it.
func (b *Run) counts(i, port int) (before, after *fabric.PortStats) {
	at := b.nodes[i].Port[port]
	return &b.before.late[i].Stats.Ports[at], &b.final.late[i].Stats.Ports[at]
}
