package daemon

import (
	"testing"
	"time"

	"photon/units"
)

// What happened has one time, though the node's clock is read when it is up to a millisecond old. The wall's may be
// set, both ways, and the node's is set back once in a while.
func TestWallClock(t *testing.T) {
	began := time.Unix(1_700_000_000, 0)
	var w wall
	node, laps, set := units.Time(0), uint64(0), time.Duration(0)
	pass := func(d time.Duration) { node += units.Time(d) * units.Nanosecond }
	read := func(late time.Duration) time.Duration { // by how much the node's instant is wrong
		t.Helper()
		real := began.Add(set + time.Duration(node/units.Nanosecond))
		return w.at(laps, node, real.Add(late)).Sub(real)
	}
	if late := read(time.Millisecond); late != time.Millisecond {
		t.Errorf("the first reading: %v late", late)
	}
	pass(time.Second)
	if late := read(0); late != 0 {
		t.Errorf("a better one: %v late", late)
	}
	for range 100 {
		pass(time.Second)
		late := time.Millisecond
		if node/units.Second%9 == 0 {
			late = 0
		}
		if late := read(late); late != 0 {
			t.Fatalf("%v late after %v", late, node)
		}
	}
	if set = -time.Hour; read(0) != 0 {
		t.Error("the wall's clock was set back")
	}
	set = time.Hour
	for range 3 {
		pass(wallPeriod)
		read(0)
	}
	if late := read(0); late != 0 {
		t.Errorf("the wall's clock was set forward, and is %v behind for long", -late)
	}
	began, laps, node = began.Add(time.Duration(node/units.Nanosecond)), laps+1, 0
	if late := read(0); late != 0 {
		t.Errorf("the node's clock was set back: %v late", late)
	}
}
