package agent

import (
	"bytes"
	"errors"
	"testing"

	"photon/units"
	"photon/wire"
)

// READs for whose responses there is no room are not answered; when there is room, all are that the peer asks for
// again.
func TestReadsWithoutRoom(t *testing.T) {
	s := newStranger(t.Fatal, 256)
	m, last := s.h.config.Memory, 0
	for qp := uint32(1); ; qp++ {
		spec := FlowSpec{Peer: cableAddress(1), PeerMAC: cableMAC(1), QP: qp, Size: 1, Start: units.Second}
		id, err := s.h.AddFlow(0, spec)
		if errors.Is(err, ErrFull) {
			break
		}
		last = id
	}
	const reads = 2 * maxReads
	for psn := range uint32(reads) {
		s.send(wire.OpReadRequest, peerPSN+psn, true, 0, reth(m.Address+uint64(psn), m.Key, 8))
	}
	if s.listen(1); len(s.answers) > 0 {
		t.Errorf("without room it says %q", s.takeAnswers())
	}
	s.h.StopFlow(0, last)
	s.answers = nil
	for psn := range uint32(reads) {
		s.send(wire.OpReadRequest, peerPSN+psn, true, 0, reth(m.Address+uint64(psn), m.Key, 8))
		for len(s.answers) == int(psn) && s.h.Next(s.now, 0) < units.Second {
			s.listen(1)
		}
		if len(s.answers) != int(psn)+1 {
			t.Fatalf("READ %d has no answer", psn)
		}
		want := memoryOf(0).Bytes[psn : psn+8]
		b := s.answers[psn]
		if wire.BTH(b).PSN() != peerPSN+psn || !bytes.Equal(b[wire.BTHLen+wire.AETHLen:][:8], want) {
			t.Errorf("READ %d is answered with % x", psn, b)
		}
	}
}

// Responses count as sent by their pair, whether its own flow is there still or not, and not as packets of that.
func TestResponsesAreCounted(t *testing.T) {
	const length = 10 << 10
	for _, messages := range []int{0, 3} {
		s := newStranger(t.Fatal, 1024)
		s.to = ownQP + 1
		pair := &Pair{Local: s.to, PeerPSN: peerPSN, Expects: true, Messages: messages, Size: 8}
		spec := FlowSpec{Peer: cableAddress(1), PeerMAC: cableMAC(1), QP: peerQP + 1, Pair: pair}
		own, err := s.h.AddFlow(0, spec)
		if err != nil {
			t.Fatal(err)
		}
		s.listen(messages)
		sent := s.h.DataSent()
		s.answers = nil
		check := func(what string, flows int) {
			t.Helper()
			seen := 0
			for id := range s.h.Flows() {
				f := s.h.Flow(s.now, id)
				if !f.Active || f.Spec.QP != peerQP+1 {
					continue
				}
				seen++
				if f.Responses.Frames != uint64(len(s.answers)) || f.Responses.Bytes != s.h.DataSent()-sent {
					t.Errorf("%d messages, %s: %d responses, %d bytes; it says %+v",
						messages, what, len(s.answers), s.h.DataSent()-sent, f.Responses)
				}
				if f.Frames != uint64(messages) || f.Bytes != sent {
					t.Errorf("%d messages, %s: %d frames, %d bytes were sent; it says %+v",
						messages, what, messages, sent, f.FlowCounts)
				}
			}
			if seen != flows {
				t.Errorf("%d messages, %s: %d flows, want %d", messages, what, seen, flows)
			}
		}
		read := reth(s.h.config.Memory.Address, s.h.config.Memory.Key, length)
		check("before a READ", 1)
		s.send(wire.OpReadRequest, peerPSN, true, 0, read)
		s.listen(4)
		check("during one", 2)
		for len(s.answers) < length/1024 {
			s.listen(1)
		}
		check("after it", 1)
		if messages > 0 {
			s.h.StopFlow(s.now, own)
			s.send(wire.OpReadRequest, peerPSN+10, true, 0, read)
			s.listen(5)
			check("without a flow of its own", 1)
		}
	}
}
