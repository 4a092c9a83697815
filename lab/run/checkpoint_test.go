package run

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"photon/lab/measure"
	"photon/units"
)

// All flows of a checkpoint come back, however many there are.
func TestCheckpointsHaveAllFlows(t *testing.T) {
	for _, n := range []int{0, 1, chunk, 2*chunk + 7} {
		var list []measure.Ended
		for i := range n {
			list = append(list, measure.Ended{
				Group: fmt.Sprint("g", i%3), From: "A", To: "B", Size: units.Size(i), FCT: units.Time(i * i),
				Flow: i, Seed: 7,
			})
		}
		var b bytes.Buffer
		k := checkpoint{Hash: "h", Hops: 5}
		if err := k.write(&b, slices.Values(list)); err != nil {
			t.Fatal(err)
		}
		whole := b.Bytes()
		var again checkpoint
		got, err := again.read(bytes.NewReader(whole))
		if err != nil || !slices.Equal(got, list) || again.Hash != "h" || again.Hops != 5 {
			t.Errorf("%d of %d flows, %+v, %v", len(got), n, again, err)
		}
		if _, err := again.read(bytes.NewReader(whole[:len(whole)-1])); err == nil {
			t.Errorf("a file of %d flows that was cut short is read", n)
		}
	}
}
