package marking

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

const us = units.Microsecond

// roce is a data packet of flow n; odd flows speak IPv6.
func roce(n, size int) (*Packet, Flow) { return roceOf(n, uint32(7*n), size) }

func roceOf(n int, qp uint32, size int) (*Packet, Flow) {
	f := Flow{SrcMAC: wire.MAC(0x02_0000_0000 + n), DstMAC: 0x02_0000_ffff, Src: wire.IPv4(10, 0, byte(n>>8), byte(n)), Dst: wire.IPv4(10, 1, 0, 1), QP: qp}
	if n%2 == 1 {
		f.Src, _ = wire.ParseIP("fd00::1")
		f.Dst, _ = wire.ParseIP("fd00::2")
	}
	b := make([]byte, wire.RoCEMaxLen+wire.BTHLen+wire.ICRCLen)
	to := wire.RoCE{DstMAC: f.DstMAC, SrcMAC: f.SrcMAC, Src: f.Src, Dst: f.Dst, TOS: wire.ECT0, SrcPort: 9}
	bth := to.Encode(b, wire.BTHLen+wire.ICRCLen)
	wire.BTH(b[bth:]).Encode(wire.OpSendMiddle, false, f.QP, false, 1)
	return &Packet{Size: size, L3: wire.EthernetLen, Bytes: b}, f
}

// guessFor is which guess a packet's flow has.
func guessFor(p *Packet) uint64 {
	q := (*wire.Headers)(p.Bytes)
	return guessOf(uint64(q.Src4())|uint64(q.Dst4())<<32, q.BTH().DestQP())
}

// slowPACC is INFOCOM'22 algorithm 1 with a map of flows. Weights are in 64ths
// and the unit is a power of two, so that whole numbers decide what is rounded down.
type slowPACC struct {
	p                PACCParams
	beta164, beta264 int64
	tick             units.Time
	old              int64
	average          float64
	flows            map[int]*slowPACCFlow
	pending          []slowCNP
}

type slowPACCFlow struct{ bytes, congested int64 }

type slowCNP struct {
	at   units.Time
	flow int
}

// rounds runs the periods that ended; the queue of one that nobody looked at in
// time is the queue now.
func (s *slowPACC) rounds(now units.Time, queue int64) {
	for ; s.tick <= now; s.tick += s.p.Period {
		s.round(queue)
	}
}

func (s *slowPACC) round(queue int64) {
	s.average = s.p.W*float64(queue) + (1-s.p.W)*s.average
	all64 := s.beta164*(queue-int64(s.p.QTh)) + s.beta264*(queue-s.old) // N_all, times 64 units
	s.old = queue
	sum := int64(0)
	for _, f := range s.flows {
		sum += f.congested
	}
	if all64 > 0 && s.average > float64(s.p.QBurst) && sum > 0 {
		s.pending = nil // what was not sent until now is replaced, a choice
		for n, f := range s.flows {
			cnps := all64 * f.congested / (64 * int64(s.p.Unit) * sum)
			for i := range min(cnps, int64(s.p.Period/s.p.Gap)) {
				s.pending = append(s.pending, slowCNP{s.tick + units.Time(i)*s.p.Gap, n})
			}
		}
	}
	for n, f := range s.flows {
		// One that is still owed CNPs stays, a choice: they could not be addressed.
		if f.bytes < max(1, int64(s.p.BTh)) && !slices.ContainsFunc(s.pending, func(c slowCNP) bool { return c.flow == n }) {
			delete(s.flows, n)
			continue
		}
		*f = slowPACCFlow{}
	}
}

func (s *slowPACC) enqueue(now units.Time, queue int64, flow int, size int64) {
	s.rounds(now, queue)
	if s.flows[flow] == nil {
		s.flows[flow] = &slowPACCFlow{}
	}
	f := s.flows[flow]
	f.bytes += size
	if queue > int64(s.p.QTh) {
		f.congested = min(f.congested+1, 255) // eight bits that do not wrap
	}
}

// poll returns what is due by now; the order of flows within a beat is open.
func (s *slowPACC) poll(now units.Time, queue int64) (due []slowCNP) {
	s.rounds(now, queue)
	s.pending = slices.DeleteFunc(s.pending, func(c slowCNP) bool {
		if c.at <= now {
			due = append(due, c)
		}
		return c.at <= now
	})
	return due
}

// next is when something is due; a port without flows waits for a frame.
func (s *slowPACC) next() units.Time {
	next := units.Never
	if len(s.flows) > 0 {
		next = s.tick
	}
	for _, c := range s.pending {
		next = min(next, c.at)
	}
	return next
}

// enqueue shows a frame to PACC as the switch does, behind a queue.
func enqueue(c *PACC, now units.Time, behind Queue, p *Packet) {
	behind.Bytes += units.Size(p.Size)
	behind.Frames++
	if _, ok := c.Enqueue(now, behind, p); ok {
		panic("PACC answers by CNPs, not by CNMs")
	}
}

// pollAll is how a switch polls: until nothing is due.
func pollAll(c *PACC, now units.Time, q Queue) (got []Flow) {
	for c.Next() <= now {
		if f, ok := c.Poll(now, q); ok {
			got = append(got, f)
		}
	}
	return got
}

func TestPACCAgainstSlowTwin(t *testing.T) {
	const flows = 8
	var whole [flows]*Packet
	var whose [flows]Flow
	for n := range flows {
		whole[n], whose[n] = roce(n, 0)
	}
	// The last four share a guess: two of them have the same queue pair, and two the same addresses.
	for n, id, qp := 5, 6, whose[4].QP; n < flows; {
		switch n {
		case 5:
			id += 2
		case 6:
			id += 2
			qp = uint32(7 * id)
		default:
			qp++
		}
		if p, f := roceOf(id, qp, 0); guessFor(p) == guessFor(whole[4]) {
			whole[n], whose[n] = p, f
			n++
		}
	}
	thousands(t, func(t *rapid.T) {
		gap := units.Time(rapid.IntRange(1, 8).Draw(t, "gap")) * us
		p := PACCParams{
			Period: gap*units.Time(evenly(1, 20).Draw(t, "beats")) + units.Time(evenly(0, int64(gap)-1).Draw(t, "rest")),
			QTh:    units.Size(rapid.IntRange(0, 20).Draw(t, "Qth")) * 5000,
			QBurst: units.Size(rapid.IntRange(0, 20).Draw(t, "Qburst"))*5000 + 337, // never just where an average settles
			BTh:    units.Size(rapid.IntRange(0, 4).Draw(t, "Bth")) * 4000,
			Unit:   1 << rapid.IntRange(6, 11).Draw(t, "unit"),
			W:      rapid.SampledFrom([]float64{0.125, 0.5, 0.9, 1}).Draw(t, "w"),
			Gap:    gap, Flows: flows,
		}
		p.Phase = units.Time(evenly(0, int64(p.Period)).Draw(t, "phase"))
		s := &slowPACC{p: p, tick: p.Phase, flows: map[int]*slowPACCFlow{}}
		s.beta164, s.beta264 = evenly(0, 32).Draw(t, "beta1*64"), evenly(0, 32).Draw(t, "beta2*64")
		p.Beta1, p.Beta2 = float64(s.beta164)/64, float64(s.beta264)/64
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		c := NewPACC(p)
		now, queue := units.Time(0), int64(0)
		poll := func() {
			var got []int
			for _, f := range pollAll(c, now, queued(units.Size(queue))) {
				n := slices.Index(whose[:], f)
				if n < 0 {
					t.Fatalf("no such flow: %+v", f)
				}
				got = append(got, n)
			}
			due := s.poll(now, queue)
			slices.SortFunc(due, func(a, b slowCNP) int { return cmp.Compare(a.flow, b.flow) })
			slices.Sort(got)
			if !slices.EqualFunc(got, due, func(n int, c slowCNP) bool { return n == c.flow }) {
				t.Fatalf("at %v, queue %d: CNPs to %v, want %v", now, queue, got, due)
			}
		}
		step := evenly(0, int64(p.Period)/4).Draw(t, "step")
		lazy := rapid.IntRange(0, 2).Draw(t, "lazy") == 0
		for range evenly(1, 100).Draw(t, "frames") {
			at := now + units.Time(evenly(0, step).Draw(t, "later"))
			if evenly(0, 30).Draw(t, "silence") == 0 {
				at += 3 * p.Period
			}
			for !lazy && c.Next() <= at { // else a thread that comes late
				now = c.Next()
				poll()
			}
			now = at
			queue = evenly(0, 40).Draw(t, "queue") * 5000
			flow := rapid.IntRange(-1, flows-1).Draw(t, "flow")
			size := int(evenly(64, 9000).Draw(t, "size"))
			switch flow {
			case -1: // no RoCE: it passes, and the clock goes on
				enqueue(c, now, queued(units.Size(queue)), &Packet{Size: size, Bytes: whole[0].Bytes[:14]})
				s.rounds(now, queue)
			default:
				packet := *whole[flow]
				packet.Size = size
				if enqueue(c, now, queued(units.Size(queue)), &packet); c.Dequeue(now, Queue{}, &packet) != Unchanged {
					t.Fatal("PACC marked")
				}
				s.enqueue(now, queue, flow, int64(size))
			}
			c.Resume(now, queued(units.Size(queue)))
			if c.Next() != s.next() || c.table.Len() != len(s.flows) || math.Abs(c.average-s.average) > 1e-6 {
				t.Fatalf("at %v: next %v, %d flows, Qavg %v; want %v, %d, %v", now, c.Next(), c.table.Len(), c.average, s.next(), len(s.flows), s.average)
			}
			if rapid.Bool().Draw(t, "poll") {
				poll()
			}
		}
		for range 3 * int(p.Period/gap+1) {
			if c.Next() == units.Never {
				break
			}
			now, queue = max(now, c.Next()), max(0, queue-5000)
			poll()
		}
	})
}

// paper25 are the paper's values for 25 Gbit/s.
func paper25(flows int) PACCParams {
	return PACCParams{
		Period: 80 * us, Phase: 80 * us, QTh: 125 * units.KB, QBurst: 4 * units.KB, BTh: 4 * units.KB,
		Beta1: 0.05, Beta2: 0.1, Unit: units.KB, W: 0.9, Gap: 4 * us, Flows: flows,
	}
}

// steady runs flows that each send so many frames per period past a queue that
// does not move, and returns the CNPs of each in the third period, in which
// the queue's growth from nothing is forgotten.
func steady(p PACCParams, queue units.Size, frames ...int) []int {
	c := NewPACC(p)
	q := queued(queue)
	cnps := make([]int, len(frames))
	index := map[Flow]int{}
	packets := make([]*Packet, len(frames))
	for n := range frames {
		var f Flow
		packets[n], f = roce(n, 1500)
		index[f] = n
	}
	for round := range units.Time(3) {
		for beat := units.Time(0); beat < p.Period; beat += p.Gap {
			pollAll(c, round*p.Period+beat, q)
		}
		for n, k := range frames {
			for range k {
				enqueue(c, (round+1)*p.Period-1, q, packets[n])
			}
		}
	}
	for beat := units.Time(0); beat < p.Period; beat += p.Gap {
		for _, f := range pollAll(c, 3*p.Period+beat, q) {
			cnps[index[f]]++
		}
	}
	return cnps
}

// N_all is shared by N_cong, each part rounded down and at most a CNP per gap.
func TestPACCShares(t *testing.T) {
	p := paper25(8)
	const qth = 125 * units.KB
	for _, c := range []struct {
		queue  units.Size
		frames []int
		want   []int
	}{
		{qth + 200*units.KB, []int{4}, []int{10}}, // 0.05 of 200 KB
		{qth + 219*units.KB, []int{4}, []int{10}}, // 10.95
		{qth + 200*units.KB, []int{4, 4}, []int{5, 5}},
		{qth + 200*units.KB, []int{9, 3}, []int{7, 2}},        // 7.5 and 2.5
		{qth + 200*units.KB, []int{30, 5, 5}, []int{7, 1, 1}}, // 7.5 and 1.25: a CNP is lost
		{qth + 400*units.KB, []int{4}, []int{20}},             // 20 fit into a period
		{qth + 10*units.MB, []int{4, 4}, []int{20, 20}},       // and no more
		{qth, []int{4}, []int{0}},                             // at the threshold: not above it
		{qth + 100*units.KB, []int{255, 300}, []int{2, 2}},    // N_cong has eight bits and does not wrap
		{qth + 20*units.KB*10, []int{255, 1}, []int{9, 0}},    // 9.96 and 0.04
	} {
		if got := steady(p, c.queue, c.frames...); !slices.Equal(got, c.want) {
			t.Errorf("queue %v, %v frames: %v CNPs, want %v", c.queue, c.frames, got, c.want)
		}
	}
}

// The dead zone: n equal flows, each with its part of N_all rounded down, get
// no CNP at all until N_all is n. For a queue that does not move that is
// unit/beta1 = 20 KB above Qth per flow, not a byte less.
func TestPACCDeadZone(t *testing.T) {
	for n := 1; n <= 120; n++ {
		p := paper25(n)
		frames := slices.Repeat([]int{4}, n)
		edge := p.QTh + units.Size(n)*20*units.KB
		if got := steady(p, edge-1, frames...); slices.Max(got) != 0 {
			t.Errorf("%d flows, a byte below the edge: %v CNPs", n, got)
		}
		if got := steady(p, edge, frames...); slices.Min(got) != 1 || slices.Max(got) != 1 {
			t.Errorf("%d flows, N_all = %d: from %d to %d CNPs each, want 1", n, n, slices.Min(got), slices.Max(got))
		}
	}
}

// The growth counts as well: N_all = 0.05 (q - Qth) + 0.1 (q - q_old), in KB.
func TestPACCGrowth(t *testing.T) {
	c := NewPACC(paper25(1))
	p, _ := roce(0, 1500)
	for i, step := range []struct {
		queue units.Size
		want  int
	}{
		{130_000, 13}, // 0.25 + 13
		{230_000, 15}, // 5.25 + 10
		{225_000, 4},  // 5 - 0.5
		{175_000, 0},  // 2.5 - 5
		{126_000, 0},
		{136_000, 1}, // 0.55 + 1
	} {
		tick := units.Time(i+1) * 80 * us
		for range 4 {
			enqueue(c, tick-1, queued(step.queue), p)
		}
		n := 0
		for beat := range units.Time(20) {
			n += len(pollAll(c, tick+beat*4*us, queued(step.queue)))
		}
		if n != step.want {
			t.Errorf("queue %v: %d CNPs, want %d", step.queue, n, step.want)
		}
	}
}

// Of each flow one CNP every 4 us, from the tick on.
func TestPACCPacing(t *testing.T) {
	c := NewPACC(paper25(2))
	a, flowA := roce(0, 1500)
	b, flowB := roce(1, 1500)
	q := queued(155_000) // 1.5 + 15.5 = 17: two of three parts are 11
	for range 4 {
		enqueue(c, 10*us, q, a)
		enqueue(c, 10*us, q, a)
		enqueue(c, 10*us, q, b)
	}
	for beat := range units.Time(20) {
		at := 80*us + beat*4*us
		if want := beat < 11; (c.Next() == at) != want {
			t.Fatalf("beat %d: next at %v", beat, c.Next())
		}
		if c.Next() > at {
			continue
		}
		got := pollAll(c, at, q)
		if !slices.Contains(got, flowA) || slices.Contains(got, flowB) != (beat < 5) || len(got) > 2 {
			t.Errorf("beat %d: %+v", beat, got)
		}
		if c.Next() > at+4*us && beat < 10 || pollAll(c, at+4*us-1, q) != nil {
			t.Errorf("beat %d: next at %v", beat, c.Next())
		}
	}
	if c.Next() != 160*us {
		t.Errorf("next round at %v", c.Next())
	}
}

// A queue that is long at one tick but short on average is a microburst.
func TestPACCMicroburst(t *testing.T) {
	p := paper25(1)
	p.QTh, p.QBurst, p.Beta1, p.Beta2 = 0, 100*units.KB, 1, 0
	packet, _ := roce(0, 9000)
	cnps := func(p PACCParams, queues ...units.Size) (n int) {
		c := NewPACC(p)
		for i, q := range queues {
			enqueue(c, units.Time(i+1)*80*us-1, queued(q), packet)
			n = len(pollAll(c, units.Time(i+1)*80*us, queued(q)))
		}
		return n
	}
	for _, c := range []struct {
		w      float64
		queues []units.Size
		want   int
	}{
		{1, []units.Size{100_000}, 0}, // at Qburst: not above it
		{1, []units.Size{100_001}, 1},
		{0.9, []units.Size{111_000}, 0}, // 99.9 KB on average
		{0.9, []units.Size{111_200}, 1},
		{0.5, []units.Size{100_000, 100_000, 120_000}, 0}, // 50, 75, 97.5
		{0.5, []units.Size{100_000, 100_000, 126_000}, 1},
		{0.5, []units.Size{400_000, 1_000}, 1}, // 200, 100.5
	} {
		p.W = c.w
		if got := cnps(p, c.queues...); got != c.want {
			t.Errorf("w %v, queues %v: %d, want %d", c.w, c.queues, got, c.want)
		}
	}
}

// A flow that sent less than BTh in a period is deleted before the counters are
// zeroed: the other way round all would be.
func TestPACCForgets(t *testing.T) {
	for _, c := range []struct {
		size int
		want units.Time
	}{{3999, units.Never}, {4000, 160 * us}, {4001, 160 * us}} {
		point := NewPACC(paper25(1))
		p, _ := roce(0, c.size)
		enqueue(point, 10*us, queued(0), p)
		if pollAll(point, 80*us, queued(0)); point.Next() != c.want {
			t.Errorf("%d bytes: next at %v, want %v", c.size, point.Next(), c.want)
		}
		if pollAll(point, 160*us, queued(0)); point.Next() != units.Never {
			t.Errorf("%d bytes: silent, but not forgotten", c.size)
		}
	}
}

// Whatever BTh is, and however little of it is left at the rate of a slow link, a flow that sends nothing is forgotten:
// else the table would be full of flows that are over.
func TestPACCForgetsTheSilent(t *testing.T) {
	p := paper25(1)
	p.BTh = 0
	point := NewPACC(p)
	last, _ := roce(0, 64)
	enqueue(point, 10*us, queued(0), last)
	if pollAll(point, 80*us, queued(0)); point.Next() != 160*us {
		t.Errorf("a flow that sent something is forgotten: next at %v", point.Next())
	}
	if pollAll(point, 160*us, queued(0)); point.Next() != units.Never {
		t.Errorf("one that is silent is not: next at %v", point.Next())
	}
}

// A flow that finds the table full is not counted, and its place is free again
// when another has gone.
func TestPACCFullTable(t *testing.T) {
	c := NewPACC(paper25(1))
	a, flowA := roce(0, 3000)
	b, flowB := roce(1, 3000)
	q := queued(325_000)
	enqueue(c, 10*us, q, a)
	enqueue(c, 10*us, q, b)
	if got := pollAll(c, 80*us, q); !slices.Equal(got, []Flow{flowA}) {
		t.Errorf("%+v", got)
	}
	for i := range units.Time(40) {
		pollAll(c, 80*us+i*4*us, q)
	}
	enqueue(c, 250*us, q, b)
	if got := pollAll(c, 320*us, q); !slices.Equal(got, []Flow{flowB}) {
		t.Errorf("%+v", got)
	}
}

// Who acknowledges, in the same priority, is no flow: a CNP would reach a queue pair that sends nothing.
func TestPACCCountsDataOnly(t *testing.T) {
	for _, c := range []struct {
		opcode uint8
		counts bool
	}{
		{wire.OpSendFirst, true}, {wire.OpSendMiddle, true}, {wire.OpSendLast, true}, {wire.OpSendOnly, true},
		{0x0A, true}, {0x0E, true}, {0x26, true}, {0x64, true}, // write only, read response, unreliable write first, datagram
		{wire.OpShim, true}, {wire.OpShimEcho, false},
		{0x0C, false}, {wire.OpAcknowledge, false}, {0x12, false}, {wire.OpCNP, false}, // read request, atomic's answer
	} {
		point := NewPACC(paper25(4))
		p, flow := roce(2, 1500)
		wire.BTH(p.Bytes[wire.RoCEMaxLen-wire.IPv6Len+wire.IPv4Len:]).SetOpcode(c.opcode)
		for range 4 {
			enqueue(point, 10*us, queued(500_000), p)
		}
		got := pollAll(point, 80*us, queued(500_000))
		if want := []Flow{flow}; c.counts != slices.Equal(got, want) || !c.counts && got != nil {
			t.Errorf("opcode %#02x: CNPs to %v", c.opcode, got)
		}
	}
}

// A burst that fills the queue to above Qth within a period is counted in it, though its frames leave much
// later: the table is of what was received (algorithm 1, RECEIVE_PACKET).
func TestPACCCountsAsFramesArrive(t *testing.T) {
	c := NewPACC(paper25(2))
	old, flowOld := roce(0, 1000)
	burst, flowBurst := roce(1, 1000)
	for i := range units.Size(200) {
		enqueue(c, 60*us, queued(i*1000), old)
	}
	for i := range units.Size(225) {
		enqueue(c, 70*us, queued((200+i)*1000), burst)
	}
	// N_cong: 74 of the old and 225 of the burst; N_all = 0.05 x 300 + 0.1 x 425 = 57.5, so 14 and 43, of which 20 fit.
	cnps := map[Flow]int{}
	for beat := range units.Time(20) {
		for _, f := range pollAll(c, 80*us+beat*4*us, queued(425_000)) {
			cnps[f]++
		}
	}
	if cnps[flowOld] != 14 || cnps[flowBurst] != 20 {
		t.Errorf("%d CNPs to the old flow and %d to the burst's", cnps[flowOld], cnps[flowBurst])
	}
}
