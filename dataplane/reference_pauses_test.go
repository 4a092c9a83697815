package dataplane_test

import (
	"math"

	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
)

// What the reference makes of pauses: those it obeys, and those it sends.

func dropping(a pfc.Action) bool { return a == pfc.Drop || a == pfc.DropBoth }

func (r *reference) thresholds(p *refPort, prio int) pfc.Thresholds {
	t := r.config.PFC[prio]
	if p.config.Headroom > 0 {
		t.Headroom = p.config.Headroom
	}
	if p.config.Alpha > 0 {
		t.Alpha = p.config.Alpha
	}
	if p.room > 0 {
		t.Headroom = p.room
	}
	return t
}

// control consumes MAC control frames for the port itself, and probes for deadlocks.
func (r *reference) control(now units.Time, p *refPort, h *refHead, b []byte) bool {
	if len(h.tags) > 0 || h.payload != 14 {
		return false
	}
	switch {
	case h.etherType == 0x8808:
		p.stats.RxControl++
		p.stats.RxControlBytes += uint64(len(b))
		var f pfc.Frame
		if h.dst != 0x0180_C200_0001 || h.src.Multicast() || f.Decode(b) != nil {
			p.stats.BadControl++
			return true
		}
		r.attend(now, p)
		r.obey(now, p, &f)
		r.attend(now, p)
		return true
	case h.etherType == pfc.ProbeType && h.dst == pfc.ProbeDestination && r.config.Deadlock > 0:
		p.stats.RxControl++
		p.stats.RxControlBytes += uint64(len(b))
		if !new(pfc.Probe).Decode(b) {
			p.stats.BadControl++
		}
		return true
	}
	return false
}

// obey does what a PFC or PAUSE frame says.
func (r *reference) obey(now units.Time, p *refPort, f *pfc.Frame) {
	e := &p.stats.Egress
	some := p.config.Asymmetric
	for prio := range 8 {
		some = some || r.pfc(p, prio)
	}
	obeyed := uint8(0)
	for prio := range 8 {
		if f.Enable>>prio&1 != 0 && (f.Global && !some || !f.Global && (p.config.Asymmetric || r.pfc(p, prio))) { // PFC and PAUSE exclude each other
			obeyed |= 1 << prio
		}
	}
	if obeyed == 0 {
		e.Ignored++
	}
	for prio := range p.pauses {
		x := &p.pauses[prio]
		switch {
		case obeyed>>prio&1 == 0:
			if f.Enable>>prio&1 != 0 && !f.Global {
				e.Unheeded[prio]++
			}
		case f.Quanta[prio] == 0:
			e.Resumes[prio]++
			r.resume(now, now, p, prio)
		default:
			e.Pauses[prio]++
			if !x.paused {
				x.paused, x.since = true, now
			}
			x.until = now + p.rate.Serialize(units.Size(f.Quanta[prio])*64) // quanta of 512 bits
		}
	}
}

// resume ends a pause at an instant, which may be before now.
func (r *reference) resume(now, at units.Time, p *refPort, prio int) {
	x := &p.pauses[prio]
	if !x.paused {
		return
	}
	x.paused, x.ended = false, at
	p.stats.Egress.Transitions[prio]++
	p.stats.Egress.Paused[prio] += at - x.since
	r.tellResumed(now, p, prio)
}

// judges reports whether a congestion point has a say in a frame: in lossless ones, and in all of some priorities.
func (r *reference) judges(f refFrame) bool {
	return f.lossless || r.config.Judged>>f.prio&1 != 0
}

func (r *reference) tellResumed(now units.Time, p *refPort, prio int) {
	if cp := p.points[prio]; cp != nil {
		q := p.state(prio)
		for _, f := range p.queues[prio] {
			if !r.judges(f) { // the switch's own, which no congestion point sees leave: none is to wait for it
				q.Frames--
			}
		}
		cp.Resume(now, q)
	}
}

// attend does what time has done to a port's pauses and storms.
func (r *reference) attend(now units.Time, p *refPort) {
	for prio := range p.pauses {
		if x := &p.pauses[prio]; x.paused && x.until <= now {
			r.resume(now, x.until, p, prio)
		}
	}
	w := r.config.Watchdog
	for prio := range p.pauses {
		x := &p.pauses[prio]
		switch {
		case !r.pfc(p, prio):
		case !x.storm && w.Detect > 0 && x.paused && now-x.since >= w.Detect:
			x.storm, x.began = true, now
			p.stats.Watchdog.Storms[prio]++
			p.stats.Watchdog.Under[w.Action][prio]++
			if dropping(w.Action) {
				r.flush(now, p, prio, fabric.DropStorm)
			}
			if w.Action == pfc.Forward {
				r.tellResumed(now, p, prio)
			}
		case x.storm && (w.Detect == 0 || !x.paused && now-x.ended >= w.Restore):
			x.storm = false
			p.stats.Watchdog.Restored[prio]++
			p.stats.Watchdog.Time[prio] += now - x.began
		}
	}
}

func (r *reference) flush(now units.Time, p *refPort, prio int, why fabric.Reason) {
	for _, f := range p.queues[prio] {
		r.release(p, f)
		r.loseFrame(now, p, f, why)
	}
	if cp, ok := p.points[prio].(marking.Flusher); ok {
		cp.Flush()
	}
	p.queues[prio], p.deficit[prio] = nil, 0
}

// pfcFrame is the XOFFs, refreshes and XONs that are due, in one frame.
func (r *reference) pfcFrame(now units.Time, p *refPort) (f pfc.Frame, ok bool) {
	quanta, others := r.quanta(p), false
	for prio := 1; prio < 8; prio++ {
		others = others || p.accounts[prio].peerPaused
	}
	for prio := range 8 {
		if p.config.Pause && prio == 0 && others {
			continue // those that were paused by PFC are resumed before
		}
		a, in := &p.accounts[prio], &p.stats.Ingress
		xoff, xon := r.due(now, p, prio)
		switch {
		case xon:
			in.Resumes[prio]++
			in.Transitions[prio]++
			in.Paused[prio] += now - a.since
			a.peerPaused, a.refused, a.promised = false, false, int(r.thresholds(p, prio).Headroom)
			f.Enable |= 1 << prio
		case xoff:
			in.Pauses[prio]++
			if !a.peerPaused {
				a.peerPaused, a.since = true, now
			}
			a.refused = false
			a.refresh = now + pfc.Duration(quanta, p.rate)/2
			f.Enable |= 1 << prio
			f.Quanta[prio] = quanta
		}
		if p.config.Pause && prio == 0 && f.Enable != 0 {
			f.Global = true
		}
	}
	return f, f.Enable != 0
}

func (r *reference) quanta(p *refPort) uint16 {
	if r.config.Pause <= 0 {
		return pfc.MaxQuanta
	}
	return max(1, pfc.Quanta(r.config.Pause, p.rate))
}

// due reports whether the peer must be told something of a priority.
func (r *reference) due(now units.Time, p *refPort, prio int) (xoff, xon bool) {
	if !r.accountable(p, prio) {
		return false, p.accounts[prio].peerPaused // of before a reload
	}
	a, t := p.accounts[prio], r.thresholds(p, prio)
	raise := int(math.Floor(t.Alpha * float64(r.free())))
	switch {
	case !a.peerPaused:
		return a.head > 0 || a.refused || r.early>>prio&1 != 0 && a.base > int(t.XOFF)+raise, false
	case a.head == 0 && a.base <= int(t.XON)+raise:
		return false, true
	}
	return now >= a.refresh, false
}

// obeyed are the priorities of a port that its peer may pause by PFC, and those that the watchdog watches.
func (r *reference) obeyed(p *refPort) (obeyed, watched uint8) {
	for prio := range 8 {
		if r.pfc(p, prio) {
			watched |= 1 << prio
		}
	}
	if p.config.Asymmetric {
		return 0xFF, watched
	}
	return watched, watched
}

// reobey ends pauses and storms of a port that nobody can have caused by the configuration of now.
func (r *reference) reobey(now units.Time, p *refPort, obeyed, watched uint8) {
	o, w := r.obeyed(p)
	for prio := range 8 {
		if o != obeyed && (o>>prio&1 == 0 || o == 0 || obeyed == 0) {
			r.resume(now, now, p, prio)
		}
	}
	if w == watched {
		return
	}
	for prio := range 8 {
		if x := &p.pauses[prio]; x.storm && w>>prio&1 == 0 {
			x.storm = false
			p.stats.Watchdog.Restored[prio]++
			p.stats.Watchdog.Time[prio] += now - x.began
		}
	}
	r.attend(now, p)
}
