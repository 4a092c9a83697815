package sim

import (
	"fmt"

	"photon/fabric"
	"photon/units"
)

// member is a node of the world. Its ports follow each other in the world's list.
type member struct {
	name    string
	node    fabric.Node
	spanner fabric.Spanner // nil: the node is none
	env     *fabric.Env
	shared  *sharedNode // nil: the node has one worker
	first   int         // its port 0 in the world's list
	ports   int
	part    int   // that it belongs to
	side    int8  // that it is on, if the world has sides
	quarter uint8 // that it is in, of its part: see sides
	group   int   // the first of the nodes that are always in the same part
}

// NewEnvs returns one Env for each worker.
func (w *World) NewEnvs(ports int) (list []*fabric.Env) {
	for range w.Workers() {
		list = append(list, fabric.NewEnv(w.pool, ports))
	}
	return list
}

// Add takes a node into the world and returns its number.
func (w *World) Add(name string, node fabric.Node, envs []*fabric.Env, workers []int) int {
	m := member{name: name, node: node, env: envs[0], first: len(w.ports), ports: len(workers)}
	server, ok := node.(fabric.Server)
	if !ok {
		server = fabric.Asked{Node: node}
	}
	if len(envs) > 1 {
		poller, _ := node.(fabric.Poller)
		m.shared = newSharedNode(server, poller, envs, workers, w.pollGap)
		m.env, server = m.shared.env, m.shared
	}
	m.spanner, _ = server.(fabric.Spanner)
	number := len(w.members)
	w.members = append(w.members, m)
	for i := range workers {
		w.ports = append(w.ports, newPort(server, m.env, number, i))
	}
	return number
}

// Connect joins two ports by a cable; link is what each sends into.
func (w *World) Connect(a, b fabric.End, link fabric.Link) error {
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
	for _, e := range []fabric.End{a, b} {
		if s := w.members[e.Node].shared; s != nil {
			s.linked(e.Port)
		}
	}
	return nil
}

func (w *World) unlinkedPort(e fabric.End) (int, error) {
	id, err := w.portID(e)
	if err == nil && w.ports[id].peer != unlinked {
		err = fmt.Errorf("sim: port %d of %s is connected twice", e.Port, w.members[e.Node].name)
	}
	return id, err
}

// portID is where a port is in the world's list.
func (w *World) portID(e fabric.End) (int, error) {
	if e.Node < 0 || e.Node >= len(w.members) || e.Port < 0 || e.Port >= w.members[e.Node].ports {
		return 0, fmt.Errorf("sim: there is no port %d of node %d", e.Port, e.Node)
	}
	return w.members[e.Node].first + e.Port, nil
}

// SetRate changes the rate of the link that a port sends into. Frames on their way are not touched.
func (w *World) SetRate(e fabric.End, rate units.Rate) error {
	id, err := w.portID(e)
	if err == nil && rate <= 0 {
		err = fmt.Errorf("sim: the rate %v of port %d of %s is not positive", rate, e.Port, w.members[e.Node].name)
	}
	if err == nil {
		w.ports[id].setRate(rate)
	}
	return err
}
