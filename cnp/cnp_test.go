package cnp

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"photon/units"
	"photon/wire"
)

var to = wire.RoCE{
	DstMAC: 0xe41d2dab2bc2, SrcMAC: 0x7cfe90643b32, Src: wire.IPv4(10, 0, 17, 1), Dst: wire.IPv4(10, 0, 18, 1), TOS: 48 << 2, SrcPort: 0,
}

// A CNP captured from a ConnectX-4 Lx; ours differs from it in the IP
// identification only, which the ICRC covers, and in the don't-fragment bit
// being set in both.
func TestEncodeAgainstCapture(t *testing.T) {
	golden, _ := hex.DecodeString("e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a001201" +
		"000012b7002800008100ffff4000011800000000" + "00000000000000000000000000000000" + "82fd002a")
	b := make([]byte, MaxLen)
	n := Encode(b, to, 0x118, Notice{ECN: wire.ECT0})
	got := b[:n]
	copy(got[18:20], golden[18:20])
	wire.SetIPv4Checksum(got[14:])
	wire.SealICRC(got[14:], 28)
	if !bytes.Equal(got, golden) {
		t.Fatalf("\n% x\n% x", got, golden)
	}
	var h wire.Header
	wire.Parse(golden, &h)
	if qp, notice, err := Decode(golden, &h); err != nil || qp != 0x118 || notice != (Notice{ECN: wire.ECT0}) {
		t.Fatal(qp, notice, err)
	}
}

func TestRoundTrip(t *testing.T) {
	v6a, _ := wire.ParseIP("fd00::1")
	v6b, _ := wire.ParseIP("fd00::2")
	rapid.Check(t, func(t *rapid.T) {
		at := to
		if rapid.Bool().Draw(t, "IPv6") {
			at.Src, at.Dst = v6a, v6b
		}
		want := Notice{ECN: uint8(rapid.IntRange(0, 3).Draw(t, "ecn")), Word: rapid.Uint32().Draw(t, "word")}
		qp := rapid.Uint32Range(0, 1<<24-1).Draw(t, "qp")
		b := make([]byte, MaxLen)
		n := Encode(b, at, qp, want)
		padded := append(b[:n:n], make([]byte, rapid.IntRange(0, 9).Draw(t, "padding"))...)
		var h wire.Header
		if !wire.Parse(padded, &h) || h.TOS>>2 != 48 {
			t.Fatalf("%+v", h)
		}
		gotQP, got, err := Decode(padded, &h)
		if err != nil || gotQP != qp || got != want {
			t.Fatalf("%d %+v, %v", gotQP, got, err)
		}
		// Any changed bit that no router changes is noticed.
		bit := rapid.IntRange(0, reservedLen*8-1).Draw(t, "bit")
		padded[h.BTH+wire.BTHLen+bit/8] ^= 1 << (bit % 8)
		if _, _, err := Decode(padded, &h); !errors.Is(err, ErrICRC) {
			t.Fatalf("damage: %v", err)
		}
		if at.Src.Is4() { // the ECN field, which says whether there is congestion, is in no ICRC
			b[wire.EthernetLen+1] ^= 1
			if _, _, err := Decode(b[:n], &h); !errors.Is(err, ErrHeader) {
				t.Fatalf("a changed codepoint: %v", err)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	b := make([]byte, MaxLen)
	f.Add(b[:Encode(b, to, 7, Notice{Word: 9})])
	f.Fuzz(func(t *testing.T, b []byte) {
		var h wire.Header
		if wire.Parse(b, &h) {
			_, _, _ = Decode(b, &h)
		}
	})
}

// arrival is one data frame; report is one CNP.
type arrival struct {
	at     units.Time
	flow   int
	ecn    uint8
	nbytes int
}

type report struct {
	at   units.Time
	flow int
	Notice
}

// drive feeds arrivals to an NP that is polled exactly when it asks to be.
func drive(t *rapid.T, np NP, arrivals []arrival) (got []report) {
	poll := func(until units.Time) {
		for np.Next() <= until {
			at := np.Next()
			flow, n, ok := np.Poll(at)
			if !ok {
				if np.Next() <= at {
					t.Fatalf("Next is %v, Poll has nothing", at)
				}
				continue
			}
			got = append(got, report{at, flow, n})
		}
	}
	for _, a := range arrivals {
		poll(a.at)
		np.Data(a.at, a.flow, a.ecn, a.nbytes)
	}
	poll(units.Never - 1)
	return got
}

func drawArrivals(t *rapid.T, step units.Time) []arrival {
	var all []arrival
	now := units.Time(1)
	burst := rapid.Int64Range(1, int64(step)).Draw(t, "scale")
	for range rapid.IntRange(1, 200).Draw(t, "arrivals") {
		now += units.Time(rapid.Int64Range(1, burst).Draw(t, "gap"))
		ecn := rapid.SampledFrom([]uint8{wire.ECT0, wire.CE, wire.CE, wire.CE}).Draw(t, "ecn")
		all = append(all, arrival{now, rapid.IntRange(0, 3).Draw(t, "flow"), ecn, rapid.IntRange(64, 9000).Draw(t, "bytes")})
	}
	return all
}

// slowPCN is section 5.2 of the paper on the list of all arrivals of one flow,
// in real numbers.
func slowPCN(p PCNParams, flow int, arrivals []arrival) (want []report) {
	for i := 0; i < len(arrivals); {
		begin := arrivals[i].at
		if p.Phase == Tick {
			begin = (arrivals[i].at+p.Clock)/p.Period*p.Period - p.Clock
		} else if len(want) > 0 && begin < want[len(want)-1].at+p.Period {
			begin = want[len(want)-1].at
		}
		end := begin + p.Period
		j := i
		size, marked := 0.0, 0.0
		for ; j < len(arrivals) && arrivals[j].at < end; j++ {
			size += float64(arrivals[j].nbytes)
			if arrivals[j].ecn == wire.CE {
				marked++
			}
		}
		span := p.Period
		if j == i+1 && i > 0 && arrivals[i].at-arrivals[i-1].at > span {
			span = arrivals[i].at - arrivals[i-1].at
		}
		n := Notice{ECN: wire.NotECT, Word: uint32(max(1, math.Round(math.Round(size*8/span.Seconds())/1e6)))}
		if marked/float64(j-i) >= float64(p.Percent)/100 {
			n.ECN = wire.CE
		}
		want = append(want, report{end, flow, n})
		i = j
	}
	return want
}

func drawPCN(t *rapid.T) PCNParams {
	return PCNParams{
		Period: 50 * us, Percent: 95, Phase: Phase(rapid.IntRange(0, 1).Draw(t, "phase")),
		Clock: units.Time(rapid.SampledFrom([]int{0, 1, 20, 999}).Draw(t, "clock")) * us,
	}
}

// Whoever polls late, but once in a period at least, gets the last of the periods that have ended since: whole, and
// with frames. Of one flow: others may stand before it that ended while nobody asked.
func TestPCNPolledLateAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPCN(t)
		np, told := NewPCN(p, 1), units.Time(0)
		var all []arrival
		poll := func(now units.Time) {
			var got, want []Notice
			for _, n, ok := np.Poll(now); ok; _, n, ok = np.Poll(now) {
				got = append(got, n)
			}
			for _, r := range slowPCN(p, 0, all) {
				if r.at > told && r.at <= now {
					want = []Notice{r.Notice}
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%+v, polled at %v and %v: %+v, want %+v; it sent %v", p, told, now, got, want, all)
			}
			told = now
		}
		later := func() units.Time { return told + units.Time(evenly(1, int64(p.Period)).Draw(t, "later")) }
		next := later()
		for _, a := range drawArrivals(t, 120*us) {
			for ; next <= a.at; next = later() {
				poll(next)
			}
			np.Data(a.at, 0, a.ecn, a.nbytes)
			all = append(all, a)
		}
		for end := next + 3*p.Period; next < end; next = later() {
			poll(next)
		}
	})
}

func TestPCNAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPCN(t)
		all := drawArrivals(t, 120*units.Microsecond)
		got := drive(t, NewPCN(p, 4), all)
		var want []report
		for flow := range 4 {
			want = append(want, slowPCN(p, flow, slices.DeleteFunc(slices.Clone(all), func(a arrival) bool { return a.flow != flow }))...)
		}
		order := func(a, b report) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.flow, b.flow)) }
		slices.SortFunc(want, order)
		if !slices.IsSortedFunc(got, func(a, b report) int { return cmp.Compare(a.at, b.at) }) {
			t.Fatal("not in the order of time")
		}
		slices.SortFunc(got, order)
		if !slices.Equal(got, want) {
			t.Fatalf("%v\ngot  %v\nwant %v", all, got, want)
		}
	})
}

// 95 % is a limit that belongs to the congested side.
func TestPCN95Percent(t *testing.T) {
	for marked, want := range map[int]uint8{19: wire.CE, 18: wire.NotECT} {
		np := NewPCN(PCNParams{Period: 1000, Percent: 95}, 1)
		for i := range 20 {
			ecn := wire.ECT0
			if i < marked {
				ecn = wire.CE
			}
			np.Data(units.Time(i), 0, ecn, 100)
		}
		if _, n, ok := np.Poll(1000); !ok || n.ECN != want {
			t.Errorf("%d of 20 marked: %+v", marked, n)
		}
	}
}

// A flow slower than one frame in T: 1 082 bytes every 8.656 ms are 1 Mbit/s.
func TestPCNSlowFlow(t *testing.T) {
	np := NewPCN(PCNParams{Period: 500 * units.Microsecond, Percent: 95}, 1)
	now := 923 * units.Microsecond // later than a period: what was before the first frame is no gap
	var words []uint32
	for i := range 6 {
		if i == 5 {
			now += units.Second // that is less than 1 Mbit/s, and 0 would stop it for ever
		}
		np.Data(now, 0, wire.CE, 1082)
		if _, n, ok := np.Poll(np.Next()); ok {
			words = append(words, n.Word)
		}
		now += 8656 * units.Microsecond
	}
	if !slices.Equal(words, []uint32{17, 1, 1, 1, 1, 1}) { // the first has no gap to go by
		t.Fatal(words)
	}
}

// An NP that is polled late reports the last whole period, once.
func TestPCNPolledLate(t *testing.T) {
	np := NewPCN(PCNParams{Period: 100 * units.Microsecond, Percent: 95}, 2)
	np.Data(10*units.Microsecond, 0, wire.CE, 1000)
	np.Data(110*units.Microsecond, 0, wire.ECT0, 2000)
	flow, n, ok := np.Poll(120 * units.Microsecond)
	if !ok || flow != 0 || n.ECN != wire.CE || n.Word != 80 {
		t.Fatal(flow, n, ok)
	}
	if _, _, ok := np.Poll(120 * units.Microsecond); ok {
		t.Fatal("reported twice")
	}
	np.Data(350*units.Microsecond, 0, wire.ECT0, 500)
	if flow, n, ok = np.Poll(350 * units.Microsecond); !ok || n.ECN != wire.NotECT || n.Word != 160 {
		t.Fatal(flow, n, ok)
	}
	np.Forget(0)
	if _, n, ok := np.Poll(units.Second); ok {
		t.Fatal("a forgotten flow reports", n)
	}
}

// A frame that comes in the very instant in which a period ends, or an empty one behind it, belongs to the next: it
// is not in what is told of those before, however late that is asked for.
func TestPCNFramesAtTheEndsOfPeriods(t *testing.T) {
	for _, phase := range []Phase{Tick, FirstPacket} {
		for periods := units.Time(1); periods <= 3; periods++ {
			np := NewPCN(PCNParams{Period: 100 * us, Percent: 95, Phase: phase}, 1)
			next := periods * 100 * us
			np.Data(0, 0, wire.CE, 1000)
			np.Data(next, 0, wire.ECT0, 2000)
			if _, n, ok := np.Poll(next); !ok || n.ECN != wire.CE || n.Word != 80 {
				t.Errorf("phase %d, the next frame %v later: %+v, %v", phase, next, n, ok)
			}
			if np.Next() != next+100*us {
				t.Errorf("phase %d, the next frame %v later: its period ends at %v", phase, next, np.Next())
			}
		}
	}
}

func TestDCQCNAgainstSlowTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		interval := 50 * units.Microsecond
		all := drawArrivals(t, 60*units.Microsecond)
		np := NewDCQCN(DCQCNParams{Interval: interval}, 4)
		last := map[int]units.Time{}
		for _, a := range all {
			np.Data(a.at, a.flow, a.ecn, a.nbytes)
			since, before := last[a.flow]
			want := a.ecn == wire.CE && (!before || a.at-since >= interval)
			if (np.Next() <= a.at) != want {
				t.Fatalf("%+v: due %v, want %v", a, np.Next() <= a.at, want)
			}
			flow, n, ok := np.Poll(a.at)
			if ok != want || ok && (flow != a.flow || n.Word != 0) {
				t.Fatalf("%+v: %v %v", a, flow, ok)
			}
			if want {
				last[a.flow] = a.at
			}
		}
	})
}

func TestForgottenDCQCNFlowNotifiesAtOnce(t *testing.T) {
	np := NewDCQCN(DCQCNParams{Interval: units.Second}, 1)
	np.Data(1, 0, wire.CE, 1)
	np.Poll(1)
	np.Forget(0)
	if np.Data(2, 0, wire.CE, 1); np.Next() != 0 {
		t.Fatal("still silent")
	}
}

func TestValidate(t *testing.T) {
	if (PCNParams{Period: 1, Percent: 95}).Validate() != nil || (PCNParams{Percent: 95}).Validate() == nil ||
		(PCNParams{Period: 1, Percent: 101}).Validate() == nil || (DCQCNParams{Interval: -1}).Validate() == nil {
		t.Fatal("validation")
	}
}

func TestNothingAllocates(t *testing.T) {
	b := make([]byte, MaxLen)
	nps := []NP{Silent{}, NewDCQCN(DCQCNParams{}, 8), NewPCN(PCNParams{Period: 100, Percent: 95}, 8)}
	now := units.Time(0)
	if n := testing.AllocsPerRun(100, func() {
		now += 60
		for _, np := range nps {
			np.Data(now, int(now)%8, wire.CE, 1000)
			if flow, n, ok := np.Poll(now); ok {
				Encode(b, to, uint32(flow), n)
			}
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// What is due of a flow that is forgotten is not said of the one that has its place then.
func TestForget(t *testing.T) {
	us := units.Microsecond
	for name, np := range map[string]NP{
		"DCQCN": NewDCQCN(DCQCNParams{Interval: 50 * us}, 4), "ticks": NewDCQCNTicks(DCQCNParams{Interval: 50 * us}, 4),
		"DCQCN+": NewDCQCNPlus(DCQCNPlusParams{Gap: us, Interval: 45 * us, Silence: 100 * us}, 4), "BECN": NewBECN(false, 4),
		"PCN": NewPCN(PCNParams{Period: 50 * us, Percent: 95}, 4), "BECN of TCD": NewBECN(true, 4),
		"TCD": NewTCD(DCQCNParams{Interval: 50 * us}, 4),
	} {
		unmarked := name == "PCN" || name == "BECN of TCD" || name == "TCD" // ECT(0) is reported as such
		np.Data(us, 2, wire.CE, 1000)
		np.Forget(2)
		np.Data(2*us, 2, wire.ECT0, 1000) // another flow, not marked
		for now := 2 * us; now < 200*us; now += us {
			if flow, n, ok := np.Poll(now); ok && (!unmarked || n.ECN == wire.CE) {
				t.Errorf("%s: flow %d is notified of another's mark: %+v", name, flow, n)
			}
		}
	}
}

// A flow in the slot of one that was forgotten is notified when its own first period ends, whatever the one before it
// was waiting for.
func TestPCNSlotOfAnother(t *testing.T) {
	n := NewPCN(PCNParams{Period: 50 * us, Percent: 95, Phase: FirstPacket}, 2)
	n.Data(0, 0, wire.CE, 1000)
	n.Forget(0)
	n.Data(10*us, 0, wire.NotECT, 1000)
	n.Data(45*us, 1, wire.NotECT, 1000)
	for _, want := range []struct {
		at   units.Time
		flow int
	}{{60 * us, 0}, {95 * us, 1}} {
		at := n.Next()
		for at < want.at { // a period without frames
			n.Poll(at)
			at = n.Next()
		}
		if flow, notice, ok := n.Poll(at); at != want.at || flow != want.flow || !ok || notice != (Notice{ECN: wire.NotECT, Word: 160}) {
			t.Errorf("at %v flow %d, %+v, %v; want flow %d at %v", at, flow, notice, ok, want.flow, want.at)
		}
	}
}
