package agent

import (
	"errors"
	"testing"

	"photon/units"
	"photon/wire"
)

// A peer that answers with PSNs of which none is under way has another connection in mind, as after a restart of one
// end. The flow fails, and says that; of a peer that says nothing, or said so only long before, it says that it does
// not answer.
func TestPeersThatAreOutOfStep(t *testing.T) {
	const psn, ack = 100, wire.SyndromeACK
	type answer struct {
		psn      uint32
		syndrome uint8
	}
	for name, c := range map[string]struct {
		verb    Verb
		first   []answer // to the first packet
		later   []answer // to each that is sent again
		outside bool
	}{
		"it has all of it, and more": {Send, nil, []answer{{psn + 5000, ack}}, true},
		"it is at its beginning":     {Write, nil, []answer{{psn - 50, wire.SyndromeNAK}}, true},
		"so it is of a READ":         {Read, nil, []answer{{psn - 50, wire.SyndromeNAK}}, true},
		"nothing":                    {Send, nil, nil, false},
		"only what is old":           {Send, []answer{{psn - 50, ack}}, nil, false},
		"what is known":              {Write, nil, []answer{{psn - 50, ack}, {psn - 1, ack}}, false},
	} {
		s := newStranger(t.Fatal, 256)
		s.to = ownQP + 1
		pair := &Pair{Local: s.to, Verb: c.verb, Messages: 3, Remote: Region{Size: 8, Key: 1}, Size: 8}
		spec := FlowSpec{Peer: cableAddress(1), PeerMAC: cableMAC(1), QP: peerQP + 1, PSN: psn, Pair: pair}
		if _, err := s.h.AddFlow(0, spec); err != nil {
			t.Fatal(err)
		}
		var results []Result
		for turn := 0; s.now < 100*units.Second && len(results) == 0; turn++ {
			s.answers = nil
			s.listen(1)
			if len(s.answers) == 0 {
				results = s.h.TakeResults()
				continue
			}
			say := c.later
			if turn == 0 {
				say = c.first
			}
			for _, a := range say {
				aeth := make([]byte, wire.AETHLen)
				wire.AETH(aeth).Encode(a.syndrome, 0)
				s.send(wire.OpAcknowledge, a.psn&psnMask, false, 0, aeth)
			}
		}
		is := func(why error) bool { return len(results) == 1 && errors.Is(results[0].Why, why) }
		if is(ErrOutOfStep) != c.outside || is(ErrNoAnswer) == c.outside {
			t.Errorf("%s: %+v", name, results)
		}
		if err := s.h.Audit(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
