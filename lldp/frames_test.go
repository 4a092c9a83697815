package lldp

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// after returns where the TLVs end that each frame begins with.
func after(frame []byte, tlvs int) (at int) {
	at = 14
	for range tlvs {
		at += 2 + int(binary.BigEndian.Uint16(frame[at:])&0x1FF)
	}
	return at
}

// Whatever a neighbour sends, it is read or refused: a frame that is cut off or changed ends nothing. A time to live of
// less than two bytes is none.
func TestNoFrameIsTooOdd(t *testing.T) {
	good := decoded(t, fromHost)
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(good)
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "to")
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "length")]
		var i Info
		if err := i.Decode(b); err != nil && !slices.Contains([]error{ErrNotLLDP, ErrOrder, ErrShort}, err) {
			t.Fatal(err)
		}
	})
	for length := range byte(2) {
		at := after(good, 2)
		short := slices.Concat(good[:at], []byte{tlvTTL << 1, length}, make([]byte, length), good[after(good, 3):])
		var i Info
		if err := i.Decode(short); err != ErrShort {
			t.Errorf("a time to live of %d bytes: %v", length, err)
		}
	}
}

// DCBX is 802.1's: what another organization gives the same numbers is something else.
func TestOthersNumbersAreNotDCBX(t *testing.T) {
	good := decoded(t, fromHost)
	var want Info
	if err := want.Decode(good); err != nil {
		t.Fatal(err)
	}
	at := after(good, 3)
	for subtype := range 256 {
		for _, length := range []int{0, 1, 2, 4, 21} {
			head := []byte{127 << 1, byte(4 + length), 0x00, 0x12, 0x0F, byte(subtype)}
			foreign := append(head, make([]byte, length)...)
			var got Info
			err := got.Decode(slices.Concat(good[:at], foreign, good[at:]))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%x: %v\n got %+v\nwant %+v", foreign, err, got, want)
			}
		}
	}
}

// Who takes leave says no more than who that is.
func TestLeaveSaysNothingElse(t *testing.T) {
	i := Info{From: 1, Port: "sw0", PortText: "text", SystemName: "name", SystemText: "system", Capabilities: Bridge}
	i.DCBX.PFC = &PFC{Priority: 8}
	b := i.Encode(2)
	if at := after(b, 3); binary.BigEndian.Uint16(b[at:]) != 0 || len(bytes.Trim(b[at:], "\x00")) != 0 {
		t.Errorf("%x", b[at:])
	}
	if len(b) != 60 {
		t.Errorf("%d bytes", len(b))
	}
}
