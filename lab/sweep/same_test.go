package sweep

import (
	"strings"
	"testing"
)

// Values that are the same in other words would be the same runs again: two rows of the table that look alike, and
// twice as many runs behind a point of a chart as there are seeds.
func TestSameValues(t *testing.T) {
	for _, c := range []struct{ path, values, same string }{
		{"flows.F.size", "[1KB, 2KB, 1000B]", "1KB and 1000B"},
		{"$bytes", "[10KB, 10000B]", "10KB and 10000B"},
		{"duration", "[1ms, 2ms, 1000us]", "1ms and 1000us"},
		{"parameters.link_rate", "[10Gbps, 10000Mbps]", "10Gbps and 10000Mbps"},
		{"schemes.pcn.wmin", "[1/128, 0.0078125]", "1/128 and 0.0078125"},
		{"flows.F.size", "[1KB, 1KiB, 1MB]", ""},
		{"schemes.pcn.wmin", "[1/128, 1/64]", ""},
	} {
		spec := "name: same\nexperiments: [tiny.yaml]\nvary:\n  " + c.path + ": " + c.values + "\n"
		s, err := Read(write(t, tiny, spec))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Tasks()
		want := "my-sweep.yaml:4: " + c.path + ": " + c.same + " are the same value: each task would run twice"
		if c.same == "" && err != nil || c.same != "" && (err == nil || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("%s: %s: %v", c.path, c.values, err)
		}
	}
	// The words of a sweep that says what each stands for are no quantities.
	sets := strings.Replace(tiny, "sweep: {name: bytes, values: [10KB, 20KB]}",
		"sweep: {name: bytes, values: [1KB, 1000B], sets: {1KB: {more: 1}, 1000B: {more: 2}}}", 1)
	s, err := Read(write(t, sets, "name: same\nexperiments: [tiny.yaml]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if tasks, err := s.Tasks(); err != nil || len(tasks) == 0 {
		t.Errorf("%d tasks, %v", len(tasks), err)
	}
}
