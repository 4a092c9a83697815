package sim

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/dataplane"
	"photon/fabric"
	"photon/pfc"
	"photon/ratelimit"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// dumbbell is three senders on one switch and three receivers on another.
type dumbbell struct {
	*World
	hosts    []*agent.Host
	switches []*dataplane.Switch
}

const (
	rate     = 10 * units.Gbps
	hostLink = 5 * units.Microsecond
)

func end(node, port int) fabric.End { return fabric.End{Node: node, Port: port} }

func mac(i int) wire.MAC { return 0x0200_0A00_0000 | wire.MAC(i) }
func ip(i int) wire.IP   { return wire.IPv4(10, 0, 0, byte(i)) }

func newDumbbell(t *testing.T, name string, trunk units.Time) *dumbbell {
	t.Helper()
	s, err := scheme.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := s.Build(scheme.Network{Line: rate, RTT: 2 * (2*hostLink + trunk), LongFlows: 4, Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := &dumbbell{World: New()}
	cable := func(delay units.Time) fabric.Link { return fabric.Link{Rate: rate, Delay: delay} }
	for i := range 6 {
		env := d.NewEnvs(1)
		h, err := agent.New(agent.Config{
			MAC: mac(i), IP: ip(i), Link: cable(hostLink), Lossless: 1 << 3, DSCP: dataplane.DefaultDSCP(), DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48,
			Carry: parts.Carry, Payload: 1000, AckTimeout: 67 * units.Millisecond, Senders: 8, Receivers: 8, Age: units.Second, NP: parts.NP(8), NewRP: parts.RP,
		}, env[0])
		if err != nil {
			t.Fatal(err)
		}
		d.hosts = append(d.hosts, h)
		d.Add(fmt.Sprintf("H%d", i), h, env, []int{0})
	}
	headroom := func(delay units.Time) units.Size { return pfc.Headroom(rate, delay, 0, 1518) }
	for s := range 2 {
		env := d.NewEnvs(4)
		c := dataplane.SwitchConfig{
			Lossless: 1 << 3, Buffer: 12 * units.MB, Tail: units.MB, MTU: 1500, Classes: dataplane.DefaultClasses(), Control: 6, FDBSize: 16,
			CP: parts.CP,
		}
		c.PFC[3] = pfc.Thresholds{XOFF: 512 * units.KB, XON: 509 * units.KB, Headroom: headroom(hostLink)}
		for p := range 4 {
			c.Ports = append(c.Ports, dataplane.PortConfig{MAC: mac(100 + 4*s + p), Link: cable(hostLink)})
		}
		c.Ports[3].Headroom = headroom(trunk)
		for i := range 6 {
			out := uint16(3)
			if i/3 == s {
				out = uint16(i % 3)
			}
			c.Static = append(c.Static, dataplane.StaticEntry{MAC: mac(i), Ports: []uint16{out}})
		}
		sw, err := dataplane.NewSwitch(c, env)
		if err != nil {
			t.Fatal(err)
		}
		d.switches = append(d.switches, sw)
		d.Add(fmt.Sprintf("S%d", s), sw, env, make([]int, 4))
	}
	for i := range 6 {
		if err := d.Connect(end(i, 0), end(6+i/3, i%3), cable(hostLink)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Connect(end(6, 3), end(7, 3), cable(trunk)); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *dumbbell) flow(t *testing.T, from, to, qp int, size units.Size, start units.Time) int {
	t.Helper()
	id, err := d.hosts[from].AddFlow(d.Now(), agent.FlowSpec{
		Peer: ip(to), PeerMAC: mac(to), QP: uint32(qp), Size: size, Start: start, FixedPSN: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (d *dumbbell) run(t *testing.T, until units.Time) {
	t.Helper()
	if err := d.Run(context.Background(), until); err != nil {
		t.Fatal(err)
	}
	if err := d.Audit(); err != nil {
		t.Error(err)
	}
	for i, h := range d.hosts {
		noDiscards(t, fmt.Sprintf("H%d", i), h.Stats(d.Now()))
	}
	for i, s := range d.switches {
		noDiscards(t, fmt.Sprintf("S%d", i), s.Stats(d.Now()))
	}
}

func noDiscards(t *testing.T, name string, st fabric.Stats) {
	t.Helper()
	for p := range st.Ports {
		for r, byPrio := range st.Ports[p].Discards {
			for prio, n := range byPrio {
				if n != 0 {
					t.Errorf("%s port %d priority %d: %d frames discarded: %v", name, p, prio, n, fabric.Reason(r))
				}
			}
		}
	}
}

// Four long flows through one bottleneck: nothing is lost and the bottleneck is
// busy, whatever the scheme; with PCN the queue is short once the overload of the start has drained.
func TestSchemesFillTheBottleneck(t *testing.T) {
	for _, name := range scheme.Names() {
		t.Run(name, func(t *testing.T) {
			d := newDumbbell(t, name, 240*units.Microsecond)
			for i, pair := range []int{0, 1, 2, 2} {
				d.flow(t, pair, 3+pair, i+1, 0, 0)
			}
			d.run(t, 20*units.Millisecond)
			st := d.switches[0].Stats(d.Now())
			before, queueThen := st.Ports[3].TxBytes[3], st.Ports[3].QueueBytes[3]
			d.run(t, 60*units.Millisecond)
			st = d.switches[0].Stats(d.Now())
			hash, _ := d.Hash()
			frames := float64(st.Ports[3].TxBytes[3]-before) / 1058
			share := frames * 1082 * 8 / 0.040 / float64(rate)
			var pauses uint64
			for p := range 3 {
				pauses += st.Ports[p].Ingress.Pauses[3]
			}
			t.Logf("share %.4f, queue %v, peak %v, pauses %d, hash %016x", share, st.Ports[3].QueueBytes[3], st.Ports[3].QueuePeak[3], pauses, hash)
			// Half a millisecond of round trip is long for most: they swing, or
			// recover for longer than this test.
			least := 0.4
			if slices.Contains([]string{"none", "pcn", "hpcc", "pacc", "qcn"}, name) {
				least = 0.95
			}
			// A round trip's worth of BECNs takes InfiniBand's flows to the end of their table, and each entry on
			// the way back lasts as long as any: four flows have 4/128 of the sum of 1 to 1/128.
			if name == "ibcc" || name == "tcd+ibcc" {
				sum := 0.0
				for i := range 128 {
					sum += 1 / float64(1+i)
				}
				if least = 0.9 * 4 * sum / 128; share > 1.1*4*sum/128 {
					t.Errorf("%.3f of the bottleneck is used, and %.3f on average over the table", share, 4*sum/128)
				}
			}
			if share < least {
				t.Errorf("%.3f of the bottleneck is used", share)
			}
			if name == "pcn" {
				d.overloadDrains(t, queueThen-st.Ports[3].QueueBytes[3])
			}
			if pauses == 0 && (name == "none" || name == "pcn" || name == "dcqcn") {
				t.Error("a start at line rate of 30 Gbit/s into 10 must pause the senders")
			}
		})
	}
}

// overloadDrains checks what the paper's appendix A says of four flows that begin together at line rate: one
// loop after the overload the senders are at (1-w_min)*C, and what has gathered until then, 1.4 MB here,
// drains by w_min*C. fell is by how much the queue did from 20 to 60 ms. It is somewhat more than w_min asks for: a sender goes by
// the least receiving rate that it was told, and one frame is 0.7 % of what a flow gets through in a period.
func (d *dumbbell) overloadDrains(t *testing.T, fell units.Size) {
	t.Helper()
	least := (rate / 128).Bytes(40*units.Millisecond) * 1058 / 1082
	if fell < least || fell > 3*least/2 {
		t.Errorf("in 40 ms the queue falls by %v: w_min*C is %v", fell, least)
	}
	d.run(t, 160*units.Millisecond)
	for now := d.Now(); now < 200*units.Millisecond; now += 100 * units.Microsecond {
		d.run(t, now)
		if queue := d.switches[0].Stats(now).Ports[3].QueueBytes[3]; queue > 120*units.KB {
			t.Fatalf("at %v the queue is %v", now, queue)
		}
	}
}

// An empty network's completion time can be worked out by hand.
func TestFlowCompletionTimeByHand(t *testing.T) {
	d := newDumbbell(t, "none", 240*units.Microsecond)
	d.flow(t, 0, 3, 7, 2500, units.Millisecond) // three packets: 1000, 1000, 500 bytes of payload
	d.run(t, 3*units.Millisecond)
	done := d.hosts[0].TakeResults()
	if len(done) != 1 {
		t.Fatalf("%d flows ended", len(done))
	}
	// Store and forward over three links. The last packet, shorter than the two
	// before it, catches up with the second on the second link and waits for it
	// there and on the third, so that four full ones and itself count.
	full, last, ack := rate.Serialize(1082), rate.Serialize(582), rate.Serialize(62+24)
	want := 4*full + last + 3*ack + 2*250*units.Microsecond
	if got := done[0].FCT(); got != want {
		t.Fatalf("%v, want %v (difference %v)", got, want, got-want)
	}
	if done[0].FirstBit != units.Millisecond || done[0].Frames != 3 {
		t.Fatalf("%+v", done[0])
	}
}

// One seed, one trace; golden, so that a change of behaviour is seen.
func TestTraceHash(t *testing.T) {
	golden := map[string]uint64{"none": 0x2a2a575867a583aa, "dcqcn": 0xacb5142713125c39, "pcn": 0xdcb5f920e92645c1}
	for name, want := range golden {
		var hashes [2]uint64
		for i := range hashes {
			d := newDumbbell(t, name, 40*units.Microsecond)
			for i, pair := range []int{0, 1, 2, 2} {
				d.flow(t, pair, 3+pair, i+1, 0, 0)
			}
			d.flow(t, 3, 0, 9, 100*units.KB, 200*units.Microsecond)
			d.run(t, 3*units.Millisecond)
			hashes[i], _ = d.Hash()
		}
		if hashes[0] != hashes[1] {
			t.Errorf("%s: two runs differ", name)
		}
		if hashes[0] != want {
			t.Errorf("%s: trace hash 0x%016x, golden 0x%016x", name, hashes[0], want)
		}
	}
}

func TestSamplesComeInOrder(t *testing.T) {
	d := newDumbbell(t, "none", units.Microsecond)
	var at []units.Time
	d.Every(3*units.Microsecond, func(now units.Time) { at = append(at, now) })
	d.Every(2*units.Microsecond, func(now units.Time) { at = append(at, now) })
	d.run(t, 6*units.Microsecond)
	want := []units.Time{2, 3, 4, 6, 6}
	for i := range want {
		if len(at) != len(want) || at[i] != want[i]*units.Microsecond {
			t.Fatal(at)
		}
	}
}

func TestConnectRefuses(t *testing.T) {
	d := newDumbbell(t, "none", 0)
	for _, e := range [][2]fabric.End{{end(0, 0), end(1, 0)}, {end(99, 0), end(1, 0)}, {end(0, 5), end(1, 0)}} {
		if d.Connect(e[0], e[1], fabric.Link{Rate: rate}) == nil {
			t.Errorf("%v was connected", e)
		}
	}
}

func TestRunStopsWithContext(t *testing.T) {
	for _, until := range []units.Time{units.Second, units.Never} {
		for parts := range 2 {
			d := newDumbbell(t, "none", units.Microsecond)
			d.SetParts(1 + parts)
			d.flow(t, 0, 3, 1, 0, 0)
			ctx, cancel := context.WithCancel(context.Background())
			d.Every(units.Millisecond, func(units.Time) { cancel() })
			if err := d.Run(ctx, until); err == nil || d.Now() > 10*units.Millisecond {
				t.Fatal(until, parts, err, d.Now())
			}
		}
	}
}

// A worker polls at a port that has a link, whichever of its ports that is.
func TestWorkerWithoutFirstPort(t *testing.T) {
	for _, cabled := range []int{1, 2} { // of the ports of the second worker
		w := New()
		w.SetWorkers(2, units.Microsecond)
		link := fabric.Link{Rate: rate, Delay: hostLink}
		var hosts []*agent.Host
		for i := range 2 {
			envs := w.NewEnvs(1)
			h, err := agent.New(agent.Config{
				MAC: mac(i), IP: ip(i), Link: link, Lossless: 1 << 3, DSCP: dataplane.DefaultDSCP(),
				DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48, Payload: 1000, AckTimeout: units.Second,
				Senders: 8, Receivers: 8, Age: units.Second, NP: cnp.Silent{},
				NewRP: func(*ratelimit.Port) ratelimit.RP { return ratelimit.Unlimited{Line: rate} },
				Carry: cnp.Carry{ECT: wire.ECT0},
			}, envs[0])
			if err != nil {
				t.Fatal(err)
			}
			hosts = append(hosts, h)
			w.Add("H", h, envs, []int{0})
		}
		c := dataplane.SwitchConfig{
			Lossless: 1 << 3, Buffer: 12 * units.MB, Tail: units.MB, MTU: 1500, Control: 6, FDBSize: 16,
			Classes: dataplane.DefaultClasses(),
		}
		c.PFC[3] = pfc.Thresholds{XOFF: 512 * units.KB, XON: 509 * units.KB, Headroom: 100 * units.KB}
		for p := range 3 {
			c.Ports = append(c.Ports, dataplane.PortConfig{MAC: mac(100 + p), Link: link, Worker: min(p, 1)})
		}
		c.Static = []dataplane.StaticEntry{
			{MAC: mac(0), Ports: []uint16{0}}, {MAC: mac(1), Ports: []uint16{uint16(cabled)}},
		}
		envs := w.NewEnvs(3)
		sw, err := dataplane.NewSwitch(c, envs)
		if err != nil {
			t.Fatal(err)
		}
		w.Add("S", sw, envs, []int{0, 1, 1})
		for i, p := range []int{0, cabled} {
			if err := w.Connect(end(i, 0), end(2, p), link); err != nil {
				t.Fatal(err)
			}
		}
		flow := agent.FlowSpec{Peer: ip(1), PeerMAC: mac(1), QP: 7, Size: 10 * units.KB}
		if _, err := hosts[0].AddFlow(0, flow); err != nil {
			t.Fatal(err)
		}
		if err := w.Run(context.Background(), 100*units.Millisecond); err != nil {
			t.Fatal(err)
		}
		if got := hosts[1].Received(ip(0), 7).Frames; got != 10 {
			t.Errorf("port %d has the cable: %d of 10 packets have arrived after 100 ms, %d are in the switch",
				cabled, got, sw.Queued())
		}
	}
}
