package dataplane

import (
	"bytes"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// A frame that passes without being queued was in its queue all the same: the
// watermark knows the longest.
func TestWatermarkOfWhatPasses(t *testing.T) {
	c := config(2)
	c.CP = nil
	r := newRig(t, c)
	for i, length := range []int{300, 900, 500} {
		f, _ := r.env.Alloc(length)
		copy(r.env.Header(f), packet(0, 1, 26, wire.ECT0))
		out := r.sw.Take(r.now, 0, &f)
		if out != 1 || !r.sw.Through(out, &f) {
			t.Fatalf("frame %d does not pass at once", i)
		}
		r.env.Free(f)
	}
	if st := r.stats(1); st.QueuePeak != [8]units.Size{3: 900} || st.QueueBytes != [8]units.Size{} || r.sw.QueuePeak(1, 3) != 900 {
		t.Errorf("watermarks %v", st.QueuePeak)
	}
}

// Two switches get the same frames, one of them frame by frame the general way:
// what they send, when they want to be called, and what they count is the same.
// The other takes them as they come, or is asked for one at a time as the simulator does.
func TestQuickIsAsGeneral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ports = 4
		c := config(ports)
		c.Learn, c.FDBSize, c.Age = true, 4, 2*units.Second // a small table: not everybody is in the first place
		c.Static = append(c.Static[:2], StaticEntry{MAC: mac(9), Ports: []uint16{1, 2}})
		c.Lossless = rapid.SampledFrom([]uint8{lossless, lossless | 1<<6, 0}).Draw(t, "lossless")
		c.PFC[6] = c.PFC[3]
		c.Buffer = 2 * ports * 40_000
		if rapid.Bool().Draw(t, "lossy") {
			c.Buffer += 30_000
		}
		if rapid.IntRange(0, 3).Draw(t, "alpha") == 0 {
			c.PFC[3].Alpha = 0.5
			c.Buffer += 100_000
		}
		if rapid.Bool().Draw(t, "watchdog") {
			c.Watchdog = pfc.WatchdogConfig{Detect: 5 * us, Restore: 4 * us, Action: rapid.SampledFrom([]pfc.Action{pfc.Drop, pfc.Forward, pfc.Alert}).Draw(t, "action")}
		}
		if rapid.Bool().Draw(t, "vlans") {
			c.VLANs = anyVLANs(t, ports)
			c.Static = nil
		}
		if rapid.Bool().Draw(t, "router") {
			c.Router = anyRouter(t, &c)
		}
		c.NoUnknown = rapid.IntRange(0, 9).Draw(t, "unknown") == 0
		if rapid.IntRange(0, 5).Draw(t, "limit") == 0 {
			c.Ports[1].Flood = FloodLimits{Broadcast: FloodLimit{Frames: 1_000_000, Burst: 3}, Unknown: FloodLimit{Rate: units.Gbps, Burst: 4000}}
		}
		if rapid.Bool().Draw(t, "weights") {
			for prio := range c.Weights {
				c.Weights[prio] = rapid.SampledFrom([]int{0, 1, 5, 100}).Draw(t, "weight")
			}
			c.Share = rapid.SampledFrom([]float64{0, 0.25, 4}).Draw(t, "share")
		}
		scheme := rapid.IntRange(0, 4).Draw(t, "scheme")
		sampling := rapid.SampledFrom([]marking.Sampling{marking.Adaptive, marking.Fixed}).Draw(t, "sampling")
		c.CP = func(p marking.Place) marking.CP {
			switch scheme {
			case 0:
				return marking.None{}
			case 1:
				return marking.NewRED(marking.REDParams{Kmin: 2000, Kmax: 20_000, Pmax: 0.5}, uint64(p.Port))
			case 2:
				return marking.NewQCN(marking.QCNParams{SetPoint: 10_000, Weight: 2, SampleBase: 10_000, Jitter: 0.3, Sampling: sampling}, uint64(p.Port))
			case 3:
				return marking.Telemetry{Link: p.Rate}
			}
			return marking.NewNPECN()
		}
		var rigs [2]*rig
		for i := range rigs {
			rigs[i] = &rig{env: NewEnv(NewHeaderPool(), ports)}
			sw, err := NewSwitch(c, []*Env{rigs[i].env})
			if err != nil {
				t.Fatal(err)
			}
			sw.general = i == 1
			rigs[i].sw = sw
		}
		single := rapid.Bool().Draw(t, "single")
		now := units.Time(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += units.Time(rapid.Int64Range(0, int64(3*us)).Draw(t, "dt"))
			if rapid.IntRange(0, 20).Draw(t, "later") == 0 {
				now += units.Second
			}
			p := rapid.IntRange(0, ports-1).Draw(t, "port")
			if c.VLANs != nil && rapid.IntRange(0, 20).Draw(t, "reload") == 0 {
				c.VLANs = anyVLANs(t, ports)
				c.Router = anyRouter(t, &c)
				for _, r := range rigs {
					ch, err := r.sw.Prepare(c)
					if err != nil {
						t.Fatal(err)
					}
					r.sw.Apply(now, ch)
				}
			} else if rapid.IntRange(0, 20).Draw(t, "link") == 0 {
				up := rapid.Bool().Draw(t, "up")
				for _, r := range rigs {
					ch, err := r.sw.PrepareLink(p, up)
					if err != nil {
						t.Fatal(err)
					}
					r.sw.SetLink(now, ch)
				}
			} else if rapid.Bool().Draw(t, "arrival") {
				var arriving [][]byte
				for range max(1, rapid.IntRange(-20, 40).Draw(t, "burst")) {
					arriving = append(arriving, anyFrame(t, p, ports))
				}
				out, through := noPort, rapid.Bool().Draw(t, "through")
				var sent [2][][]byte
				for i, r := range rigs {
					r.now = now
					var burst []Frame
					for _, b := range arriving {
						f, _ := r.env.Alloc(len(b))
						copy(r.env.Header(f), b)
						burst = append(burst, f)
					}
					if i > 0 || !single || len(burst) > 1 {
						r.sw.Receive(now, p, burst)
					} else if out = r.sw.Take(now, p, &burst[0]); out >= 0 {
						if through = through && r.sw.Through(out, &burst[0]); through {
							sent[0] = [][]byte{bytes.Clone(r.env.Header(burst[0]))}
							r.env.Free(burst[0])
						} else {
							r.sw.Queue(now, out, &burst[0])
						}
					}
				}
				if out >= 0 && through {
					sent[1] = rigs[1].out(out, 1)
					for _, r := range rigs { // it was served
						r.env.SetDue(out, r.sw.Next(now, out))
					}
				}
				if !slices.EqualFunc(sent[0], sent[1], slices.Equal[[]byte]) {
					t.Fatalf("at %v port %d passes on %x; the general way %x", now, out, sent[0], sent[1])
				}
			} else {
				n := max(1, rapid.IntRange(-20, 40).Draw(t, "room"))
				var sent [2][][]byte
				for i, r := range rigs {
					r.now = now
					var f Frame
					if i == 0 && single && n == 1 {
						if next, ok := r.sw.Give(now, p, &f); ok {
							if want := r.sw.Next(now, p); next != want {
								t.Fatalf("port %d gives a frame and wants to be called at %v, not at %v", p, next, want)
							}
							sent[0] = [][]byte{bytes.Clone(r.env.Header(f))}
							r.env.Free(f)
							continue
						}
					}
					sent[i] = r.out(p, n)
				}
				if !slices.EqualFunc(sent[0], sent[1], slices.Equal[[]byte]) {
					t.Fatalf("at %v port %d sends %d frames; the general way %d, or others", now, p, len(sent[0]), len(sent[1]))
				}
			}
			for port := range ports {
				if a, b := rigs[0].sw.Next(now, port), rigs[1].sw.Next(now, port); a != b {
					t.Fatalf("port %d wants to be called at %v; the general way at %v", port, a, b)
				}
				if a, b := rigs[0].env.Due(port), rigs[1].env.Due(port); a != b {
					t.Fatalf("port %d is woken for %v; the general way for %v", port, a, b)
				}
			}
			if a, b := rigs[0].sw.Stats(now), rigs[1].sw.Stats(now); !reflect.DeepEqual(a, b) {
				t.Fatalf("%s", difference(a, b))
			}
			if a, b := rigs[0].sw.FDB().Entries(now), rigs[1].sw.FDB().Entries(now); !reflect.DeepEqual(a, b) {
				t.Fatalf("learned %v\nthe general way %v", a, b)
			}
			if err := rigs[0].sw.Audit(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func difference(a, b Stats) string {
	for i := range a.Ports {
		if a.Ports[i] != b.Ports[i] {
			return fmt.Sprintf("port %d counts\n%+v\nthe general way\n%+v", i, a.Ports[i], b.Ports[i])
		}
	}
	return "equal"
}

const routerMAC wire.MAC = 0x0200_0000_00FE

// anyVLANs are VLANs 10 and 20 with ports of every kind.
func anyVLANs(t *rapid.T, ports int) []VLAN {
	v := []VLAN{{ID: 10}, {ID: 20}}
	for p := range uint16(ports) {
		switch rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 4}).Draw(t, "member") {
		case 0:
			v[0].Untagged = append(v[0].Untagged, p)
		case 1:
			v[1].Untagged = append(v[1].Untagged, p)
		case 2:
			v[0].Untagged, v[1].Tagged = append(v[0].Untagged, p), append(v[1].Tagged, p)
		case 3:
			v[0].Tagged, v[1].Tagged = append(v[0].Tagged, p), append(v[1].Tagged, p)
		}
	}
	return v
}

// anyRouter has routes to those of some hops that the VLANs allow.
func anyRouter(t *rapid.T, c *SwitchConfig) Router {
	r := Router{MAC: routerMAC, Addresses: []netip.Addr{netip.MustParseAddr("10.0.9.1")}}
	for _, prefix := range []string{"10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/23", "10.0.2.0/24", "10.0.1.2/32"} {
		route := Route{Prefix: netip.MustParsePrefix(prefix)}
		for range rapid.IntRange(0, 3).Draw(t, "hops") {
			hop := NextHop{Port: uint16(rapid.IntRange(0, len(c.Ports)-1).Draw(t, "hop")), MAC: mac(200 + len(route.Via))}
			if c.VLANs != nil {
				hop.VLAN = rapid.SampledFrom([]uint16{0, 10, 20}).Draw(t, "vlan")
			}
			if c.checkPlace(hop.Port, hop.VLAN) == nil {
				route.Via = append(route.Via, hop)
			}
		}
		if route.Via != nil {
			r.Routes = append(r.Routes, route)
		}
	}
	return r
}

// anyFrame is a frame of one of the kinds that a switch meets.
func anyFrame(t *rapid.T, p, ports int) []byte {
	b := make([]byte, rapid.IntRange(60, 1600).Draw(t, "length"))
	to := rapid.IntRange(0, ports+1).Draw(t, "to")
	if rapid.IntRange(0, 15).Draw(t, "group") == 0 {
		to = 9
	}
	dscp := rapid.SampledFrom([]uint8{0, 26, 26, 26, 48}).Draw(t, "dscp")
	ecn := rapid.SampledFrom([]uint8{wire.NotECT, wire.ECT0, wire.ECT1, wire.CE}).Draw(t, "ecn")
	copy(b, packet(p, to, dscp, ecn))
	if rapid.IntRange(0, 3).Draw(t, "routed") == 0 {
		routerMAC.Put(b)
		b[22] = rapid.SampledFrom([]byte{64, 64, 64, 2, 1, 0}).Draw(t, "ttl")
		b[32] = rapid.SampledFrom([]byte{0, 1, 2, 3}).Draw(t, "subnet") // 10.0.3.0/24 is nowhere
		wire.SetIPLength(b[14:], rapid.SampledFrom([]int{40, 46, len(b) - 14, len(b) - 13}).Draw(t, "total"))
		b[25] ^= rapid.SampledFrom([]byte{0, 0, 0, 0, 1}).Draw(t, "checksum")
	}
	tag := func() []byte {
		return slices.Concat(b[:12], []byte{0x81, 0, rapid.SampledFrom([]byte{0x60, 0xB0}).Draw(t, "pcp"), rapid.SampledFrom([]byte{0, 10, 10, 20, 20, 30, 255}).Draw(t, "vid")}, b[12:])
	}
	if rapid.IntRange(0, 3).Draw(t, "tag") == 0 {
		b = tag()
	}
	switch rapid.IntRange(0, 15).Draw(t, "kind") {
	case 0:
		wire.BTH(b[42:]).SetOpcode(wire.OpCNP)
	case 1:
		wire.Broadcast.Put(b)
	case 2:
		wire.Broadcast.Put(b)
		copy(b[12:], []byte{0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1}) // ARP
		copy(b[38:], []byte{10, 0, 9, rapid.SampledFrom([]byte{1, 2}).Draw(t, "who")})
	case 10:
		wire.MAC(0x3333_0000_0001).Put(b)
	case 8:
		return append(tag(), 1) // twice, perhaps
	case 9:
		b[14+9] = wire.ProtoICMP // to the router perhaps
		copy(b[30:], []byte{10, 0, 9, 1})
		b[34], b[35] = 8, 0
		wire.SetIPv4Checksum(b[14:])
	case 3:
		b[20] = 1 // a later fragment
	case 4:
		return pauseFrame(3, rapid.SampledFrom([]uint16{0, 1, 60}).Draw(t, "quanta"))
	case 5:
		return b[:rapid.IntRange(4, 53).Draw(t, "short")]
	case 6:
		mac((p + 1) % ports).Put(b[6:]) // moved here
	case 7:
		return tag()
	}
	return b
}

// A packet that was routed stays so when another of its burst is looked up again,
// since a third one between them was the first of its address.
func TestRoutedBeforeAnAddressIsLearned(t *testing.T) {
	c := routerConfig()
	c.Learn, c.FDBSize, c.Static = true, 64, nil
	eachWay(t, c, func(t *testing.T, r *rig) {
		arrive := func(headers ...[]byte) {
			var burst []Frame
			for _, h := range headers {
				f, _ := r.env.Alloc(len(h))
				copy(r.env.Header(f), h)
				burst = append(burst, f)
			}
			r.sw.Receive(r.now, 0, burst)
		}
		first, second := ip("10.0.0.1", "10.0.1.7", 100), ip("10.0.0.1", "10.0.2.7", 100)
		arrive(first, second)
		arrive(first, packet(77, 3, 26, wire.ECT0), first, second)
		for port, want := range map[int]int{1: 3, 2: 2} {
			routed := 0
			for _, b := range r.out(port, 9) {
				switch to := wire.MACAt(b); to {
				case mac(port):
					routed++
				case mac(3): // flooded
				default:
					t.Errorf("port %d sends to %v", port, to)
				}
			}
			if routed != want {
				t.Errorf("port %d sends %d packets to its neighbour, want %d", port, routed, want)
			}
		}
	})
}
