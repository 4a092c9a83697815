package credits

import (
	"testing"

	"pgregory.net/rapid"

	"photon/units"
)

// twin is what one direction of a link promises, counted without end: nothing is modulo anything.
type twin struct {
	capacity   int64
	sent       int64 // blocks
	received   int64 // as the receiver knows: what was lost counts once it has been told
	buffered   int64
	limit      int64 // the last that the sender was told
	advertised bool  // it was told one
	told       int64 // the last limit that the receiver sent
	stopped    bool  // the receiver gives no more
	next       int64 // blocks of the packet that is to be sent next; 0: none

	off           bool // it waits for credits
	waits         uint64
	waited, since units.Time
}

// look follows the packet that waits: each counts once, and its time until it may go.
func (w *twin) look(now units.Time) {
	off := w.next > 0 && (!w.advertised || w.sent+w.next > w.limit)
	switch {
	case off && !w.off:
		w.waits++
		w.since = now
	case w.off && !off:
		w.waited += now - w.since
	}
	w.off = off
}

func (w *twin) free() int64 { return min(w.capacity-w.buffered, 2048) }

// grant is the limit that the receiver sends.
func (w *twin) grant() int64 {
	if w.stopped {
		return w.told
	}
	return w.received + w.free()
}

// item is on its way: a data packet of so many blocks, or a flow control packet.
type item struct {
	blocks int64
	packet *Packet
	sent   int64 // what the twin says that the packet says
	limit  int64
	known  bool
}

// Two ends with a wire between them, that delivers in order and loses what it likes. The link may begin anew, with
// nothing under way, and the receiver may stop its peer for a while. Then what ports say is what twins count,
// nothing arrives for which there is no room, and when all is quiet the sender has credits for all that the receiver has
// room for.
func TestPortsAreTheirTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const lane, longest = 3, 2000
		of := func(what string, sizes *rapid.Generator[int]) units.Size { return units.Size(sizes.Draw(t, what)) }
		c := Config{
			Buffer: of("buffer", rapid.OneOf(rapid.IntRange(2000, 400_000), rapid.Just(200_000))),
			Extra:  of("extra", rapid.SampledFrom([]int{0, 4, 5, 26})),
			Update: of("update", rapid.SampledFrom([]int{0, 64, 2000})),
			Period: 100 * units.Microsecond,
		}
		if c.Validate(longest) != nil {
			c.Buffer += 200
		}
		a, b := NewPort(c, 1<<lane, 10*units.Gbps, longest), NewPort(c, 1<<lane, 10*units.Gbps, longest)
		w := &twin{capacity: int64(c.Buffer) / 64}
		var there, back []item // from a to b, and from b to a
		now, known := units.Time(0), false
		tell := func() {
			for _, p := range a.Poll(now, nil) {
				if int64(p.Sent) != w.sent%4096 {
					t.Fatalf("FCTBS is %d, %d blocks were sent", p.Sent, w.sent)
				}
				there = append(there, item{packet: &p, sent: w.sent})
			}
			for _, p := range b.Poll(now, nil) {
				limit := w.grant()
				w.told = limit
				if int64(p.Limit) != limit%4096 || p.Init == known {
					t.Fatalf("FCCL is %d, init %v: %d blocks came, %d are free, stopped %v",
						p.Limit, p.Init, w.received, w.free(), w.stopped)
				}
				back = append(back, item{packet: &p, limit: limit, known: known})
			}
		}
		send := func(length int) bool {
			n := int64(int(c.Extra)+length+63) / 64
			may := w.advertised && w.limit-(w.sent+n) >= 0
			if a.May(lane, a.Blocks(length)) != may {
				t.Fatalf("%d blocks of %d that may be sent: %v", n, w.limit-w.sent, !may)
			}
			a.Want(now, lane, a.Blocks(length))
			if off := a.Paused() != 0; off == may {
				t.Fatalf("off is %v", off)
			}
			w.next = n
			if w.look(now); may {
				a.Send(lane, a.Blocks(length))
				a.Want(now, lane, 0)
				w.sent, w.next = w.sent+n, 0
				there = append(there, item{blocks: n})
				w.look(now)
			}
			return may
		}
		buffer := func(n int64) { w.buffered += n; b.SetBuffered(lane, units.Size(w.buffered)*Block) }
		arriveThere := func(lose bool) {
			x := there[0]
			there = there[1:]
			switch {
			case lose:
			case x.packet != nil:
				b.Process(now, x.packet)
				w.received, known = x.sent, true
			default:
				if b.CountReceived(lane, uint16(x.blocks)); known {
					w.received += x.blocks
				}
				if x.blocks%4 == 3 { // it is for nobody: counted, and not kept
					return
				}
				if buffer(x.blocks); w.buffered > w.capacity {
					t.Fatalf("%d blocks are kept, there is room for %d", w.buffered, w.capacity)
				}
			}
		}
		arriveBack := func(lose bool) {
			x := back[0]
			if back = back[1:]; !lose {
				was := a.Paused()
				if on := a.Process(now, x.packet); on != was&^a.Paused() {
					t.Fatalf("went on: %08b, of %08b are off %08b", on, was, a.Paused())
				}
				if w.advertised = x.known; w.advertised {
					w.limit = x.limit
				}
				w.look(now)
			}
		}
		talk := func() {
			for tell(); len(there)+len(back) > 0; {
				if len(there) > 0 {
					arriveThere(false)
				} else {
					arriveBack(false)
				}
			}
		}
		if rapid.Bool().Draw(t, "open") { // random steps alone seldom open a link and then fill a buffer
			talk()
			talk()
		}
		t.Repeat(map[string]func(*rapid.T){
			"send": func(t *rapid.T) {
				send(rapid.OneOf(rapid.IntRange(60, longest), rapid.Just(60)).Draw(t, "length"))
			},
			"there": func(t *rapid.T) { // most often all that is under way
				for n := rapid.IntRange(0, 8).Draw(t, "arrive"); n > 0 && len(there) > 0; n-- {
					arriveThere(rapid.IntRange(0, 9).Draw(t, "lost") == 0)
				}
			},
			"back": func(t *rapid.T) {
				for n := rapid.IntRange(0, 3).Draw(t, "arrive"); n > 0 && len(back) > 0; n-- {
					arriveBack(rapid.IntRange(0, 3).Draw(t, "lost") == 0)
				}
			},
			"leave": func(t *rapid.T) { buffer(-rapid.Int64Range(0, w.buffered).Draw(t, "blocks")) },
			"tell":  func(*rapid.T) { tell() },
			"stop":  func(*rapid.T) { w.stopped = !w.stopped; b.StopPeer(w.stopped) },
			"begin": func(*rapid.T) {
				there, back, known = nil, nil, false
				w.sent, w.received, w.limit, w.told, w.advertised = 0, 0, 0, 0, false
				a.Begin(now)
				b.Begin(now)
				if w.look(now); (a.Paused() != 0) != w.off {
					t.Fatalf("a packet waits: %v, and its lane is off: %v", w.off, !w.off)
				}
			},
			"": func(t *rapid.T) {
				for _, q := range []*Port{a, b} {
					due := q.Due(now)
					trial := *q
					if list := trial.Poll(now, nil); (len(list) > 0) != (due == now) {
						t.Fatalf("due at %v, and at %v there is to say %v", due, now, list)
					}
					if trial = *q; due != units.Never && len(trial.Poll(due, nil)) == 0 {
						t.Fatalf("nothing is to say at %v, when it is due", due)
					}
				}
				c := a.Counters(now)
				waited := w.waited
				if w.off {
					waited += now - w.since
				}
				if c.Waits[lane] != w.waits || c.Waited[lane] != waited || c.Waiting != a.Paused() {
					t.Fatalf("%d packets waited for %v, counted %d and %v",
						w.waits, waited, c.Waits[lane], c.Waited[lane])
				}
				few := max(0, w.told-w.received) < int64(b.Blocks(longest))
				if stopped := b.PeerStopped() != 0; stopped != few {
					t.Fatalf("the peer may send %d blocks, and the longest packet has %d: stopped %v",
						w.told-w.received, b.Blocks(longest), stopped)
				}
			},
			"wait": func(t *rapid.T) { now += units.Time(rapid.IntRange(1, 150).Draw(t, "us")) * units.Microsecond },
		})
		buffer(-w.buffered)
		w.stopped = false
		b.StopPeer(false)
		for range 3 {
			now += c.Period
			talk()
			buffer(-w.buffered)
		}
		if got := int64(a.Counters(now).Credits[lane]); got != min(w.capacity, 2048) {
			t.Fatalf("%d credits are left, of %d blocks", got, w.capacity)
		}
	})
}
