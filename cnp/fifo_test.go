package cnp

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Flows leave in the order in which they came, each once, whoever is taken out before its turn, and whenever there is
// room for more.
func TestFIFOIsAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q, flows := newFIFO(), 3
		q.room(flows)
		var list []int
		flow := func(t *rapid.T) int { return rapid.IntRange(0, flows-1).Draw(t, "flow") }
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				f := flow(t)
				if q.push(f); !slices.Contains(list, f) {
					list = append(list, f)
				}
			},
			"pop": func(t *rapid.T) {
				if len(list) == 0 {
					return
				}
				if f := q.pop(); f != list[0] {
					t.Fatalf("flow %d leaves, should be the first of %v", f, list)
				}
				list = list[1:]
			},
			"remove": func(t *rapid.T) {
				f := flow(t)
				q.remove(f)
				list = slices.DeleteFunc(slices.Clone(list), func(x int) bool { return x == f })
			},
			"room": func(*rapid.T) {
				flows++
				q.room(flows)
			},
			"": func(t *rapid.T) {
				var got []int
				for at := q.head; at != none; at = q.next[at] {
					got = append(got, int(at))
				}
				if !slices.Equal(got, list) {
					t.Fatalf("%v are queued, should be %v", got, list)
				}
				for f := range flows {
					if q.in[f] != slices.Contains(list, f) {
						t.Fatalf("flow %d is queued: %v, of %v", f, q.in[f], list)
					}
				}
			},
		})
	})
}
