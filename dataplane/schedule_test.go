package dataplane

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// slowScheduler is what the scheduler does, a frame at a time, from the paper's
// words: every priority a list of sizes, a counter and a pointer that goes round.
type slowScheduler struct {
	weights [8]int
	lists   [8][]int
	saved   [8]int
	at      int
}

func (s *slowScheduler) quantum(prio int) int {
	least := 1000
	for _, w := range s.weights {
		if w > 0 && w < least {
			least = w
		}
	}
	return s.weights[prio] * (1500 + wire.EthernetLen + wire.VLANLen + wire.Overhead) / least
}

// send is the priority of the next frame; -1: none may be sent.
func (s *slowScheduler) send(paused uint8) int {
	ready := func(prio int) bool { return len(s.lists[prio]) > 0 && paused>>prio&1 == 0 }
	some := false
	for prio := 7; prio >= 0; prio-- {
		if ready(prio) && s.weights[prio] == 0 {
			s.lists[prio] = s.lists[prio][1:]
			return prio
		}
		some = some || ready(prio)
	}
	if !some {
		return -1
	}
	for !ready(s.at) || s.lists[s.at][0]+wire.Overhead > s.saved[s.at] {
		s.at = (s.at + 7) % 8
		if ready(s.at) {
			if next := s.lists[s.at][0] + wire.Overhead; s.saved[s.at] >= next {
				s.saved[s.at] = next - 1 // its last turn was cut short
			}
			s.saved[s.at] += s.quantum(s.at)
		}
	}
	prio := s.at
	s.saved[prio] -= s.lists[prio][0] + wire.Overhead
	s.lists[prio] = s.lists[prio][1:]
	if len(s.lists[prio]) == 0 {
		s.saved[prio] = 0
	}
	return prio
}

// Strict and shared priorities, pauses, bursts of any size: the order is the slow scheduler's.
func TestScheduler(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := config(2)
		c.Tail = units.MB
		var slow slowScheduler
		for prio := range c.Weights {
			c.Weights[prio] = rapid.SampledFrom([]int{0, 0, 1, 2, 30, 100}).Draw(t, "weight")
		}
		slow.weights = c.Weights
		env := fabric.NewEnv(fabric.NewHeaderPool(), 2)
		sw, err := NewSwitch(c, []*fabric.Env{env})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{sw: sw, env: env}
		paused := uint8(0)
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0:
				quanta := rapid.SampledFrom([]uint16{0, 60_000}).Draw(t, "quanta")
				paused = 0
				if quanta > 0 {
					paused = lossless
				}
				r.in(1, pauseFrame(3, quanta), pfc.FrameLen)
			case 1, 2:
				for range rapid.IntRange(1, 20).Draw(t, "arrivals") {
					prio := rapid.IntRange(0, 7).Draw(t, "prio")
					length := rapid.IntRange(64, 1514).Draw(t, "length")
					before := r.stats(1).QueueFrames[prio]
					r.in(0, packet(0, 1, uint8(prio*8), 0), length)
					if r.stats(1).QueueFrames[prio] > before {
						slow.lists[prio] = append(slow.lists[prio], length)
					}
				}
			default:
				n := rapid.IntRange(1, 40).Draw(t, "room")
				for i, b := range r.out(1, n) {
					if got, want := int(b[15]>>5), slow.send(paused); got != want {
						t.Fatalf("frame %d of a burst has priority %d, the slow scheduler sends %d", i, got, want)
					}
				}
			}
		}
		for len(r.out(1, 32)) > 0 {
		}
		if err := sw.Audit(); err != nil {
			t.Fatal(err)
		}
	})
}

// What is left by a strict priority is shared by weight, whatever the frames'
// lengths, and a queue that was empty has nothing saved up.
func TestSharesOfTheLink(t *testing.T) {
	c := config(2)
	c.Tail, c.Buffer = units.MB, 8*units.MB
	c.Weights = [8]int{0: 10, 1: 30, 2: 60}
	r := newRig(t, c)
	fill := func(prio, length, frames int) {
		for range frames {
			r.in(0, packet(0, 1, uint8(prio*8), 0), length)
		}
	}
	fill(0, 1500, 500)
	fill(1, 200, 3000)
	fill(2, 700, 1200)
	fill(5, 1000, 100)
	var sent [8]int
	lengths := [8]int{0: 1500, 1: 200, 2: 700, 5: 1000}
	for n := 0; n < 1000; {
		for _, b := range r.out(1, 7) {
			prio := b[15] >> 5
			if n < 100 != (prio == 5) {
				t.Fatalf("frame %d is of priority %d", n, prio)
			}
			sent[prio] += lengths[prio] + wire.Overhead
			n++
		}
	}
	all := float64(sent[0] + sent[1] + sent[2])
	for prio, want := range map[int]float64{0: 0.1, 1: 0.3, 2: 0.6} {
		if got := float64(sent[prio]) / all; got < want-0.02 || got > want+0.02 {
			t.Errorf("priority %d sent %.3f of the shared bytes, its weight says %.2f", prio, got, want)
		}
	}
	for len(r.out(1, 32)) > 0 {
	}
}

// What was strict is shared by weight after a reload, and the other way round.
func TestReloadOfWeights(t *testing.T) {
	c := config(2)
	c.Tail = units.MB
	r := newRig(t, c)
	for range 200 {
		r.in(0, packet(0, 1, 0, 0), 1000)
		r.in(0, packet(0, 1, 8, 0), 1000)
	}
	of0 := func(n int) (sent int) {
		for _, b := range r.out(1, n) {
			if b[15]>>5 == 0 {
				sent++
			}
		}
		return sent
	}
	if n := of0(40); n != 0 {
		t.Errorf("%d of 40 frames are of the lower priority", n)
	}
	c.CP, c.Weights = nil, [8]int{0: 3, 1: 1}
	r.reload(c)
	if n := of0(40); n < 28 || n > 32 {
		t.Errorf("%d of 40 frames are of the priority with three of four shares", n)
	}
	c.Weights = [8]int{}
	r.reload(c)
	if n := of0(40); n != 0 {
		t.Errorf("%d of 40 frames are of the lower priority again", n)
	}
	for len(r.out(1, 32)) > 0 {
	}
}

// A lossy queue's limit follows what is free of the buffer: one congested queue
// gets alpha/(1+alpha) of it.
func TestLimitOfLossyQueuesFollowsTheBuffer(t *testing.T) {
	c := config(2)
	c.Tail, c.Share = units.MB, 0.5
	c.Buffer = c.Reserved() + 300_000
	r := newRig(t, c)
	for range 300 {
		r.in(0, packet(0, 1, 0, 0), 1000)
	}
	if q := r.sw.QueueBytes(1, 0); q < 98_000 || q > 101_000 {
		t.Errorf("the queue holds %v of 300 KB, not a third", q)
	}
	if s := r.stats(1); s.Discards[fabric.DropTail][0] != 300-s.QueueFrames[0] {
		t.Errorf("%d frames queued, %d dropped, of 300", s.QueueFrames[0], s.Discards[fabric.DropTail][0])
	}
	for len(r.out(1, 32)) > 0 {
	}
}

// A frame of a priority with a weight takes its turn when it passes the queues, too: the port has to see it, from
// the switch's first frame on and after a reload of the weights.
func TestWeightedPrioritiesAreSeen(t *testing.T) {
	c := config(2)
	c.Weights = [pfc.Classes]int{0: 5, 3: 5}
	r := newRig(t, c)
	check := func(weighted uint8) {
		t.Helper()
		for p := range r.sw.ports {
			if e := r.env.Exit(p); e.Unseen&weighted != 0 || e.Open != 0xFF {
				t.Errorf("port %d: priorities %08b pass unseen, of %08b that pass, with %08b weighted", p, e.Unseen, e.Open, weighted)
			}
		}
	}
	check(1<<0 | 1<<3)
	c.Weights = [pfc.Classes]int{4: 1, 5: 2}
	r.reload(c)
	check(1<<4 | 1<<5)
}

// A queue that is paused, or waits for its shaper, in the middle of its turns saves none of them up: when it may send
// as it likes, it has its share and no more.
func TestTurnsThatWereCutShortAreNotSavedUp(t *testing.T) {
	fill := func(r *rig) {
		for r.sw.QueueBytes(1, 3) < 10_000 {
			r.in(0, packet(0, 1, 24, 0), 100)
		}
		for r.sw.QueueBytes(1, 0) < 15_000 {
			r.in(0, packet(0, 1, 0, 0), 1000)
		}
	}
	share := func(t *testing.T, r *rig) {
		t.Helper()
		var sent [8]int
		for range 300 {
			fill(r)
			for _, b := range r.out(1, 1) {
				prio := b[15] >> 5
				sent[prio] += map[byte]int{0: 1000, 3: 100}[prio] + wire.Overhead
			}
		}
		if part := float64(sent[3]) / float64(sent[0]+sent[3]); part < 0.45 || part > 0.55 {
			t.Errorf("priority 3 sent %.2f of the bytes, its weight says half", part)
		}
		for len(r.out(1, 32)) > 0 {
		}
	}
	c := config(2)
	c.PFC[3].XOFF = 100_000
	c.Weights = [8]int{0: 1, 3: 1}
	t.Run("paused", func(t *testing.T) {
		r := newRig(t, c)
		for range 1000 {
			r.now += us
			fill(r)
			r.in(1, pauseFrame(3, 0), pfc.FrameLen)
			for r.out(1, 1)[0][15]>>5 != 3 {
				fill(r)
			}
			r.in(1, pauseFrame(3, 60_000), pfc.FrameLen)
			fill(r)
			r.out(1, 1)
		}
		r.in(1, pauseFrame(3, 0), pfc.FrameLen)
		share(t, r)
	})
	t.Run("shaped", func(t *testing.T) {
		c := c
		c.Ports = slices.Clone(c.Ports)
		c.Ports[1].Queues[3].Shaper = Shaper{Rate: 100 * units.Mbps, Burst: 2 * 1546}
		r := newRig(t, c)
		for range 10_000 {
			r.now += 4 * us
			fill(r)
			r.out(1, 1)
		}
		c.CP, c.Ports = nil, slices.Clone(c.Ports)
		c.Ports[1].Queues[3].Shaper = Shaper{}
		r.reload(c)
		share(t, r)
	})
}
