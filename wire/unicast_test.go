package wire_test

import (
	"testing"

	"photon/wire"
)

// What a host may have as its address, and what is a group's, everybody's or nobody's.
func TestUnicast(t *testing.T) {
	for text, want := range map[string]bool{
		"10.0.0.1": true, "fd00::1": true, "fe80::1": true, "255.255.255.255": false, "224.0.0.1": false, "239.1.2.3": false, "0.0.0.0": false,
		"::": false, "ff02::1": false, "::ffff:224.0.0.1": false, "127.0.0.1": false, "127.9.9.9": false, "::1": false,
	} {
		a, err := wire.ParseIP(text)
		if err != nil || a.Unicast() != want {
			t.Errorf("%s: %v, %v", text, a.Unicast(), err)
		}
	}
	for m, want := range map[wire.MAC]bool{0x0200_0A00_0001: true, 0: false, wire.Broadcast: false, 0x0100_5E00_0001: false} {
		if m.Unicast() != want {
			t.Errorf("%v: %v", m, !want)
		}
	}
}
