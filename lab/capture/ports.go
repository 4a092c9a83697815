package capture

import (
	"fmt"
	"slices"
	"strings"

	"photon/lab/topology"
)

// Port is a port of a node of a plan.
type Port struct {
	Node, Port  int
	Name        string // its node and its neighbour, as in S0>H10
	Description string
}

// Ports are those that names stand for, in the order of the plan: a port by its name, S0>H10, which also stands for
// all links that join the two; all ports of a node, S0, or of a layer of switches, leaf. No names: all.
func Ports(plan *topology.Plan, names []string) (list []Port, err error) {
	wanted := map[string]bool{}
	for _, p := range all(plan) {
		for _, name := range names {
			if p.isOf(plan, name) {
				wanted[name] = true
				if len(list) == 0 || list[len(list)-1] != p {
					list = append(list, p)
				}
			}
		}
		if len(names) == 0 {
			list = append(list, p)
		}
	}
	for _, name := range names {
		if !wanted[name] {
			return nil, unknown(plan, name)
		}
	}
	return list, nil
}

// all are the ports of all nodes.
func all(plan *topology.Plan) (list []Port) {
	for i := range plan.Nodes {
		node := &plan.Nodes[i]
		links := map[int]int{} // to each neighbour
		for port, end := range node.Ends {
			name := link(plan, i, end.Node)
			if links[end.Node]++; links[end.Node] > 1 {
				name += fmt.Sprintf("#%d", links[end.Node])
			}
			list = append(list, Port{i, port, name, fmt.Sprintf("port %d of %s, %v", port, node.Name, end.Link.Rate)})
		}
	}
	return list
}

func link(plan *topology.Plan, from, to int) string {
	return plan.Nodes[from].Name + ">" + plan.Nodes[to].Name
}

// isOf reports whether a name stands for the port, too.
func (p *Port) isOf(plan *topology.Plan, name string) bool {
	node := &plan.Nodes[p.Node]
	host, _ := plan.HostOf(p.Node) // whose name stands for all of its NICs
	all := []string{p.Name, node.Name, plan.Nodes[host].Name, link(plan, p.Node, node.Ends[p.Port].Node)}
	return slices.Contains(all, name) || name != "" && node.Layer == name
}

// unknown says why a name stands for nothing.
func unknown(plan *topology.Plan, name string) error {
	if from, to, isPort := strings.Cut(name, ">"); isPort {
		to, _, many := strings.Cut(to, "#")
		if _, _, err := plan.Port(from, to); err != nil {
			return err
		} else if many {
			return fmt.Errorf("%s and %s have not so many links: %q", from, to, name)
		}
	}
	return fmt.Errorf("%q is neither a port (S0>H10) nor a node nor a layer of switches", name)
}
