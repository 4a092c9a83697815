package agent_test

import (
	"math/rand/v2"
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/dataplane"
	"photon/fabric"
	"photon/pfc"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// polled is a port that a world polls: now and then, and each time for as many frames as its link has
// had time for since it was last free, at most since the poll before.
type polled struct {
	node  fabric.Node
	env   *fabric.Env
	link  fabric.Link
	last  units.Time
	free  units.Time
	bytes map[uint32]int // on the wire, by queue pair or UDP port
	most  int            // frames of one poll
	all   bool           // it has no link of its own, and takes what there is, 256 at a time
}

func (p *polled) poll(now units.Time) {
	n := 0
	for p.all || p.free <= now {
		if p.env.Due(0) > now {
			break
		}
		p.env.SetDue(0, units.Never)
		burst := make([]fabric.Frame, 1)
		if p.all {
			burst = make([]fabric.Frame, 256)
		}
		burst = burst[:p.node.Transmit(now, 0, burst)]
		p.env.SetDue(0, p.node.Next(now, 0))
		if len(burst) == 0 {
			break
		}
		for _, f := range burst {
			n++
			var h wire.Header
			wire.Parse(p.env.Header(f), &h)
			flow := uint32(h.DstPort)
			if h.BTH != 0 {
				flow = wire.BTH(p.env.Header(f)[h.BTH:]).DestQP()
			}
			p.bytes[flow] += p.link.WireBytes(int(f.Len))
			p.env.Free(f)
			p.free = max(p.free, p.last) + p.link.Serialize(int(f.Len))
		}
		if p.all && len(burst) == 256 {
			break
		}
	}
	p.env.Woken()
	p.node.Next(now, 0) // a world with several workers asks in between, too
	p.last = now
	p.most = max(p.most, n)
}

func newPolled(t *testing.T, line units.Rate) (*polled, *agent.Host) {
	t.Helper()
	p := &polled{env: fabric.NewEnv(fabric.NewHeaderPool(), 1), link: fabric.Link{Rate: line}, bytes: map[uint32]int{}}
	h, err := agent.New(agent.Config{
		MAC: mac(1), IP: ip(1), Link: p.link, Lossless: 1 << 3, DSCP: dataplane.DefaultDSCP(), DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48,
		Payload: 1000, AckTimeout: units.Second, Senders: 100, Receivers: 1, Age: units.Second, NP: cnp.Silent{},
		NewRP: func(*ratelimit.Port) ratelimit.RP { return ratelimit.Unlimited{Line: line} },
	}, p.env)
	if err != nil {
		t.Fatal(err)
	}
	p.node = h
	return p, h
}

func (p *polled) add(t *testing.T, h *agent.Host, now units.Time, qp uint32, rate units.Rate) {
	t.Helper()
	if _, err := h.AddFlow(now, agent.FlowSpec{Peer: ip(2), PeerMAC: mac(2), QP: qp, Limit: rate}); err != nil {
		t.Fatal(err)
	}
}

// A flow keeps its rate whatever the gaps between polls, as long as they are no longer than 64 of its frames:
// alone or beside others, of other rates, with a link of its own or without one.
func TestGapsBetweenPollsCostNoRate(t *testing.T) {
	for _, all := range []bool{false, true} {
		for _, gap := range []units.Time{100 * units.Nanosecond, units.Microsecond, 10 * units.Microsecond, 100 * units.Microsecond} {
			p, h := newPolled(t, 10*units.Gbps)
			p.all = all
			rates := []units.Rate{2 * units.Gbps, units.Gbps, 500 * units.Mbps, 10 * units.Mbps}
			for i, r := range rates {
				p.add(t, h, 0, uint32(i), r)
			}
			random := rand.New(rand.NewPCG(1, 2))
			now, end := units.Time(0), 50*ms
			for now < end {
				now += 1 + units.Time(random.Int64N(2*int64(gap)))
				p.poll(now)
			}
			for i, r := range rates {
				want := float64(r) / 8 * now.Seconds()
				t.Logf("polls every %v, a link of its own %v: a flow of %v has %.3f of it", gap, !all, r, float64(p.bytes[uint32(i)])/want)
				if got := float64(p.bytes[uint32(i)]); got < 0.99*want-1082 || got > 1.001*want+2*1082 {
					t.Errorf("polls every %v, %v: a flow of %v sent %.0f bytes, want %.0f", gap, all, r, got, want)
				}
			}
		}
	}
}

// After a long gap a flow makes good for 64 frames, no more: others had their turn, and the network was spared.
func TestLongGapsAreBounded(t *testing.T) {
	p, h := newPolled(t, 10*units.Gbps)
	p.all = true
	p.add(t, h, 0, 1, units.Gbps)
	for now := units.Time(0); now < ms; now += units.Microsecond {
		p.poll(now)
	}
	for _, gap := range []units.Time{ms, 10 * ms, units.Second} {
		before, now := p.bytes[1], p.last+gap
		p.poll(now)
		if n := (p.bytes[1] - before) / 1082; n < 64 || n > 64+2 { // the one that was due, and the next
			t.Errorf("%d frames after a gap of %v", n, gap)
		}
		before = p.bytes[1]
		for range 10 {
			p.poll(now)
		}
		if n := (p.bytes[1] - before) / 1082; n != 0 {
			t.Errorf("%d frames more at the same instant", n)
		}
		p.poll(now + units.Rate(units.Gbps).Serialize(1082))
		if n := (p.bytes[1] - before) / 1082; n != 1 {
			t.Errorf("%d frames a gap later", n)
		}
	}
}

// Time for which the port was paused, or in use by others, is not made good for: it was not the poll's.
func TestPausesAreNotMadeGoodFor(t *testing.T) {
	p, h := newPolled(t, 10*units.Gbps)
	p.add(t, h, 0, 1, units.Gbps)
	now := units.Time(0)
	for ; now < ms; now += units.Microsecond {
		p.poll(now)
	}
	pause := pfc.Frame{Enable: 1 << 3}
	pause.Quanta[3] = 20_000 // 1.024 ms
	b := make([]byte, pfc.FrameLen)
	pause.Encode(b, mac(9))
	f, _ := p.env.Alloc(len(b))
	copy(p.env.Header(f), b)
	h.Receive(now, 0, []fabric.Frame{f})
	before := p.bytes[1]
	for end := now + 1100*units.Microsecond; now < end; now += units.Microsecond {
		p.poll(now)
	}
	if n := (p.bytes[1] - before) / 1082; n > 12 { // 1 Gbit/s, and what was due before
		t.Errorf("%d frames in the 76 us after a pause", n)
	}
}

// The same holds for a NIC, whose flows are applications'.
func TestGapsBetweenPollsCostANICNoRate(t *testing.T) {
	for _, gap := range []units.Time{units.Microsecond, 10 * units.Microsecond, 50 * units.Microsecond} {
		b := newBench(t, nil)
		p := &polled{node: b.nic, env: b.env, link: fabric.Link{Rate: rate}, bytes: map[uint32]int{}, last: b.now}
		frames := [][]byte{udpFrame(t, 1, 2, 5, 10, dscp26, 1000), udpFrame(t, 1, 2, 5, 11, dscp26, 1000)}
		rates := []units.Rate{2 * units.Gbps, 100 * units.Mbps}
		onWire := p.link.WireBytes(len(frames[0]))
		random := rand.New(rand.NewPCG(1, 2))
		begin, end := b.now, b.now+50*ms
		given := make([]int, len(frames))
		for b.now < end {
			b.now += 1 + units.Time(random.Int64N(2*int64(gap)))
			for i, f := range frames { // the applications send twice their rates, as far as there is room
				for want := float64(rates[i]) / 4 * (b.now - begin).Seconds() / float64(onWire); float64(given[i]) < want && given[i]-p.bytes[uint32(10+i)]/onWire < 60; given[i]++ {
					b.receive(agent.Application, f)
				}
			}
			for i, r := range rates {
				if i < len(b.rps) {
					b.rps[i].rate = r
				}
			}
			p.poll(b.now)
		}
		for i, r := range rates {
			want := float64(r) / 8 * (end - begin).Seconds()
			if got := float64(p.bytes[uint32(10+i)]); got < 0.98*want-2*1082 || got > 1.001*want+3*1082 {
				t.Errorf("polls every %v: a flow of %v sent %.0f bytes, want %.0f", gap, r, got, want)
			}
		}
	}
}
