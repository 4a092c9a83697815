package sim

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"photon/dataplane"
	"photon/fabric"
	"photon/marking"
	"photon/units"
	"photon/wire"
)

// blaster sends ECN-capable UDP packets of one length as fast as its link takes them, and counts what it receives, by
// codepoint, from some time on.
type blaster struct {
	env    *fabric.Env
	length int // 0: it only receives
	link   fabric.Link
	next   units.Time
	from   units.Time
	got    [4]int
	sent   uint64
	in     uint64
}

func (b *blaster) Receive(now units.Time, _ int, burst []fabric.Frame) {
	for i := range burst {
		b.in++
		if now >= b.from {
			b.got[wire.ECN(b.env.Bytes(&burst[i])[wire.EthernetLen:])]++
		}
		b.env.Free(burst[i])
	}
}

func (b *blaster) Transmit(now units.Time, _ int, burst []fabric.Frame) int {
	if b.length == 0 || now < b.next || len(burst) == 0 {
		return 0
	}
	f, _ := b.env.Alloc(b.length)
	h := wire.RoCE{DstMAC: mac(0), SrcMAC: mac(1), Src: ip(1), Dst: ip(0), TOS: wire.ECT0, SrcPort: 5000}
	h.Encode(b.env.Header(f), b.length-wire.EthernetLen)
	burst[0] = f
	b.sent++
	b.next = now + b.link.Serialize(b.length)
	return 1
}

func (b *blaster) Next(now units.Time, _ int) units.Time {
	if b.length == 0 {
		return units.Never
	}
	return max(now, b.next)
}

func (b *blaster) Stats(units.Time) fabric.Stats {
	return fabric.Stats{Ports: make([]fabric.PortStats, 1)}
}
func (b *blaster) Audit() error { return nil }
func (b *blaster) Close()       {}

// Two senders at the rate of the link behind a switch keep a queue at its limit. Then each frame leaves the same queue
// behind, and the part that is marked is what the curve says of it, whatever curve, limit and frames.
func TestLossyQueueIsMarkedByItsCurve(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		length := rapid.IntRange(80, 1514).Draw(rt, "length")
		var p marking.WREDParams
		p.Kmin = units.Size(rapid.IntRange(0, 60_000).Draw(rt, "Kmin"))
		p.Kmax = p.Kmin + units.Size(rapid.IntRange(1, 60_000).Draw(rt, "Kmax"))
		p.Pmax = rapid.Float64Range(0, 1).Draw(rt, "Pmax")
		tail := units.Size(rapid.IntRange(2000, 100_000).Draw(rt, "limit"))
		cable := fabric.Link{Rate: 10 * units.Gbps, Delay: units.Microsecond}
		w := New()
		c := dataplane.SwitchConfig{Buffer: 4 * units.MB, Tail: tail, MTU: 1500, Classes: dataplane.DefaultClasses(), FDBSize: 16}
		c.Static = []dataplane.StaticEntry{{MAC: mac(0), Ports: []uint16{0}}}
		for i := range 3 {
			c.Ports = append(c.Ports, dataplane.PortConfig{MAC: mac(100 + i), Link: cable})
		}
		c.Ports[0].Queues[0].WRED = p
		env := w.NewEnvs(3)
		sw, err := dataplane.NewSwitch(c, env)
		if err != nil {
			t.Fatal(err)
		}
		const frames = 4000
		each := cable.Serialize(length)
		warm := 2*each*units.Time(int(tail)/length+2) + 10*units.Microsecond
		var hosts []*blaster
		for i := range 3 {
			e := w.NewEnvs(1)
			h := &blaster{env: e[0], link: cable, from: warm}
			if i > 0 {
				h.length, h.next = length, units.Time(i)*each/3
			}
			hosts = append(hosts, h)
			w.Add("H", h, e, []int{0})
		}
		w.Add("S", sw, env, make([]int, 3))
		for i := range 3 {
			if err := w.Connect(end(i, 0), end(3, i), cable); err != nil {
				t.Fatal(err)
			}
		}
		for _, h := range hosts[1:] {
			h.env.Wake(0, h.next)
		}
		if err := w.Run(context.Background(), warm+frames*each); err != nil {
			t.Fatal(err)
		}
		if err := sw.Audit(); err != nil {
			rt.Error(err)
		}
		behind := float64((int(tail)/length - 1) * length)
		want := min(1, max(0, p.Pmax*(behind-float64(p.Kmin))/float64(p.Kmax-p.Kmin)))
		if behind > float64(p.Kmax) {
			want = 1
		}
		got := hosts[0].got
		n := got[wire.ECT0] + got[wire.CE]
		if n < frames-10 || got[wire.NotECT]+got[wire.ECT1] != 0 {
			rt.Fatalf("%v arrive by codepoint", got)
		}
		if off := math.Abs(float64(got[wire.CE]) - float64(n)*want); off > 5*math.Sqrt(float64(n)*want*(1-want))+5 {
			rt.Errorf("%d of %d frames are marked; the curve says %.4f at a queue of %v bytes", got[wire.CE], n, want, behind)
		}
	})
}
