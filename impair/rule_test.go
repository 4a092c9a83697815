package impair

import (
	"bytes"
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"photon/fabric"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// drawn is a frame, and what is said of it without reading it.
type drawn struct {
	bytes  []byte
	roce   bool
	opcode uint8
	qp     uint32
	ip     bool
	from   wire.IP
	to     wire.IP
	prio   int // -1: a PFC frame has none
	quanta map[int]uint16
	tos    uint8
	behind int // the headers, which are to stay
}

func ipOf(last byte, six bool) (ip wire.IP) {
	if six {
		return wire.IP{0: 0xFD, 15: last}
	}
	return wire.IP{10: 0xFF, 11: 0xFF, 12: 10, 15: last}
}

func drawFrame(t *rapid.T) (d drawn) {
	d.bytes, d.prio = make([]byte, 200), rapid.IntRange(0, 7).Draw(t, "priority")
	for i := range d.bytes {
		d.bytes[i] = byte(i)
	}
	d.tos = uint8(rapid.IntRange(0, 255).Draw(t, "TOS"))
	switch what := rapid.SampledFrom([]string{"RoCE", "RoCE", "RoCE", "PFC", "UDP", "Ethernet"}).Draw(t, "what"); what {
	case "PFC":
		d.prio, d.quanta = -1, map[int]uint16{}
		f := pfc.Frame{}
		for p := range pfc.Classes {
			if rapid.Bool().Draw(t, "names") {
				f.Enable |= 1 << p
				f.Quanta[p] = rapid.SampledFrom([]uint16{0, 0, 1, 0xFFFF}).Draw(t, "quanta")
				d.quanta[p] = f.Quanta[p]
			}
		}
		f.Encode(d.bytes, 7)
		d.bytes = d.bytes[:pfc.FrameLen]
		d.behind = wire.EthernetLen
	case "Ethernet":
		d.bytes[12], d.bytes[13] = 0x88, 0xB5
		d.behind = wire.EthernetLen
	default:
		six := rapid.Bool().Draw(t, "IPv6")
		d.ip, d.from, d.to = true, ipOf(rapid.Byte().Draw(t, "from")&3, six), ipOf(rapid.Byte().Draw(t, "to")&3, six)
		r := wire.RoCE{Src: d.from, Dst: d.to, TOS: d.tos, SrcPort: 4000}
		bth := r.Encode(d.bytes, 200-42)
		if d.behind = bth; what == "UDP" {
			d.bytes[bth-6]++ // another port
			return d
		}
		d.roce, d.qp, d.behind = true, uint32(rapid.IntRange(1, 3).Draw(t, "qp")), bth+wire.BTHLen
		d.opcode = rapid.SampledFrom([]uint8{wire.OpSendOnly, 0x0A, wire.OpAcknowledge, wire.OpCNP}).Draw(t, "opcode")
		wire.BTH(d.bytes[bth:]).Encode(d.opcode, false, d.qp, false, 5)
	}
	return d
}

func drawRule(t *rapid.T) Rule {
	r := Rule{Do: Lose, Kind: Kind(rapid.IntRange(0, int(kinds)-1).Draw(t, "kind")), Priority: -1}
	if rapid.Bool().Draw(t, "of a priority") {
		r.Priority = rapid.IntRange(0, 7).Draw(t, "rule's priority")
	}
	if rapid.IntRange(0, 2).Draw(t, "of a queue pair") == 0 {
		r.QP = uint32(rapid.IntRange(1, 3).Draw(t, "rule's qp"))
	}
	for _, ip := range []*wire.IP{&r.From, &r.To} {
		if rapid.IntRange(0, 2).Draw(t, "of an address") == 0 {
			*ip = ipOf(rapid.Byte().Draw(t, "address")&3, rapid.Bool().Draw(t, "v6"))
		}
	}
	return r
}

// isAbout is what the documents say: all that a rule says of a frame is to be so.
func isAbout(r Rule, d drawn) bool {
	on, off := false, false // it asks for XOFF, and for XON, of what the rule asks about
	for p, q := range d.quanta {
		if r.Priority < 0 || r.Priority == p {
			on, off = on || q > 0, off || q == 0
		}
	}
	ack, cnp, paused := d.opcode == wire.OpAcknowledge, d.opcode == wire.OpCNP, d.quanta != nil
	is := map[Kind]bool{
		All: true, Data: d.roce && !ack && !cnp, ACK: d.roce && ack, CNP: d.roce && cnp,
		PFC: paused, XOFF: on, XON: paused && !on && (off || r.Priority < 0),
	}
	named := r.Priority < 0 || r.Priority == d.prio || on || off
	from := r.From == wire.IP{} || d.ip && r.From == d.from
	to := r.To == wire.IP{} || d.ip && r.To == d.to
	return is[r.Kind] && named && from && to && (r.QP == 0 || d.roce && r.QP == d.qp)
}

func TestWhichFramesARuleIsAbout(t *testing.T) {
	met := 0
	rapid.Check(t, func(t *rapid.T) {
		var frames []drawn
		for range 6 {
			frames = append(frames, drawFrame(t))
		}
		var a about // of the frame before
		for range 6 {
			r := drawRule(t)
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
			for _, d := range frames {
				classify(d.bytes, func([]byte) int { return d.prio }, &a)
				if got, want := r.matches(&a), isAbout(r, d); got != want {
					t.Fatalf("%+v is about %+v: %v", r, d, got)
				}
				if isAbout(r, d) {
					met++
				}
			}
		}
	})
	if met == 0 {
		t.Error("no rule was about its frame")
	}
}

func TestRulesThatMakeNoSense(t *testing.T) {
	plain := Rule{Priority: -1}
	for _, change := range []func(r *Rule){
		func(r *Rule) { r.Part = 1.01 }, func(r *Rule) { r.Part = -0.01 }, func(r *Rule) { r.Part = math.NaN() },
		func(r *Rule) { r.Part, r.Numbers = 0.5, []uint64{1} }, func(r *Rule) { r.Numbers = []uint64{1, 0} },
		func(r *Rule) { r.Priority = 8 }, func(r *Rule) { r.Priority = -2 }, func(r *Rule) { r.QP = 1 << 24 },
		func(r *Rule) { r.Start = -1 }, func(r *Rule) { r.Stop = -1 }, func(r *Rule) { r.Start, r.Stop = 5, 5 },
		func(r *Rule) { r.By = 1 }, func(r *Rule) { r.Do = Delay }, func(r *Rule) { r.Do, r.By = Delay, -1 },
		func(r *Rule) { r.Behind = 1 }, func(r *Rule) { r.Do = Reorder }, func(r *Rule) { r.Do, r.Behind = Reorder, -1 },
		func(r *Rule) { r.Every = 1 }, func(r *Rule) { r.Do = Pause }, func(r *Rule) { r.Do, r.Every = Pause, -1 },
		func(r *Rule) { r.Do, r.Every, r.Kind = Pause, 1, Data }, func(r *Rule) { r.Do, r.Every, r.QP = Pause, 1, 1 },
		func(r *Rule) { r.Do, r.Every, r.From = Pause, 1, ipOf(1, false) }, func(r *Rule) { r.Do, r.Every, r.To = Pause, 1, ipOf(1, false) },
		func(r *Rule) { r.Do, r.Every, r.Part = Pause, 1, 0.5 }, func(r *Rule) { r.Do, r.Every, r.Numbers = Pause, 1, []uint64{1} },
	} {
		r := plain
		if change(&r); r.Check() == nil {
			t.Errorf("%+v is taken", r)
		}
	}
	for _, r := range []Rule{
		{Part: 1}, {Numbers: []uint64{1}}, {Priority: 7}, {QP: 1<<24 - 1}, {Start: 5, Stop: 6}, {Start: 5}, {Do: Delay, By: 1}, {Do: Reorder, Behind: 1}, {Do: Pause, Every: 1, Priority: 3},
	} {
		if err := r.Check(); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
	var a Action
	if err := a.UnmarshalText([]byte("loose")); err == nil {
		t.Error("loose is an action")
	}
	for i := range kinds {
		var k Kind
		if err := k.UnmarshalText([]byte(i.String())); err != nil || k != i {
			t.Errorf("%v is read as %v: %v", i, k, err)
		}
	}
}

// kept has what comes, byte by byte.
type kept struct {
	*taker
	all [][]byte
}

func (n *kept) Receive(_ units.Time, _ int, burst []fabric.Frame) {
	for _, f := range burst {
		n.all = append(n.all, bytes.Clone(n.env.Bytes(&f)))
		n.env.Free(f)
	}
}

// What is corrupted has one bit turned over, behind the headers by which it finds its way; what is marked has CE, if its
// sender takes that, and is otherwise as it was. In a world of headers alone a corrupted frame does not arrive.
func TestWhatIsDoneToBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, whole := drawFrame(t), rapid.Bool().Draw(t, "whole")
		pool := fabric.NewHeaderPool()
		if whole {
			pool = fabric.NewPool(make([]byte, 1<<20), 2048, 128, func(*fabric.Pool) {})
			pool.SetSlots([]uint32{0, 2048 / 64}) // in units of 64 bytes
		}
		for _, do := range []Action{Corrupt, Mark} {
			env := fabric.NewEnv(pool, 1)
			n := &kept{taker: &taker{env: env}}
			prio := func(int, []byte) int { return d.prio }
			x := New(n, []*fabric.Env{env}, []int{0}, map[int]Spec{0: rules(Rule{Do: do})}, prio)
			f, ok := env.Alloc(len(d.bytes))
			if !ok {
				t.Fatal("no frame")
			}
			copy(env.Bytes(&f), d.bytes)
			f.Digest = 12345
			x.Receive(0, 0, []fabric.Frame{f})
			count := x.Stats(0).Ports[0].Impaired
			if do == Corrupt && !whole && d.quanta == nil { // PFC frames fit
				if len(n.all) != 0 || count.CorruptedLost != 1 || count.Corrupted != 0 {
					t.Fatalf("%d frames came, %+v", len(n.all), count)
				}
				continue
			}
			if len(n.all) != 1 {
				t.Fatalf("%v: %d frames", do, len(n.all))
			}
			got, turned := n.all[0], 0
			for i := range got {
				if got[i] == d.bytes[i] {
					continue
				}
				if turned += bits.OnesCount8(got[i] ^ d.bytes[i]); do == Corrupt && i < d.behind {
					t.Fatalf("byte %d of %d of headers was changed", i, d.behind)
				}
			}
			switch {
			case do == Corrupt:
				if turned != 1 || count.Corrupted != 1 {
					t.Fatalf("%d bits were turned over: %+v", turned, count)
				}
			default:
				ecn := d.ip && (d.tos&3 == 1 || d.tos&3 == 2)
				if (count.Marked == 1) != ecn || (turned > 0) != ecn {
					t.Fatalf("ECN %d, IP %v: %d bits, %+v", d.tos&3, d.ip, turned, count)
				}
				if ecn {
					wire.SetECN(d.bytes[wire.EthernetLen:], wire.CE)
					if n := len(got); !bytes.Equal(got, d.bytes[:n]) {
						t.Fatalf("%x\n%x", got, d.bytes)
					}
				}
			}
		}
	})
}
