package report

import (
	"os"
	"path/filepath"
	"testing"

	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/run"
	"photon/units"
)

// What is read is of the result that was written last, and nothing else: not what an earlier one had and it has not,
// and no part of it if it could not be written whole.
func TestResultsOfOneReplay(t *testing.T) {
	e, j, dir := everyPanel(t)
	first, value := &j.Runs[0], e.Values()[0]
	series := &measure.Series{Time: []units.Time{0}, Names: []string{"x"}, Value: [][]float64{{1}}}
	j.Alternatives = []run.Alternative{{}}
	first.Recorded(value, series, []measure.Ended{{Group: "g", From: "A", To: "B", FCT: units.Microsecond}})
	write := func() {
		t.Helper()
		if err := Write(e, dir, j); err != nil {
			t.Fatal(err)
		}
	}
	write()
	j.Alternatives = nil
	first.Recorded(value, series, nil)
	write()
	got, err := Load(e, dir, j.World)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Alternatives); n != 0 {
		t.Errorf("%d alternatives of an earlier result", n)
	}
	if flows := got.Ended(first.Scheme, value); len(flows) != 0 {
		t.Errorf("flows of an earlier result: %v", flows)
	}
	first.Recorded(value, nil, nil)
	write()
	if got, err = Load(e, dir, j.World); err != nil || got.Series(first.Scheme, value) != nil {
		t.Errorf("a series of an earlier result (%v)", err)
	}
	first.Recorded(value, series, nil)
	last := &j.Runs[len(j.Runs)-1]
	blocked := filepath.Join(Folder(e, dir), j.World, FileName(experiment.Key(last.Scheme, value))+".flows.csv")
	if err := os.MkdirAll(filepath.Join(blocked, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(e, dir, j); err == nil {
		t.Fatal("a file that cannot be written is no error")
	}
	if got, err := Load(e, dir, j.World); got != nil || err != nil {
		t.Errorf("a result of which not all could be written is read (%v)", err)
	}
}

// The files of a result that somebody edited are read, or it is said what is
// wrong with them.
func FuzzResultFiles(f *testing.F) {
	f.Add([]byte("time_s,a,b\n0,1,2\n1e-3,NaN,3\n"))
	f.Add([]byte("group,from,to,bytes,start_s,fct_s,ideal_s\ng,H1,H2,1000,0,1e-3,1e-4\n"))
	f.Add([]byte("time_s\n1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := measure.ParseSeries(b); err == nil {
			for i := range s.Value {
				if len(s.Value[i]) != len(s.Time) || len(s.Value) != len(s.Names) {
					t.Fatalf("%d values of %d times", len(s.Value[i]), len(s.Time))
				}
			}
		}
		_, _ = parseFlows(b)
	})
}
