package agent

import (
	"encoding/binary"

	"photon/fabric"
	"photon/flowtable"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// Receive takes frames from the wire or from the application.
func (n *NIC) Receive(now units.Time, port int, burst []fabric.Frame) {
	n.expire(now)
	for i := range burst {
		if port == Wire {
			n.fromWire(now, burst[i])
		} else {
			n.fromApplication(now, burst[i])
		}
	}
	n.delayed.decide(now, n.config.NP)
	n.holdApplication(now)
	n.env.Wake(Wire, n.Next(now, Wire))
	if n.upReady != 0 {
		n.env.Wake(Application, now)
	}
}

// fromApplication queues a frame with its flow.
func (n *NIC) fromApplication(now units.Time, f fabric.Frame) {
	b := n.env.Header(f)
	var h wire.Header
	f.Prio, f.Digest = 0, 0 // it may be written to
	if !wire.Parse(b, &h) {
		n.count(Application, f)
		n.discard(Application, f, fabric.DropMalformed)
		return
	}
	if c := n.config.SetDSCP; c != 0 && h.L3 != 0 && h.TOS>>2 == 0 {
		wire.SetDSCP(b[h.L3:], c)
		h.TOS |= c << 2
	}
	f.Prio = n.priority(&h)
	n.count(Application, f)
	switch {
	case int(f.Len) > n.config.MTU+h.Payload:
		n.discard(Application, f, fabric.DropOversize)
		return
	case h.EtherType == wire.TypeMACControl || h.EtherType == wire.TypeCNM || isProbe(&h) || isCNP(b, &h) || isShim(b, &h):
		n.discard(Application, f, fabric.DropForged)
		return
	}
	n.learn(now, h.Src)
	if n.queued >= n.config.Queue {
		n.discard(Application, f, fabric.DropTail)
		return
	}
	n.connections.follow(now, n.config.Age, b, &h, true)
	key, ok := classify(b, &h, f.Prio, true)
	if !ok || isAnswer(b, &h) && n.mayPass(key) {
		n.passControl(f)
		return
	}
	id := n.flowOf(now, key)
	if id == flowtable.None {
		if n.config.Judged>>f.Prio&1 == 0 { // not under the scheme: it passes as what is of no flow does
			n.passControl(f)
			return
		}
		n.discard(Application, f, fabric.DropTable)
		return
	}
	fl := &n.flows[id]
	fl.peer = h.Dst
	limit := n.config.FlowQueue
	if n.config.HoldFull {
		limit += fabric.MaxBurst // what comes before the port is held
	}
	if fl.queue.n >= limit {
		n.discard(Application, f, fabric.DropFlowQueue)
		return
	}
	if n.config.Judged>>f.Prio&1 != 0 {
		switch {
		case !n.config.Carry.Ack:
			n.setECT(b, &h)
		case !n.room(&f, &h): // what goes before it is ECN-capable
			n.discard(Application, f, fabric.DropNoMemory)
			return
		}
	}
	if n.config.Carry.Tag {
		n.tag(&f, &h, id)
	}
	n.cells.push(&fl.queue, f)
	n.enqueued(f)
	if fl.queue.n == n.config.FlowQueue {
		n.full++
	}
	if fl.queue.n == 1 {
		n.idle.remove(id)
		n.schedule(now, id)
	}
}

func (n *NIC) enqueued(f fabric.Frame) {
	n.took[f.Prio]++
	n.queued++
	n.waiting[f.Prio] += units.Size(f.Len)
	p := &n.stats.Ports[Wire].QueuePeak[f.Prio]
	*p = max(*p, n.waiting[f.Prio])
}

func (n *NIC) dequeued(f fabric.Frame) {
	n.sent[f.Prio]++
	n.queued--
	n.waiting[f.Prio] -= units.Size(f.Len)
}

// passControl queues a frame that belongs to no flow.
func (n *NIC) passControl(f fabric.Frame) {
	q := &n.control[f.Prio]
	if q.n >= controlQueue {
		n.discard(Application, f, fabric.DropTail)
		return
	}
	n.cells.push(q, f)
	n.enqueued(f)
	n.ready |= 1 << f.Prio
	n.stats.NIC.Control++
}

// mayPass reports whether an answer to a packet may go before data. It must not overtake what
// answers an earlier packet of its connection: the requester would take that for lost.
func (n *NIC) mayPass(key appKey) bool {
	id := n.byKey.Lookup(key)
	return (id == flowtable.None || n.flows[id].queue.n == 0) && n.control[key.prio].n < controlQueue
}

// expiryVisits bounds how many entries of a table are looked at to make room for one.
const expiryVisits = 16

// flowOf returns the slot of a flow, which begins if it is new, or None if there
// is no room for it.
func (n *NIC) flowOf(now units.Time, key appKey) int {
	id, fresh := n.byKey.Insert(key, now)
	if id == flowtable.None {
		old, ok := n.spare(now)
		if !ok {
			return flowtable.None
		}
		n.forget(old)
		id, fresh = n.byKey.Insert(key, now)
	}
	if !fresh {
		return id
	}
	f := &n.flows[id]
	*f = appFlow{prio: key.prio, lastNotice: now, use: f.use + 1}
	f.rp = n.idleRPs.take(key.prio, n.config.NewRP, &n.ports[key.prio])
	f.rp.Start(now)
	if n.config.Carry.Ack && n.config.Judged>>f.prio&1 != 0 {
		f.acker, _ = f.rp.(ratelimit.Acker)
		f.windower, _ = f.rp.(ratelimit.Windower)
	}
	weight, tenant := 1, 0
	if r := n.config.rule(&key); r != nil {
		weight, tenant, f.limit = max(1, r.Weight), r.Tenant, r.Limit
	}
	n.pacer.Join(id, weight, tenant-1)
	n.rest(now, id)
	n.stats.FlowsBegun++
	return id
}

// forget ends a flow of which nothing waits.
func (n *NIC) forget(id int) {
	f := &n.flows[id]
	n.idleRPs.put(f.prio, f.rp)
	n.idle.remove(id)
	n.byKey.Delete(id)
	*f = appFlow{prio: f.prio, use: f.use}
}

// departure is when the next frame may leave at the rate of now.
func (f *appFlow) departure(now units.Time, p *ratelimit.Pacer[struct{}]) units.Time {
	if f.frames == 0 {
		return now
	}
	return p.Departure(now, f.base, f.rate(now).Serialize(units.Size(f.gapBytes)))
}

// setECT makes a frame ECN-capable in the way of the scheme. The application is
// the first to send it: no switch can have marked it yet, and where the other
// codepoint is a mark, it must not leave with it.
func (n *NIC) setECT(b []byte, h *wire.Header) {
	was, ect := h.TOS&3, n.config.Carry.ECT
	if was == ect || was != wire.NotECT && was != wire.CE && ect == wire.ECT0 {
		return
	}
	wire.SetECN(b[h.L3:], ect)
	n.stats.NIC.ECT++
}

// tag inserts a congestion notification tag with the flow's number behind the
// frame's other tags.
func (n *NIC) tag(f *fabric.Frame, h *wire.Header, id int) {
	f.Off -= wire.CNTagLen
	f.Len += wire.CNTagLen
	b := n.env.Header(*f)
	at := h.Payload - 2
	copy(b[:at], b[wire.CNTagLen:wire.CNTagLen+at])
	binary.BigEndian.PutUint16(b[at:], wire.TypeCNTag)
	binary.BigEndian.PutUint16(b[at+2:], uint16(id))
}

// learn notes an address of the application: frames for others do not concern it.
func (n *NIC) learn(now units.Time, mac wire.MAC) {
	if mac.Multicast() {
		return
	}
	s := n.here.Lookup(mac)
	if s != flowtable.None {
		n.here.Touch(s, now)
		return
	}
	if s, _ = n.here.Insert(mac, now); s != flowtable.None {
		return
	}
	if old := n.here.Expire(now-macAge, expiryVisits); old != flowtable.None {
		n.here.Delete(old)
		n.here.Insert(mac, now)
	}
}

// holdApplication stops the application's port while too much of what it sends waits.
func (n *NIC) holdApplication(now units.Time) {
	want := n.drains || n.queued > n.config.Queue-fabric.MaxBurst || n.config.HoldFull && n.full > 0
	if want == n.applicationHeld {
		return
	}
	n.applicationHeld = want
	n.env.SetReceivePaused(Application, want)
	if want {
		n.since = now
		n.stats.NIC.Holds++
		return
	}
	n.stats.NIC.Held += now - n.since
}

// Drain takes nothing from the application any more; what waits still leaves.
func (n *NIC) Drain(now units.Time) {
	n.drains = true
	n.holdApplication(now)
}
