package agent

import (
	"math/bits"

	"photon/cnp"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Transmit fills burst with what goes to the wire, or to the application, next.
func (n *NIC) Transmit(now units.Time, port int, burst []fabric.Frame) (filled int) {
	if port == Application {
		return n.toApplication(now, burst)
	}
	n.pacer.SetLateness(n.punctual.served(now))
	n.expire(now)
	n.delayed.decide(now, n.config.NP)
	for filled < len(burst) {
		f, ok := n.pause(now)
		if !ok {
			f, ok = n.send(now)
		}
		if !ok {
			break
		}
		n.punctual.sent(&n.config.Link, int(f.Len))
		burst[filled] = f
		filled++
	}
	n.pacer.SetLateness(0) // what comes from the application now is not late
	n.holdApplication(now)
	return filled
}

// toApplication hands over what waits: priorities take turns, since an application that is slower than the wire takes
// those that are lossless for ever, and finds no host any more without the others.
func (n *NIC) toApplication(now units.Time, burst []fabric.Frame) (filled int) {
	st := &n.stats.Ports[Application]
	for filled < len(burst) && n.upReady != 0 {
		lower := n.upReady & (1<<n.upLast - 1)
		if lower == 0 {
			lower = n.upReady
		}
		prio := uint8(7 - bits.LeadingZeros8(lower))
		n.upLast = prio
		q := &n.up[prio]
		f := n.upCells.pop(q)
		if q.n == 0 {
			n.upReady &^= 1 << prio
		}
		if n.config.Lossless>>prio&1 == 0 {
			n.upLossy--
		}
		if n.in.Release(prio, int64(f.Len)) {
			n.env.Wake(Wire, now)
		}
		n.handed[prio]++
		st.TxFrames[prio]++
		st.TxBytes[prio] += uint64(f.Len)
		burst[filled] = f
		filled++
	}
	return filled
}

// pause makes the PFC frame that is due, if one is.
func (n *NIC) pause(now units.Time) (f fabric.Frame, ok bool) {
	if n.in.Next(now) > now {
		return f, false
	}
	if f, ok = n.env.Alloc(pfc.FrameLen); !ok {
		return f, false // it stays due
	}
	var what pfc.Frame
	n.in.Poll(now, &what)
	what.Encode(n.env.Header(f), n.config.MAC)
	n.stats.Ports[Wire].TxControl++
	return f, true
}

// send takes the next frame for the wire: of the highest priority that is not
// paused, CNPs, then what belongs to no flow, then flows in turn. What belongs to no flow
// has every second place, whatever its priority: flows may fill the wire for ever, and hosts
// that find each other no more lose what they send. A CNP or an echo
// for which there is no memory waits: what is queued leaves meanwhile, and gives some back.
func (n *NIC) send(now units.Time) (fabric.Frame, bool) {
	for lacking := false; ; {
		ready := n.pacer.Advance(now) | n.ready
		notice, echo := !lacking && n.delayed.cnpDue(n.config.NP.Next()) <= now, !lacking && !n.echoes.empty()
		if notice || echo {
			ready |= 1 << n.cnpPrio
		}
		if ready &^= n.egress.Paused(); ready == 0 {
			return fabric.Frame{}, false
		}
		prio := uint8(7 - bits.LeadingZeros8(ready))
		var f fabric.Frame
		made, gives := false, n.ready&ready != 0 && !n.gaveWay && (prio != n.cnpPrio || !notice && !echo)
		if gives {
			control := uint8(7 - bits.LeadingZeros8(n.ready&ready))
			gives, prio = control < prio, control
		}
		switch {
		case prio == n.cnpPrio && notice:
			if f, made, lacking = n.notify(now); !made {
				continue
			}
		case prio == n.cnpPrio && echo:
			if f, made, lacking = n.echo(); !made {
				continue
			}
		case n.ready>>prio&1 != 0:
			if f = n.cells.pop(&n.control[prio]); n.control[prio].n == 0 {
				n.ready &^= 1 << prio
			}
			n.dequeued(f)
		default:
			f = n.data(now, prio)
		}
		n.gaveWay = gives
		st := &n.stats.Ports[Wire]
		st.TxFrames[prio]++
		st.TxBytes[prio] += uint64(f.Len)
		return f, true
	}
}

// notify makes the next CNP, see Host.notify. Its addresses are the application's.
func (n *NIC) notify(now units.Time) (f fabric.Frame, made, stop bool) {
	if f, made = n.env.Alloc(cnp.MaxLen); !made {
		return f, false, true
	}
	slot, notice, ok := n.delayed.nextCNP(now, n.config.NP)
	if !ok {
		n.env.Free(f)
		return f, false, false
	}
	p, key := &n.peers[slot], n.table.Key(slot)
	to := wire.RoCE{DstMAC: p.there, SrcMAC: p.here, Src: key.here, Dst: key.there, TOS: n.config.ControlDSCP << 2, SrcPort: p.srcPort}
	qp, name := n.cnpName(&key)
	f.Len = uint16(cnp.EncodeNamed(n.env.Header(f), to, qp, name, notice))
	n.made[n.cnpPrio]++
	n.stats.NPSent++
	return f, true, false
}

// data takes the first frame of the first flow of a class and schedules the
// flow's next.
func (n *NIC) data(now units.Time, prio uint8) fabric.Frame {
	id, due := n.pacer.Pop(int(prio))
	fl := &n.flows[id]
	f := n.cells.pop(&fl.queue)
	n.dequeued(f)
	if fl.queue.n == n.config.FlowQueue-1 {
		n.full--
	}
	if fl.awaiting { // no echo came
		fl.awaiting, fl.arrived = false, fl.sent
	}
	if n.config.Carry.Ack && n.config.Judged>>prio&1 != 0 {
		n.wrap(now, &f, id)
	}
	if n.released(now, fl) && fl.limited(now, n.config.Link.Rate) {
		fl.rp.Start(now)
		fl.lastNotice = now
		n.stats.NIC.Released++
	}
	onWire := n.config.Link.WireBytes(int(f.Len))
	fl.rp.Sent(now, onWire)
	n.pacer.Sent(now, id, onWire)
	fl.base, fl.gapBytes = due, onWire
	fl.frames++
	fl.bytes += uint64(onWire)
	if fl.queue.n > 0 {
		n.schedule(now, id)
	} else {
		n.rest(now, id)
	}
	return f
}

// Next is now while something can be sent, else the next timer.
func (n *NIC) Next(now units.Time, port int) units.Time {
	if port == Wire {
		return n.punctual.ask(now, n.next(now))
	}
	if n.upReady != 0 {
		return now
	}
	return units.Never
}

func (n *NIC) next(now units.Time) units.Time {
	paused := n.egress.Paused()
	pending := n.pacer.Ready() | n.ready
	next := min(n.pacer.Next(), n.in.Next(now), n.delayed.decision(n.config.NP.Next()), n.delayed.nextPause())
	if due := n.delayed.cnpDue(n.config.NP.Next()); due <= now || !n.echoes.empty() {
		pending |= 1 << n.cnpPrio
	} else {
		next = min(next, due)
	}
	if pending&^paused != 0 {
		return now
	}
	if pending != 0 {
		next = min(next, n.egress.Next())
	}
	return max(now, next)
}
