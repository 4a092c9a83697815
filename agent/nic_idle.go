package agent

import "photon/units"

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
	idlePaced = iota // their pace is to be kept for a while
	idlePlain        // they have none: their place can be another's at any time
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
	f, list := &n.flows[id], idlePaced
	if n.config.Lossless>>f.prio&1 == 0 && f.limit == 0 && f.notified == 0 {
		list = idlePlain
	}
	n.idle.add(list, id, now)
}

// spare is the flow that makes room for another; ok: there is one.
func (n *NIC) spare(now units.Time) (id int, ok bool) {
	if id, since, ok := n.idle.oldest(idlePaced); ok && since < now-n.config.Age {
		return id, true
	}
	id, _, ok = n.idle.oldest(idlePlain)
	return id, ok
}
