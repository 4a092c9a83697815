package agent

import (
	"cmp"
	"slices"
	"testing"

	"photon/wire"
)

// What becomes of packets, one after the other, and what acknowledgements would say.
func TestVerdicts(t *testing.T) {
	const first, middle, last, only = wire.OpSendFirst, wire.OpSendMiddle, wire.OpSendLast, wire.OpSendOnly
	type packet struct {
		psn    uint32
		opcode uint8
		want   verdict
		msn    uint32
	}
	for name, packets := range map[string][]packet{
		"a flow across the end of the numbers": {
			{1<<24 - 2, first, inOrder, 1<<24 - 2}, {1<<24 - 1, middle, inOrder, 1<<24 - 2},
			{0, middle, inOrder, 1<<24 - 2}, {1, last, inOrder, 1<<24 - 1},
		},
		"losses and repetitions": {
			{10, first, inOrder, 10}, {12, middle, tooEarly, 10}, {10, first, duplicate, 10}, {11, middle, inOrder, 10},
			{11, middle, duplicate, 10}, {12, last, inOrder, 11}, {12, last, duplicate, 11}, {10, first, duplicate, 11},
			{11, middle, duplicate, 11},
		},
		"a receiver that knows nothing": {
			{11, middle, stranger, 0}, {12, last, stranger, 0}, {10, first, inOrder, 10}, {11, middle, inOrder, 10},
		},
		"flow after flow on a pair, and what is late of those before": {
			{10, only, inOrder, 11}, {10, only, duplicate, 11}, {500, first, inOrder, 500}, {10, only, stale, 500},
			{501, last, inOrder, 501}, {900, only, inOrder, 901}, {10, only, stale, 901}, {500, first, stale, 901},
			{501, last, stale, 901}, {900, only, duplicate, 901},
		},
		"what is late of the last three": {
			{10, first, inOrder, 10}, {11, last, inOrder, 11}, {500, first, inOrder, 500}, {501, last, inOrder, 501},
			{900, first, inOrder, 900}, {901, last, inOrder, 901}, {1300, only, inOrder, 1301},
			{11, last, stale, 1301}, {501, last, stale, 1301}, {901, last, stale, 1301},
			{10, first, stale, 1301}, {500, first, stale, 1301}, {900, first, stale, 1301},
		},
		"a sender that was started again in the middle": {
			{10, first, inOrder, 10}, {11, middle, inOrder, 10}, {4000, first, inOrder, 4000},
			{12, middle, duplicate, 4000}, {4001, middle, inOrder, 4000}, {4003, middle, tooEarly, 4000},
			{4002, last, inOrder, 4001},
		},
		"a flow that is whole lacks nothing": {
			{10, first, inOrder, 10}, {11, last, inOrder, 11}, {12, middle, stranger, 11}, {13, last, stranger, 11},
		},
		"the next flow begins where the last ended": {
			{10, only, inOrder, 11}, {11, first, inOrder, 11}, {12, last, inOrder, 12}, {10, only, stale, 12},
		},
	} {
		var r responder
		var old retired
		for i, p := range packets {
			if got := r.take(p.psn, p.opcode, &old); got != p.want || r.msn() != p.msn {
				t.Errorf("%s: packet %d of PSN %d: %d, MSN %d, want %d, %d", name, i, p.psn, got, r.msn(), p.want, p.msn)
			}
		}
	}
}

// A packet that is late is known although its pair has been used by eight flows since; one of the flow before these is
// not.
func TestVerdictsOfLatePackets(t *testing.T) {
	var r responder
	var old retired
	for flow := range uint32(20) {
		start := flow * 1000
		for k, opcode := range []uint8{wire.OpSendFirst, wire.OpSendLast} {
			if v := r.take(start+uint32(k), opcode, &old); v != inOrder {
				t.Fatalf("flow %d, packet %d: %v", flow, k, v)
			}
		}
		for back := uint32(1); back <= min(flow, 10); back++ {
			early, late, begun := (flow-back)*1000, r, *cmp.Or(old.epochs, &[8]retiredEpoch{})
			for k, opcode := range []uint8{wire.OpSendFirst, wire.OpSendLast} {
				v := late.take(early+uint32(k), opcode, &old)
				if stays := back <= 8; (v == stale) != stays && k == 0 || stays && v != stale {
					t.Errorf("flow %d: packet %d of %d flows before: %v", flow, k, back, v)
				}
			}
			*old.epochs = begun
		}
	}
}

// A gap is asked for once, and again if the sender has come back and the packet was lost again, or
// if it goes on as if nothing had been asked.
func TestRefusals(t *testing.T) {
	r := responder{start: 0, expected: 5, epoch: openEpoch}
	answered := ""
	for _, psn := range []uint32{6, 7, 8, 9, 6, 7, 6, 8, 7 + askAgain, 6 + askAgain, 7 + 2*askAgain, 8 + 2*askAgain} {
		answered += map[bool]string{true: "x", false: "-"}[r.refuse(psn, false)]
	}
	if answered != "x---x-x-xxx-" {
		t.Error(answered)
	}
	r.take(5, wire.OpSendMiddle, &retired{})
	if !r.refuse(8, false) {
		t.Error("the next gap is not asked for")
	}
}

// A sender that repeats one packet until it is answered learns that the receiver is in another epoch, also if a packet
// before it has come late, and was refused: the late first packet of a flow that was stopped begins its epoch again if
// the receiver has forgotten it.
func TestRepeatedPacketIsAnswered(t *testing.T) {
	var r responder
	var old retired
	for psn := uint32(100); psn < 110; psn++ {
		opcode := uint8(wire.OpSendMiddle)
		if psn == 100 {
			opcode = wire.OpSendFirst
		}
		if v := r.take(psn, opcode, &old); v != inOrder {
			t.Fatalf("packet %d: %v", psn, v)
		}
	}
	if v := r.take(50, wire.OpSendFirst, &old); v != inOrder { // late, and unknown
		t.Fatal(v)
	}
	answers := 0
	for i, psn := range []uint32{104, 110, 110, 110} {
		if v := r.take(psn, wire.OpSendMiddle, &old); v != tooEarly {
			t.Fatalf("packet %d: %v", psn, v)
		}
		if r.refuse(psn, old.epochs != nil) && i > 0 {
			answers++
		}
	}
	if answers == 0 {
		t.Error("a packet that comes again and again is never answered")
	}
}

// An acknowledgement that waits says in the end what the last one would, by which all that came before is acknowledged.
// One that asks for a packet that is missing goes on asking. Where each packet has its own, they wait one by one.
func TestAcknowledgementsThatWait(t *testing.T) {
	for _, each := range []bool{false, true} {
		h, p := &Host{acks: newAckQueue(each)}, &peer{}
		h.queueAck(p, 1, wire.SyndromeACK, 5, noCause, nil, 0)
		h.queueAck(p, 1, wire.SyndromeACK, 9, noCause, nil, 0)
		h.queueAck(&peer{}, 2, wire.SyndromeACK, 7, noCause, nil, 0)
		var got []uint32
		for !h.acks.empty() {
			got = append(got, h.acks.at(h.acks.head).psn)
			h.acks.pop()
		}
		if want := map[bool][]uint32{false: {9, 7}, true: {5, 9, 7}}[each]; !slices.Equal(got, want) {
			t.Errorf("each packet its own %v: acknowledged are %v, not %v", each, got, want)
		}
	}
	h, p := &Host{}, &peer{}
	p.refusing = true
	h.queueAck(p, 1, wire.SyndromeNAK, 10, noCause, nil, 0)
	h.queueAck(p, 1, wire.SyndromeACK, 9, noCause, nil, 0)
	if a := h.acks.at(h.acks.head); a.syndrome != wire.SyndromeNAK || p.acks != 1 {
		t.Errorf("what waits is %+v, one of %d", a, p.acks)
	}
}
