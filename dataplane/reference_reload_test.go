package dataplane_test

import (
	"slices"

	"photon/dataplane"
	"photon/fabric"
	"photon/units"
)

// How the reference takes over another configuration, and another state of a link.

// reload takes over another configuration.
func (r *reference) reload(now units.Time, c dataplane.SwitchConfig) {
	if len(r.config.VLANs) == 0 != (len(c.VLANs) == 0) {
		clear(r.known) // their VLANs are others
	}
	watchdog := r.config.Watchdog
	for _, p := range r.ports { // until now the other one counted
		r.attend(now, p)
	}
	points, keep := c.CP != nil, c.CP == nil
	if !points {
		c.CP = r.config.CP
	}
	pooled := make([][8]int, len(r.ports))
	for _, p := range r.ports { // what is set aside for queues is so anew
		for prio, n := range p.lossy {
			r.used += n - beyond(p, prio, n)
		}
	}
	again := r.reclass(now, c)
	for i, p := range r.ports {
		for prio := range 8 {
			pooled[i][prio] = r.pooled(p, prio)
		}
	}
	obeyed, watched := make([]uint8, len(r.ports)), make([]uint8, len(r.ports))
	for i, p := range r.ports {
		obeyed[i], watched[i] = r.obeyed(p)
	}
	points = points || r.config.CP != nil && r.others(c)
	r.config = c
	for s, w := range r.known {
		if _, member := r.form(s.vlan, w.port); !member || r.static(s) != nil || s.mac == c.Router.MAC {
			delete(r.known, s)
		}
	}
	for _, p := range r.ports { // of errors that were sent no more counts than may be sent at once
		b, most := &p.errors, units.Time(0)
		if l := c.Router.ICMP; l.Rate > 0 {
			most = units.Time(l.Burst) * ((units.Second + units.Time(l.Rate) - 1) / units.Time(l.Rate))
		}
		b.tokens, b.at = min(most, max(0, b.tokens-(now-b.at))), now
	}
	for i, p := range r.ports {
		was := p.config
		before := p.shapers()
		p.config = c.Ports[i]
		for k, x := range p.shapers() {
			if x != before[k] { // another begins with all its tokens
				p.tokens[k].fill(x)
			}
		}
		p.setWRED(&was)
		if points {
			before := p.points
			r.setPoints(p)
			for prio := range 8 {
				if keep && before[prio] != nil && p.points[prio] != nil {
					p.points[prio] = before[prio]
				}
			}
		}
		r.configure(p, pooled[i])
	}
	again()
	for _, p := range r.ports {
		for prio, n := range p.lossy {
			r.used -= n - beyond(p, prio, n)
		}
	}
	for i, p := range r.ports {
		r.reobey(now, p, obeyed[i], watched[i])
	}
	for _, p := range r.ports {
		for prio, w := range c.Weights {
			if w == 0 { // a strict priority takes no turns, and saves nothing up for when it does again
				p.deficit[prio] = 0
			}
		}
		if c.Watchdog != watchdog {
			r.attend(now, p)
			for prio, x := range p.pauses {
				if x.storm && dropping(c.Watchdog.Action) {
					r.flush(now, p, prio, fabric.DropStorm)
				}
			}
		}
	}
}

// others reports whether other priorities are lossless at some port than they were.
func (r *reference) others(c dataplane.SwitchConfig) bool {
	then := &reference{config: c}
	for prio := range 8 {
		if r.anywhere(prio) != then.anywhere(prio) || (r.config.Judged^c.Judged)>>prio&1 != 0 {
			return true
		}
	}
	return false
}

// reclass takes out of the accounts what came through ports of which other frames will be lossless; again, called when
// that is so, charges it as what will come.
func (r *reference) reclass(now units.Time, c dataplane.SwitchConfig) (again func()) {
	then := &reference{config: c}
	var turned []*refPort
	for i, p := range r.ports {
		q := &refPort{number: i, config: c.Ports[i]}
		other := false
		for prio := range 8 {
			other = other || r.taken(p, prio) != then.taken(q, prio) || r.accountable(p, prio) != then.accountable(q, prio)
		}
		if !other {
			continue
		}
		turned = append(turned, p)
		for prio := range 8 {
			a := &p.accounts[prio]
			r.used -= r.pooled(p, prio)
			a.base, a.head, a.refused = 0, 0, false
			p.stats.Buffered[prio] = 0
			if p.config.Pause != q.config.Pause && prio == 0 && a.peerPaused {
				a.peerPaused = false
				p.stats.Ingress.Paused[prio] += now - a.since
			}
			if !r.accountable(p, prio) || !a.peerPaused {
				a.promised = 0
			}
		}
	}
	each := func(do func(f *refFrame, p, out *refPort)) {
		for _, out := range r.ports {
			for prio := range out.queues {
				for i := range out.queues[prio] {
					if f := &out.queues[prio][i]; f.in != made && slices.Contains(turned, r.ports[f.in]) {
						do(f, r.ports[f.in], out)
					}
				}
			}
		}
	}
	each(func(f *refFrame, _, out *refPort) {
		if !f.lossless {
			r.used -= r.cost(len(f.bytes))
			out.lossy[f.prio] -= r.cost(len(f.bytes))
		}
	})
	return func() {
		each(func(f *refFrame, p, out *refPort) {
			cost := r.cost(len(f.bytes))
			if f.lossless = r.taken(p, f.prio); !f.lossless {
				r.used += cost
				out.lossy[f.prio] += cost
				in := &p.stats
				in.Buffered[f.prio] += units.Size(cost)
				in.Ingress.Peak[f.prio] = max(in.Ingress.Peak[f.prio], in.Buffered[f.prio])
				return
			}
			k := p.accountOf(f.prio)
			a, before := &p.accounts[k], r.pooled(p, k)
			a.base += cost
			p.stats.Ingress.Peak[k] = max(p.stats.Ingress.Peak[k], units.Size(a.base))
			r.used += r.pooled(p, k) - before
		})
	}
}

// configure puts a port's thresholds in force; before: what it had of the pool.
func (r *reference) configure(p *refPort, before [8]int) {
	for prio := range 8 {
		a := &p.accounts[prio]
		r.used += r.pooled(p, prio) - before[prio]
		if headroom := int(r.thresholds(p, prio).Headroom); a.peerPaused || a.head > 0 {
			a.promised = max(a.promised, headroom) // the peer may still use what there was
		} else {
			a.promised = headroom
		}
	}
}

// link tells that a port's link is another.
func (r *reference) link(now units.Time, port int, s dataplane.LinkState) {
	p := r.ports[port]
	r.attend(now, p)
	p.shut, s.Up = s.Shut, s.Up && !s.Shut
	var pooled [8]int
	for prio := range 8 {
		pooled[prio] = r.pooled(p, prio)
	}
	faster := s.Rate > 0 && s.Rate != p.rate
	if faster {
		p.rate = s.Rate
		r.setPoints(p)
	}
	if s.Headroom > 0 {
		p.room = s.Headroom
	}
	if faster || s.Headroom > 0 {
		r.configure(p, pooled)
		r.most = max(r.most, r.used) // before what waits here is discarded
	}
	switch {
	case p.down && s.Up:
		p.down = false
		for prio := range 8 {
			a, free := &p.accounts[prio], r.free()
			for a.head > 0 { // its headroom is for the new peer, as far as the pool has room for what is in it
				before := r.pooled(p, prio)
				a.base, a.head = a.base+1, a.head-1
				if more := r.pooled(p, prio) - before; more <= free {
					r.used, free = r.used+more, free-more
					continue
				}
				a.base, a.head = a.base-1, a.head+1
				break
			}
			a.promised = int(r.thresholds(p, prio).Headroom)
			a.refresh = now // the new peer knows of nothing
		}
	case !p.down && !s.Up:
		p.down = true
		for prio := range 8 {
			r.flush(now, p, prio, fabric.DropLink)
		}
		for prio := range 8 {
			r.resume(now, now, p, prio)
		}
		for s, w := range r.known {
			if w.port == port {
				delete(r.known, s)
			}
		}
		r.attend(now, p)
	}
}

// clear has what a port keeps the most of begin anew.
func (r *reference) clear(port int) {
	p := r.ports[port]
	for prio := range 8 {
		a, st := p.accounts[prio], &p.stats
		st.QueuePeak[prio] = units.Size(p.bytes(prio))
		st.Ingress.Peak[prio] = units.Size(a.base+a.head) + st.Buffered[prio]
		st.Ingress.HeadroomMax[prio] = units.Size(a.head)
		p.least[prio] = st.Ingress.Peak[prio]
	}
}
