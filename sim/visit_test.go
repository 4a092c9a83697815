package sim

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/units"
)

// chatter is a node that does at random what nodes may do, and notes what it is asked. What it
// does depends on nothing but what it was asked before.
type chatter struct {
	env   *fabric.Env
	r     *rand.Rand
	ports int
	sent  bool
	said  []asked
}

// asked is one call of a node: a frame of so many bytes came, or left; 0: none was there.
type asked struct {
	at      units.Time
	port    int
	arrived bool
	bytes   uint16
}

func (c *chatter) Receive(now units.Time, port int, burst []fabric.Frame) {
	for _, f := range burst {
		c.said = append(c.said, asked{now, port, true, f.Len})
		c.env.Free(f)
	}
	for range c.r.IntN(3) {
		c.env.Wake(c.r.IntN(c.ports), now+c.soon())
	}
}

// soon is often 0, and often the same.
func (c *chatter) soon() units.Time {
	return []units.Time{0, 0, 1, 1000, 100_000, units.Time(c.r.IntN(1_000_000)), units.Time(c.r.IntN(10_000_000))}[c.r.IntN(7)]
}

func (c *chatter) Transmit(now units.Time, port int, burst []fabric.Frame) int {
	f := fabric.Frame{}
	if c.sent = c.r.IntN(10) < 7; c.sent {
		f, _ = c.env.Alloc([]int{60, 60, 100, 1500}[c.r.IntN(4)])
		burst[0] = f
	}
	c.said = append(c.said, asked{now, port, false, f.Len})
	if c.r.IntN(8) == 0 {
		c.env.Wake(c.r.IntN(c.ports), now+c.soon())
	}
	if c.sent {
		return 1
	}
	return 0
}

func (c *chatter) Next(now units.Time, _ int) units.Time {
	switch c.r.IntN(5) {
	case 0:
		if c.sent {
			return now
		}
		return now + 1
	case 1:
		return now + 1 + c.soon()
	}
	return units.Never
}

func (c *chatter) Stats(units.Time) fabric.Stats { return fabric.Stats{} }
func (c *chatter) Audit() error                  { return nil }
func (c *chatter) Close()                        {}

// cable joins two ports of a network of chatters.
type cable struct {
	a, b fabric.End
	link fabric.Link
}

// chat is a network of them.
type chat struct {
	ports  []int // by node
	cables []cable
	seed   uint64
}

func (c *chat) node(i int, env *fabric.Env) *chatter {
	return &chatter{env: env, r: rand.New(rand.NewPCG(c.seed, uint64(i))), ports: c.ports[i]}
}

func drawChat(t *rapid.T) *chat {
	c := &chat{seed: rapid.Uint64().Draw(t, "seed")}
	sides := rapid.Bool().Draw(t, "two sides") // nodes of even and of odd numbers, and no link within one
	var free [2][]fabric.End
	for i := range rapid.IntRange(2, 9).Draw(t, "nodes") {
		n := rapid.SampledFrom([]int{1, 1, 2, 5, 40}).Draw(t, "ports")
		c.ports = append(c.ports, n)
		for p := range n {
			free[i%2] = append(free[i%2], end(i, p))
		}
	}
	r := rand.New(rand.NewPCG(c.seed, 99))
	if !sides {
		all := slices.Concat(free[0], free[1])
		r.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		free[0], free[1] = all[:len(all)/2], all[len(all)/2:]
	}
	for _, f := range free {
		r.Shuffle(len(f), func(i, k int) { f[i], f[k] = f[k], f[i] })
	}
	delays := []units.Time{0, 1, 50 * units.Nanosecond, 300 * units.Nanosecond, units.Microsecond, 3 * units.Microsecond}
	least := rapid.SampledFrom(delays).Draw(t, "delay")
	for i := range min(len(free[0]), len(free[1])) {
		c.cables = append(c.cables, cable{free[0][i], free[1][i], fabric.Link{Rate: rate, Delay: least * units.Time(1+c.seed%3)}})
		c.seed++
	}
	return c
}

// slowly is what happens in the network, by a search through all that is to happen for each
// event.
func (c *chat) slowly(until, every units.Time) (nodes []*chatter) {
	type event struct {
		at    units.Time
		timer bool
		fabric.End
		f fabric.Frame
	}
	pool := fabric.NewHeaderPool()
	var events []event
	free := map[fabric.End]units.Time{}
	wire := map[fabric.End]cable{}
	for _, k := range c.cables {
		wire[k.a], wire[k.b] = k, cable{k.b, k.a, k.link}
	}
	for i, n := range c.ports {
		nodes = append(nodes, c.node(i, fabric.NewEnv(pool, n)))
	}
	wake := func(now units.Time, node int) {
		env := nodes[node].env
		for _, port := range env.Woken() {
			at := end(node, int(port))
			events = slices.DeleteFunc(events, func(e event) bool { return e.timer && e.End == at })
			if due := env.Due(int(port)); due != units.Never && wire[at].link.Rate > 0 {
				events = append(events, event{max(due, now, free[at]), true, at, fabric.Frame{}})
			}
		}
	}
	sample := every
	for {
		first := -1
		for i, e := range events {
			if first < 0 || e.at < events[first].at || e.at == events[first].at && (!e.timer && events[first].timer || e.timer == events[first].timer &&
				(e.Node < events[first].Node || e.Node == events[first].Node && e.Port < events[first].Port)) {
				first = i
			}
		}
		if sample <= until && (first < 0 || sample <= events[first].at) {
			for i, n := range nodes {
				n.env.Wake(int(sample/every)%n.ports, sample)
				wake(sample, i)
			}
			sample += every
			continue
		}
		if first < 0 || events[first].at > until {
			return nodes
		}
		e := events[first]
		events = slices.Delete(events, first, first+1)
		n := nodes[e.Node]
		if !e.timer {
			n.Receive(e.at, e.Port, []fabric.Frame{e.f})
			wake(e.at, e.Node)
			continue
		}
		n.env.SetDue(e.Port, units.Never)
		var burst [1]fabric.Frame
		if n.Transmit(e.at, e.Port, burst[:]) == 1 {
			k := wire[e.End]
			free[e.End] = e.at + k.link.Serialize(int(burst[0].Len))
			events = append(events, event{free[e.End] + k.link.Delay, false, k.b, burst[0]})
		}
		next := n.Next(e.at, e.Port)
		n.env.SetDue(e.Port, units.Never)
		n.env.Wake(e.Port, next)
		wake(e.at, e.Node)
	}
}

// A node is asked in the order of time, and of ports within an instant, arrivals first,
// whatever the network is like and however long its windows are, and in parts, too.
func TestVisitsAgainstSlowTwin(t *testing.T) {
	defer func(n uint64) { publishEvery = n }(publishEvery)
	publishEvery = 0
	defer moveAtRandom()()
	calls, sided := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		c := drawChat(t)
		until, every := 60*units.Microsecond, 7*units.Microsecond
		want := c.slowly(until, every)
		w := New()
		w.SetParts(rapid.IntRange(1, 3).Draw(t, "parts"))
		var nodes []*chatter
		for i, n := range c.ports {
			envs := w.NewEnvs(n)
			nodes = append(nodes, c.node(i, envs[0]))
			w.Add("", nodes[i], envs, make([]int, n))
		}
		for _, k := range c.cables {
			if err := w.Connect(k.a, k.b, k.link); err != nil {
				t.Fatal(err)
			}
		}
		w.Every(every, func(now units.Time) {
			for _, n := range nodes {
				n.env.Wake(int(now/every)%n.ports, now)
			}
		})
		for _, at := range []units.Time{until / 7, until / 2, until} {
			if err := w.Run(context.Background(), at); err != nil {
				t.Fatal(err)
			}
		}
		if w.parallel != nil && w.sides != nil {
			sided++
		}
		for i, n := range nodes {
			calls += len(n.said)
			for k := range n.said {
				if k >= len(want[i].said) || n.said[k] != want[i].said[k] {
					t.Fatalf("call %d of node %d, of %d ports: %+v, the twin has %+v", k, i, n.ports, n.said[k], want[i].said[k:min(k+1, len(want[i].said))])
				}
			}
			if len(n.said) != len(want[i].said) {
				t.Fatalf("node %d was called %d times, not %d", i, len(n.said), len(want[i].said))
			}
		}
		for i := range w.ports {
			p := &w.ports[i]
			if p.peer != unlinked {
				if far := &w.ports[p.peerID()]; p.sent != far.delivered+far.flight.end-far.flight.head {
					t.Fatalf("%d frames sent, %d arrived and %d on their way", p.sent, far.delivered, far.flight.end-far.flight.head)
				}
			}
		}
	})
	if calls < 10_000 || sided == 0 {
		t.Errorf("%d calls in all, %d worlds in parts that have sides: nothing to compare", calls, sided)
	}
}

// Arrivals are sorted, however many there are and whenever, in one visit after the other.
func TestArrivalsAreSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := visit{base: 1000}
		v.reserve()
		span := rapid.SampledFrom([]uint64{1, 2, 1000, 1 << 20, 1 << 30}).Draw(t, "span")
		v.end = v.base + units.Time(span)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		more := rapid.SampledFrom([]int{1, insertionMax, 97, 256, 391}).Draw(t, "more each time")
		for n := 0; n <= 20*more; n += more {
			var keys []uint64
			l := flight{first: units.Never}
			v.keys, v.frames = v.keys[:0], v.frames[:0]
			for i := range n {
				if l.len() >= l.mask {
					l.grow()
				}
				*l.slot(l.end) = flying{at: v.base + units.Time(r.Uint64N(span))}
				key := v.key(l.slot(l.end).at, i)
				l.slot(l.end).frame.Begin(key>>3, uint32(key))
				l.first = l.slot(l.end).at
				l.end++
				keys = append(keys, key)
				v.takeArriving(&l, i)
			}
			slices.Sort(keys)
			v.otherKeys = v.otherKeys[:0:r.IntN(cap(v.otherKeys)+1)] // they grow apart
			v.otherFrames = v.otherFrames[:0:r.IntN(cap(v.otherFrames)+1)]
			v.sortArrivals()
			if len(v.keys) != n+1 || len(v.frames) != n || v.keys[n] != beyond {
				t.Fatalf("%d and %d of %d, and the last is %x", len(v.keys), len(v.frames), n, v.keys[len(v.keys)-1])
			}
			for i, key := range keys {
				if f := v.frames[i]; v.keys[i] != key || f.Place() != key>>3 || f.Digest != uint32(key) {
					t.Fatalf("arrival %d is %x, %+v, not %x", i, v.keys[i], f, key)
				}
			}
		}
	})
}
