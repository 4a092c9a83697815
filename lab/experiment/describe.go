package experiment

import (
	"fmt"

	"photon/units"
)

// Describe says what an experiment that was checked will do, and what of it looks
// like a mistake although it may be meant.
func (e *Experiment) Describe() []string {
	lines := []string{"experiment " + e.ID + ": " + e.Title}
	plan, err := e.Plan()
	if err != nil {
		return lines
	}
	flows, err := e.Sends(plan, e.Seed)
	if err != nil {
		return lines
	}
	n := len(plan.Hosts())
	network := count(n, "host", "hosts") + ", " + count(len(plan.Nodes)-len(plan.Endpoints()), "switch", "switches") + ", " + count(len(flows), "flow", "flows")
	if known := e.Known(plan, flows, e.Seed); known.RTT > 0 {
		network += fmt.Sprintf("; the longest base round trip is %v", known.RTT)
	}
	values := max(len(e.variants), 1)
	runs := fmt.Sprintf("%s of %v: %s", count(len(e.Schemes)*values*e.Repeat, "run", "runs"), e.Duration, count(len(e.Schemes), "scheme", "schemes"))
	if values > 1 {
		runs += fmt.Sprintf(", %d values of $%s", values, e.Sweep.Name)
	}
	if e.Repeat > 1 {
		runs += fmt.Sprintf(", %d seeds", e.Repeat)
	}
	lines = append(lines, network, runs)
	for i := range e.Workloads {
		w := &e.Workloads[i]
		from, err := hosts(plan, w.From)
		if err != nil || w.Burst.IsSet() {
			continue
		}
		offered := w.Load.V * float64(w.Capacity.V)
		lines = append(lines, fmt.Sprintf("workload %s offers %s in all, %.3g %% of the links of its %d senders", w.Name.V, Number(&offered, "bit/s"), 100*offered/(float64(len(from))*float64(e.Parameters.LinkRate.Value.V)), len(from)))
	}
	late, first := map[string]int{}, map[string]units.Time{}
	var order []string
	for i := range flows {
		if f := &flows[i]; f.Start >= e.Duration && f.Wait == nil {
			if late[f.Group]++; late[f.Group] == 1 {
				first[f.Group] = f.Start
				order = append(order, f.Group)
			}
		}
	}
	for _, g := range order {
		lines = append(lines, fmt.Sprintf("note: flows %s: %d start when the run is over, the first at %v", g, late[g], first[g]))
	}
	return lines
}

// count is a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
