package run

import (
	"context"
	"slices"
	"sync"
	"testing"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/units"
)

// recorded are the runs that were captured.
type recorded struct {
	sync.Mutex
	began, ended []string
}

func (r *recorded) Begin(_ *build.Network, run string) (func(), error) {
	r.Lock()
	defer r.Unlock()
	r.began = append(r.began, run)
	return func() {
		r.Lock()
		defer r.Unlock()
		r.ended = append(r.ended, run)
	}, nil
}

// The first seed of each scheme and value is captured, and those that were kept by an earlier replay are
// run again for that.
func TestCaptured(t *testing.T) {
	e, err := experiment.Get("pcn/fig11")
	if err != nil {
		t.Fatal(err)
	}
	e.Duration, e.Repeat = units.Millisecond, 3
	o := Options{World: "sim", Schemes: []string{"none", "pcn"}, Checkpoints: t.TempDir()}
	for range 2 { // the second time all are kept
		r := &recorded{}
		o.Capture = r
		if _, err := Replay(context.Background(), e, o); err != nil {
			t.Fatal(err)
		}
		names, err := Captured(e, o)
		slices.Sort(r.began)
		slices.Sort(r.ended)
		want := []string{"none", "pcn"}
		if err != nil || !slices.Equal(names, want) || !slices.Equal(r.began, want) || !slices.Equal(r.ended, want) {
			t.Errorf("%v began, %v ended, %v were to be: %v", r.began, r.ended, names, err)
		}
	}
}
