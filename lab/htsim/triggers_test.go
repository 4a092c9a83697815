package htsim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/units"
)

// drawn is a connection of a random matrix: it starts at a time, or with a trigger, and takes a time of its own.
type drawn struct {
	start, takes             int
	trigger, sendTo, receive int // triggers; 0: none
}

// starts are when connections start if triggers do as htsim has them; -1: never. Each takes its time until its receiver
// has it, and 1 more until its sender knows.
func starts(list []drawn, kinds []string, counts []int) []int {
	at := make([]int, len(list))
	activated := make([]int, len(kinds)+1)
	for i, c := range list {
		if at[i] = -1; c.trigger == 0 {
			at[i] = c.start
		}
	}
	for now := range 1_000_000 {
		busy := false
		for i, c := range list {
			busy = busy || at[i] >= 0 && at[i]+c.takes+1 >= now
			for _, done := range []struct{ trigger, at int }{{c.receive, c.takes}, {c.sendTo, c.takes + 1}} {
				if at[i] < 0 || done.trigger == 0 || at[i]+done.at != now {
					continue
				}
				activated[done.trigger]++
				n, place := activated[done.trigger], 0
				for k, other := range list {
					if other.trigger != done.trigger {
						continue
					}
					place++
					switch kind := kinds[done.trigger-1]; {
					case kind == "multishot" && n != place, kind == "oneshot" && n != 1:
					case kind == "barrier" && n != counts[done.trigger-1]:
					default:
						at[k] = now
					}
				}
			}
		}
		if !busy {
			break
		}
	}
	return at
}

// waited are the starts of flows that wait as Flows says.
func waited(flows []experiment.Flow, list []drawn) []int {
	at := make([]int, len(flows))
	for i := range flows {
		if at[i] = -1; flows[i].Wait == nil {
			at[i] = int(flows[i].Start)
		}
	}
	for range flows { // what comes earlier is known earlier
		for i := range flows {
			w := flows[i].Wait
			if w == nil {
				continue
			}
			var causes []int
			for _, c := range w.After {
				if at[c.Flow] < 0 {
					continue
				}
				over := at[c.Flow] + list[c.Flow].takes
				if c.What == experiment.Acknowledged {
					over++
				}
				causes = append(causes, over)
			}
			slices.Sort(causes)
			if len(causes) >= max(w.Need, 1) {
				at[i] = causes[max(w.Need, 1)-1]
			}
		}
	}
	return at
}

// Connections start when htsim's triggers start them: a oneshot all at its first activation, a multishot one after the
// other, a barrier all when it was activated so often. A matrix with one that never starts is refused with its line.
func TestTriggersStartWhatTheyAreFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var kinds []string
		var counts []int
		n := rapid.IntRange(1, 7).Draw(t, "connections")
		var text strings.Builder
		for id := range rapid.IntRange(1, 3).Draw(t, "triggers") {
			kinds = append(kinds, rapid.SampledFrom([]string{"oneshot", "multishot", "barrier"}).Draw(t, "kind"))
			counts = append(counts, rapid.IntRange(1, 3).Draw(t, "count"))
			fmt.Fprintf(&text, "trigger id %d %s", id+1, kinds[id])
			if kinds[id] == "barrier" {
				fmt.Fprintf(&text, " count %d", counts[id])
			}
			text.WriteString("\n")
		}
		header := fmt.Sprintf("Nodes 4\nConnections %d\nTriggers %d\n", n, len(kinds))
		var list []drawn
		trigger := rapid.IntRange(0, len(kinds))
		for i := range n {
			c := drawn{start: i, takes: 1 << (i + 4)}
			c.receive, c.sendTo = trigger.Draw(t, "receive"), trigger.Draw(t, "send")
			fmt.Fprintf(&text, "%d->%d id %d size %d", i%4, (i+1)%4, i+1, 100+i)
			if c.trigger = trigger.Draw(t, "trigger"); c.trigger > 0 {
				fmt.Fprintf(&text, " trigger %d", c.trigger)
			} else {
				fmt.Fprintf(&text, " start %d", c.start)
			}
			if c.receive > 0 {
				fmt.Fprintf(&text, " recv_done_trigger %d", c.receive)
			}
			if c.sendTo > 0 {
				fmt.Fprintf(&text, " send_done_trigger %d", c.sendTo)
			}
			text.WriteString("\n")
			list = append(list, c)
		}
		want := starts(list, kinds, counts)
		m, err := Read("x.cm", []byte(header+text.String()))
		if never := slices.Contains(want, -1); never != (err != nil) {
			t.Fatalf("%v, and they start at %v", err, want)
		}
		if err != nil {
			var line int
			if _, e := fmt.Sscanf(err.Error(), "x.cm:%d: ", &line); e != nil {
				t.Fatal(err)
			}
			if i := line - 4 - len(kinds); i < 0 || i >= n || want[i] >= 0 {
				t.Fatalf("%v, and they start at %v", err, want)
			}
			return
		}
		plan := topology.Star(4, fabric.Link{Rate: units.Gbps})
		flows, err := m.Flows(plan, 26, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := waited(flows, list); !slices.Equal(got, want) {
			t.Fatalf("they start at %v, not at %v", got, want)
		}
		hosts := plan.Hosts()
		for i, f := range flows {
			joins := f.From == hosts[i%4] && f.To == hosts[(i+1)%4]
			if !joins || f.Size != units.Size(100+i) || f.Weight != 1 || f.DSCP != 26 {
				t.Fatalf("connection %d: %+v", i, f)
			}
		}
	})
}
