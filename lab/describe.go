package lab

import (
	"fmt"

	"photon/units"
)

// Describe says what an experiment that was checked will do, and what of it looks
// like a mistake although it may be meant.
func (e *Experiment) Describe() []string {
	lines := []string{"experiment " + e.ID + ": " + e.Title}
	plan, err := e.plan()
	if err != nil {
		return lines
	}
	flows, err := e.flows(plan, e.Seed)
	if err != nil {
		return lines
	}
	hosts := len(plan.Hosts())
	network := fmt.Sprintf("%d hosts, %d switches, %d flows", hosts, len(plan.Nodes)-hosts, len(flows))
	if known := e.network(plan, flows, e.Seed); known.RTT > 0 {
		network += fmt.Sprintf("; the longest base round trip is %v", known.RTT)
	}
	values := max(len(e.variants), 1)
	runs := fmt.Sprintf("%d runs of %v: %d schemes", len(e.Schemes)*values*e.Repeat, e.Duration, len(e.Schemes))
	if values > 1 {
		runs += fmt.Sprintf(", %d values of $%s", values, e.Sweep.Name)
	}
	if e.Repeat > 1 {
		runs += fmt.Sprintf(", %d seeds", e.Repeat)
	}
	lines = append(lines, network, runs)
	late, first := map[string]int{}, map[string]units.Time{}
	var order []string
	for i := range flows {
		if f := &flows[i]; f.start >= e.Duration {
			if late[f.group]++; late[f.group] == 1 {
				first[f.group] = f.start
				order = append(order, f.group)
			}
		}
	}
	for _, g := range order {
		lines = append(lines, fmt.Sprintf("note: flows %s: %d start when the run is over, the first at %v", g, late[g], first[g]))
	}
	return lines
}
