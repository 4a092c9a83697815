package pfc

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

const ms = units.Millisecond

// dogged is a port with a watchdog, driven as a switch drives it.
type dogged struct {
	e Egress
	w Watchdog
}

func newDogged(a Action) *dogged {
	d := &dogged{e: NewEgress(1<<3|1<<4, 10*units.Gbps), w: NewWatchdog(WatchdogConfig{Detect: 10 * ms, Restore: 5 * ms, Action: a}, 1<<3)}
	d.w.Update(0, &d.e)
	return d
}

func (d *dogged) pause(now units.Time, prio int, quanta uint16) (began, ended uint8) {
	d.e.Expire(now)
	f := Frame{Enable: 1 << prio}
	f.Quanta[prio] = quanta
	d.e.Receive(now, &f)
	return d.w.Update(now, &d.e)
}

func (d *dogged) tick(now units.Time) (began, ended uint8) {
	d.e.Expire(now)
	return d.w.Update(now, &d.e)
}

// One pause of 3.36 ms is no storm, one refreshed for 10 ms is, and it ends 5 ms
// after the last pause did.
func TestStorm(t *testing.T) {
	d := newDogged(Drop)
	if d.w.Next() != units.Never {
		t.Fatal("nothing is paused, and it wants to be called")
	}
	d.pause(0, 3, MaxQuanta)
	if began, _ := d.tick(10 * ms); began != 0 || d.w.Next() != units.Never {
		t.Fatal("one pause, which ran out")
	}
	for at := 20 * ms; at < 30*ms; at += 2 * ms {
		if began, _ := d.pause(at, 3, MaxQuanta); began != 0 {
			t.Fatal("storm at", at)
		}
	}
	if d.w.Next() != 30*ms {
		t.Fatal("next at", d.w.Next())
	}
	if began, _ := d.tick(30*ms - 1); began != 0 {
		t.Error("too early")
	}
	if began, _ := d.tick(30 * ms); began != 1<<3 || d.w.Dropping() != 1<<3 || d.w.Ignored() != 0 {
		t.Fatal("no storm")
	}
	end := 28*ms + Duration(MaxQuanta, 10*units.Gbps)
	if d.w.Next() != end {
		t.Error("next at", d.w.Next(), "the pause ends at", end)
	}
	if _, ended := d.tick(end); ended != 0 || d.w.Next() != end+5*ms {
		t.Error("next at", d.w.Next())
	}
	if _, ended := d.tick(end + 5*ms); ended != 1<<3 || d.w.Dropping() != 0 || d.w.Next() != units.Never {
		t.Error("it does not end")
	}
	c := d.w.Counters(100 * ms)
	if c.Storms[3] != 1 || c.Restored[3] != 1 || c.Storm != 0 || c.Time[3] != end+5*ms-30*ms {
		t.Errorf("%+v", c)
	}
}

// Each queue has a storm of its own: two that overlap begin, are counted and end each
// by itself, a queue that nobody pauses has none, and a storm after a storm is another.
func TestStormsOfSeveralQueues(t *testing.T) {
	const watched = 1<<2 | 1<<3 | 1<<4
	d := &dogged{e: NewEgress(watched, 10*units.Gbps), w: NewWatchdog(WatchdogConfig{Detect: 10 * ms, Restore: 5 * ms}, watched)}
	d.w.Update(0, &d.e)
	paused := func(now units.Time) (prios []int) {
		if now < 20*ms || now >= 50*ms && now < 70*ms { // a storm from 10, another from 60
			prios = append(prios, 3)
		}
		if now >= 5*ms && now < 40*ms { // one from 15
			prios = append(prios, 4)
		}
		return prios
	}
	var log []string
	for now := units.Time(0); now <= 90*ms; now += ms / 2 {
		before := d.w.Dropping()
		for prio := 2; prio <= 4; prio++ {
			quanta := uint16(0)
			if slices.Contains(paused(now), prio) {
				quanta = MaxQuanta
			}
			d.pause(now, prio, quanta)
		}
		if now := d.w.Dropping(); now != before {
			log = append(log, fmt.Sprintf("%08b", now))
		}
	}
	if got, want := strings.Join(log, " "), "00001000 00011000 00010000 00000000 00001000 00000000"; got != want {
		t.Errorf("frames are dropped of the priorities %s, expected %s", got, want)
	}
	c := d.w.Counters(90 * ms)
	if want := [Classes]uint64{3: 2, 4: 1}; c.Storms != want || c.Restored != want || c.Storm != 0 {
		t.Errorf("%+v", c)
	}
	if c.Time[3] != (25-10+75-60)*ms || c.Time[4] != (45-15)*ms {
		t.Errorf("%v in storms", c.Time)
	}
}

// A pause during restoration makes it begin anew; the storm stays one.
func TestStormThatComesBack(t *testing.T) {
	d := newDogged(Forward)
	for at := units.Time(0); at <= 10*ms; at += 2 * ms {
		d.pause(at, 3, MaxQuanta)
	}
	if d.w.Ignored() != 1<<3 || d.w.Dropping() != 0 {
		t.Fatal("no storm")
	}
	d.pause(11*ms, 3, 0)
	d.pause(15*ms, 3, 10)
	d.pause(15*ms, 3, 0)
	if _, ended := d.tick(20*ms - 1); ended != 0 {
		t.Error("restored too early")
	}
	if _, ended := d.tick(20 * ms); ended != 1<<3 {
		t.Error("not restored")
	}
	if c := d.w.Counters(20 * ms); c.Storms[3] != 1 || c.Time[3] != 10*ms {
		t.Errorf("%+v", c)
	}
}

// A storm counts under what was to be done about storms when it began, whatever was later.
func TestStormsCountByAction(t *testing.T) {
	d := newDogged(Alert)
	storm := func(from units.Time) {
		for at := from; at <= from+10*ms; at += 2 * ms {
			d.pause(at, 3, MaxQuanta)
		}
	}
	storm(0)
	d.w.Configure(WatchdogConfig{Detect: 10 * ms, Restore: 5 * ms, Action: DropBoth})
	d.tick(12 * ms)
	for _, from := range []units.Time{50 * ms, 100 * ms} {
		d.tick(from)
		storm(from)
	}
	want := [...][Classes]uint64{Drop: {}, Forward: {}, Alert: {3: 1}, DropBoth: {3: 2}}
	if c := d.w.Counters(120 * ms); c.Under != want || c.Storms[3] != 3 {
		t.Errorf("%+v", c)
	}
}

// The storm of a priority that is watched no more has ended, and is counted up to then.
func TestStormEndsWithItsWatch(t *testing.T) {
	d := newDogged(Forward)
	for at := units.Time(0); at <= 10*ms; at += 2 * ms {
		d.pause(at, 3, MaxQuanta)
	}
	d.w.Watch(12*ms, 1<<4)
	d.tick(12 * ms)
	if c := d.w.Counters(20 * ms); c.Storms[3] != 1 || c.Restored[3] != 1 || c.Time[3] != 2*ms || c.Storm != 0 || d.w.Ignored() != 0 {
		t.Errorf("%+v", c)
	}
}

func TestWhatIsNotWatched(t *testing.T) {
	d := newDogged(Alert)
	for at := units.Time(0); at <= 20*ms; at += 2 * ms {
		d.pause(at, 4, MaxQuanta) // obeys PFC, but is not watched
	}
	if c := d.w.Counters(20 * ms); c != (WatchdogCounters{}) || d.w.Next() != units.Never {
		t.Errorf("%+v", c)
	}
	for at := 20 * ms; at <= 40*ms; at += 2 * ms {
		d.pause(at, 3, MaxQuanta)
	}
	if d.w.Dropping()|d.w.Ignored() != 0 || d.w.Counters(40*ms).Storm != 1<<3 {
		t.Error("alert only tells")
	}
	d.w.Configure(WatchdogConfig{})
	if _, ended := d.tick(41 * ms); ended != 1<<3 || d.w.Next() != units.Never {
		t.Error("the storms of a watchdog that is gone stay")
	}
	var none Watchdog
	none.Configure(WatchdogConfig{})
	if none.Next() != units.Never {
		t.Error("no watchdog wants to be called")
	}
}

func TestActions(t *testing.T) {
	for text, want := range map[string]Action{"drop": Drop, "forward": Forward, "alert": Alert, "drop_both": DropBoth} {
		var a Action
		if err := a.UnmarshalText([]byte(text)); err != nil || a != want || a.String() != text {
			t.Error(text, a, err)
		}
	}
	var a Action
	if err := a.UnmarshalText([]byte("bite")); err == nil || err.Error() != `action "bite": drop, drop_both, forward or alert` {
		t.Error(err)
	}
	if (WatchdogConfig{Detect: -1}).Validate() == nil || (WatchdogConfig{Restore: -1}).Validate() == nil || (WatchdogConfig{}).Validate() != nil {
		t.Error("Validate")
	}
}

// Against a slow, obvious twin that looks every microsecond at the history: a
// driver that calls at Next and at frames only sees the same storms.
func TestWatchdogAgainstItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const step = 100 * units.Microsecond
		d := newDogged(Drop)
		twin := NewEgress(1<<3, 10*units.Gbps)
		storm, storms, ended := false, uint64(0), uint64(0)
		var since, until units.Time = -1, 0 // paused since (-1: running), running since
		likely := rapid.IntRange(1, 60).Draw(t, "likely")
		for now := units.Time(0); now < 60*ms; now += step {
			sends, quanta := rapid.IntRange(0, 100).Draw(t, "sends") < likely, rapid.SampledFrom([]uint16{0, 500, 20000, MaxQuanta}).Draw(t, "quanta")
			if sends && quanta == 0 && rapid.Bool().Draw(t, "rather not") {
				quanta = MaxQuanta
			}
			for at := d.w.Next(); at <= now; at = d.w.Next() { // the world keeps its promise
				d.tick(at)
			}
			f := Frame{Enable: 1 << 3, Quanta: [8]uint16{3: quanta}}
			look := func(now units.Time) {
				from, to := twin.Last(3)
				switch {
				case twin.Paused() != 0:
					since = from
				case since >= 0:
					since, until = -1, to
				}
				if !storm && since >= 0 && now-since >= 10*ms {
					storm = true
					storms++
				}
				if storm && since < 0 && now-until >= 5*ms {
					storm = false
					ended++
				}
			}
			for at := now - step; at < now; at += units.Microsecond {
				twin.Expire(max(0, at))
				look(max(0, at))
			}
			twin.Expire(now)
			look(now)
			if sends {
				twin.Receive(now, &f)
				look(now)
				d.pause(now, 3, quanta)
			}
			c := d.w.Counters(now)
			if c.Storms[3] != storms || (c.Storm != 0) != storm || c.Restored[3] != ended {
				t.Fatalf("at %v: %+v, the twin has %d storms, %d ended, one now: %v", now, c, storms, ended, storm)
			}
		}
	})
}

// A storm is looked at again when its pause ends by itself: nothing may be waiting then that would.
func TestStormIsLookedAtWhenItsPauseEnds(t *testing.T) {
	e := NewEgress(1<<3, 10*units.Gbps)
	w := NewWatchdog(WatchdogConfig{Detect: ms, Restore: ms}, 1<<3)
	e.Receive(0, xoff(40_000, 3)) // 2.048 ms
	for _, now := range []units.Time{ms, ms + 1} {
		if w.Update(now, &e); w.Next() != e.Ends(3) || w.Counters(now).Storm == 0 {
			t.Errorf("the pause ends at %v, and at %v it wants to look at %v: %+v",
				e.Ends(3), now, w.Next(), w.Counters(now))
		}
	}
}
