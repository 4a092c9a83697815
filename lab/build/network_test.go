package build

import "testing"

// The clocks of two nodes tick at other times, and those of one node with another seed; with the same seed they are the
// same.
func TestSeedsDrawClocks(t *testing.T) {
	seen := map[int64]bool{}
	for seed := range uint64(20) {
		for node := range 50 {
			at := clock(seed, node)
			if at != clock(seed, node) {
				t.Fatalf("seed %d, node %d: two clocks", seed, node)
			}
			if seen[int64(at)] {
				t.Errorf("seed %d, node %d: a clock that another has", seed, node)
			}
			seen[int64(at)] = true
		}
	}
}
