package sim

import (
	"fmt"

	"photon/fabric"
	"photon/units"
)

// There are two kinds of events: a frame arrives at a port (arrive), and a port whose timer has come is asked for its
// next frame (transmit). In both the node may wake other ports of its own, which sets their timers.
//
// A port that an arrival wakes sends without an event of its own if that would be the next one anyway. That is most
// often so, and saves half of the timers.

// arrive hands the frame at hand to the node of a port, whose place in the world's list is given, too.
func (p *part) arrive(dst *port, id int) {
	dst.delivered++
	p.trace(p.now, id, p.burst[0].Len, p.burst[0].Digest)
	if p.taps != nil {
		p.recordFrame(id, &p.burst[0], false)
	}
	env := dst.env
	dst.node.Receive(p.now, int(dst.number), p.burst[:])
	first := id - int(dst.number)
	for _, number := range env.UsedExits() {
		p.sendExit(&p.ports[first+int(number)])
	}
	if env.Wakes() {
		p.serveWoken(env, first)
	}
}

// sendExit sends the frame that the node has put into the exit of a port, past its queues.
func (p *part) sendExit(src *port) {
	src.exit.N = 0
	p.events++
	p.send(src, &src.exit.Inline[0])
	if src.timer < src.exit.Free {
		p.setTimer(src, src.exit.Free)
	}
}

// serveWoken schedules the ports that an arrival has woken. If it is one port and nothing else happens at this instant
// at the node, whose first port is given, that port sends at once.
func (p *part) serveWoken(env *fabric.Env, first int) {
	woken := env.Woken()
	if len(woken) == 1 {
		src := &p.ports[first+int(woken[0])]
		if src.exit.Free <= p.now && env.Due(int(woken[0])) <= p.now && src.peer != unlinked {
			if p.lastOfInstant(first) && src.timer == units.Never {
				p.events++
				p.transmit(src)
				return
			}
		}
	}
	for _, number := range woken {
		p.schedule(&p.ports[first+int(number)], env.Due(int(number)))
	}
}

// transmit asks a port for a frame and puts it on the link.
func (p *part) transmit(src *port) {
	number := int(src.number)
	src.env.SetDue(number, units.Never)
	sent, next := src.node.Serve(p.now, number, &p.burst[0])
	if sent {
		p.send(src, &p.burst[0])
	}
	if !sent && next <= p.now {
		panic(fmt.Sprintf("sim: port %d of %s has nothing to send at %v and asks to be called at %v", number, p.members[src.flight.node].name, p.now, next))
	}
	src.env.SetDue(number, next)
	p.schedule(src, next)
	if src.env.Wakes() {
		p.scheduleWoken(src.env, p.members[src.flight.node].first)
	}
}

// send puts a frame on the link of a port.
func (p *part) send(src *port, f *fabric.Frame) {
	if p.taps != nil {
		p.recordFrame(p.members[src.flight.node].first+int(src.number), f, true)
	}
	took, ok := src.multiply(f.Len)
	if !ok {
		took = src.serialize(f.Len)
	}
	free := p.now + took
	src.exit.Free = free
	p.launch(src, free, f)
}

// launch puts a frame on the link of a port, which all of it has left at an instant.
func (p *part) launch(src *port, gone units.Time, f *fabric.Frame) {
	src.sent++
	if f.Digest == 0 {
		f.Digest = p.pool.Digest(f)
	}
	if src.peer >= 0 {
		p.carry(int(src.peer), gone+src.delay, f)
		return
	}
	p.exchange.send(src, gone+src.delay, f)
}

// scheduleWoken schedules the ports of a node that it has woken, and reports whether there are any. Its first port is
// given.
func (p *part) scheduleWoken(env *fabric.Env, first int) bool {
	woken := env.Woken()
	for _, number := range woken {
		p.schedule(&p.ports[first+int(number)], env.Due(int(number)))
	}
	return len(woken) > 0
}

// schedule sets the timer of a port whose node is due to be asked at an instant. It is not asked before the link is
// free.
func (p *part) schedule(src *port, due units.Time) {
	if due != units.Never {
		due = max(due, src.exit.Free, p.now)
	}
	if src.peer != unlinked {
		p.setTimer(src, due)
	}
}
