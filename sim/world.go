package sim

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"

	"photon/dataplane"
	"photon/units"
)

// World carries frames between nodes in virtual time.
type World struct {
	pool    *dataplane.Pool
	nodes   []member
	ports   []port
	events  *heap
	now     units.Time
	hash    uint64
	hops    uint64
	samples []sampler
	burst   [1]dataplane.Frame
}

// member is a node and the number of its first port in the world.
type member struct {
	name  string
	node  dataplane.Node
	env   *dataplane.Env
	first int
	ports int
}

// port is one end of a link, and what is on its way to it.
type port struct {
	member    int
	number    int // at its node
	peer      int // the port at the other end; -1: no link
	link      dataplane.Link
	free      units.Time // when the last frame will have left
	flight    dataplane.Flight
	sent      uint64
	delivered uint64
}

type sampler struct {
	every units.Time
	next  units.Time
	do    func(now units.Time)
}

// New returns an empty world at time 0.
func New() *World { return &World{pool: dataplane.NewHeaderPool(), hash: 0xCBF29CE484222325} }

var _ dataplane.World = (*World)(nil)

// Workers is one.
func (w *World) Workers() int { return 1 }

// NewEnvs returns one Env.
func (w *World) NewEnvs(ports int) []*dataplane.Env {
	return []*dataplane.Env{dataplane.NewEnv(w.pool, ports)}
}

// Add takes a node into the world and returns its number.
func (w *World) Add(name string, node dataplane.Node, envs []*dataplane.Env, workers []int) int {
	m := member{name: name, node: node, env: envs[0], first: len(w.ports), ports: len(workers)}
	w.nodes = append(w.nodes, m)
	for i := range workers {
		w.ports = append(w.ports, port{member: len(w.nodes) - 1, number: i, peer: -1})
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
	w.ports[i].peer, w.ports[i].link = j, link
	w.ports[j].peer, w.ports[j].link = i, link
	return nil
}

func (w *World) portOf(e dataplane.End) (int, error) {
	if e.Node < 0 || e.Node >= len(w.nodes) || e.Port < 0 || e.Port >= w.nodes[e.Node].ports {
		return 0, fmt.Errorf("sim: there is no port %d of node %d", e.Port, e.Node)
	}
	p := w.nodes[e.Node].first + e.Port
	if w.ports[p].peer >= 0 {
		return 0, fmt.Errorf("sim: port %d of %s is connected twice", e.Port, w.nodes[e.Node].name)
	}
	return p, nil
}

// Every has do called every span of virtual time, before the events of that instant.
func (w *World) Every(span units.Time, do func(now units.Time)) {
	w.samples = append(w.samples, sampler{every: span, next: w.now + span, do: do})
}

// Events are numbered: arrivals at all ports first, then transmissions.
func (w *World) arrival(p int) int  { return p }
func (w *World) transmit(p int) int { return len(w.ports) + p }

// Run lets time pass until the given instant. It stops early, with the
// context's error, if the context ends.
func (w *World) Run(ctx context.Context, until units.Time) error {
	if w.events == nil {
		w.events = newHeap(2 * len(w.ports))
	}
	for i := range w.nodes { // what was asked for before the world ran
		w.wake(&w.nodes[i])
	}
	for n := 0; ; n++ {
		if n&0xFFF == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		event, at := w.events.first()
		if w.sample(min(at, until)) {
			continue // there may be an earlier event now
		}
		if at > until {
			break
		}
		w.now = at
		if event < len(w.ports) {
			w.arrive(event)
		} else {
			w.depart(event - len(w.ports))
		}
	}
	w.now = until
	return nil
}

// sample runs the samplers that are due up to an instant, in the order of time,
// until one of them asks a node to send; it reports whether one did.
func (w *World) sample(until units.Time) (woken bool) {
	for !woken {
		first := -1
		for i := range w.samples {
			if w.samples[i].next <= until && (first < 0 || w.samples[i].next < w.samples[first].next) {
				first = i
			}
		}
		if first < 0 {
			return false
		}
		s := &w.samples[first]
		w.now = s.next
		s.next += s.every
		s.do(w.now)
		for i := range w.nodes {
			woken = w.wake(&w.nodes[i]) || woken
		}
	}
	return true
}

// arrive delivers the first frame on its way to a port.
func (w *World) arrive(p int) {
	dst := &w.ports[p]
	f := dst.flight.Pop()
	w.events.set(w.arrival(p), dst.flight.Next())
	dst.delivered++
	w.hops++
	m := &w.nodes[dst.member]
	w.trace(p, f, m)
	w.burst[0] = f
	m.node.Receive(w.now, dst.number, w.burst[:])
	w.wake(m)
}

// depart asks a port for a frame and puts it on the link.
func (w *World) depart(p int) {
	src := &w.ports[p]
	m := &w.nodes[src.member]
	m.env.SetDue(src.number, units.Never)
	n := m.node.Transmit(w.now, src.number, w.burst[:])
	if n == 1 {
		f := dataplane.Frame{Ref: w.burst[0].Ref, Len: w.burst[0].Len, Off: w.burst[0].Off} // the rest does not travel
		src.sent++
		src.free = w.now + src.link.Serialize(int(f.Len))
		dst := &w.ports[src.peer]
		dst.flight.Push(f, src.free+src.link.Delay)
		w.events.set(w.arrival(src.peer), dst.flight.Next())
	}
	next := m.node.Next(w.now, src.number)
	if n == 0 && next <= w.now {
		panic(fmt.Sprintf("sim: port %d of %s has nothing to send at %v and asks to be called at %v", src.number, m.name, w.now, next))
	}
	m.env.SetDue(src.number, next)
	w.schedule(p, next)
	w.wake(m)
}

// wake reschedules the ports of a node that asked for it, and reports whether
// any did.
func (w *World) wake(m *member) bool {
	woken := m.env.Woken()
	for _, number := range woken {
		w.schedule(m.first+int(number), m.env.Due(int(number)))
	}
	return len(woken) > 0
}

func (w *World) schedule(p int, due units.Time) {
	if due != units.Never {
		due = max(due, w.ports[p].free, w.now)
	}
	if w.ports[p].peer >= 0 {
		w.events.set(w.transmit(p), due)
	}
}

// trace mixes an arrival into the hash: when, where, how long, and bytes of the
// frame that tell its kind and its marks.
func (w *World) trace(p int, f dataplane.Frame, m *member) {
	b := m.env.Header(f)
	w.mix(uint64(w.now))
	w.mix(uint64(p)<<32 | uint64(f.Len))
	if len(b) >= 58 {
		w.mix(binary.LittleEndian.Uint64(b[14:]))
		w.mix(binary.LittleEndian.Uint64(b[50:]))
	}
}

func (w *World) mix(v uint64) {
	hi, lo := bits.Mul64(w.hash^v, 0x9E3779B97F4A7C15)
	w.hash = hi ^ lo
}

// Now is the virtual time.
func (w *World) Now() units.Time { return w.now }

// Hash is a function of every arrival so far.
func (w *World) Hash() (uint64, bool) { return w.hash, true }

// Close does nothing: a world is memory.
func (w *World) Close() error { return nil }

// Hops is how many frames arrived at the end of a link so far.
func (w *World) Hops() uint64 { return w.hops }

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
			if p.peer < 0 {
				continue
			}
			sent, received := st.Ports[n].Frames()
			if sent != p.sent || received != p.delivered {
				return fmt.Errorf("%s port %d: says %d sent and %d received, the links carried %d and %d", m.name, n, sent, received, p.sent, p.delivered)
			}
			if out := w.ports[p.peer].delivered + uint64(w.ports[p.peer].flight.Len()); p.sent != out {
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
	w.ports[w.nodes[e.Node].first+e.Port].link.Rate = rate
	return nil
}
