package sim

import (
	"testing"

	"photon/credits"
	"photon/fabric"
	"photon/pfc"
	"photon/units"
)

// paused fails a test if anything was paused, or told to be. A port may have sent some probes for deadlocks.
func (d *dumbbell) paused(t *testing.T, probes uint64) {
	t.Helper()
	look := func(st fabric.Stats) {
		for i := range st.Ports {
			if p := &st.Ports[i]; p.Ingress.Pauses != [8]uint64{} || p.Egress.Pauses != [8]uint64{} || p.BadControl != 0 || p.TxControl < p.Credits.Sent || p.TxControl > p.Credits.Sent+probes {
				t.Errorf("port %d: %d control frames, %d of them are of credits, %d are bad", i, p.TxControl, p.Credits.Sent, p.BadControl)
			}
		}
	}
	for _, s := range d.switches {
		look(s.Stats(d.Now()))
	}
	for _, h := range d.hosts {
		look(h.Stats(d.Now()))
	}
}

// A deadlock is one of credits, too, and found as with PFC; a watchdog that drops ends it.
func TestDeadlockOfCreditsIsFound(t *testing.T) {
	c := &credits.Config{Buffer: 100 * units.KB}
	d := ringWith(t, pfc.WatchdogConfig{}, c, hostLink)
	for i := range 3 {
		d.flow(t, i, 3, 7+i, 0, 0)
	}
	found := d.looked(t, 40*units.Millisecond)
	if len(found) != 3 {
		t.Fatalf("found %q", found)
	}
	for i, s := range d.switches {
		st := s.Stats(d.Now()).Ports
		if st[1].Deadlocked != 1<<3 || st[1].Deadlocks[3] != 1 || st[0].Deadlocked|st[2].Deadlocked != 0 || s.Losses() != 0 {
			t.Errorf("S%d: %+v", i, st[1].Deadlocks)
		}
		if k := st[1].Credits; k.Waiting != 1<<3 || k.Waited[3] < 30*units.Millisecond {
			t.Errorf("S%d waits for credits: %+v", i, k)
		}
		if found[i][2:] != " port 1 priority 3: 3 switches" {
			t.Error(found[i])
		}
	}
	for _, action := range []pfc.Action{pfc.Drop, pfc.DropBoth} {
		d = ringWith(t, pfc.WatchdogConfig{Detect: 10 * units.Millisecond, Restore: units.Millisecond, Action: action}, c, hostLink)
		for i := range 3 {
			d.flow(t, i, 3, 7+i, units.MB, 0)
		}
		if d.looked(t, 60*units.Millisecond); d.switches[0].Losses() == 0 {
			t.Error("the watchdog dropped nothing")
		}
		for i, s := range d.switches {
			if st := s.Stats(d.Now()).Ports[1]; st.Deadlocked != 0 {
				t.Errorf("%v: S%d is still in a deadlock", action, i)
			}
		}
	}
}

// A chain of queues that wait for a host which gives no credits is no deadlock, and no storm to a watchdog that only counts.
func TestChainWithoutCreditsIsNoDeadlock(t *testing.T) {
	d := ringWith(t, pfc.WatchdogConfig{Detect: 5 * units.Millisecond, Restore: units.Millisecond, Action: pfc.Alert}, &credits.Config{Buffer: 100 * units.KB}, hostLink)
	env := d.NewEnvs(1)
	silent := d.Add("silent", &pauser{env: env[0], next: units.Never}, env, []int{0})
	if err := d.Connect(end(silent, 0), end(5, 3), fabric.Link{Rate: rate, Delay: hostLink}); err != nil {
		t.Fatal(err)
	}
	d.flow(t, 0, 4, 7, 0, 0)
	d.flow(t, 1, 4, 8, 0, 0)
	if found := d.looked(t, 20*units.Millisecond); len(found) != 0 {
		t.Fatalf("found %q", found)
	}
	for i, port := range []int{1, 1, 3} {
		s := d.switches[i].Stats(d.Now()).Ports[port]
		if s.Credits.Waited[3] < 15*units.Millisecond || s.Watchdog.Storm != 1<<3 {
			t.Errorf("S%d: %+v, %+v", i, s.Credits, s.Watchdog)
		}
	}
	d.paused(t, 60)
}

// A long link carries 2048 blocks a round trip and no more, however large buffers are; nothing takes that for a stall.
func TestLongLinksCrawlAndDoNotStall(t *testing.T) {
	const delay = 2 * units.Millisecond
	d := ringWith(t, pfc.WatchdogConfig{Detect: 10 * units.Millisecond, Restore: units.Millisecond, Action: pfc.Drop}, &credits.Config{Buffer: 500 * units.KB}, delay)
	d.flow(t, 0, 1, 7, 0, 0)
	if found := d.looked(t, 200*units.Millisecond); len(found) != 0 {
		t.Fatalf("found %q", found)
	}
	st := d.hosts[1].Stats(d.Now()).Ports[0]
	frames := st.RxFrames[3]
	blocks := float64(frames) * float64((1058+63)/64)
	if trips := float64(200*units.Millisecond-5*delay) / float64(2*delay); blocks > 2048*trips*1.03 || blocks < 2048*trips*0.9 {
		t.Errorf("%.0f blocks a round trip", blocks/trips)
	}
	for i, s := range d.switches {
		for port, p := range s.Stats(d.Now()).Ports {
			if p.Watchdog.Storms[3] != 0 || p.Discarded()[3] != 0 {
				t.Errorf("S%d port %d: storms %v, discards %v", i, port, p.Watchdog.Storms, p.Discarded())
			}
		}
	}
	d.paused(t, 0)
}
