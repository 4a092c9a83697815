//go:build linux

package testnet

import (
	"testing"

	"golang.org/x/sys/unix"
)

// An observer whose room is too small knows what it missed, and says so before anybody is blamed for it.
func TestAnObserverKnowsWhatItMissed(t *testing.T) {
	a, b := New(t, "a"), New(t, "b")
	Veth(t, a, "eth0", b, "eth0")
	from, at := a.Open(t, "eth0"), b.Open(t, "eth0")
	frame := make([]byte, 1000)
	frame[12], frame[13] = 0x88, 0xB5 // EtherType for experiments
	ours := func(b []byte) bool { return len(b) == len(frame) && b[12] == 0x88 && b[13] == 0xB5 }

	from.Send(frame)
	if n := len(at.Collect(patience/60, ours)); n != 1 || at.Missed() != 0 {
		t.Fatalf("%d of 1 frames seen, %d missed", n, at.Missed())
	}
	if err := unix.SetsockoptInt(at.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<10); err != nil {
		t.Fatal(err)
	}
	const frames = 1000
	for range frames {
		from.Send(frame)
	}
	seen := 0
	for b := at.Receive(patience / 60); b != nil; b = at.Receive(0) {
		if ours(b) {
			seen++
		}
	}
	from.Send(frame) // with which the kernel says how many were missed before
	if b := at.Receive(patience / 60); b == nil {
		t.Fatal("nothing comes any more")
	}
	if seen == frames || seen+at.Missed() < frames {
		t.Errorf("%d frames seen, %d missed: there were %d", seen, at.Missed(), frames)
	}
}
