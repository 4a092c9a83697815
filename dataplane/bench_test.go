package dataplane

import (
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"photon/fabric"
	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// traffic is frames that arrive at a switch again and again, dealt out over its ports.
type traffic struct {
	rig    *rig
	frames [][]fabric.Frame // per port
	heads  [][][]byte       // what of them is written over: marks, routes
	crew   bool
}

// kind is what may be other than usual of the traffic and its switch.
type kind struct {
	workers int // 0: one
	change  func(c *SwitchConfig)
	header  func(b []byte, n int) []byte // of the n-th frame, made from the usual one
	length  func(n int) int
}

// kinds are what operators may have; the names are those of the benchmarks.
var kinds = map[string]kind{
	"plain":   {},
	"lossy":   {change: func(c *SwitchConfig) { c.Lossless = 0 }},
	"dynamic": {change: func(c *SwitchConfig) { c.PFC[3].Alpha = 1; c.Buffer += units.MB }},
	"cells":   {change: func(c *SwitchConfig) { c.Cell = 256 }},
	"ipv6":    {header: func(b []byte, n int) []byte { return over6(b) }},
	"tagged":  {header: func(b []byte, n int) []byte { return withTag(b, 3<<13|10) }},
	"mix":     {header: mixed, length: func(n int) int { return 68 + n*389%1430 }},
	"workers": {workers: 2, change: deal},
	"workers-lossy": {workers: 2, change: func(c *SwitchConfig) {
		c.Lossless = 0
		deal(c)
	}},
	"workers-dynamic": {workers: 2, change: func(c *SwitchConfig) {
		c.PFC[3].Alpha = 1
		c.Buffer += units.MB
		deal(c)
	}},
}

// deal gives the ports to two workers in turn.
func deal(c *SwitchConfig) {
	for i := range c.Ports {
		c.Ports[i].Worker = i % 2
	}
}

// over6 is a packet over IPv6 with the addresses and the class of one over IPv4.
func over6(b []byte) []byte {
	r := wire.RoCE{DstMAC: wire.MACAt(b), SrcMAC: wire.MACAt(b[6:]), TOS: b[15], SrcPort: binary.BigEndian.Uint16(b[34:])}
	r.Src, _ = wire.ParseIP("fd00::1")
	r.Dst, _ = wire.ParseIP("fd00::2")
	six := make([]byte, 100)
	r.Encode(six, 100-62)
	return six
}

// mixed are frames of all sorts.
func mixed(b []byte, n int) []byte {
	switch b[15] = []byte{26, 26, 26, 0, 48}[n%5]<<2 | wire.ECT0; n % 7 {
	case 0:
		return over6(b)
	case 1, 2:
		return withTag(b, uint16(n%8<<13))
	}
	return b
}

// newTraffic makes bursts for every port: addresses and priorities in turn, the
// destinations such that every port sends as much as it receives.
func newTraffic(b testing.TB, ports, priorities, addresses int) *traffic {
	return newTrafficOf(b, ports, priorities, addresses, kind{})
}

func newTrafficOf(b testing.TB, ports, priorities, addresses int, k kind) *traffic {
	c := config(ports)
	c.Static, c.Learn, c.FDBSize = nil, true, 16384
	c.Lossless = 1<<priorities - 1
	if priorities == 1 {
		c.Lossless = lossless
	}
	for p := range c.PFC {
		c.PFC[p] = pfc.Thresholds{XOFF: 100_000, XON: 50_000, Headroom: 50_000}
	}
	c.Buffer = units.Size(ports) * 8 * 200_000
	if k.change != nil {
		k.change(&c)
	}
	t := &traffic{frames: make([][]fabric.Frame, ports), heads: make([][][]byte, ports), crew: k.workers > 1}
	if t.crew {
		t.rig = newCrew(b, c, k.workers)
	} else {
		t.rig = newRig(b, c)
	}
	r := t.rig
	r.sw.Reserve()
	t.learn(addresses)
	for p := range ports {
		for i := range fabric.MaxBurst {
			n := p*fabric.MaxBurst + i
			to := (p + 1 + i%(ports-1)) % ports
			dscp := uint8(26)
			if priorities > 1 {
				dscp = uint8(n % priorities << 3)
			}
			group := n * 7919 % (addresses / ports) * ports
			h := with(packet(group+p, group+to, dscp, wire.ECT0), put16(34, uint16(n))) // flow
			if k.header != nil {
				h = k.header(h, n)
			}
			length := len(h)
			if k.length != nil {
				length = max(length, k.length(n))
			}
			t.frames[p] = append(t.frames[p], r.frame(0, h, length))
			t.heads[p] = append(t.heads[p], h[:32])
		}
	}
	return t
}

// learn has the switch know addresses; a is behind port a modulo ports.
func (t *traffic) learn(addresses int) {
	for a := range addresses {
		t.rig.sw.lans.all[0].fdb.Learn(mac(a), a%len(t.frames), 0)
	}
}

// round lets a burst arrive at every port, and every port send one.
func (t *traffic) round(burst []fabric.Frame) {
	r := t.rig
	r.now += us
	for p := range t.frames {
		for i := range t.frames[p] { // takes off what the last round left
			copy(r.env.Start(&t.frames[p][i])[:32], t.heads[p][i])
		}
		r.sw.Receive(r.now, p, t.frames[p])
	}
	if t.crew {
		r.poll()
	}
	for p := range t.frames {
		r.sw.Transmit(r.now, p, burst)
		r.sw.ports[p].env.Woken()
	}
}

// alone is a round of frames that arrive one by one, and pass their queues.
func (t *traffic) alone(burst []fabric.Frame) {
	r := t.rig
	r.now += us
	for p := range t.frames {
		for i := range t.frames[p] {
			copy(r.env.Start(&t.frames[p][i])[:32], t.heads[p][i])
			r.sw.Receive(r.now, p, t.frames[p][i:i+1])
			for _, out := range r.env.UsedExits() {
				r.env.Exit(int(out)).N = 0
			}
		}
	}
	for p := range t.frames { // the first of each key are queued
		if r.sw.ports[p].waiting != 0 {
			r.sw.Transmit(r.now, p, burst)
		}
	}
	r.env.Woken()
}

// openExits lets frames pass the queues.
func (t *traffic) openExits() {
	for p := range t.frames {
		e := t.rig.env.Exit(p)
		e.Frames = e.Inline[:]
	}
}

// What a frame costs is to be the same whatever the switch is like. Compare with
// benchstat: go test -run '^$' -bench Switch -count 10 ./dataplane.
func BenchmarkSwitch(b *testing.B) {
	for _, c := range []struct{ ports, priorities, addresses int }{
		{4, 1, 64}, {16, 1, 64}, {64, 1, 64}, {4, 8, 64}, {4, 1, 1000}, {4, 1, 10_000},
	} {
		b.Run(fmt.Sprintf("ports=%d/priorities=%d/addresses=%d", c.ports, c.priorities, c.addresses), func(b *testing.B) {
			t := newTraffic(b, c.ports, c.priorities, c.addresses)
			burst := make([]fabric.Frame, fabric.MaxBurst)
			b.ReportAllocs()
			perFrame(b, c.ports*fabric.MaxBurst, func() { t.round(burst) })
		})
	}
}

// The same in a switch of four ports, by kinds of frames and switches; and of frames that come alone and pass.
func BenchmarkKinds(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		b.Run(name, func(b *testing.B) {
			t := newTrafficOf(b, 4, 1, 64, kinds[name])
			burst := make([]fabric.Frame, 3*fabric.MaxBurst)
			b.ReportAllocs()
			perFrame(b, 4*fabric.MaxBurst, func() { t.round(burst) })
		})
	}
	b.Run("alone", func(b *testing.B) {
		t := newTraffic(b, 4, 1, 64)
		t.openExits()
		b.ReportAllocs()
		burst := make([]fabric.Frame, 3*fabric.MaxBurst)
		perFrame(b, 4*fabric.MaxBurst, func() { t.alone(burst) })
	})
}

// What the benchmarks do is what they say: all frames leave, in each round, and nothing is allocated.
func TestTrafficFlows(t *testing.T) {
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			x := newTrafficOf(t, 4, 1, 64, k)
			checkTraffic(t, x, x.round)
		})
	}
	t.Run("alone", func(t *testing.T) {
		x := newTraffic(t, 4, 1, 64)
		x.openExits()
		checkTraffic(t, x, x.alone)
	})
}

func checkTraffic(t *testing.T, x *traffic, round func(burst []fabric.Frame)) {
	burst := make([]fabric.Frame, 3*fabric.MaxBurst)
	for range 100 {
		round(burst)
	}
	if n := testing.AllocsPerRun(100, func() { round(burst) }); n != 0 {
		t.Errorf("%v allocations per round", n)
	}
	for p := range x.frames {
		st := x.rig.stats(p)
		if received, sent := total(st.RxFrames), total(st.TxFrames); received != 201*fabric.MaxBurst || sent != received || total(st.Discarded()) != 0 {
			t.Errorf("port %d: %d frames received, %d sent, %d discarded", p, received, sent, total(st.Discarded()))
		}
	}
}

func total(all [pfc.Classes]uint64) (sum uint64) {
	for _, n := range all {
		sum += n
	}
	return sum
}

// The same with no congestion point in the way.
func BenchmarkSwitchWithoutMarking(b *testing.B) {
	t := newTraffic(b, 4, 1, 64)
	var none [pfc.Classes]point
	for q := range none {
		none[q] = newPoint(marking.None{})
	}
	for p := range t.rig.sw.ports {
		t.rig.sw.ports[p].setPoints(none)
	}
	burst := make([]fabric.Frame, fabric.MaxBurst)
	perFrame(b, 4*fabric.MaxBurst, func() { t.round(burst) })
}

// perFrame reports what one of the frames of a round costs: processor time of the
// thread, which others on the machine do not disturb as much as the wall's; and the tenth
// percentile of the last rounds' time by the wall, which is that of an uninterrupted one.
func perFrame(b *testing.B, frames int, round func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after syscall.Rusage
	const thread = 1 // RUSAGE_THREAD
	var took [1 << 12]time.Duration
	n := 0
	syscall.Getrusage(thread, &before)
	for last := time.Now(); b.Loop(); n++ {
		round()
		now := time.Now()
		took[n%len(took)], last = now.Sub(last), now
	}
	syscall.Getrusage(thread, &after)
	b.ReportMetric(float64(after.Utime.Nano()-before.Utime.Nano()+after.Stime.Nano()-before.Stime.Nano())/float64(b.N)/float64(frames), "ns/frame")
	rounds := make([]float64, min(n, len(took)))
	for i := range rounds {
		rounds[i] = float64(took[i].Nanoseconds())
	}
	slices.Sort(rounds)
	b.ReportMetric(stat.Quantile(0.1, stat.Empirical, rounds, nil)/float64(frames), "p10-ns/frame")
}

// What the workers rest for while somebody looks: the counters of all ports are
// copied into memory that is there.
func BenchmarkCopyStats(b *testing.B) {
	for _, ports := range []int{4, 64} {
		b.Run(fmt.Sprint("ports=", ports), func(b *testing.B) {
			t := newTraffic(b, ports, 8, 4*ports)
			st := fabric.Stats{Ports: make([]fabric.PortStats, ports)}
			b.ReportAllocs()
			for b.Loop() {
				t.rig.sw.CopyStats(units.Second, &st)
			}
		})
	}
}

// A switch with VLANs: between access ports of one, and tagged on both sides, which
// goes the general way.
func BenchmarkVLANs(b *testing.B) {
	all := []uint16{0, 1, 2, 3}
	b.Run("access", func(b *testing.B) {
		t := newTraffic(b, 4, 1, 64)
		c := t.rig.sw.config
		c.VLANs = []VLAN{{ID: 10, Untagged: all}}
		t.rig.reload(c)
		t.learn(64)
		burst := make([]fabric.Frame, fabric.MaxBurst)
		perFrame(b, 4*fabric.MaxBurst, func() { t.round(burst) })
	})
	b.Run("tagged", func(b *testing.B) {
		t := newTraffic(b, 4, 1, 64)
		c := t.rig.sw.config
		c.VLANs, c.CP = []VLAN{{ID: 10, Tagged: all}}, func(marking.Place) marking.CP { return marking.None{} }
		t.rig.reload(c)
		t.learn(64)
		for p := range t.frames {
			for i := range t.frames[p] {
				f := &t.frames[p][i]
				shift(f, -wire.VLANLen)
				wire.PushVLANTag(t.rig.env.Header(*f), 3<<13|10)
			}
		}
		burst := make([]fabric.Frame, fabric.MaxBurst)
		perFrame(b, 4*fabric.MaxBurst, func() {
			t.rig.now += us
			for p := range t.frames {
				t.rig.sw.Receive(t.rig.now, p, t.frames[p])
			}
			for p := range t.frames {
				if n := t.rig.sw.Transmit(t.rig.now, p, burst); n != fabric.MaxBurst {
					b.Fatalf("%d frames", n)
				}
			}
			t.rig.env.Woken()
		})
	})
}
