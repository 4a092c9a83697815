package remote

import (
	"cmp"
	"fmt"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/nodecontrol"
	"photon/scheme"
	"photon/units"
)

// remark is one about a node, for the report.
func (b *Run) remark(n *nodecontrol.Running, format string, args ...any) {
	b.notes = append(b.notes, n.Name+": "+fmt.Sprintf(format, args...))
}

// noteAcks remarks that an agent that ran already has its packets acknowledged more often than the experiment's hosts.
func (b *Run) noteAcks(i int, use experiment.SchemeUse, known scheme.Network, n *nodecontrol.Running) error {
	if len(b.sends[i]) == 0 || n.Info.AckEvery == ackEvery(&b.e.Parameters) {
		return nil
	}
	parts, err := use.Build(known)
	if err == nil && !parts.Carry.Ack {
		b.remark(n, "one packet in %d asks for an acknowledgement, "+
			"in the experiment the last of a flow alone (`ack_every: 0`)", n.Info.AckEvery)
	}
	return err
}

// noteTimes remarks which times of an agent that ran already are not those of the experiment's hosts. An agent always
// has a timeout; one that says nothing of it is of an older photon.
func (b *Run) noteTimes(i int, n *nodecontrol.Running) {
	p, info := &b.e.Parameters, &n.Info
	if !b.plan.Nodes[i].Host || info.AckTimeout == 0 {
		return
	}
	for _, t := range []struct {
		name     string
		is, want units.Time
		matters  bool
	}{
		{"ack_timeout", info.AckTimeout, p.Patience(), len(b.sends[i]) > 0},
		{"np_delay", info.NPDelay, p.NPDelay.Value.V, true},
		{"pause_delay", info.PauseDelay, p.PauseDelay.Value.V, true},
	} {
		if t.matters && t.is != t.want {
			b.remark(n, "its %s is %v, the experiment's %v", t.name, t.is, t.want)
		}
	}
}

// noteLossy remarks what becomes of acknowledgements and CNPs otherwise than in the experiment: their priorities at
// agents that ran already, and what switches hold of lossy priorities. A node that says nothing of it is of an older
// photon.
func (b *Run) noteLossy(i int, n *nodecontrol.Running) {
	p, info := &b.e.Parameters, &n.Info
	compare := func(what string, is, want any) {
		if is != want {
			b.remark(n, "%s %v, the experiment's %v", what, is, want)
		}
	}
	cnp := build.CNPDSCP >> 3
	if are := info.Priorities; are != nil {
		compare("the priority of its acknowledgements is", are.Ack, p.AckPriority.Value.Or(cnp))
		compare("the priority of its CNPs is", are.CNP, cnp)
	}
	if info.LossyQueue == 0 {
		return
	}
	compare("a queue of a lossy priority holds", info.LossyQueue, p.LossyQueue.Value.Or(units.MB))
	for _, port := range n.Port {
		if port < len(info.LossyIngress) {
			what := fmt.Sprintf("the limit of lossy frames that came through %s is", info.Ports[port])
			compare(what, limitText(info.LossyIngress[port]), limitText(p.LossyIngress.Value.V))
		}
	}
}

// noteShared remarks that other limits of a switch by what is free of its buffer are not the experiment's.
func (b *Run) noteShared(i int, n *nodecontrol.Running) {
	p, info := &b.e.Parameters, &n.Info
	if b.plan.Nodes[i].Host {
		return
	}
	if want := p.LossyAlpha.Value.V; info.LossyAlpha != want {
		b.remark(n, "its lossy_alpha is %v, the experiment's %v", info.LossyAlpha, want)
	}
	if want := b.shared(i); info.Shared != want && (p.Alpha.Value.V > 0 || p.LossyAlpha.Value.V > 0) {
		b.remark(n, "%v of its buffer are shared, by which alpha goes, in the experiment %v", info.Shared, want)
	}
}

// noteRecovery remarks that an agent repeats what is lost otherwise than the experiment's hosts.
func (b *Run) noteRecovery(i int, known scheme.Network, n *nodecontrol.Running) {
	want := ""
	if r := b.e.Parameters.Repeats(known); r != nil {
		want = r.String()
	}
	if is := n.Info.Selective; b.plan.Nodes[i].Host && is != want {
		again := func(text string) string { return cmp.Or(text, "all from the first that is missing on") }
		b.remark(n, "it sends packets again so: %s; the experiment's hosts so: %s", again(is), again(want))
	}
}

// limitText is a limit; 0: there is none.
func limitText(limit units.Size) string {
	if limit == 0 {
		return "none"
	}
	return limit.String()
}
