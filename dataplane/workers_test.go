package dataplane

import (
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// memory is buffers that several workers share: each has its own pool over it,
// and free slots pass through a common list.
type bufferMemory struct {
	bytes []byte
	mu    sync.Mutex
	free  []uint32
	slots int
}

func newMemory(slots int) *bufferMemory {
	m := &bufferMemory{bytes: make([]byte, slots<<headerSlotShift), slots: slots}
	for s := range uint32(slots) {
		m.free = append(m.free, s)
	}
	return m
}

func (m *bufferMemory) pool() *Pool {
	return NewPool(m.bytes, headerSlotShift, 1<<headerSlotShift, headerOff, func(p *Pool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		n := max(0, len(m.free)-64)
		p.SetSlots(append(p.Slots(), m.free[n:]...))
		m.free = m.free[:n]
	})
}

// giveBack returns what a worker has too much of.
func (m *bufferMemory) giveBack(p *Pool) {
	if free := p.Slots(); len(free) > 256 {
		m.mu.Lock()
		m.free = append(m.free, free[64:]...)
		m.mu.Unlock()
		p.SetSlots(free[:64])
	}
}

// Two workers with two ports each, at full speed under the race detector: every
// frame arrives once, in order, marked or not, and is accounted for.
func TestTwoWorkers(t *testing.T) {
	for _, aware := range []bool{false, true} {
		t.Run(map[bool]string{false: "plain", true: "VLANs"}[aware], func(t *testing.T) { twoWorkers(t, aware) })
	}
}

func twoWorkers(t *testing.T, aware bool) {
	const ports, each = 4, 20_000
	m := newMemory(1 << 14)
	c := config(ports)
	if aware {
		c.VLANs = []VLAN{{ID: 5, Untagged: []uint16{0, 1, 2, 3}}, {ID: 6, Tagged: []uint16{0, 3}}}
	}
	c.Learn, c.Tail, c.Buffer = true, units.MB, 4*units.MB
	c.PFC[3].XOFF, c.PFC[3].XON, c.PFC[3].Headroom = 100_000, 50_000, 500_000
	c.Static = c.Static[:2] // the others are learned
	for i := range c.Ports {
		c.Ports[i].Worker = i / 2
	}
	envs := []*Env{NewEnv(m.pool(), ports), NewEnv(m.pool(), ports)}
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
			burst := make([]Frame, 8)
			now, rest := units.Time(0), 0
			held := [ports]bool{}
			for rest < 3 {
				now += us
				for p := 2 * w; p < 2*w+2; p++ {
					if n := sent[p].Load(); n < each && !held[p] {
						to := (p + 1 + int(n)%(ports-1)) % ports
						f, ok := env.Alloc(200)
						if ok {
							b := packet(p, to, 26, wire.ECT0)
							wire.BTH(b[42:]).SetPSN(uint32(n)+1, false)
							copy(env.Header(f), b)
							sent[p].Add(1)
							sw.Receive(now, p, []Frame{f})
						}
					}
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
		if d := st.Ports[p].Discarded(); d != [8]uint64{} {
			t.Errorf("port %d discards %v", p, d)
		}
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

func TestRingIsFIFO(t *testing.T) {
	r := newRing(8)
	const n = 100_000
	var all sync.WaitGroup
	all.Go(func() {
		for i := uint32(0); i < n; {
			if r.push(Frame{Ref: i}) {
				i++
			}
		}
	})
	all.Go(func() {
		for want := uint32(0); want < n; {
			if f, ok := r.pop(); ok {
				if f.Ref != want {
					t.Errorf("%d, want %d", f.Ref, want)
					return
				}
				want++
			}
		}
	})
	all.Wait()
	if !r.empty() {
		t.Error("not empty")
	}
}

func TestQueueAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var slow []Frame
		bytes, peak := units.Size(0), units.Size(0)
		for i := range rapid.IntRange(1, 300).Draw(t, "steps") {
			if len(slow) == 0 || rapid.IntRange(0, 2).Draw(t, "what") > 0 {
				f := Frame{Ref: uint32(i), Len: uint16(i)}
				q.push(&f)
				slow = append(slow, f)
				bytes += units.Size(i)
				peak = max(peak, bytes)
			} else {
				var f Frame
				if q.pop(&f); f != slow[0] {
					t.Fatalf("%v, want %v", f, slow[0])
				}
				bytes -= units.Size(slow[0].Len)
				slow = slow[1:]
			}
			var each []Frame
			q.each(func(f Frame) { each = append(each, f) })
			if q.len() != len(slow) || q.bytes != bytes || q.peak() != peak || len(each) != len(slow) {
				t.Fatal("state")
			}
		}
	})
}

func TestFDBAgainstMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		age := 10 * units.Second
		table := newFDB(20, age, 0)
		type entry struct {
			port int
			seen units.Time
		}
		slow := map[wire.MAC]entry{}
		fixed := mac(500)
		if err := table.set(fixed, []uint16{7}); err != nil {
			t.Fatal(err)
		}
		now := units.Time(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += units.Time(rapid.IntRange(0, 4).Draw(t, "dt")) * units.Second
			m := mac(rapid.IntRange(490, 510).Draw(t, "mac"))
			port := rapid.IntRange(0, 3).Draw(t, "port")
			e, ok := slow[m]
			alive := ok && now-e.seen <= age
			if want := alive && e.port == port || m == fixed; table.known(m, port, now) != want {
				t.Fatalf("known(%v, %d) is not %v", m, port, want)
			} else if want {
				e.seen = now
			} else {
				table.learn(m, port, now)
				e = entry{port, now}
			}
			if m != fixed {
				slow[m] = e
			}
			for i := 490; i < 511; i++ {
				e, ok := slow[mac(i)]
				want := noPort
				if ok && now-e.seen <= age {
					want = e.port
				}
				if mac(i) == fixed {
					want = 7
				}
				if got := table.lookup(mac(i), 0, now); got != want {
					t.Fatalf("%v at %v: port %d, want %d", mac(i), now, got, want)
				}
			}
		}
	})
}

func TestFullFDBForgetsNobody(t *testing.T) {
	table := newFDB(16, 0, 0)
	for i := range 10_000 {
		table.learn(mac(i), 1, 0)
	}
	known := 0
	for i := range 10_000 {
		if table.lookup(mac(i), 0, 0) == 1 {
			known++
		}
	}
	if known != len(table.entries) || table.full.Load() != uint64(10_000-known) {
		t.Errorf("%d known of %d places, %d refused", known, len(table.entries), table.full.Load())
	}
}

// What no longer fits in the ring to another worker is discarded, counted, and given back.
func TestRingBetweenWorkersIsFull(t *testing.T) {
	m := newMemory(1 << 14)
	c := config(2)
	c.Buffer = 4 * units.MB
	c.PFC[3].XOFF, c.PFC[3].XON = units.MB, 900_000
	c.Ports[1].Worker = 1
	envs := []*Env{NewEnv(m.pool(), 2), NewEnv(m.pool(), 2)}
	sw, err := NewSwitch(c, envs)
	if err != nil {
		t.Fatal(err)
	}
	const beyond = 100
	for range ringSize + beyond {
		f, ok := envs[0].Alloc(200)
		if !ok {
			t.Fatal("no buffers")
		}
		copy(envs[0].Header(f), packet(0, 1, 26, 0))
		sw.Receive(0, 0, []Frame{f})
	}
	if n := sw.Stats(0).Ports[0].Discards[DropRing]; n != [8]uint64{3: beyond} {
		t.Errorf("%v frames are counted, %d did not fit", n, beyond)
	}
	if n := sw.Queued(); n != ringSize {
		t.Errorf("%d frames are in the switch", n)
	}
	if held := sw.Stats(0).Ports[0].Buffered[3]; held != ringSize*200 {
		t.Errorf("%v are held for port 0", held)
	}
	sent := 0
	for burst := make([]Frame, 32); ; {
		n := sw.Transmit(0, 1, burst)
		if n == 0 {
			break
		}
		sent += n
		for _, f := range burst[:n] {
			envs[1].Free(f)
		}
	}
	if sent != ringSize {
		t.Errorf("%d frames left", sent)
	}
	if err := sw.Audit(); err != nil {
		t.Error(err)
	}
}

// What another worker sees is learned by the one that writes the table.
func TestAnotherWorkerLearns(t *testing.T) {
	m := newMemory(1 << 12)
	c := config(3)
	c.Static, c.Learn, c.Age = nil, true, 300*units.Second
	c.Ports[1].Worker = 1
	envs := []*Env{NewEnv(m.pool(), 3), NewEnv(m.pool(), 3)}
	sw, err := NewSwitch(c, envs)
	if err != nil {
		t.Fatal(err)
	}
	send := func(env *Env, port, from, to int) {
		f, ok := env.Alloc(100)
		if !ok {
			t.Fatal("no buffers")
		}
		copy(env.Header(f), packet(from, to, 26, 0))
		sw.Receive(0, port, []Frame{f})
	}
	burst := make([]Frame, 8)
	out := func(env *Env, port int) int {
		n := sw.Transmit(0, port, burst)
		for _, f := range burst[:n] {
			env.Free(f)
		}
		return n
	}
	send(envs[1], 1, 10, 11) // to everybody
	if a, b := out(envs[0], 0), out(envs[0], 2); a != 1 || b != 1 {
		t.Fatalf("%d and %d copies", a, b)
	}
	send(envs[0], 0, 11, 10)
	if a, b := out(envs[1], 1), out(envs[0], 2); a != 1 || b != 0 {
		t.Errorf("%d frames where the address was seen, %d elsewhere", a, b)
	}
	if err := sw.Audit(); err != nil {
		t.Error(err)
	}
}
