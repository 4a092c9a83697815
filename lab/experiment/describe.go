package experiment

import (
	"fmt"

	"photon/units"
	"photon/wire"
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
	network := count(n, "host", "hosts") + ", " + count(len(plan.Nodes)-len(plan.Endpoints()), "switch", "switches") +
		", " + count(flows.Len(), "flow", "flows")
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
		part := 100 * offered / float64(plan.Capacity(from))
		line := fmt.Sprintf("workload %s offers %s of payload in all, %.3g %% of the links of its %d senders",
			w.Name.V, Number(&offered, "bit/s"), part, len(from))
		if more := e.wirePart(w.Name.Or("workload"), flows); more > 0 {
			line += fmt.Sprintf(", with headers %.3g %%", part*more)
		}
		lines = append(lines, line)
	}
	late, first := map[string]int{}, map[string]units.Time{}
	var order []string
	come := map[string]bool{}
	for _, f := range flows.All() {
		come[f.Group] = true
		if f.Start >= e.Duration && f.Wait == nil {
			if late[f.Group]++; late[f.Group] == 1 {
				first[f.Group] = f.Start
				order = append(order, f.Group)
			}
		}
	}
	for _, g := range order {
		lines = append(lines, fmt.Sprintf("note: flows %s: %d start when the run is over, the first at %v", g, late[g], first[g]))
	}
	for i := range e.Workloads {
		w := &e.Workloads[i]
		name := w.Name.Or("workload")
		if come[name] {
			continue
		}
		line := fmt.Sprintf("note: workload %s: no flow comes during the run", name)
		if w.Start.V >= e.Duration {
			line += fmt.Sprintf(": it starts at %v", w.Start.V)
		}
		lines = append(lines, line)
	}
	return lines
}

// wirePart is what the flows of a group take of links, headers, padding and gaps included, by what they carry. 0: there
// are none.
func (e *Experiment) wirePart(group string, flows *FlowList) float64 {
	host, _ := e.links()
	payload, carried, taken := e.Parameters.Payload.Value.V, units.Size(0), 0.0
	packet := func(payload units.Size) float64 {
		return float64(host.WireBytes(max(int(payload)+HeaderBytes, wire.MinFrameLen)))
	}
	for _, f := range flows.All() {
		if f.Group == group && f.Size > 0 {
			full := (f.Size - 1) / payload // packets before the last one
			carried += f.Size
			taken += float64(full)*packet(payload) + packet(f.Size-full*payload)
		}
	}
	if carried == 0 {
		return 0
	}
	return taken / float64(carried)
}

// count is a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
