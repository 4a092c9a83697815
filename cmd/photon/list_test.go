package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// Each entry for programs says of what kind it is; without a name all lists are one array.
func TestListsForPrograms(t *testing.T) {
	type entry struct{ Kind, ID, Name string }
	list := func(args ...string) (all []entry) {
		t.Helper()
		c := listCommand()
		var out bytes.Buffer
		c.SetOut(&out)
		c.SetArgs(append(args, "--json"))
		if err := c.Execute(); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), &all); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		return all
	}
	var each []entry
	for name, kinds := range map[string][]string{
		"experiments": {"experiment"}, "schemes": {"scheme"}, "workloads": {"workload"}, "measurements": {"metric", "probe"}, "metrics": {"prometheus"},
	} {
		var found []string
		for _, e := range list(name) {
			each = append(each, e)
			if found = append(found, e.Kind); e.ID+e.Name == "" {
				t.Errorf("%s: %+v has no name", name, e)
			}
		}
		slices.Sort(found)
		if found = slices.Compact(found); !slices.Equal(found, kinds) {
			t.Errorf("%s are of kinds %q, want %q", name, found, kinds)
		}
	}
	all := list()
	for _, e := range each {
		if !slices.Contains(all, e) {
			t.Errorf("%+v is in no list of all", e)
		}
	}
	if len(all) != len(each) {
		t.Errorf("%d entries in all, and %d in each list", len(all), len(each))
	}
}
