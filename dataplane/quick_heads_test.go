package dataplane

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

// oddities are what may be special about a frame, or look so.
var oddities = []func(b []byte, f *Frame){
	func(b []byte, _ *Frame) { b[12] = 0x86 }, // another EtherType
	func(b []byte, _ *Frame) { b[13] = 6 },
	func(b []byte, _ *Frame) { b[14] = 0x46 }, // options
	func(b []byte, _ *Frame) { b[14] = 0x65 },
	func(b []byte, _ *Frame) { b[15] = 0xFF }, // another TOS
	func(b []byte, _ *Frame) { b[20] = 0x20 }, // first fragment
	func(b []byte, _ *Frame) { b[20] = 0x40 }, // not to be fragmented
	func(b []byte, _ *Frame) { b[20] = 1 },    // other fragments
	func(b []byte, _ *Frame) { b[21] = 1 },
	func(b []byte, _ *Frame) { b[23] = wire.ProtoTCP },
	func(b []byte, _ *Frame) { b[23], b[42] = wire.ProtoTCP, wire.OpCNP },
	func(b []byte, _ *Frame) { b[23] = 1 },                                      // ICMP
	func(b []byte, _ *Frame) { b[42] = wire.OpCNP },                             // a CNP
	func(b []byte, _ *Frame) { b[37], b[42] = 0, wire.OpCNP },                   // not RoCEv2
	func(b []byte, _ *Frame) { binary.BigEndian.PutUint32(b[2:], 0x01020304) },  // unknown addresses
	func(b []byte, _ *Frame) { binary.BigEndian.PutUint32(b[8:], 0x01020304) },  //
	func(_ []byte, f *Frame) { f.Len = wire.QuickLen - 1 },                      // too short
	func(_ []byte, f *Frame) { f.Len = wire.QuickLen },                          //
	func(_ []byte, f *Frame) { f.Len = 0 },                                      //
	func(_ []byte, f *Frame) { f.Len = 1500 + wire.EthernetLen + wire.VLANLen }, // as long as may be
	func(_ []byte, f *Frame) { f.Len = 1500 + wire.EthernetLen + wire.VLANLen + 1 },
	func(_ []byte, f *Frame) { f.Len = 1<<16 - 1 },
	func(_ []byte, f *Frame) { f.Ref = 1 << 31 }, // outside
	func(_ []byte, f *Frame) { f.Ref = 1<<32 - 1 },
	func(b []byte, f *Frame) { // as far behind as may be
		f.Off = HeaderLen - wire.QuickLen
		copy(b[f.Off-headerOff:], b[:64])
	},
	func(b []byte, f *Frame) { // beyond its slot
		f.Off = HeaderLen - wire.QuickLen + 1
		copy(b[f.Off-headerOff:], b[:64])
	},
	func(_ []byte, f *Frame) { f.Off = 1<<16 - 1 },
}

// What reads ahead finds of each frame what the Go code finds of it alone, wherever its pair
// is in the table.
func TestReadAheadIsReadHead(t *testing.T) {
	const hosts = 400 // some of their pairs are beside their place
	c := config(4)
	c.Static, c.FDBSize = nil, 1024
	for h := range hosts {
		c.Static = append(c.Static, StaticEntry{MAC: mac(h), Ports: []uint16{uint16(h % 4)}})
	}
	r := newRig(t, c)
	p := &r.sw.ports[1]
	w := p.worker
	w.pairs.renew(0, r.sw.changes.Load())
	for to := range hosts {
		for _, from := range []int{1, 5, 9} {
			if to%4 != 1 {
				w.pairs.remember((*wire.Quick)(packet(from, to, 0, 0)), 1, to%4)
			}
		}
	}
	var frames []Frame
	for range 2 * quickBurst { // every other's slot is there for what one of them writes beyond its own
		f, _ := r.env.Alloc(64)
		frames = append(frames, f)
	}
	beside, all := 0, 0
	draw := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		var burst []Frame
		for i := range 1 + draw.IntN(quickBurst) {
			f, from, to := frames[2*i], 1+4*draw.IntN(3), draw.IntN(hosts)
			b := p.env.chunk(f.Ref)[p.env.place(f.Ref)+headerOff:]
			copy(b, packet(from, to, uint8(24+draw.IntN(16)), uint8(draw.IntN(4))))
			if draw.IntN(5) == 0 {
				oddities[draw.IntN(len(oddities))](b, &f)
			}
			burst = append(burst, f)
		}
		alone, together := slices.Clone(burst), slices.Clone(burst)
		var to []int32
		var bytes int64
		missing := false
		h := r.sw.setHeads(p)
		for i := range alone {
			to = append(to, r.sw.readHead(p, &alone[i]))
			bytes += int64(alone[i].Len)
			missing = missing || to[i] == unfound
			if to[i] >= 0 {
				first, second := p.env.Quick(&alone[i]).Pair()
				if all++; w.pairs.places[place(first, second, uint(h.mask))].differs(first, uint64(second)|h.mine) != 0 {
					beside++
				}
			}
		}
		sum, left := r.sw.readHeads(p, together)
		if sum != bytes || left != missing {
			t.Fatalf("%d bytes, %v left; want %d and %v", sum, left, bytes, missing)
		}
		for i := range burst {
			if w.to[i] != to[i] || to[i] != noPort && together[i] != alone[i] {
				t.Fatalf("frame %d is %+v and goes to queue %d; alone %+v to %d", i, together[i], w.to[i], alone[i], to[i])
			}
		}
	}
	if beside < all/100 || all < 10_000 {
		t.Errorf("%d of %d pairs beside their place", beside, all)
	}
	for _, f := range frames {
		r.env.Free(f)
	}
}

// What appends ahead does what the Go code does: in rings that are full, that begin
// anywhere, and up to a queue that is shut, or none.
func TestAppendAheadIsAppendRest(t *testing.T) {
	const ports, places = 5, 16
	queues := []uint32{0<<3 | 3, 1<<3 | 3, 1 << 3, 4<<3 | 7, 2<<3 | 3, viaHop | 2<<3 | 3}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, quickBurst).Draw(t, "burst")
		var burst []Frame
		for i := range n {
			f := Frame{Ref: uint32(i), Len: uint16(rapid.IntRange(54, 1<<16-1).Draw(t, "length")), Off: 4, In: 3}
			burst = append(burst, f)
		}
		var sides [2][]switchPort
		var workers [2]*switchWorker
		start := rapid.Uint32().Draw(t, "start")
		held := rapid.IntRange(0, places).Draw(t, "held")
		open := rapid.SampledFrom([]uint8{0xFF, 0xFF, 0xFF, 0xF7}).Draw(t, "open")
		to := make([]int32, n)
		for i := range to {
			to[i] = int32(rapid.SampledFrom(queues).Draw(t, "queue"))
			if rapid.IntRange(0, 60).Draw(t, "none") == 0 {
				to[i] = rapid.SampledFrom([]int32{noPort, unfound, notSimple, ports << 3}).Draw(t, "to")
			}
		}
		for side := range sides {
			all := make([]switchPort, ports)
			for i := range all {
				all[i].open = 0xFF
				for prio := range all[i].queues {
					q := &all[i].queues[prio]
					q.ring = make([]Frame, places)
					q.head, q.tail = start, start
				}
			}
			all[1].open = open
			q := &all[2].queues[3]
			q.tail += uint32(held)
			q.bytes = units.Size(held)
			sides[side], workers[side] = all, new(switchWorker)
			copy(workers[side].to[:], to)
		}
		i := uint(rapid.IntRange(0, n-1).Draw(t, "from"))
		end, began := workers[0].appendEach(sides[0], burst, i)
		wantEnd, wantBegan := workers[1].appendRest(sides[1], burst, i, 0)
		if end != wantEnd || began != wantBegan {
			t.Fatalf("up to frame %d, %d queues began; want %d and %d", end, began, wantEnd, wantBegan)
		}
		if got, want := workers[0].began[:began], workers[1].began[:began]; !slices.Equal(got, want) {
			t.Fatalf("queues %v began, want %v", got, want)
		}
		if got, want := workers[0].all.of8, workers[1].all.of8; got != want {
			t.Fatalf("counted %x, want %x", got, want)
		}
		for i := range sides[0] {
			for prio := range sides[0][i].queues {
				a, b := &sides[0][i].queues[prio], &sides[1][i].queues[prio]
				if a.head != b.head || a.tail != b.tail || a.bytes != b.bytes || a.lane != b.lane || !slices.Equal(a.ring, b.ring) {
					t.Fatalf("port %d priority %d: %+v, want %+v", i, prio, *a, *b)
				}
			}
		}
	})
}

// Assembly goes by the sizes of frames and levels.
func TestSizesThatAssemblyKnows(t *testing.T) {
	if frame, pair, l := unsafe.Sizeof(Frame{}), unsafe.Sizeof(pair{}), unsafe.Sizeof(level{}); frame != 16 || pair != 16 || l != 1<<levelShift {
		t.Errorf("a frame has %d bytes, a pair %d and a level %d", frame, pair, l)
	}
}
