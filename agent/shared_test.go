package agent_test

import (
	"slices"
	"testing"

	"photon/agent"
	"photon/cnp"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

func (p *pair) message(qp int, size units.Size, start units.Time) int {
	p.t.Helper()
	id, err := p.a.AddFlow(p.Now(), agent.FlowSpec{Peer: ip(2), PeerMAC: mac(2), QP: uint32(qp), Size: size, Start: start, Shared: 7})
	if err != nil {
		p.t.Fatal(err)
	}
	return id
}

// begun is when a message's first packet left, by its queue pair.
func (p *pair) begun() map[uint32]units.Time {
	at := map[uint32]units.Time{}
	for _, r := range p.a.TakeResults() {
		at[r.QP] = r.FirstBit
	}
	return at
}

// Messages of a connection go one after the other at the pace of its only
// reaction point; one that comes when it is idle goes at once.
func TestMessagesGoInTurn(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	gap := units.Rate(100 * units.Mbps).Serialize(1082) // of a full frame
	p.message(1, 3000, ms)
	p.message(2, 1000, ms+10*units.Microsecond)
	p.message(3, 2000, ms+20*units.Microsecond)
	p.message(4, 1000, 3*ms)
	if len(p.rps) != 1 {
		t.Fatalf("%d reaction points", len(p.rps))
	}
	p.rps[0].rate = 100 * units.Mbps
	p.run(4 * ms)
	want := map[uint32]units.Time{1: ms, 2: ms + 3*gap, 3: ms + 4*gap, 4: 3 * ms}
	got := p.begun()
	for qp, at := range want {
		if got[qp] != at {
			t.Errorf("message %d begins at %v, want %v", qp, got[qp], at)
		}
	}
	if p.rps[0].sent == 0 || p.a.Hash(0) != p.a.Hash(3) {
		t.Error("messages are not of one flow")
	}
}

// Connections to two peers take turns packet by packet: a long message on one
// does not hold up a short one on the other.
func TestConnectionsTakeTurns(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	gap := units.Rate(100 * units.Mbps).Serialize(1082)
	long := p.message(1, 100_000, 0)
	other, err := p.a.AddFlow(0, agent.FlowSpec{Peer: ip(3), PeerMAC: mac(2), QP: 1, Size: 100_000, Start: gap / 2, Shared: 7})
	if err != nil {
		t.Fatal(err)
	}
	p.rps[0].rate = 100 * units.Mbps
	p.run(10*gap + gap/2)
	if a, b := p.a.Flow(p.Now(), long).Frames, p.a.Flow(p.Now(), other).Frames; a != 6 || b != 5 {
		t.Errorf("%d and %d frames", a, b)
	}
}

// What a notification about one message says holds for the next.
func TestMessagesShareWhatIsLearnt(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	p.message(1, 2000, 0)
	p.message(2, 2000, 2*ms)
	p.rps[0].rate = 10 * units.Gbps
	p.run(10 * units.Microsecond)
	p.inject(p.frameTo(1, func(b []byte, to wire.RoCE) int { return cnp.Encode(b, to, 1, cnp.Notice{Word: 10}) }))
	p.run(6 * ms)
	done := p.a.TakeResults()
	if len(done) != 2 || done[1].FCT() < units.Rate(10*units.Mbps).Serialize(1082) {
		t.Errorf("%+v", done)
	}
}

// A message that is stopped, before its turn or in it, does not hold up the others.
func TestStoppedMessages(t *testing.T) {
	p := newPair(t, cnp.Silent{}, nil)
	first := p.message(1, 0, 0)
	second := p.message(2, 1000, ms)
	p.message(3, 1000, ms)
	p.run(2 * ms)
	p.a.StopFlow(p.Now(), second)
	p.a.StopFlow(p.Now(), first)
	p.run(4 * ms)
	if got := p.begun(); len(got) != 1 || got[3] < 2*ms {
		t.Errorf("%v", got)
	}
}

// ackRecorder is a reaction point that notes which packets are acknowledged to it.
type ackRecorder struct {
	rp
	acks []ratelimit.Ack
}

func (r *ackRecorder) Ack(_ units.Time, a *ratelimit.Ack) { r.acks = append(r.acks, *a) }

// The reaction point of a connection counts its packets over all messages: the next message's go on where those of the
// one before ended, or a scheme that waits for a packet's acknowledgement would wait for one of the message before. Those
// of other connections are counted between them. The last of a message is told, too.
func TestPacketsAreCountedOverMessages(t *testing.T) {
	r := &ackRecorder{}
	p := newPair(t, cnp.Silent{}, func(c *agent.Config) {
		c.NewRP = func(*ratelimit.Port) ratelimit.RP { return r }
		c.Carry.Ack = true
	})
	r.rate = 100 * units.Mbps
	p.message(1, 3000, ms)
	p.message(2, 1000, ms)
	p.message(3, 2000, 3*ms)
	if _, err := p.a.AddFlow(0, agent.FlowSpec{Peer: ip(3), PeerMAC: mac(2), QP: 1, Size: 4000, Start: ms, Shared: 7}); err != nil { // nobody answers
		t.Fatal(err)
	}
	p.run(4 * ms)
	var got, want []uint64
	for _, a := range r.acks {
		got = append(got, a.Packet)
		if a.Next <= a.Packet || a.Next > 10 {
			t.Errorf("packet %d, and the next is %d", a.Packet, a.Next)
		}
	}
	// The other connection is x: 1 1 x 1 x 2 x x 3 3.
	want = []uint64{0, 1, 3, 5, 8, 9}
	if !slices.Equal(got, want) {
		t.Errorf("acknowledged %v, want %v", got, want)
	}
}
