package measure

import (
	"fmt"
	"strconv"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/units"
)

// column is what a probe's column is called and how it is read.
type column struct {
	name string
	read func(now units.Time) float64
}

// columns makes the columns of a probe; that it is right was checked.
func columns(n *build.Network, p *experiment.Probe) ([]column, error) {
	if experiment.ProbeKinds[p.Kind.V].At {
		places, err := p.Places(n.Plan)
		if err != nil {
			return nil, err
		}
		mask := n.Data
		if p.Priority.IsSet() {
			mask = 1 << p.Priority.V
		}
		if !p.Each {
			return []column{{p.Name, func(now units.Time) (sum float64) {
				for _, at := range places {
					if v := readPort(now, n, p.Kind.V, at, mask); p.Kind.V == "state" {
						sum = max(sum, v)
					} else {
						sum += v
					}
				}
				return sum
			}}}, nil
		}
		var list []column
		for i, name := range portNames(n.Plan, places) {
			list = append(list, column{p.Name + "." + name, func(now units.Time) float64 { return readPort(now, n, p.Kind.V, places[i], mask) }})
		}
		return list, nil
	}
	var flows []int
	for i := range n.Select(p.Flows.V) {
		flows = append(flows, i)
	}
	if !p.Each {
		return []column{{p.Name, func(now units.Time) (sum float64) {
			for _, f := range flows {
				sum += readFlow(n, p.Kind.V, f, now)
			}
			return sum
		}}}, nil
	}
	var list []column
	for i, f := range flows {
		list = append(list, column{fmt.Sprintf("%s.%d", p.Name, i+1), func(now units.Time) float64 { return readFlow(n, p.Kind.V, f, now) }})
	}
	return list, nil
}

// portNames tell ports by where they lead, S0>S1; of parallel links, all but the first have
// their number behind it.
func portNames(plan *topology.Plan, places []experiment.Place) (names []string) {
	seen := map[string]int{}
	for _, at := range places {
		node := plan.Nodes[at.Node]
		name := node.Name + ">" + plan.Nodes[node.Ends[at.Port].Node].Name
		if seen[name]++; seen[name] > 1 {
			name += "." + strconv.Itoa(seen[name])
		}
		names = append(names, name)
	}
	return names
}

// readPort reads what a port counts, for a set of priorities.
func readPort(now units.Time, n *build.Network, kind string, p experiment.Place, priorities uint8) float64 {
	s := n.Switches[p.Node]
	if s == nil {
		if kind == "paused" && n.Hosts[p.Node].Paused()&priorities != 0 {
			return 1
		}
		return 0
	}
	switch kind {
	case "queue":
		sum := units.Size(0)
		for prio := range 8 {
			if priorities>>prio&1 != 0 {
				sum += s.QueueBytes(p.Port, prio)
			}
		}
		return float64(sum)
	case "sent":
		return float64(s.Sent(p.Port))
	case "state":
		state := 0.0
		for prio := range 8 {
			if priorities>>prio&1 != 0 {
				state = max(state, float64(s.Ternary(now, p.Port, prio)))
			}
		}
		return state
	case "paused":
		if s.Paused(p.Port)&priorities != 0 {
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
			sum += s.Pauses(p.Port, prio)
		case "discarded":
			sum += s.Discarded(p.Port, prio)
		case "frames":
			sum += s.TxFrames(p.Port, prio)
		case "marked", "ue":
			ce, ue := s.Marked(p.Port, prio)
			if kind == "ue" {
				ce = ue
			}
			sum += ce
		}
	}
	return float64(sum)
}

func readFlow(n *build.Network, kind string, i int, now units.Time) float64 {
	if kind == "received" {
		return float64(n.Received(i))
	}
	s := n.Flow(now, i)
	switch kind {
	case "sending":
		return float64(s.Bytes)
	case "allowed":
		if s.Rate == 0 || n.Flows.At(i).Start > now {
			return 0
		}
		return float64(s.Rate)
	case "repeated":
		return float64(s.Repeated)
	case "notified":
		return float64(s.Notified)
	}
	if s.Active && n.Flows.At(i).Start <= now {
		return 1
	}
	return 0
}
