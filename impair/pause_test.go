package impair

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/pfc"
	"photon/units"
)

// said is a PFC frame that a node got.
type said struct {
	at    units.Time
	frame pfc.Frame
}

// pauses are the frames of a pause rule that is in force from begin to end, a frame an instant. What paused a port
// lets it go when the rule stops, or goes itself; a rule that never paused it sends nothing: an XON would be taken for
// the peer's, which may have paused the port.
func pauses(r Rule, begin, end units.Time) (all []said) {
	enable := uint8(0xFF)
	if r.Priority >= 0 {
		enable = 1 << r.Priority
	}
	stop := end
	if r.Stop > 0 {
		stop = min(r.Stop, end)
	}
	for at := max(begin, r.Start); at < stop; at += r.Every {
		x := said{at, pfc.Frame{Enable: enable}}
		for prio := range pfc.Classes {
			if enable>>prio&1 != 0 {
				x.frame.Quanta[prio] = 0xFFFF
			}
		}
		all = append(all, x)
	}
	if all != nil {
		all = append(all, said{stop, pfc.Frame{Enable: enable}})
	}
	return all
}

// XOFFs come from start to stop, as often as a rule says, and an XON at stop to the instant, or when other rules take
// its place; all are counted. A world that asks a port only when it said that it has something misses none of them.
func TestPausesComeToTheInstant(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		instant := func(what string, from int) units.Time { return units.Time(rapid.IntRange(from, 60).Draw(rt, what)) }
		s := newSpoilt(t, nil)
		var want, got []said
		begins := []units.Time{instant("begins", 0), instant("begins", 0), 80}
		slices.Sort(begins)
		specs := map[units.Time]map[int]Spec{80: nil}
		for i, begin := range begins[:2] {
			r := Rule{Do: Pause, Priority: rapid.IntRange(-1, 7).Draw(rt, "priority")}
			r.Every, r.Start = instant("every", 1), instant("start", 0)
			if rapid.Bool().Draw(rt, "stops") {
				r.Stop = r.Start + instant("for", 1)
			}
			if err := r.Check(); err != nil {
				rt.Fatal(err)
			}
			specs[begin] = map[int]Spec{0: {Seed: uint64(i), Rules: []Rule{r}}}
			if begin < begins[i+1] { // else the next takes its place at once
				want = append(want, pauses(r, begin, begins[i+1])...)
			}
		}
		for now := units.Time(0); now < 100; now++ {
			if spec, ok := specs[now]; ok {
				s.set(now, spec)
			}
			s.pfc = nil
			s.at(now, 0)
			for _, f := range s.pfc {
				got = append(got, said{now, f})
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%+v, want %+v", got, want)
		}
		if n := s.Node.Stats(100).Ports[0].Impaired.Pauses; n != uint64(len(want)) {
			rt.Errorf("%d pauses are counted, %d came", n, len(want))
		}
	})
}
