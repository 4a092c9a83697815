package sim

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// note is what a watcher was told of a frame.
type note struct {
	at        units.Time
	port, len int
	out       bool
	sum       uint64 // of the bytes
}

// all are the ends of every link.
func (d *dumbbell) all() (ends []fabric.End) {
	for n := range d.members {
		for p := range d.members[n].ports {
			ends = append(ends, end(n, p))
		}
	}
	return ends
}

// watched is a network whose ports are watched, while random flows go through it.
func (d *dumbbell) watched(t *testing.T, seed uint64, ends []fabric.End) (notes []note, s seenRun) {
	t.Helper()
	if err := d.Watch(ends, 0, func(f *WatchedFrame) bool {
		notes = append(notes, noteOf(f))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	s = d.play(t, seed)
	return notes, s
}

// noteOf leaves out what lies behind the headers of a frame of which only these are kept: it is undefined.
func noteOf(f *WatchedFrame) note {
	b := f.Bytes
	if len(b) < f.Len {
		b = b[:58]
	}
	sum := fnv.New64a()
	sum.Write(b)
	return note{f.At, f.Port, f.Len, f.Out, sum.Sum64()}
}

// Who watches all ports sees what the nodes count, in the order of time, each frame with the
// bytes with which it arrives at the other end of its link. Nothing happens otherwise than if nobody
// looked, and it does not matter how many parts there are.
func TestWatch(t *testing.T) {
	for seed, build := range []func() *dumbbell{
		func() *dumbbell { return newDumbbell(t, "dcqcn", 40*units.Microsecond) },
		func() *dumbbell { return newDumbbell(t, "pcn", 0) },
		func() *dumbbell { return ring(t, pfc.WatchdogConfig{}) },
	} {
		unseen := build().play(t, uint64(seed))
		d := build()
		ends := d.all()
		notes, got := d.watched(t, uint64(seed), ends)
		if !reflect.DeepEqual(got, unseen) {
			t.Errorf("seed %d: to look changes what happens: %+v, unseen %+v", seed, got, unseen)
		}
		sent, received := make([]uint64, len(ends)), make([]uint64, len(ends))
		flying := make([][]note, len(ends)) // to each port
		for i, n := range notes {
			if i > 0 && n.at < notes[i-1].at {
				t.Fatalf("seed %d: %v after %v", seed, n.at, notes[i-1].at)
			}
			if n.out {
				sent[n.port]++
				far := d.ports[n.port].peerID()
				flying[far] = append(flying[far], n)
				continue
			}
			received[n.port]++
			if len(flying[n.port]) == 0 {
				t.Fatalf("seed %d: a frame comes to %v that nobody sent", seed, ends[n.port])
			}
			was := flying[n.port][0]
			flying[n.port] = flying[n.port][1:]
			if was.len != n.len || was.sum != n.sum || n.at <= was.at {
				t.Fatalf("seed %d: %+v was sent, %+v came", seed, was, n)
			}
		}
		for i, e := range ends {
			out, in := d.members[e.Node].node.Stats(d.Now()).Ports[e.Port].Frames()
			if out != sent[i] || in != received[i] {
				t.Errorf("seed %d, %v: %d sent and %d received were seen; it counts %d and %d",
					seed, e, sent[i], received[i], out, in)
			}
		}
		if len(notes) < 1000 {
			t.Errorf("seed %d: only %d frames", seed, len(notes))
		}
		for _, parts := range []int{2, 3} {
			d := build()
			d.SetParts(parts)
			before := runtime.GOMAXPROCS(parts)
			other, _ := d.watched(t, uint64(seed), ends)
			runtime.GOMAXPROCS(before)
			if !reflect.DeepEqual(other, notes) {
				t.Errorf("seed %d: in %d parts something else is seen", seed, parts)
			}
		}
	}
}

// A watcher that has seen enough is told no more; one that begins late, and looks at one port, sees what
// all would have been told of it from then on.
func TestWatchSome(t *testing.T) {
	const from = 300 * units.Microsecond
	build := func() *dumbbell { return newDumbbell(t, "dcqcn", 40*units.Microsecond) }
	d := build()
	all, _ := d.watched(t, 1, d.all())
	port := 6 + 3 // the first switch's to the second
	d = build()
	at, want := d.all()[port], []note{}
	for _, n := range all {
		if n.port == port && n.at >= from && len(want) < 50 {
			n.port = 0
			want = append(want, n)
		}
	}
	got := []note{}
	if err := d.Watch([]fabric.End{at}, from, func(f *WatchedFrame) bool {
		got = append(got, noteOf(f))
		var h wire.Header
		if !wire.Parse(f.Bytes, &h) {
			t.Errorf("%x is no frame", f.Bytes)
		}
		return len(got) < 50
	}); err != nil {
		t.Fatal(err)
	}
	d.play(t, 1)
	if len(want) < 50 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d frames, want %d: %+v\n%+v", len(got), len(want), got, want)
	}
}

func TestWatchIsRefused(t *testing.T) {
	d := newDumbbell(t, "none", 0)
	see := func(*WatchedFrame) bool { return true }
	for want, ends := range map[string][]fabric.End{
		"there is no port 1 of node 0":    {end(0, 0), end(0, 1)},
		"there is no port 0 of node 9":    {end(9, 0)},
		"there is no port 0 of node -1":   {end(-1, 0)},
		"port 2 of S1 is watched twice":   {end(7, 2), end(7, 1), end(7, 2)},
		"there is no port -3 of node 7":   {end(7, -3)},
		"there is no port 400 of node 7":  {end(7, 400)},
		"there is no port 0 of node 1000": {end(1000, 0)},
	} {
		if err := d.Watch(ends, 0, see); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", ends, err, want)
		}
	}
	if err := d.Watch(nil, 0, see); err != nil {
		t.Error(err)
	}
	if err := d.Watch(nil, 0, see); err == nil || !strings.Contains(fmt.Sprint(err), "watches already") {
		t.Error(err)
	}
}
