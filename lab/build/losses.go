package build

import (
	"fmt"
	"math/bits"

	"photon/fabric"
	"photon/lab/experiment"
	"photon/units"
	"photon/wire"
)

// Loss is what a lossless priority of a port lost for one reason.
type Loss struct {
	Node           string
	Port, Priority int
	Reason         string
	Frames         uint64
	At             units.Time // when the first frame of the priority was lost there, for any reason; Never: it is not known
}

func (l Loss) String() string {
	s := fmt.Sprintf("%s, port %d, priority %d: %d frames (%s)", l.Node, l.Port, l.Priority, l.Frames, l.Reason)
	if l.At < units.Never {
		s += fmt.Sprintf(", the first at %v", l.At)
	}
	return s
}

// CheckWithNotes is Check, and returns what a file is accepted with although its author may not mean it: the first buffer
// of which lossless priorities leave no room for a frame of another, so that no acknowledgement ever passes, or no CNP.
func CheckWithNotes(e *experiment.Experiment) (notes []string, err error) {
	err = buildEach(e, func(n *Network) {
		if len(notes) == 0 {
			notes = n.bufferNotes()
		}
	})
	return notes, err
}

// bufferNotes are about the first buffer in which a frame of a lossy priority has no room.
func (n *Network) bufferNotes() []string {
	if n.Lossless>>n.acknowledged&1 != 0 && n.Lossless>>(CNPDSCP>>3)&1 != 0 {
		return nil
	}
	for i := range n.Plan.Nodes {
		c, ok := n.configs[i]
		longest := units.Size(c.MTU + wire.EthernetLen + wire.VLANLen)
		if shared := c.Buffer - c.Reserved(); ok && shared < longest {
			return []string{fmt.Sprintf("note: xoff and headroom of the lossless priorities of %s leave %v of its buffer of %v: "+
				"frames of lossy ones are discarded, as acknowledgements and CNPs are, and flows may never end (%v or more)",
				n.Plan.Nodes[i].Name, shared, c.Buffer, c.Reserved()+longest)}
		}
	}
	return nil
}

// Losses are what Lost counts, by node, port, priority and reason.
func (n *Network) Losses() (all []Loss) {
	now, excused := n.World.Now(), n.excused()
	for i := range n.Plan.Nodes {
		var st fabric.Stats
		if h, ok := n.Hosts[i]; ok {
			st = h.Stats(now)
		} else if s, ok := n.Switches[i]; ok {
			st = s.Stats(now)
		}
		for port := range st.Ports {
			for rest := n.Lossless; rest != 0; rest &= rest - 1 {
				prio := bits.TrailingZeros8(rest)
				all = append(all, lossesOf(n.Plan.Nodes[i].Name, port, prio, &st.Ports[port], &excused)...)
			}
		}
	}
	return all
}

// excused are the reasons for which frames that a node discards are no loss of this network's: what a link took with
// it, or was on its way to a switch whose new routes lead back to where it came from; what is out of order, or comes again,
// for that, for the several paths of a flow, because its sender did not wait for longer (pauses may be long, and in a
// deadlock have no end) or because acknowledgements, which are of a lossy priority, were lost; what acknowledges what came
// twice of a flow that has ended, or packets of one that was stopped; and what follows from frames that are impaired on
// purpose.
func (n *Network) excused() (set [fabric.Reasons]bool) {
	spoilt := len(n.impaired) > 0
	again := n.failed || n.overtakes || n.timeouts() > 0 || spoilt || n.discarded(1<<n.acknowledged&^n.Lossless) > 0
	set[fabric.DropLink], set[fabric.DropNoPort] = n.failed || spoilt, n.failed || spoilt
	set[fabric.DropUnknown], set[fabric.DropSequence] = n.stops || again, again
	set[fabric.DropBadICRC], set[fabric.DropHeadroom] = spoilt, spoilt // an XOFF may have been lost, too
	return set
}

// Excused is what switches discarded of lossless priorities for a reason that the experiment gives them, by reason: no
// loss of theirs, but lost.
func (n *Network) Excused() (by [fabric.Reasons]uint64) {
	now, excused := n.World.Now(), n.excused()
	for _, s := range n.Switches {
		st := s.Stats(now)
		for port := range st.Ports {
			for why, discards := range st.Ports[port].Discards {
				for prio, frames := range discards {
					if excused[why] && n.Lossless>>prio&1 != 0 {
						by[why] += frames
					}
				}
			}
		}
	}
	return by
}

// timeouts is how often senders sent again because nothing was acknowledged in time.
func (n *Network) timeouts() (sum uint64) {
	for _, h := range n.Hosts {
		sum += h.Timeouts()
	}
	return sum
}

func lossesOf(node string, port, prio int, p *fabric.PortStats, excused *[fabric.Reasons]bool) (all []Loss) {
	at := p.LostAt[prio]
	for why := range fabric.Reasons {
		frames := p.Discards[why][prio]
		switch {
		case frames == 0:
		case excused[why]:
			at = units.Never // it may be this one's
		default:
			all = append(all, Loss{Node: node, Port: port, Priority: prio, Reason: why.String(), Frames: frames})
		}
	}
	for i := range all {
		all[i].At = at
	}
	return all
}

// FirstLoss is the earliest of all losses.
func (n *Network) FirstLoss() (first Loss, ok bool) {
	for i, l := range n.Losses() {
		if i == 0 || l.At < first.At {
			first, ok = l, true
		}
	}
	return first, ok
}
