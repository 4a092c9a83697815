package agent

import (
	"photon/cnp"
	"photon/pfc"
	"photon/units"
)

// What network cards have and simulators forget: the time from the decision to
// send a CNP until it is ready to leave, and from the arrival of a PFC frame
// until the port obeys it. Both are exact in virtual time; without them nothing
// here is used.

// latePauses is how many PFC frames may wait to be obeyed: of more, the oldest is
// obeyed early. They come once per frame of 64 bytes at most, and those that a
// switch sends once in half a pause.
const latePauses = 256

// delayed is what waits for its time. Rings, filled in the order of time.
type delayed struct {
	cnps     []lateCNP // of a power of two; empty: no delay
	cnpHead  uint32
	cnpTail  uint32
	pauses   []latePause // the same
	stopHead uint32
	stopTail uint32
}

type lateCNP struct {
	at     units.Time
	slot   int32
	notice cnp.Notice
}

type latePause struct {
	at    units.Time
	frame pfc.Frame
}

func newDelayed(c *Config) (d delayed) {
	if c.NPDelay > 0 {
		n := 64
		for n < c.Receivers {
			n *= 2
		}
		d.cnps = make([]lateCNP, n)
	}
	if c.PauseDelay > 0 {
		d.pauses = make([]latePause, latePauses)
	}
	return d
}

// cnpDue is when the next CNP may leave.
func (h *Host) cnpDue() units.Time {
	d := &h.delayed
	switch {
	case len(d.cnps) == 0:
		return h.notice
	case d.cnpHead == d.cnpTail:
		return units.Never
	}
	return d.cnps[d.cnpHead&uint32(len(d.cnps)-1)].at
}

// decide takes what the notification point has decided by now, to be sent a delay
// later. As long as there is no room, the notification point keeps the newest
// notice of each flow itself.
func (h *Host) decide(now units.Time) {
	d := &h.delayed
	for d.room() {
		due := h.notice
		if due > now {
			return
		}
		slot, notice, ok := h.poll(now)
		if !ok {
			continue
		}
		if due == 0 { // at once
			due = now
		}
		d.cnps[d.cnpTail&uint32(len(d.cnps)-1)] = lateCNP{due + h.config.NPDelay, int32(slot), notice}
		d.cnpTail++
		h.peers[slot].late++
	}
}

func (d *delayed) room() bool { return d.cnpTail-d.cnpHead < uint32(len(d.cnps)) }

// nextCNP is the next notice to send now.
func (h *Host) nextCNP(now units.Time) (slot int, n cnp.Notice, ok bool) {
	d := &h.delayed
	if len(d.cnps) == 0 {
		return h.poll(now)
	}
	c := &d.cnps[d.cnpHead&uint32(len(d.cnps)-1)]
	d.cnpHead++
	h.peers[c.slot].late--
	return int(c.slot), c.notice, true
}

// decision is when decide is to be called next.
func (h *Host) decision() units.Time {
	if d := &h.delayed; len(d.cnps) == 0 || !d.room() {
		return units.Never
	}
	return h.notice
}

// poll asks the notification point for a notice.
func (h *Host) poll(now units.Time) (slot int, n cnp.Notice, ok bool) {
	slot, n, ok = h.config.NP.Poll(now)
	h.notice = h.config.NP.Next()
	return slot, n, ok
}

// pause takes a PFC frame that arrived.
func (h *Host) pause(now units.Time, p *pfc.Frame) {
	d := &h.delayed
	if len(d.pauses) == 0 {
		h.obey(now, p)
		return
	}
	if d.stopTail-d.stopHead == latePauses {
		h.obey(now, &d.pauses[d.stopHead%latePauses].frame)
		d.stopHead++
	}
	d.pauses[d.stopTail%latePauses] = latePause{now + h.config.PauseDelay, *p}
	d.stopTail++
	h.note()
}

// note brings attend up to date.
func (h *Host) note() { h.attend = min(h.eg.Next(), h.nextPause()) }

// obey acts on a PFC frame.
func (h *Host) obey(at units.Time, p *pfc.Frame) {
	h.eg.Expire(at)
	h.eg.Receive(at, p)
	h.note()
	h.pauses()
}

// nextPause is when the next PFC frame that waits is to be obeyed.
func (h *Host) nextPause() units.Time {
	d := &h.delayed
	if d.stopHead == d.stopTail {
		return units.Never
	}
	return d.pauses[d.stopHead%latePauses].at
}

// obeyDue acts on the PFC frames whose time has come.
func (h *Host) obeyDue(now units.Time) {
	d := &h.delayed
	for d.stopHead != d.stopTail && h.nextPause() <= now {
		p := &d.pauses[d.stopHead%latePauses]
		h.obey(p.at, &p.frame)
		d.stopHead++
	}
	h.note()
}
