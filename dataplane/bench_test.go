package dataplane

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"photon/marking"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// traffic is frames that arrive at a switch again and again, dealt out over its ports.
type traffic struct {
	rig    *rig
	frames [][]Frame // per port
	sums   [][]byte  // checksums of their IP headers, without mark
}

// newTraffic makes bursts for every port: addresses and priorities in turn, the
// destinations such that every port sends as much as it receives.
func newTraffic(b *testing.B, ports, priorities, addresses int) *traffic {
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
	r := newRig(b, c)
	r.sw.Reserve()
	t := &traffic{rig: r, frames: make([][]Frame, ports), sums: make([][]byte, ports)}
	t.learn(addresses)
	for p := range ports {
		for i := range vectorLen {
			n := p*vectorLen + i
			to := (p + 1 + i%(ports-1)) % ports
			dscp := uint8(26)
			if priorities > 1 {
				dscp = uint8(n % priorities << 3)
			}
			f, _ := r.env.Alloc(64)
			h := r.env.Header(f)
			group := n * 7919 % (addresses / ports) * ports
			copy(h, packet(group+p, group+to, dscp, wire.ECT0))
			binary.BigEndian.PutUint16(h[34:], uint16(n)) // flow
			t.frames[p] = append(t.frames[p], f)
			t.sums[p] = append(t.sums[p], h[24:26]...)
		}
	}
	return t
}

// learn has the switch know addresses; a is behind port a modulo ports.
func (t *traffic) learn(addresses int) {
	for a := range addresses {
		t.rig.sw.lans.all[0].fdb.learn(mac(a), a%len(t.frames), 0)
	}
}

// round lets a burst arrive at every port, and every port send one.
func (t *traffic) round(burst []Frame) {
	r := t.rig
	r.now += us
	for p := range t.frames {
		for i := range t.frames[p] { // takes off its mark of the last round
			b := r.env.Start(&t.frames[p][i])
			copy(b[24:26], t.sums[p][2*i:])
			b[15] = b[15]&^3 | wire.ECT0
		}
		r.sw.Receive(r.now, p, t.frames[p])
	}
	for p := range t.frames {
		r.sw.Transmit(r.now, p, burst)
	}
	r.env.Woken()
}

// What a frame costs is to be the same whatever the switch is like. Compare with
// benchstat: go test -run '^$' -bench Switch -count 10 ./dataplane.
func BenchmarkSwitch(b *testing.B) {
	for _, c := range []struct{ ports, priorities, addresses int }{
		{4, 1, 64}, {16, 1, 64}, {64, 1, 64}, {4, 8, 64}, {4, 1, 1000}, {4, 1, 10_000},
	} {
		b.Run(fmt.Sprintf("ports=%d/priorities=%d/addresses=%d", c.ports, c.priorities, c.addresses), func(b *testing.B) {
			t := newTraffic(b, c.ports, c.priorities, c.addresses)
			burst := make([]Frame, vectorLen)
			b.ReportAllocs()
			perFrame(b, c.ports*vectorLen, func() { t.round(burst) })
		})
	}
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
	burst := make([]Frame, vectorLen)
	perFrame(b, 4*vectorLen, func() { t.round(burst) })
}

// perFrame reports what one of the frames of a round costs: processor time of the
// thread, which others on the machine do not disturb as much as the wall's; and the tenth
// percentile of the last rounds' time by the wall, which is that of one that nobody interrupted.
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
	rounds := took[:min(n, len(took))]
	slices.Sort(rounds)
	b.ReportMetric(float64(rounds[len(rounds)/10].Nanoseconds())/float64(frames), "p10-ns/frame")
}

// What the workers rest for while somebody looks: the counters of all ports are
// copied into memory that is there.
func BenchmarkCopyStats(b *testing.B) {
	for _, ports := range []int{4, 64} {
		b.Run(fmt.Sprint("ports=", ports), func(b *testing.B) {
			t := newTraffic(b, ports, 8, 4*ports)
			st := Stats{Ports: make([]PortStats, ports)}
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
		burst := make([]Frame, vectorLen)
		perFrame(b, 4*vectorLen, func() { t.round(burst) })
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
				f.shift(-wire.VLANLen)
				wire.PushVLANTag(t.rig.env.Header(*f), 3<<13|10)
			}
		}
		burst := make([]Frame, vectorLen)
		perFrame(b, 4*vectorLen, func() {
			t.rig.now += us
			for p := range t.frames {
				t.rig.sw.Receive(t.rig.now, p, t.frames[p])
			}
			for p := range t.frames {
				if n := t.rig.sw.Transmit(t.rig.now, p, burst); n != vectorLen {
					b.Fatalf("%d frames", n)
				}
			}
			t.rig.env.Woken()
		})
	})
}
