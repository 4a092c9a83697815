package sim

import (
	"context"
	"fmt"
	"math"

	"photon/dataplane"
	"photon/internal/memory"
	"photon/units"
)

// World carries frames between nodes in virtual time.
type World struct {
	part
	_       [64]byte   // what follows others read, too
	split   *split     // nil: the world is one part
	most    int        // parts
	due     units.Time // of the first sampler
	samples []sampler
	watch   *watch     // nil: nobody watches
	workers int        // of each node; 0: 1
	gap     units.Time // between two looks of a worker at what the others have for it
}

// part is nodes whose events one goroutine has happen, one after the other: all of
// the world's, or some (see split).
type part struct {
	pool     *dataplane.Pool
	nodes    []member     // of the world
	ports    []port       // the same, and so on
	soon     []units.Time // by node, not before which something happens
	border   []int32      // the part's nodes that have links to other parts
	inner    []int32      // and those that have none
	first    units.Time   // nothing happens before it
	length   units.Time   // of a window, at most: see visit
	now      units.Time
	hash     uint64 // sum over its arrivals, see trace
	count    uint64 // of events
	burst    [1]dataplane.Frame
	exchange *exchange // the other parts; nil: there are none
	taps     []*tap    // by port, of those that somebody watches; nil: nobody does
	visit    visit
}

// member is a node and the number of its first port in the world.
type member struct {
	name  string
	node  dataplane.Node
	env   *dataplane.Env
	crew  *crew // nil: the node has one worker
	first int
	ports int
	part  int // that it belongs to
	unit  int // the first of the nodes that are always in one part
}

// port is one end of a link: what arrivals and transmissions need in one line of the
// cache, what is to happen there in the next, and the rest in a third. It is an odd number of
// lines, so that many ports do not compete for half of the places of the caches.
type port struct {
	node      dataplane.Server
	env       *dataplane.Env
	exit      *dataplane.Exit // free when the frame that was sent last will have left
	delay     units.Time
	peer      int32  // the port at the other end; unlinked; in another part: away
	number    uint16 // at its node
	length    uint16 // of the frame that was sent last
	took      uint32 // by it, in picoseconds: many are as long
	each      uint16 // picoseconds that a byte takes; 0: that is no whole number, or long: ask link
	overhead  int16  // what the link adds to a frame
	sent      uint32 // frames, modulo 2^32
	delivered uint32

	flight flight
	timer  units.Time // when its node is to be asked for a frame; units.Never: it is not
	_      [24]byte

	link dataplane.Link
	_    [40]byte
}

type sampler struct {
	every units.Time
	next  units.Time
	do    func(now units.Time) (idle units.Time)
	rests bool // where nothing happens
}

// New returns an empty world at time 0.
func New() *World { return NewOf(dataplane.HeaderLen) }

// NewOf is New for headers of so many bytes, at least dataplane.HeaderLen: where
// packets travel inside others, as between NICs under hpcc.
func NewOf(headers int) *World {
	return &World{part: part{pool: dataplane.NewHeaderPoolOf(headers)}, most: 1, due: units.Never}
}

var _ dataplane.World = (*World)(nil)

// Workers is 1: to its nodes the world is one worker, however many processors Run uses. But see Crews.
func (w *World) Workers() int { return max(1, w.workers) }

// Crews has nodes shared by n workers each, which look at what the others have for them a gap after it
// came. It comes before everything else. Such a world is one part.
func (w *World) Crews(n int, gap units.Time) { w.workers, w.gap = n, gap }

// NewEnvs returns one Env for each worker.
func (w *World) NewEnvs(ports int) (list []*dataplane.Env) {
	for range w.Workers() {
		list = append(list, dataplane.NewEnv(w.pool, ports))
	}
	return list
}

// Add takes a node into the world and returns its number.
func (w *World) Add(name string, node dataplane.Node, envs []*dataplane.Env, workers []int) int {
	m := member{name: name, node: node, env: envs[0], first: len(w.ports), ports: len(workers)}
	server, ok := node.(dataplane.Server)
	if !ok {
		server = dataplane.Asked{Node: node}
	}
	if len(envs) > 1 {
		m.crew = newCrew(server, envs, workers, w.gap)
		m.env, server = m.crew.env, m.crew
	}
	w.nodes = append(w.nodes, m)
	for i := range workers {
		w.ports = append(w.ports, port{node: server, env: m.env, exit: m.env.Exit(i), flight: flight{first: units.Never, member: int32(len(w.nodes) - 1)}, timer: units.Never, number: uint16(i), peer: unlinked})
	}
	return len(w.nodes) - 1
}

// Connect joins two ports by a cable; link is what each sends into.
func (w *World) Connect(a, b dataplane.End, link dataplane.Link) error {
	i, err := w.portOf(a)
	if err != nil {
		return err
	}
	j, err := w.portOf(b)
	if err != nil {
		return err
	}
	if i == j {
		return fmt.Errorf("sim: port %d of %s is connected to itself", a.Port, w.nodes[a.Node].name)
	}
	w.ports[i].join(j, link)
	w.ports[j].join(i, link)
	return nil
}

func (p *port) join(peer int, link dataplane.Link) {
	p.peer, p.link, p.delay, p.exit.Frames = int32(peer), link, link.Delay, p.exit.Inline[:]
	p.setRate(link.Rate)
}

// setRate changes how fast the port sends.
func (p *port) setRate(rate units.Rate) {
	p.link.Rate, p.length, p.each, p.overhead = rate, 0, 0, 0
	if each, over := rate.Serialize(1), p.link.WireBytes(0); rate > 0 && 8*units.Rate(units.Second)%rate == 0 && each <= math.MaxUint16 && over == int(int16(over)) {
		p.each, p.overhead = uint16(each), int16(over)
	}
}

// serialize is how long a frame occupies the link.
func (p *port) serialize(length uint16) units.Time {
	if length != p.length || length == 0 {
		return p.serializeOther(length)
	}
	return units.Time(p.took)
}

// serializeOther is serialize of a frame of another length than the one before.
func (p *port) serializeOther(length uint16) (took units.Time) {
	if p.each != 0 {
		took = units.Time(max(0, int(length)+int(p.overhead))) * units.Time(p.each)
	} else {
		took = p.link.Serialize(int(length))
	}
	if took <= math.MaxUint32 {
		p.length, p.took = length, uint32(took)
	}
	return took
}

func (w *World) portOf(e dataplane.End) (int, error) {
	if e.Node < 0 || e.Node >= len(w.nodes) || e.Port < 0 || e.Port >= w.nodes[e.Node].ports {
		return 0, fmt.Errorf("sim: there is no port %d of node %d", e.Port, e.Node)
	}
	p := w.nodes[e.Node].first + e.Port
	if w.ports[p].peer != unlinked {
		return 0, fmt.Errorf("sim: port %d of %s is connected twice", e.Port, w.nodes[e.Node].name)
	}
	return p, nil
}

// Every has do called every span of virtual time, before the events of that instant.
func (w *World) Every(span units.Time, do func(now units.Time)) {
	w.every(sampler{every: span, do: func(now units.Time) units.Time { do(now); return now }})
}

// EveryBusy is Every for one who sees only what nodes have done: do returns until when it would do nothing, if
// nothing happened from now on. It is not called where that is so.
func (w *World) EveryBusy(span units.Time, do func(now units.Time) (idle units.Time)) {
	w.every(sampler{every: span, do: do, rests: true})
}

func (w *World) every(s sampler) {
	s.next = w.now + s.every
	w.samples = append(w.samples, s)
	w.due = min(w.due, s.next)
}

// large is how many ports a world has whose memory is worth being put into huge pages.
const large = 1000

// Run lets time pass until the given instant. It stops early, with the
// context's error, if the context ends.
func (w *World) Run(ctx context.Context, until units.Time) error {
	if w.soon == nil {
		w.begin()
	}
	until = min(until, units.Never-1) // there is an instant after it
	w.wakeAll()                       // what was asked for before the world ran
	w.rouse(w.now, len(w.samples))
	w.setDue()
	if w.split != nil {
		if err := w.runParts(ctx, until); err != nil {
			return err
		}
		w.deliverSeen()
		return nil
	}
	for n := 0; ; n++ {
		if n&0xF == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		end := min(w.due, until+1)
		if w.first < end {
			w.window(end)
			continue
		}
		if w.due > until {
			break
		}
		w.sample(w.due, w.first)
	}
	w.now = until
	w.deliverSeen()
	return nil
}

// begin makes what a world needs to run.
func (w *World) begin() {
	w.divide()
	for _, p := range w.parts() {
		p.first = units.Never
		p.soon = make([]units.Time, len(w.nodes))
		for i := range p.soon {
			p.soon[i] = units.Never
		}
	}
	w.measure()
	if len(w.ports) >= large {
		memory.HugeHeap()
	}
}

// longest is the longest window there is.
const longest = 100 * units.Microsecond

// measure says how long the windows of each part are, no longer than a frame is on its way
// from one node to another, and which nodes it has.
func (w *World) measure() {
	for _, p := range w.parts() {
		p.length, p.border, p.inner = longest, p.border[:0], p.inner[:0]
	}
	for i := range w.nodes {
		m := &w.nodes[i]
		part := w.parts()[m.part]
		list := &part.inner
		for k := range w.ports[m.first : m.first+m.ports] {
			p := &w.ports[m.first+k]
			if p.peer != unlinked {
				part.length = max(1, min(part.length, p.delay))
			}
			if p.peer <= others {
				list = &part.border
			}
		}
		*list = append(*list, int32(i))
	}
}

// wakeAll reschedules the ports of all nodes that asked for it, and reports whether
// any did.
func (w *World) wakeAll() (woken bool) {
	p := &w.part
	for i := range w.nodes {
		m := &w.nodes[i]
		if m.crew != nil {
			m.crew.relay()
		}
		if !m.env.Wakes() {
			continue
		}
		if w.split != nil {
			p = w.split.parts[m.part]
		}
		woken = p.wake(m.env, m.first) || woken
		p.look(i)
	}
	return woken
}

// look notes what a node is to do next, if that is not known otherwise.
func (w *part) look(node int) {
	m := &w.nodes[node]
	for i := range w.ports[m.first : m.first+m.ports] {
		p := &w.ports[m.first+i]
		w.soon[node] = min(w.soon[node], p.flight.first, p.timer)
	}
	w.first = min(w.first, w.soon[node])
}

// sample runs the samplers that are due up to an instant, in the order of time,
// until one of them asks a node to send; it reports whether one did. Nothing happens before first.
func (w *World) sample(until, first units.Time) (woken bool) {
	for !woken {
		soonest := -1
		for i := range w.samples {
			if w.samples[i].next <= until && (soonest < 0 || w.samples[i].next < w.samples[soonest].next) {
				soonest = i
			}
		}
		if soonest < 0 {
			break
		}
		s := &w.samples[soonest]
		at := s.next
		w.now = at
		if w.split != nil {
			w.split.set(at)
		}
		s.next += s.every
		idle := s.do(at)
		awake := w.wakeAll()
		woken = woken || awake
		switch {
		case s.rests && !awake:
			s.skip(min(idle, first))
		default: // the others may see something of it
			w.rouse(at, soonest)
		}
	}
	w.setDue()
	return woken
}

// setDue notes when the first sampler is due.
func (w *World) setDue() {
	w.due = units.Never
	for i := range w.samples {
		w.due = min(w.due, w.samples[i].next)
	}
}

// rouse has samplers that rest called again from an instant on: those behind one in their list at it, the
// others after it.
func (w *World) rouse(at units.Time, behind int) {
	for i := range w.samples {
		s := &w.samples[i]
		from := at
		if i <= behind {
			from++
		}
		if s.rests && s.next-from >= s.every {
			s.next -= (s.next - from) / s.every * s.every
		}
	}
}

// skip leaves out the calls before an instant but for the last of them, or that at it.
func (s *sampler) skip(before units.Time) {
	if before > s.next {
		s.next += min((before-s.next)/s.every, (units.Never-1-s.next)/s.every) * s.every
	}
}

// arrive delivers the frame at hand to a port. If nothing else happens at its node at this instant,
// what the node has for a port that is free leaves without an event of its own: that would have
// been the next.
func (w *part) arrive(p int) {
	dst := &w.ports[p]
	dst.delivered++
	w.trace(p, &w.burst[0])
	if w.taps != nil {
		w.noteFrame(p, false)
	}
	first := p - int(dst.number)
	env := dst.env
	env.Queue = w.visit.stop == 0 || !w.quiet(first)
	dst.node.Receive(w.now, int(dst.number), w.burst[:])
	for _, number := range env.Left() {
		w.leave(first + int(number))
	}
	w.pass(env, first)
}

// leave sends what is in the exit of a port.
func (w *part) leave(p int) {
	src := &w.ports[p]
	src.exit.Take(&w.burst[0])
	w.count++
	w.send(src)
	if src.timer < src.exit.Free {
		w.set(p, src.exit.Free)
	}
}

// pass is wake after an arrival, which mostly wakes one port, to send at once: if
// nothing else happens at this instant, that port is served without an event.
func (w *part) pass(env *dataplane.Env, first int) {
	woken := env.Woken()
	if len(woken) == 1 {
		p := first + int(woken[0])
		if port := &w.ports[p]; port.exit.Free <= w.now && env.Due(int(woken[0])) <= w.now && port.peer != unlinked {
			if w.quiet(first) && port.timer == units.Never {
				w.count++
				w.depart(p)
				return
			}
		}
	}
	for _, number := range woken {
		w.schedule(first+int(number), env.Due(int(number)))
	}
}

// depart asks a port for a frame and puts it on the link.
func (w *part) depart(p int) {
	src := &w.ports[p]
	number := int(src.number)
	src.env.SetDue(number, units.Never)
	sent, next := src.node.Serve(w.now, number, &w.burst[0])
	if sent {
		w.send(src)
	}
	if !sent && next <= w.now {
		panic(fmt.Sprintf("sim: port %d of %s has nothing to send at %v and asks to be called at %v", number, w.nodes[src.flight.member].name, w.now, next))
	}
	src.env.SetDue(number, next)
	w.schedule(p, next)
	if src.env.Wakes() {
		w.wake(src.env, p-number)
	}
}

// send puts the frame at hand on the link of a port.
func (w *part) send(src *port) {
	f := &w.burst[0]
	if f.Digest == 0 {
		f.Digest = w.pool.Digest(f)
	}
	if w.taps != nil {
		w.noteFrame(w.nodes[src.flight.member].first+int(src.number), true)
	}
	src.sent++
	src.exit.Free = w.now + src.serialize(f.Len)
	if src.peer >= 0 {
		w.land(int(src.peer), src.exit.Free+src.delay, f)
		return
	}
	w.exchange.send(w, src)
}

// wake reschedules the ports of a node that asked for it, and reports whether
// any did. The first of them is given.
func (w *part) wake(env *dataplane.Env, first int) bool {
	woken := env.Woken()
	for _, number := range woken {
		w.schedule(first+int(number), env.Due(int(number)))
	}
	return len(woken) > 0
}

func (w *part) schedule(p int, due units.Time) {
	port := &w.ports[p]
	if due != units.Never {
		due = max(due, port.exit.Free, w.now)
	}
	if port.peer != unlinked {
		w.set(p, due)
	}
}

// Now is the virtual time.
func (w *World) Now() units.Time { return w.now }

// Close does nothing: there is nothing but memory to give back.
func (w *World) Close() error { return nil }

// Frames is the most frames there were at a time, in queues and on their way; in a
// world of several parts the most when they met.
func (w *World) Frames() int {
	if w.split != nil {
		return w.split.frames
	}
	return w.pool.Peak()
}

// Events is how many events happened so far: arrivals, and calls of Transmit.
func (w *World) Events() (sum uint64) {
	for _, p := range w.parts() {
		sum += p.count
	}
	return sum
}

// Audit checks that every node accounts for every frame, and every link too.
func (w *World) Audit() error {
	for i := range w.nodes {
		m := &w.nodes[i]
		if err := m.node.Audit(); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		st := m.node.Stats(w.now)
		for n := range st.Ports {
			p := &w.ports[m.first+n]
			if p.peer == unlinked {
				continue
			}
			sent, received := st.Ports[n].Frames()
			if uint32(sent) != p.sent || uint32(received) != p.delivered {
				return fmt.Errorf("%s port %d: says %d sent and %d received, the links carried %d and %d", m.name, n, sent, received, p.sent, p.delivered)
			}
			far := &w.ports[p.other()]
			if out := far.delivered + far.flight.end - far.flight.head; p.sent != out {
				return fmt.Errorf("%s port %d: %d frames sent, %d arrived or on their way", m.name, n, p.sent, out)
			}
		}
	}
	return nil
}

// SetRate changes the rate of the link that a port sends into; frames on their
// way are not touched.
func (w *World) SetRate(e dataplane.End, rate units.Rate) error {
	if e.Node < 0 || e.Node >= len(w.nodes) || e.Port < 0 || e.Port >= w.nodes[e.Node].ports || rate <= 0 {
		return fmt.Errorf("sim: there is no port %d of node %d, or the rate %v is not positive", e.Port, e.Node, rate)
	}
	w.ports[w.nodes[e.Node].first+e.Port].setRate(rate)
	return nil
}
