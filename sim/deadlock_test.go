package sim

import (
	"context"
	"fmt"
	"testing"

	"photon/agent"
	"photon/credits"
	"photon/dataplane"
	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
)

// ring is three switches, each with a host at port 0, the next at port 1, the
// one before at port 2, and port 3 for whatever a test wants. Host 3 is nowhere:
// what is for it goes round and round. Host 4 is at port 3 of the last.
func ring(t *testing.T, watchdog pfc.WatchdogConfig) *dumbbell {
	t.Helper()
	return ringWith(t, watchdog, nil, hostLink)
}

// ringWith has credits in place of PFC, if there are any, and links with a delay.
func ringWith(t *testing.T, watchdog pfc.WatchdogConfig, credits *credits.Config, delay units.Time) *dumbbell {
	t.Helper()
	recipe, err := scheme.Get("none")
	if err != nil {
		t.Fatal(err)
	}
	parts, err := recipe.Build(scheme.Network{Line: rate, RTT: 10 * units.Microsecond, LongFlows: 4, Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &dumbbell{World: New()}
	link := fabric.Link{Rate: rate, Delay: delay}
	for i := range 3 {
		env := d.NewEnvs(1)
		h, err := agent.New(agent.Config{
			MAC: mac(i), IP: ip(i), Link: link, Lossless: 1 << 3, Credits: credits, DSCP: dataplane.DefaultDSCP(), DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48,
			Carry: parts.Carry, Payload: 1000, AckTimeout: 67 * units.Millisecond, Senders: 8, Receivers: 8, Age: units.Second, NP: parts.NP(8), NewRP: parts.RP,
		}, env[0])
		if err != nil {
			t.Fatal(err)
		}
		d.hosts = append(d.hosts, h)
		d.Add(fmt.Sprintf("H%d", i), h, env, []int{0})
	}
	for s := range 3 {
		env := d.NewEnvs(4)
		c := dataplane.SwitchConfig{
			Lossless: 1 << 3, Credits: credits, Buffer: 12 * units.MB, Tail: units.MB, MTU: 1500, Classes: dataplane.DefaultClasses(), Control: 6, FDBSize: 16,
			CP: func(marking.Place) marking.CP { return marking.None{} }, Deadlock: 2 * units.Millisecond, ID: uint64(s + 1), Watchdog: watchdog,
		}
		c.PFC[3] = pfc.Thresholds{XOFF: 100 * units.KB, XON: 97 * units.KB, Headroom: pfc.Headroom(rate, hostLink, 0, 1518)}
		for p := range 4 {
			c.Ports = append(c.Ports, dataplane.PortConfig{MAC: mac(100 + 4*s + p), Link: link})
		}
		for h := range 5 {
			out := uint16(1)
			if h == s {
				out = 0
			} else if h == 4 && s == 2 {
				out = 3
			}
			c.Static = append(c.Static, dataplane.StaticEntry{MAC: mac(h), Ports: []uint16{out}})
		}
		sw, err := dataplane.NewSwitch(c, env)
		if err != nil {
			t.Fatal(err)
		}
		d.switches = append(d.switches, sw)
		d.Add(fmt.Sprintf("S%d", s), sw, env, make([]int, 4))
	}
	for i := range 3 {
		for _, c := range [][2]fabric.End{{end(i, 0), end(3+i, 0)}, {end(3+i, 1), end(3+(i+1)%3, 2)}} {
			if err := d.Connect(c[0], c[1], link); err != nil {
				t.Fatal(err)
			}
		}
	}
	return d
}

// looked is what the switches find in a run.
func (d *dumbbell) looked(t *testing.T, until units.Time) (found []string) {
	t.Helper()
	d.Every(units.Millisecond, func(now units.Time) {
		for i, s := range d.switches {
			for _, f := range s.LookForDeadlocks(now) {
				found = append(found, fmt.Sprintf("S%d port %d priority %d: %d switches", i, f.Port, f.Priority, f.Switches))
			}
		}
	})
	if err := d.Run(context.Background(), until); err != nil {
		t.Fatal(err)
	}
	if err := d.Audit(); err != nil {
		t.Error(err)
	}
	return found
}

// Frames that go in circles fill the ring until no queue can move: every switch
// finds that, once, and nothing else.
func TestDeadlockIsFound(t *testing.T) {
	d := ring(t, pfc.WatchdogConfig{})
	for i := range 3 {
		d.flow(t, i, 3, 7+i, 0, 0)
	}
	found := d.looked(t, 40*units.Millisecond)
	if len(found) != 3 {
		t.Fatalf("found %q", found)
	}
	for i, s := range d.switches {
		st := s.Stats(d.Now()).Ports
		if st[1].Deadlocked != 1<<3 || st[1].Deadlocks[3] != 1 || st[0].Deadlocked|st[2].Deadlocked != 0 {
			t.Errorf("S%d: %+v", i, st[1].Deadlocks)
		}
		sent := st[1].TxFrames[3]
		if err := d.Run(context.Background(), d.Now()+units.Millisecond); err != nil {
			t.Fatal(err)
		}
		if s.TxFrames(1, 3) != sent {
			t.Errorf("S%d still sends", i)
		}
	}
	for _, f := range found {
		if f[2:] != " port 1 priority 3: 3 switches" {
			t.Error(f)
		}
	}
}

// A watchdog that drops ends it: the queue is not deadlocked any more.
func TestWatchdogEndsADeadlock(t *testing.T) {
	d := ring(t, pfc.WatchdogConfig{Detect: 10 * units.Millisecond, Restore: units.Millisecond, Action: pfc.Drop})
	for i := range 3 {
		d.flow(t, i, 3, 7+i, units.MB, 0)
	}
	found := d.looked(t, 60*units.Millisecond)
	if len(found) < 3 {
		t.Fatalf("found %q", found)
	}
	for i, s := range d.switches {
		if st := s.Stats(d.Now()).Ports[1]; st.Deadlocked != 0 {
			t.Errorf("S%d is still in a deadlock", i)
		}
	}
}

// A chain of paused queues that ends at a host which takes nothing is no deadlock.
func TestChainIsNoDeadlock(t *testing.T) {
	d := ring(t, pfc.WatchdogConfig{})
	env := d.NewEnvs(1)
	silent := d.Add("silent", &pauser{env: env[0]}, env, []int{0})
	env[0].Wake(0, 0)
	free := fabric.Link{Rate: rate, Delay: hostLink}
	if err := d.Connect(end(silent, 0), end(5, 3), free); err != nil {
		t.Fatal(err)
	}
	d.flow(t, 0, 4, 7, 0, 0)
	d.flow(t, 1, 4, 8, 0, 0)
	if found := d.looked(t, 20*units.Millisecond); len(found) != 0 {
		t.Fatalf("found %q", found)
	}
	now := d.Now()
	for i, port := range []int{1, 1, 3} {
		if s := d.switches[i].Stats(now).Ports[port]; s.Egress.Transitions[3] != 0 || s.Egress.Paused[3] < 15*units.Millisecond {
			t.Errorf("S%d is not paused all the time: %+v", i, s.Egress)
		}
	}
}

// pauser is a host that pauses its switch for ever.
type pauser struct {
	env   *fabric.Env
	next  units.Time
	stats fabric.PortStats
}

func (p *pauser) Receive(_ units.Time, _ int, burst []fabric.Frame) {
	for _, f := range burst {
		p.stats.RxFrames[3]++
		p.env.Free(f)
	}
}

func (p *pauser) Transmit(now units.Time, _ int, burst []fabric.Frame) int {
	if now < p.next {
		return 0
	}
	f, _ := p.env.Alloc(pfc.FrameLen)
	xoff := pfc.Frame{Enable: 1 << 3}
	xoff.Quanta[3] = pfc.MaxQuanta
	xoff.Encode(p.env.Header(f), mac(77))
	burst[0] = f
	p.stats.TxControl++
	p.next = now + units.Millisecond
	return 1
}

func (p *pauser) Next(units.Time, int) units.Time { return p.next }
func (p *pauser) Stats(units.Time) fabric.Stats {
	return fabric.Stats{Ports: []fabric.PortStats{p.stats}}
}
func (p *pauser) Audit() error { return nil }
func (p *pauser) Close()       {}
