package agent

import (
	"fmt"

	"photon/cnp"
	"photon/pfc"
	"photon/units"
)

// What network cards have and simulators forget: the time from the decision to
// send a CNP until it is ready to leave, and from the arrival of a PFC frame
// until the port obeys it. Both are exact in virtual time; without them nothing
// here is used.

// mostDelayedPauses is how many PFC frames may wait to be obeyed: of more, the oldest is
// obeyed early. They come once per frame of 64 bytes at most, and those that a
// switch sends once in half a pause.
const mostDelayedPauses = 256

// delayed is what waits for its time. Rings, filled in the order of time.
type delayed struct {
	npDelay    units.Time
	pauseDelay units.Time

	cnps        []delayedCNP // of a power of two; empty: no delay
	waitingCNPs []uint32     // CNPs that wait, by slot of the flow
	cnpHead     uint32
	cnpTail     uint32
	pauses      []delayedPause // the same
	stopHead    uint32
	stopTail    uint32
}

type delayedCNP struct {
	at     units.Time
	slot   int32
	notice cnp.Notice
}

type delayedPause struct {
	at    units.Time
	frame pfc.Frame
}

func newDelayed(npDelay, pauseDelay units.Time, receivers int) (d delayed) {
	d.npDelay, d.pauseDelay = npDelay, pauseDelay
	if npDelay > 0 {
		n := 64
		for n < receivers {
			n *= 2
		}
		d.cnps, d.waitingCNPs = make([]delayedCNP, n), make([]uint32, receivers)
	}
	if pauseDelay > 0 {
		d.pauses = make([]delayedPause, mostDelayedPauses)
	}
	return d
}

// notices is what is asked of a notification point here.
type notices interface {
	Next() units.Time
	Poll(now units.Time) (slot int, n cnp.Notice, ok bool)
}

// remembered is a host's notification point, asked for its next instant only when
// that may have changed.
type remembered Host

func (r *remembered) Next() units.Time { return r.npNext }

func (r *remembered) Poll(now units.Time) (slot int, n cnp.Notice, ok bool) {
	slot, n, ok = r.np.Poll(now)
	r.npNext = r.np.Next()
	return slot, n, ok
}

// poll asks for a notice. A notification point that has none although one is due would be asked for ever.
func poll(now units.Time, np notices) (slot int, n cnp.Notice, ok bool) {
	if slot, n, ok = np.Poll(now); !ok && np.Next() <= now {
		panic(fmt.Sprintf("notification point: at %v its Poll has no notice, and its Next is still %v", now, np.Next()))
	}
	return slot, n, ok
}

// cnpDue is when the next CNP may leave; notice is when the notification point has one.
func (d *delayed) cnpDue(notice units.Time) units.Time {
	switch {
	case len(d.cnps) == 0:
		return notice
	case d.cnpHead == d.cnpTail:
		return units.Never
	}
	return d.cnps[d.cnpHead&uint32(len(d.cnps)-1)].at
}

// decide takes what the notification point has decided by now, to be sent a delay
// later. As long as there is no room, the notification point keeps the newest
// notice of each flow itself.
func (d *delayed) decide(now units.Time, np notices) {
	for d.room() {
		due := np.Next()
		if due > now {
			return
		}
		slot, notice, ok := poll(now, np)
		if !ok {
			continue
		}
		if due == 0 { // at once
			due = now
		}
		d.cnps[d.cnpTail&uint32(len(d.cnps)-1)] = delayedCNP{due + d.npDelay, int32(slot), notice}
		d.cnpTail++
		d.waitingCNPs[slot]++
	}
}

func (d *delayed) room() bool { return d.cnpTail-d.cnpHead < uint32(len(d.cnps)) }

// waits reports whether CNPs of a flow wait: it must not be forgotten.
func (d *delayed) waits(slot int) bool { return len(d.waitingCNPs) > 0 && d.waitingCNPs[slot] > 0 }

// nextCNP is the next notice to send now.
func (d *delayed) nextCNP(now units.Time, np notices) (slot int, n cnp.Notice, ok bool) {
	if len(d.cnps) == 0 {
		return poll(now, np)
	}
	c := &d.cnps[d.cnpHead&uint32(len(d.cnps)-1)]
	d.cnpHead++
	d.waitingCNPs[c.slot]--
	return int(c.slot), c.notice, true
}

// decision is when decide is to be called next; notice is when the notification
// point has something.
func (d *delayed) decision(notice units.Time) units.Time {
	if len(d.cnps) == 0 || !d.room() {
		return units.Never
	}
	return notice
}

// pause takes a PFC frame that arrived, and returns one that is to be obeyed at
// once, if there is one.
func (d *delayed) pause(now units.Time, p *pfc.Frame) (obey pfc.Frame, ok bool) {
	if len(d.pauses) == 0 {
		return *p, true
	}
	if ok = d.stopTail-d.stopHead == mostDelayedPauses; ok {
		obey = d.pauses[d.stopHead%mostDelayedPauses].frame
		d.stopHead++
	}
	d.pauses[d.stopTail%mostDelayedPauses] = delayedPause{now + d.pauseDelay, *p}
	d.stopTail++
	return obey, ok
}

// nextPause is when the next PFC frame that waits is to be obeyed.
func (d *delayed) nextPause() units.Time {
	if d.stopHead == d.stopTail {
		return units.Never
	}
	return d.pauses[d.stopHead%mostDelayedPauses].at
}

// duePause returns the next PFC frame whose time has come, and that time.
func (d *delayed) duePause(now units.Time) (p *pfc.Frame, at units.Time) {
	if d.stopHead == d.stopTail || d.nextPause() > now {
		return nil, 0
	}
	late := &d.pauses[d.stopHead%mostDelayedPauses]
	d.stopHead++
	return &late.frame, late.at
}

// any reports whether there is a delay at all.
func (d *delayed) any() bool { return len(d.cnps)+len(d.pauses) > 0 }

// note brings attend up to date.
func (h *Host) note() {
	if h.attend = min(h.egress.Next(), h.delayed.nextPause()); len(h.reached) > 0 {
		h.attend = 0 // see reach
	}
}

// obey acts on a PFC frame.
func (h *Host) obey(at units.Time, p *pfc.Frame) {
	h.egress.Expire(at)
	h.egress.Receive(at, p)
	h.note()
	h.pauses()
}

// obey acts on a PFC frame.
func (n *NIC) obey(at units.Time, p *pfc.Frame) {
	n.egress.Expire(at)
	n.egress.Receive(at, p)
	n.pauses()
}
