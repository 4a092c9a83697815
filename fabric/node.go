package fabric

import (
	"unsafe"

	"photon/units"
)

// Node is a device with numbered ports. One goroutine at a time calls into one
// port; ports of different workers may be called at the same time. Time never
// goes back between two calls into one port.
type Node interface {
	// Receive hands over frames that arrived on port. The node owns them now.
	Receive(now units.Time, port int, burst []Frame)
	// Transmit runs the port's due timers and fills burst with the frames to
	// send next, returning how many. Ownership passes to the world, which sends
	// them all, in order. Zero is normal.
	Transmit(now units.Time, port int, burst []Frame) int
	// Next is when Transmit must be called next, for a frame or for a timer;
	// units.Never if only an event elsewhere can change that, which the node
	// reports by Env.Wake.
	Next(now units.Time, port int) units.Time
	// Stats copies the counters of all ports. It is called between bursts.
	Stats(now units.Time) Stats
	// Audit checks that every frame is accounted for: received = transmitted +
	// queued + discarded with a reason, per port and priority. It is called
	// between bursts.
	Audit() error
	// Close gives back the frames that the node holds; it is not used any more.
	Close()
}

// MaxBurst is how many frames a world that polls takes from a port at a time: so many may still come after a node
// asked for no more (Env.SetReceivePaused). A switch takes as many through a stage together.
const MaxBurst = 64

// Server is a Node that a world which sends frame by frame can ask in one step. A type that embeds a
// Server to intercept its calls must intercept Serve, too.
type Server interface {
	Node
	// Serve is Transmit for one frame, and then Next. It reports whether there is a frame.
	Serve(now units.Time, port int, f *Frame) (sent bool, next units.Time)
}

// Poller is a Node whose workers exchange frames. A world with several workers calls Poll regularly
// by each worker; afterwards frames may be in the exits of that worker's ports.
type Poller interface {
	Node
	// Poll takes what other workers have handed over to a worker.
	Poll(now units.Time, worker int)
}

// Asked makes a Server of a node that is none, by Transmit and Next. Worlds use it, and nodes around other nodes.
type Asked struct{ Node }

// Serve implements Server.
func (a Asked) Serve(now units.Time, port int, f *Frame) (sent bool, next units.Time) {
	n := a.Transmit(now, port, unsafe.Slice(f, 1))
	return n == 1, a.Next(now, port)
}

// Rebase implements units.Rebaser, for the node.
func (a Asked) Rebase(by units.Time) { units.Rebase(a.Node, by) }
