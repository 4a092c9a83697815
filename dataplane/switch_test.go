package dataplane

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

func TestForwarding(t *testing.T) {
	r := newRig(t, config(4))
	r.in(0, packet(0, 2, 0, 0), 500)
	if len(r.out(1, 8)) != 0 || len(r.out(2, 8)) != 1 || len(r.out(3, 8)) != 0 {
		t.Error("a known address")
	}
	r.in(0, packet(0, 50, 0, 0), 500)
	for p, want := range []int{0, 1, 1, 1} {
		if n := len(r.out(p, 8)); n != want {
			t.Errorf("an unknown address: %d frames at port %d", n, p)
		}
	}
	broadcast := packet(0, 0, 0, 0)
	wire.Broadcast.Put(broadcast)
	r.in(2, broadcast, 500)
	for p, want := range []int{1, 1, 0, 1} {
		if got := r.out(p, 8); len(got) != want || want == 1 && !bytes.HasPrefix(got[0], broadcast) {
			t.Errorf("broadcast: %d frames at port %d", len(got), p)
		}
	}
}

func TestDiscardsAreCountedByReason(t *testing.T) {
	r := newRig(t, config(2))
	r.in(0, packet(0, 0, 26, 0), 500) // to where it came from
	r.in(0, packet(0, 1, 26, 0), 1519)
	r.in(0, packet(0, 1, 26, 0)[:10], 10)
	lldp := packet(0, 1, 0, 0)
	wire.MAC(0x0180C200000E).Put(lldp)
	r.in(0, lldp, 100)
	st := r.stats(0)
	for reason, prio := range map[fabric.Reason]int{fabric.DropNoPort: 3, fabric.DropOversize: 3, fabric.DropMalformed: 0, fabric.DropReserved: 0} {
		if st.Discards[reason][prio] != 1 {
			t.Errorf("%v: %v", reason, st.Discards[reason])
		}
	}
	if len(r.out(1, 8)) != 0 {
		t.Error("something was forwarded")
	}
}

// MAC control frames end in the switch, whatever they say; and only those to the group address of MAC
// control, from a station, are obeyed: with others a host could pause ports that are not its own.
func TestMACControlIsConsumed(t *testing.T) {
	to := func(dst wire.MAC) func([]byte) { return func(b []byte) { dst.Put(b) } }
	for _, c := range []struct {
		name         string
		frame        []byte
		control, bad uint64
		obeyed       bool
	}{
		{"PFC", pauseFrame(3, 100), 1, 0, true},
		{"an opcode that is nothing", with(pauseFrame(3, 100), func(b []byte) { b[15] = 9 }), 1, 1, false},
		{"cut", pauseFrame(3, 100)[:17], 1, 1, false},
		{"to a host", with(pauseFrame(3, 100), to(mac(1))), 1, 1, false},
		{"to the port itself", with(pauseFrame(3, 100), to(mac(100))), 1, 1, false},
		{"to all", with(pauseFrame(3, 100), to(wire.Broadcast)), 1, 1, false},
		{"to the group next to it", with(pauseFrame(3, 100), to(pfc.Destination+1)), 1, 1, false},
		{"to a group that is forwarded", with(pauseFrame(3, 100), to(0x0100_5E00_0001)), 1, 1, false},
		{"from a group", with(pauseFrame(3, 100), func(b []byte) { b[6] |= 1 }), 1, 1, false},
	} {
		eachWay(t, config(2), func(t *testing.T, r *rig) {
			r.in(0, c.frame, len(c.frame))
			st := r.stats(0)
			if st.RxControl != c.control || st.BadControl != c.bad || len(r.out(1, 8)) != 0 {
				t.Errorf("%s: %d control frames, %d bad", c.name, st.RxControl, st.BadControl)
			}
			if obeyed := r.sw.Paused(0) == lossless; obeyed != c.obeyed {
				t.Errorf("%s: obeyed %v", c.name, obeyed)
			}
			if st.Discards != [fabric.Reasons][8]uint64{} || st.RxFrames != [8]uint64{} {
				t.Errorf("%s: received as %v, discarded %v", c.name, st.RxFrames, st.Discards)
			}
		})
	}
}

func TestPauseAndResume(t *testing.T) {
	r := newRig(t, config(2))
	for range 3 {
		r.in(0, packet(0, 1, 26, 0), 500)
		r.in(0, packet(0, 1, 0, 0), 500)
	}
	r.in(1, pauseFrame(3, 100), 60)
	if got := r.out(1, 8); len(got) != 3 || wire.ECN(got[0][14:]) != 0 || got[0][15]>>2 != 0 {
		t.Fatalf("%d frames while priority 3 is paused", len(got))
	}
	if next := r.sw.Next(r.now, 1); next != 5120*units.Nanosecond {
		t.Errorf("next at %v, the pause ends at 5.12us", next)
	}
	r.now = us
	r.in(1, pauseFrame(3, 0), 60)
	if r.env.Due(1) > r.now || r.sw.Next(r.now, 1) != r.now {
		t.Error("XON does not wake the port")
	}
	if got := r.out(1, 8); len(got) != 3 {
		t.Errorf("%d frames after XON", len(got))
	}
	r.in(1, pauseFrame(3, 100), 60)
	r.in(0, packet(0, 1, 26, 0), 500)
	r.now = 7 * us
	if got := r.out(1, 8); len(got) != 1 {
		t.Errorf("%d frames after the timer", len(got))
	}
}

func TestStrictPriority(t *testing.T) {
	r := newRig(t, config(2))
	for _, dscp := range []uint8{0, 8, 56, 26, 48, 16} {
		r.in(0, packet(0, 1, dscp, 0), 500)
	}
	var order []uint8
	for _, b := range r.out(1, 16) {
		order = append(order, b[15]>>5)
	}
	if !slices.Equal(order, []uint8{7, 6, 3, 2, 1, 0}) {
		t.Error(order)
	}
}

func TestClassification(t *testing.T) {
	for dscp, prio := range DefaultDSCP() {
		if int(prio) != dscp/8 {
			t.Errorf("DSCP %d has priority %d, its class selector is %d", dscp, prio, dscp/8)
		}
	}
	tag := func(b []byte, pcp byte) []byte {
		return slices.Concat(b[:12], []byte{0x81, 0, pcp << 5, 1}, b[12:])
	}
	arp := packet(0, 1, 0, 0)
	arp[12], arp[13] = 0x08, 0x06
	for _, c := range []struct {
		name  string
		frame []byte
		trust Trust
		want  int
	}{
		{"DSCP", packet(0, 1, 26, 0), TrustDSCP, 3}, {"DSCP counts more", tag(packet(0, 1, 26, 0), 5), TrustDSCP, 3},
		{"PCP counts more", tag(packet(0, 1, 26, 0), 5), TrustPCP, 5}, {"no tag", packet(0, 1, 26, 0), TrustPCP, 3},
		{"no IP", arp, TrustDSCP, 0}, {"no IP, tag", tag(arp, 5), TrustDSCP, 5},
	} {
		cfg := config(2)
		cfg.Trust = c.trust
		r := newRig(t, cfg)
		r.in(0, c.frame, 500)
		if r.stats(0).RxFrames[c.want] != 1 {
			t.Errorf("%s: %v", c.name, r.stats(0).RxFrames)
		}
	}
}

// CE is written on ECN-capable data only, never on a CNP, and the checksum holds.
func TestMarking(t *testing.T) {
	r := newRig(t, config(2))
	cnp := packet(0, 1, 26, wire.ECT0)
	wire.BTH(cnp[42:]).SetOpcode(wire.OpCNP)
	for _, b := range [][]byte{
		packet(0, 1, 26, wire.ECT0), packet(0, 1, 26, wire.ECT1), packet(0, 1, 26, wire.NotECT), packet(0, 1, 26, wire.CE), cnp,
		packet(0, 1, 26, wire.ECT0), // leaves an empty queue behind: not marked
	} {
		r.in(0, b, 1000)
	}
	var ecn []uint8
	for _, b := range r.out(1, 16) {
		ecn = append(ecn, wire.ECN(b[14:]))
		if !wire.IPv4ChecksumOK(b[14:]) {
			t.Error("checksum")
		}
	}
	if !slices.Equal(ecn, []uint8{wire.CE, wire.CE, wire.NotECT, wire.CE, wire.ECT0, wire.ECT0}) {
		t.Error(ecn)
	}
	if st := r.stats(1); st.Marked[3] != 2 || st.MarkedBytes[3] != 2000 {
		t.Errorf("%d marked", st.Marked[3])
	}
	r.in(0, packet(0, 1, 0, wire.ECT0), 1000)
	r.in(0, packet(0, 1, 0, wire.ECT0), 1000)
	if b := r.out(1, 2); wire.ECN(b[0][14:]) != wire.ECT0 {
		t.Error("a lossy priority was marked")
	}
}

// The lossless priority: XOFF when more than the threshold is buffered, nothing
// lost as long as headroom lasts, XON when the buffer has drained, in a frame
// from the port's own address.
func TestXOFFAndXON(t *testing.T) {
	r := newRig(t, config(3))
	for range 20 {
		r.in(0, packet(0, 2, 26, 0), 1000)
	}
	if len(r.out(0, 1)) != 0 {
		t.Fatal("XOFF at the threshold")
	}
	r.in(0, packet(0, 2, 26, 0), 1000)
	if r.env.Due(0) > r.now {
		t.Error("XOFF does not wake the port")
	}
	var f pfc.Frame
	if b := r.out(0, 4); len(b) != 1 || f.Decode(b[0]) != nil || f.Enable != 1<<3 || f.Quanta[3] != pfc.MaxQuanta || wire.MACAt(b[0][6:]) != mac(100) {
		t.Fatalf("%d frames, %+v", len(b), f)
	}
	if len(r.out(1, 4)) != 0 {
		t.Error("another port is paused")
	}
	for range 19 { // XOFF and headroom are 40 KB
		r.in(0, packet(0, 2, 26, 0), 1000)
	}
	if st := r.stats(0); st.Discards[fabric.DropHeadroom][3] != 0 || st.Buffered[3] != 40_000 {
		t.Errorf("%v buffered", st.Buffered[3])
	}
	r.in(0, packet(0, 2, 26, 0), 1000)
	if r.stats(0).Discards[fabric.DropHeadroom][3] != 1 {
		t.Error("beyond the headroom")
	}
	r.now = 100 * us
	if len(r.out(2, 29)) != 29 || len(r.out(0, 4)) != 0 {
		t.Error("11 KB are left: no XON yet")
	}
	r.env.SetDue(0, units.Never)
	if len(r.out(2, 1)) != 1 || r.env.Due(0) != r.now {
		t.Error("XON does not wake the port")
	}
	if b := r.out(0, 4); len(b) != 1 || f.Decode(b[0]) != nil || f.Enable != 1<<3 || f.Quanta[3] != 0 {
		t.Errorf("%d frames, %+v", len(b), f)
	}
	st := r.stats(0)
	if st.Ingress.Pauses[3] != 1 || st.Ingress.Resumes[3] != 1 || st.Ingress.Paused[3] != 100*us || st.TxControl != 2 || r.sw.PausesSent() != 1 {
		t.Errorf("%+v", st.Ingress)
	}
}

// Thresholds that follow the free buffer: what one port holds lowers them for
// another, and when it leaves the other is resumed although only what was in its headroom left.
func TestThresholdsFollowTheFreeBuffer(t *testing.T) {
	c := config(4)
	c.PFC[3] = pfc.Thresholds{XOFF: 2_000, XON: 1_000, Headroom: 20_000, Alpha: 0.5}
	c.Ports[1].Alpha = 2 // this port may hold more
	c.Buffer = c.Reserved() + 100_000
	r := newRig(t, c)
	held := 0
	for ; len(r.out(1, 1)) == 0; held++ {
		r.in(1, packet(1, 3, 26, wire.ECT0), 1_000)
	}
	// The 69th kilobyte leaves 33 KB free: 2 KB and twice that are less than what is there.
	if held != 69 {
		t.Errorf("a port with alpha 2 was paused at %d KB", held)
	}
	own := 0
	for ; len(r.out(0, 1)) == 0; own++ {
		r.in(0, packet(0, 2, 26, wire.ECT0), 1_000)
	}
	if own != 14 { // it finds 22 KB free: 67 KB are the other's, 11 KB its own
		t.Errorf("a port with alpha 1/2 was paused at %d KB", own)
	}
	r.now += units.Microsecond
	if r.out(2, 1); len(r.out(0, 1)) != 0 {
		t.Error("it is resumed when its headroom is empty, and 13 KB are more than its XON")
	}
	r.env.SetDue(0, units.Never)
	for r.env.Due(0) > r.now && held > 0 {
		r.now += units.Microsecond
		r.out(3, 1)
		held--
	}
	var f pfc.Frame
	if sent := r.out(0, 1); len(sent) != 1 || f.Decode(sent[0]) != nil || f.Quanta[3] != 0 || own != 14 || held == 0 {
		t.Errorf("no XON with %d KB of the other port left", held)
	}
}

// An XOFF that is still meant is sent again before the peer's timer runs out.
func TestXOFFIsRefreshed(t *testing.T) {
	c := config(2)
	c.Pause = 100 * us
	r := newRig(t, c)
	for range 21 {
		r.in(0, packet(0, 1, 26, 0), 1000)
	}
	if len(r.out(0, 4)) != 1 {
		t.Fatal("no XOFF")
	}
	next := r.sw.Next(r.now, 0)
	if next < 40*us || next > 60*us {
		t.Fatalf("refresh at %v of a pause of 100us", next)
	}
	r.now = next
	if b := r.out(0, 4); len(b) != 1 || r.stats(0).Ingress.Pauses[3] != 2 {
		t.Fatalf("%d frames", len(b))
	}
}

// Lossy priorities drop by their own limits and leave the lossless ones alone.
func TestLossyDrops(t *testing.T) {
	r := newRig(t, config(3))
	for range 50 {
		r.in(0, packet(0, 1, 0, 0), 1000)
	}
	if st := r.stats(1); st.Discards[fabric.DropTail][0] != 30 || st.QueueBytes[0] != 20_000 {
		t.Errorf("%d dropped, %v queued", st.Discards[fabric.DropTail][0], st.QueueBytes[0])
	}
	if len(r.out(0, 4)) != 0 {
		t.Error("a lossy priority is paused")
	}
	c := config(2)
	c.Buffer = 2*40_000 + 5_000 // all but 5 KB are reserved
	r = newRig(t, c)
	for range 10 {
		r.in(0, packet(0, 1, 0, 0), 1000)
	}
	for range 40 {
		r.in(0, packet(0, 1, 26, 0), 1000)
	}
	if st := r.stats(0); st.Discards[fabric.DropBuffer][0] != 5 || st.Discarded()[3] != 0 {
		t.Errorf("%v", st.Discarded())
	}
}

func TestLearning(t *testing.T) {
	c := config(3)
	c.Static, c.Learn, c.Age = nil, true, 300*units.Second
	r := newRig(t, c)
	count := func() (n [3]int) {
		for p := range n {
			n[p] = len(r.out(p, 8))
		}
		return n
	}
	r.in(0, packet(10, 11, 0, 0), 100)
	if n := count(); n != [3]int{0, 1, 1} {
		t.Error("unknown:", n)
	}
	r.in(1, packet(11, 10, 0, 0), 100)
	if n := count(); n != [3]int{1, 0, 0} {
		t.Error("learned:", n)
	}
	r.in(2, packet(11, 10, 0, 0), 100) // 11 has moved
	count()
	r.in(0, packet(10, 11, 0, 0), 100)
	if n := count(); n != [3]int{0, 0, 1} {
		t.Error("moved:", n)
	}
	r.now = 200 * units.Second
	r.in(0, packet(10, 11, 0, 0), 100) // confirms 10
	count()
	r.now = 400 * units.Second
	r.in(1, packet(12, 11, 0, 0), 100)
	if n := count(); n != [3]int{1, 0, 1} {
		t.Error("11 is too old:", n)
	}
	r.in(1, packet(12, 10, 0, 0), 100)
	if n := count(); n != [3]int{1, 0, 0} {
		t.Error("10 was confirmed:", n)
	}
}

// Equal-cost ports are chosen by flow: each gets a share, and a flow stays.
func TestEqualCostPorts(t *testing.T) {
	c := config(4)
	c.Static = []StaticEntry{{MAC: mac(9), Ports: []uint16{1, 2, 3}}}
	r := newRig(t, c)
	share := map[int]int{}
	for i := range 300 {
		b := packet(0, 9, 26, 0)
		b[35] = byte(i)
		b[34] = byte(i >> 8)
		var where []int
		for range 2 {
			r.in(0, b, 100)
			for p := 1; p < 4; p++ {
				if len(r.out(p, 4)) == 1 {
					where = append(where, p)
				}
			}
		}
		if len(where) != 2 || where[0] != where[1] {
			t.Fatalf("flow %d goes to %v", i, where)
		}
		share[where[0]]++
	}
	for p := 1; p < 4; p++ {
		if share[p] < 70 || share[p] > 130 {
			t.Errorf("port %d gets %d of 300 flows", p, share[p])
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for i, change := range []func(*SwitchConfig){
		func(c *SwitchConfig) { c.Ports = nil }, func(c *SwitchConfig) { c.PFC[3].XON = c.PFC[3].XOFF + 1 }, func(c *SwitchConfig) { c.MTU = 10_000 },
		func(c *SwitchConfig) { c.Buffer = 50_000 }, func(c *SwitchConfig) { c.Static[0].Ports[0] = 9 },
	} {
		c := config(2)
		change(&c)
		if _, err := NewSwitch(c, []*fabric.Env{fabric.NewEnv(fabric.NewHeaderPool(), 2)}); err == nil {
			t.Errorf("configuration %d passes", i)
		}
	}
	c := config(2)
	c.Buffer = 50_000
	if err := c.Check(); !errors.Is(err, ErrBuffer) {
		t.Error(err)
	}
}

// Whatever happens in whatever order: every frame is accounted for, and frames
// of a port and priority stay in order.
func TestConservation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ports = 4
		r := &rig{t: nil, env: fabric.NewEnv(fabric.NewHeaderPool(), ports)}
		c := config(ports)
		c.Learn = true
		sw, err := NewSwitch(c, []*fabric.Env{r.env})
		if err != nil {
			t.Fatal(err)
		}
		r.sw = sw
		var stopped [ports]bool // the peers obey
		number := map[[3]int]int{}
		seen := map[[3]int]int{}
		for range rapid.IntRange(1, 400).Draw(t, "steps") {
			r.now += units.Time(rapid.Int64Range(0, int64(3*us)).Draw(t, "dt"))
			p := rapid.IntRange(0, ports-1).Draw(t, "port")
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				r.in(p, pauseFrame(rapid.IntRange(2, 4).Draw(t, "prio"), rapid.SampledFrom([]uint16{0, 10, 200}).Draw(t, "quanta")), 60)
			case 1, 2, 3, 4, 5:
				to := rapid.IntRange(0, ports+1).Draw(t, "to")
				dscp := rapid.SampledFrom([]uint8{0, 26, 26, 48}).Draw(t, "dscp")
				if dscp == 26 && stopped[p] {
					continue
				}
				b := packet(p, to, dscp, wire.ECT0)
				key := [3]int{p, to, int(dscp)}
				number[key]++
				wire.BTH(b[42:]).SetPSN(uint32(number[key]), false)
				r.in(p, b, rapid.IntRange(64, 1514).Draw(t, "length"))
			default:
				for _, b := range r.out(p, rapid.IntRange(1, 4).Draw(t, "n")) {
					var f pfc.Frame
					if f.Decode(b) == nil && wire.MACAt(b) == pfc.Destination {
						stopped[p] = f.Quanta[3] != 0
						continue
					}
					from, to := int(b[29]), int(b[33])
					key := [3]int{from, to, int(b[15] >> 2)}
					psn := int(wire.BTH(b[42:]).PSN())
					if at := [3]int{from*16 + p, to, key[2]}; psn <= seen[at] {
						t.Fatalf("%v: packet %d leaves port %d after %d", key, psn, p, seen[at])
					} else {
						seen[at] = psn
					}
				}
			}
			if err := sw.Audit(); err != nil {
				t.Fatal(err)
			}
			for i := range ports {
				// A port that is paused, or told to pause, says so at once.
				if next := sw.Next(r.now, i); next < r.now {
					t.Fatalf("port %d wants to be called in the past", i)
				}
			}
		}
	})
}

func TestReceiveAllocatesNothing(t *testing.T) {
	r := newRig(t, config(4))
	r.sw.Reserve()
	header := packet(0, 1, 26, wire.ECT0)
	r.in(0, header, 1000)
	r.out(1, 8)
	if n := r.allocations(header, 1000); n != 0 {
		t.Fatalf("%v allocations per burst", n)
	}
}

func FuzzReceive(f *testing.F) {
	f.Add(packet(0, 1, 26, 2), uint16(100))
	f.Add(pauseFrame(3, 5), uint16(60))
	f.Fuzz(func(t *testing.T, header []byte, length uint16) {
		r := newRig(t, config(3))
		r.in(0, header, max(int(length)%2000, len(header)%128))
		out := len(r.out(1, 8)) + len(r.out(2, 8))
		if st := r.stats(0); st.RxControl == 1 && out != 0 {
			t.Fatal("MAC control was forwarded")
		}
	})
}

// A router with VLANs gets frames of any kind: what leaves is in a VLAN of its
// port, and every frame is accounted for.
func FuzzForwarding(f *testing.F) {
	f.Add(withTag(ip("10.0.0.1", "10.0.1.7", 100), 10), uint16(0), byte(3))
	f.Add(ip("fd00::1", "fd00:9::1", 100), uint16(3), byte(0))
	f.Add(packet(0, 1, 26, 2), uint16(100), byte(1))
	f.Fuzz(func(t *testing.T, header []byte, longer uint16, port byte) {
		c := vlanConfig()
		c.Router = routerConfig().Router
		for i := range c.Router.Routes {
			for j := range c.Router.Routes[i].Via {
				if v := &c.Router.Routes[i].Via[j]; v.Port == 3 {
					v.VLAN = 20
				}
			}
		}
		r := newRig(t, c)
		r.in(int(port)%5, header, len(header)+int(longer)%1000)
		for p := range 5 {
			for _, b := range r.out(p, 8) {
				if tci, ok := wire.VLANTag(b); p == 3 && (!ok || tci&wire.VLANID != 10 && tci&wire.VLANID != 20) && b[12] != 0x88 {
					t.Fatalf("a trunk sends % x", b)
				}
			}
		}
	})
}
