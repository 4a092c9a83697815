package ratelimit

import (
	"fmt"

	"photon/units"
)

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

// tenant is a group of flows at work. In the wheel and in the port's queues it has an entry for each class, which is
// there while a flow of that class is ready.
type tenant struct {
	Tenant
	next  units.Time // before which its cap lets no frame leave
	ready queues     // of its flows
}

// tenantEntry is the number of a tenant's entry for a class.
func (p *Pacer[T]) tenantEntry(tenant int, class uint8) int32 {
	return int32(p.flows + tenant*Classes + int(class))
}

// enqueueOfTenant puts a flow behind the others of its tenant. For the first the tenant lines up at the port, as soon
// as its cap allows.
func (p *Pacer[T]) enqueueOfTenant(f int32, now units.Time) {
	e := &p.entries[f]
	t := &p.tenants[e.tenant]
	first := !t.ready.has(e.class)
	p.enqueue(&t.ready, f)
	if !first {
		return
	}
	if entry := p.tenantEntry(int(e.tenant), e.class); t.next > now {
		p.Schedule(int(entry), t.next)
	} else {
		p.enqueue(&p.port, entry)
	}
}

// serveTenant takes out the first ready flow of the tenant that the port has served, and lines the tenant up again for
// the flows behind it.
func (p *Pacer[T]) serveTenant(entry int32, class int) (flow int32) {
	t := &p.tenants[p.entries[entry].tenant]
	flow = p.serveFirst(&t.ready, class)
	if t.ready.has(uint8(class)) {
		p.enqueue(&p.port, entry)
	}
	return flow
}

// charge counts a frame against a tenant's cap. Until the next may leave the tenant waits in the wheel.
func (p *Pacer[T]) charge(now units.Time, of, bytes int) {
	t := &p.tenants[of]
	if t.next = p.Departure(now, t.next, t.Cap.Serialize(units.Size(bytes))); t.next <= now {
		return
	}
	for class := range uint8(Classes) {
		if t.ready.has(class) {
			entry := p.tenantEntry(of, class)
			p.withdraw(entry)
			p.Schedule(int(entry), t.next)
		}
	}
}

// withdraw takes a tenant's entry away from the port and from the wheel.
func (p *Pacer[T]) withdraw(entry int32) {
	p.Cancel(int(entry))
	if p.entries[entry].queued {
		p.dequeue(&p.port, entry)
	}
}
