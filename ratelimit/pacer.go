package ratelimit

import "photon/units"

// Classes is the number of priorities.
const Classes = 8

// MaxWeight is the largest weight of a flow or a tenant.
const MaxWeight = 255

// Pacer decides which flow sends next. A flow with something to send passes its methods in this order:
//
//	Wait      it waits in the wheel until its departure time,
//	Advance   then stands in the first-in first-out queue of its class,
//	Pop       until the port takes it, for one frame
//	Sent      which its tenant is charged for.
//
// Flows that are ready together share the port in turn, each with as many frames per turn as its weight.
//
// Flows may belong to tenants. A tenant's ready flows queue behind the tenant, which takes its turns at the port as a
// flow does, with its own weight. A tenant with a cap is a rate limiter of its own, and waits in the wheel between two
// frames.
//
// Beside each flow's timer lies a T, for what its next departure needs.
type Pacer[T any] struct {
	*Wheel[T]
	flows    int // the wheel's entries from here on are the tenants': for each, one per class
	port     queues
	tenants  []tenant
	lateness units.Time // see SetLateness
	_        [8]byte    // fill the cache line
}

// NewPacer returns a pacer for flows 0 to capacity-1, of tenants that are valid.
func NewPacer[T any](capacity int, tenants ...Tenant) *Pacer[T] {
	p := &Pacer[T]{Wheel: NewWheel[T](capacity + Classes*len(tenants)), flows: capacity, port: noQueues()}
	for i, t := range tenants {
		p.tenants = append(p.tenants, tenant{Tenant: t, ready: noQueues()})
		for class := range uint8(Classes) {
			e := &p.entries[p.tenantEntry(i, class)]
			e.class, e.weight, e.tenant = class, uint8(t.Weight), int16(i)
		}
	}
	return p
}

// NewElasticPacer returns a pacer without tenants for at most so many flows. Grow makes room for those that there are.
func NewElasticPacer[T any](most int) *Pacer[T] {
	return &Pacer[T]{Wheel: newElasticWheel[T](most), flows: most, port: noQueues()}
}

// Join sets a flow's weight, 1 to MaxWeight, and its tenant, -1 for none. The flow must neither wait nor be ready.
func (p *Pacer[T]) Join(flow, weight, tenant int) {
	e := &p.entries[flow]
	e.weight, e.turnLeft, e.tenant = uint8(weight), 0, int16(tenant)
}

// Wait schedules the flow's next departure for t, in place of one that was scheduled before. A flow that is ready
// already keeps its place in the queue.
func (p *Pacer[T]) Wait(flow int, class uint8, t units.Time) {
	e := &p.entries[flow]
	if e.queued {
		return
	}
	e.class = class
	p.Schedule(flow, t)
}

// Waiting reports whether the flow waits for its departure time, and until when.
func (p *Pacer[T]) Waiting(flow int) (units.Time, bool) {
	return p.entries[flow].at, p.Scheduled(flow)
}

// Class is that with which a flow waited last.
func (p *Pacer[T]) Class(flow int) uint8 { return p.entries[flow].class }

// Stop takes the flow out, whether it waits or is ready.
func (p *Pacer[T]) Stop(flow int) {
	p.Cancel(flow)
	e := &p.entries[flow]
	switch {
	case !e.queued:
	case e.tenant == noTenant:
		p.dequeue(&p.port, int32(flow))
	default:
		t := &p.tenants[e.tenant]
		if p.dequeue(&t.ready, int32(flow)); !t.ready.has(e.class) {
			p.withdraw(p.tenantEntry(int(e.tenant), e.class))
		}
	}
}

// Advance moves the flows whose departure times have come by now to the queues of their classes, and returns the set
// of classes that have a flow to send.
func (p *Pacer[T]) Advance(now units.Time) (classes uint8) {
	if p.knownNext() > now {
		p.advance(now)
		return p.port.classes
	}
	return p.enqueueDue(now)
}

func (p *Pacer[T]) enqueueDue(now units.Time) (classes uint8) {
	for {
		i, ok := p.Expire(now)
		if !ok {
			return p.port.classes
		}
		f := int32(i)
		if e := &p.entries[f]; e.tenant != noTenant && i < p.flows {
			p.enqueueOfTenant(f, now)
		} else {
			p.enqueue(&p.port, f)
		}
	}
}

// Ready is the set of classes that have a flow to send, as of the last Advance.
func (p *Pacer[T]) Ready() uint8 { return p.port.classes }

// Pop removes the first flow of a class that is ready, and returns it with its departure time.
func (p *Pacer[T]) Pop(class int) (flow int, due units.Time) {
	f := p.serveFirst(&p.port, class)
	if int(f) >= p.flows {
		f = p.serveTenant(f, class)
	}
	return int(f), p.entries[f].at
}

// PopSole does what Advance and Pop do in the case that a host with few flows mostly has: no flow is ready but one
// whose departure time has come, it is in the short list, has no tenant, and its class is one of those that are
// open. Otherwise it does nothing and reports false.
func (p *Pacer[T]) PopSole(now units.Time, open uint8) (flow int, due units.Time, ok bool) {
	n := p.list.n
	if n == 0 || p.port.classes != 0 {
		return 0, 0, false
	}
	first := p.list.fromEnd(0)
	if first.at > now || n > 1 && p.list.fromEnd(1).at <= now {
		return 0, 0, false
	}
	e := &p.entries[first.flow]
	class := e.class & (Classes - 1)
	if e.tenant != noTenant || open>>class&1 == 0 {
		return 0, 0, false
	}
	p.advance(now)
	flow = p.popList()
	q := &p.port.queue[class]
	if !q.continues(&e.timer, int32(flow)) {
		e.turnLeft = e.weight
	}
	q.serve(&e.timer, int32(flow))
	return flow, e.at, true
}

// Sent charges a frame of so many bytes on the wire, which has left, to the flow's tenant.
func (p *Pacer[T]) Sent(now units.Time, flow, bytes int) {
	if of := p.entries[flow].tenant; of != noTenant && p.tenants[of].Cap != 0 {
		p.charge(now, int(of), bytes)
	}
}

// maxCatchUp is how many frames a flow, or a tenant with a cap, may send at once to make up for a port that was served
// late: 64 KB of usual ones, as NICs' rate limiters send at once.
const maxCatchUp = 64

// SetLateness says how much too late the port is served, until it is called again; a world that polls may be. What
// flows could have sent since they send now, up to maxCatchUp frames each.
func (p *Pacer[T]) SetLateness(by units.Time) { p.lateness = by }

// Departure is when the next frame may leave, if the one before was due at a time and makes a gap. It counts from when
// that one was due and not from when it left, so that waiting for the port costs no rate, up to one gap, nor does a
// late poll.
func (p *Pacer[T]) Departure(now, due, gap units.Time) units.Time {
	behind := p.lateness
	if gap < behind/maxCatchUp {
		behind = maxCatchUp * gap
	}
	return max(now-behind, due.Add(gap))
}

// Rebase implements units.Rebaser.
func (p *Pacer[T]) Rebase(by units.Time) {
	p.Wheel.Rebase(by)
	for i := range p.tenants {
		p.tenants[i].next.Rebase(by)
	}
}
