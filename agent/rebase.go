package agent

import "photon/units"

// What a host, a NIC and a host's traffic do when the clock is set back (units.Rebaser).

// Rebase implements units.Rebaser.
func (h *Host) Rebase(by units.Time) {
	h.attend.Rebase(by)
	h.nextAnnounce.Rebase(by)
	h.egress.Rebase(by)
	if h.credit != nil {
		h.credit.Rebase(by)
	}
	units.Rebase(h.config.NP, by)
	h.npNext.RebaseSet(by) // zero: at once
	h.delayed.Rebase(by)
	h.punctual.Rebase(by)
	h.laps += by
	h.pacer.Rebase(by)
	h.byPeer.Rebase(by)
	h.table.Rebase(by)
	for i := range h.ports {
		h.ports[i].Rebase(by)
	}
	for i := range h.peers {
		h.peers[i].lastSeen.Rebase(by)
	}
	for i := range h.flows {
		h.flows[i].Rebase(by)
		h.pacer.Beside(i).base.Rebase(by)
	}
	h.stats.Ports[0].Rebase(by)
	if h.pairs != nil {
		for _, q := range h.pairs.list {
			if q != nil {
				q.sender.until.RebaseSet(by)
			}
		}
	}
	for _, s := range h.shared {
		s.base.Rebase(by)
		units.Rebase(s.rp, by)
	}
	h.idleRPs.Rebase(by)
	for i := range h.done {
		r := &h.done[i]
		r.Start.Rebase(by)
		r.FirstBit.RebaseSet(by)
		r.End.Rebase(by)
	}
}

// Rebase implements units.Rebaser: what reaction points keep of their last flow may be looked at.
func (p *rpPool) Rebase(by units.Time) {
	for _, rps := range p {
		for _, rp := range rps {
			units.Rebase(rp, by)
		}
	}
}

// Rebase implements units.Rebaser.
func (f *flow) Rebase(by units.Time) {
	f.deadline.Rebase(by)
	if f.scoreboard != nil {
		f.scoreboard.since.Rebase(by)
	}
	f.firstBit.RebaseSet(by)
	f.nextNotice.Rebase(by)
	f.spec.Start.Rebase(by)
	if f.shared == nil { // else others have it, too
		units.Rebase(f.rp, by)
	}
}

// Rebase implements units.Rebaser.
func (d *delayed) Rebase(by units.Time) {
	for i := range d.cnps {
		d.cnps[i].at.Rebase(by)
	}
	for i := range d.pauses {
		d.pauses[i].at.Rebase(by)
	}
}

// Rebase implements units.Rebaser.
func (p *punctual) Rebase(by units.Time) {
	p.asked.Rebase(by)
	p.free.Rebase(by)
	p.at.Rebase(by)
}

// Rebase implements units.Rebaser.
func (n *NIC) Rebase(by units.Time) {
	n.egress.Rebase(by)
	n.in.Rebase(by)
	n.delayed.Rebase(by)
	n.punctual.Rebase(by)
	n.since.Rebase(by)
	n.laps += by
	units.Rebase(n.config.NP, by)
	n.pacer.Rebase(by)
	n.byKey.Rebase(by)
	n.idle.Rebase(by)
	n.table.Rebase(by)
	n.here.Rebase(by)
	n.strangers.Rebase(by)
	n.connections.Rebase(by)
	units.RebaseAll(n.asked[:], by)
	for i := range n.ports {
		n.ports[i].Rebase(by)
	}
	for i := range n.stats.Ports {
		n.stats.Ports[i].Rebase(by)
	}
	for i := range n.flows {
		f := &n.flows[i]
		f.base.Rebase(by)
		f.nextNotice.Rebase(by)
		f.lastNotice.Rebase(by)
		units.Rebase(f.rp, by)
	}
	n.idleRPs.Rebase(by)
}

// Rebase implements units.Rebaser.
func (t *Traffic) Rebase(by units.Time) {
	for _, heap := range []byTime{t.pending, t.stops} {
		for i := range heap {
			heap[i].at.Rebase(by)
		}
	}
	for _, j := range t.ordered {
		j.Rebase(by)
	}
	for _, j := range t.fresh {
		if t.find(j.ID) == nil { // it is not among the orders any more
			j.Rebase(by)
		}
	}
}

// Rebase implements units.Rebaser.
func (o *Ordered) Rebase(by units.Time) {
	o.Order.Rebase(by)
	o.FirstBit.RebaseSet(by)
	o.End.RebaseSet(by)
}

// Rebase implements units.Rebaser.
func (o *Order) Rebase(by units.Time) {
	o.Start.Rebase(by)
	o.Stop.RebaseSet(by)
}
