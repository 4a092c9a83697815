package dataplane

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"

	"photon/fdb"
	"photon/units"
	"photon/wire"
)

// A next hop may be an address alone. Then the switch resolves it, by ARP (RFC 826) or neighbour discovery (RFC 4861):
// at its start, again before an answer is too old, and repeatedly if there is no answer. The result is one word, which any
// worker reads. The worker of the neighbour's home port asks; the worker that receives the answer writes it. Meanwhile
// packets wait at the worker that has received them, in their order, and are charged to the buffer as in a queue.
//
// All of it is slow code. Packets are routed by each worker's own lists of hops (actionCache.groups), which it updates
// when it forgets its actions.

// Of asking.
const (
	retryInterval    = units.Second      // without an answer
	maxRequests      = 3                 // until a neighbour has failed
	failedRetryEvery = 10                // seconds between requests to a failed neighbour for which no packets come
	reachableTime    = 30 * units.Second // for which an answer is valid
	maxWaiting       = 64                // packets of a worker for one neighbour
)

// neighbourState is what is known of a neighbour.
type neighbourState uint8

const (
	known      neighbourState = iota // it is resolved
	incomplete                       // it was asked
	failed                           // it did not answer
)

// neighbour is a next hop that is asked.
type neighbour struct {
	neighbourPlace
	word          atomic.Uint64 // entry: its MAC, its port, its state; but for known it has neither MAC nor port
	confirmations atomic.Uint32 // how often it has answered or announced itself
	wanted        atomic.Bool   // a packet was for it since it was asked, although it is not there
	waiting       [][]Frame     // by worker

	// Of its home's worker:
	due                units.Time // when something is to be done
	unanswered         int        // without an answer
	confirmationsKnown uint32     // confirmations as of the last check
	requests           uint64
	failures           uint64
}

// neighbourPlace is an address to resolve, and where to ask.
type neighbourPlace struct {
	addr netip.Addr
	port uint16 // anyPort: any of the VLAN's
	vlan uint16 // 0: the port's untagged one
	home uint16 // the port whose worker asks
}

func (n *neighbour) load() (e fdb.Entry, state neighbourState) {
	e = fdb.Entry(n.word.Load())
	return e, neighbourState(e.Kind())
}

// placeOf is the place of a next hop that is an address.
func (c *SwitchConfig) placeOf(v *NextHop) neighbourPlace {
	p := neighbourPlace{v.Address, v.Port, v.VLAN, v.Port}
	if v.AnyPort {
		p.port = anyPort
		for _, x := range c.VLANs {
			if x.ID == v.VLAN {
				p.home = slices.Concat(x.Untagged, x.Tagged)[0]
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
	r.byAddress = map[netip.Addr][]*neighbour{}
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
				n = &neighbour{neighbourPlace: at, waiting: make([][]Frame, workers)}
				n.word.Store(uint64(incomplete))
				for w := range n.waiting {
					n.waiting[w] = make([]Frame, 0, maxWaiting)
				}
			}
			r.neighbours = append(r.neighbours, n)
			r.byAddress[at.addr] = append(r.byAddress[at.addr], n)
		}
	}
}

// neighbourOf is the one of a place; nil: there is none.
func (r *routes) neighbourOf(at neighbourPlace) *neighbour {
	if r == nil {
		return nil
	}
	for _, n := range r.byAddress[at.addr] {
		if n.neighbourPlace == at {
			return n
		}
	}
	return nil
}

// neighbours are all of the switch.
func (s *Switch) neighbours() []*neighbour {
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
	if changes := s.changes.Load(); changes != w.cache.changes {
		s.renew(now, w, changes)
	}
}

// setHops works out a worker's hops. Those to a neighbour that does not answer are left out of their group, if there
// are others in it.
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
		for pass := range 2 { // if all have failed, all stay
			for _, h := range hops {
				if h.neighbour != nil {
					s.updateHop(&h)
				}
				if h.state != failed && (h.port == anyPort || s.up(h.port)) || pass == 1 {
					to = append(to, h)
				}
			}
			if len(to) > 0 {
				break
			}
		}
		c.groups[i] = to
	}
}

// updateHop brings a hop to a neighbour up to date.
func (s *Switch) updateHop(h *hop) {
	e, state := h.neighbour.load()
	if h.state = state; state != known {
		return
	}
	e.MAC().Put(h.head[:])
	h.port = e.Value()
	if h.form = s.config.formOf(h.port, h.vlan); h.form == untagged && s.up(h.port) {
		h.maxPlainLength = uint16(s.config.hopMTU(h))
	}
}

// await stores a packet until its neighbour's address is resolved. If too many wait, the oldest is discarded.
func (s *Switch) await(now units.Time, p *switchPort, f *Frame, n *neighbour) {
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
func (s *Switch) giveUp(now units.Time, p *switchPort, f *Frame) {
	p.countLoss(now, f, DropNeighbour)
	s.release(now, p.worker, nil, f)
	p.env.Free(*f)
}

// routeWaiting routes the packets that a worker kept for neighbours that are now resolved, or have failed.
func (s *Switch) routeWaiting(now units.Time, w *switchWorker) {
	var stack [maxWaiting]Frame
	for _, n := range s.neighbours() {
		q := n.waiting[w.number]
		_, state := n.load()
		if len(q) == 0 || state == incomplete && (n.port == anyPort || s.up(n.port)) {
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

func (s *Switch) routeAgain(now units.Time, w *switchWorker, all []Frame) {
	w.waits -= len(all)
	for i := range all {
		f := &all[i]
		p := &s.ports[f.Digest]
		f.Digest = 0
		s.release(now, w, nil, f)
		if s.routes == nil {
			s.discard(now, p, f, DropNeighbour)
			continue
		}
		s.apply(now, p, f, f.action()|actRoute)
	}
}

// eachWaiting calls do for every packet that waits at a worker. All workers are at rest.
func (s *Switch) eachWaiting(w *switchWorker, do func(*Frame)) {
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
		if next.neighbourOf(n.neighbourPlace) == n {
			continue
		}
		for _, w := range s.workers {
			w.strays = append(w.strays, n.waiting[w.number]...)
			n.waiting[w.number] = nil
		}
	}
}

// startNeighbours starts the timers of all neighbours at their home ports.
func (s *Switch) startNeighbours(now units.Time) {
	for _, n := range s.neighbours() {
		s.ports[n.home].timerAt = now
		s.ports[n.home].env.Wake(int(n.home), now)
	}
	for _, w := range s.workers {
		if w.strays != nil { // a worker has to take them
			s.ports[w.ports[0]].timerAt = now
		}
	}
}

// askAgain asks the neighbours of a port whose link came up or went down. All workers are at rest.
func (s *Switch) askAgain(now units.Time, p *switchPort) {
	for _, n := range s.neighbours() {
		if e, state := n.load(); int(n.port) != p.number && (state != known || int(e.Value()) != p.number) {
			continue
		}
		n.word.Store(uint64(incomplete))
		s.resolved.Add(1)
		n.due, n.unanswered = now, 0
		s.ports[n.home].timerAt = now
		s.ports[n.home].env.Wake(int(n.home), now)
	}
}

// serveNeighbours runs the timers of the neighbours whose home is a port, and that of its announcement.
func (s *Switch) serveNeighbours(now units.Time, p *switchPort) {
	p.timerAt = units.Never
	for _, n := range s.neighbours() {
		if int(n.home) != p.number {
			continue
		}
		if now >= n.due {
			s.serveNeighbour(now, p, n)
		}
		p.timerAt = min(p.timerAt, n.due)
	}
	p.scheduleAnnouncement(now)
	s.catchUp(now, p.worker)
}

// serveNeighbour runs a neighbour's timer: it asks, asks again, or gives up.
func (s *Switch) serveNeighbour(now units.Time, p *switchPort, n *neighbour) {
	confirmations := n.confirmations.Load()
	e, state := n.load()
	if confirmations != n.confirmationsKnown {
		n.confirmationsKnown, n.unanswered = confirmations, 0
		if state == known {
			n.due = now + reachableTime
			return
		}
	}
	n.due = now + retryInterval
	switch {
	case state == known && n.unanswered == maxRequests: // it is gone: another station may have its address now, so all are asked
		if !s.setNeighbourState(n, e, incomplete) {
			return
		}
		e, n.unanswered = 0, 0
	case state == incomplete && n.unanswered == maxRequests:
		if !s.setNeighbourState(n, e, failed) {
			return
		}
		n.failures++
		p.worker.failures++
		n.unanswered++
		n.wanted.Store(false)
		return
	case state == failed && n.unanswered%failedRetryEvery != 0 && !n.wanted.Load():
		n.unanswered++
		return
	}
	n.wanted.Store(false)
	n.unanswered++
	s.solicit(now, p, n, e)
}

// setNeighbourState changes the state of a neighbour, unless another worker was faster.
func (s *Switch) setNeighbourState(n *neighbour, was fdb.Entry, to neighbourState) bool {
	if !n.word.CompareAndSwap(uint64(was), uint64(to)) {
		return false
	}
	s.resolved.Add(1)
	s.changes.Add(1)
	return true
}

// solicit asks a neighbour: where it was, or at every port where it may be. The request has the priority of the
// switch's own frames, in which no data waits.
func (s *Switch) solicit(now units.Time, p *switchPort, n *neighbour, at fdb.Entry) {
	in := s.lanAt(n)
	from, ok := s.routes.sourceAddress(p.number, in, n.addr)
	if !ok {
		return
	}
	n.requests++
	for _, port := range in.ports {
		if s.ports[port].down || n.port != anyPort && n.port != port || at.MAC() != 0 && at.Value() != port {
			continue
		}
		f, ok := p.env.Alloc(wire.SolicitLen)
		if !ok {
			return // it is asked again
		}
		f.Len = uint16(wire.Solicit(p.env.Bytes(&f), s.routes.mac, at.MAC(), from, n.addr))
		f.In, f.Prio, f.Flag = ownFrame, s.config.Control, 0
		p.made[f.Prio&7]++
		s.forward(now, p, in, port, &f)
	}
}

// lanAt is the LAN of a neighbour.
func (s *Switch) lanAt(n *neighbour) *lan {
	if n.vlan == 0 {
		return s.lans.untaggedOut[n.home]
	}
	return s.lans.at(n.vlan)
}

// learnNeighbour reads what a neighbour says of itself, in answers and in its own requests. It ignores addresses that no
// route names, answers from other ports or VLANs than asked, and what a station says of another one. It reports whether the
// frame is an answer.
func (s *Switch) learnNeighbour(p *switchPort, f *Frame, h *wire.Header) bool {
	var says wire.Binding
	ok, b := false, p.env.Bytes(f)
	switch {
	case h.EtherType == wire.TypeARP:
		says, ok = wire.ARPBinding(b[h.Payload:])
	case h.EtherType == wire.TypeIPv6 && h.Proto == wire.ProtoICMPv6:
		says, ok = wire.NDBinding(b[h.L3:], int(f.Len)-h.L3)
	}
	if !ok || says.MAC != 0 && says.MAC != h.Src || h.Src == s.routes.mac {
		return ok && says.Answer
	}
	in := s.lanOf(p, b)
	for _, n := range s.routes.byAddress[says.Addr] {
		if in != nil && in == s.lanAt(n) && (n.port == anyPort || int(n.port) == p.number) {
			s.updateNeighbour(n, &says, fdb.NewEntry(h.Src, uint16(p.number), fdb.Entry(known)))
		}
	}
	return says.Answer
}

// updateNeighbour stores the address that a neighbour says it has, by the rules of RFC 4861 section 7.2.5.
func (s *Switch) updateNeighbour(n *neighbour, says *wire.Binding, is fdb.Entry) {
	was, state := n.load()
	if was != is {
		if says.MAC == 0 || state == known && was.MAC() != is.MAC() && !says.Override {
			return
		}
		if !n.word.CompareAndSwap(uint64(was), uint64(is)) {
			return
		}
		s.resolved.Add(1)
		s.changes.Add(1)
	}
	n.confirmations.Add(1)
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
var NeighbourStates = [...]string{"reachable", "probe", "incomplete", "failed"}

// stateOf is which of NeighbourStates a neighbour is in.
func (n *neighbour) stateOf() (e fdb.Entry, state int) {
	e, known := n.load()
	switch known {
	case incomplete:
		return e, 2
	case failed:
		return e, 3
	}
	if n.unanswered > 0 && n.confirmations.Load() == n.confirmationsKnown {
		return e, 1
	}
	return e, 0
}

// countNeighbours adds them up.
func (s *Switch) countNeighbours(st *Stats) {
	st.Neighbours, st.NeighbourFailures = [len(NeighbourStates)]int{}, 0
	for _, n := range s.neighbours() {
		_, state := n.stateOf()
		st.Neighbours[state]++
	}
	for _, w := range s.workers {
		st.NeighbourFailures += w.failures
	}
}

// Neighbours are those that are asked. It is called between bursts.
func (s *Switch) Neighbours() (all []Neighbour) {
	for _, n := range s.neighbours() {
		e, state := n.stateOf()
		x := Neighbour{
			Address: n.addr, Port: int(n.port), VLAN: n.vlan, State: NeighbourStates[state], Requests: n.requests, Failures: n.failures,
		}
		switch {
		case e.MAC() != 0:
			x.MAC, x.Port = e.MAC(), int(e.Value())
		case n.port == anyPort:
			x.Port = noPort
		}
		for w := range n.waiting {
			x.Waiting += len(n.waiting[w])
		}
		all = append(all, x)
	}
	return all
}
