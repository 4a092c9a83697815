package dataplane

import (
	"bytes"
	"testing"

	"photon/lldp"
	"photon/units"
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
			var f [1]Frame
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
	if st := r.sw.Stats(0); st.Ports[0].Discards[DropReserved][0] != 1 || said(0) != 0 {
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
