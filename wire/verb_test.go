package wire

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// The opcodes of table 38, by the place of a packet in its message.
func TestVerbOpcodes(t *testing.T) {
	for _, c := range []struct {
		of          func(first, last bool) uint8
		first, last bool
		want        uint8
	}{
		{WriteOpcode, true, false, 0x06}, {WriteOpcode, false, false, 0x07}, {WriteOpcode, false, true, 0x08}, {WriteOpcode, true, true, 0x0A},
		{ResponseOpcode, true, false, 0x0D}, {ResponseOpcode, false, false, 0x0E}, {ResponseOpcode, false, true, 0x0F}, {ResponseOpcode, true, true, 0x10},
	} {
		if got := c.of(c.first, c.last); got != c.want {
			t.Errorf("first %v, last %v: %#x, not %#x", c.first, c.last, got, c.want)
		}
	}
}

// What a WRITE of 5 bytes begins with, byte by byte.
func TestRETH(t *testing.T) {
	b := make([]byte, BTHLen+RETHLen)
	bth := BTH(b)
	bth.Encode(OpWriteOnly, false, 0x123456, true, 0xABCDEF)
	bth.SetPad(3)
	RETH(b[BTHLen:]).Encode(0x1122334455667788, 0x99AABBCC, 5)
	want := []byte{
		0x0A, 0x30, 0xFF, 0xFF, 0, 0x12, 0x34, 0x56, 0x80, 0xAB, 0xCD, 0xEF,
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0, 0, 0, 5,
	}
	if !bytes.Equal(b, want) {
		t.Errorf("% x\nnot\n% x", b, want)
	}
	r := RETH(b[BTHLen:])
	if bth.Pad() != 3 || bth.Version() != 0 || r.Address() != 0x1122334455667788 || r.Key() != 0x99AABBCC || r.Length() != 5 {
		t.Error("it is not read as it was written")
	}
	if bth.SetPad(0); b[1] != 0 {
		t.Errorf("%#x", b[1])
	}
}

// Which packets bring data, of all there may be: by table 38 of the InfiniBand specification acknowledgements (with and
// without an atomic's answer), requests to read, and RESYNC bring none, whatever the transport, nor does a CNP; opcodes
// whose first two bits are set are the manufacturers' own, and of these photon's echo is the only one that is known to
// bring none.
func TestWhatCarriesData(t *testing.T) {
	var none []string
	for opcode := range 256 {
		if !CarriesData(uint8(opcode)) {
			none = append(none, fmt.Sprintf("%03b.%05b", opcode>>5, opcode&31))
		}
	}
	want := []string{
		"000.01100", "000.10001", "000.10010", "000.10101", "001.01100", "001.10001", "001.10010", "001.10101",
		"010.01100", "010.10001", "010.10010", "010.10101", "011.01100", "011.10001", "011.10010", "011.10101",
		"100.00001", "100.01100", "100.10001", "100.10010", "100.10101", "101.01100", "101.10001", "101.10010", "101.10101",
		"110.00001",
	}
	if !slices.Equal(none, want) {
		t.Errorf("without data are %v, should be %v", none, want)
	}
}
