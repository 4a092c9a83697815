package dataplane

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// bufferMemory is buffers that several workers share: each has its own pool over it,
// and free slots pass through a common list.
type bufferMemory struct {
	bytes []byte
	mu    sync.Mutex
	free  []uint32
	slots int
}

func newMemory(slots int) *bufferMemory {
	m := &bufferMemory{bytes: make([]byte, slots*fabric.HeaderLen), slots: slots}
	for s := range uint32(slots) {
		m.free = append(m.free, s*fabric.HeaderLen>>fabric.UnitShift)
	}
	return m
}

func (m *bufferMemory) pool() *fabric.Pool {
	return fabric.NewPool(m.bytes, fabric.HeaderLen, wire.VLANLen, func(p *fabric.Pool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		n := max(0, len(m.free)-64)
		p.SetSlots(append(p.Slots(), m.free[n:]...))
		m.free = m.free[:n]
	})
}

// giveBack returns what a worker has too much of.
func (m *bufferMemory) giveBack(p *fabric.Pool) {
	if free := p.Slots(); len(free) > 256 {
		m.mu.Lock()
		m.free = append(m.free, free[64:]...)
		m.mu.Unlock()
		p.SetSlots(free[:64])
	}
}

// Two workers with two ports each, at full speed under the race detector: every frame arrives once, in order, marked or
// not, and is accounted for; lossy ones, for which the buffer is small, may be discarded and never take more than their pool.
func TestTwoWorkers(t *testing.T) {
	t.Run("plain", func(t *testing.T) { twoWorkers(t, 1, 26, nil) })
	t.Run("bursts", func(t *testing.T) { twoWorkers(t, 40, 26, nil) })
	t.Run("VLANs", func(t *testing.T) {
		twoWorkers(t, 1, 26, func(c *SwitchConfig) {
			c.VLANs = []VLAN{{ID: 5, Untagged: []uint16{0, 1, 2, 3}}, {ID: 6, Tagged: []uint16{0, 3}}}
		})
	})
	t.Run("lossy", func(t *testing.T) {
		twoWorkers(t, 40, 0, func(c *SwitchConfig) { c.Buffer = c.Reserved() + 60*units.KB })
	})
}

// twoWorkers has bursts of up to so many frames with a DSCP arrive.
func twoWorkers(t *testing.T, most int, dscp uint8, change func(c *SwitchConfig)) {
	const ports, each = 4, 20_000
	m := newMemory(1 << 14)
	c := config(ports)
	c.Learn, c.Tail, c.Buffer = true, units.MB, 4*units.MB
	c.PFC[3].XOFF, c.PFC[3].XON, c.PFC[3].Headroom = 100_000, 50_000, 500_000
	c.Static = c.Static[:2] // the others are learned
	for i := range c.Ports {
		c.Ports[i].Worker = i / 2
	}
	if change != nil {
		change(&c)
	}
	envs := []*fabric.Env{fabric.NewEnv(m.pool(), ports), fabric.NewEnv(m.pool(), ports)}
	sw, err := NewSwitch(c, envs)
	if err != nil {
		t.Fatal(err)
	}
	var sent, got [ports]atomic.Uint64
	var done atomic.Int32
	var all sync.WaitGroup
	for w := range 2 {
		all.Go(func() {
			env := envs[w]
			var last [ports][ports]uint32
			burst := make([]fabric.Frame, 8)
			now, rest := units.Time(0), 0
			held := [ports]bool{}
			for rest < 3 {
				now += us
				sw.Poll(now, w)
				for p := 2 * w; p < 2*w+2; p++ {
					var arrive []fabric.Frame
					for n := int(sent[p].Load()); n < each && !held[p] && len(arrive) < 1+n%most; n++ {
						to := (p + 1 + n%(ports-1)) % ports
						f, ok := env.Alloc(200)
						if !ok {
							break
						}
						b := packet(p, to, dscp, wire.ECT0)
						wire.BTH(b[42:]).SetPSN(uint32(n)+1, false)
						copy(env.Header(f), b)
						arrive = append(arrive, f)
					}
					sent[p].Add(uint64(len(arrive)))
					sw.Receive(now, p, arrive)
					for _, f := range burst[:sw.Transmit(now, p, burst)] {
						b := env.Header(f)
						if wire.MACAt(b) == 0x0180C2000001 {
							held[p] = b[18+2*3] != 0 || b[19+2*3] != 0
						} else if wire.MACAt(b) == mac(p) {
							from, psn := int(b[29]), wire.BTH(b[42:]).PSN()
							if psn <= last[p][from] {
								t.Errorf("port %d: packet %d of %d after %d", p, psn, from, last[p][from])
							}
							last[p][from] = psn
							got[p].Add(1)
						}
						env.Free(f)
					}
				}
				env.Woken()
				m.giveBack(env.Pool)
				if sent[2*w].Load() == each && sent[2*w+1].Load() == each {
					if rest == 0 {
						done.Add(1)
						rest = 1
					}
					if done.Load() == 2 && sw.Next(now, 2*w) > now && sw.Next(now, 2*w+1) > now {
						rest++ // the other may still hand something over: look again
					}
				}
			}
		})
	}
	all.Wait()
	if err := sw.Audit(); err != nil {
		t.Error(err)
	}
	st := sw.Stats(0)
	total, queued := uint64(0), uint64(0)
	for p := range ports {
		total += got[p].Load()
		for _, n := range st.Ports[p].QueueFrames {
			queued += n
		}
		d := st.Ports[p].Discarded()
		if dscp == 0 {
			total, d[0] = total+d[0], 0
		}
		if d != [8]uint64{} {
			t.Errorf("port %d discards %v", p, d)
		}
	}
	if b := sw.Buffer(); b.LossyPeak > b.Lossy || dscp == 0 && b.LossyPeak < b.Lossy/2 {
		t.Errorf("the pool of %v had %v taken at most", b.Lossy, b.LossyPeak)
	}
	if total+queued < ports*each*99/100 || queued > 100 {
		t.Errorf("%d frames arrived, %d are queued, of %d", total, queued, ports*each)
	}
	sw.Close()
	free := len(m.free) + len(envs[0].Slots()) + len(envs[1].Slots())
	if free != m.slots {
		t.Errorf("%d of %d buffers are missing", m.slots-free, m.slots)
	}
}

// newCrew is a rig of several workers, of which the test is each in turn.
func newCrew(t testing.TB, c SwitchConfig, workers int) *rig {
	t.Helper()
	return newCrewOf(t, c, workers, 1<<16)
}

// newCrewOf has memory for so many frames.
func newCrewOf(t testing.TB, c SwitchConfig, workers, frames int) *rig {
	t.Helper()
	m := newMemory(frames)
	var envs []*fabric.Env
	for range workers {
		envs = append(envs, fabric.NewEnv(m.pool(), len(c.Ports)))
	}
	sw, err := NewSwitch(c, envs)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, sw: sw, env: envs[0]}
	t.Cleanup(r.audit)
	return r
}

// poll has each worker see what the others have told until now, and tell them what it has.
func (r *rig) poll() {
	for range 2 {
		for w := range r.sw.workers {
			r.sw.Poll(r.now, w)
		}
	}
}

// A lane under the race detector: whatever fits into its ring and whatever waits behind it, all frames come
// out, in order.
func TestLaneIsFIFO(t *testing.T) {
	const n = 100_000
	l := &outbox{ring: make([]fabric.Frame, outboxLen)}
	var all sync.WaitGroup
	all.Go(func() {
		var s store
		for i := range uint32(n) {
			f := fabric.Frame{Ref: i, Len: 60}
			if l.append(f.Words()[0], f.Words()[1], &s); i%1000 == 0 {
				l.publish(&s)
			}
		}
		for l.waiting.frames > 0 || l.ready.Load() != n {
			l.publish(&s)
			runtime.Gosched()
		}
	})
	all.Go(func() {
		for want := uint32(0); want < n; runtime.Gosched() {
			at, end := l.taken.Load(), l.ready.Load()
			for ; at < end; at, want = at+1, want+1 {
				if f := l.ring[at%outboxLen]; f.Ref != want {
					t.Errorf("%d, want %d", f.Ref, want)
					return
				}
			}
			l.taken.Store(at)
		}
	})
	all.Wait()
	l.each(func(*fabric.Frame) { t.Error("not empty") })
}

func TestQueueAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var s store
		var slow []fabric.Frame
		bytes, peak := units.Size(0), units.Size(0)
		for i := range rapid.IntRange(1, 300).Draw(t, "steps") {
			if len(slow) == 0 || rapid.IntRange(0, 2).Draw(t, "what") > 0 {
				for range rapid.IntRange(1, 2*blockLen).Draw(t, "frames") {
					f := fabric.Frame{Ref: uint32(len(slow)), Len: uint16(60 + i)}
					q.push(&f, &s)
					slow = append(slow, f)
					bytes += units.Size(f.Len)
				}
				peak = max(peak, bytes)
			} else {
				run := slices.Clone(q.run(rapid.IntRange(1, 2*blockLen).Draw(t, "most")))
				if len(run) == 0 || !slices.Equal(run, slow[:len(run)]) {
					t.Fatalf("%v, want the first of %v", run, slow)
				}
				gone := units.Size(0)
				for _, f := range run {
					gone += units.Size(f.Len)
				}
				q.drop(len(run), gone, &s)
				bytes -= gone
				slow = slow[len(run):]
			}
			var each []fabric.Frame
			q.each(func(f *fabric.Frame) { each = append(each, *f) })
			if int(q.frames) != len(slow) || q.bytes != bytes || q.peak() != peak || !slices.Equal(each, slow) {
				t.Fatalf("%d frames of %v, %v at most, of which each finds %d: want %d, %v and %v", q.frames, q.bytes, q.peak(), len(each), len(slow), bytes, peak)
			}
		}
	})
}

// What one worker hands over to another that does not look for a while is below XOFF, and so nothing of it
// may be lost, whatever fits where: short frames, several times what a lane's ring holds, in bursts and alone.
func TestNothingIsLostBetweenWorkers(t *testing.T) {
	for _, burst := range []int{1, fabric.MaxBurst} {
		c := config(2)
		c.Buffer = 8 * units.MB
		c.PFC[3].XOFF, c.PFC[3].XON = 2*units.MB, 900_000
		c.Ports[1].Worker = 1
		r := newCrew(t, c, 2)
		const frames = 8 * outboxLen
		for i := range frames / burst {
			var all [][]byte
			for j := range burst {
				all = append(all, with(packet(0, 1, 26, 0), func(b []byte) { wire.BTH(b[42:]).SetPSN(uint32(i*burst+j), false) }))
			}
			if r.burst(0, all...); i%100 == 0 {
				r.sw.Poll(r.now, 0) // what is published is not taken
			}
		}
		st := r.stats(0)
		if st.Discarded() != [8]uint64{} || r.sw.Queued() != frames || st.Buffered[3] != frames*64 || len(r.out(0, 1)) != 0 {
			t.Errorf("%d of %d frames are in the switch, %v held, %v discarded", r.sw.Queued(), frames, st.Buffered[3], st.Discarded())
		}
		next := uint32(0)
		for range frames {
			r.poll()
			for _, b := range r.out(1, 32) {
				if psn := wire.BTH(b[42:]).PSN(); psn != next {
					t.Fatalf("frame %d leaves, %d would be next", psn, next)
				}
				next++
			}
		}
		if held := r.stats(0).Buffered[3]; next != frames || held != 0 {
			t.Errorf("%d of %d frames left, %v are held", next, frames, held)
		}
	}
}

// Beyond XOFF the peer is paused and headroom takes what still comes, wherever the frames are: in the lane,
// behind it, or in the other worker's queue.
func TestXOFFBetweenWorkers(t *testing.T) {
	c := config(2)
	c.Ports[1].Worker = 1
	r := newCrew(t, c, 2)
	for i := range 40 {
		if r.in(0, packet(0, 1, 26, 0), 1000); i == 10 {
			r.poll()
		}
	}
	var f pfc.Frame
	if b := r.out(0, 1); len(b) != 1 || f.Decode(b[0]) != nil || f.Quanta[3] == 0 || r.stats(0).Discarded() != [8]uint64{} {
		t.Fatalf("no XOFF, or %v discarded", r.stats(0).Discarded())
	}
	r.poll()
	r.env.SetDue(0, units.Never)
	if n := len(r.out(1, 30)); n != 30 {
		t.Errorf("%d frames leave", n)
	}
	r.poll()
	if b := r.out(0, 1); r.env.Due(0) > r.now || len(b) != 1 || f.Decode(b[0]) != nil || f.Enable != lossless || f.Quanta[3] != 0 {
		t.Errorf("no XON: %+v", f)
	}
	if n := len(r.out(1, 30)); n != 10 {
		t.Errorf("%d frames leave then", n)
	}
}

// What any worker learned is used by all at once, without a frame or a poll in between.
func TestAnotherWorkerLearns(t *testing.T) {
	for worker := range 2 {
		c := config(3)
		c.Static, c.Learn, c.Age = nil, true, 300*units.Second
		c.Ports[1].Worker = worker
		c.Ports[0].Worker, c.Ports[2].Worker = 1-worker, 1-worker
		r := newCrew(t, c, 2)
		r.in(0, packet(11, 12, 26, 0), 100) // to everybody, and the answer is not known yet
		r.in(1, packet(10, 11, 26, 0), 100)
		for range 1000 {
			r.in(0, packet(11, 10, 26, 0), 100)
			r.poll()
			r.out(1, 8)
		}
		if n := r.stats(2).QueueFrames[3]; n != 1 || r.stats(1).TxFrames[3] != 1001 {
			t.Errorf("%d frames where the address was seen, %d elsewhere", r.stats(1).TxFrames[3], n-1)
		}
	}
}

// Clocks of workers differ by a little: what was seen in a second that another worker has not reached, or has
// left, is as fresh there.
func TestAgesAcrossASecond(t *testing.T) {
	const age = 10 * units.Second
	for _, first := range []units.Time{5 * units.Second, 100 * 86400 * units.Second} {
		for late := range 2 {
			c := config(3)
			c.Static, c.Learn, c.Age = nil, true, age
			c.Ports[1].Worker = 1
			r := newCrew(t, c, 2)
			clock := func(worker int, now units.Time) units.Time {
				if worker == late {
					return now - us
				}
				return now
			}
			floods := func(now units.Time) bool {
				before := r.stats(2).QueueFrames[3]
				r.now = clock(0, now)
				r.in(0, packet(11, 10, 26, 0), 100)
				return r.stats(2).QueueFrames[3] != before
			}
			r.now = clock(1, first)
			r.in(1, packet(10, 11, 26, 0), 100)
			if floods(first) {
				t.Errorf("at %v, worker %d is late: an address that was just learned is flooded", first, late)
			}
			r.now = clock(1, first+age/2)
			r.in(1, packet(10, 11, 26, 0), 100) // confirms it
			if floods(first+age/2) || floods(first+age) {
				t.Errorf("at %v, worker %d is late: an address that was confirmed is flooded", first, late)
			}
			if !floods(first + 2*age) {
				t.Errorf("at %v, worker %d is late: an address is never forgotten", first, late)
			}
			if entries := r.sw.FDB().Entries(r.now); len(entries) != 1 {
				t.Errorf("at %v: %+v", first, entries)
			}
		}
	}
}

// What a worker owes may be as much as a whole buffer: it is no frame, whose bytes could be asked for ahead.
func TestDebtOfAnySize(t *testing.T) {
	for _, cost := range []int64{1, 1 << 12, 1 << 20, 1 << 31, 1<<32 - 1} {
		c := config(2)
		c.Ports[1].Worker = 1
		r := newCrewOf(t, c, 2, 64)
		p := &r.sw.ports[0]
		p.ingress.ChargeAll(3, cost)
		r.sw.workers[1].deferRelease(0, 3, cost)
		r.poll()
		if left := p.ingress.Bytes(3); left != 0 {
			t.Errorf("%d bytes were released, and %d are left", cost, left)
		}
	}
}

// One poll is enough for what a worker owes, to however many ports: it does not hold up the frames behind it.
func TestDebtsHoldUpNothing(t *testing.T) {
	const ports = 200
	c := config(ports + 1)
	c.Buffer, c.FDBSize = 64*units.MB, 4*ports
	c.Ports[ports].Worker = 1
	r := newCrew(t, c, 2)
	for i := range ports {
		r.sw.ports[i].ingress.ChargeAll(3, 1000)
		r.sw.workers[1].deferRelease(i, 3, 1000)
	}
	r.sw.Poll(r.now, 1)
	r.sw.Poll(r.now, 0)
	for i := range ports {
		if left := r.sw.ports[i].ingress.Bytes(3); left != 0 {
			t.Fatalf("port %d: %v are charged after a poll", i, left)
		}
	}
}

// A worker with many ports takes a burst for each of them out of a lane: with two dozen ports, what came through the other
// worker's is through after one poll of each.
func TestLaneFollowsPorts(t *testing.T) {
	const ports = 24
	c := config(2 * ports)
	c.PFC[3].XOFF, c.Buffer = 100_000, 8*units.MB // a whole burst each
	for i := range ports {
		c.Ports[ports+i].Worker = 1
	}
	r := newCrew(t, c, 2)
	for i := range ports {
		for range fabric.MaxBurst {
			r.in(i, packet(i, ports+i, 0, 0), 60)
		}
	}
	r.sw.Poll(r.now, 0)
	r.sw.Poll(r.now, 1)
	if o := &r.sw.workers[0].outboxes[1]; o.taken.Load() != ports*fabric.MaxBurst {
		t.Errorf("%d of %d frames were taken over", o.taken.Load(), ports*fabric.MaxBurst)
	}
}
