package dataplane

import (
	"bytes"
	"math/bits"
	"slices"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"photon/pfc"
	"photon/units"
)

// What takes ahead does what the Go code does: of queues that are empty, short, longer than a piece or
// too long, and that do not begin with their ring; with frames that are lossless or not, of accounts that are
// easy or not, to bursts of any length. It writes nothing behind them.
func TestTakeAheadIsTakeRest(t *testing.T) {
	const ports, spare = 5, takePiece
	rapid.Check(t, func(t *rapid.T) {
		var sides [2][]switchPort
		for side := range sides {
			sides[side] = make([]switchPort, ports)
		}
		// One in a few accounts is above XOFF.
		tight := rapid.SampledFrom([]int{0, 0, 1, 10}).Draw(t, "tight")
		for port := range ports {
			for _, all := range sides {
				c := pfc.IngressConfig{Enabled: 0xFF, Rate: units.Gbps}
				for prio := range c.Thresholds {
					c.Thresholds[prio] = pfc.Thresholds{XOFF: 1 << 30, XON: 10, Headroom: 1 << 30}
				}
				all[port].in = *pfc.NewIngress(c)
			}
			for prio := range pfc.Classes {
				held := rapid.Int64Range(1<<20, 1<<29).Draw(t, "held")
				if rapid.IntRange(1, 100).Draw(t, "above") <= tight {
					held += 1 << 30
				}
				for _, all := range sides {
					all[port].in.AdmitAll(uint8(prio), held)
				}
			}
		}
		longest := rapid.SampledFrom([]int{1, 4, 6, 12, 33}).Draw(t, "longest")
		odd := rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "odd") // of a hundred frames, not lossless
		at, ready := rapid.IntRange(0, ports-1).Draw(t, "port"), uint(0)
		for prio := range uint8(pfc.Classes) {
			n := rapid.IntRange(0, longest).Draw(t, "frames")
			ring := make([]Frame, ringFor(n))
			for i := range ring { // those behind the tail too: they are what was there before
				f := Frame{Ref: rapid.Uint32().Draw(t, "ref"), Len: uint16(rapid.IntRange(54, 1<<16-1).Draw(t, "length")), Off: 4, Hash: 7, Prio: prio, Flag: 14 | Lossless}
				f.In = uint16(rapid.IntRange(0, ports-1).Draw(t, "in"))
				if rapid.Bool().Draw(t, "markable") {
					f.Flag |= Markable
				}
				if rapid.IntRange(1, 100).Draw(t, "kind") <= odd {
					f.Flag &^= Lossless
				}
				ring[i] = f
			}
			if n > 0 {
				ready |= 1 << prio
			}
			head := uint32(0)
			if n > 1 && rapid.IntRange(0, 40).Draw(t, "begun") == 0 {
				head = 1
			}
			for _, all := range sides {
				q := &all[at].queues[prio]
				q.ring, q.head, q.tail = ring, head, uint32(n)
			}
		}
		room := rapid.IntRange(0, quickBurst+spare).Draw(t, "room")
		limit := min(room, quickBurst) &^ 3
		var bursts [2][quickBurst + 2*spare]Frame
		var left [2]leaving
		got := left[0].takeAll(sides[0], &sides[0][at], ready, bursts[0][:room])
		want := left[1].takeRest(sides[1], &sides[1][at], ready, bursts[1][:limit])
		if got != want {
			t.Fatalf("took %+v, want %+v", got, want)
		}
		if !slices.Equal(bursts[0][:got.n], bursts[1][:got.n]) || !slices.Equal(bursts[0][limit:], bursts[1][limit:]) {
			t.Fatalf("burst %+v, want %+v", bursts[0], bursts[1])
		}
		if n := got.n; n > 0 && (!slices.Equal(left[0].sums[:n+1], left[1].sums[:n+1]) || left[0].markable != left[1].markable) {
			t.Fatalf("sums %v of %b, want %v of %b", left[0].sums[:n+1], left[0].markable, left[1].sums[:n+1], left[1].markable)
		}
		sameAccounts(t, sides)

		// What is not out of its accounts as a whole goes back.
		for side, t := range []*taken{&got, &want} {
			t.whole(sides[side], &sides[side][at], bursts[side][:])
		}
		frames := uint(0)
		for rest := got.queues; rest != 0; rest &= rest - 1 {
			frames += uint(sides[0][at].queues[bits.TrailingZeros(rest)].tail)
		}
		if got != want || got.n != got.eased || got.n != frames {
			t.Fatalf("whole are %+v, of %d frames", got, frames)
		}
		sameAccounts(t, sides)
	})
}

func sameAccounts(t *rapid.T, sides [2][]switchPort) {
	for i := range sides[0] {
		for prio := range uint8(pfc.Classes) {
			if a, b := sides[0][i].in.Bytes(prio), sides[1][i].in.Bytes(prio); a != b {
				t.Fatalf("port %d priority %d: %d bytes, want %d", i, prio, a, b)
			}
		}
	}
}

// A frame of a port that there is none of is not taken ahead: the Go code finds it out.
func TestTakeAheadOfNoPort(t *testing.T) {
	for _, in := range []uint16{4, 1<<15 - 1, 1 << 15, 1<<16 - 1} {
		ports := make([]switchPort, 4)
		q := &ports[0].queues[3]
		q.ring = make([]Frame, 16)
		for i := range 6 {
			q.ring[i] = Frame{Len: 64, Prio: 3, Flag: Lossless}
		}
		q.ring[5].In, q.tail = in, 6
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a frame of port %d was taken", in)
				}
			}()
			var l leaving
			var burst [quickBurst]Frame
			l.takeAll(ports, &ports[0], 1<<3, burst[:])
		}()
	}
}

// What marks ahead marks what the Go code marks: any header, with any checksum, at the very end of the pool
// too; and what is outside is found out by both.
func TestMarkAheadIsMarkRest(t *testing.T) {
	const slots, unit, slot = 40, 6, 64
	rapid.Check(t, func(t *rapid.T) {
		memory := rapid.SliceOfN(rapid.Byte(), slots<<unit, slots<<unit).Draw(t, "memory")
		var pools [2]*Pool
		for side := range pools {
			pools[side] = NewPool(bytes.Clone(memory), unit, slot, 0, nil)
		}
		var burst [quickBurst]Frame
		which := rapid.Uint64Range(0, 1<<quickBurst-1).Draw(t, "which")
		for i := range burst {
			f := &burst[i]
			f.Ref, f.Off = uint32(i), uint16(rapid.IntRange(0, 40).Draw(t, "off"))
			f.Flag = Markable | Flag(rapid.IntRange(0, int(offsetL3)).Draw(t, "l3"))
			at := int(f.Ref)<<unit + int(f.Off) + f.l3()
			first := rapid.SampledFrom([]byte{0x45, 0x46, 0x60, 0x6F, 0x20, 0x00}).Draw(t, "first")
			sum := rapid.SampledFrom([][2]byte{{0, 0}, {1, 0}, {2, 255}, {3, 0}, {255, 255}, {memory[0], memory[1]}}).Draw(t, "sum")
			for _, p := range pools {
				b := p.chunks[0]
				b[at], b[at+10], b[at+11] = first, sum[0], sum[1]
			}
		}
		switch rapid.IntRange(0, 5).Draw(t, "last") {
		case 0: // at the end, and beyond
			burst[20].Ref, burst[20].Off, burst[20].Flag = slots-1, 1<<unit-markLen, Markable
		case 1:
			burst[20].Ref, burst[20].Off, burst[20].Flag = slots-1, 1<<unit-markLen+1, Markable
		case 2:
			burst[20].Ref = 1<<32 - 1
		}
		outside := [2]bool{}
		for side, mark := range []func([]Frame, uint64){pools[0].markEach, pools[1].markRest} {
			func() {
				defer func() { outside[side] = recover() != nil }()
				mark(burst[:], which)
			}()
		}
		if outside[0] != outside[1] || !bytes.Equal(pools[0].chunks[0], pools[1].chunks[0]) {
			t.Fatalf("%v, % x, want %v, % x", outside[0], pools[0].chunks[0], outside[1], pools[1].chunks[0])
		}
	})
}

// Assembly goes by where bits and accounts are.
func TestAccountsThatAssemblyKnows(t *testing.T) {
	if Markable != 0x80 || Lossless != 0x40 {
		t.Errorf("markable and lossless are %x and %x, and not the highest bits", Markable, Lossless)
	}
	if size := unsafe.Sizeof(switchPort{}); pfc.AccountLen != 1<<accountShift || size%(1<<accountShift) != 0 || size>>accountShift >= 1<<15 || size*maxPorts >= 1<<31 {
		t.Errorf("an account has %d bytes, and a port %d", pfc.AccountLen, size)
	}
	if ringFor(1)%takePiece != 0 || ringFor(quickBurst+1)%takePiece != 0 {
		t.Errorf("a ring is not whole pieces of %d frames", takePiece)
	}
}
