package build

import (
	"cmp"
	"slices"

	"photon/lab/topology"
	"photon/sim"
	"photon/units"
)

// addLead is how long before its start a flow of a workload becomes known to its
// sender, at most. A host's memory is for the flows that it knows of, so that
// tens of thousands that begin one after the other take no more than those that
// are sent at a time.
const addLead = 100 * units.Microsecond

// canWait reports whether the world lets flows be added while it runs.
func (n *Network) canWait() bool {
	_, ok := n.World.(*sim.World)
	return ok && !AddAllAtStart
}

// AddAllAtStart may be set by tests: senders know of all flows from the beginning.
var AddAllAtStart bool

// addWhenDue arranges that flows are added to their senders shortly before they start.
func (n *Network) addWhenDue() error {
	if len(n.notAdded) == 0 && (n.waits == nil || !n.canWait()) {
		return nil
	}
	n.forgetful = true
	slices.SortStableFunc(n.notAdded, func(a, b int32) int { return cmp.Compare(n.Flows[a].Start, n.Flows[b].Start) })
	tell := func(now units.Time) error {
		for len(n.notAdded) > 0 && n.Flows[n.notAdded[0]].Start < now+addLead {
			if err := n.addFlow(now, int(n.notAdded[0])); err != nil {
				return err
			}
			n.notAdded = n.notAdded[1:]
		}
		return nil
	}
	n.World.(*sim.World).EveryBusy(addLead, func(now units.Time) (idle units.Time) {
		n.forget()
		if err := tell(now); err != nil {
			panic(err) // there is room for all flows, and each is checked when it is made
		}
		switch {
		case len(n.over) > 0:
			return now
		case len(n.notAdded) > 0:
			return n.Flows[n.notAdded[0]].Start - addLead
		}
		return units.Never
	})
	return tell(0)
}

// forget has receivers forget the flows that have ended, so that what they keep is
// for flows that are under way, too. One that has something to say about a flow
// still is asked again.
func (n *Network) forget() {
	n.Collect()
	n.over = slices.DeleteFunc(n.over, func(i int32) bool {
		f := &n.Flows[i]
		if n.Received(int(i)) != f.Bytes {
			return true // it stays known: what it received is not what was sent
		}
		f.Forgot = n.Hosts[f.To].Forget(topology.IP(f.From), QP(int(i)))
		return f.Forgot
	})
}

// Forgets reports whether receivers forget flows that have ended.
func (n *Network) Forgets() bool { return n.forgetful }
