package experiment

import (
	"strings"

	"photon/config"
	"photon/impair"
	"photon/lab/topology"
)

// Impairments are what is done to frames that come to the ports of nodes.
func (e *Experiment) Impairments(plan *topology.Plan, seed uint64) (map[int]map[int]impair.Spec, error) {
	all := map[int]map[int]impair.Spec{}
	for i := range e.Impair {
		m := &e.Impair[i]
		from, to, _ := strings.Cut(m.Link.V, ">")
		node, ports, err := plan.Ports(to, from)
		if err != nil {
			return nil, at(m.Link, "impair: %v", err)
		}
		list, err := (&config.Impair{Rules: m.Rules}).List()
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, at(m.Link, "impair: link %s has no rules", m.Link.V)
		}
		if all[node] == nil {
			all[node] = map[int]impair.Spec{}
		}
		for _, port := range ports {
			s := all[node][port]
			all[node][port] = impair.Spec{Seed: seed<<20 ^ uint64(node), Rules: append(s.Rules, list...)}
		}
	}
	return all, nil
}
