package lab

import (
	"fmt"
	"slices"
	"strings"

	"photon/config"
	"photon/units"
)

// Probe is something that is looked at at every sample: one column, or one per
// flow.
type Probe struct {
	Name  string                 `yaml:"name"`
	Kind  config.Value[string]   `yaml:"kind"`
	At    config.Value[[]string] `yaml:"at"`    // "S0>S1": the port of S0 that leads to S1; "tor": all ports of a layer; "*": of all switches
	Flows config.Value[[]string] `yaml:"flows"` // groups; "*": all
	Each  bool                   `yaml:"each"`  // a column for every flow, not their sum
	// Priority is the only one that counts, of what is counted at ports; absent:
	// all that are lossless.
	Priority config.Value[int] `yaml:"priority"`
	Over     units.Time        `yaml:"over"` // of a counter: its rate over the time that ends with the sample
}

// probeKinds says what kinds there are.
var probeKinds = map[string]struct {
	doc     string
	at      bool // looks at ports, else at flows
	counter bool
	bytes   bool // a counter of bytes: its rate is in bits per second
}{
	"queue":    {"bytes of data waiting at ports", true, false, true},
	"sent":     {"bytes that ports have put on the wire", true, true, true},
	"xoffs":    {"XOFF frames that ports have sent to their peers, refreshes included", true, true, false},
	"paused":   {"how many of the ports are paused by their peers", true, false, false},
	"marked":   {"frames marked CE at ports", true, true, false},
	"ue":       {"frames marked UE (TCD) at ports", true, true, false},
	"frames":   {"frames of data that ports have sent", true, true, false},
	"received": {"bytes on the wire that reached their receivers in order", false, true, true},
	"sending":  {"bytes on the wire that senders have sent", false, true, true},
	"allowed":  {"rate that reaction points allow, bit/s", false, false, false},
	"notified": {"CNPs and CNMs that reaction points were told of", false, true, false},
	"active":   {"flows that have begun and not ended", false, false, false},
}

// ProbeDocs says what the kinds of probes look at.
func ProbeDocs() map[string]string {
	docs := map[string]string{}
	for k, v := range probeKinds {
		docs[k] = v.doc
	}
	return docs
}

// place is a port of a node; hosts have port 0.
type place struct{ node, port int }

// places resolves what a probe looks at.
func (n *network) places(v config.Value[[]string]) (list []place, err error) {
	for _, name := range v.V {
		a, b, isPort := strings.Cut(name, ">")
		if isPort {
			node, _, err := n.plan.Port(a, b)
			if err != nil {
				return nil, at(v, "%v", err)
			}
			for port, end := range n.plan.Nodes[node].Ends {
				if n.plan.Nodes[end.Node].Name == b {
					list = append(list, place{node, port})
				}
			}
			continue
		}
		found := false
		for i, node := range n.plan.Nodes {
			if node.Host || name != "*" && node.Layer != name && node.Name != name {
				continue
			}
			found = true
			for port := range node.Ends {
				list = append(list, place{i, port})
			}
		}
		if !found {
			return nil, at(v, "%q is neither a link (S0>S1) nor a switch nor a layer of switches", name)
		}
	}
	return list, nil
}

// selected returns the flows of groups.
func (n *network) selected(groups []string) (list []int) {
	for i := range n.flows {
		if slices.Contains(groups, "*") || slices.Contains(groups, n.flows[i].group) {
			list = append(list, i)
		}
	}
	return list
}

// column is what a probe's column is called and how it is read.
type column struct {
	name string
	read func(now units.Time) float64
}

// columns makes the columns of a probe.
func (n *network) columns(p *Probe) ([]column, error) {
	kind, ok := probeKinds[p.Kind.V]
	if !ok {
		return nil, at(p.Kind, "probe %s: there is no kind %q (%s)", p.Name, p.Kind.V, others(p.Kind.V, sortedKeys(probeKinds)))
	}
	if kind.at {
		places, err := n.places(p.At)
		if err != nil {
			return nil, err
		}
		if len(places) == 0 {
			return nil, at(p.Kind, "probe %s does not say where (`at: [S0>S1]`)", p.Name)
		}
		mask := n.lossless
		if p.Priority.IsSet() {
			if prio := p.Priority.V; prio < 0 || prio >= 8 || mask>>prio&1 == 0 {
				return nil, at(p.Priority, "probe %s: priority %d is not lossless", p.Name, prio)
			}
			mask = 1 << p.Priority.V
		}
		return []column{{p.Name, func(now units.Time) (sum float64) {
			for _, at := range places {
				sum += n.readPort(p.Kind.V, at, mask)
			}
			return sum
		}}}, nil
	}
	flows := n.selected(p.Flows.V)
	if len(flows) == 0 {
		return nil, at(p.Kind, "probe %s: there are no flows %q", p.Name, strings.Join(p.Flows.V, ", "))
	}
	if !p.Each {
		return []column{{p.Name, func(now units.Time) (sum float64) {
			for _, f := range flows {
				sum += n.readFlow(p.Kind.V, f, now)
			}
			return sum
		}}}, nil
	}
	var list []column
	for i, f := range flows {
		list = append(list, column{fmt.Sprintf("%s.%d", p.Name, i+1), func(now units.Time) float64 { return n.readFlow(p.Kind.V, f, now) }})
	}
	return list, nil
}

// readPort reads what a port counts, for a set of priorities.
func (n *network) readPort(kind string, p place, priorities uint8) float64 {
	s := n.switches[p.node]
	if s == nil {
		if kind == "paused" && n.hosts[p.node].Paused() != 0 {
			return 1
		}
		return 0
	}
	switch kind {
	case "queue":
		sum := units.Size(0)
		for prio := range 8 {
			if priorities>>prio&1 != 0 {
				sum += s.QueueBytes(p.port, prio)
			}
		}
		return float64(sum)
	case "sent":
		return float64(s.Sent(p.port))
	case "paused":
		if s.Paused(p.port)&priorities != 0 {
			return 1
		}
		return 0
	}
	sum := uint64(0)
	for prio := range 8 {
		if priorities>>prio&1 == 0 {
			continue
		}
		switch kind {
		case "xoffs":
			sum += s.Pauses(p.port, prio)
		case "frames":
			sum += s.TxFrames(p.port, prio)
		case "marked", "ue":
			ce, ue := s.Marked(p.port, prio)
			if kind == "ue" {
				ce = ue
			}
			sum += ce
		}
	}
	return float64(sum)
}

func (n *network) readFlow(kind string, i int, now units.Time) float64 {
	if kind == "received" {
		return float64(n.received(i))
	}
	f, s := &n.flows[i], n.flow(now, i)
	switch kind {
	case "sending":
		return float64(s.Bytes)
	case "allowed":
		if f.start > now {
			return 0
		}
		return float64(s.Rate)
	case "notified":
		return float64(s.Notified)
	}
	if s.Active && f.start <= now {
		return 1
	}
	return 0
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
