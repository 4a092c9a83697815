package dataplane

import (
	"bytes"
	"testing"

	"photon/fabric"
	"photon/lldp"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// A port says who it is at once, three times more in steps of a second, and then at its interval, also where the
// priority of control frames is paused; it hears frames that were there before, without taking more than it has room
// for; and without LLDP it does neither.
func TestPortsAnnounceThemselves(t *testing.T) {
	r := newRig(t, config(2))
	frame := (&lldp.Info{From: 0x020000000001, Port: "sw0", TTL: 121}).Encode(0x020000000001)
	said := func(now units.Time) (n int) {
		r.now = now
		for {
			var f [1]fabric.Frame
			if r.sw.Transmit(now, 0, f[:]) == 0 {
				return n
			}
			if !bytes.Equal(r.env.Bytes(&f[0]), frame) {
				t.Fatalf("% x", r.env.Bytes(&f[0]))
			}
			n++
			r.env.Free(f[0])
		}
	}
	r.in(0, frame, len(frame))
	if st := r.sw.Stats(0); st.Ports[0].Discards[fabric.DropReserved][0] != 1 || said(0) != 0 {
		t.Fatal("a port that was told nothing knows LLDP")
	}
	const every = 30 * units.Second
	r.sw.Announce(0, 0, &Announcement{Frame: frame, Every: every, Fast: 3})
	at := []units.Time{0, units.Second, 2 * units.Second, 3 * units.Second, 3*units.Second + every, 3*units.Second + 2*every}
	for i, now := range at {
		if n := said(now); n != 1 {
			t.Fatalf("%d frames at %v", n, now)
		}
		if next := r.sw.Next(now, 0); i+1 < len(at) && next != at[i+1] {
			t.Fatalf("after %v next at %v, not %v", now, next, at[i+1])
		}
	}
	for range maxReceived + 2 {
		r.in(0, frame, len(frame))
	}
	received := 0
	c := r.sw.TakeAnnouncements(0, func(b []byte) {
		if received++; !bytes.Equal(b, frame) {
			t.Fatalf("received % x", b)
		}
	})
	if received != maxReceived || c != (Announced{Sent: uint64(len(at)), Received: maxReceived + 2, Lost: 2}) {
		t.Errorf("%d received, %+v", received, c)
	}
	if r.sw.TakeAnnouncements(0, func([]byte) { t.Error("received twice") }); r.sw.TakeAnnouncements(1, nil) != (Announced{}) {
		t.Error("another port received it")
	}
	r.sw.Announce(r.now, 0, &Announcement{Frame: frame})
	r.sw.Announce(r.now, 0, nil)
	if said(r.now+100*every) != 0 || r.sw.Next(r.now, 0) != units.Never {
		t.Error("it goes on")
	}
	if err := r.sw.Audit(); err != nil {
		t.Error(err)
	}
}

// What is to be said is said once, however late; and not at all if LLDP ends before.
func TestLateAnnouncements(t *testing.T) {
	const every = 30 * units.Second
	r := newRig(t, config(2))
	frame := (&lldp.Info{From: 0x020000000001, Port: "sw0", TTL: 121}).Encode(0x020000000001)
	r.env.SetDue(0, units.Never)
	if r.sw.Announce(0, 0, &Announcement{Frame: frame, Every: every}); r.env.Due(0) != 0 {
		t.Errorf("the port is woken at %v", r.env.Due(0))
	}
	for range 3 { // nothing fits into these bursts
		r.sw.Transmit(r.now, 0, nil)
		r.now += every
	}
	if n := len(r.out(0, 9)); n != 1 || r.sw.Next(r.now, 0) != r.now+every {
		t.Errorf("%d frames, next at %v", n, r.sw.Next(r.now, 0))
	}
	r.now += 5*every + 1
	if n := len(r.out(0, 9)); n != 1 || r.sw.Next(r.now, 0) != r.now+every {
		t.Errorf("after silence: %d frames, next at %v", n, r.sw.Next(r.now, 0))
	}
	r.now += every
	r.sw.Transmit(r.now, 0, nil)
	r.sw.Announce(r.now, 0, nil)
	if at := r.sw.Next(r.now, 0); at <= r.now {
		t.Errorf("the end: the port is due at %v", at)
	}
	r.now += every
	if n := len(r.out(0, 9)); n != 0 || r.sw.Next(r.now, 0) != units.Never {
		t.Errorf("the end: %d frames, next at %v", n, r.sw.Next(r.now, 0))
	}
	if r.in(1, packet(1, 0, 0, 0), 100); len(r.out(0, 9)) != 1 {
		t.Error("the port sends nothing any more")
	}
}

// Which frames are LLDP: those to a group address of the link, from a station, without a tag (802.1AB clause 7.1). They
// are frames of the link, and stored as they are.
func TestWhichFramesAreLLDP(t *testing.T) {
	r := newRig(t, config(2))
	frame := (&lldp.Info{From: 0x020000000001, Port: "sw0", TTL: 121}).Encode(0x020000000001)
	r.sw.Announce(0, 0, &Announcement{Frame: frame})
	received := uint64(0)
	for name, x := range map[string]struct {
		frame []byte
		is    bool
	}{
		"nearest bridge":                 {frame, true},
		"nearest customer bridge":        {with(frame, func(b []byte) { wire.MAC(0x0180_C200_0000).Put(b) }), true},
		"nearest bridge that is no TPMR": {with(frame, func(b []byte) { wire.MAC(0x0180_C200_0003).Put(b) }), true},
		"a tag":                          {withTag(frame, 1), false},
		"another group":                  {with(frame, func(b []byte) { wire.MAC(0x0180_C200_0010).Put(b) }), false},
		"a station":                      {with(frame, func(b []byte) { mac(1).Put(b) }), false},
		"MAC control's group":            {with(frame, func(b []byte) { pfc.Destination.Put(b) }), false},
		"from a group":                   {with(frame, func(b []byte) { b[6] |= 1 }), false},
		"something else":                 {with(frame, put16(12, wire.TypeIPv4)), false},
	} {
		for range 2 {
			r.in(0, x.frame, len(x.frame))
			if x.is {
				received++
			}
			got := 0
			if n := r.sw.TakeAnnouncements(0, func(b []byte) {
				if got++; !bytes.Equal(b, x.frame) {
					t.Errorf("%s: stored % x, received % x", name, b, x.frame)
				}
			}); n.Received != received || got == 1 != x.is || x.is != (r.sw.Priority(0, x.frame) == -1) {
				t.Errorf("%s: %d stored, %d of %d counted", name, got, n.Received, received)
			}
			r.out(1, 9)
		}
	}
	if n := r.stats(0).RxControl; n != received {
		t.Errorf("%d frames of the link are counted, of %d", n, received)
	}
}
