package dataplane

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

func (r *rig) reload(c SwitchConfig) {
	r.t.Helper()
	ch, err := r.sw.Prepare(c)
	if err != nil {
		r.t.Fatal(err)
	}
	r.sw.Apply(r.now, ch)
}

// What is refused changes nothing, whatever else is in it and however late the
// mistake is found.
func TestRefusedWhole(t *testing.T) {
	c := config(3)
	c.Learn, c.FDBSize = true, 2
	c.Static = c.Static[:2]
	c.VLANs = []VLAN{{ID: 1, Untagged: []uint16{0, 1}}, {ID: 2, Tagged: []uint16{1, 2}}}
	c.Router = Router{MAC: mac(99), Routes: []Route{{Prefix: netip.MustParsePrefix("10.0.0.1/32"), Via: []NextHop{{Port: 1, MAC: mac(1)}}}}}
	other := func() SwitchConfig { // differs in all that can change
		o := c
		o.Tail, o.Share, o.Buffer, o.Age, o.Learn, o.Trust = 30_000, 0.5, 3*units.MB, 5*units.Second, false, TrustPCP
		o.Watchdog, o.Deadlock, o.Pause = pfc.WatchdogConfig{Detect: ms, Restore: ms, Action: pfc.Alert}, ms, 50*us
		o.PFC[3], o.DSCP[1], o.PCP[1], o.Weights[0], o.Control = pfc.Thresholds{XOFF: 5000, XON: 1000, Headroom: 20_000}, 2, 2, 3, 5
		o.CP = func(marking.Place) marking.CP { return marking.None{} }
		o.Static = []StaticEntry{{MAC: mac(7), Ports: []uint16{2}, VLAN: 2}}
		o.VLANs = []VLAN{{ID: 1, Untagged: []uint16{0}}, {ID: 2, Tagged: []uint16{1, 2}}}
		o.Router = Router{MAC: mac(98)}
		o.Ports = slices.Clone(c.Ports)
		for i := range o.Ports {
			o.Ports[i].Headroom = 25_000
			o.Ports[i].Flood.Broadcast = FloodLimit{Rate: units.Mbps, Burst: 2000}
		}
		return o
	}
	r := newRig(t, c)
	for range 12 {
		r.in(0, packet(0, 1, 26, wire.ECT0), 1000)
	}
	state := func() string {
		s := r.sw
		text := fmt.Sprintf("%+v %+v %p %p %v %v", s.config, s.Buffer(), s.lans, s.routes, s.quantum, s.tags)
		for i := range s.ports {
			p := &s.ports[i]
			text += fmt.Sprintf("\n%+v %+v %+v %+v %+v %v", p.ingress, p.egress, p.watchdog, p.points, p.buckets, p.rounds)
		}
		return text
	}
	before, changes := state(), r.sw.counts.Changes.Load()
	for what, spoil := range map[string]func(*SwitchConfig){
		"another MTU":            func(o *SwitchConfig) { o.MTU++ },
		"other lossless ones":    func(o *SwitchConfig) { o.Lossless |= 1 << 4 },
		"another salt":           func(o *SwitchConfig) { o.Salt++ },
		"another size":           func(o *SwitchConfig) { o.FDBSize++ },
		"a port more":            func(o *SwitchConfig) { o.Ports = append(o.Ports, o.Ports[0]) },
		"another link":           func(o *SwitchConfig) { o.Ports[2].Link.Rate++ },
		"another address":        func(o *SwitchConfig) { o.Ports[2].MAC++ },
		"a buffer that is small": func(o *SwitchConfig) { o.Buffer = 50_000 },
		"no such VLAN":           func(o *SwitchConfig) { o.Static[0].VLAN = 9 },
		"a route to nowhere":     func(o *SwitchConfig) { o.Router.Routes = []Route{{}} },
		"a table that is small":  func(o *SwitchConfig) { o.Static = tooMany() },
		"a watchdog of the past": func(o *SwitchConfig) { o.Watchdog.Detect = -1 },
		"an alpha of no number":  func(o *SwitchConfig) { o.Share = math.NaN() },
		"an XON above XOFF":      func(o *SwitchConfig) { o.PFC[3].XON = 6000 },
	} {
		o := other()
		spoil(&o)
		if _, err := r.sw.Prepare(o); err == nil {
			t.Errorf("%s is not refused", what)
		}
		if after := state(); after != before || r.sw.counts.Changes.Load() != changes {
			t.Errorf("%s is refused, and changes (%d) %s", what, r.sw.counts.Changes.Load()-changes, firstDifference(before, after))
		}
	}
	// What is only prepared changes nothing either.
	ch, err := r.sw.Prepare(other())
	if err != nil {
		t.Fatal(err)
	}
	if after := state(); after != before {
		t.Errorf("what is only prepared changes %s", firstDifference(before, after))
	}
	r.sw.Apply(r.now, ch)
	if state() == before {
		t.Error("and applied, too")
	}
}

// firstDifference is where two texts part.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("%.100q to %.100q", a[i:], b[i:])
}

// tooMany are more static addresses than a small table has room for.
func tooMany() (all []StaticEntry) {
	for i := range 500 {
		all = append(all, StaticEntry{MAC: mac(1000 + i), Ports: []uint16{1}, VLAN: 2})
	}
	return all
}

// Maps, static addresses, the scheme and thresholds, each alone; what was queued
// stays and leaves.
func TestReload(t *testing.T) {
	c := config(3)
	c.Learn = true
	r := newRig(t, c)
	for range 4 {
		r.in(0, packet(0, 1, 26, wire.ECT0), 1000)
	}
	r.in(0, packet(20, 1, 0, 0), 100) // 20 is learned at port 0

	c.DSCP[10], c.CP = 5, nil
	r.reload(c)
	r.in(0, packet(0, 1, 10, 0), 100)
	if r.stats(0).RxFrames[5] != 1 {
		t.Error("the map is not in force")
	}
	c.Static = []StaticEntry{{MAC: mac(0), Ports: []uint16{0}}, {MAC: mac(1), Ports: []uint16{2}}, {MAC: mac(20), Ports: []uint16{2}}}
	r.reload(c)
	r.in(0, packet(0, 1, 26, wire.ECT0), 1000)
	if n := len(r.out(2, 8)); n != 1 {
		t.Errorf("%d frames at the port to which the address moved", n)
	}
	if got := r.out(1, 8); len(got) != 6 || wire.ECN(got[1][14:]) != wire.CE {
		t.Errorf("%d of 6 frames were still queued, or they are not marked", len(got))
	}
	r.in(1, packet(5, 2, 0, 0), 100) // 2 is not static any more
	if a, b := len(r.out(0, 8)), len(r.out(2, 8)); a != 1 || b != 1 {
		t.Error("an address that was taken away:", a, b)
	}
	r.in(1, packet(5, 20, 0, 0), 100)
	if a, b := len(r.out(0, 8)), len(r.out(2, 8)); a != 0 || b != 1 {
		t.Error("a static address does not replace a learned one:", a, b)
	}

	c.CP = func(marking.Place) marking.CP { return marking.None{} }
	r.reload(c)
	for range 4 {
		r.in(0, packet(0, 1, 26, wire.ECT0), 1000)
	}
	for _, b := range r.out(2, 8) {
		if wire.ECN(b[14:]) != wire.ECT0 {
			t.Error("the old scheme marks")
		}
	}
	c.CP = func(marking.Place) marking.CP { return &nagging{} }
	r.env.SetDue(1, units.Never)
	r.reload(c)
	if r.env.Due(1) > r.now {
		t.Error("the new scheme's timers are not asked for")
	}
	c.CP, c.PFC[3] = nil, pfc.Thresholds{XOFF: 2000, XON: 1000, Headroom: 30_000}
	for range 3 {
		r.in(0, packet(0, 1, 26, 0), 1000)
	}
	r.env.SetDue(0, units.Never)
	r.reload(c)
	var f pfc.Frame
	if b := r.out(0, 1); r.env.Due(0) > r.now || len(b) != 1 || f.Decode(b[0]) != nil || f.Quanta[3] == 0 {
		t.Error("a lower XOFF does not act at once")
	}
	c.Tail, c.Learn, c.Age = 300, false, 7*units.Second
	r.reload(c)
	r.in(0, packet(0, 1, 0, 0), 301)
	r.in(0, packet(30, 1, 0, 0), 100)
	if st := r.stats(2); st.Discards[fabric.DropTail][0] != 1 || r.sw.lans.all[0].fdb.Find(mac(30), r.sw.era.second(r.now)) != 0 || r.sw.lans.all[0].fdb.Age() != 7*units.Second {
		t.Error("queue limit, learning or age are not in force")
	}
	if b := r.sw.Buffer(); b.Reserved != 3*32_000 || b.Lossy != b.Size-b.Reserved || b.Thresholds[2][3].XON != 1000 {
		t.Errorf("%+v", b)
	}
}

func TestReloadRefuses(t *testing.T) {
	r := newRig(t, config(2))
	for i, change := range []func(*SwitchConfig){
		func(c *SwitchConfig) { *c = config(3) }, func(c *SwitchConfig) { c.Ports[1].Link.Rate = 1 }, func(c *SwitchConfig) { c.Ports[1].Worker = 1 },
		func(c *SwitchConfig) { c.MTU = 9000 }, func(c *SwitchConfig) { c.FDBSize = 5 },
	} {
		c := config(2)
		change(&c)
		if _, err := r.sw.Prepare(c); !errors.Is(err, ErrFixed) {
			t.Errorf("change %d: %v", i, err)
		}
	}
	c := config(2)
	c.Buffer = 50_000
	if _, err := r.sw.Prepare(c); !errors.Is(err, ErrBuffer) {
		t.Error(err)
	}
	c = config(2)
	c.Static[0].Ports[0] = 9
	if _, err := r.sw.Prepare(c); err == nil {
		t.Error("a static address at a port that is not there")
	}
}

// A watchdog that comes, changes its action, or goes, in a storm too.
func TestReloadOfAWatchdog(t *testing.T) {
	c := config(2)
	c.CP = nil
	r := newRig(t, c)
	set := func(w pfc.WatchdogConfig) {
		c.Watchdog = w
		r.reload(c)
	}
	storming := func() { // after 20 ms
		for range 10 {
			r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
			r.now += 2 * ms
			r.out(1, 8)
		}
	}
	r.in(0, packet(0, 1, 26, 0), 1000)
	storming()
	set(pfc.WatchdogConfig{Detect: 10 * ms, Restore: ms, Action: pfc.Alert})
	if st := r.stats(1); st.Watchdog.Storm != lossless || st.QueueFrames[3] != 1 {
		t.Errorf("a watchdog that comes: %+v", st.Watchdog)
	}
	set(pfc.WatchdogConfig{Detect: 10 * ms, Restore: ms, Action: pfc.Drop})
	if st := r.stats(1); st.Watchdog.Storm != lossless || st.QueueFrames[3] != 0 || st.Discards[fabric.DropStorm][3] != 1 {
		t.Errorf("a watchdog that drops from now on: %+v", st.Watchdog)
	}
	set(pfc.WatchdogConfig{})
	r.in(0, packet(0, 1, 26, 0), 1000)
	if st := r.stats(1); st.Watchdog.Storm != 0 || st.QueueFrames[3] != 1 || st.Watchdog.Restored[3] != 1 {
		t.Errorf("a watchdog that goes: %+v", st.Watchdog)
	}
}

// Reloads between any other things: every frame is accounted for, and no
// lossless one is lost as long as peers obey at once.
func TestConservationInReloads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ports = 3
		r := &rig{env: fabric.NewEnv(fabric.NewHeaderPool(), ports)}
		c := config(ports)
		c.Learn = true
		var err error
		if r.sw, err = NewSwitch(c, []*fabric.Env{r.env}); err != nil {
			t.Fatal(err)
		}
		var stopped [ports]bool
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			r.now += units.Time(rapid.Int64Range(0, int64(3*us)).Draw(t, "dt"))
			p := rapid.IntRange(0, ports-1).Draw(t, "port")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				r.in(p, pauseFrame(3, rapid.SampledFrom([]uint16{0, 10, 200}).Draw(t, "quanta")), 60)
			case 1, 2, 3, 4, 5:
				dscp := rapid.SampledFrom([]uint8{0, 26, 26, 48}).Draw(t, "dscp")
				if dscp == 26 && stopped[p] {
					continue
				}
				r.in(p, packet(p, rapid.IntRange(0, ports).Draw(t, "to"), dscp, wire.ECT0), rapid.IntRange(64, 1514).Draw(t, "length"))
			case 6:
				c.PFC[3].XOFF = units.Size(rapid.IntRange(1, 30).Draw(t, "xoff")) * 1000
				c.PFC[3].XON = c.PFC[3].XOFF / 2
				c.PFC[3].Headroom = units.Size(rapid.IntRange(8, 30).Draw(t, "headroom")) * 1000
				c.PFC[3].Alpha = rapid.SampledFrom([]float64{0, 0, 0.1, 2}).Draw(t, "alpha")
				c.Share = rapid.SampledFrom([]float64{0, 0.5}).Draw(t, "share")
				c.Weights[0], c.Weights[3] = rapid.IntRange(0, 3).Draw(t, "weight"), rapid.IntRange(0, 3).Draw(t, "weight")
				c.Tail = units.Size(rapid.IntRange(1, 30).Draw(t, "tail")) * 1000
				c.Static = c.Static[:rapid.IntRange(0, len(c.Static)).Draw(t, "static")]
				c.CP = rapid.SampledFrom([]func(marking.Place) marking.CP{
					nil, func(marking.Place) marking.CP { return marking.None{} }, func(marking.Place) marking.CP { return marking.NewNPECN() },
				}).Draw(t, "scheme")
				ch, err := r.sw.Prepare(c)
				if err != nil {
					t.Fatal(err)
				}
				r.sw.Apply(r.now, ch)
			default:
				for _, b := range r.out(p, rapid.IntRange(1, 4).Draw(t, "n")) {
					var f pfc.Frame
					if f.Decode(b) == nil && wire.MACAt(b) == pfc.Destination && f.Enable != 0 {
						stopped[p] = f.Quanta[3] != 0
					}
				}
			}
			if err := r.sw.Audit(); err != nil {
				t.Fatal(err)
			}
			for i := range ports {
				for { // what a world does at once: PFC frames leave
					b := r.pfcDue(i)
					if b == nil {
						break
					}
					var f pfc.Frame
					if f.Decode(b) == nil {
						stopped[i] = f.Quanta[3] != 0
					}
				}
				st := r.stats(i)
				if st.Discards[fabric.DropHeadroom][3] != 0 {
					t.Fatal("a lossless frame was lost")
				}
			}
		}
	})
}

// pfcDue takes the PFC frame that a port has due, if any.
func (r *rig) pfcDue(port int) []byte {
	var f fabric.Frame
	if !r.sw.pause(r.now, &r.sw.ports[port], &f) {
		return nil
	}
	b := append([]byte(nil), r.env.Header(f)...)
	r.env.Free(f)
	return b
}

// What the workers wait for: a switch of many ports.
func BenchmarkApply(b *testing.B) {
	c := config(64)
	c.Buffer = 64 * 100_000
	c.FDBSize = 16384
	r := newRig(b, c)
	for i := range 10_000 {
		r.sw.lans.all[0].fdb.Learn(mac(1000+i), i%64, 0)
	}
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		c.Static = append(c.Static[:63:63], StaticEntry{MAC: mac(63), Ports: []uint16{uint16(i & 1)}}) // another table each time
		ch, err := r.sw.Prepare(c)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		r.sw.Apply(0, ch)
		r.env.Woken()
	}
}

// A reload is refused if the buffer is too small for it with the headroom that links have by now.
func TestReloadKeepsReservationsWithinTheBuffer(t *testing.T) {
	c := config(2)
	c.Buffer = 100_000 // 2*(20000+20000) reserved
	r := newRig(t, c)
	ch, err := r.sw.PrepareLink(0, LinkState{Up: true, Rate: 2 * rate, Headroom: 40_000})
	if err != nil {
		t.Fatal(err)
	}
	r.sw.SetLink(r.now, ch) // reserved: exactly 100000
	if got := r.sw.reserved(); got != 100_000 {
		t.Fatal(got)
	}
	d := c
	d.PFC[3].XOFF, d.PFC[3].XON = 28_000, 10_000 // 96000 by the configuration, 116000 with the link
	next, err := r.sw.Prepare(d)
	if errors.Is(err, ErrBuffer) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	r.sw.Apply(r.now, next)
	// both ports get as much as they are promised, and the switch admits more than it has
	for port := range 2 {
		for range 100 {
			r.in(port, packet(port, 1-port, 26, 0), 1000)
		}
	}
	sum := units.Size(0)
	for port := range 2 {
		for _, b := range r.stats(port).Buffered {
			sum += b
		}
	}
	t.Errorf("Prepare took it: reserved %v of a buffer of %v; %v are buffered", r.sw.reserved(), c.Buffer, sum)
}
