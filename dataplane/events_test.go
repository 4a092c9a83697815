package dataplane

import (
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// Events count every frame that is discarded, once, with the first of each kind, whatever came in which order; a ring
// that is full has lost the oldest.
func TestEventsCountWhatIsDiscarded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.SampledFrom([]int{2, 7, 1000}).Draw(t, "room")
		l := newEventLog(room)
		type kind struct {
			why  fabric.Reason
			prio uint8
		}
		var want []Event // one at a time
		last := map[kind]int{}
		now, frames := units.Time(0), uint64(0)
		for i := range rapid.IntRange(0, 60).Draw(t, "frames") {
			now += rapid.SampledFrom([]units.Time{0, units.Millisecond, units.Second - 1, units.Second, 5 * units.Second}).Draw(t, "wait")
			k := kind{rapid.SampledFrom([]fabric.Reason{fabric.DropVLAN, fabric.DropTail, fabric.DropHeadroom}).Draw(t, "why"), rapid.Uint8Range(2, 4).Draw(t, "priority")}
			l.lost(now, k.why, k.prio, uint16(100+i), []byte{byte(i)})
			frames++
			at, ok := last[k]
			if ok && at >= len(want)-room && now-want[at].Last < units.Second {
				want[at].Last = now
				want[at].Frames++
				continue
			}
			last[k] = len(want)
			e := Event{Reason: k.why, Priority: k.prio, Length: uint16(100 + i), At: now, Last: now, Frames: 1, headLen: 1}
			e.head[0] = byte(i)
			want = append(want, e)
		}
		s := &Switch{ports: []switchPort{{log: l}}}
		got, ever := s.Events(0, nil)
		if ever != uint64(len(want)) || len(got) != min(room, len(want)) {
			t.Fatalf("%d events of %d are kept, there were %d", len(got), ever, len(want))
		}
		sum := uint64(0)
		for i, e := range got {
			if e != want[len(want)-len(got)+i] {
				t.Fatalf("event %d is %+v, not %+v", i, e, want[len(want)-len(got)+i])
			}
			sum += e.Frames
		}
		if len(got) == len(want) && sum != frames {
			t.Fatalf("%d frames in the events of %d", sum, frames)
		}
	})
}

// A pause that ran out where nothing is to be sent has ended in the history, the number of ended ones and the counters.
func TestPausesThatRunOutHaveEnded(t *testing.T) {
	c := config(2)
	c.History = History{Pauses: 1}
	r := newRig(t, c)
	for want := range uint64(3) {
		pauses, ended := r.sw.PauseHistory(r.now, 1, nil)
		n := r.stats(1).Egress.Transitions[3]
		if ended != want || n != want || len(pauses) != min(int(want), c.History.Pauses) {
			t.Errorf("%d pauses ran out: %d in the history, %d counted, %+v", want, ended, n, pauses)
		}
		if last := r.now - units.Second; want > 0 && pauses[0].From != last {
			t.Errorf("%+v is kept, the last began at %v", pauses, last)
		}
		xoff := pauseFrame(3, 10)
		r.in(1, xoff, len(xoff))
		r.now += units.Second
	}
	// Two that ran out together and one that lasts: the last of those that ended is kept, and they come first.
	both := pfc.Frame{Enable: 7, Quanta: [8]uint16{pfc.MaxQuanta, 20, 10}}
	xoff := make([]byte, pfc.FrameLen)
	both.Encode(xoff, 7)
	c.History, c.Lossless = History{Pauses: 1}, 7
	c.PFC[0], c.PFC[1], c.PFC[2] = c.PFC[3], c.PFC[3], c.PFC[3]
	r = newRig(t, c)
	r.in(1, xoff, len(xoff))
	r.now += 2 * units.Microsecond
	pauses, ended := r.sw.PauseHistory(r.now, 1, nil)
	if ended != 2 || len(pauses) != 2 || pauses[0].Priority != 1 || pauses[1] != (pfc.Pause{Until: units.Never}) {
		t.Errorf("%d ended, %+v", ended, pauses)
	}
}

// A switch keeps what it discards and what its watchdog finds, with the frame that was first; one that was not told to keeps nothing.
func TestTheSwitchKeepsEvents(t *testing.T) {
	c := config(2)
	c.Watchdog = pfc.WatchdogConfig{Detect: units.Millisecond, Restore: units.Millisecond}
	c.History = History{Pauses: 10, Events: 10}
	r := newRig(t, c)
	bad := packet(0, 1, 26, 0) // of the lossless priority
	xoff := pauseFrame(3, pfc.MaxQuanta)
	r.in(1, xoff, len(xoff))
	r.in(0, bad, 500)
	r.now = units.Millisecond
	r.out(1, 1)
	r.now = 5 * units.Millisecond
	r.out(1, 1)
	events, ever := r.sw.Events(1, nil)
	if ever != 3 || events[0].Kind != StormBegan || events[0].Frames != 1 || events[0].Length != 500 || events[0].At != units.Millisecond ||
		events[1].Kind != FramesLost || events[1].Reason != fabric.DropStorm || events[1].Priority != 3 || events[2].Kind != StormEnded {
		t.Fatalf("%+v", events)
	}
	if h := events[0].Head(); len(h) != EventHead || string(h[:12]) != string(bad[:12]) {
		t.Errorf("% x", h)
	}
	pauses, n := r.sw.PauseHistory(r.now, 1, nil)
	end := pfc.Duration(pfc.MaxQuanta, rate)
	if n != 1 || pauses[0] != (pfc.Pause{Until: end, Priority: 3}) {
		t.Errorf("%+v, the pause is of %v", pauses, end)
	}
	quiet := newRig(t, config(2))
	quiet.in(1, xoff, len(xoff))
	quiet.in(0, []byte{1}, 1)
	if list, n := quiet.sw.PauseHistory(0, 1, nil); len(list) != 0 || n != 0 {
		t.Error("it keeps what nobody asked for")
	}
	if list, n := quiet.sw.Events(0, nil); len(list) != 0 || n != 0 {
		t.Error("it keeps what nobody asked for")
	}
}
