package agent

import (
	"testing"

	"photon/units"
	"photon/wire"
)

// What the specification's acknowledgements mean to a flow of ten packets, the first of which has PSN 2^24-4: numbers wrap
// in its middle. MSNs are not looked at: they count messages of the queue pair, which this flow does not know.
func TestAcknowledgeStandard(t *testing.T) {
	const first, rnr12 = 1<<24 - 4, 0x20 | 12
	begin := func(sent uint64) *requester {
		r := &requester{sending: &sending{}}
		r.start(first, 10)
		r.next += sent
		return r
	}
	psn := func(packet uint32) uint32 { return (first + packet) & psnMask }
	for name, c := range map[string]struct {
		sent     uint64
		psn      uint32
		syndrome uint8
		want     meaning
		wait     units.Time
		acked    uint64 // packets then
		next     uint64
	}{
		"some":                            {8, psn(5), wire.SyndromeACK, arrived, 0, 6, 8},
		"with credits":                    {8, psn(5), 3, arrived, 0, 6, 8},
		"all":                             {10, psn(9), wire.SyndromeACK, complete, 0, 10, 10},
		"what is known":                   {8, psn(0) - 1&psnMask, wire.SyndromeACK, repeated, 0, 0, 8},
		"what was never sent":             {8, psn(8), wire.SyndromeACK, nothing, 0, 0, 8},
		"a gap":                           {8, psn(3), wire.SyndromeNAK, goBack, 0, 3, 3},
		"a gap at the first":              {8, psn(0), wire.SyndromeNAK, goBack, 0, 0, 0},
		"not ready":                       {8, psn(6), rnr12, goBack, 640 * units.Microsecond, 6, 6},
		"not ready, for long":             {8, psn(6), 0x20, goBack, 655_360 * units.Microsecond, 6, 6},
		"an invalid request":              {8, psn(2), wire.SyndromeInvalid, refused, 0, 0, 8},
		"a remote operation error":        {8, psn(2), 0x63, refused, 0, 0, 8},
		"an error of another flow":        {3, psn(9), 0x63, nothing, 0, 0, 3},
		"a gap at what was never sent":    {8, psn(8), wire.SyndromeNAK, nothing, 0, 0, 8},
		"a gap behind the last":           {10, psn(10), wire.SyndromeNAK, nothing, 0, 0, 10},
		"not ready for what is not there": {10, psn(10), rnr12, nothing, 0, 0, 10},
		"an error of what was never sent": {8, psn(8), wire.SyndromeAccess, nothing, 0, 0, 8},
	} {
		r := begin(c.sent)
		if m, wait := r.acknowledgeStandard(c.psn, c.syndrome); m != c.want || wait != c.wait {
			t.Errorf("%s: means %d and waits for %v, not %d and %v", name, m, wait, c.want, c.wait)
		}
		if r.acked-first != c.acked || r.next-first != c.next {
			t.Errorf("%s: %d acknowledged, %d is the next; want %d and %d", name, r.acked-first, r.next-first, c.acked, c.next)
		}
	}
	// It went back for more than was lost: what has arrived meanwhile is not sent again.
	r := begin(8)
	r.acknowledgeStandard(psn(2), wire.SyndromeNAK)
	if m, _ := r.acknowledgeStandard(psn(6), wire.SyndromeACK); m != arrived || r.next-first != 7 || r.repeated != 1 {
		t.Errorf("means %d, %d is the next, %d were sent again", m, r.next-first, r.repeated)
	}
}

// What answers a READ that is no response: errors end the flow, an acknowledgement says nothing, and what is asked for
// again is the first response that is missing, whatever number the peer names.
func TestReadsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		psn      uint32
		syndrome uint8
		want     meaning
		wait     units.Time
		next     uint64
	}{
		"an acknowledgement": {12, wire.SyndromeACK, nothing, 0, 20},
		"a gap":              {12, wire.SyndromeNAK, goBack, 0, 12},
		"a gap further on":   {15, wire.SyndromeNAK, goBack, 0, 12},
		"not ready":          {12, 0x20 | 1, goBack, 10 * units.Microsecond, 12},
		"no access":          {12, wire.SyndromeAccess, refused, 0, 20},
		"an old answer":      {11, wire.SyndromeAccess, nothing, 0, 20},
		"of what was not":    {20, wire.SyndromeAccess, nothing, 0, 20},
	} {
		r := &requester{sending: &sending{}}
		r.start(10, 10)
		r.acked, r.next = 12, 20
		if m, wait := r.refusedRead(c.psn, c.syndrome); m != c.want || wait != c.wait || r.next != c.next || r.acked != 12 {
			t.Errorf("%s: means %d, waits for %v, %d is the next; want %d, %v, %d", name, m, wait, r.next, c.want, c.wait, c.next)
		}
	}
}
