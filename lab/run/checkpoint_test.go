package run

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
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

// Programs whose files differ have names that differ, whether the linker has left a build ID in them or not.
func TestProgramsHaveNames(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := func(b []byte) string {
		s, err := nameOf(bytes.NewReader(b))
		if err != nil || len(s) != 12 {
			t.Fatalf("%q, %v", s, err)
		}
		return s
	}
	other, none, end := bytes.Clone(whole), bytes.Clone(whole), len(whole)-1
	e, err := elf.NewFile(bytes.NewReader(whole))
	if err != nil {
		t.Fatal(err)
	}
	note := e.Section(".note.go.buildid")
	if note == nil {
		t.Fatal("no build ID")
	}
	at := note.Offset + 16
	other[at]++
	clear(none[at : note.Offset+note.Size])
	seen := map[string]string{}
	for what, b := range map[string][]byte{
		"the whole": whole, "another build": other, "none": none, "none, and one byte less": none[:end],
		"no program": []byte("a"), "another": []byte("b"),
	} {
		n := name(b)
		if twin, ok := seen[n]; ok {
			t.Errorf("%s and %s have one name", what, twin)
		}
		seen[n] = what
	}
	if again := name(bytes.Clone(whole)); seen[again] != "the whole" {
		t.Error("the name is another the second time")
	}
}
