package dataplane

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"testing"

	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// Where packets go in these tests.
const (
	behindAll  wire.MAC = 9  // an address behind ports 1 to 4
	behindTwo  wire.MAC = 10 // one behind port 2
	pathRouter wire.MAC = 11 // the router, with four next hops behind ports 1 to 4
)

// fourPaths is such a switch and its environment.
func fourPaths(t *testing.T, paths Paths, vlans bool) (*Switch, *fabric.Env) {
	t.Helper()
	c := SwitchConfig{
		Buffer: 20 * units.MB, Tail: units.MB, MTU: 1500, Classes: DefaultClasses(), FDBSize: 8, Paths: paths, Salt: 7,
		Lossless: 1 << 3, CP: func(marking.Place) marking.CP { return marking.None{} },
		Static: []StaticEntry{{MAC: behindAll, Ports: []uint16{1, 2, 3, 4}}, {MAC: behindTwo, Ports: []uint16{2}}},
		Router: Router{MAC: pathRouter, Routes: []Route{{Prefix: netip.MustParsePrefix("10.0.0.0/8")}}},
	}
	for i := range uint16(4) {
		c.Router.Routes[0].Via = append(c.Router.Routes[0].Via, NextHop{Port: i + 1, MAC: wire.MAC(200 + i)})
	}
	if vlans {
		c.VLANs = []VLAN{{ID: 10, Untagged: []uint16{0, 1, 2, 3, 4}}}
		for i := range c.Static {
			c.Static[i].VLAN = 10
		}
	}
	c.PFC[3] = pfc.Thresholds{XOFF: 4 * units.MB, XON: 4 * units.MB}
	for i := range 5 {
		c.Ports = append(c.Ports, PortConfig{MAC: wire.MAC(100 + i), Link: fabric.Link{Rate: 10 * units.Gbps}})
	}
	env := fabric.NewEnv(fabric.NewHeaderPoolOf(4096), 5)
	s, err := NewSwitch(c, []*fabric.Env{env})
	if err != nil {
		t.Fatal(err)
	}
	return s, env
}

// sendOver has a packet of a flow come in at port 0, and returns the port at which it waits then; nothing has left
// before.
func sendOver(t *testing.T, s *Switch, env *fabric.Env, now units.Time, to wire.MAC, flow uint16) int {
	t.Helper()
	before := [5]units.Size{}
	for i := range before {
		before[i] = s.QueueBytes(i, 3)
	}
	r := wire.RoCE{DstMAC: to, SrcMAC: 1, Src: wire.IPv4(10, 0, 0, 1), Dst: wire.IPv4(10, 0, 0, 2), TOS: 26 << 2, SrcPort: flow}
	f, ok := env.Alloc(1000)
	if !ok {
		t.Fatal("no memory")
	}
	b := env.Bytes(&f)
	at := r.Encode(b, 1000-wire.EthernetLen-wire.IPv4Len-wire.UDPLen)
	wire.BTH(b[at:]).Encode(wire.OpSendMiddle, false, uint32(flow), false, 0)
	s.Receive(now, 0, []fabric.Frame{f})
	env.Woken()
	for i := range before {
		if s.QueueBytes(i, 3) > before[i] {
			return i
		}
	}
	t.Fatal("the packet waits nowhere")
	return 0
}

// stopByPeers has the peers of ports stop priority 3 for long.
func stopByPeers(s *Switch, env *fabric.Env, ports ...int) {
	for _, port := range ports {
		f, _ := env.Alloc(pfc.FrameLen)
		p := pfc.Frame{Enable: 1 << 3}
		p.Quanta[3] = math.MaxUint16
		p.Encode(env.Bytes(&f), wire.MAC(5))
		s.Receive(0, port, []fabric.Frame{f})
	}
}

// Packets of one flow are spread as the choice says, and those of a flow that keeps its path are not.
func TestPacketsTakeThePathsOfTheChoice(t *testing.T) {
	const packets = 2000
	for _, c := range []struct {
		paths Paths
		every units.Time // between two packets
		least int        // of the four ports
		most  int
	}{
		{Paths{By: ByFlow}, units.Microsecond, 0, packets},
		{Paths{By: ByRoundRobin}, units.Microsecond, packets / 4, packets / 4},
		{Paths{By: AtRandom}, units.Microsecond, 400, 600}, // five standard deviations
		{Paths{By: ByFlowlet, Gap: 10 * units.Microsecond}, units.Microsecond, 0, packets},
		{Paths{By: ByFlowlet, Gap: 10 * units.Microsecond}, 11 * units.Microsecond, 400, 600},
		{Paths{By: ByQueue}, units.Microsecond, 490, 510}, // the longest queue is never chosen
	} {
		for _, vlans := range []bool{false, true} {
			for _, to := range []wire.MAC{behindAll, pathRouter} {
				s, env := fourPaths(t, c.paths, vlans)
				stopByPeers(s, env, 1, 2, 3, 4)
				took, now := [5]int{}, units.Time(0)
				for range packets {
					now += c.every
					took[sendOver(t, s, env, now, to, 7)]++
				}
				least, most := packets, 0
				for _, n := range took[1:] {
					least, most = min(least, n), max(most, n)
				}
				if took[0] != 0 || least < c.least || most > c.most || c.least == 0 && most != packets {
					t.Errorf("%v, a packet every %v to %v, VLANs %v: %v", c.paths, c.every, to, vlans, took)
				}
			}
		}
	}
}

// Another seed draws other paths, and the same seed the same.
func TestSeedsDrawPaths(t *testing.T) {
	drawn := map[uint64][]int{}
	for _, seed := range []uint64{0, 1, 2} {
		for range 2 {
			s, env := fourPaths(t, Paths{By: AtRandom, Seed: seed}, false)
			stopByPeers(s, env, 1, 2, 3, 4)
			var all []int
			for range 50 {
				all = append(all, sendOver(t, s, env, 0, behindAll, 7))
			}
			if before := drawn[seed]; before != nil && !slices.Equal(before, all) {
				t.Errorf("seed %d draws %v, and %v", seed, before, all)
			}
			drawn[seed] = all
		}
	}
	if slices.Equal(drawn[0], drawn[1]) || slices.Equal(drawn[1], drawn[2]) {
		t.Errorf("two seeds draw the same: %v", drawn)
	}
}

// The choice by queue avoids a port whose queue is long, and every choice a port without link.
func TestPathsAvoidWhatIsFull(t *testing.T) {
	s, env := fourPaths(t, Paths{By: ByQueue}, false)
	stopByPeers(s, env, 1, 2, 3, 4)
	for range 200 {
		sendOver(t, s, env, 0, behindTwo, 7)
	}
	for range 300 {
		if sendOver(t, s, env, 0, behindAll, 7) == 2 {
			t.Fatal("a packet goes to the port whose queue is the longest by far")
		}
	}
	for by := range PathChoices {
		paths := Paths{By: PathChoice(by)}
		if paths.By == ByFlowlet {
			paths.Gap = units.Microsecond
		}
		s, env := fourPaths(t, paths, false)
		stopByPeers(s, env, 1, 2, 3, 4)
		ch, err := s.PrepareLink(3, LinkState{})
		if err != nil {
			t.Fatal(err)
		}
		s.SetLink(0, ch)
		for i := range 400 {
			if at := sendOver(t, s, env, units.Time(i)*10*units.Microsecond, behindAll, uint16(i)); at == 3 {
				t.Errorf("%v: a packet goes to a port without link", paths.By)
			}
		}
	}
}

func TestPathErrors(t *testing.T) {
	for _, p := range []Paths{{By: 77}, {By: ByFlowlet}, {By: ByFlowlet, Gap: -1}, {By: AtRandom, Gap: 1}} {
		c := SwitchConfig{Paths: p}
		if c.checkPaths() == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
	c := SwitchConfig{Paths: Paths{By: ByQueue}, Ports: []PortConfig{{Worker: 0}, {Worker: 1}}}
	if c.checkPaths() == nil {
		t.Error("two workers do not know each other's queues")
	}
}

// A reload changes the choice, and back.
func TestReloadOfPaths(t *testing.T) {
	s, env := fourPaths(t, Paths{}, false)
	stopByPeers(s, env, 1, 2, 3, 4)
	for _, by := range []PathChoice{ByRoundRobin, ByFlow} {
		want := map[PathChoice]int{ByRoundRobin: 4, ByFlow: 1}[by]
		c := s.config
		c.Paths.By = by
		ch, err := s.Prepare(c)
		if err != nil {
			t.Fatal(err)
		}
		s.Apply(0, ch)
		used := map[int]bool{}
		for range 4 {
			used[sendOver(t, s, env, 0, behindAll, 7)] = true
		}
		if len(used) != want {
			t.Errorf("by %v one flow uses %d ports, not %d", by, len(used), want)
		}
	}
}

// A flow's flowlet ends when the flow was silent for longer than the gap, also when the clock was set back meanwhile.
func TestFlowletsEndAfterTheGap(t *testing.T) {
	const gap, hash = 10 * units.Microsecond, 77
	c := SwitchConfig{Paths: Paths{By: ByFlowlet, Gap: gap}}
	p := newPaths(&c, 0)
	now := 5 * units.Second
	first := p.flowlet(now, hash, gap)
	for range 3 {
		if now += gap; p.flowlet(now, hash, gap) != first {
			t.Error("another path after just the gap")
		}
	}
	now -= 4 * units.Second
	p.Rebase(4 * units.Second)
	if now += gap; p.flowlet(now, hash, gap) != first {
		t.Error("another path after just the gap, and a clock that was set back")
	}
	if now += gap + 1; p.flowlet(now, hash, gap) == first {
		t.Error("the same path after more than the gap")
	}
}

// Switches, their ports and runs of other seeds draw other paths; seeds are as the laboratory has them.
func TestDrawsDiffer(t *testing.T) {
	drawn := map[[4]uint32]string{}
	for _, seed := range []uint64{0, 1 << 20} {
		for _, salt := range []uint32{0, 1} {
			for port := range 2 {
				p := newPaths(&SwitchConfig{Salt: salt, Paths: Paths{By: AtRandom, Seed: seed}}, port)
				draws := [4]uint32{p.random.draw(), p.random.draw(), p.random.draw(), p.random.draw()}
				name := fmt.Sprintf("seed %d, salt %d, port %d", seed, salt, port)
				if other, ok := drawn[draws]; ok {
					t.Errorf("%s draws what %s does", name, other)
				}
				drawn[draws] = name
			}
		}
	}
}
