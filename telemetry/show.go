package telemetry

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"photon/dataplane"
)

// Document is the answer to `photon show`: JSON on the way, a table for people.
type Document interface {
	// Table prints what it says in the shape that switches have made usual.
	Table(w io.Writer)
}

// Topic is one thing that can be shown.
type Topic struct {
	Name    string // as it is typed after `photon show`
	Summary string // one line
	switchs bool   // hosts have none of it
	take    func(*Source) Document
	empty   func() Document
}

// Source is where documents come from.
type Source struct {
	Snapshot   func() Snapshot                                 // counters, all of one instant
	FDB        func() (FDB []dataplane.FDBEntry, capacity int) // nil: hosts have none
	Forwarding func() dataplane.Forwarding                     // the same
}

// Topics are all there is to be shown.
var Topics = []Topic{
	{"pfc counters", "PFC frames received and sent, per port and priority", false, takePFC, func() Document { return &PFC{} }},
	{"ports", "ports, their links and frames", false, takePorts, func() Document { return &Ports{} }},
	{"queues", "egress queues: frames, drops, occupancy, watermarks", true, takeQueues, func() Document { return &Queues{} }},
	{"buffer", "the shared buffer: its parts, thresholds, and what each ingress port holds of it", true, takeBuffer, func() Document { return &Buffer{} }},
	{"fdb", "the forwarding database: which address is behind which port", true, takeFDB, func() Document { return &FDB{} }},
	{"vlan", "VLANs: their ports, tagged and untagged, and how many addresses are known", true, takeVLANs, func() Document { return &VLANs{} }},
	{"routes", "IP routes and their next hops", true, takeRoutes, func() Document { return &Routes{} }},
	{"marking", "the scheme, its parameters, and what its congestion points did", true, takeMarking, func() Document { return &Marking{} }},
	{"deadlocks", "cycles of paused queues: which queue is in one", true, takeDeadlocks, func() Document { return &Deadlocks{} }},
	{"pfcwd", "the PFC watchdog: storms detected and restored, and what they cost", true, takePFCWD, func() Document { return &PFCWD{} }},
}

// ErrNoTopic is wrapped by the error of FindTopic.
var ErrNoTopic = errors.New("there is nothing of that name to show")

// FindTopic returns a topic by its name. A first word that says enough will do.
func FindTopic(name string) (*Topic, error) {
	for i := range Topics {
		if first, _, _ := strings.Cut(Topics[i].Name, " "); name == Topics[i].Name || name == first {
			return &Topics[i], nil
		}
	}
	var names []string
	for _, t := range Topics {
		names = append(names, t.Name)
	}
	return nil, fmt.Errorf("%q: %w (there are %s)", name, ErrNoTopic, strings.Join(names, ", "))
}

// path is where the topic is on the socket.
func (t *Topic) path() string { return "/show/" + strings.ReplaceAll(t.Name, " ", "/") }
