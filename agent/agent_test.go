package agent_test

import (
	"context"
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/credits"
	"photon/dataplane"
	"photon/fabric"
	"photon/pfc"
	"photon/ratelimit"
	"photon/sim"
	"photon/units"
	"photon/wire"
)

const (
	rate  = 10 * units.Gbps
	delay = 10 * units.Microsecond
	ms    = units.Millisecond
)

func mac(i int) wire.MAC { return 0x0200_0000_0000 | wire.MAC(i) }
func ip(i int) wire.IP   { return wire.IPv4(10, 0, 0, byte(i)) }

// wireNode is two ports that forward to each other, except what a test takes away.
type wireNode struct {
	env   *fabric.Env
	queue [2][]fabric.Frame
	drop  func(header []byte) bool
	gone  int
}

func (w *wireNode) Receive(now units.Time, port int, burst []fabric.Frame) {
	for _, f := range burst {
		if w.drop != nil && w.drop(w.env.Header(f)) {
			w.gone++
			w.env.Free(f)
			continue
		}
		w.queue[1-port] = append(w.queue[1-port], f)
		w.env.Wake(1-port, now)
	}
}

func (w *wireNode) Transmit(_ units.Time, port int, burst []fabric.Frame) int {
	n := copy(burst, w.queue[port])
	w.queue[port] = append(w.queue[port][:0], w.queue[port][n:]...)
	return n
}

func (w *wireNode) Next(now units.Time, port int) units.Time {
	if len(w.queue[port]) > 0 {
		return now
	}
	return units.Never
}

func (w *wireNode) Stats(units.Time) fabric.Stats {
	return fabric.Stats{Ports: make([]fabric.PortStats, 2)}
}
func (w *wireNode) Audit() error { return nil }
func (w *wireNode) Close()       {}

// rp is a reaction point in the test's hand.
type rp struct {
	ratelimit.Unlimited
	rate units.Rate
	cnps int
	sent int
}

func (r *rp) Rate(units.Time) units.Rate             { return r.rate }
func (r *rp) Notify(_ units.Time, _ uint8, w uint32) { r.cnps++; r.rate = units.Rate(w) * units.Mbps }
func (r *rp) Sent(_ units.Time, bytes int)           { r.sent += bytes }
func (r *rp) Steady() bool                           { return false } // tests set the rate as they like

// pair is two hosts with a wire between them.
type pair struct {
	t *testing.T
	*sim.World
	a, b *agent.Host
	wire *wireNode
	rps  []*rp
}

func newPair(t *testing.T, np cnp.NP, change func(*agent.Config)) *pair {
	t.Helper()
	p := &pair{t: t, World: sim.New()}
	link := fabric.Link{Rate: rate, Delay: delay}
	make1 := func(i int) *agent.Host {
		c := agent.Config{
			MAC: mac(i), IP: ip(i), Link: link, Lossless: 1 << 3, DSCP: dataplane.DefaultDSCP(), DataDSCP: 26, ControlDSCP: 48, AckDSCP: 48, Carry: cnp.Carry{ECT: wire.ECT0},
			Payload: 1000, AckTimeout: 5 * ms, Senders: 4, Receivers: 4, Age: units.Second, NP: np,
			NewRP: func(*ratelimit.Port) ratelimit.RP {
				r := &rp{rate: rate}
				p.rps = append(p.rps, r)
				return r
			},
		}
		if change != nil {
			change(&c)
		}
		envs := p.NewEnvs(1)
		h, err := agent.New(c, envs[0])
		if err != nil {
			t.Fatal(err)
		}
		p.Add("host", h, envs, []int{0})
		return h
	}
	p.a, p.b = make1(1), make1(2)
	envs := p.NewEnvs(2)
	p.wire = &wireNode{env: envs[0]}
	p.Add("wire", p.wire, envs, []int{0, 0})
	for i := range 2 {
		if err := p.Connect(fabric.End{Node: i}, fabric.End{Node: 2, Port: i}, link); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *pair) send(qp int, size units.Size, start units.Time) int {
	p.t.Helper()
	id, err := p.a.AddFlow(p.Now(), agent.FlowSpec{Peer: ip(2), PeerMAC: mac(2), QP: uint32(qp), Size: size, Start: start})
	if err != nil {
		p.t.Fatal(err)
	}
	return id
}

func (p *pair) run(until units.Time) {
	p.t.Helper()
	if err := p.Run(context.Background(), until); err != nil {
		p.t.Fatal(err)
	}
	for _, h := range []*agent.Host{p.a, p.b} {
		if err := h.Audit(); err != nil {
			p.t.Error(err)
		}
	}
}

func TestFlowsOfAllSizesEnd(t *testing.T) {
	for _, size := range []units.Size{1, 999, 1000, 1001, 2000, 64 * units.KB} {
		p := newPair(t, cnp.Silent{}, nil)
		p.send(1, size, ms)
		p.run(3 * ms)
		done := p.a.TakeResults()
		if len(done) != 1 || done[0].FirstBit != ms || done[0].Frames != uint64((size+999)/1000) || done[0].FCT() <= 2*2*delay {
			t.Errorf("%v: %+v", size, done)
		}
		if got := p.b.Received(ip(1), 1); got.Frames != uint64((size+999)/1000) {
			t.Errorf("%v: %d frames received", size, got.Frames)
		}
		if st := p.a.Stats(p.Now()); st.FlowsBegun != 1 || st.FlowsDone != 1 {
			t.Errorf("%v: %+v", size, st)
		}
	}
}

// The gaps are those of the rate, to the picosecond, and flows share a port in turn.
func TestPacing(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	for qp := 1; qp <= 4; qp++ {
		p.send(qp, 0, 0)
	}
	for i, r := range p.rps {
		r.rate = units.Rate(i+1) * 200 * units.Mbps
	}
	p.run(20 * ms)
	for i := range 4 {
		st := p.a.Flow(p.Now(), i)
		if !st.Active || st.Rate != p.rps[i].rate || st.Prio != 3 {
			t.Errorf("flow %d: %+v", i, st)
		}
		want := float64(i+1) * 0.2e9 * 0.020 / 8
		if got := float64(st.Bytes); got < want*0.998 || got > want+2*1082 {
			t.Errorf("flow %d sent %.0f bytes, want %.0f", i, got, want)
		}
		if p.rps[i].sent != int(st.Bytes) {
			t.Errorf("the reaction point was told of %d bytes, not %d", p.rps[i].sent, st.Bytes)
		}
	}
}

func TestFlowsShareALinkInTurn(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	for qp := 1; qp <= 3; qp++ {
		p.send(qp, 0, 0)
	}
	p.run(5 * ms)
	first := p.a.Flow(p.Now(), 0).Frames
	for i := range 3 {
		if n := p.a.Flow(p.Now(), i).Frames; n+1 < first || n > first+1 || n < 1900 {
			t.Errorf("flow %d: %d frames, the first %d", i, n, first)
		}
	}
}

// A new rate moves the next departure, which was a second away.
func TestCNPMovesTheNextDeparture(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	id := p.send(1, 0, 0)
	p.rps[0].rate = 8 * 1082 // a frame a second
	p.run(10 * ms)
	if n := p.a.Flow(p.Now(), id).Frames; n != 1 {
		t.Fatalf("%d frames", n)
	}
	b := p.frameTo(1, func(b []byte, to wire.RoCE) int { return cnp.Encode(b, to, 1, cnp.Notice{Word: 1000}) })
	p.inject(b)
	p.run(11 * ms)
	if n := p.a.Flow(p.Now(), id).Frames; n < 100 || p.rps[0].cnps != 1 || p.a.Stats(p.Now()).RPHandled != 1 {
		t.Errorf("%d frames a millisecond after a CNP for 1 Gbit/s", n)
	}
}

// frameTo makes a packet from host 2 to host 1.
func (p *pair) frameTo(_ int, encode func(b []byte, to wire.RoCE) int) []byte {
	b := make([]byte, 128)
	n := encode(b, wire.RoCE{DstMAC: mac(1), SrcMAC: mac(2), Src: ip(2), Dst: ip(1), TOS: 48 << 2, SrcPort: 1})
	return b[:n]
}

// inject lets a frame arrive at host 1 at once.
func (p *pair) inject(b []byte) {
	f, _ := p.wire.env.Alloc(len(b))
	copy(p.wire.env.Header(f), b)
	p.a.Receive(p.Now(), 0, []fabric.Frame{f})
}

// CNPs that are broken, or of flows that are not ours, change nothing and are counted.
func TestForeignAndBrokenCNPs(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	p.send(1, 0, 0)
	p.run(ms)
	good := p.frameTo(1, func(b []byte, to wire.RoCE) int { return cnp.Encode(b, to, 1, cnp.Notice{Word: 5}) })
	foreign := p.frameTo(1, func(b []byte, to wire.RoCE) int { return cnp.Encode(b, to, 99, cnp.Notice{Word: 5}) })
	broken := append([]byte{}, good...)
	broken[60] ^= 1
	p.inject(foreign)
	p.inject(broken)
	p.inject(good[:60])
	st := p.a.Stats(p.Now())
	if st.RPIgnored != 3 || p.rps[0].cnps != 0 || st.Ports[0].Discards[fabric.DropBadICRC][6] != 2 {
		t.Errorf("%d ignored, %v", st.RPIgnored, st.Ports[0].Discarded())
	}
	p.run(2 * ms)
}

// A flow takes one notification a period, and none before it has sent.
func TestFloodOfCNPs(t *testing.T) {
	p := newPair(t, cnp.Silent{}, func(c *agent.Config) { c.Period = ms })
	p.send(1, 0, 5*ms)
	b := p.frameTo(1, func(b []byte, to wire.RoCE) int { return cnp.Encode(b, to, 1, cnp.Notice{Word: 500}) })
	p.inject(b)
	if st := p.a.Stats(p.Now()); st.RPIgnored != 1 || p.rps[0].cnps != 0 {
		t.Errorf("a flow that has not sent takes CNPs: %d, %d ignored", p.rps[0].cnps, st.RPIgnored)
	}
	p.run(6 * ms)
	for range 50 { // many in one instant: one counts
		p.inject(b)
	}
	if n := p.rps[0].cnps; n != 1 {
		t.Errorf("%d of 50 CNPs at once are handled", n)
	}
	for range 1000 { // ten times as many as allowed, for a hundred periods
		p.run(p.Now() + ms/10)
		p.inject(b)
	}
	st := p.a.Stats(p.Now())
	if n := p.rps[0].cnps; n < 100 || n > 102 || st.RPHandled != uint64(n) || st.RPHandled+st.RPIgnored != 1051 {
		t.Errorf("%d CNPs handled in a hundred periods, %d counted, %d ignored", n, st.RPHandled, st.RPIgnored)
	}
}

// One packet is lost: the receiver asks for it once, and the sender goes back.
func TestGoBackN(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	n := 0
	p.wire.drop = func(b []byte) bool {
		var h wire.Header
		wire.Parse(b, &h)
		bth := wire.BTH(b[h.BTH:])
		if bth.Opcode() == wire.OpSendMiddle && bth.PSN() == 50 {
			n++
		}
		return n == 1 && bth.Opcode() == wire.OpSendMiddle && bth.PSN() == 50
	}
	p.send(1, 200*units.KB, 0)
	p.run(4 * ms) // before the acknowledgement timeout
	done := p.a.TakeResults()
	if len(done) != 1 || done[0].Frames <= 200 || done[0].Frames > 300 {
		t.Fatalf("%+v", done)
	}
	got := p.b.Received(ip(1), 1)
	drops := p.b.Stats(p.Now()).Ports[0].Discards[fabric.DropSequence][3]
	if got.Frames != 200 || done[0].Frames != 200+1+drops {
		t.Errorf("%d frames in order, %d out of order, %d sent", got.Frames, drops, done[0].Frames)
	}
}

// A flow that goes back to its first packet begins anew: that one says so.
func TestGoBackToTheFirst(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	firsts := 0
	p.wire.drop = func(b []byte) bool {
		var h wire.Header
		wire.Parse(b, &h)
		if bth := wire.BTH(b[h.BTH:]); bth.Opcode() == wire.OpSendFirst && bth.PSN() == 0 {
			firsts++
			return firsts == 1
		}
		return false
	}
	p.send(1, 200*units.KB, 0)
	p.run(20 * ms)
	if done := p.a.TakeResults(); len(done) != 1 || firsts != 2 || p.b.Received(ip(1), 1).Frames != 200 {
		t.Errorf("%d first packets, %+v", firsts, done)
	}
}

// The last packet, or its acknowledgement, is lost: only a timeout finds out.
func TestTimeout(t *testing.T) {
	for _, opcode := range []uint8{wire.OpSendLast, wire.OpAcknowledge} {
		p := newPair(t, cnp.Silent{}, nil)
		p.wire.drop = func(b []byte) bool {
			var h wire.Header
			wire.Parse(b, &h)
			return p.wire.gone == 0 && wire.BTH(b[h.BTH:]).Opcode() == opcode
		}
		p.send(1, 10*units.KB, 0)
		p.run(20 * ms)
		done := p.a.TakeResults()
		if len(done) != 1 || done[0].FCT() < 5*ms || done[0].FCT() > 6*ms || p.b.Received(ip(1), 1).Frames != 10 {
			t.Errorf("%#x lost: %+v", opcode, done)
		}
	}
}

func TestPauseStopsAHost(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	p.send(1, 0, 0)
	p.run(ms)
	pause := pfc.Frame{Enable: 1 << 3}
	pause.Quanta[3] = 20_000 // 1.024 ms
	b := make([]byte, pfc.FrameLen)
	pause.Encode(b, mac(9))
	p.inject(b)
	before := p.a.Flow(p.Now(), 0).Frames
	p.run(2 * ms)
	if n := p.a.Flow(p.Now(), 0).Frames; n > before+1 {
		t.Errorf("%d frames during the pause", n-before)
	}
	p.run(3 * ms)
	if n := p.a.Flow(p.Now(), 0).Frames; n < before+1000 {
		t.Errorf("only %d frames after it", n-before)
	}
	if st := p.a.Stats(p.Now()).Ports[0]; st.Egress.Paused[3] != 1024*units.Microsecond || st.RxControl != 1 {
		t.Errorf("%+v", st.Egress)
	}
}

// More flows arrive than the host has room for: they are counted, and an old
// one makes room.
func TestReceiverIsBounded(t *testing.T) {
	p := newPair(t, cnp.NewDCQCN(cnp.DCQCNParams{}, 2), func(c *agent.Config) { c.Receivers = 2; c.Age = 5 * ms })
	for qp := 1; qp <= 3; qp++ {
		p.send(qp, units.KB, units.Time(qp)*ms)
	}
	p.run(5 * ms)
	if n := p.b.Stats(p.Now()).Ports[0].Discards[fabric.DropTable][3]; n != 1 {
		t.Errorf("%d frames refused", n)
	}
	p.run(20 * ms) // the third is sent again after its timeout
	if done := p.a.TakeResults(); len(done) != 3 || p.b.Received(ip(1), 3).Frames != 1 || p.b.Received(ip(1), 1).Frames != 0 {
		t.Errorf("%+v", done)
	}
}

func TestStrangersAreDiscarded(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	arp := make([]byte, 60)
	wire.Broadcast.Put(arp)
	arp[12], arp[13] = 8, 6
	p.inject(arp)
	other := p.frameTo(1, func(b []byte, to wire.RoCE) int { to.Dst = ip(9); return cnp.Encode(b, to, 1, cnp.Notice{}) })
	p.inject(other)
	p.inject(arp[:9])
	p.run(ms)
	st := p.a.Stats(p.Now()).Ports[0]
	if st.Discards[fabric.DropUnknown] != [8]uint64{0: 1, 6: 1} || st.Discards[fabric.DropMalformed][0] != 1 {
		t.Errorf("%v", st.Discards)
	}
}

// A receiver tells the sender the rate that arrives; the first period is a
// part of T and tells too little.
func TestNotification(t *testing.T) {
	np := cnp.NewPCN(cnp.PCNParams{Period: ms, Percent: 95}, 4)
	silent := cnp.Silent{}
	first := true
	p := newPair(t, nil, func(c *agent.Config) {
		c.NP = np
		if first {
			c.NP = silent
		}
		first = false
	})
	p.send(7, 0, 0)
	p.run(10 * ms)
	if p.rps[0].cnps < 8 {
		t.Fatalf("%d CNPs", p.rps[0].cnps)
	}
	if r := p.a.Flow(p.Now(), 0).Rate; r < 9700*units.Mbps || r > 10100*units.Mbps {
		t.Errorf("RecRate %v of a flow at %v", r, rate)
	}
	if got := p.b.Received(ip(1), 7); got.CNPs < uint64(p.rps[0].cnps) || got.CNPs > uint64(p.rps[0].cnps)+1 || got.Marked != 0 {
		t.Errorf("%+v", got)
	}
}

func TestAddFlowRefuses(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	v6, _ := wire.ParseIP("fd00::1")
	p.send(1, 0, 0)
	for _, s := range []agent.FlowSpec{
		{Peer: ip(2), QP: 1}, {Peer: ip(2), QP: 1 << 24}, {Peer: v6, QP: 2}, {Peer: ip(2), QP: 2, Size: -1},
		{Peer: wire.IPv4(255, 255, 255, 255), QP: 2}, {Peer: ip(2), PeerMAC: wire.Broadcast, QP: 2},
		{Peer: ip(2), QP: 2, DSCP: 64}, {Peer: ip(2), QP: 2, Weight: -1},
		{Peer: ip(2), QP: 2, Weight: ratelimit.MaxWeight + 1}, {Peer: ip(2), QP: 2, Tenant: -1},
		{Peer: ip(2), QP: 2, Tenant: 1}, {Peer: ip(2), QP: 2, PSN: 1 << 24}, {Peer: ip(1), QP: 2},
	} {
		if _, err := p.a.AddFlow(0, s); err == nil {
			t.Errorf("%+v was taken", s)
		}
	}
	for qp, s := range []agent.FlowSpec{{DSCP: 63}, {Weight: ratelimit.MaxWeight}, {FixedPSN: true, PSN: 1<<24 - 1}} {
		s.Peer, s.PeerMAC, s.QP = ip(2), mac(2), 1<<24-1-uint32(qp)
		if _, err := p.a.AddFlow(0, s); err != nil {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if _, err := p.a.AddFlow(0, agent.FlowSpec{Peer: ip(2), QP: 5}); err != agent.ErrFull {
		t.Error(err)
	}
	p.a.StopFlow(p.Now(), 2)
	p.a.StopFlow(p.Now(), 2)
	p.send(5, 0, 0)
	if len(p.rps) != 4 {
		t.Errorf("%d reaction points were made for 4 flows at a time", len(p.rps))
	}
	p.run(ms)
}

func TestAnnouncement(t *testing.T) {
	p := newPair(t, cnp.Silent{}, func(c *agent.Config) { c.Announce = true })
	p.run(2500 * ms)
	if st := p.b.Stats(p.Now()).Ports[0]; st.RxFrames[0] != 3 || st.TxFrames[0] != 3 {
		t.Errorf("%d announcements in 2.5 s", st.RxFrames[0])
	} else if st.Discards != (fabric.PortStats{}).Discards {
		t.Errorf("announcements are for switches, and no loss: %v", st.Discards)
	}
}

// Each part of a configuration has its limits: what is at one is taken, what is beyond is refused.
func TestCheckRefuses(t *testing.T) {
	type C = agent.Config
	credit := func(buffer, extra units.Size) func(c *C) {
		return func(c *C) { c.Credits = &credits.Config{Buffer: buffer, Extra: extra} }
	}
	again := func(window, reorder int, low units.Time, packets int) func(c *C) {
		s := &agent.Selective{Window: window, Reorder: reorder, LowTimeout: low, LowPackets: packets}
		return func(c *C) { c.Selective = s }
	}
	tags := func(senders int) func(c *C) {
		return func(c *C) { c.Carry, c.Senders = cnp.Carry{Tag: true}, senders }
	}
	const longest = 8796 * units.Second // 4.096 us * 2^31
	tenants := func(weights ...int) func(c *C) {
		return func(c *C) {
			for _, weight := range weights {
				c.Tenants = append(c.Tenants, ratelimit.Tenant{Weight: weight})
			}
		}
	}
	flowlets := agent.Entropy{By: agent.PerFlowlet, Gap: 1}
	for name, limit := range map[string]struct{ in, beyond func(c *C) }{
		"no payload":      {func(c *C) { c.Payload = 1 }, func(c *C) { c.Payload = 0 }},
		"much payload":    {func(c *C) { c.Payload = 9000 }, func(c *C) { c.Payload = 9001 }},
		"senders":         {func(c *C) { c.Senders = 0 }, func(c *C) { c.Senders = -1 }},
		"receivers":       {func(c *C) { c.Receivers = 0 }, func(c *C) { c.Receivers = -1 }},
		"finished":        {func(c *C) { c.Finished = 0 }, func(c *C) { c.Finished = -1 }},
		"tags":            {tags(1 << 16), tags(1<<16 + 1)},
		"data":            {func(c *C) { c.DataDSCP = 63 }, func(c *C) { c.DataDSCP = 64 }},
		"CNPs":            {func(c *C) { c.ControlDSCP = 63 }, func(c *C) { c.ControlDSCP = 64 }},
		"acks":            {func(c *C) { c.AckDSCP = 63 }, func(c *C) { c.AckDSCP = 64 }},
		"CNPs' delay":     {func(c *C) { c.NPDelay = 0 }, func(c *C) { c.NPDelay = -1 }},
		"pauses' delay":   {func(c *C) { c.PauseDelay = 0 }, func(c *C) { c.PauseDelay = -1 }},
		"credits":         {credit(2000, 0), credit(1000, 0)},
		"credits' extra":  {credit(9000, 128), credit(9000, 129)},
		"either":          {func(c *C) { c.PauseDelay = 1 }, func(c *C) { credit(2000, 0)(c); c.PauseDelay = 1 }},
		"period":          {func(c *C) { c.Period = 0 }, func(c *C) { c.Period = -1 }},
		"elastic":         {func(c *C) { c.Elastic = true }, func(c *C) { tenants(1)(c); c.Elastic = true }},
		"no timeout":      {func(c *C) { c.AckTimeout = 1 }, func(c *C) { c.AckTimeout = 0 }},
		"a long timeout":  {func(c *C) { c.AckTimeout = longest }, func(c *C) { c.AckTimeout = longest + 1 }},
		"few are asked":   {func(c *C) { c.AckEvery = 65536 }, func(c *C) { c.AckEvery = 65537 }},
		"none is asked":   {func(c *C) { c.AckEvery = 0 }, func(c *C) { c.AckEvery = -1 }},
		"no retries":      {func(c *C) { c.Retries = 0 }, func(c *C) { c.Retries = -1 }},
		"many retries":    {func(c *C) { c.Retries = 100 }, func(c *C) { c.Retries = 101 }},
		"a window":        {again(1, 1, 0, 0), again(0, 0, 0, 0)},
		"a wide window":   {again(1<<16, 1, 0, 0), again(1<<16+1, 1, 0, 0)},
		"reorder":         {again(8, 8, 0, 0), again(8, 9, 0, 0)},
		"no reorder":      {again(8, 1, 0, 0), again(8, 0, 0, 0)},
		"low timeout":     {again(8, 1, 0, 0), again(8, 1, -1, 1)},
		"of few packets":  {again(8, 1, 1, 1), again(8, 1, 1, 0)},
		"of many packets": {again(8, 1, 1, 8), again(8, 1, 1, 9)},
		"entropy":         {func(c *C) { c.Entropy.By = agent.PerPacket }, func(c *C) { c.Entropy.By = 3 }},
		"flowlets":        {func(c *C) { c.Entropy = flowlets }, func(c *C) { c.Entropy.By = agent.PerFlowlet }},
		"no flowlets":     {func(*C) {}, func(c *C) { c.Entropy.Gap = 1 }},
		"rate":            {func(c *C) { c.Link.Rate = 1 }, func(c *C) { c.Link.Rate = 0 }},
		"a tenant":        {tenants(1), tenants(1, -1)},
	} {
		whole := func() *C {
			return &C{Payload: 1000, Receivers: 1, AckTimeout: 1, Link: fabric.Link{Rate: 1}}
		}
		c := whole()
		if limit.in(c); c.Check() != nil {
			t.Errorf("%s: %v", name, c.Check())
		}
		c = whole()
		if limit.beyond(c); c.Check() == nil {
			t.Errorf("%s: what is beyond the limit passes", name)
		}
	}
}

// In the steady state a host allocates nothing, sending, receiving and notifying.
func TestNothingAllocates(t *testing.T) {
	p := newPair(t, cnp.NewPCN(cnp.PCNParams{Period: 50 * units.Microsecond, Percent: 95}, 4), nil)
	p.wire.queue[0] = make([]fabric.Frame, 0, 1<<16)
	p.wire.queue[1] = make([]fabric.Frame, 0, 1<<16)
	p.send(1, 0, 0)
	p.send(2, 0, 0)
	p.run(5 * ms)
	until := p.Now()
	burst := make([]fabric.Frame, 1)
	if n := testing.AllocsPerRun(1000, func() {
		until += units.Microsecond
		if p.a.Transmit(until, 0, burst) == 1 {
			p.b.Receive(until, 0, burst)
		}
		for p.b.Transmit(until, 0, burst) == 1 {
			p.a.Receive(until, 0, burst)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzReceive(f *testing.F) {
	b := make([]byte, 128)
	f.Add(b[:cnp.Encode(b, wire.RoCE{Src: ip(2), Dst: ip(1)}, 1, cnp.Notice{})])
	f.Fuzz(func(t *testing.T, b []byte) {
		p := newPair(t, cnp.Silent{}, nil)
		p.send(1, 0, 0)
		p.run(100 * units.Microsecond)
		p.inject(b[:min(len(b), 120)])
		p.run(200 * units.Microsecond)
	})
}

// A PFC frame for another station pauses nothing.
func TestPauseForAnotherStation(t *testing.T) {
	p, _ := newTraffic(t, 100, nil)
	b := make([]byte, pfc.FrameLen)
	f := pfc.Frame{Enable: 8, Quanta: [8]uint16{3: 65535}}
	f.Encode(b, mac(7))
	wire.MAC(0x0200_0000_0099).Put(b) // another station
	p.inject(b)
	p.run(units.Microsecond * 100)
	if got := p.a.Paused(); got != 0 {
		t.Errorf("priorities %b are paused", got)
	}
}
