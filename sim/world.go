package sim

import (
	"fmt"

	"photon/dataplane"
	"photon/units"
)

// World carries frames between nodes in virtual time.
type World struct {
	part
	_        [64]byte  // other parts read what follows
	parts    []*part   // which divide the nodes among them; the first is the one above
	parallel *parallel // how they run together; nil: the world is one part
	maxParts int
	samplers []sampler
	due      units.Time // when the first sampler is called
	firstDue int        // which one that is
	watch    *watch     // nil: nobody watches
	workers  int        // of each node; 0: 1
	pollGap  units.Time // see SetWorkers
}

// part is some nodes of the world, or all, whose events one goroutine handles one after the other; the literature
// calls it a logical process. All parts have the lists of all nodes and ports. Each touches only its own of them.
type part struct {
	pool      *dataplane.Pool
	members   []member
	ports     []port
	nextOf    []units.Time // by node: it has no event before
	border    []int32      // nodes of the part with links to other parts
	interior  []int32      // and those with none
	next      units.Time   // no node of the part has an event before
	maxWindow units.Time   // see window
	now       units.Time
	hash      uint64             // sum over the arrivals at the part's nodes, see trace
	events    uint64             // that have been handled
	burst     [1]dataplane.Frame // the frame at hand
	exchange  *exchange          // with other parts; nil: there are none
	taps      []*tap             // by port, of those that somebody watches; nil: nobody does
	visit     visit
}

// member is a node of the world. Its ports follow each other in the world's list.
type member struct {
	name  string
	node  dataplane.Node
	env   *dataplane.Env
	crew  *crew // nil: the node has one worker
	first int   // its port 0 in the world's list
	ports int
	part  int // that it belongs to
	group int // the first of the nodes that are always in the same part
}

// New returns an empty world at time 0.
func New() *World { return NewOf(dataplane.HeaderLen) }

// NewOf is New for headers of so many bytes, at least dataplane.HeaderLen: where
// packets travel inside others, as between NICs under hpcc.
func NewOf(headers int) *World {
	w := &World{part: part{pool: dataplane.NewHeaderPoolOf(headers)}, maxParts: 1, due: units.Never}
	w.parts = []*part{&w.part}
	return w
}

var _ dataplane.World = (*World)(nil)

// Workers is 1, however many processors Run uses: to its nodes the world is one worker. But see SetWorkers.
func (w *World) Workers() int { return max(1, w.workers) }

// SetWorkers gives each node n workers, which find what another has for them a poll gap after it was put there. It
// must be called before nodes are made. Such a world is one part.
func (w *World) SetWorkers(n int, pollGap units.Time) { w.workers, w.pollGap = n, pollGap }

// SetParts lets the world run on up to n processors. What happens does not depend on their number. The world must not
// have run, and its nodes may share nothing that changes, except in functions given to Every.
func (w *World) SetParts(n int) { w.maxParts = n }

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
		m.crew = newCrew(server, envs, workers, w.pollGap)
		m.env, server = m.crew.env, m.crew
	}
	number := len(w.members)
	w.members = append(w.members, m)
	for i := range workers {
		w.ports = append(w.ports, newPort(server, m.env, number, i))
	}
	return number
}

// Connect joins two ports by a cable; link is what each sends into.
func (w *World) Connect(a, b dataplane.End, link dataplane.Link) error {
	i, err := w.unlinkedPort(a)
	if err != nil {
		return err
	}
	j, err := w.unlinkedPort(b)
	if err != nil {
		return err
	}
	if i == j {
		return fmt.Errorf("sim: port %d of %s is connected to itself", a.Port, w.members[a.Node].name)
	}
	w.ports[i].join(j, link)
	w.ports[j].join(i, link)
	return nil
}

func (w *World) unlinkedPort(e dataplane.End) (int, error) {
	id, err := w.portID(e)
	if err == nil && w.ports[id].peer != unlinked {
		err = fmt.Errorf("sim: port %d of %s is connected twice", e.Port, w.members[e.Node].name)
	}
	return id, err
}

// portID is where a port is in the world's list.
func (w *World) portID(e dataplane.End) (int, error) {
	if e.Node < 0 || e.Node >= len(w.members) || e.Port < 0 || e.Port >= w.members[e.Node].ports {
		return 0, fmt.Errorf("sim: there is no port %d of node %d", e.Port, e.Node)
	}
	return w.members[e.Node].first + e.Port, nil
}

// SetRate changes the rate of the link that a port sends into. Frames on their way are not touched.
func (w *World) SetRate(e dataplane.End, rate units.Rate) error {
	id, err := w.portID(e)
	if err == nil && rate <= 0 {
		err = fmt.Errorf("sim: the rate %v of port %d of %s is not positive", rate, e.Port, w.members[e.Node].name)
	}
	if err == nil {
		w.ports[id].setRate(rate)
	}
	return err
}

// Now is the virtual time.
func (w *World) Now() units.Time { return w.now }

// Close does nothing: there is nothing but memory to give back.
func (w *World) Close() error { return nil }

// Events is how many events there were so far: arrivals, and calls of Transmit.
func (w *World) Events() (sum uint64) {
	for _, p := range w.parts {
		sum += p.events
	}
	return sum
}

// Frames is the most frames there were at a time, in queues and on their way; in a world of several parts, the most
// at a barrier.
func (w *World) Frames() int {
	if w.parallel != nil {
		return w.parallel.peakFrames
	}
	return w.pool.Peak()
}
