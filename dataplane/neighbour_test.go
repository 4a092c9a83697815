package dataplane

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"photon/fabric"
	"photon/neighbour"
	"photon/units"
	"photon/wire"
)

// inVLAN20 is a next hop that is asked at all ports of VLAN 20.
func inVLAN20(address string) NextHop {
	return NextHop{AnyPort: true, VLAN: 20, Address: netip.MustParseAddr(address)}
}

// askingConfig is a router whose neighbours behind port 1, 10.2.0.2 and fd00:2::2, are known by their addresses.
func askingConfig() SwitchConfig {
	c := config(3)
	c.CP = nil
	c.Router = Router{MAC: routerMAC, Addresses: []netip.Addr{netip.MustParseAddr("10.9.0.1"), netip.MustParseAddr("fd00:9::1")}}
	c.Router.ICMP = ICMP{Rate: 1000, Burst: 1000, DSCP: 48}
	c.Ports[1].Addresses = []netip.Addr{netip.MustParseAddr("10.2.0.1"), netip.MustParseAddr("fd00:2::1")}
	for p, via := range map[string]string{"10.2.0.0/16": "10.2.0.2", "fd00:2::/64": "fd00:2::2"} {
		c.Router.Routes = append(c.Router.Routes, Route{Prefix: prefix(p), Via: []NextHop{{Port: 1, Address: netip.MustParseAddr(via)}}})
	}
	return c
}

// answerTo is what a station answers to a question of the switch.
func answerTo(question []byte, from wire.MAC) []byte {
	b := slices.Clone(question)
	copy(b, question[6:12])
	from.Put(b[6:])
	if binary.BigEndian.Uint16(b[12:]) == wire.TypeARP {
		wire.AnswerARP(b[14:], from)
	} else {
		wire.Advertise(b[14:], from)
	}
	return b
}

// asks takes what a port sends, which are questions, by the address for which they ask.
func (r *rig) asks(port int) map[string][]byte {
	r.t.Helper()
	all := map[string][]byte{}
	for _, b := range r.out(port, 10) {
		b = b[:min(len(b), wire.SolicitLen)]
		if target, ok := wire.ARPTarget(b[14:]); ok && binary.BigEndian.Uint16(b[12:]) == wire.TypeARP {
			all[target.String()] = b[:wire.MinFrameLen]
		} else if target, ok := wire.SolicitationTarget(b[14:], len(b)-14); ok {
			all[target.String()] = b
		} else {
			r.t.Fatalf("no question: % x", b)
		}
	}
	return all
}

// numbered is a packet that tells which it is.
func numbered(dst string, n int) []byte {
	b := ip(map[bool]string{true: "10.1.0.9", false: "fd00:1::9"}[dst[0] == '1'], dst, 120)
	if dst[0] == '1' {
		b[19] = byte(n)
		wire.SetIPv4Checksum(b[14:])
	} else {
		b[17] = byte(n)
	}
	return b
}

func eachCrew(t *testing.T, c SwitchConfig, do func(t *testing.T, r *rig)) {
	for workers := 1; workers <= 3; workers++ {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			c := c
			c.Ports = slices.Clone(c.Ports)
			for i := range c.Ports {
				c.Ports[i].Worker = i % workers
			}
			do(t, newCrew(t, c, workers))
		})
	}
}

func (r *rig) discarded(why fabric.Reason) (n uint64) {
	for p := range r.sw.ports {
		for _, x := range r.stats(p).Discards[why] {
			n += x
		}
	}
	return n
}

// Packets wait, in order, until their next hop has said where it is, and go there when it moves.
func TestPacketsWaitForTheirNeighbour(t *testing.T) {
	eachCrew(t, askingConfig(), func(t *testing.T, r *rig) {
		questions := r.asks(1)
		for next, dst := range map[string]string{"10.2.0.2": "10.2.7.7", "fd00:2::2": "fd00:2::77"} {
			q := questions[next]
			if q == nil || wire.MACAt(q[6:]) != routerMAC || !wire.MACAt(q).Multicast() {
				t.Fatalf("%s: asked % x", next, q)
			}
			for i := range 10 {
				r.in(i%2*2, numbered(dst, i), 120)
			}
			if r.poll(); len(r.out(1, 20)) != 0 || r.sw.Queued() != 10 {
				t.Fatalf("%s: %d wait", next, r.sw.Queued())
			}
			for _, n := range r.sw.Neighbours() {
				if want := map[bool]int{true: 10}[n.Address.String() == next]; n.Waiting != want {
					t.Errorf("%s: %d wait for %v", next, n.Waiting, n.Address)
				}
			}
			r.audit()
			r.in(1, answerTo(q, mac(77)), len(q))
			r.poll()
			r.poll()
			got := r.out(1, 20)
			last := [2]int{-1, -1}
			for _, b := range got {
				n := int(b[17])
				if next[0] == '1' {
					n = int(b[19])
				}
				if wire.MACAt(b) != mac(77) || wire.MACAt(b[6:]) != routerMAC || n <= last[n%2] || !wire.HeaderOK(b[14:], 106) {
					t.Errorf("%s: % x after %v", next, b[:40], last)
				}
				last[n%2] = n
			}
			if len(got) != 10 || r.sw.Queued() != 0 {
				t.Fatalf("%s: %d leave, %d stay", next, len(got), r.sw.Queued())
			}
			r.in(1, answerTo(q, mac(78)), len(q)) // it has another card
			r.poll()
			r.in(0, numbered(dst, 3), 120)
			r.poll()
			if got := r.out(1, 20); len(got) != 1 || wire.MACAt(got[0]) != mac(78) {
				t.Errorf("%s: % x", next, got)
			}
		}
		if n := r.discarded(fabric.DropNeighbour); n != 0 {
			t.Errorf("%d discarded", n)
		}
		if all := r.sw.Neighbours(); len(all) != 2 || all[0].MAC != mac(78) || all[0].State != "reachable" || all[0].Port != 1 {
			t.Errorf("%+v", all)
		}
	})
}

// To a neighbour that is silent three questions go, a second apart. What waits is bounded, and the senders of what is
// discarded are told. Then it is asked seldom, or as soon as somebody wants it, and it may come of itself.
func TestNeighbourThatIsSilent(t *testing.T) {
	eachCrew(t, askingConfig(), func(t *testing.T, r *rig) {
		q := r.asks(1)["10.2.0.2"]
		for i := range 100 {
			r.in(0, numbered("10.2.7.7", i), 120)
		}
		if r.sw.Queued() != maxWaiting || r.discarded(fabric.DropNeighbour) != 100-maxWaiting {
			t.Errorf("%d wait, %d discarded", r.sw.Queued(), r.discarded(fabric.DropNeighbour))
		}
		for i := range 3 {
			if r.sw.Next(r.now, 1) != r.now+units.Second {
				t.Fatalf("next at %v", r.sw.Next(r.now, 1))
			}
			r.now += units.Second
			if got := r.asks(1)["10.2.0.2"]; (got != nil) != (i < 2) {
				t.Errorf("after %d s: asked % x", i+1, got)
			}
			r.poll()
		}
		if st := r.stats(0); r.sw.Neighbours()[0].Waiting+r.sw.Neighbours()[1].Waiting != 0 || r.discarded(fabric.DropNeighbour) != 100 || st.ICMPSent != maxWaiting {
			t.Errorf("%d wait, %d discarded, %d told", r.sw.Queued(), r.discarded(fabric.DropNeighbour), st.ICMPSent)
		}
		if out := r.out(0, 200); len(out) != maxWaiting || out[0][34] != 3 || out[0][35] != 1 {
			t.Errorf("%d errors, the first % x", len(out), out[:min(1, len(out))])
		}
		for i := range 2 { // what has waited wants it once more
			r.now += units.Second
			if got := r.asks(1)["10.2.0.2"]; (got != nil) != (i == 0) {
				t.Errorf("asked % x", got)
			}
		}
		r.in(0, numbered("10.2.7.7", 1), 120)
		r.now += units.Second
		if got := r.asks(1)["10.2.0.2"]; got == nil || r.discarded(fabric.DropNeighbour) != 101 {
			t.Error("it is not asked although it is wanted")
		}
		for _, n := range r.sw.Neighbours() {
			if n.Address.Is4() && (n.State != "failed" || n.Failures != 1 || n.Requests != 5) {
				t.Errorf("%+v", n)
			}
		}
		if n := r.sw.Stats(r.now).NeighbourFailures; n != 2 {
			t.Errorf("%d failures of two neighbours that have failed once", n)
		}
		r.in(1, answerTo(q, mac(77)), len(q))
		r.poll()
		r.in(0, numbered("10.2.7.7", 1), 120)
		r.poll()
		if got := r.out(1, 9); len(got) != 1 || wire.MACAt(got[0]) != mac(77) {
			t.Errorf("% x", got)
		}
	})
}

// A neighbour that answers is asked again after a while, at its own address. One that does not is asked for
// everywhere, and packets wait.
func TestNeighbourIsProbed(t *testing.T) {
	eachCrew(t, askingConfig(), func(t *testing.T, r *rig) {
		q := r.asks(1)
		for _, b := range q {
			r.in(1, answerTo(b, mac(77)), len(b))
		}
		r.now += units.Second
		if got := r.asks(1); len(got) != 0 {
			t.Errorf("asked %v", got)
		}
		for lap := range 2 {
			r.now += neighbour.ReachableTime
			if lap == 1 {
				r.sw.Rebase(r.now - units.Second)
				r.now = units.Second
			}
			for _, b := range r.asks(1) {
				if wire.MACAt(b) != mac(77) {
					t.Errorf("asked % x", b)
				}
				r.in(1, answerTo(b, mac(77)), len(b))
			}
			r.now += units.Second
			if got := r.asks(1); len(got) != 0 {
				t.Errorf("asked %v", got)
			}
		}
		r.now += neighbour.ReachableTime
		for i := range 4 {
			for _, b := range r.asks(1) {
				if wire.MACAt(b).Multicast() != (i == 3) {
					t.Errorf("question %d: % x", i, b)
				}
			}
			r.now += units.Second
		}
		r.poll()
		if r.in(0, numbered("10.2.7.7", 1), 120); r.sw.Queued() != 1 {
			t.Errorf("%d wait", r.sw.Queued())
		}
	})
}

// A switch that ends gives back what waits in it.
func TestNeighboursClose(t *testing.T) {
	c, m := askingConfig(), newMemory(1<<12)
	env := fabric.NewEnv(m.pool(), len(c.Ports))
	sw, err := NewSwitch(c, []*fabric.Env{env})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, sw: sw, env: env}
	r.asks(1)
	for i := range 100 {
		r.in(0, numbered("10.2.7.7", i), 120)
	}
	if sw.Queued() != maxWaiting {
		t.Errorf("%d wait", sw.Queued())
	}
	r.audit()
	if sw.Close(); len(m.free)+len(env.Slots()) != m.slots || sw.Queued() != 0 {
		t.Errorf("%d of %d buffers, %d wait", len(m.free)+len(env.Slots()), m.slots, sw.Queued())
	}
}

// Of equal hops those that do not answer are left out. A reload that names another next hop sends there what has
// waited, and one that keeps a neighbour keeps what is known of it.
func TestNeighboursAndReloads(t *testing.T) {
	c := askingConfig()
	other := netip.MustParseAddr("10.2.0.3")
	for i := range c.Router.Routes {
		if r := &c.Router.Routes[i]; r.Prefix.Addr().Is4() {
			r.Via = append(r.Via, NextHop{Port: 1, Address: other})
		}
	}
	eachCrew(t, c, func(t *testing.T, r *rig) {
		q := r.asks(1)
		send := func() {
			for i := range 40 {
				b := numbered("10.2.7.7", 0)
				binary.BigEndian.PutUint16(b[34:], uint16(i*997))
				r.in(i%3, b, 120)
			}
			r.poll()
		}
		to := func() (n [100]int) {
			r.poll()
			for _, b := range r.out(1, 200) {
				if binary.BigEndian.Uint16(b[12:]) == wire.TypeIPv4 {
					n[b[5]]++
				}
			}
			return n
		}
		r.in(1, answerTo(q["10.2.0.2"], mac(77)), 60)
		r.poll()
		send()
		waiting := r.sw.Queued()
		if n := to(); waiting == 0 || n[77] == 0 || n[77]+r.sw.Queued() != 40 {
			t.Fatalf("%d wait, %v", waiting, n)
		}
		fresh := r.sw.config
		fresh.Router.Routes = []Route{{Prefix: prefix("10.2.0.0/16"), Via: []NextHop{{Port: 1, Address: netip.MustParseAddr("10.2.0.2")}}}}
		r.takeOver(fresh)
		if n := to(); n[77]+int(r.discarded(fabric.DropNeighbour)) != 40-0 && r.sw.Queued() != 0 {
			t.Errorf("%v, %d wait", n, r.sw.Queued())
		}
		fresh.Router.Routes = c.Router.Routes
		r.takeOver(fresh)
		for range 5 {
			r.asks(1)
			r.now += units.Second
			r.in(1, answerTo(q["10.2.0.2"], mac(77)), 60)
			r.poll()
		}
		if send(); to()[77] != 40 {
			t.Errorf("%+v", r.sw.Neighbours())
		}
		for range 40 { // there is no neighbour, then no route
			r.asks(1)
			r.now += units.Second
		}
		send()
		fresh.Router = Router{}
		for i := range fresh.Ports {
			fresh.Ports[i].Addresses = nil
		}
		r.takeOver(fresh)
		if to(); r.sw.Queued() != 0 {
			t.Errorf("%d wait", r.sw.Queued())
		}
	})
}

func (r *rig) takeOver(c SwitchConfig) {
	r.t.Helper()
	c.Ports = slices.Clone(c.Ports)
	ch, err := r.sw.Prepare(c)
	if err != nil {
		r.t.Fatal(err)
	}
	r.sw.Apply(r.now, ch)
	r.audit()
	for p := range r.sw.ports {
		if r.sw.Next(r.now, p) <= r.now {
			break
		}
	}
	r.poll()
}

// A neighbour in a VLAN is asked for at all of its ports, in the form of each, and is where the answer comes from.
// When that port has no link it is asked for again.
func TestNeighbourInAVLAN(t *testing.T) {
	c := askingConfig()
	c.Static = nil
	c.VLANs = []VLAN{{ID: 10, Untagged: []uint16{0}}, {ID: 20, Untagged: []uint16{1}, Tagged: []uint16{2}}}
	c.Router.Routes = []Route{{Prefix: prefix("10.2.0.0/16"), Via: []NextHop{inVLAN20("10.2.0.2")}}}
	eachCrew(t, c, func(t *testing.T, r *rig) {
		q := r.asks(1)["10.2.0.2"]
		r.poll()
		tagged := r.out(2, 5)
		if q == nil || len(tagged) != 1 || binary.BigEndian.Uint16(tagged[0][14:])&wire.VLANID != 20 || wire.MACAt(tagged[0][26:32]) != routerMAC {
			t.Fatalf("asked % x and % x", q, tagged)
		}
		r.in(0, numbered("10.2.7.7", 1), 120)
		b := answerTo(q, mac(77))
		b = slices.Concat(b[:12], []byte{0x81, 0, 0, 20}, b[12:])
		r.in(2, b, len(b))
		r.poll()
		r.poll()
		if got := r.out(2, 5); len(got) != 1 || wire.MACAt(got[0]) != mac(77) || binary.BigEndian.Uint16(got[0][14:])&wire.VLANID != 20 {
			t.Fatalf("% x", got)
		}
		r.now += units.Second
		r.asks(1)
		r.now += neighbour.ReachableTime
		elsewhere := len(r.out(1, 5))
		r.poll()
		if got := r.out(2, 5); len(got) != 1 || wire.MACAt(got[0]) != mac(77) || elsewhere != 0 {
			t.Errorf("asked again at its port % x, elsewhere %d times", got, elsewhere)
		}
		r.in(2, b, len(b))
		ch, err := r.sw.PrepareLink(2, LinkState{})
		if err != nil {
			t.Fatal(err)
		}
		r.sw.SetLink(r.now, ch)
		r.poll()
		if r.asks(1)["10.2.0.2"] == nil || r.sw.Neighbours()[0].State != "incomplete" || r.sw.Neighbours()[0].Port != noPort {
			t.Errorf("%+v", r.sw.Neighbours())
		}
		if n := r.discarded(fabric.DropLink); n != 0 {
			t.Errorf("%d questions are for a port without a link", n)
		}
	})
}

// A question comes from the address that the router has in the neighbour's VLAN, with its tag and the priority of
// what the switch itself says. Answers in another VLAN do not count.
func TestQuestionsAreOfTheirVLAN(t *testing.T) {
	c := askingConfig()
	c.Static, c.Ports[1].Addresses = nil, nil
	c.VLANs = []VLAN{
		{ID: 10, Untagged: []uint16{0, 1}, Addresses: []netip.Addr{netip.MustParseAddr("10.2.0.1")}},
		{ID: 20, Tagged: []uint16{1}, Addresses: []netip.Addr{netip.MustParseAddr("172.16.0.1")}},
	}
	via := inVLAN20("10.2.0.2")
	c.Router.Routes = []Route{{Prefix: prefix("10.2.0.0/16"), Via: []NextHop{via}}}
	r := newRig(t, c)
	got := r.out(1, 9)
	if len(got) != 1 {
		t.Fatalf("asked %d times", len(got))
	}
	q := got[0]
	if tci, ok := wire.VLANTag(q); !ok || tci != uint16(c.Control)<<13|20 {
		t.Errorf("the question's tag is %#x", tci)
	}
	if from := netip.AddrFrom4([4]byte(q[32:36])); from.String() != "172.16.0.1" {
		t.Errorf("the question is from %v", from)
	}
	q = slices.Concat(q[:12], q[16:])
	b := answerTo(q, mac(77))
	r.in(1, b, len(b))
	if n := r.sw.Neighbours()[0]; n.State != "incomplete" {
		t.Errorf("an answer in another VLAN counts: %+v", n)
	}
	b = withTag(answerTo(q, routerMAC), 20)
	r.in(1, b, len(b))
	if n := r.sw.Neighbours()[0]; n.State != "incomplete" {
		t.Errorf("an answer with the router's own address counts: %+v", n)
	}
	b = withTag(answerTo(q, mac(77)), 20)
	r.in(1, b, len(b))
	if n := r.sw.Neighbours()[0]; n.State != "reachable" || n.MAC != mac(77) || n.Port != 1 {
		t.Errorf("the answer does not count: %+v", n)
	}
}

// A neighbour that has failed is asked at once when its port has a link again.
func TestFailedNeighbourAfterALink(t *testing.T) {
	r := newRig(t, askingConfig())
	for range neighbour.MaxRequests + 2 {
		r.asks(1)
		r.now += units.Second
	}
	if n := r.sw.Neighbours()[0]; n.State != "failed" {
		t.Fatalf("%+v", n)
	}
	r.link(1, false)
	r.link(1, true)
	if got := r.asks(1); len(got) != 2 {
		t.Errorf("asked %v", got)
	}
	for _, n := range r.sw.Neighbours() {
		if n.State != "incomplete" {
			t.Errorf("%+v", n)
		}
	}
}

// What is discarded because too much waits is of the port through which it came.
func TestWhatWaitedTooLongIsOfItsPort(t *testing.T) {
	r := newRig(t, askingConfig())
	r.asks(1)
	r.in(0, numbered("10.2.7.7", 0), 120)
	for i := range maxWaiting {
		r.in(2, numbered("10.2.7.7", i), 120)
	}
	for port, want := range []uint64{1, 0, 0} {
		got := uint64(0)
		for _, n := range r.stats(port).Discards[fabric.DropNeighbour] {
			got += n
		}
		if got != want {
			t.Errorf("%d are discarded of port %d, want %d", got, port, want)
		}
	}
}

// serveDue has each port be served that says it is due.
func (r *rig) serveDue() {
	for p := range r.sw.ports {
		if r.sw.Next(r.now, p) <= r.now {
			r.out(p, 200)
		}
	}
	r.poll()
}

// Nothing waits for a neighbour behind a port that has lost its link, or for one of which no route is left: that it is
// not there is known at once, although no other frame comes.
func TestNothingWaitsInVain(t *testing.T) {
	for what, change := range map[string]func(*rig){
		"without a link": func(r *rig) { r.link(1, false) },
		"without a route": func(r *rig) {
			c := r.sw.config
			c.Router.Routes = nil
			r.takeOver(c)
		},
		"without a router": func(r *rig) {
			c := r.sw.config
			c.Router, c.Ports = Router{}, slices.Clone(c.Ports)
			c.Ports[1].Addresses = nil
			r.takeOver(c)
		},
	} {
		t.Run(what, func(t *testing.T) {
			eachCrew(t, askingConfig(), func(t *testing.T, r *rig) {
				r.asks(1)
				for i := range 6 {
					r.in(i%2*2, numbered("10.2.7.7", i), 120)
				}
				change(r)
				r.serveDue()
				waiting := 0
				for _, w := range r.sw.workers {
					waiting += w.waits
				}
				lost := uint64(0)
				for why := range r.stats(0).Discards {
					lost += r.discarded(fabric.Reason(why))
				}
				if waiting != 0 || lost != 6 {
					t.Errorf("%d wait, %d are discarded", waiting, lost)
				}
			})
		})
	}
}

// What cannot be of a next hop is refused.
func TestNeighbourMistakes(t *testing.T) {
	for want, change := range map[string]func(*SwitchConfig, *NextHop){
		"224.0.0.1: that is no neighbour's address":  func(_ *SwitchConfig, v *NextHop) { v.Address = netip.MustParseAddr("224.0.0.1") },
		"10.9.0.1: that is no neighbour's address":   func(_ *SwitchConfig, v *NextHop) { v.Address = netip.MustParseAddr("10.9.0.1") },
		"fd00::7: a route has next hops of its own":  func(_ *SwitchConfig, v *NextHop) { v.Address = netip.MustParseAddr("fd00::7") },
		"there is no port 9":                         func(_ *SwitchConfig, v *NextHop) { v.Port = 9 },
		"a next hop at any port needs a VLAN":        func(_ *SwitchConfig, v *NextHop) { v.AnyPort = true },
		"no address of that version of IP from whic": func(c *SwitchConfig, _ *NextHop) { c.Router.Addresses, c.Ports[1].Addresses = nil, nil },
	} {
		c := askingConfig()
		c.Router.Routes = []Route{{Prefix: prefix("10.2.0.0/16"), Via: []NextHop{{Port: 1, Address: netip.MustParseAddr("10.2.0.2")}}}}
		change(&c, &c.Router.Routes[0].Via[0])
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
