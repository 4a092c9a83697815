// Package nodecontrol is what an experiment asks of the nodes of a testbed, which are processes of their own: to
// start, to send flows, to record, to stop. Package remote asks, package testbed finds the nodes and does what is
// asked. The two know only these interfaces, so that what runs experiments in virtual time links no HTTP.
package nodecontrol

import (
	"context"
	"time"

	"photon/telemetry/node"
	"photon/units"
)

// Testbed is where the nodes of an experiment are.
type Testbed interface {
	// Covers says which nodes of an experiment the testbed does not have, or has otherwise: with devices or links that
	// do not fit what the node is and who its neighbours are. Of a Spec it wants no more than that.
	Covers(nodes []Spec) error
	// Start starts a node with its scheme, or reaches one that runs.
	Start(ctx context.Context, w Spec) (*Running, error)
}

// Spec is what an experiment wants of a node.
type Spec struct {
	Name      string
	Switch    bool
	Neighbour []string // by port
	Scheme    node.Scheme
	// Config is the file of a node that is started here; device and delay say what
	// its ports are.
	Config func(device []string, admin string, delay bool, response units.Time) (string, error)
}

// Running is a node at work.
type Running struct {
	Control
	Spec
	Info node.Info
	Port []int // of the node, by the experiment's port
}

// Control sends requests to a node.
type Control interface {
	// Node asks who the node is.
	Node(ctx context.Context) (node.Info, error)
	// SetScheme gives a node its scheme, and tells it of the experiment's network.
	SetScheme(ctx context.Context, s node.Scheme) error
	// HostPorts asks a switch for the port, or the ports with commas between, behind each Ethernet address, and behind
	// each prefix to which it routes.
	HostPorts(ctx context.Context) (map[string]string, error)
	// OrderFlows has an agent send flows.
	OrderFlows(ctx context.Context, o node.FlowOrders) (node.FlowsOrdered, error)
	// Flows asks an agent for its flows with numbers above after.
	Flows(ctx context.Context, after uint64) (Flows, error)
	// StopFlows ends flows of an agent and returns how many had not ended.
	StopFlows(ctx context.Context, ids []uint64) (int, error)
	// Watch has a node record, and Recorded fetches that.
	Watch(ctx context.Context, w node.Watch) error
	Recorded(ctx context.Context) (node.Recording, error)
	// At is the node's time at a time of this machine, and Skew bounds how wrong it is.
	At(here units.Time) units.Time
	Skew() units.Time
	// Drift is how much further than this machine's clock the node's has gone since At was found out; less than 0: how
	// much less. 0 if that may be an error of measurement.
	Drift(ctx context.Context) (units.Time, error)
	// Ended says why a node that was started here has ended by itself; nil: it runs, or runs elsewhere.
	Ended() error
	// Stop disconnects from the node, and ends it if it was started here. It fails if the node's
	// counters do not account for all frames.
	Stop() error
}

// Flows are those of an agent.
type Flows struct {
	Open int    // that are sent, or wait for their start
	List []Flow // in the order of their numbers
}

// Flow is one flow.
type Flow struct {
	ID        uint64  // number
	State     string  // pending, running, done, stopped, refused, failed
	Why       string  // it was refused, or failed
	End       float64 // seconds of the agent; 0: it has not ended
	Packets   uint64  // sent, repetitions included
	WireBytes uint64  // of them, preamble and gap included
	Notified  uint64  // CNPs and CNMs
}

// zero is when this machine's clock was 0: the clocks of all nodes are compared with the time since then.
var zero = time.Now()

// Now is this machine's clock.
func Now() units.Time { return units.FromDuration(time.Since(zero)) }
