package build

import (
	"strings"
	"testing"

	"photon/lab/experiment"
	"photon/pfc"
	"photon/sim"
	"photon/units"
)

// What ports tell of their queues is what somebody sees there who looks all the time, with one core and with two.
func TestQueuesAreTold(t *testing.T) {
	// Flows of a few frames, so that queues are often of one frame, too.
	yaml := strings.Replace(incast, "  - {name: b, from: B, to: R}\n", "  - {name: b, from: B, to: R, size: 3KB, repeat: 300, start: 1us}\n", 1)
	e, err := experiment.Parse("incast.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	for _, cores := range []int{1, 2} {
		w := sim.New()
		w.SetParts(cores)
		type waits struct {
			at    units.Time
			bytes units.Size
		}
		observed := map[[2]int]waits{}
		changes, seen := 0, 0
		n, err := Build(e, w, e.Schemes[0], 1, Observer{Queued: func(now units.Time, node, port int, bytes units.Size) {
			if now < observed[[2]int{node, port}].at {
				t.Fatalf("%v after %v", now, observed[[2]int{node, port}].at)
			}
			observed[[2]int{node, port}] = waits{now, bytes}
			changes++
		}})
		if err != nil {
			t.Fatal(err)
		}
		w.Every(97*units.Nanosecond, func(now units.Time) {
			for node, s := range n.Switches {
				for port := range s.Ports() {
					is := units.Size(0)
					for prio := range pfc.Classes {
						is += s.QueueBytes(port, prio)
					}
					if was := observed[[2]int{node, port}]; is != was.bytes {
						t.Fatalf("%v: %v wait at port %d of %s, which told of %+v", now, is, port, n.Plan.Nodes[node].Name, was)
					}
					if is > 0 {
						seen++
					}
				}
			}
		})
		if err := w.Run(t.Context(), e.Duration); err != nil {
			t.Fatal(err)
		}
		if changes < 1000 || seen < 1000 {
			t.Errorf("%d changes, and %d looks at queues", changes, seen)
		}
	}
}
