package lab

import (
	"cmp"
	"slices"

	"photon/lab/topology"
	"photon/sim"
	"photon/units"
)

// lateBy is how long before its start a flow of a workload becomes known to its
// sender, at most. A host's memory is for the flows that it knows of, so that
// tens of thousands that begin one after the other take no more than those that
// are sent at a time.
const lateBy = 100 * units.Microsecond

// canWait reports whether the world lets flows be added while it runs.
func (n *network) canWait() bool {
	_, ok := n.world.(*sim.World)
	return ok && !tellAll
}

// tellAll may be set by tests: senders know of all flows from the beginning.
var tellAll bool

// addLate arranges that senders are told of the flows that wait.
func (n *network) addLate() error {
	if len(n.late) == 0 {
		return nil
	}
	n.forgetful = true
	slices.SortStableFunc(n.late, func(a, b int32) int { return cmp.Compare(n.flows[a].start, n.flows[b].start) })
	tell := func(now units.Time) error {
		for len(n.late) > 0 && n.flows[n.late[0]].start < now+lateBy {
			if err := n.addFlow(now, int(n.late[0])); err != nil {
				return err
			}
			n.late = n.late[1:]
		}
		return nil
	}
	n.world.Every(lateBy, func(now units.Time) {
		n.forget()
		if err := tell(now); err != nil {
			panic(err) // there is room for all flows, and each is checked when it is made
		}
	})
	return tell(0)
}

// forget has receivers forget the flows that have ended, so that what they keep is
// for flows that are under way, too. One that has something to say about a flow
// still is asked again.
func (n *network) forget() {
	n.collect()
	n.over = slices.DeleteFunc(n.over, func(i int32) bool {
		f := &n.flows[i]
		if n.received(int(i)) != f.bytes {
			return true // it stays known: what it received is not what was sent
		}
		f.forgot = n.hosts[f.to].Forget(topology.IP(f.from), qp(int(i)))
		return f.forgot
	})
}
