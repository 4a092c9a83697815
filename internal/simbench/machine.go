package main

import "time"

// How fast this machine is: the least that a simulator of packets does, in a loop of
// its own. A packet-hop is two events of a queue, one when the packet has left and one
// when it arrives, and here they are nothing else: no packet, no port, no switch. What
// it makes on the machine of somebody else's figures and what it makes here says how
// much of a ratio is the machine's. It shares no code with the simulator, so that it
// stays the same when that changes.

const (
	bareName = "bare-loop"

	// bareThere is the packet-hops per second that such a loop made on a machine like
	// that on which the ns-3 simulator made what reference says, as issue 8 has it.
	bareThere = 4e6

	barePackets = 2048    // under way at a time, an event each: leafspine64-dcqcn has 2072 at most
	bareHops    = 3596608 // of leafspine64-dcqcn

	bareLink   = 1_000_000 // ps until a packet that has left arrives
	bareFrame  = 335_360   // ps until a packet that arrived has left: 1048 bytes at 25 Gbit/s
	bareSpread = 1 << 20   // ps that it waits before that, at most
)

// bareEvent is a packet's next event.
type bareEvent struct {
	at     int64 // ps
	packet uint32
	before uint32 // of its events; an odd number: this one is an arrival
}

// bareHeap is a heap of events, each of which has up to four behind it.
type bareHeap []bareEvent

func (h *bareHeap) push(e bareEvent) {
	*h = append(*h, e)
	q := *h
	i := len(q) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if q[parent].at <= e.at {
			break
		}
		q[i] = q[parent]
		i = parent
	}
	q[i] = e
}

func (h *bareHeap) pop() bareEvent {
	q := *h
	first, e := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	*h = q
	for i := 0; len(q) > 0; {
		least, at := i, e.at
		for c := 4*i + 1; c < min(4*i+5, len(q)); c++ {
			if q[c].at < at {
				least, at = c, q[c].at
			}
		}
		if least == i {
			q[i] = e
			break
		}
		q[i] = q[least]
		i = least
	}
	return first
}

// bareLoop has so many packet-hops happen, and returns how many events that were.
func bareLoop(hops uint64) (events uint64) {
	h := make(bareHeap, 0, barePackets)
	random := uint64(0x9E3779B97F4A7C15)
	wait := func() int64 { // xorshift64 (Marsaglia 2003): the same waits everywhere
		random ^= random << 13
		random ^= random >> 7
		random ^= random << 17
		return bareFrame + int64(random%bareSpread)
	}
	for i := range uint32(barePackets) {
		h.push(bareEvent{at: wait(), packet: i})
	}
	for arrived := uint64(0); arrived < hops; events++ {
		e := h.pop()
		if e.before&1 == 0 {
			e.at += bareLink
		} else {
			arrived++
			e.at += wait()
		}
		e.before++
		h.push(e)
	}
	return events
}

// measureBare measures the loop, after ready, which is as measure has it.
func measureBare(hops uint64, ready func() error) (measured, error) {
	bareLoop(hops / 16)
	if err := ready(); err != nil {
		return measured{}, err
	}
	processor, wall := used(), time.Now()
	m := measured{Hops: hops, Events: bareLoop(hops), Frames: barePackets}
	m.stop(processor, wall)
	m.RSS = memory("VmHWM")
	return m, nil
}
