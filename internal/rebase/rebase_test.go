package rebase

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"photon/agent"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// event is something that happens to a star.
type event struct {
	after units.Time // the one before
	kind  int
	a, b  int
	n     int
}

const (
	aFlow    = iota // a host sends to another, or an application some frames
	aStop           // a flow is stopped
	aPause          // the stranger pauses its port
	aFlood          // he sends a frame to all, or to an unknown address
	aLook           // the switch looks for deadlocks
	aSilence        // nothing for long
)

// do has an event happen.
func (s *star) do(t *rapid.T, e event) {
	s.run(s.now + e.after)
	switch to := (e.a + 1 + e.b%(leaves-1)) % leaves; e.kind {
	case aFlow:
		if s.nics != nil {
			for i := range 1 + e.n%8 {
				s.says(s.apps[e.a], datagram(e.a, to, 4000+e.b, 1000+i))
			}
			return
		}
		spec := agent.FlowSpec{Peer: ip(to + 1), PeerMAC: mac(to + 1), QP: uint32(1 + e.b), Size: units.Size(1 + e.n*600), Start: s.now + units.Time(e.n%7)*10*us, Tenant: e.n % 2}
		if e.n%5 == 0 {
			spec.Shared = 7
			spec.Tenant = 0
		}
		for range 1 + e.n%16 { // more than a few: the wheel turns
			s.hosts[e.a].AddFlow(s.now, spec)
			spec.QP += 10
		}
	case aStop:
		if s.hosts != nil {
			s.hosts[e.a].StopFlow(s.now, e.b%8)
		}
	case aPause:
		var b [pfc.FrameLen]byte
		f := pfc.Frame{Enable: 1 << 3}
		f.Quanta[3] = uint16(e.n * 200)
		f.Encode(b[:], mac(50))
		s.says(s.stranger, b[:])
	case aFlood:
		to := mac(60 + e.b) // who may be known
		if e.n%3 == 0 {
			to = wire.Broadcast
		}
		b := datagram(0, 0, 1, 100)
		to.Put(b)
		mac(60 + e.a).Put(b[6:])
		s.says(s.stranger, b)
	case aLook:
		s.sw.LookForDeadlocks(s.now)
	case aSilence:
		s.run(s.now + units.Time(e.n)*10*ms)
	}
}

// datagram is a frame of an application's.
func datagram(from, to, port, length int) []byte {
	b := make([]byte, length+wire.RoCEMaxLen)
	r := wire.RoCE{DstMAC: mac(to + 1), SrcMAC: mac(from + 1), Src: ip(from + 1), Dst: ip(to + 1), TOS: 26 << 2, SrcPort: uint16(port)}
	at := r.Encode(b, length)
	wire.BTH(b[at:]).Encode(wire.OpSendMiddle, false, uint32(port), false, 1)
	return b[:at+length]
}

// Whatever happens around the instant at which the clock is set back, everything that leaves a node, and all that it
// shows, is as if it had not been.
func TestNothingChangesWhenTheClockIsSetBack(t *testing.T) {
	for _, name := range scheme.Names() {
		for _, nics := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,nics=%t", name, nics), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) { compare(t, name, nics) })
			})
		}
	}
}

func compare(t *rapid.T, name string, nics bool) {
	begin := units.Lap + units.Second + units.Time(rapid.Int64Range(0, int64(units.Lap/16)).Draw(t, "begin"))
	action := rapid.SampledFrom([]pfc.Action{pfc.Drop, pfc.Forward, pfc.Alert}).Draw(t, "action")
	events := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event {
		return event{
			after: units.Time(rapid.Int64Range(0, int64(200*us)).Draw(t, "after")), kind: rapid.SampledFrom([]int{aFlow, aFlow, aFlow, aStop, aPause, aFlood, aLook, aSilence}).Draw(t, "kind"),
			a: rapid.IntRange(0, leaves-1).Draw(t, "a"), b: rapid.IntRange(0, 9).Draw(t, "b"), n: rapid.IntRange(0, 255).Draw(t, "n"),
		}
	}), 1, 30).Draw(t, "events")
	when := rapid.IntRange(0, len(events)-1).Draw(t, "set back before event")
	var stars [2]*star
	for i := range stars {
		s := newStar(t, begin, name, nics, action)
		stars[i] = s
		for k, e := range events {
			if i == 1 && k == when {
				s.setBack()
			}
			s.do(t, e)
		}
		s.run(s.now + 3*ms)
		for _, n := range s.nodes {
			if err := n.Audit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	a, b := stars[0], stars[1]
	if a.now != b.now+b.laps || b.laps != units.Lap {
		t.Fatalf("the clocks are at %v and %v", a.now, b.now)
	}
	for i := range max(len(a.seen), len(b.seen)) {
		switch {
		case i >= len(a.seen):
			t.Fatalf("one frame more: %s", b.seen[i])
		case i >= len(b.seen):
			t.Fatalf("one frame less: %s", a.seen[i])
		case a.seen[i] != b.seen[i]:
			t.Fatalf("frame %d of %d arrived\n%s, with the clock set back\n%s", i, len(a.seen), a.seen[i], b.seen[i])
		}
	}
	was, is := a.state(), b.state()
	for i := range was {
		if !reflect.DeepEqual(was[i], is[i]) {
			t.Fatalf("state\n%+v, with the clock set back\n%+v", was[i], is[i])
		}
	}
}
