package daemon

import (
	"math"
	"testing"

	"photon/telemetry/node"
	"photon/units"
)

// ticking is a world in which time passes when a test says so.
type ticking struct {
	*still
	tick func(now units.Time)
}

func (w *ticking) Every(_ units.Time, do func(now units.Time)) { w.tick = do }
func (w *ticking) Follow(units.Rebaser)                        {}

// bed is a switch that a testbed asks.
func bed(t *testing.T) (*testbedNode, *ticking) {
	x := newLinked(t, "")
	w := &ticking{still: x.world}
	x.daemon.world = w
	return &testbedNode{d: x.daemon}, w
}

// What cannot be recorded is refused, whatever its numbers are: the workers would end with a request that makes
// them take more memory than there is, or too long for samples that are past.
func TestImpossibleRecordings(t *testing.T) {
	n, w := bed(t)
	for _, c := range []node.Watch{
		{From: w.now, Every: node.WatchTick, Samples: 0},
		{From: w.now, Every: node.WatchTick, Samples: node.MostWatched},
		{From: w.now, Every: node.WatchTick, Samples: 1 << 62},
		{From: w.now, Every: node.WatchTick, Samples: math.MaxInt},
		{From: w.now, Every: node.WatchTick + 1, Samples: 1},
		{From: w.now, Every: math.MaxInt64 / node.WatchTick * node.WatchTick, Samples: 1},
		{From: w.now - units.Second, Every: node.WatchTick, Samples: 1000},
	} {
		if err := n.Watch(c); err == nil {
			t.Errorf("%+v is taken", c)
		}
		if r := n.Recorded(); r.Names != nil {
			t.Errorf("%+v: it records %v", c, r.Names)
		}
	}
}

// A recording is known by its start, so that nobody takes that of another experiment for his own.
func TestRecordingIsKnown(t *testing.T) {
	n, w := bed(t)
	if r := n.Recorded(); r.From != 0 || r.Done {
		t.Errorf("%+v", r)
	}
	for _, from := range []units.Time{w.now, w.now + units.Second} {
		if err := n.Watch(node.Watch{From: from, Every: node.WatchTick, Samples: 3}); err != nil {
			t.Fatal(err)
		}
		if r := n.Recorded(); r.From != from || r.Done {
			t.Errorf("%+v", r)
		}
	}
	w.tick(w.now + units.Second + 3*node.WatchTick)
	if r := n.Recorded(); !r.Done || len(r.Values[0]) != 3 || r.From != w.now+units.Second {
		t.Errorf("%+v", r)
	}
}
