package sim

import (
	"fmt"

	"photon/dataplane"
	"photon/units"
)

// There are two kinds of events: a frame arrives at a port (arrive), and a port whose timer has come is asked for its
// next frame (transmit). In both the node may wake other ports of its own, which sets their timers.
//
// A port that an arrival wakes sends without an event of its own if that would be the next one anyway. That is most
// often so, and saves half of the timers.

// arrive hands the frame at hand to the node of a port.
func (p *part) arrive(id int) {
	dst := &p.ports[id]
	dst.delivered++
	p.trace(id, &p.burst[0])
	if p.taps != nil {
		p.recordFrame(id, false)
	}
	first := id - int(dst.number)
	env := dst.env
	env.Queue = p.visit.end == 0 || !p.lastOfInstant(first)
	dst.node.Receive(p.now, int(dst.number), p.burst[:])
	for _, number := range env.Left() {
		p.sendExit(first + int(number))
	}
	p.serveWoken(env, first)
}

// sendExit sends the frame that the node has put into the exit of a port, past its queues.
func (p *part) sendExit(id int) {
	src := &p.ports[id]
	src.exit.Take(&p.burst[0])
	p.events++
	p.send(src)
	if src.timer < src.exit.Free {
		p.setTimer(id, src.exit.Free)
	}
}

// serveWoken schedules the ports that an arrival has woken. If it is one port and nothing else happens at this instant
// at the node, whose first port is given, that port sends at once.
func (p *part) serveWoken(env *dataplane.Env, first int) {
	woken := env.Woken()
	if len(woken) == 1 {
		id := first + int(woken[0])
		if src := &p.ports[id]; src.exit.Free <= p.now && env.Due(int(woken[0])) <= p.now && src.peer != unlinked {
			if p.lastOfInstant(first) && src.timer == units.Never {
				p.events++
				p.transmit(id)
				return
			}
		}
	}
	for _, number := range woken {
		p.schedule(first+int(number), env.Due(int(number)))
	}
}

// transmit asks a port for a frame and puts it on the link.
func (p *part) transmit(id int) {
	src := &p.ports[id]
	number := int(src.number)
	src.env.SetDue(number, units.Never)
	sent, next := src.node.Serve(p.now, number, &p.burst[0])
	if sent {
		p.send(src)
	}
	if !sent && next <= p.now {
		panic(fmt.Sprintf("sim: port %d of %s has nothing to send at %v and asks to be called at %v", number, p.members[src.flight.node].name, p.now, next))
	}
	src.env.SetDue(number, next)
	p.schedule(id, next)
	if src.env.Wakes() {
		p.scheduleWoken(src.env, id-number)
	}
}

// send puts the frame at hand on the link of a port.
func (p *part) send(src *port) {
	f := &p.burst[0]
	if f.Digest == 0 {
		f.Digest = p.pool.Digest(f)
	}
	if p.taps != nil {
		p.recordFrame(p.members[src.flight.node].first+int(src.number), true)
	}
	src.sent++
	src.exit.Free = p.now + src.serialize(f.Len)
	if src.peer >= 0 {
		p.carry(int(src.peer), src.exit.Free+src.delay, f)
		return
	}
	p.exchange.send(p, src)
}

// scheduleWoken schedules the ports of a node that it has woken, and reports whether there are any. Its first port is
// given.
func (p *part) scheduleWoken(env *dataplane.Env, first int) bool {
	woken := env.Woken()
	for _, number := range woken {
		p.schedule(first+int(number), env.Due(int(number)))
	}
	return len(woken) > 0
}

// schedule sets the timer of a port whose node is due to be asked at an instant. It is not asked before the link is
// free.
func (p *part) schedule(id int, due units.Time) {
	src := &p.ports[id]
	if due != units.Never {
		due = max(due, src.exit.Free, p.now)
	}
	if src.peer != unlinked {
		p.setTimer(id, due)
	}
}
