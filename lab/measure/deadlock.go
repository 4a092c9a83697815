package measure

import (
	"slices"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/pfc"
	"photon/units"
)

// deadlock finds a cycle of queues that wait for each other: each is paused by
// the switch that it leads to, because frames that came from it wait there in queues of
// the cycle, and none has sent a frame for a while.
type deadlock struct {
	n       *build.Network
	minimum units.Time
	at      units.Time // when the first was complete; 0: none yet
	state   [pfc.Classes]map[experiment.Place]*stuck
}

// stuck is what is known of an egress queue.
type stuck struct {
	sent  uint64
	since units.Time // nothing was sent since, though something waited and the port was paused; Never: that is not so
}

func newDeadlock(n *build.Network, hold units.Time) *deadlock {
	if hold == 0 {
		hold = 5 * units.Millisecond // longer than a pause can last without a refresh at 10 Gbit/s
	}
	d := &deadlock{n: n, minimum: hold}
	for prio := range d.state {
		d.state[prio] = map[experiment.Place]*stuck{}
	}
	return d
}

// sample looks at every lossless priority, for queues of one wait for each other only.
func (d *deadlock) sample(now units.Time) {
	for prio := range d.state {
		if d.at > 0 {
			return
		}
		if d.n.Lossless>>prio&1 != 0 {
			d.look(now, prio)
		}
	}
}

func (d *deadlock) look(now units.Time, prio int) {
	var blocked []experiment.Place
	for node, s := range d.n.Switches {
		for port, end := range d.n.Plan.Nodes[node].Ends {
			if d.n.Plan.Nodes[end.Node].Host {
				continue
			}
			p := experiment.Place{Node: node, Port: port}
			x := d.state[prio][p]
			if x == nil {
				x = &stuck{since: units.Never}
				d.state[prio][p] = x
			}
			waiting := s.Paused(port)>>prio&1 != 0 && s.QueueBytes(port, prio) > 0
			if sent := s.TxFrames(port, prio); !waiting || sent != x.sent {
				x.sent, x.since = sent, units.Never
			} else if x.since == units.Never {
				x.since = now
			}
			if x.since != units.Never && now-x.since >= d.minimum {
				blocked = append(blocked, p)
			}
		}
	}
	if len(blocked) > 1 && d.cycle(blocked, prio) {
		d.at = now - d.minimum
	}
}

// cycle reports whether the blocked queues wait for each other in a cycle: those whose peer would resume them if these
// alone sent nothing are taken away until nothing changes.
func (d *deadlock) cycle(blocked []experiment.Place, prio int) bool {
	for before := 0; len(blocked) != before; {
		before = len(blocked)
		silent := slices.Clone(blocked)
		blocked = slices.DeleteFunc(blocked, func(p experiment.Place) bool {
			end := d.n.Plan.Nodes[p.Node].Ends[p.Port]
			return !d.n.Switches[end.Node].StaysStopped(end.Port, prio, func(port int) bool {
				return slices.Contains(silent, experiment.Place{Node: end.Node, Port: port})
			})
		})
	}
	return len(blocked) > 0
}
