package dataplane

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

func (r *rig) link(port int, up bool) {
	r.t.Helper()
	ch, err := r.sw.PrepareLink(port, LinkState{Up: up})
	if err != nil {
		r.t.Fatal(err)
	}
	r.sw.SetLink(r.now, ch)
}

// A port without a link holds nothing, and is as new when it comes back.
func TestLinkDownAndUp(t *testing.T) {
	c := config(3)
	c.Learn = true
	r := newRig(t, c)
	r.in(1, packet(10, 0, 0, 0), 100) // 10 is learned at port 1
	r.in(2, packet(11, 0, 0, 0), 100)
	r.out(0, 8)
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	for range 30 { // more than XOFF
		r.in(0, packet(0, 1, 26, 0), 1000)
	}
	r.in(0, packet(0, 1, 0, 0), 1000)
	r.out(1, 8) // the lossy one passes
	r.out(0, 8) // XOFF
	r.in(0, packet(0, 1, 0, 0), 1000)
	r.link(1, false)
	st := r.stats(1)
	if st.Discards[fabric.DropLink] != [8]uint64{0: 1, 3: 30} || r.stats(0).Buffered != [8]units.Size{} || r.sw.Paused(1) != 0 {
		t.Errorf("%v discarded, %v held", st.Discards[fabric.DropLink], r.stats(0).Buffered)
	}
	var f pfc.Frame
	if b := r.out(0, 8); len(b) != 1 || f.Decode(b[0]) != nil || f.Quanta[3] != 0 {
		t.Error("no XON")
	}
	r.in(0, packet(0, 1, 26, 0), 1000)
	r.in(0, packet(0, 10, 0, 0), 1000) // forgotten: to all ports with a link
	if st := r.stats(1); st.Discards[fabric.DropLink] != [8]uint64{0: 1, 3: 31} || len(r.out(1, 8)) != 0 || len(r.out(2, 8)) != 1 {
		t.Errorf("%v discarded", st.Discards[fabric.DropLink])
	}
	r.in(0, packet(0, 11, 0, 0), 1000)
	if len(r.out(2, 8)) != 1 {
		t.Error("what was learned elsewhere is forgotten")
	}
	r.link(1, false) // again: nothing new
	r.link(1, true)
	r.in(0, packet(0, 1, 26, 0), 1000)
	r.in(0, packet(0, 12, 0, 0), 1000)
	if len(r.out(1, 8)) != 2 {
		t.Error("the port does not come back")
	}
}

// What came through a port that sends PAUSE is lossless in every priority, also where it is lost: at the link that it
// would have left by, whether it waited there or comes later.
func TestLossesOfPausedPorts(t *testing.T) {
	c := config(3)
	none := uint8(0)
	c.Ports[0].Lossless, c.Ports[0].Pause = &none, true
	c.PFC[0] = c.PFC[3] // of its one account
	r := newRig(t, c)
	r.in(1, packet(1, 0, 26, 0), 100) // 1 is learned
	r.out(0, 8)
	r.in(0, packet(0, 1, 0, 0), 1000)
	r.in(0, packet(0, 1, 46, 0), 1000)
	r.now += units.Microsecond
	r.link(1, false)
	if st := r.stats(1); st.LostAt[0] != r.now || st.LostAt[5] != r.now || st.LostAt[3] != units.Never || r.sw.Losses() != 2 {
		t.Errorf("%d frames lost, the first at %v", r.sw.Losses(), st.LostAt)
	}
	r.in(2, packet(2, 7, 8, 0), 1000) // of a port where its priority is lossy
	if st := r.stats(1); st.LostAt[1] != units.Never {
		t.Errorf("a lossy frame counts as lost: %v", st.LostAt)
	}
}

// A storm ends with its link.
func TestStormAndLink(t *testing.T) {
	r := newRig(t, guarded(2, pfc.Drop))
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	storm(r)
	r.out(1, 1)
	r.link(1, false)
	r.now += 5 * ms
	r.link(1, true)
	r.in(0, packet(0, 1, 26, 0), 1000)
	if st := r.stats(1); len(r.out(1, 8)) != 1 || st.Watchdog.Storm != 0 || st.Watchdog.Restored[3] != 1 {
		t.Errorf("%+v", st.Watchdog)
	}
}

// A switch that is to stop pauses its peers, says so again, and sends what it has.
func TestDrain(t *testing.T) {
	c := config(2)
	c.Pause = 100 * us
	r := newRig(t, c)
	for range 5 {
		r.in(0, packet(0, 1, 26, 0), 1000)
	}
	if r.sw.Queued() != 5 {
		t.Error(r.sw.Queued())
	}
	r.env.SetDue(0, units.Never)
	r.sw.StopPeers(r.now)
	var f pfc.Frame
	for i := range 2 {
		for range 3 {
			if b := r.out(i, 1); len(b) != 1 || f.Decode(b[0]) != nil || f.Enable != lossless || f.Quanta[3] == 0 || r.env.Due(0) > r.now {
				t.Fatalf("port %d: %d frames, %+v", i, len(b), f)
			}
			r.now += 60 * us
		}
	}
	r.now -= 60 * us
	r.in(0, packet(0, 1, 26, 0), 1000) // was on its way
	if st := r.stats(0); len(r.out(1, 8)) != 6 || r.sw.Queued() != 0 || st.Discarded() != [8]uint64{} {
		t.Error("it does not send what it holds")
	}
	r.sw.ResumePeers(r.now)
	for i := range 2 {
		if b := r.out(i, 1); len(b) != 1 || f.Decode(b[0]) != nil || f.Enable != lossless || f.Quanta[3] != 0 {
			t.Errorf("port %d does not resume its peer", i)
		}
	}
}

// A link that flaps, or changes its rate, while the switch drains does not end the pause of its peer.
func TestLinksWhileDraining(t *testing.T) {
	for name, change := range map[string]LinkState{"a flap": {Up: true}, "another rate": {Up: true, Rate: 2 * rate, Headroom: 25_000}} {
		r := newRig(t, config(2))
		r.sw.StopPeers(r.now)
		if len(r.out(0, 2)) != 1 {
			t.Fatal("no XOFF")
		}
		r.link(0, false)
		ch, err := r.sw.PrepareLink(0, change)
		if err != nil {
			t.Fatal(err)
		}
		r.sw.SetLink(r.now, ch)
		var f pfc.Frame
		if b := r.out(0, 2); len(b) != 1 || f.Decode(b[0]) != nil || f.Enable != lossless || f.Quanta[3] == 0 {
			t.Errorf("%s: %d frames, %+v", name, len(b), f)
		}
		r.reload(config(2))
		if r.out(0, 2); r.stats(0).Ingress.PausedNow != lossless {
			t.Errorf("%s: a reload ends the pause", name)
		}
		r.sw.ResumePeers(r.now)
		if b := r.out(0, 2); len(b) != 1 || f.Decode(b[0]) != nil || f.Enable != lossless || f.Quanta[3] != 0 {
			t.Errorf("%s: no XON", name)
		}
	}
}

// Links that come and go between any other things: every frame is accounted
// for, and nothing waits for a link that is not there.
func TestConservationOfLinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ports = 3
		r := &rig{env: fabric.NewEnv(fabric.NewHeaderPool(), ports)}
		c := guarded(ports, pfc.Drop)
		c.Learn, c.Watchdog.Detect, c.Watchdog.Restore = true, 4*us, 2*us
		var err error
		if r.sw, err = NewSwitch(c, []*fabric.Env{r.env}); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			r.now += units.Time(rapid.Int64Range(0, int64(2*us)).Draw(t, "dt"))
			p := rapid.IntRange(0, ports-1).Draw(t, "port")
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0:
				ch, err := r.sw.PrepareLink(p, LinkState{Up: rapid.Bool().Draw(t, "up")})
				if err != nil {
					t.Fatal(err)
				}
				r.sw.SetLink(r.now, ch)
			case 1:
				r.in(p, pauseFrame(3, rapid.SampledFrom([]uint16{0, 40, 400}).Draw(t, "quanta")), 60)
			case 2, 3, 4, 5:
				r.in(p, packet(p, rapid.IntRange(0, ports+1).Draw(t, "to"), rapid.SampledFrom([]uint8{0, 26}).Draw(t, "dscp"), wire.ECT0), 500)
			default:
				r.out(p, 2)
			}
			if err := r.sw.Audit(); err != nil {
				t.Fatal(err)
			}
			for i := range ports {
				for prio := range r.sw.ports[i].queues {
					if sp := &r.sw.ports[i]; sp.shut>>prio&1 != 0 && sp.queues[prio].frames != 0 {
						t.Fatal("frames wait for what does not come")
					}
				}
			}
		}
	})
}

// A link that flaps while its peer is paused: the new peer hears of it at once, whether the XOFF had been sent or was
// only due, and may send as much as headroom holds before it obeys.
func TestFlapWhilePaused(t *testing.T) {
	for _, sent := range []bool{true, false} {
		c := config(3)
		c.Buffer = units.MB
		r := newRig(t, c)
		for range 30 {
			r.in(0, packet(0, 1, 26, 0), 1000)
		}
		if sent && len(r.out(0, 1)) != 1 {
			t.Fatal("no XOFF")
		}
		for range 3 {
			r.now += us
			r.link(0, false)
			r.env.SetDue(0, units.Never)
			r.now += us
			r.link(0, true)
			var f pfc.Frame
			if due := min(r.env.Due(0), r.sw.Next(r.now, 0)); due > r.now {
				t.Errorf("sent %v: the port is to be called at %v", sent, due)
			}
			if b := r.out(0, 2); len(b) != 1 || f.Decode(b[0]) != nil || f.Quanta[3] != pfc.MaxQuanta {
				t.Fatalf("sent %v: %d frames on the new link, %+v", sent, len(b), f)
			}
			for range 20 {
				r.in(0, packet(0, 1, 26, 0), 1000)
			}
		}
		if n := r.stats(0).Discarded(); n != [8]uint64{} {
			t.Errorf("sent %v: %v are lost", sent, n)
		}
		for len(r.out(1, 32)) > 0 {
		}
		var f pfc.Frame
		if b := r.out(0, 2); len(b) != 1 || f.Decode(b[0]) != nil || f.Enable != lossless || f.Quanta[3] != 0 {
			t.Errorf("sent %v: no XON", sent)
		}
	}
}

// A link that has another rate: pauses are asked for and obeyed by its quanta, headroom is what it needs, what is too
// much for the buffer is refused, and congestion points are made for it.
func TestLinkOfAnotherRate(t *testing.T) {
	const faster = 40 * units.Gbps
	c := config(2)
	c.Pause, c.Buffer = 100*us, 200_000
	var made []marking.Place
	c.CP = func(p marking.Place) marking.CP {
		made = append(made, p)
		return marking.None{}
	}
	for _, flaps := range []bool{false, true} {
		r := newRig(t, c)
		made = nil
		if flaps {
			r.link(0, false)
		}
		ch, err := r.sw.PrepareLink(0, LinkState{Up: true, Rate: faster, Headroom: 50_000})
		if err != nil {
			t.Fatal(err)
		}
		r.sw.SetLink(r.now, ch)
		for range 71 {
			r.in(0, packet(0, 1, 26, 0), 1000)
		}
		var f pfc.Frame
		if b := r.out(0, 1); len(b) != 1 || f.Decode(b[0]) != nil || f.Quanta[3] != pfc.Quanta(100*us, faster) {
			t.Errorf("%d quanta, %d are 100us", f.Quanta[3], pfc.Quanta(100*us, faster))
		}
		if next := r.sw.Next(r.now, 0); next < 40*us || next > 60*us {
			t.Errorf("refresh at %v", next)
		}
		if n := r.stats(0).Discards[fabric.DropHeadroom][3]; n != 1 {
			t.Errorf("%d of 71 frames are discarded, XOFF and headroom are 70", n)
		}
		if b := r.sw.Buffer(); b.Reserved != 110_000 || b.Lossy != 90_000 || b.Thresholds[0][3].Headroom != 50_000 {
			t.Errorf("%+v", b)
		}
		r.out(1, 100)
		r.in(1, packet(1, 0, 26, 0), 1000)
		r.in(0, pauseFrame(3, 1000), 60)
		r.out(0, 1)
		if next := r.sw.Next(r.now, 0); next != r.now+pfc.Duration(1000, faster) {
			t.Errorf("a pause of 1000 quanta ends at %v, not %v", next, pfc.Duration(1000, faster))
		}
		if len(made) != 1 || made[0] != (marking.Place{Port: 0, Prio: 3, Rate: faster}) {
			t.Errorf("congestion points are made for %+v", made)
		}
		if _, err := r.sw.PrepareLink(1, LinkState{Up: true, Rate: faster, Headroom: 111_000}); !errors.Is(err, ErrBuffer) {
			t.Errorf("more headroom than there is buffer: %v", err)
		}
		r.link(0, false) // and as it was
		r.link(0, true)
		if b := r.sw.Buffer(); b.Thresholds[0][3].Headroom != 50_000 {
			t.Errorf("a flap changes headroom to %v", b.Thresholds[0][3].Headroom)
		}
	}
}

// Static addresses behind several ports avoid those without a link, and come back.
func TestGroupsAvoidDeadLinks(t *testing.T) {
	c := config(5)
	c.Static = append(c.Static, StaticEntry{MAC: mac(9), Ports: []uint16{1, 2, 3}})
	eachWay(t, c, func(t *testing.T, r *rig) {
		where := func() (share [5]int) {
			for flow := range 90 {
				r.in(0, with(packet(0, 9, 26, 0), put16(34, uint16(flow))), 100)
				for p := range share {
					share[p] += len(r.out(p, 4))
				}
			}
			return share
		}
		all := where()
		for _, down := range [][]int{{2}, {2, 1}} {
			for _, p := range down {
				r.link(p, false)
			}
			share := where()
			for p := 1; p < 4; p++ {
				if dead := slices.Contains(down, p); dead != (share[p] == 0) {
					t.Errorf("without %v: %v frames", down, share)
				}
			}
			if share[1]+share[2]+share[3] != 90 {
				t.Errorf("without %v: %v frames of 90", down, share)
			}
		}
		r.link(1, true)
		r.link(2, true)
		if again := where(); again != all || all[1] == 0 || all[2] == 0 || all[3] == 0 {
			t.Errorf("%v frames, and then %v", all, again)
		}
	})
}

// A link whose headroom shrinks leaves the pool more: a port for whose peer an XON falls due by that is woken.
func TestHeadroomGivenBackWakesOthers(t *testing.T) {
	c := config(3)
	c.Buffer = 170_000 // 50 000 above what the ports are promised
	c.PFC[3] = pfc.Thresholds{XOFF: 20_000, XON: 15_000, Headroom: 20_000, Alpha: 0.5}
	r := newRig(t, c)
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	for r.sw.Pauses(0, 3) == 0 {
		r.in(0, packet(0, 1, 26, 0), 1000)
		r.out(0, 8)
	}
	r.in(1, pauseFrame(3, 0), 60) // what is in the headroom has to leave first
	r.out(1, 1)
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	if len(r.out(0, 8)) != 0 {
		t.Fatal("port 0 sends something before anything happens")
	}
	for i := range c.Ports {
		r.env.SetDue(i, r.sw.Next(r.now, i))
	}
	if due := r.env.Due(0); due <= r.now {
		t.Fatalf("port 0 is due at %v before anything happens", due)
	}
	ch, err := r.sw.PrepareLink(2, LinkState{Up: true, Headroom: 1000})
	if err != nil {
		t.Fatal(err)
	}
	r.sw.SetLink(r.now, ch)
	if due := r.env.Due(0); due > r.now {
		t.Errorf("port 0 is due at %v, and an XON now", due)
	}
	if out := r.out(0, 8); len(out) != 1 {
		t.Errorf("port 0 sends %d frames, and not an XON", len(out))
	}
}

// A link is refused whose headroom is more than all ports share.
func TestLinkWithinSharedHeadroom(t *testing.T) {
	c := config(2)
	c.Headroom = 25_000
	r := newRig(t, c)
	if _, err := r.sw.PrepareLink(0, LinkState{Up: true, Rate: 2 * rate, Headroom: 40_000}); err == nil {
		t.Error("a link is taken whose headroom, 40000, is more than the pool of headroom, 25000")
	}
}

// Frames that were paused and then discarded with the link do not count as paused when others leave.
func TestFlushForgetsPausedFrames(t *testing.T) {
	r := newRig(t, config(2)) // NP-ECN
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	for range 10 {
		r.in(0, packet(0, 1, 26, wire.ECT0), 1000)
	}
	r.in(1, pauseFrame(3, 0), 60) // ten frames were paused
	r.link(1, false)              // and are discarded
	r.link(1, true)
	for range 10 {
		r.in(0, packet(0, 1, 26, wire.ECT0), 1000)
	}
	marked := 0
	for _, b := range r.out(1, 10) {
		if wire.ECN(b[14:]) == wire.CE {
			marked++
		}
	}
	if marked != 9 {
		t.Errorf("%d of 10 frames are marked, of which none was paused, and 9 leave a queue behind", marked)
	}
}

// What a device delivers after its link went down is not learned.
func TestFramesBehindALinkThatIsDown(t *testing.T) {
	c := config(3)
	c.Learn = true
	r := newRig(t, c)
	r.in(1, packet(10, 0, 0, 0), 100)
	r.out(0, 8)
	r.link(1, false)
	r.in(1, packet(10, 0, 0, 0), 100) // was in the device's ring
	r.out(0, 8)
	r.in(0, packet(0, 10, 0, 0), 1000)
	if n := len(r.out(2, 8)); n != 1 {
		t.Errorf("a frame for a station behind a link that is down is sent to %d other ports, %v discarded at the dead one", n, r.stats(1).Discards[fabric.DropLink][0])
	}
}

// A pause that comes before a switch knows of a link that its peer knows of is obeyed: else what is sent could be lost.
func TestPauseBeforeTheLink(t *testing.T) {
	r := newRig(t, config(2))
	r.link(1, false)
	r.in(1, pauseFrame(3, pfc.MaxQuanta), 60)
	r.link(1, true)
	if got := r.sw.Paused(1); got != 1<<3 {
		t.Errorf("priorities %b are paused", got)
	}
}
