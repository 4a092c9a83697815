package experiment

import (
	"slices"
	"strings"

	"photon/agent"
	"photon/dataplane"
	"photon/lab/topology"
	"photon/scheme"
	"photon/units"
)

// What becomes of packets of one flow: which paths they take, and what is repeated if one does not come.

// Kinds of recovery.
const (
	GoBackN   = "go_back_n"
	Selective = "selective"
)

// Weights of paths.
const (
	EqualWeights    = "equal"
	CapacityWeights = "capacity"
)

// Choice is how a switch chooses among equal paths.
func (p *Parameters) Choice(seed uint64) dataplane.Paths {
	by := max(0, slices.Index(dataplane.PathChoices, p.Paths.Value.V))
	c := dataplane.Paths{By: dataplane.PathChoice(by), Seed: seed}
	if c.By == dataplane.ByFlowlet {
		c.Gap = p.FlowletGap.Value.V
	}
	return c
}

// SourcePorts is what of a flow has a UDP source port of its own.
func (p *Parameters) SourcePorts() agent.Entropy {
	e := agent.Entropy{By: agent.EntropyKind(max(0, slices.Index(agent.EntropyKinds, p.Entropy.Value.V)))}
	if e.By == agent.PerFlowlet {
		e.Gap = p.FlowletGap.Value.V
	}
	return e
}

// Weighted reports whether ports of equal cost are chosen as often as what they lead to can carry.
func (p *Parameters) Weighted() bool { return p.PathWeights.Value.V == CapacityWeights }

// Overtakes reports whether packets of a flow may overtake each other.
func (p *Parameters) Overtakes() bool {
	return p.Choice(0).By != dataplane.ByFlow || p.SourcePorts().By != agent.PerFlow
}

// Repeats is how hosts repeat what is lost, if selectively; nil: they go back to it. The window, if it is not said,
// is as many full packets as the longest path holds in the time of a round trip, as IRN has it.
func (p *Parameters) Repeats(n scheme.Network) *agent.Selective {
	if p.Recovery.Value.V != Selective {
		return nil
	}
	s := &agent.Selective{Window: p.Window.Value.V, Reorder: p.Reorder.Value.V}
	s.LowTimeout = p.LowTimeout.Value.V
	if !p.Window.Value.IsSet() {
		packets := n.Line.Bytes(n.PathRTT) / max(1, n.Packet)
		s.Window = int(min(agent.MostWindow, packets+2)) // and what is being sent, at either end
	}
	if !p.Reorder.Value.IsSet() {
		if s.Reorder = 1; p.Overtakes() {
			s.Reorder = max(1, s.Window/2)
		}
	}
	s.LowPackets = p.LowPackets.Value.Or(min(agent.DefaultLowPackets, s.Window))
	return s
}

// checkRepeats finds what is more than the window of a host for which the file says none.
func (e *Experiment) checkRepeats(plan *topology.Plan, known scheme.Network) error {
	p := &e.Parameters
	for _, h := range plan.Endpoints() {
		known.Line = plan.Nodes[h].Ends[0].Link.Rate
		s := p.Repeats(known)
		switch o, few := p.Reorder.Value, p.LowPackets.Value; {
		case s == nil:
			return nil
		case o.IsSet() && o.V > s.Window:
			return at(o, "reorder %d: from 1 to the window, which is %d packets of %s (`window:` may say more)",
				o.V, s.Window, plan.Nodes[h].Name)
		case few.IsSet() && few.V > s.Window:
			return at(few, "low_packets %d: from 1 to the window, which is %d packets of %s (`window:` may say more)",
				few.V, s.Window, plan.Nodes[h].Name)
		}
	}
	return nil
}

// Patience is how long a sender waits for progress until it repeats.
func (p *Parameters) Patience() units.Time { return p.AckTimeout.Value.Or(agent.UsualTimeout) }

func (p *Parameters) checkPaths() error {
	switch f, gap, e, w := p.Paths.Value, p.FlowletGap.Value, p.Entropy.Value, p.PathWeights.Value; {
	case e.IsSet() && !slices.Contains(agent.EntropyKinds, e.V):
		return at(e, "entropy %q: one of %s", e.V, strings.Join(agent.EntropyKinds, ", "))
	case e.V == agent.EntropyKinds[agent.PerFlowlet] && gap.V <= 0:
		return at(e, "entropy: flowlet needs a flowlet_gap (write it like flowlet_gap: 50us)")
	case w.IsSet() && w.V != EqualWeights && w.V != CapacityWeights:
		return at(w, "path_weights %q: equal or capacity", w.V)
	case f.IsSet() && !slices.Contains(dataplane.PathChoices, f.V):
		return at(f, "paths %q: there are %s", f.V, strings.Join(dataplane.PathChoices, ", "))
	case f.V == dataplane.ByFlowlet.String() && gap.V <= 0:
		return at(f, "paths: flowlet needs a flowlet_gap (write it like flowlet_gap: 50us)")
	case gap.IsSet() && !f.IsSet() && !e.IsSet(): // a sweep of paths may have both
		return at(gap, "flowlet_gap: that is of paths by flowlet (paths: flowlet), or of entropy by flowlet")
	}
	r, w, o := p.Recovery.Value, p.Window.Value, p.Reorder.Value
	switch {
	case r.IsSet() && r.V != GoBackN && r.V != Selective:
		return at(r, "recovery %q: there are %s and %s", r.V, GoBackN, Selective)
	case w.IsSet() && !r.IsSet():
		return at(w, "window: that is of selective repeat (recovery: selective)")
	case o.IsSet() && !r.IsSet():
		return at(o, "reorder: that is of selective repeat (recovery: selective)")
	case w.IsSet() && (w.V < 1 || w.V > agent.MostWindow):
		return at(w, "window of %d packets: from 1 to %d", w.V, agent.MostWindow)
	case o.IsSet() && (o.V < 1 || w.IsSet() && o.V > w.V):
		return at(o, "reorder %d: a packet is lost when so many behind it have come, from 1 to the window", o.V)
	}
	t, low, few := p.AckTimeout.Value, p.LowTimeout.Value, p.LowPackets.Value
	switch {
	case t.IsSet() && (t.V <= 0 || t.V > mostDelay): // what an agent takes is longer
		return at(t, "ack_timeout %v: more than 0s, at most %v", t.V, mostDelay)
	case low.IsSet() && !r.IsSet(): // a sweep of recovery may have both
		return at(low, "low_timeout: that is of selective repeat (recovery: selective)")
	case low.IsSet() && (low.V <= 0 || low.V > p.Patience()):
		return at(low, "low_timeout %v: more than 0s, at most ack_timeout, %v", low.V, p.Patience())
	case few.IsSet() && !low.IsSet():
		return at(few, "low_packets: for so many there is a low_timeout (write it like low_timeout: 100us)")
	case few.IsSet() && (few.V < 1 || w.IsSet() && few.V > w.V):
		return at(few, "low_packets %d: from 1 to the window", few.V)
	}
	return nil
}
