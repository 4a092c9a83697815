package fabric

import (
	"context"

	"photon/units"
)

// World carries frames between the ports of nodes and owns the clock. Nodes are
// added and connected before it runs.
type World interface {
	// Workers is how many goroutines will call into nodes.
	Workers() int
	// NewEnvs returns what a node of so many ports is made with: one Env per worker, by the worker's number.
	NewEnvs(ports int) []*Env
	// Add takes in a node, whose port i belongs to worker workers[i], and
	// returns its number.
	Add(name string, node Node, envs []*Env, workers []int) int
	// Connect joins two ports by a cable; link is what each sends into. It is an error if there is no such port, or if
	// one of them is joined already.
	Connect(a, b End, link Link) error
	// Every has do called every span of the world's time, while no node runs.
	Every(span units.Time, do func(now units.Time))
	// Run lets time pass until an instant. It ends early, with the context's
	// error, if the context does.
	Run(ctx context.Context, until units.Time) error
	// Now is the world's time while it does not run.
	Now() units.Time
	// Hash is the trace hash: equal runs have equal ones. It is not ok if the world has none.
	Hash() (hash uint64, ok bool)
	// Audit checks that every node and every link accounts for every frame.
	Audit() error
	// Close gives back what the world holds. Nothing of it can be used afterwards.
	Close() error
}

// End is one end of a link: a port of a node, by the number that Add returned.
type End struct{ Node, Port int }
