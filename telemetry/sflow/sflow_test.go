package sflow

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"photon/internal/testnet"
	"photon/wire"
)

// framed is a datagram on its way to port 6343.
func framed(datagram []byte) []byte {
	b := make([]byte, 42, 42+len(datagram))
	r := wire.RoCE{DstMAC: 2, SrcMAC: 4, Src: wire.IPv4(10, 0, 0, 1), Dst: wire.IPv4(10, 0, 0, 9), SrcPort: 50000}
	full := make([]byte, 64)
	r.Encode(full, len(datagram))
	copy(b, full)
	binary.BigEndian.PutUint16(b[36:], 6343)
	binary.BigEndian.PutUint16(b[16:], uint16(28+len(datagram)))
	binary.BigEndian.PutUint16(b[38:], uint16(8+len(datagram)))
	return append(b, datagram...)
}

// tshark reads what is written: every field of frames of several lengths, which are padded or not, and of counters.
func TestTsharkReadsIt(t *testing.T) {
	var sent [][]byte
	w := Writer{Agent: netip.MustParseAddr("10.1.2.3"), Send: func(b []byte) { sent = append(sent, framed(bytes.Clone(b))) }}
	head := func(n int) []byte {
		b := make([]byte, n)
		b[12], b[13] = 0x88, 0xB5
		return b
	}
	w.Begin(1234)
	if w.End() {
		t.Error("a datagram without samples")
	}
	w.Begin(1235)
	w.Flow(&Flow{Port: 3, Every: 1000, Pool: 77, Drops: 5, Length: 1496, Head: head(128)})
	w.Flow(&Flow{Port: 4, Every: 8, Pool: 9, Length: 61, Head: head(61)})
	w.Counters(&Counters{Port: 3, Speed: 10e9, Up: true, Admin: true, InBytes: 1 << 40, OutBytes: 5, In: 6, Out: 7, InDiscards: 8, InErrors: 9, OutDrops: 10, OutEr: 11})
	w.Flow(&Flow{Port: 3, Every: 1000, Pool: 78, Length: 60, Head: head(60)})
	w.End()
	rows := testnet.Tshark(t, sent, "sflow_245.version", "sflow_245.agent", "sflow_245.sequence_number", "sflow_245.sysuptime", "sflow_245.numsamples",
		"sflow.flow_sample.sequence_number", "sflow.flow_sample.index", "sflow.flow_sample.sampling_rate", "sflow.flow_sample.sample_pool", "sflow.flow_sample.dropped_packets",
		"sflow_245.header.frame_length", "sflow_245.header.payload_stripped", "sflow_245.header.sampled_header_length",
		"sflow.counters_sample.sequence_number", "sflow_245.ifindex", "sflow_245.ifspeed", "sflow_245.ifinoct", "sflow_245.ifinpkt", "sflow_245.ifindisc", "sflow_245.ifinerr",
		"sflow_245.ifoutoct", "sflow_245.ifoutpkt", "sflow_245.ifoutdisc", "sflow_245.ifouterr")
	want := "5 10.1.2.3 0 1235 4 1,1,2 3,4,3 1000,8,1000 77,9,78 5,0,0 1500,65,64 4,4,4 128,61,60 1 3 10000000000 1099511627776 6 8 9 5 7 10 11"
	if len(rows) != 1 || strings.Join(rows[0], " ") != want {
		t.Errorf("%v\nnot %s", rows, want)
	}
}

// However much there is, no datagram is longer than it may be, all samples are in one, and the datagrams' numbers have no gap.
func TestDatagramsAreNotTooLong(t *testing.T) {
	samples := uint32(0)
	var numbers []uint32
	w := Writer{Agent: netip.MustParseAddr("fd00::7"), Send: func(b []byte) {
		if len(b) > MaxLen {
			t.Errorf("%d bytes", len(b))
		}
		numbers = append(numbers, binary.BigEndian.Uint32(b[28:]))
		samples += binary.BigEndian.Uint32(b[36:])
	}}
	w.Begin(1)
	for i := range 100 {
		w.Flow(&Flow{Port: 1, Every: 1, Head: make([]byte, 14+i)})
		w.Counters(&Counters{Port: uint32(i)})
	}
	w.End()
	if samples != 200 || len(numbers) < 15 {
		t.Errorf("%d samples in %d datagrams", samples, len(numbers))
	}
	for i, n := range numbers {
		if n != uint32(i) {
			t.Errorf("datagram %d has number %d", i, n)
		}
	}
}

// What counts from the beginning again, as a port whose sampling was off, or another port in its place, has its samples
// numbered from the beginning, too (sFlow version 5, in the comments at flow_sample and counters_sample). The pool,
// which is 32 bits there, does not by running over.
func TestNumbersBeginAnewWithTheCounters(t *testing.T) {
	var got []uint32
	w := Writer{Agent: netip.MustParseAddr("10.0.0.1"), Send: func(b []byte) {
		const head, typeAndLength = 28, 8
		got = append(got, binary.BigEndian.Uint32(b[head+typeAndLength:]))
	}}
	for _, pool := range []uint64{100, 100, 1<<32 - 1, 1 << 32, 7, 8} {
		for port := uint32(1); port <= 2; port++ {
			if port == 1 || pool >= 100 {
				w.Begin(0)
				w.Flow(&Flow{Port: port, Every: 10, Pool: pool, Length: 60, Head: make([]byte, 60)})
				w.End()
			}
		}
	}
	if want := []uint32{1, 1, 2, 2, 3, 3, 4, 4, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("samples of frames %v, want %v", got, want)
	}
	got = nil
	for _, c := range []Counters{
		{InBytes: 9, OutBytes: 9}, {InBytes: 9, OutBytes: 10}, {InBytes: 9, OutBytes: 1}, {InBytes: 8, OutBytes: 2},
		{InBytes: 9, OutBytes: 2},
	} {
		w.Begin(0)
		c.Port = 1
		w.Counters(&c)
		w.End()
	}
	if want := []uint32{1, 2, 1, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("counters %v, want %v", got, want)
	}
}
