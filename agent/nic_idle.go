package agent

import (
	"photon/flowtable"
	"photon/units"
)

// idle are the flows of which no frame waits, in the order in which their last frames left: to find the one that makes
// room for another takes the same time whatever the number of flows.
type idle struct {
	links []idleLink // by slot, and behind those one for each list, which is both of its ends
	slots int
}

type idleLink struct {
	before, after int32 // itself: it is in no list
	since         units.Time
}

// Lists of idle flows.
const (
	idlePaced = iota // they were slowed down: their pace is to be kept for a while
	idlePlain        // they were not: their place can be another's at any time
	idleLists
)

func newIdle(slots int) idle {
	l := idle{make([]idleLink, slots+idleLists), slots}
	for i := range l.links {
		l.links[i].before, l.links[i].after = int32(i), int32(i)
	}
	return l
}

// add puts a slot that is in no list at the end of one.
func (l *idle) add(list, slot int, now units.Time) {
	end := l.slots + list
	last := l.links[end].before
	l.links[slot] = idleLink{last, int32(end), now}
	l.links[last].after, l.links[end].before = int32(slot), int32(slot)
}

// remove takes a slot out of its list.
func (l *idle) remove(slot int) {
	k := &l.links[slot]
	l.links[k.before].after, l.links[k.after].before = k.after, k.before
	k.before, k.after = int32(slot), int32(slot)
}

// oldest is the slot that is idle for longest, and since when; ok: there is one.
func (l *idle) oldest(list int) (slot int, since units.Time, ok bool) {
	slot = int(l.links[l.slots+list].after)
	return slot, l.links[slot].since, slot < l.slots
}

// Rebase implements units.Rebaser.
func (l *idle) Rebase(by units.Time) {
	for i := range l.links {
		l.links[i].since.Rebase(by)
	}
}

// rest notes that no frame of a flow waits.
func (n *NIC) rest(now units.Time, id int) {
	list := idlePlain
	if n.slowed(now, &n.flows[id]) {
		list = idlePaced
	}
	n.idle.add(list, id, now)
}

// replace puts an idle flow where it belongs after a notification.
func (n *NIC) replace(now units.Time, id int) {
	if n.flows[id].queue.n == 0 {
		n.idle.remove(id)
		n.rest(now, id)
	}
}

// slowed reports whether frames of a flow may have to wait for longer than those of a new one.
func (n *NIC) slowed(now units.Time, f *appFlow) bool {
	return f.limited(now, n.config.Link.Rate) && !n.released(now, f) || f.limit != 0 && f.departure(now, n.pacer) > now
}

// released reports whether a flow was not notified for so long that it may send at line rate again.
func (n *NIC) released(now units.Time, f *appFlow) bool {
	return n.config.Release > 0 && now-f.lastNotice > n.config.Release
}

// spare is the flow that makes room for another; ok: there is one. Of those that nothing slows down, the one that is
// idle for longest has least to lose. The others keep their pace until they are silent for long, or it is over by
// itself.
func (n *NIC) spare(now units.Time) (id int, ok bool) {
	slow, since, found := n.idle.oldest(idlePaced)
	if found && since < now-n.config.Age {
		return slow, true
	}
	if id, _, ok = n.idle.oldest(idlePlain); ok {
		return id, true
	}
	for range expiryVisits {
		if slow >= n.idle.slots {
			break
		}
		if !n.slowed(now, &n.flows[slow]) {
			return slow, true
		}
		slow = int(n.idle.links[slow].after)
	}
	return flowtable.None, false
}
