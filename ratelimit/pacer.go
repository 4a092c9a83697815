package ratelimit

import (
	"photon/units"
)

// Pacer decides which flow sends next. A flow with something to send waits in
// the wheel until its departure time, then stands in the first-in first-out
// queue of its class until the port takes it: flows that are ready together
// share the port in turn, one frame each. A flow is never in both places.
type Pacer struct {
	wheel *Wheel
	flows []paced
	queue [Classes]ring
	ready uint8 // classes with a flow in their queue
}

// Classes is the number of priorities.
const Classes = 8

type paced struct {
	due        units.Time
	class      uint8
	queued     bool
	next, prev int32
}

type ring struct{ head int32 }

// NewPacer returns a pacer for flows 0 to capacity-1.
func NewPacer(capacity int) *Pacer {
	return &Pacer{wheel: NewWheel(capacity), flows: make([]paced, capacity)}
}

// Wait schedules the flow's next departure for t, in place of one that was
// scheduled before. It must not stand in a queue.
func (p *Pacer) Wait(flow int, class uint8, t units.Time) {
	p.flows[flow].due, p.flows[flow].class = t, class
	p.wheel.Schedule(flow, t)
}

// Waiting reports whether the flow waits for its departure time, and until when.
func (p *Pacer) Waiting(flow int) (units.Time, bool) {
	return p.flows[flow].due, p.wheel.Scheduled(flow)
}

// Stop takes the flow out, wherever it is.
func (p *Pacer) Stop(flow int) {
	p.wheel.Cancel(flow)
	if p.flows[flow].queued {
		p.remove(int32(flow))
	}
}

// Turn moves the flows whose time has come by now to the queues of their
// classes and returns the classes that have a flow to send.
func (p *Pacer) Turn(now units.Time) (ready uint8) {
	for {
		flow, ok := p.wheel.Expire(now)
		if !ok {
			return p.ready
		}
		p.append(int32(flow))
	}
}

// Ready is the set of classes that have a flow to send, as of the last Turn.
func (p *Pacer) Ready() uint8 { return p.ready }

// Pop removes the first flow of a class that is ready, and returns it with the
// time that was its departure time.
func (p *Pacer) Pop(class int) (flow int, due units.Time) {
	f := p.queue[class].head
	p.remove(f)
	return int(f), p.flows[f].due
}

// Next returns a time before which Turn moves nothing, see Wheel.Next.
func (p *Pacer) Next() units.Time { return p.wheel.Next() }

func (p *Pacer) append(f int32) {
	flow := &p.flows[f]
	flow.queued = true
	q := &p.queue[flow.class]
	if p.ready>>flow.class&1 == 0 {
		p.ready |= 1 << flow.class
		q.head, flow.next, flow.prev = f, f, f
		return
	}
	last := p.flows[q.head].prev
	p.flows[last].next, flow.prev = f, last
	flow.next, p.flows[q.head].prev = q.head, f
}

func (p *Pacer) remove(f int32) {
	flow := &p.flows[f]
	flow.queued = false
	if flow.next == f {
		p.ready &^= 1 << flow.class
		return
	}
	p.flows[flow.prev].next, p.flows[flow.next].prev = flow.next, flow.prev
	if q := &p.queue[flow.class]; q.head == f {
		q.head = flow.next
	}
}
