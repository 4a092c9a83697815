package dataplane

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"photon/fabric"
	"photon/fdb"
	"photon/neighbour"
	"photon/units"
	"photon/wire"
)

// A next hop may be an address alone, which is resolved (package neighbour). The worker of the neighbour's home port asks;
// the worker that receives the answer notes it. Meanwhile packets wait at the worker that has received them, in their order,
// and are charged to the buffer as in a queue.
//
// All of it is slow code. Packets are routed by each worker's own lists of hops (actionCache.groups), which it updates
// when it forgets its actions.

// maxWaiting is how many packets of a worker wait for one neighbour.
const maxWaiting = 64

// nextNeighbour is a next hop that is asked.
type nextNeighbour struct {
	*neighbour.Neighbour
	waiting [][]fabric.Frame // by worker
	spare   []bool           // by worker: what waits for it may go another way now
}

// placeOf is the place of a next hop that is an address.
func (c *SwitchConfig) placeOf(v *NextHop) neighbour.Place {
	p := neighbour.Place{Addr: v.Address, Port: v.Port, VLAN: v.VLAN, Home: v.Port}
	if v.AnyPort {
		p.Port = anyPort
		for _, x := range c.VLANs {
			if x.ID == v.VLAN {
				p.Home = slices.Concat(x.Untagged, x.Tagged)[0]
			}
		}
	}
	return p
}

// checkNeighbour says what is wrong with a next hop.
func (c *SwitchConfig) checkNeighbour(to netip.Prefix, v *NextHop) error {
	if v.MAC != 0 || !v.Address.IsValid() {
		if v.MAC == 0 || v.MAC.Multicast() || v.MAC == c.Router.MAC {
			return fmt.Errorf("%v is no neighbour's address", v.MAC)
		}
		return c.checkPlace(v.Port, v.VLAN)
	}
	a := v.Address
	own := func(l local) bool { return l.addr == a }
	speaks := func(l local) bool { return l.addr.Is4() == a.Is4() }
	switch {
	case !a.IsGlobalUnicast() && !a.IsLinkLocalUnicast() || a.Is4In6() || a.Zone() != "" || slices.ContainsFunc(c.locals(), own):
		return fmt.Errorf("next hop %v: that is no neighbour's address", a)
	case a.Is4() != to.Addr().Is4():
		return fmt.Errorf("next hop %v: a route has next hops of its own version of IP", a)
	case !slices.ContainsFunc(c.locals(), speaks):
		return fmt.Errorf("next hop %v: the router has no address of that version of IP from which it could ask", a)
	}
	if !v.AnyPort {
		return c.checkPlace(v.Port, v.VLAN)
	}
	for _, x := range c.VLANs {
		if x.ID == v.VLAN {
			if len(x.Untagged)+len(x.Tagged) == 0 {
				return fmt.Errorf("next hop %v: VLAN %d has no ports", a, v.VLAN)
			}
			return nil
		}
	}
	return errors.New("a next hop at any port needs a VLAN that there is")
}

// setNeighbours makes the neighbours of the routes, or takes them from another table.
func (r *routes) setNeighbours(c *SwitchConfig, before *routes, workers int) {
	r.byAddress = map[netip.Addr][]*nextNeighbour{}
	for i := range c.Router.Routes {
		for j := range c.Router.Routes[i].Via {
			v := &c.Router.Routes[i].Via[j]
			if v.MAC != 0 {
				continue
			}
			at := c.placeOf(v)
			if r.neighbourOf(at) != nil {
				continue
			}
			n := before.neighbourOf(at)
			if n == nil {
				n = &nextNeighbour{neighbour.New(at), make([][]fabric.Frame, workers), make([]bool, workers)}
				for w := range n.waiting {
					n.waiting[w] = make([]fabric.Frame, 0, maxWaiting)
				}
			}
			r.neighbours, r.homes = append(r.neighbours, n), append(r.homes, at.Home)
			r.byAddress[at.Addr] = append(r.byAddress[at.Addr], n)
		}
	}
}

// neighbourOf is the one of a place, whichever port's worker asks there; nil: there is none.
func (r *routes) neighbourOf(at neighbour.Place) *nextNeighbour {
	if r == nil {
		return nil
	}
	for _, n := range r.byAddress[at.Addr] {
		if n.Port == at.Port && n.VLAN == at.VLAN {
			return n
		}
	}
	return nil
}

// neighbours are all of the switch.
func (s *Switch) neighbours() []*nextNeighbour {
	if s.routes == nil {
		return nil
	}
	return s.routes.neighbours
}

// makePlaces makes room for each worker's own lists of hops, so that the worker need not allocate.
func (r *routes) makePlaces(workers int) {
	if r.places = nil; r.neighbours == nil {
		return
	}
	for range workers {
		groups := make([][]hop, len(r.groups))
		for i := range groups {
			groups[i] = make([]hop, 0, len(r.groups[i]))
		}
		r.places = append(r.places, groups)
	}
}

// renew makes a worker forget its actions, and updates its hops to neighbours.
func (s *Switch) renew(now units.Time, w *switchWorker, changes uint32) {
	w.cache.renew(s.holdUntil(now), changes)
	s.setHops(w)
	if w.waits > 0 {
		s.routeWaiting(now, w)
	}
}

// catchUp does so if there was a change.
func (s *Switch) catchUp(now units.Time, w *switchWorker) {
	if changes := s.counts.Changes.Load(); changes != w.cache.changes {
		s.renew(now, w, changes)
	}
}

// setHops works out a worker's hops. Of a group those are in it to which a packet can go now; if there are none, those
// to neighbours that are asked, for which packets wait; if there are none of these either, all.
func (s *Switch) setHops(w *switchWorker) {
	r, c := s.routes, &w.cache
	version := s.resolved.Load()
	switch {
	case r == nil:
		c.groups = nil
		return
	case r.places == nil:
		c.groups = r.groups
		return
	case w.knows == r && w.version == version:
		return
	}
	w.knows, w.version, c.groups = r, version, r.places[w.number]
	for i, hops := range r.groups {
		to := c.groups[i][:0]
		for pass := range 3 {
			for _, h := range hops {
				if h.neighbour != nil {
					s.updateHop(&h)
				}
				if s.hopRank(&h) <= pass {
					to = append(to, h)
				}
			}
			if len(to) > 0 {
				break
			}
		}
		if c.groups[i] = to; len(to) < len(hops) && to[0].state == neighbour.Known {
			spare(hops, w.number)
		}
	}
}

// hopRank is 0 of a hop to which packets can go, 1 of one for which they wait, 2 of one that is not there.
func (s *Switch) hopRank(h *hop) int {
	switch {
	case h.state == neighbour.Failed || h.port != anyPort && !s.up(h.port):
		return 2
	case h.state == neighbour.Incomplete:
		return 1
	}
	return 0
}

// spare notes that others take the place of those among some hops that are asked: what a worker keeps for them need not
// wait.
func spare(hops []hop, worker int) {
	for i := range hops {
		if n := hops[i].neighbour; n != nil && len(n.waiting[worker]) > 0 {
			n.spare[worker] = true
		}
	}
}

// updateHop brings a hop to a neighbour up to date.
func (s *Switch) updateHop(h *hop) {
	e, state := h.neighbour.Load()
	if h.state = state; state != neighbour.Known {
		return
	}
	e.MAC().Put(h.head[:])
	h.port = e.Value()
	if h.form = s.config.formOf(h.port, h.vlan); h.form == untagged && s.up(h.port) {
		h.maxPlainLength = uint16(s.config.hopMTU(h))
	}
}

// await stores a packet until its neighbour's address is resolved. If too many wait, the oldest is discarded.
func (s *Switch) await(now units.Time, p *switchPort, f *fabric.Frame, n *nextNeighbour) {
	if !s.charge(now, p, nil, f, false) {
		return
	}
	w := p.worker
	q := n.waiting[w.number]
	if len(q) == maxWaiting {
		s.giveUp(now, &s.ports[q[0].Digest], &q[0])
		q = q[:copy(q, q[1:])]
		w.waits--
	}
	f.Digest = uint32(p.number)
	n.waiting[w.number] = append(q, *f)
	w.waits++
}

// giveUp discards a packet that waits for a neighbour, at the port through which it came.
func (s *Switch) giveUp(now units.Time, p *switchPort, f *fabric.Frame) {
	p.countLoss(now, f, fabric.DropNeighbour)
	s.release(now, p.worker, nil, f)
	p.env.Free(*f)
}

// routeWaiting routes the packets that a worker kept for neighbours that are now resolved, have failed, or have others
// beside them that are resolved.
func (s *Switch) routeWaiting(now units.Time, w *switchWorker) {
	var stack [maxWaiting]fabric.Frame
	for _, n := range s.neighbours() {
		q := n.waiting[w.number]
		_, state := n.Load()
		spare := n.spare[w.number]
		n.spare[w.number] = false
		if len(q) == 0 || state == neighbour.Incomplete && !spare && (n.Port == anyPort || s.up(n.Port)) {
			continue
		}
		all := stack[:copy(stack[:], q)]
		n.waiting[w.number] = q[:0]
		s.routeAgain(now, w, all)
	}
	if all := w.strays; all != nil {
		w.strays = nil
		s.routeAgain(now, w, all)
	}
}

func (s *Switch) routeAgain(now units.Time, w *switchWorker, all []fabric.Frame) {
	w.waits -= len(all)
	for i := range all {
		f := &all[i]
		p := &s.ports[f.Digest]
		f.Digest = 0
		s.release(now, w, nil, f)
		if s.routes == nil {
			s.discard(now, p, f, fabric.DropNeighbour)
			continue
		}
		s.apply(now, p, f, actionOf(f)|actRoute)
	}
}

// eachWaiting calls do for every packet that waits at a worker. All workers are at rest.
func (s *Switch) eachWaiting(w *switchWorker, do func(*fabric.Frame)) {
	for _, n := range s.neighbours() {
		for i := range n.waiting[w.number] {
			do(&n.waiting[w.number][i])
		}
	}
	for i := range w.strays {
		do(&w.strays[i])
	}
}

func (s *Switch) forgetWaiting(w *switchWorker) {
	for _, n := range s.neighbours() {
		n.waiting[w.number] = n.waiting[w.number][:0]
	}
	w.strays, w.waits = nil, 0
}

// leaveNeighbours makes strays of what waits for neighbours that other routes do not have. All workers are at rest.
func (s *Switch) leaveNeighbours(next *routes) {
	for _, n := range s.neighbours() {
		if next.neighbourOf(n.Place) == n {
			continue
		}
		for _, w := range s.workers {
			w.strays = append(w.strays, n.waiting[w.number]...)
			n.waiting[w.number] = nil
		}
	}
}

// startNeighbours starts the timers of all neighbours at their home ports, which other routes or VLANs may have moved.
// What is known of one at a port that has left its VLAN is forgotten. All workers are at rest.
func (s *Switch) startNeighbours(now units.Time) {
	for i, n := range s.neighbours() {
		n.Home = s.routes.homes[i]
		if e, state := n.Load(); state == neighbour.Known && s.config.formOf(e.Value(), n.VLAN) == absent {
			n.Restart(now)
		}
		s.ports[n.Home].timerAt = now
		s.ports[n.Home].env.Wake(int(n.Home), now)
	}
	for _, w := range s.workers {
		if len(w.strays) > 0 { // a worker has to take them
			s.ports[w.ports[0]].timerAt = now
		}
	}
}

// askAgain asks the neighbours of a port whose link came up or went down, and where it came up those that have failed
// and may be there. All workers are at rest.
func (s *Switch) askAgain(now units.Time, p *switchPort) {
	for _, n := range s.neighbours() {
		e, state := n.Load()
		here := int(n.Port) == p.number || state == neighbour.Known && int(e.Value()) == p.number
		mayBe := state == neighbour.Failed && n.Port == anyPort && !p.down && s.lanAt(n).forms[p.number] != absent
		if !here && !mayBe {
			continue
		}
		n.Restart(now)
		s.resolved.Add(1)
		s.ports[n.Home].timerAt = now
		s.ports[n.Home].env.Wake(int(n.Home), now)
	}
}

// serveNeighbours runs the timers of the neighbours whose home is a port, and that of its announcement.
func (s *Switch) serveNeighbours(now units.Time, p *switchPort) {
	p.timerAt = units.Never
	for _, n := range s.neighbours() {
		if int(n.Home) != p.number {
			continue
		}
		if now >= n.Due() {
			s.serveNeighbour(now, p, n)
		}
		p.timerAt = min(p.timerAt, n.Due())
	}
	p.scheduleAnnouncement(now)
	s.catchUp(now, p.worker)
}

// serveNeighbour runs a neighbour's timer.
func (s *Switch) serveNeighbour(now units.Time, p *switchPort, n *nextNeighbour) {
	do := n.Serve(now)
	if do.Changed {
		s.noteNeighbour()
	}
	if do.Failed {
		p.worker.failures++
	}
	if do.Ask {
		s.solicit(now, p, n, do.At)
	}
}

// noteNeighbour has workers hear that what is known of a neighbour has changed.
func (s *Switch) noteNeighbour() {
	s.resolved.Add(1)
	s.counts.Changes.Add(1)
}

// solicit asks a neighbour: where it was, or at every port where it may be. The request has the priority of the
// switch's own frames, in which no data waits.
func (s *Switch) solicit(now units.Time, p *switchPort, n *nextNeighbour, at fdb.Entry) {
	in := s.lanAt(n)
	from, ok := s.routes.sourceAddress(p.number, in, n.Addr)
	if !ok {
		return
	}
	n.Asked()
	for _, port := range in.ports {
		if s.ports[port].down || n.Port != anyPort && n.Port != port || at.MAC() != 0 && at.Value() != port {
			continue
		}
		f, ok := p.env.Alloc(wire.SolicitLen)
		if !ok {
			return // it is asked again
		}
		f.Len = uint16(wire.Solicit(p.env.Bytes(&f), s.routes.mac, at.MAC(), from, n.Addr))
		f.In, f.Prio, f.Flag = ownFrame, s.config.Control, 0
		p.made[f.Prio&7]++
		s.forward(now, p, in, port, &f)
	}
}

// lanAt is the LAN of a neighbour.
func (s *Switch) lanAt(n *nextNeighbour) *lan {
	if n.VLAN == 0 {
		return s.lans.untaggedOut[n.Home]
	}
	return s.lans.at(n.VLAN)
}

// learnNeighbour reads what a neighbour says of itself, in answers and in its own requests. It ignores addresses that
// no route names, answers from other ports or VLANs than asked, or from another port than the configuration has for the
// station, and what a station says of another one. It reports whether the frame is an answer, and whether it is of one
// whom the switch asks.
func (s *Switch) learnNeighbour(p *switchPort, f *fabric.Frame, h *wire.Header) (answer, asked bool) {
	var says wire.Binding
	ok, b := false, p.env.Bytes(f)
	switch {
	case h.EtherType == wire.TypeARP:
		says, ok = wire.ARPBinding(b[h.Payload:])
	case h.EtherType == wire.TypeIPv6 && h.Proto == wire.ProtoICMPv6:
		says, ok = wire.NDBinding(b[h.L3:], int(f.Len)-h.L3)
	}
	if !ok || says.MAC != 0 && says.MAC != h.Src || h.Src == s.routes.mac {
		return ok && says.Answer, false
	}
	in := s.lanOf(p, b)
	if in == nil {
		return says.Answer, false
	}
	pinned := s.pinnedElsewhere(p, in, h.Src)
	for _, n := range s.routes.byAddress[says.Addr] {
		if in == s.lanAt(n) && (n.Port == anyPort && !pinned || int(n.Port) == p.number) {
			asked = true
			s.stations.add(h.Src)
			if n.Update(&says, fdb.NewEntry(h.Src, uint16(p.number), neighbour.Known.Kind())) {
				s.noteNeighbour()
			}
		}
	}
	return says.Answer, asked
}

// pinnedElsewhere reports whether the configuration says that a station is behind another port.
func (s *Switch) pinnedElsewhere(p *switchPort, in *lan, station wire.MAC) bool {
	e := in.fdb.Find(station, 0) // a static entry has no age
	return e.Kind() == fdb.Static && int(e.Value()) != p.number
}

// followNeighbours notes of those neighbours that are this station that it is behind another port. Bridged frames for it
// go there at once; routed ones would go where it last answered, until it is asked again there in vain.
func (s *Switch) followNeighbours(p *switchPort, in *lan, station wire.MAC) {
	if !s.stations.mayHave(station) {
		return
	}
	for _, n := range s.neighbours() {
		if n.Port == anyPort && in == s.lanAt(n) && n.Move(station, uint16(p.number)) {
			s.noteNeighbour()
		}
	}
}

// Neighbour is what is known of a next hop that is an address.
type Neighbour struct {
	Address  netip.Addr
	MAC      wire.MAC // 0: it is not known
	Port     int      // -1: it may be at any of the VLAN's
	VLAN     uint16   // 0: the port's untagged one
	State    string   // reachable, probe, incomplete or failed
	Waiting  int      // packets
	Requests uint64
	Failures uint64 // how often it did not answer
}

// NeighbourStates are all there are.
var NeighbourStates = neighbour.Statuses

// countNeighbours adds them up.
func (s *Switch) countNeighbours(st *fabric.Stats) {
	st.Neighbours, st.NeighbourFailures = [len(NeighbourStates)]int{}, 0
	for _, n := range s.neighbours() {
		_, state := n.Status()
		st.Neighbours[state]++
	}
	for _, w := range s.workers {
		st.NeighbourFailures += w.failures
	}
}

// Neighbours are those that are asked. It is called between bursts.
func (s *Switch) Neighbours() (all []Neighbour) {
	for _, n := range s.neighbours() {
		e, state := n.Status()
		x := Neighbour{
			Address: n.Addr, Port: int(n.Port), VLAN: n.VLAN, State: NeighbourStates[state],
		}
		x.Requests, x.Failures = n.Counts()
		switch {
		case e.MAC() != 0:
			x.MAC, x.Port = e.MAC(), int(e.Value())
		case n.Port == anyPort:
			x.Port = noPort
		}
		for w := range n.waiting {
			x.Waiting += len(n.waiting[w])
		}
		all = append(all, x)
	}
	return all
}
