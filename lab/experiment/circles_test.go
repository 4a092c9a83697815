package experiment

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Flows that wait for others are refused if some wait, by whatever way, for themselves, and then one of these is named
// with the line of what it waits for: not one that only waits for them.
func TestCirclesAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "groups")
		var after [6][]int // for whom they wait
		text := strings.Replace(base, "flows: [{name: f, from: H0, to: H1, size: 100KB}]", "flows:", 1)
		head, tail, _ := strings.Cut(text, "flows:")
		head += "flows:\n"
		for i := range n {
			after[i] = rapid.SliceOfNDistinct(rapid.IntRange(0, n-1), 0, 2, rapid.ID[int]).Draw(t, "after")
			from := rapid.IntRange(0, 3).Draw(t, "from")
			to := (from + rapid.IntRange(1, 3).Draw(t, "to")) % 4
			head += fmt.Sprintf("- {name: g%d, from: H%d, to: H%d, size: 1KB", i, from, to)
			if len(after[i]) > 0 {
				var names []string
				for _, k := range after[i] {
					names = append(names, fmt.Sprintf("g%d", k))
				}
				head += ", after: [" + strings.Join(names, ", ") + "]"
			}
			head += "}\n"
		}
		var waits [6][6]bool // at last
		for i := range n {
			for _, k := range after[i] {
				waits[i][k] = true
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					waits[i][j] = waits[i][j] || waits[i][k] && waits[k][j]
				}
			}
		}
		var inCircle []string
		first := strings.Count(base[:strings.Index(base, "flows:")], "\n") + 2
		for i := range n {
			if waits[i][i] {
				inCircle = append(inCircle,
					fmt.Sprintf("x.yaml:%d: flows g%d wait for something that waits for them", first+i, i))
			}
		}
		_, err := Parse("x.yaml", []byte(head+strings.TrimPrefix(tail, "\n")))
		if err == nil && inCircle == nil {
			return
		}
		if err == nil || !slices.Contains(inCircle, err.Error()) {
			t.Fatalf("%s\nsays %v\nin circles are %q", head, err, inCircle)
		}
	})
}
