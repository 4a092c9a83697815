package dataplane

import (
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/marking"
	"photon/units"
	"photon/wire"
)

// lossyBook is what the buffer has to do with lossy frames that one port receives in a burst, frame by frame: those
// for the other port of the same worker are queued at once, those for ports of another one when that looks.
type lossyBook struct {
	pool, used, peak int64
	tail             units.Size
	share            float64
	queues           [4][8]units.Size
	dropped          map[fabric.Reason]int
}

func (k *lossyBook) admit(length int64) bool {
	if length > k.pool-k.used {
		k.dropped[fabric.DropBuffer]++
		return false
	}
	k.used += length
	k.peak = max(k.peak, k.used)
	return true
}

func (k *lossyBook) queue(port int, prio uint8, length int64) {
	limit := k.tail
	if k.share > 0 {
		limit = min(limit, units.Size(k.share*float64(k.pool-k.used)))
	}
	if q := &k.queues[port][prio]; *q+units.Size(length) <= limit {
		*q += units.Size(length)
		return
	}
	k.used -= length
	k.dropped[fabric.DropTail]++
}

// Lossy frames for ports of two workers have the room that the pool and their queues have, to the byte, although they
// are charged and handed over by vectors.
func TestLossyBurstsOfTwoWorkers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		one := func(what string, from ...int64) int64 { return rapid.SampledFrom(from).Draw(rt, what) }
		length := one("length", 64, 300, 1500)
		k := lossyBook{
			pool: length*one("frames of the pool", 10, 64, 100, 1000) - one("less", 0, 1), dropped: map[fabric.Reason]int{},
			tail:  units.Size(one("tail", 1_000_000, 2000, 10_000)),
			share: float64(one("eighths of what is free", 0, 0, 1, 8, 64)) / 8,
		}
		c := config(4)
		c.Tail, c.Share = k.tail, k.share
		c.Buffer = c.Reserved() + units.Size(k.pool)
		c.Ports[2].Worker, c.Ports[3].Worker = 1, 1
		r := newCrew(t, c, 2)
		psn := uint32(0)
		for range rapid.IntRange(1, 4).Draw(rt, "bursts") {
			var burst []fabric.Frame
			var away [][2]int // to which port, of which priority
			for range rapid.IntRange(1, fabric.MaxBurst).Draw(rt, "frames") {
				to, prio := int(one("to", 1, 2, 2, 3)), int(one("priority", 0, 0, 1))
				h := packet(0, to, uint8(prio)<<3, 0)
				wire.BTH(h[42:]).SetPSN(psn, false)
				psn++
				burst = append(burst, r.frame(0, h, int(length)))
				switch {
				case !k.admit(length):
				case to == 1:
					k.queue(to, uint8(prio), length)
				default:
					away = append(away, [2]int{to, prio})
				}
			}
			r.sw.Receive(r.now, 0, burst)
			r.poll()
			for _, a := range away {
				k.queue(a[0], uint8(a[1]), length)
			}
			if b := r.sw.Buffer(); int64(b.LossyUsed) != k.used || int64(b.LossyPeak) != k.peak {
				rt.Fatalf("%v of the pool are used, and were at most %v; not %d and %d",
					b.LossyUsed, b.LossyPeak, k.used, k.peak)
			}
			for why, n := range k.dropped {
				if got := r.discarded(why); got != uint64(n) {
					rt.Fatalf("%d frames are discarded for %v, not %d", got, why, n)
				}
			}
			for port, prios := range k.queues {
				for prio, bytes := range prios {
					if got := r.stats(port).QueueBytes[prio]; got != bytes {
						rt.Fatalf("%v wait at port %d of priority %d, not %v", got, port, prio, bytes)
					}
				}
			}
		}
		for port := 1; port < 4; port++ { // in the order in which they came
			last := [8]uint32{}
			for _, b := range r.out(port, 4*fabric.MaxBurst) {
				prio := b[15] >> 5
				if now := wire.BTH(b[42:]).PSN() + 1; now <= last[prio] {
					rt.Fatalf("port %d sends frame %d after %d", port, now, last[prio])
				} else {
					last[prio] = now
				}
			}
		}
		r.poll()
		if used := r.sw.Buffer().LossyUsed; used != 0 {
			rt.Fatalf("%v of the pool are used when all has left", used)
		}
	})
}

// Where the limit of a queue follows what is free of the buffer, it may be less than one frame. A frame that finds its port
// idle is then discarded, also if that port is another worker's.
func TestLossyFrameLongerThanItsQueueMayBe(t *testing.T) {
	for _, to := range []int{1, 2} { // of the same worker, and of the other one
		c := config(4)
		c.Tail, c.Share = units.MB, 0.125
		c.Buffer = c.Reserved() + 10_000
		c.Ports[2].Worker, c.Ports[3].Worker = 1, 1
		r := newCrew(t, c, 2)
		e := r.sw.ports[to].env.Exit(to)
		send := func(to int, dscp uint8) {
			r.sw.Receive(r.now, 0, []fabric.Frame{r.frame(0, packet(0, to, dscp, 0), 1000)})
			r.poll()
		}
		send(to, 0) // its key is known from now on
		r.out(to, 1)
		r.poll()
		send(3, 0)
		send(3, 8) // two frames wait
		for n := range 2 {
			e.Frames = make([]fabric.Frame, 4)
			send(to, 0)
			if n == 0 { // 7000 bytes would be free, of which an eighth is less than 1000
				if got := r.discarded(fabric.DropTail); e.N != 0 || got != 1 {
					t.Fatalf("port %d: %d frames leave, %d are discarded", to, e.N, got)
				}
			}
			r.out(3, 2)
			r.poll()
		}
		if got := r.discarded(fabric.DropTail); e.N != 1 || got != 1 {
			t.Errorf("port %d: of an empty buffer %d frames leave, %d are discarded", to, e.N, got)
		}
		r.sw.ports[to].env.Free(e.Frames[0])
		e.N, e.Frames = 0, nil
	}
}

// alwaysSamples is a congestion point that has something to say of every frame.
type alwaysSamples struct{ marking.None }

func (alwaysSamples) Enqueue(units.Time, marking.Queue, *marking.Packet) (marking.Sample, bool) {
	return marking.Sample{QntzFb: 63}, true
}

// What the switch itself sends is not sampled, where it passes the queues either: nobody would be told.
func TestOwnFramesThatPassAreNotSampled(t *testing.T) {
	c := config(2)
	c.Judged = 1 << c.Control
	c.CP = func(marking.Place) marking.CP { return alwaysSamples{} }
	c.Ports[1].Worker = 1
	r := newCrew(t, c, 2)
	e := r.sw.ports[0].env.Exit(0)
	e.Frames = make([]fabric.Frame, 4)
	r.in(0, packet(0, 1, 26, 0), 1000)
	r.poll()
	if a, b := r.stats(1).CNMs[3], r.stats(0).CNMs[c.Control]; e.N != 1 || a != 1 || b != 0 {
		t.Errorf("%d frames leave at once; %d CNMs are sent about data, %d about CNMs", e.N, a, b)
	}
	r.sw.ports[0].env.Free(e.Frames[0])
}
