package ratelimit

import (
	"fmt"

	"photon/units"
)

// PacerWith decides which flow sends next. A flow with something to send waits in
// the wheel until its departure time, then stands in the first-in first-out
// queue of its class until the port takes it: flows that are ready together
// share the port in turn, each with as many frames per turn as its weight. A
// flow is never in both places.
//
// Flows may belong to tenants. A tenant's ready flows queue behind the tenant,
// which takes its turns at the port as a flow does, with its own weight; a tenant
// with a cap is a rate limiter of its own, and waits in the wheel between two
// frames.
type PacerWith[T any] struct {
	*WheelWith[T]
	flows   int   // entries from here on are tenants': one for each class
	ready   uint8 // classes with something in their queue
	queue   [Classes]ring
	tenants []tenant
	late    units.Time // see Late
	_       [8]byte    // whole lines of the cache
}

// Pacer is one with timers only.
type Pacer = PacerWith[struct{}]

// Classes is the number of priorities.
const Classes = 8

// MaxWeight is the largest weight of a flow or a tenant.
const MaxWeight = 255

// Tenant describes a group of flows.
type Tenant struct {
	Weight int        // frames per turn at the port, of all its flows together, 1 to MaxWeight
	Cap    units.Rate // all its flows together never send faster, on the wire; 0: no cap
}

// Validate says what is wrong with the tenant, in one line.
func (t Tenant) Validate() error {
	switch {
	case t.Weight < 1 || t.Weight > MaxWeight:
		return fmt.Errorf("weight %d: from 1 to %d", t.Weight, MaxWeight)
	case t.Cap < 0:
		return fmt.Errorf("cap %v must not be negative", t.Cap)
	}
	return nil
}

type tenant struct {
	Tenant
	next  units.Time // its cap lets no frame leave before
	queue [Classes]ring
	ready uint8
}

// ring is a queue. Who was served last goes on first if its turn is not over.
type ring struct {
	head int32
	last int32
}

// NewPacer returns a pacer for flows 0 to capacity-1, of tenants that are valid.
func NewPacer(capacity int, tenants ...Tenant) *Pacer {
	return NewPacerWith[struct{}](capacity, tenants...)
}

// NewPacerWith returns one with a T beside each timer.
func NewPacerWith[T any](capacity int, tenants ...Tenant) *PacerWith[T] {
	p := &PacerWith[T]{WheelWith: NewWheelWith[T](capacity + Classes*len(tenants)), flows: capacity}
	for c := range p.queue {
		p.queue[c].last = nobody
	}
	for i, t := range tenants {
		p.tenants = append(p.tenants, tenant{Tenant: t})
		for c := range Classes {
			p.tenants[i].queue[c].last = nobody
			e := &p.entry[p.entity(i, uint8(c))]
			e.class, e.weight, e.tenant = uint8(c), uint8(t.Weight), int16(i)
		}
	}
	return p
}

// NewElasticPacer returns a pacer without tenants for at most as many flows as
// most; Room makes the places of those that there are.
func NewElasticPacer[T any](most int) *PacerWith[T] {
	p := &PacerWith[T]{WheelWith: newWheel[T](most), flows: most}
	for c := range p.queue {
		p.queue[c].last = nobody
	}
	return p
}

// entity is the entry with which a tenant stands at the port for a class.
func (p *PacerWith[T]) entity(tenant int, class uint8) int32 {
	return int32(p.flows + tenant*Classes + int(class))
}

// Join sets a flow's weight, 1 to MaxWeight, and its tenant, -1 for none. The
// flow must not wait or stand anywhere.
func (p *PacerWith[T]) Join(flow, weight, tenant int) {
	e := &p.entry[flow]
	e.weight, e.left, e.tenant = uint8(weight), 0, int16(tenant)
}

// Wait schedules the flow's next departure for t, in place of one that was
// scheduled before. One that stands in a queue already keeps its place there.
func (p *PacerWith[T]) Wait(flow int, class uint8, t units.Time) {
	e := &p.entry[flow]
	if e.queued {
		return
	}
	e.class = class
	p.Schedule(flow, t)
}

// Waiting reports whether the flow waits for its departure time, and until when.
func (p *PacerWith[T]) Waiting(flow int) (units.Time, bool) {
	return p.entry[flow].at, p.Scheduled(flow)
}

// Class is that with which a flow waited, or was given out, last.
func (p *PacerWith[T]) Class(flow int) uint8 { return p.entry[flow].class }

// Stop takes the flow out, wherever it is.
func (p *PacerWith[T]) Stop(flow int) {
	p.Cancel(flow)
	e := &p.entry[flow]
	if !e.queued {
		return
	}
	if e.tenant == nobody {
		p.remove(&p.queue[e.class], &p.ready, int32(flow))
		return
	}
	t := &p.tenants[e.tenant]
	if p.remove(&t.queue[e.class], &t.ready, int32(flow)); t.ready>>e.class&1 == 0 {
		p.withdraw(p.entity(int(e.tenant), e.class))
	}
}

// withdraw takes a tenant away from the port and from the wheel.
func (p *PacerWith[T]) withdraw(entity int32) {
	p.Cancel(int(entity))
	if e := &p.entry[entity]; e.queued {
		p.remove(&p.queue[e.class], &p.ready, entity)
	}
}

// Turn moves the flows whose time has come by now to the queues of their
// classes and returns the classes that have a flow to send.
func (p *PacerWith[T]) Turn(now units.Time) (ready uint8) {
	at := p.soon
	if n := p.lone; n > 0 {
		at = p.few[(n-1)&(mostFew-1)].at
	}
	if at > now {
		p.note(now)
		return p.ready
	}
	return p.turn(now)
}

func (p *PacerWith[T]) turn(now units.Time) (ready uint8) {
	for {
		i, ok := p.Expire(now)
		if !ok {
			return p.ready
		}
		f := int32(i)
		e := &p.entry[f]
		if e.tenant == nobody || i >= p.flows {
			p.append(&p.queue[e.class], &p.ready, f)
			continue
		}
		t := &p.tenants[e.tenant]
		alone := t.ready>>e.class&1 == 0
		if p.append(&t.queue[e.class], &t.ready, f); alone {
			p.present(t, p.entity(int(e.tenant), e.class), now)
		}
	}
}

// present lets a tenant queue for the port, as soon as its cap allows.
func (p *PacerWith[T]) present(t *tenant, entity int32, now units.Time) {
	if t.next > now {
		p.Schedule(int(entity), t.next)
		return
	}
	p.append(&p.queue[p.entry[entity].class], &p.ready, entity)
}

// mostBehind is how many frames a flow, or a tenant with a cap, may make good for: 64 KB of usual ones,
// as NICs' rate limiters send at once.
const mostBehind = 64

// Late tells by how much too late the port is served, until it is told again: a world that polls may be.
// What flows could have sent since they send now, up to mostBehind frames each.
func (p *PacerWith[T]) Late(by units.Time) { p.late = by }

// After is when the next frame may leave, a gap after one was due (not after it left): waiting for the port
// costs no rate, up to one gap, nor does a late poll.
func (p *PacerWith[T]) After(now, due, gap units.Time) units.Time {
	behind := p.late
	if gap < behind/mostBehind {
		behind = mostBehind * gap
	}
	return max(now-behind, due.Add(gap))
}

// Alone does what Turn and Pop do, if the one flow whose time has come is to be served: there
// are few timers, nobody stands in a queue, and the flow is of no tenant and of one of
// the classes in open. If not it does nothing, and reports false.
func (p *PacerWith[T]) Alone(now units.Time, open uint8) (flow int, due units.Time, ok bool) {
	n := p.lone
	if n == 0 || p.ready != 0 {
		return 0, 0, false
	}
	first := &p.few[(n-1)&(mostFew-1)]
	if first.at > now || n > 1 && p.few[(n-2)&(mostFew-1)].at <= now {
		return 0, 0, false
	}
	e := &p.entry[first.flow]
	class := e.class & (Classes - 1)
	if e.tenant != nobody || open>>class&1 == 0 {
		return 0, 0, false
	}
	p.note(now)
	p.lone = n - 1
	p.count--
	e.where = nobody
	q := &p.queue[class]
	if e.left == 0 || q.last != first.flow { // a new turn
		e.left = e.weight
	}
	e.left--
	q.last = first.flow
	return int(first.flow), e.at, true
}

// Ready is the set of classes that have a flow to send, as of the last Turn.
func (p *PacerWith[T]) Ready() uint8 { return p.ready }

// Pop removes the first flow of a class that is ready, and returns it with the
// time that was its departure time.
func (p *PacerWith[T]) Pop(class int) (flow int, due units.Time) {
	f := p.queue[class].head
	p.remove(&p.queue[class], &p.ready, f)
	p.serve(&p.queue[class], f)
	if int(f) >= p.flows {
		entity := f
		t := &p.tenants[p.entry[entity].tenant]
		f = t.queue[class].head
		p.remove(&t.queue[class], &t.ready, f)
		p.serve(&t.queue[class], f)
		if t.ready>>class&1 != 0 {
			p.append(&p.queue[class], &p.ready, entity)
		}
	}
	return int(f), p.entry[f].at
}

// serve counts a frame of who was first in a queue.
func (p *PacerWith[T]) serve(q *ring, f int32) {
	q.last = f
	p.entry[f].left--
}

// Sent tells that a frame of bytes on the wire of a flow left: a tenant with a
// cap may send its next a gap after this one was allowed, see After.
func (p *PacerWith[T]) Sent(now units.Time, flow, bytes int) {
	of := p.entry[flow].tenant
	if of == nobody || p.tenants[of].Cap == 0 {
		return
	}
	t := &p.tenants[of]
	if t.next = p.After(now, t.next, t.Cap.Serialize(units.Size(bytes))); t.next <= now {
		return
	}
	for c := range uint8(Classes) {
		if t.ready>>c&1 != 0 {
			entity := p.entity(int(of), c)
			p.withdraw(entity)
			p.Schedule(int(entity), t.next)
		}
	}
}

// append puts f behind a queue, for a new turn, or in front if its turn is not over.
func (p *PacerWith[T]) append(q *ring, ready *uint8, f int32) {
	e := &p.entry[f]
	e.queued = true
	goesOn := e.left > 0 && q.last == f
	if !goesOn {
		e.left = e.weight
	}
	if *ready>>e.class&1 == 0 {
		*ready |= 1 << e.class
		q.head, e.next, e.prev = f, f, f
		return
	}
	p.link(q.head, f)
	if goesOn {
		q.head = f
	}
}

func (p *PacerWith[T]) remove(q *ring, ready *uint8, f int32) {
	e := &p.entry[f]
	e.queued = false
	if e.next == f {
		*ready &^= 1 << e.class
		return
	}
	p.entry[e.prev].next, p.entry[e.next].prev = e.next, e.prev
	if q.head == f {
		q.head = e.next
	}
}

// Rebase implements units.Rebaser.
func (p *PacerWith[T]) Rebase(by units.Time) {
	p.WheelWith.Rebase(by)
	for i := range p.tenants {
		p.tenants[i].next.Rebase(by)
	}
}
