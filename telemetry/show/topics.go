package show

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"photon/internal/suggest"
	"photon/telemetry"
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
	of      owner
	take    func(*telemetry.Source) Document
	empty   func() Document
}

// owner says which nodes have something to show.
type owner uint8

const (
	both owner = iota
	switches
	hosts
)

// refuses says why a node has nothing to show; nil: it has.
func (t *Topic) refuses(s *telemetry.Source) error {
	switch {
	case t.of == switches && s.FDB == nil:
		return fmt.Errorf("an agent has no %s: ask a switch", t.Name)
	case t.of == hosts && s.Flows == nil:
		return fmt.Errorf("a switch has no %s: ask an agent", t.Name)
	}
	return nil
}

// Topics are all there is to be shown.
var Topics = []Topic{
	{"pfc counters", "PFC frames received and sent, per port and priority", both, takePFC, func() Document { return &PFC{} }},
	{"pfc history", "the last pauses of each port: who stopped whom, when, for how long", switches, takePauses, func() Document { return &Pauses{} }},
	{"ports", "ports, their links and frames", both, takePorts, func() Document { return &Ports{} }},
	{"queues", "egress queues: frames, drops, occupancy, watermarks", switches, takeQueues, func() Document { return &Queues{} }},
	{"scheduler", "how egress queues take turns: strict or by weight, their shapers and the ports'", switches, takeScheduler, func() Document { return &Scheduler{} }},
	{"buffer", "the shared buffer: its parts, thresholds, and what each ingress port holds of it", switches, takeBuffer, func() Document { return &Buffer{} }},
	{"fdb", "the forwarding database: which address is behind which port", switches, takeFDB, func() Document { return &FDB{} }},
	{"vlan", "VLANs: their ports, tagged and untagged, and how many addresses are known", switches, takeVLANs, func() Document { return &VLANs{} }},
	{"routes", "IP routes and their next hops", switches, takeRoutes, func() Document { return &Routes{} }},
	{"neighbours", "next hops that the switch asks for: where they are, and what waits for them", switches, takeNeighbours, func() Document { return &Neighbours{} }},
	{"marking", "the scheme, its parameters, and what its congestion points did", switches, takeMarking, func() Document { return &Marking{} }},
	{"deadlocks", "cycles of paused queues: which queue is in one", switches, takeDeadlocks, func() Document { return &Deadlocks{} }},
	{"losses", "frames of lossless priorities that were lost: where, why, how many, and when the first was", switches, takeLosses, func() Document { return &Losses{} }},
	{"events", "discards and storms at each port: when, how many frames, and the headers of the first", switches, takeEvents, func() Document { return &Events{} }},
	{"pfcwd", "the PFC watchdog: storms detected and restored, and what they cost", switches, takePFCWD, func() Document { return &PFCWD{} }},
	{"impair", "what was done on purpose to frames that came in (`impair:` of a port)", switches, takeImpair, func() Document { return &Impair{} }},
	{"lldp", "neighbours on the cables (LLDP), and where they disagree about PFC, ETS and priorities (DCBX)", switches, takeLLDP, func() Document { return &LLDP{} }},
	{"sflow", "samples of frames that are sent to a collector", switches, takeSFlow, func() Document { return &SFlow{} }},
	{"flows", "the flows that an agent sends: what they are allowed, have sent, and were told", hosts, takeFlows, func() Document { return &Flows{} }},
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
	return nil, fmt.Errorf("%q: %w (%s)", name, ErrNoTopic, suggest.Or(name, names, "there are "+strings.Join(names, ", ")))
}

// Path is where the topic is on an admin socket.
func (t *Topic) Path() string { return "/show/" + strings.ReplaceAll(t.Name, " ", "/") }

// Ask returns the topic's document of a node, or why the node has none.
func (t *Topic) Ask(s *telemetry.Source) (Document, error) {
	if err := t.refuses(s); err != nil {
		return nil, err
	}
	return t.take(s), nil
}

// Empty is a document of the topic that is to be read from JSON.
func (t *Topic) Empty() Document { return t.empty() }
