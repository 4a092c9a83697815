package dataplane

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// placed is config with one more place, at the end, where no port is.
func placed(ports int) SwitchConfig {
	c := config(ports)
	c.Learn = true
	c.Static = nil
	c.Ports = append(c.Ports, PortConfig{Vacant: true})
	return c
}

// occupy adds a port at a place, and has it owned by a worker.
func (r *rig) occupy(place, worker int) {
	r.t.Helper()
	if !slices.Contains(r.sw.Vacant(r.now), place) {
		r.t.Fatalf("place %d is not vacant", place)
	}
	c := r.sw.config
	c.Ports = slices.Clone(c.Ports)
	c.Ports[place] = PortConfig{MAC: mac(100 + place), Link: fabric.Link{Rate: rate}, Worker: worker}
	c.CP = nil
	r.reload(c)
}

// without is the configuration without a port.
func (r *rig) without(place int) SwitchConfig {
	c := r.sw.config
	c.Ports = slices.Clone(c.Ports)
	c.Ports[place] = PortConfig{Vacant: true}
	c.CP = nil
	return c
}

// A port that is added takes part as one that was there from the start: floods reach it, addresses are learned
// there, and it pauses its peer. When it has gone nothing goes there, and one that takes its place has neither its
// addresses nor its counters.
func TestPortIsAddedAndRemoved(t *testing.T) {
	for workers := 1; workers <= 3; workers++ {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			c := placed(3)
			for i := range 3 {
				c.Ports[i].Worker = i % workers
			}
			r := newCrew(t, c, workers)
			flood := func() (reached [4]int) {
				r.in(0, packet(10, 99, 26, 0), 100)
				r.poll()
				for i := range reached {
					reached[i] = len(r.out(i, 8))
				}
				r.poll()
				return reached
			}
			if got := flood(); got != [4]int{0, 1, 1, 0} {
				t.Fatalf("a flood reaches %v without the port", got)
			}
			for round := range 3 {
				r.occupy(3, (2+round)%workers)
				if st := r.stats(3); *st != (fabric.PortStats{LostAt: st.LostAt}) {
					t.Fatalf("round %d: the new port begins with %+v", round, st)
				}
				if got := flood(); got != [4]int{0, 1, 1, 1} {
					t.Fatalf("round %d: a flood reaches %v with the port", round, got)
				}
				r.in(3, packet(13, 10, 26, 0), 100)
				r.in(0, packet(10, 13, 26, 0), 100)
				r.poll()
				if a, b, c := len(r.out(0, 8)), len(r.out(3, 8)), len(r.out(1, 8)); a != 1 || b != 1 || c != 0 {
					t.Fatalf("round %d: %d, %d and %d frames leave, want one each way and none elsewhere", round, a, b, c)
				}
				for range 30 {
					r.in(3, packet(13, 10, 26, 0), 1000)
				}
				var f pfc.Frame
				if b := r.out(3, 8); len(b) != 1 || f.Decode(b[0]) != nil || f.Quanta[3] == 0 {
					t.Fatalf("round %d: the peer of the new port is not paused", round)
				}
				r.poll()
				r.reload(r.without(3))
				if slices.Contains(r.sw.Vacant(r.now), 3) {
					t.Fatalf("round %d: the place is vacant while 30 frames that came there wait", round)
				}
				again := r.sw.config
				again.Ports = slices.Clone(again.Ports)
				again.Ports[3] = PortConfig{MAC: mac(103), Link: fabric.Link{Rate: rate}}
				if _, err := r.sw.Prepare(again); !errors.Is(err, ErrPlace) {
					t.Fatalf("round %d: a port is added among the frames of the one before: %v", round, err)
				}
				if n := len(r.out(0, 64)); n != 30 {
					t.Fatalf("round %d: %d of 30 frames of the port that has gone leave", round, n)
				}
				if got := flood(); got != [4]int{0, 1, 1, 0} {
					t.Fatalf("round %d: a flood reaches %v when the port has gone", round, got)
				}
				r.in(0, packet(10, 13, 26, 0), 100) // 13 was forgotten
				r.poll()
				if a, b := len(r.out(1, 8)), len(r.out(2, 8)); a != 1 || b != 1 {
					t.Fatalf("round %d: an address of the port that has gone is known: %d and %d frames", round, a, b)
				}
				r.poll()
				r.audit()
			}
		})
	}
}

// A port goes while frames wait for it and its peer holds it paused, wherever they are between two workers: they hold
// no buffer any more, and the peers that waited for it are resumed at once. No frame of other ports is lost.
func TestPortGoesUnderLoad(t *testing.T) {
	for workers := 1; workers <= 3; workers++ {
		for _, polled := range []bool{false, true} {
			t.Run(fmt.Sprint(workers, polled), func(t *testing.T) {
				c := config(4)
				for i := range c.Ports {
					c.Ports[i].Worker = i % workers
				}
				r := newCrew(t, c, workers)
				r.in(3, pauseFrame(3, pfc.MaxQuanta), 60)
				r.in(0, packet(0, 2, 26, 0), 1000)
				for range 30 {
					r.in(0, packet(0, 3, 26, 0), 1000)
				}
				var f pfc.Frame
				if b := r.out(0, 8); len(b) != 1 || f.Decode(b[0]) != nil || f.Quanta[3] == 0 {
					t.Fatal("no XOFF")
				}
				if polled {
					r.poll()
				}
				without := r.without(3)
				without.Static = without.Static[:3]
				r.env = r.sw.ports[0].env
				r.env.SetDue(0, units.Never)
				r.reload(without)
				r.poll() // its worker finds out there
				b := r.out(0, 8)
				if r.env.Due(0) > r.now || len(b) != 1 || f.Decode(b[0]) != nil || f.Enable != lossless || f.Quanta[3] != 0 {
					t.Error("no XON when the port has gone for which frames of the peer waited")
				}
				if n := r.sw.Losses(); n != 30 {
					t.Errorf("%d frames are counted as lost that waited for the port, want 30", n)
				}
				if r.sw.Queued() != 1 || r.sw.Paused(3) != 0 {
					t.Errorf("%d frames wait", r.sw.Queued())
				}
				if n := len(r.out(2, 8)); n != 1 {
					t.Errorf("%d frames leave through another port", n)
				}
				r.poll()
				if got := r.sw.Vacant(r.now); !slices.Equal(got, []int{3}) {
					t.Errorf("vacant: %v", got)
				}
			})
		}
	}
}

// A port takes the place of one that has just gone, at another worker, and before any worker has looked: nothing that
// was for the one before comes out of it, wherever between two workers that was, nothing that still came through the
// one before is lost sight of, and its worker knows it.
func TestPortTakesThePlaceAtOnce(t *testing.T) {
	c := config(3)
	c.Ports[2].Worker = 1
	r := newCrew(t, c, 3)
	for range 2 * r.sw.workers[1].mostTaken() {
		r.in(0, packet(0, 2, 0, 0), 60)
	}
	r.sw.Poll(r.now, 0) // what worker 1 has not taken
	without := r.without(2)
	without.Static = without.Static[:2]
	old := r.sw.ports[2].env
	old.Wake(2, r.now)
	r.reload(without)
	if old.Due(2) != units.Never {
		t.Error("somebody is to serve a place where no port is")
	}
	r.in(2, packet(2, 0, 26, 0), 100) // a burst that was on its way
	r.occupy(2, 2)
	if st := r.stats(2); *st != (fabric.PortStats{LostAt: st.LostAt}) || !slices.Contains(r.sw.workers[2].ports, 2) {
		t.Errorf("the new port begins with %+v; worker 2 has %v", st, r.sw.workers[2].ports)
	}
	if n := r.sw.Losses(); n != 1 {
		t.Errorf("%d lossless frames are counted as lost, want the one that came when the port had gone", n)
	}
	for range 10 {
		r.poll()
	}
	if n := len(r.out(2, 64)); n != 0 || r.sw.Queued() != 0 {
		t.Errorf("%d frames for the port that has gone leave through the new one, %d wait", n, r.sw.Queued())
	}
}

// Packets that came through a port that goes, and wait for a neighbour, end there; those of other ports go on waiting
// and arrive. Where no port is nobody is asked, and one that comes back is asked for at once.
func TestPortGoesWhileItsPacketsWait(t *testing.T) {
	c := askingConfig()
	c.VLANs = []VLAN{{ID: 1, Untagged: []uint16{0, 1, 2}}}
	c.Static = nil
	for i := range c.Router.Routes {
		c.Router.Routes[i].Via[0] = NextHop{AnyPort: true, VLAN: 1, Address: c.Router.Routes[i].Via[0].Address}
	}
	c.Ports[0].Addresses, c.Ports[1].Addresses = c.Ports[1].Addresses, nil
	eachCrew(t, c, func(t *testing.T, r *rig) {
		gone := func(vacant bool) SwitchConfig {
			o := r.sw.config
			o.CP, o.Ports = nil, slices.Clone(o.Ports)
			o.VLANs = []VLAN{{ID: 1, Untagged: []uint16{0, 1, 2}}}
			if o.Ports[2] = c.Ports[2]; vacant {
				o.Ports[2] = PortConfig{Vacant: true}
				o.VLANs[0].Untagged = []uint16{0, 1}
			}
			return o
		}
		serve := func() (asked [3]map[string][]byte) {
			for range 3 {
				r.poll()
				for i := range asked {
					if !r.sw.config.Ports[i].Vacant {
						for to, b := range r.asks(i) {
							if asked[i] == nil {
								asked[i] = map[string][]byte{}
							}
							asked[i][to] = b
						}
					}
				}
			}
			return asked
		}
		first := serve()
		r.in(0, numbered("10.2.0.9", 1), 120)
		r.in(2, numbered("10.2.0.9", 2), 120)
		r.in(2, numbered("10.2.0.9", 3), 120)
		r.reload(gone(true))
		if n := r.discarded(fabric.DropNeighbour); r.sw.Queued() != 1 || r.sw.Losses() != 0 {
			t.Errorf("%d packets wait, %d are discarded", r.sw.Queued(), n)
		}
		r.audit()
		if got := r.sw.Vacant(r.now); !slices.Equal(got, []int{2}) {
			t.Errorf("vacant: %v", got)
		}
		r.in(1, answerTo(first[1]["10.2.0.2"], mac(50)), 60)
		r.in(0, numbered("10.2.0.9", 4), 120) // its worker hears of it now at the latest
		r.poll()
		if n := len(r.out(1, 8)); n != 2 {
			t.Errorf("%d packets arrive at the neighbour, want 2", n)
		}
		r.now += units.Second
		r.reload(gone(false))
		if asked := serve(); asked[2]["10.2.0.2"] != nil {
			t.Error("a neighbour that is known is asked for at a port that was added")
		}
		r.in(2, answerTo(first[2]["10.2.0.2"], mac(50)), 60) // it has moved there
		r.reload(gone(true))
		if asked := serve(); asked[1]["10.2.0.2"] == nil || asked[0]["10.2.0.2"] == nil {
			t.Error("a neighbour that was at a port that has gone is not asked for elsewhere at once")
		}
	})
}

// A port may go, with its worker's last, before the worker has heard that a neighbour went for which packets wait there.
func TestPortGoesAfterTheNeighbourOfItsPackets(t *testing.T) {
	c := askingConfig()
	c.Static = nil
	eachCrew(t, c, func(t *testing.T, r *rig) {
		r.in(2, numbered("10.2.0.9", 1), 120)
		o := r.sw.config
		o.CP, o.Router.Routes = nil, nil
		r.reload(o)
		r.reload(r.without(2))
		if n := r.discarded(fabric.DropNeighbour); r.sw.Queued() != 0 || n != 0 || !slices.Contains(r.sw.Vacant(r.now), 2) {
			t.Errorf("%d packets wait, %d are discarded at ports that stay; vacant: %v", r.sw.Queued(), n, r.sw.Vacant(r.now))
		}
	})
}

// What cannot be is one line, and changes nothing.
func TestPlacesThatAreRefused(t *testing.T) {
	c := placed(2)
	r := newRig(t, c)
	for what, spoil := range map[string]func(*SwitchConfig){
		"a VLAN of a vacant place": func(o *SwitchConfig) { o.VLANs = []VLAN{{ID: 1, Untagged: []uint16{0, 2}}} },
		"an address at a vacant place": func(o *SwitchConfig) {
			o.Static = []StaticEntry{{MAC: mac(9), Ports: []uint16{2}}}
		},
		"a worker that is not there": func(o *SwitchConfig) {
			o.Ports[2] = PortConfig{Link: fabric.Link{Rate: rate}, Worker: 1}
		},
		"more than the buffer has for it": func(o *SwitchConfig) {
			o.Ports[2] = PortConfig{Link: fabric.Link{Rate: rate}, Headroom: 2 * units.MB}
		},
		"one place more":                  func(o *SwitchConfig) { o.Ports = append(o.Ports, PortConfig{Vacant: true}) },
		"another link where there is one": func(o *SwitchConfig) { o.Ports[1].Link.Rate++ },
		"a static entry at one that goes": func(o *SwitchConfig) {
			o.Ports[1] = PortConfig{Vacant: true}
			o.Static = []StaticEntry{{MAC: mac(9), Ports: []uint16{1}}}
		},
		"a flood limit that is not one": func(o *SwitchConfig) {
			o.Ports[2] = PortConfig{Flood: FloodLimits{Broadcast: FloodLimit{Frames: -1}}}
		},
		"another address where there is one": func(o *SwitchConfig) { o.Ports[1].MAC++ },
	} {
		o := c
		o.Ports = slices.Clone(c.Ports)
		spoil(&o)
		before := fmt.Sprintf("%+v %p", r.sw.config.Ports, r.sw.lans)
		if _, err := r.sw.Prepare(o); err == nil {
			t.Errorf("%s: no error", what)
		}
		if after := fmt.Sprintf("%+v %p", r.sw.config.Ports, r.sw.lans); after != before {
			t.Errorf("%s: it has changed something", what)
		}
	}
	if _, err := r.sw.PrepareLink(2, LinkState{Up: true}); err == nil {
		t.Error("a place without a port has a link")
	}
}

// Ports come and go, are shut and opened, and the configuration changes, in any order, beside lossless traffic
// between two ports that stay: of that nothing is lost, and it stays in order. Every frame is accounted for at any
// time.
func TestPortsComeAndGo(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const stay, places = 2, 6
		workers := rapid.IntRange(1, 3).Draw(rt, "workers")
		c := config(stay)
		c.Learn = true
		if rapid.Bool().Draw(rt, "alpha") {
			c.PFC[3].Alpha = 0.25
		}
		for i := range c.Ports {
			c.Ports[i].Worker = i % workers
		}
		for len(c.Ports) < places {
			c.Ports = append(c.Ports, PortConfig{Vacant: true})
		}
		c.Pause = rapid.SampledFrom([]units.Time{0, 50 * us}).Draw(rt, "pause")
		r := newCrew(t, c, workers)
		there := func(i int) bool { return !r.sw.config.Ports[i].Vacant }
		stopped := [places]bool{} // by our XOFF, as their peers see it
		sent, next := uint32(0), uint32(0)
		drain := func(port, n int) {
			for _, b := range r.out(port, n) {
				var f pfc.Frame
				switch {
				case wire.MACAt(b) == 0x0180C2000001:
					if f.Decode(b) == nil && f.Enable&lossless != 0 {
						stopped[port] = f.Quanta[3] != 0
					}
				case port == 1 && wire.BTH(b[42:]).PSN() >= 1<<20:
					if want := 1<<20 + next; wire.BTH(b[42:]).PSN() != want {
						rt.Fatalf("frame %d leaves, want %d", wire.BTH(b[42:]).PSN(), want)
					}
					next++
				}
			}
		}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			r.now += us
			i := rapid.IntRange(0, places-1).Draw(rt, "port")
			switch what := rapid.IntRange(0, 9).Draw(rt, "what"); {
			case what <= 2: // the traffic that is to be safe
				for range rapid.IntRange(1, 30).Draw(rt, "frames") {
					if drain(0, 1); stopped[0] {
						break
					}
					b := packet(0, 1, 26, 0)
					wire.BTH(b[42:]).SetPSN(1<<20+sent, false)
					r.in(0, b, 1000)
					sent++
				}
			case what <= 4 && there(i): // any other
				for range rapid.IntRange(1, 30).Draw(rt, "frames") {
					if drain(i, 1); stopped[i] {
						break
					}
					dscp := rapid.SampledFrom([]uint8{0, 26}).Draw(rt, "dscp")
					r.in(i, packet(10+i, rapid.IntRange(8, 17).Draw(rt, "to"), dscp, wire.ECT0), 700)
				}
			case what == 5 && there(i):
				drain(i, 20)
			case what == 6 && i >= stay && there(i):
				o := r.without(i)
				o.Tail = units.Size(rapid.IntRange(2000, 30_000).Draw(rt, "tail"))
				ch, err := r.sw.Prepare(o)
				if err != nil {
					rt.Fatal(err)
				}
				r.sw.Apply(r.now, ch)
				stopped[i] = false
			case what == 7 && i >= stay && slices.Contains(r.sw.Vacant(r.now), i):
				r.occupy(i, rapid.IntRange(0, workers-1).Draw(rt, "worker"))
			case what == 8 && i >= stay && there(i):
				up, shut := rapid.Bool().Draw(rt, "up"), rapid.Bool().Draw(rt, "shut")
				ch, err := r.sw.PrepareLink(i, LinkState{Up: up, Shut: shut})
				if err != nil {
					rt.Fatal(err)
				}
				r.sw.SetLink(r.now, ch)
			case what == 9 && there(i):
				r.in(i, pauseFrame(3, uint16(rapid.IntRange(0, 100).Draw(rt, "quanta"))), 60)
			}
			if rapid.Bool().Draw(rt, "poll") {
				r.poll()
			}
			if err := r.sw.Audit(); err != nil {
				rt.Fatal(err)
			}
			for i := range places { // however often ports came and went, its worker looks after each once
				n := 0
				for _, w := range r.sw.workers {
					n += len(w.ports) - len(slices.DeleteFunc(slices.Clone(w.ports), func(p int) bool { return p == i }))
				}
				if n > 1 || there(i) && (n != 1 || !slices.Contains(r.sw.ports[i].worker.ports, i)) {
					rt.Fatalf("port %d is served %d times, not once by worker %d", i, n, r.sw.ports[i].worker.number)
				}
			}
		}
		r.in(1, pauseFrame(3, 0), 60)
		for range 100 {
			r.now += us
			r.poll()
			for i := range places {
				if there(i) {
					drain(i, 64)
				}
			}
		}
		if next != sent {
			rt.Fatalf("%d of %d frames between the ports that stay arrived", next, sent)
		}
		for i := range places {
			if !there(i) && !slices.Contains(r.sw.Vacant(r.now), i) {
				rt.Fatalf("place %d is never vacant", i)
			}
		}
		if err := r.sw.Audit(); err != nil {
			rt.Fatal(err)
		}
	})
}
