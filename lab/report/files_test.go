package report

import (
	"photon/lab/measure"
	"testing"
)

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
