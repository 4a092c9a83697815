package experiment

import (
	"testing"

	"photon/fabric"
	"photon/lab/collective"
	"photon/lab/topology"
	"photon/units"
)

// A rank that has not begun sends nothing, not even what others have sent to it.
func TestNoRankSendsBeforeItBegins(t *testing.T) {
	p := topology.Star(4, fabric.Link{Rate: units.Gbps})
	for _, do := range collective.Names() {
		for _, algorithm := range []string{"", "halving-doubling"} {
			s := collective.Spec{Do: do, Algorithm: algorithm, Ranks: 4, Size: 1 << 10, Microbatches: 2, Layers: 1, Window: 1}
			tasks, err := s.Tasks()
			if err != nil && algorithm != "" {
				continue // there is no choice
			}
			if err != nil {
				t.Fatal(err)
			}
			for late := range s.Ranks {
				start := make([]*Wait, s.Ranks)
				for r := range start {
					start[r] = &Wait{Host: p.Hosts()[r]}
				}
				shared := &Connections{}
				g := Together{&FlowKind{}, p, p.Hosts(), 0, 0, shared.Of}
				flows, _ := g.Messages(tasks, start, nil)
				var over func(w *Wait) bool
				begins := make([]bool, len(flows)) // every flow waits only for those before it
				over = func(w *Wait) bool {
					for _, c := range w.After {
						if c.Wait != nil && !over(c.Wait) || c.Wait == nil && !begins[c.Flow] {
							return false
						}
					}
					return w != start[late]
				}
				for i := range flows {
					if begins[i] = over(flows[i].Wait); begins[i] && flows[i].From == p.Hosts()[late] {
						t.Fatalf("%s %s: rank %d sends message %d before it begins", do, algorithm, late, i)
					}
				}
			}
		}
	}
}
