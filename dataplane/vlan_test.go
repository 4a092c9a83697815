package dataplane

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"photon/fabric"
	"photon/marking"
	"photon/units"
	"photon/wire"
)

// withTag puts an 802.1Q tag on a frame.
func withTag(b []byte, tci uint16) []byte {
	b = slices.Concat(make([]byte, wire.VLANLen), b)
	wire.PushVLANTag(b, tci)
	return b
}

// vlanConfig is a switch of five ports: 0 and 1 in VLAN 10, 2 in VLAN 20, 3 a
// trunk of both, 4 in VLAN 10 with VLAN 20 tagged. Nobody is known.
func vlanConfig() SwitchConfig {
	c := config(5)
	c.Static, c.Learn, c.Age = nil, true, 300*units.Second
	c.VLANs = []VLAN{{ID: 10, Untagged: []uint16{0, 1, 4}, Tagged: []uint16{3}}, {ID: 20, Untagged: []uint16{2}, Tagged: []uint16{3, 4}}}
	return c
}

// send lets a frame of a length arrive and returns what each port sends.
func (r *rig) send(port int, b []byte, length int) (out [5][][]byte) {
	r.t.Helper()
	r.in(port, b, length)
	for p := range r.sw.ports {
		out[p] = r.out(p, 8)
	}
	if err := r.sw.Audit(); err != nil {
		r.t.Fatal(err)
	}
	return out
}

// A frame goes to the ports of its VLAN, to each in its form, and to no other.
func TestVLANs(t *testing.T) {
	plain := packet(0, 9, 26, wire.ECT0)
	for _, c := range []struct {
		name  string
		in    int
		frame []byte
		out   [5][]byte // nil: nothing
		why   fabric.Reason
	}{
		{"access", 0, plain, [5][]byte{1: plain, 3: withTag(plain, 3<<13|10), 4: plain}, 0},
		{"access of the other", 2, plain, [5][]byte{3: withTag(plain, 3<<13|20), 4: withTag(plain, 3<<13|20)}, 0},
		{"a priority only", 0, withTag(plain, 5<<13), [5][]byte{1: plain, 3: withTag(plain, 5<<13|10), 4: plain}, 0},
		{"trunk", 3, withTag(plain, 6<<13|1<<12|10), [5][]byte{0: plain, 1: plain, 4: plain}, 0},
		{"trunk to tagged", 3, withTag(plain, 20), [5][]byte{2: plain, 4: withTag(plain, 20)}, 0},
		{"hybrid", 4, plain, [5][]byte{0: plain, 1: plain, 3: withTag(plain, 3<<13|10)}, 0},
		{"hybrid, tagged", 4, withTag(plain, 20), [5][]byte{2: plain, 3: withTag(plain, 20)}, 0},
		{"a trunk has no VLAN for frames without tag", 3, plain, [5][]byte{}, fabric.DropVLAN},
		{"nor for those with a priority only", 3, withTag(plain, 3<<13), [5][]byte{}, fabric.DropVLAN},
		{"its own VLAN, with its tag: an access port takes none", 1, withTag(plain, 10), [5][]byte{}, fabric.DropVLAN},
		{"not the port's", 0, withTag(plain, 20), [5][]byte{}, fabric.DropVLAN},
		{"nobody's", 3, withTag(plain, 30), [5][]byte{}, fabric.DropVLAN},
		{"reserved", 3, withTag(plain, 4095), [5][]byte{}, fabric.DropVLAN},
	} {
		r := newRig(t, vlanConfig())
		got := r.send(c.in, c.frame, 500)
		for p, want := range c.out {
			if (len(got[p]) == 1) != (want != nil) || len(got[p]) > 1 {
				t.Errorf("%s: %d frames at port %d", c.name, len(got[p]), p)
			} else if want != nil && !bytes.HasPrefix(got[p][0], want) {
				t.Errorf("%s: port %d sends\n% x\nwant\n% x", c.name, p, got[p][0], want)
			}
		}
		st := r.stats(c.in)
		if discarded := st.Discarded(); (discarded != [8]uint64{}) != (c.why != 0) || c.why != 0 && st.Discards[c.why] != discarded {
			t.Errorf("%s: discards %v", c.name, st.Discards)
		}
		if st.RxBytes[3] != 500 {
			t.Errorf("%s: %d bytes received", c.name, st.RxBytes[3])
		}
	}
}

// A tag adds to what is counted where it is, and to nothing else; a frame that is
// too short without it is padded; the longest frame passes in either form.
func TestVLANLengths(t *testing.T) {
	r := newRig(t, vlanConfig())
	plain := packet(0, 9, 26, wire.ECT0)
	if r.send(0, plain, 1514); r.stats(3).TxBytes[3] != 1518 || r.stats(1).TxBytes[3] != 1514 {
		t.Errorf("%d and %d bytes sent", r.stats(3).TxBytes[3], r.stats(1).TxBytes[3])
	}
	if r.send(0, plain, 1515); r.stats(0).Discards[fabric.DropOversize][3] != 1 {
		t.Error("a frame that would be too long with its tag")
	}
	r.send(3, withTag(plain, 10), 1518)
	if r.send(3, withTag(plain, 10), 1519); r.stats(3).Discards[fabric.DropOversize][3] != 1 {
		t.Error("the longest frame, and one that is too long")
	}
	short := withTag(packet(0, 9, 26, wire.ECT0), 10)[:60]
	if got := r.send(3, short, 60)[0]; len(got) != 1 || len(got[0]) != 60 || !bytes.Equal(got[0][:56], slices.Concat(short[:12], short[16:])) || !bytes.Equal(got[0][56:], make([]byte, 4)) {
		t.Errorf("a short frame leaves as % x", got)
	}
}

// The same address may be elsewhere in another VLAN; what moves in one does not in
// the other. Static addresses are of one VLAN.
func TestVLANsLearnApart(t *testing.T) {
	c := vlanConfig()
	c.Static = []StaticEntry{{MAC: mac(7), Ports: []uint16{3}, VLAN: 20}, {MAC: mac(8), Ports: []uint16{1}}}
	r := newRig(t, c)
	r.send(0, packet(5, 9, 0, 0), 100)
	r.send(4, withTag(packet(5, 9, 0, 0), 20), 100)
	where := func(port int, b []byte) (ports []int) {
		for p, frames := range r.send(port, b, 100) {
			if len(frames) > 0 {
				ports = append(ports, p)
			}
		}
		return ports
	}
	for i, c := range []struct {
		port int
		b    []byte
		want []int
	}{
		{1, packet(1, 5, 0, 0), []int{0}}, {2, packet(2, 5, 0, 0), []int{4}}, {3, withTag(packet(3, 5, 0, 0), 10), []int{0}},
		{2, packet(2, 7, 0, 0), []int{3}}, {1, packet(1, 7, 0, 0), []int{0, 3, 4}}, {0, packet(4, 8, 0, 0), []int{1}}, {2, packet(2, 8, 0, 0), []int{3, 4}},
	} {
		if got := where(c.port, c.b); !slices.Equal(got, c.want) {
			t.Errorf("frame %d goes to %v, not %v", i, got, c.want)
		}
	}
	var known []string
	for _, e := range r.sw.FDB().Entries(0) {
		if e.MAC == mac(5) || e.Static {
			known = append(known, strings.Join([]string{e.MAC.String()[15:], map[uint16]string{10: "10", 20: "20"}[e.VLAN], string('0' + rune(e.Ports[0]))}, " "))
		}
	}
	if got := strings.Join(known, ", "); got != "05 10 0, 08 10 1, 05 20 4, 07 20 3" {
		t.Error(got)
	}
}

// What is known stays known when VLANs change, as far as it is still true, and no
// frame is lost; what was queued leaves as it was.
func TestReloadOfVLANs(t *testing.T) {
	c := vlanConfig()
	r := newRig(t, c)
	r.send(0, packet(5, 9, 0, 0), 100)
	r.send(1, packet(6, 9, 0, 0), 100)
	r.in(3, withTag(packet(7, 5, 0, 0), 10), 100)
	c.VLANs = []VLAN{{ID: 10, Untagged: []uint16{0}, Tagged: []uint16{3, 4}}, {ID: 20, Untagged: []uint16{1, 2}, Tagged: []uint16{3}}}
	r.reload(c)
	if got := r.out(0, 4); len(got) != 1 || len(got[0]) != 96 {
		t.Errorf("what was queued: %d frames", len(got))
	}
	if got := r.send(3, withTag(packet(7, 5, 0, 0), 10), 100); len(got[0]) != 1 || len(got[4]) != 0 {
		t.Error("an address that is where it was")
	}
	if got := r.send(3, withTag(packet(7, 6, 0, 0), 10), 100); len(got[0]) != 1 || len(got[1]) != 0 || len(got[4]) != 1 {
		t.Error("an address whose port left the VLAN")
	}
	for _, pcp := range []uint16{3, 5} {
		if got := r.send(0, packet(5, 7, 26, 0), 100); len(got[3]) != 1 || !bytes.HasPrefix(got[3][0], withTag(packet(5, 7, 26, 0), pcp<<13|10)) {
			t.Errorf("priority 3 has not code point %d in a new tag", pcp)
		}
		c.PCP = [8]uint8{0, 1, 2, 7, 4, 3, 6, 5}
		r.reload(c)
	}
	c.VLANs = nil
	r.reload(c)
	if got := r.send(3, withTag(packet(7, 9, 0, 0), 10), 100); len(got[0]) != 1 || !bytes.HasPrefix(got[0][0], withTag(packet(7, 9, 0, 0), 10)) {
		t.Error("without VLANs a tag is left alone")
	}
}

// Two workers: an address that was learned before the VLANs changed.
func TestLearnedOfAVLANThatIsGone(t *testing.T) {
	c := vlanConfig()
	for i := range c.Ports {
		c.Ports[i].Worker = i % 2
	}
	r := newCrew(t, c, 2)
	r.in(1, packet(5, 9, 0, 0), 100)
	if got := r.sw.FDB().Entries(0); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	c.VLANs = c.VLANs[1:]
	r.reload(c)
	for p := range 5 {
		r.poll()
		r.out(p, 8)
	}
	if got := r.sw.FDB().Entries(0); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// What the switch itself says goes to the VLAN of the frame that caused it.
func TestNoticesInVLANs(t *testing.T) {
	c := vlanConfig()
	c.CP = func(p marking.Place) marking.CP {
		return marking.NewQCN(marking.QCNParams{SetPoint: 1000, Weight: 2, SampleBase: 100}, 1)
	}
	for _, accept := range []Accept{AcceptUsual, AcceptTagged} { // what a port takes does not matter to what it sends
		t.Run(accept.String(), func(t *testing.T) {
			c.Ports[2].Accept = accept
			testNoticesInVLANs(t, newRig(t, c))
		})
	}
}

func testNoticesInVLANs(t *testing.T, r *rig) {
	if r.sw.config.Ports[2].Accept == AcceptTagged {
		r.send(2, withTag(packet(5, 9, 0, 0), 20), 100)
	} else {
		r.send(2, packet(5, 9, 0, 0), 100)
	}
	r.send(3, withTag(packet(6, 9, 0, 0), 20), 100)
	for range 8 {
		r.in(3, withTag(packet(6, 5, 26, wire.ECT0), 3<<13|20), 1000)
	}
	var h wire.Header
	got := r.out(3, 1)
	if len(got) == 0 || !wire.Parse(got[0], &h) || h.EtherType != wire.TypeCNM || h.Dst != mac(6) {
		t.Fatalf("%d notices: %+v", len(got), h)
	}
	if tci, ok := wire.VLANTag(got[0]); !ok || tci&wire.VLANID != 20 {
		t.Errorf("the notice has tag %#x", tci)
	}
	if got := r.out(2, 20); len(got) != 8 || len(got[0]) > 124 {
		t.Errorf("%d frames", len(got))
	}
}

// A tag that is put on has the first code point that means the frame's priority; where none does, that of its number.
func TestCodePointOfANewTag(t *testing.T) {
	c := vlanConfig()
	c.PCP = [8]uint8{0, 0, 5, 5, 4, 2, 6, 7}
	r := newRig(t, c)
	for prio, want := range map[uint8]uint16{0: 0, 1: 1, 2: 5, 3: 3, 4: 4, 5: 2} {
		dscp := uint8(slices.Index(c.DSCP[:], prio))
		got := r.send(0, packet(0, 9, dscp, 0), 100)[3]
		if len(got) != 1 {
			t.Fatalf("priority %d: %d frames", prio, len(got))
		}
		if tci, ok := wire.VLANTag(got[0]); !ok || tci != want<<13|10 {
			t.Errorf("priority %d: tag %#x, want code point %d in VLAN 10", prio, tci, want)
		}
	}
}

// A port's own map of code points is also that of the tags which frames get that leave by it: its peer reads them so.
func TestCodePointOfANewTagIsThePorts(t *testing.T) {
	c := vlanConfig()
	own := Classes{DSCP: c.DSCP, PCP: [8]uint8{0, 3, 2, 1, 4, 5, 6, 7}}
	c.Ports[3].Classes = &own
	r := newRig(t, c)
	dscp := uint8(slices.Index(c.DSCP[:], 3))
	for _, want := range []uint16{1, 5, 3} {
		got := r.send(0, packet(0, 9, dscp, 0), 100)[3]
		if len(got) != 1 {
			t.Fatalf("%d frames", len(got))
		}
		if tci, ok := wire.VLANTag(got[0]); !ok || tci != want<<13|10 {
			t.Errorf("tag %#x, want code point %d in VLAN 10", tci, want)
		}
		c.CP, c.Ports = nil, slices.Clone(c.Ports)
		if c.Ports[3].Classes = nil; want == 1 {
			c.Ports[3].Classes = &Classes{DSCP: c.DSCP, PCP: [8]uint8{0, 1, 2, 5, 4, 3, 6, 7}}
		}
		r.reload(c)
	}
}

// Pushing a tag where there is no room for it takes another buffer.
func TestTagWithoutRoom(t *testing.T) {
	r := newRig(t, vlanConfig())
	f, _ := r.env.Alloc(100)
	f.Off = 0
	copy(r.env.Header(f), packet(0, 9, 0, 0))
	r.sw.Receive(0, 0, []fabric.Frame{f})
	if got := r.out(3, 1); len(got) != 1 || !bytes.Equal(got[0][:60], withTag(packet(0, 9, 0, 0), 10)[:60]) {
		t.Errorf("% x", got)
	}
	r.out(1, 1)
	r.out(4, 1)
}

func TestCheckOfVLANs(t *testing.T) {
	for want, change := range map[string]func(*SwitchConfig){
		"VLAN 0: there are 1 to 4094":                  func(c *SwitchConfig) { c.VLANs[0].ID = 0 },
		"VLAN 4095: there are 1 to 4094":               func(c *SwitchConfig) { c.VLANs[0].ID = 4095 },
		"VLAN 10 is there twice":                       func(c *SwitchConfig) { c.VLANs[1].ID = 10 },
		"VLAN 20: there is no port 9":                  func(c *SwitchConfig) { c.VLANs[1].Tagged[0] = 9 },
		"VLAN 20: port 2 is named twice":               func(c *SwitchConfig) { c.VLANs[1].Tagged[0] = 2 },
		"port 1 is untagged in VLAN 10 already":        func(c *SwitchConfig) { c.VLANs[1].Untagged[0] = 1 },
		"port 3 has no untagged VLAN: say which":       func(c *SwitchConfig) { c.Static = []StaticEntry{{MAC: 1, Ports: []uint16{3}}} },
		"port 0 is not in VLAN 20":                     func(c *SwitchConfig) { c.Static = []StaticEntry{{MAC: 1, Ports: []uint16{0}, VLAN: 20}} },
		"say of which VLAN":                            func(c *SwitchConfig) { c.Static = []StaticEntry{{MAC: 1, Ports: []uint16{0, 2}}} },
		"there is no VLAN 5":                           func(c *SwitchConfig) { c.VLANs, c.Static = nil, []StaticEntry{{MAC: 1, Ports: []uint16{0}, VLAN: 5}} },
		"2 VLANs of 10000000 addresses each: that is ": func(c *SwitchConfig) { c.FDBSize = 10_000_000 },
	} {
		c := vlanConfig()
		change(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// Which frames a port takes, by its configuration: usually a port that sends no tags takes none.
func TestAcceptedFrames(t *testing.T) {
	plain := packet(0, 9, 26, wire.ECT0)
	access, own, priority := 0, withTag(plain, 10), withTag(plain, 5<<13)
	const hybrid, trunk = 4, 3
	for _, c := range []struct {
		port   int
		accept Accept
		frame  []byte
		taken  bool
	}{
		{access, AcceptUsual, plain, true}, {access, AcceptUsual, priority, true}, {access, AcceptUsual, own, false},
		{access, AcceptUntagged, plain, true}, {access, AcceptUntagged, priority, true}, {access, AcceptUntagged, own, false},
		{access, AcceptAll, plain, true}, {access, AcceptAll, priority, true}, {access, AcceptAll, own, true},
		{access, AcceptTagged, plain, false}, {access, AcceptTagged, priority, false}, {access, AcceptTagged, own, true},
		{hybrid, AcceptUsual, plain, true}, {hybrid, AcceptUsual, withTag(plain, 20), true},
		{hybrid, AcceptUntagged, plain, true}, {hybrid, AcceptUntagged, withTag(plain, 20), false},
		{hybrid, AcceptTagged, plain, false}, {hybrid, AcceptTagged, priority, false}, {hybrid, AcceptTagged, withTag(plain, 20), true},
		{trunk, AcceptUsual, plain, false}, {trunk, AcceptUsual, own, true}, {trunk, AcceptUntagged, own, false},
	} {
		config := vlanConfig()
		config.Ports[c.port].Accept = c.accept
		eachWay(t, config, func(t *testing.T, r *rig) {
			r.send(c.port, c.frame, 100)
			if n := r.stats(c.port).Discards[fabric.DropVLAN][3]; (n == 0) != c.taken {
				t.Errorf("port %d takes %v: % x is taken %v", c.port, c.accept, c.frame[:18], n == 0)
			}
			config := vlanConfig() // and by reload
			config.Ports[c.port].Accept = AcceptAll
			r.reload(config)
			before := r.stats(c.port).Discards[fabric.DropVLAN][3]
			r.send(c.port, c.frame, 100)
			want := c.port != trunk || len(c.frame) == len(own) // a trunk has no VLAN for others
			if taken := r.stats(c.port).Discards[fabric.DropVLAN][3] == before; taken != want {
				t.Errorf("port %d takes all: % x is taken %v", c.port, c.frame[:18], taken)
			}
		})
	}
}

// A frame with two tags does not reach a second VLAN: not from an access port, and not where the first is taken off by
// a port whose own VLAN it is, whether its destination is known or not.
func TestTwoTagsReachNoOtherVLAN(t *testing.T) {
	inner := func(to int) []byte { return withTag(packet(5, to, 26, 0), 20) }
	const access, trunk, hybrid = 0, 3, 4 // the hybrid port sends VLAN 10 without tag, and 20 with one
	for _, c := range []struct {
		name   string
		port   int
		accept Accept
		frame  func(to int) []byte
	}{
		{"access", access, AcceptUsual, func(to int) []byte { return withTag(inner(to), 10) }},
		{"access that takes tags", access, AcceptAll, func(to int) []byte { return withTag(inner(to), 10) }},
		{"a priority, and a tag", access, AcceptUsual, func(to int) []byte { return withTag(inner(to), 5<<13) }},
		{"trunk", trunk, AcceptUsual, func(to int) []byte { return withTag(inner(to), 10) }},
	} {
		config := vlanConfig()
		config.Ports[c.port].Accept = c.accept
		eachWay(t, config, func(t *testing.T, r *rig) {
			r.send(hybrid, packet(6, 5, 0, 0), 100) // 6 is behind the hybrid port, in VLAN 10
			for _, to := range []int{6, 6, 9, 9} {
				for p, frames := range r.send(c.port, c.frame(to), 100) {
					for _, b := range frames {
						if tci, tag := wire.VLANTag(b); p != trunk && tag {
							t.Errorf("%s: port %d sends tag %#x", c.name, p, tci)
						} else if p == trunk && tci&wire.VLANID != 10 {
							t.Errorf("%s: the trunk sends VLAN %d", c.name, tci&wire.VLANID)
						}
					}
				}
			}
			if n := r.stats(c.port).Discards[fabric.DropVLAN][3]; n < 4 {
				t.Errorf("%s: %d are counted as discarded", c.name, n)
			}
		})
	}
}

// Addresses age by whole seconds: less is refused.
func TestAgeBelowASecond(t *testing.T) {
	c := config(3)
	for age, ok := range map[units.Time]bool{-1: false, 0: true, 1: false, units.Second - 1: false, units.Second: true} {
		if c.Age = age; (c.Check() == nil) != ok {
			t.Errorf("an age of %v: %v", age, c.Check())
		}
	}
}
