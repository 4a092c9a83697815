package agent

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/units"
	"photon/wire"
)

// A host receives flow after flow, many times as many as it has places for, within less than the age of flows: each
// arrives at once, since those that are done make room.
func TestDoneFlowsMakeRoom(t *testing.T) {
	c := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 1)), func(i int) Config {
		c := cableConfig(i)
		c.Finished = 64
		return c
	})
	for qp := range uint32(1000) {
		f := c.send(0, qp, 1+int(qp%3))
		if c.run(c.now + 100*units.Microsecond); !f.done { // half of the timeout
			t.Fatalf("flow %d is not done: %v", qp, f.why)
		}
	}
	if n := c.hosts[1].h.Stats(c.now).Ports[0].Discards[fabric.DropTable]; n != [8]uint64{} {
		t.Errorf("packets without a place: %v", n)
	}
}

// Whatever happens to packets and acknowledgements: each of many flows arrives once, and ends, although the receivers
// have places for a few only, and late packets come of flows that have made room.
func TestDoneFlowsArriveOnce(t *testing.T) {
	ended, duplicates := 0, uint64(0)
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 5))
		config := drawConfig(t)
		c := newCable(t.Fatalf, random, func(i int) Config {
			c := config(i)
			c.Retries, c.Receivers, c.Finished = 100, 6, 400
			return c
		})
		for _, s := range c.hosts {
			s.h.setNextPSN(1<<24 - uint32(random.IntN(200)))
		}
		c.trouble = drawTrouble(t)
		longest := rapid.SampledFrom([]int{1, 1, 3, 40}).Draw(t, "longest")
		pairs := rapid.SampledFrom([]uint32{10, 100, 400}).Draw(t, "pairs")
		for range 200 {
			// Each host sends up to four flows at a time: places are for those, and for two that are done.
			for from := range c.hosts {
				running := 0
				for _, f := range c.flows {
					if f.from == from && !f.ended {
						running++
					}
				}
				if qp := 2*random.Uint32N(pairs) + uint32(from); running < 4 && !c.busy(from, qp) {
					c.send(from, qp, 1+random.IntN(longest))
				}
			}
			c.run(c.now + 20*units.Microsecond)
		}
		c.trouble = trouble{}
		c.run(c.now + 70*cableTimeout + 200*units.Millisecond)
		for _, f := range c.flows {
			if n := c.whole(f); !f.done || n != 1 {
				t.Fatalf("queue pair %d, %d packets: done %v, arrived %d times, %v", f.qp, f.packets, f.done, n, f.why)
			}
			ended++
		}
		for _, s := range c.hosts {
			for _, n := range s.h.Stats(c.now).Ports[0].Discards[fabric.DropSequence] {
				duplicates += n
			}
			if err := s.h.Audit(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if ended < 5000 || duplicates < 1000 {
		t.Errorf("%d flows, %d packets out of sequence: too few to say anything", ended, duplicates)
	}
}

// Of finished flows the last that came are known, as they came last.
func TestFinishedFlowsAreKnownInTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "places")
		f := newFinished(n)
		var order []uint32 // the last first
		known := map[uint32]uint32{}
		for at, qp := range rapid.SliceOfN(rapid.Uint32Range(0, 12), 0, 100).Draw(t, "flows") {
			f.add(keyOf(cableAddress(0), qp), &responder{start: uint32(at), expected: uint32(at) + 1}, retired{})
			order, known[qp] = append([]uint32{qp}, order...), uint32(at)
			recent := map[uint32]bool{}
			for _, qp := range order[:min(n, len(order))] {
				recent[qp] = true
			}
			for qp := range uint32(13) {
				got := f.find(keyOf(cableAddress(0), qp))
				if (got != nil) != recent[qp] || got != nil && (got.start != known[qp] || got.expected != known[qp]+1) {
					t.Fatalf("%d places, %v: flow %d is %+v", n, order, qp, got)
				}
			}
		}
	})
}

// A flow's place may have been another's in between: late packets of it, and of those before it on its pair, are not
// taken, and the next one on its pair is.
func TestLatePacketsOfFinishedFlows(t *testing.T) {
	for _, selective := range []*Selective{nil, {Window: 64, Reorder: 1}} {
		c := cableConfig(1)
		c.Receivers, c.Finished, c.Selective = 1, 4, selective
		env := fabric.NewEnv(fabric.NewHeaderPoolOf(512), 1)
		h, err := New(c, env)
		if err != nil {
			t.Fatal(err)
		}
		now := units.Time(0)
		give := func(qp, psn uint32, placed bool) (taken bool) {
			ext, length := uint8(0), wire.BTHLen+wire.ICRCLen
			if placed {
				ext = wire.ExtPlace
				length += wire.ExtensionsLen(ext)
			}
			f, _ := env.Alloc(wire.RoCEMaxLen + length)
			b := env.Bytes(&f)
			to := wire.RoCE{DstMAC: cableMAC(1), SrcMAC: cableMAC(0), Src: cableAddress(0), Dst: cableAddress(1), TOS: 26 << 2, SrcPort: 50000}
			at := to.Encode(b, length)
			wire.BTH(b[at:]).Encode(wire.OpSendOnly, false, qp, false, psn)
			wire.BTH(b[at:]).SetExtensions(ext)
			if placed {
				putPlace(b[at+wire.BTHLen:], psn)
			}
			f.Len = uint16(at + length)
			h.sealer.Seal(b[wire.EthernetLen:f.Len], at-wire.EthernetLen)
			lane := h.lane(3).ends
			h.Receive(now, 0, []fabric.Frame{f})
			var burst [8]fabric.Frame
			now += units.Microsecond
			for _, f := range burst[:h.Transmit(now, 0, burst[:])] {
				env.Free(f)
			}
			return h.lane(3).ends > lane
		}
		for i, packet := range []struct {
			qp, psn uint32
			placed  bool
			taken   bool
		}{
			{7, 5, false, true}, {7, 9, false, true}, {8, 1, selective != nil, true},
			{7, 5, false, false}, {8, 1, selective != nil, false}, {7, 9, false, false}, {8, 1, selective != nil, false},
			{7, 12, false, true}, {8, 2, selective != nil, true}, {7, 9, false, false}, {7, 12, false, false},
		} {
			if taken := give(packet.qp, packet.psn, packet.placed); taken != packet.taken {
				t.Errorf("selective %v, packet %d, %+v: taken %v", selective != nil, i, packet, taken)
			}
		}
		if d := h.Stats(now).Ports[0].Discards; d[fabric.DropMalformed] != [8]uint64{} {
			t.Errorf("late packets are called malformed: %v", d[fabric.DropMalformed])
		}
	}
}

// A flow that is whole does not make room for another before its acknowledgement has left: that goes to its own sender,
// and says what it has to.
func TestAnswersLeaveBeforeTheirFlows(t *testing.T) {
	c := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 1)), func(i int) Config {
		c := cableConfig(i)
		c.Finished = 4
		if i == 1 {
			c.Receivers = 1
		}
		return c
	})
	first, second := c.send(0, 7, 1), c.send(0, 8, 1)
	receiver := c.hosts[1]
	for c.hosts[0].h.DataSent() < 2*uint64(cablePayload) { // both are under way
		c.now = max(c.now, c.hosts[0].free)
		c.serve(0)
	}
	for len(c.flight) > 0 {
		c.now = c.flight[0].at
		c.arrive()
	}
	if n := receiver.h.Stats(c.now).Ports[0].Discards[fabric.DropTable]; n[3] != 1 {
		t.Errorf("packets without a place: %v, want one: an acknowledgement waits", n)
	}
	answers := 0
	c.lost = func(b []byte) bool {
		var h wire.Header
		if wire.Parse(b, &h); wire.BTH(b[h.BTH:]).Opcode() == wire.OpAcknowledge {
			if answers++; answers == 1 && wire.BTH(b[h.BTH:]).DestQP() != 7 {
				t.Errorf("the first answer is for queue pair %d", wire.BTH(b[h.BTH:]).DestQP())
			}
		}
		return false
	}
	c.run(c.now + 10*cableTimeout)
	if !first.done || !second.done || c.whole(first) != 1 || c.whole(second) != 1 || answers != 2 {
		t.Errorf("done %v and %v, %d answers", first.done, second.done, answers)
	}
}

// Nor before its notification has left, which is a while after it was decided: it names the flow that was marked.
func TestNotificationsLeaveBeforeTheirFlows(t *testing.T) {
	const delay = 50 * units.Microsecond
	c := newCable(t.Fatalf, rand.New(rand.NewPCG(1, 1)), func(i int) Config {
		c := cableConfig(i)
		c.Finished = 4
		if i == 1 {
			c.Receivers, c.NPDelay = 1, delay
		}
		return c
	})
	c.trouble.marked = 1000
	first := c.send(0, 7, 1)
	c.run(c.now + delay/2)
	c.trouble.marked = 0
	second := c.send(0, 8, 1)
	c.run(c.now + delay/4)
	if !first.done || second.done {
		t.Fatalf("done %v and %v: the second has no place yet", first.done, second.done)
	}
	var notified []uint32
	c.lost = func(b []byte) bool {
		var h wire.Header
		if wire.Parse(b, &h); wire.BTH(b[h.BTH:]).Opcode() == wire.OpCNP {
			notified = append(notified, wire.BTH(b[h.BTH:]).DestQP())
		}
		return false
	}
	c.run(c.now + 10*cableTimeout)
	if !second.done || len(notified) != 1 || notified[0] != 7 {
		t.Errorf("done %v, notified of queue pairs %v", second.done, notified)
	}
}
