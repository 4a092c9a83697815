package agent

import (
	"slices"
	"testing"

	"photon/units"
	"photon/wire"
)

// newRequester is a sender that has sent so many packets of a flow.
func newRequester(psn uint32, packets uint64, sent int, p *recovery) *requester {
	r := &requester{sending: &sending{}}
	r.start(psn, packets)
	for range sent {
		r.sentNext(0, r.asks(p.every), p)
	}
	return r
}

var patient = recovery{every: 4, timeout: 100, retries: 3}

// The last packet asks to be acknowledged, one in so many does, and the first that is sent again.
func TestWhichPacketsAsk(t *testing.T) {
	r := newRequester(1<<24-3, 10, 0, &patient)
	asked := ""
	for range 10 {
		asked += map[bool]string{true: "x", false: "-"}[r.asks(patient.every)]
		r.sentNext(0, r.asks(patient.every), &patient)
	}
	if asked != "---x---x-x" {
		t.Error(asked)
	}
	if r.acknowledge(0, wire.SyndromeNAK, r.first) != goBack || !r.asks(patient.every) || r.index() != 3 {
		t.Errorf("after a NAK the next packet is %d", r.index())
	}
	r.sentNext(0, true, &patient)
	if r.asks(patient.every) {
		t.Error("the packet behind it asks, too")
	}
}

// What acknowledgements mean of a flow of ten packets, of which eight were sent, five acknowledged, and the
// sender has gone back to the sixth.
func TestWhatAcknowledgementsMean(t *testing.T) {
	const first = 1<<24 - 4
	at := func(n int) uint32 { return uint32(first+n) & psnMask }
	for _, c := range []struct {
		what     string
		psn      uint32
		syndrome uint8
		msn      uint32
		want     meaning
		next     int
	}{
		{"of what was sent before it went back", at(7), wire.SyndromeACK, first, arrived, 8},
		{"of the next", at(5), wire.SyndromeACK, first, arrived, 6},
		{"again", at(4), wire.SyndromeACK, first, repeated, 5},
		{"older", at(3), wire.SyndromeACK, first, nothing, 5},
		{"of what was never sent", at(8), wire.SyndromeACK, first, nothing, 5},
		{"of the last, which was never sent", at(9), wire.SyndromeACK, first + 1, nothing, 5},
		{"of another epoch", at(5), wire.SyndromeACK, first - 9, nothing, 5},
		{"that says the flow is whole too early", at(5), wire.SyndromeACK, first + 1, nothing, 5},
		{"a NAK for what was sent before it went back", at(6), wire.SyndromeNAK, first, goBack, 6},
		{"a NAK again", at(5), wire.SyndromeNAK, first, goBack, 5},
		{"a NAK for what was acknowledged", at(4), wire.SyndromeNAK, first, nothing, 5},
		{"a NAK for what was never sent", at(8), wire.SyndromeNAK, first, nothing, 5},
		{"a NAK of another epoch", at(6), wire.SyndromeNAK, 7, nothing, 5},
		{"a NAK of another kind", at(5), 0x63, first, nothing, 5},
		{"receiver not ready", at(5), 0x2A, first, nothing, 5},
		{"with credits", at(5), 0x03, first, arrived, 6},
		{"a packet found no epoch, before any timeout", at(5), wire.SyndromeInvalid, 0, nothing, 5},
	} {
		r := newRequester(first, 10, 8, &patient)
		r.acknowledge(at(4), wire.SyndromeACK, first)
		r.goBack(r.acked)
		if got := r.acknowledge(c.psn, c.syndrome, c.msn); got != c.want || int(r.index()) != c.next {
			t.Errorf("%s: meaning %d and packet %d are next, want %d and %d", c.what, got, r.index(), c.want, c.next)
		}
		if r.acked > r.next || r.index() > 8 || int(r.frames()) != 8 {
			t.Errorf("%s: %d frames are counted, 8 were sent: %+v", c.what, r.frames(), r)
		}
	}
}

// Everything is done when the last packet is acknowledged by one who has the whole flow.
func TestComplete(t *testing.T) {
	r := newRequester(5, 3, 3, &patient)
	if got := r.acknowledge(7, wire.SyndromeACK, 5); got != nothing {
		t.Errorf("the last packet is acknowledged by one who lacks others: %d", got)
	}
	if got := r.acknowledge(8, wire.SyndromeNAK, 5); got != nothing || r.index() != 3 {
		t.Errorf("a packet behind the last is asked for: %d, and packet %d is the next", got, r.index())
	}
	if got := r.acknowledge(7, wire.SyndromeACK, 6); got != complete {
		t.Errorf("%d", got)
	}
}

// A sender waits for progress, twice as long each time, sends one packet, and gives up in the end.
func TestTimeouts(t *testing.T) {
	r := newRequester(0, 100, 10, &patient)
	now, waits := units.Time(0), []units.Time{}
	for {
		before := now
		for !r.overdue(now, &patient) {
			now++
		}
		waits = append(waits, now-before)
		if !r.retry(now, &patient) {
			break
		}
		if !r.asks(patient.every) || r.index() != 0 || r.blocked(&patient) == false {
			t.Fatal("after a timeout the first packet is sent, asks to be acknowledged, and no other follows")
		}
		r.sentNext(now, true, &patient)
	}
	if want := []units.Time{100, 200, 400, 800}; !slices.Equal(waits, want) {
		t.Errorf("waits %v, want %v", waits, want)
	}
	r = newRequester(0, 100, 10, &patient)
	for now = 0; now < 10_000; now++ { // progress, slow as it is, is none of it
		if now%90 == 0 && now < 900 {
			r.acknowledge(uint32(now/90), wire.SyndromeACK, 0)
		}
		if now < 900 && r.overdue(now, &patient) {
			t.Fatalf("overdue at %d", now)
		}
	}
}

// Answers that contradict what was acknowledged are believed after some timeouts, not before: then the
// sender begins anew, with another PSN, and numbers go on for the reaction point.
func TestStartAgain(t *testing.T) {
	for _, answer := range []struct {
		psn      uint32
		syndrome uint8
		msn      uint32
	}{{4, wire.SyndromeInvalid, 0}, {77, wire.SyndromeNAK, 70}, {2, wire.SyndromeNAK, 0}} {
		r := newRequester(0, 100, 10, &patient)
		r.acknowledge(3, wire.SyndromeACK, 0)
		r.overdue(0, &patient)
		for k := range doubts {
			if got := r.acknowledge(answer.psn, answer.syndrome, answer.msn); got != nothing {
				t.Errorf("%+v after %d timeouts: %d", answer, k, got)
			}
			r.retry(0, &patient)
			r.sentNext(0, true, &patient)
		}
		if got := r.acknowledge(answer.psn, answer.syndrome, answer.msn); got != forgotten {
			t.Errorf("%+v after %d timeouts: %d", answer, doubts, got)
		}
		sent, numbers := r.frames(), r.ordinal(r.neverSent())
		if !r.startAgain(1000, &patient) || r.next != 1000 || r.end != 1100 || r.frames() != sent || r.asks(patient.every) {
			t.Errorf("%+v, %d frames sent", r, sent)
		}
		if n := r.ordinal(r.next); n != numbers {
			t.Errorf("%d is the next number for the reaction point, and was %d", n, numbers)
		}
		if got := r.acknowledge(4, wire.SyndromeACK, 0); got != nothing {
			t.Errorf("an acknowledgement of the epoch before: %d", got)
		}
		r.startAgain(2000, &patient)
		if r.startAgain(3000, &patient) {
			t.Error("it never gives up")
		}
	}
}

// If nothing was acknowledged, a packet that found no epoch means that the first is missing.
func TestFirstPacketIsMissing(t *testing.T) {
	r := newRequester(50, 100, 10, &patient)
	if got := r.acknowledge(53, wire.SyndromeInvalid, 0); got != goBack || r.index() != 0 {
		t.Error(got, r.index())
	}
	if got := r.acknowledge(60, wire.SyndromeInvalid, 0); got != nothing {
		t.Errorf("one that was never sent: %d", got)
	}
}

// No more is under way than a receiver can tell from what is old, and little before anybody has answered.
func TestMostIsUnderWay(t *testing.T) {
	for every, want := range map[uint64]uint64{4: 4 * unconfirmed, askAnyway: maxOutstanding} {
		p := recovery{every: every, timeout: 100, retries: 3}
		r := newRequester(9, 0, 0, &p)
		for !r.blocked(&p) {
			r.sentNext(0, r.asks(p.every), &p)
		}
		if r.index() != want || r.deadline == units.Never {
			t.Errorf("an acknowledgement of every %d: %d packets without one", every, r.index())
		}
		r.acknowledge(9, wire.SyndromeACK, 9)
		for !r.blocked(&p) {
			r.sentNext(0, r.asks(p.every), &p)
		}
		if r.index() != maxOutstanding+1 {
			t.Errorf("an acknowledgement of every %d: %d packets after one", every, r.index())
		}
	}
}

// A flow with more packets than there are numbers arrives whole and in order, although its first
// packets, and acknowledgements, come again when their numbers do.
func TestMorePacketsThanNumbers(t *testing.T) {
	const packets = 1<<24 + 1<<22
	p := recovery{every: askAnyway, timeout: 100, retries: 3}
	s, r, old := newRequester(77, packets, 0, &p), responder{}, retired{}
	taken, done := 0, false
	for !done {
		first, last := s.index() == 0, s.isLast()
		asks, psn := s.asks(p.every), uint32(s.next)&psnMask
		if taken == 1<<23 {
			old := r
			if v := r.take(77, wire.OpSendFirst, &retired{}); v != duplicate || r != old {
				t.Fatalf("the first packet again: %d", v)
			}
		}
		if v := r.take(psn, wire.SendOpcode(first, last), &old); v != inOrder {
			t.Fatalf("packet %d: %d", taken, v)
		}
		taken++
		s.sentNext(0, asks, &p)
		if s.blocked(&p) && !asks {
			t.Fatalf("packet %d waits for an acknowledgement that was not asked for", taken)
		}
		if asks {
			done = s.acknowledge(psn, wire.SyndromeACK, r.msn()) == complete
		}
	}
	if taken != packets {
		t.Errorf("done after %d packets of %d", taken, packets)
	}
}
