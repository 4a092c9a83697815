package chakra

import (
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"photon/fabric"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/units"
)

func traceOf(t *testing.T, prefix string) *Trace {
	t.Helper()
	x := &Trace{}
	for _, rank := range []string{"0", "1", "2", "3"} {
		b, err := os.ReadFile("testdata/" + prefix + "." + rank + ".et")
		if err != nil {
			t.Fatal(err)
		}
		r, err := Read(prefix+"."+rank+".et", b)
		if err != nil {
			t.Fatal(err)
		}
		x.Ranks = append(x.Ranks, r)
	}
	return x
}

func flowsOf(x *Trace) ([]experiment.Flow, error) {
	p := topology.Star(max(2, len(x.Ranks)), fabric.Link{Rate: units.Gbps})
	return x.Flows(p, 26, &experiment.Connections{}, nil)
}

// ASTRA-sim's own traces: one collective of 1 MB among four ranks.
func TestTracesOfASTRAsim(t *testing.T) {
	for prefix, want := range map[string]struct {
		flows int
		size  units.Size
	}{"all_reduce": {24, 1 << 18}, "all_to_all": {12, 1 << 18}} {
		flows, err := flowsOf(traceOf(t, prefix))
		if err != nil {
			t.Fatal(err)
		}
		if len(flows) != want.flows {
			t.Errorf("%s: %d flows", prefix, len(flows))
		}
		for _, f := range flows {
			if f.Size != want.size || f.Wait == nil || f.Start != units.Never {
				t.Errorf("%s: %+v", prefix, f)
			}
		}
	}
}

// message and varint build what the tests read, field by field.
func message(number protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), b)
}

func varint(number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
}

// node makes a node with attributes of int64.
func node(id, kind uint64, after []uint64, duration uint64, attributes map[string]uint64) (b []byte) {
	b = append(varint(1, id), varint(3, kind)...)
	for _, a := range after {
		b = append(b, varint(5, a)...)
	}
	b = append(b, varint(7, duration)...)
	for name, v := range attributes {
		b = append(b, message(10, append(message(1, []byte(name)), varint(9, v)...))...)
	}
	return b
}

func trace(nodes ...[]byte) []byte {
	b := protowire.AppendBytes(nil, message(1, []byte("0.0.4")))
	for _, n := range nodes {
		b = protowire.AppendBytes(b, n)
	}
	return b
}

// A rank computes, sends, and the other computes when it has received.
func TestMessagesAndComputation(t *testing.T) {
	x := &Trace{}
	for i, b := range [][]byte{
		trace(node(1, 4, nil, 30, nil), node(2, 5, []uint64{1}, 0, map[string]uint64{"comm_dst": 1, "comm_tag": 7, "comm_size": 1000}), node(3, 6, nil, 0, map[string]uint64{"comm_src": 1, "comm_tag": 8, "comm_size": 50})),
		trace(node(1, 6, nil, 0, map[string]uint64{"comm_src": 0, "comm_tag": 7, "comm_size": 1000}), node(2, 4, []uint64{1}, 20, nil), node(5, 5, []uint64{2}, 0, map[string]uint64{"comm_dst": 0, "comm_tag": 8, "comm_size": 50})),
	} {
		r, err := Read("rank", b)
		if err != nil {
			t.Fatal(err)
		}
		x.Ranks = append(x.Ranks, r)
		if got := r.Nodes[i].Duration; got != []units.Time{30, 20}[i]*units.Microsecond {
			t.Errorf("computes for %v", got)
		}
	}
	flows, err := flowsOf(x)
	if err != nil {
		t.Fatal(err)
	}
	if len(flows) != 2 || flows[0].Size != 1000 || flows[1].Size != 50 || x.Computed() != 30*units.Microsecond {
		t.Fatalf("%+v", flows)
	}
	// The second waits for 20 us after something that waits for the first to arrive.
	compute := flows[1].Wait.After[0].Wait
	if compute.Delay != 20*units.Microsecond || compute.After[0].Wait.After[0].Wait.After[0] != (experiment.Cause{Flow: 0, What: experiment.Arrived}) {
		t.Errorf("%+v", compute)
	}
}

// Messages of two ranks take their hosts' NICs in turn, also if each has a tag of its own.
func TestMessagesTakeNICsInTurn(t *testing.T) {
	l := fabric.Link{Rate: units.Gbps}
	p := topology.Star(2, l)
	hub, _ := p.Find("S0")
	for _, h := range p.Hosts() {
		p.Connect(h, hub, l)
	}
	x := &Trace{}
	for rank, kind := range []Kind{Send, Receive} {
		r := &Rank{}
		for tag := range int64(2) {
			r.Nodes = append(r.Nodes, Node{ID: uint64(tag), Kind: kind, Size: 9, Peer: int64(1 - rank), Tag: tag})
		}
		x.Ranks = append(x.Ranks, r)
	}
	flows, err := x.Flows(p, 26, &experiment.Connections{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(flows) != 2 || flows[0].From == flows[1].From || flows[0].To == flows[1].To {
		t.Errorf("%+v", flows)
	}
}

func TestBadTraces(t *testing.T) {
	send := func(size uint64) map[string]uint64 {
		return map[string]uint64{"comm_dst": 1, "comm_src": 0, "comm_size": size}
	}
	collective := func(kind, size uint64) []byte {
		return trace(node(1, 7, nil, 0, map[string]uint64{"comm_type": kind, "comm_size": size}))
	}
	for _, c := range []struct {
		a, b []byte
		want string
	}{
		{[]byte{5, 1}, nil, "the file ends within a message"},
		{trace(), nil, "there are no nodes"},
		{trace(node(1, 4, nil, 0, nil), node(1, 4, nil, 0, nil)), nil, "node 1 is there twice"},
		{trace(node(1, 4, []uint64{9}, 0, nil)), nil, "node 1 depends on node 9, which is not there"},
		{trace(node(1, 4, []uint64{2}, 0, nil), node(2, 4, []uint64{1}, 0, nil)), nil, "depends on itself"},
		{trace(node(1, 9, nil, 0, nil)), nil, "node 1: there is no type 9"},
		{trace(node(1, 5, nil, 0, send(0))), nil, "node 1: comm_size 0"},
		{trace(node(1, 5, nil, 0, send(9))), trace(node(1, 4, nil, 0, nil)), "a.et: node 1: rank 1 never receives it"},
		{trace(node(1, 4, nil, 0, nil)), trace(node(4, 6, nil, 0, send(9))), "b.et: node 4: rank 0 never sends it"},
		{trace(node(1, 5, nil, 0, send(9))), trace(node(4, 6, nil, 0, send(8))), "b.et: node 4: 8 bytes, and rank 0 sends 9"},
		{trace(node(1, 7, nil, 0, map[string]uint64{"comm_type": 0, "comm_size": 100})), trace(node(1, 4, nil, 0, nil)), "a.et: node 1: rank 1 does not take part in it"},
		{collective(0, 100), collective(0, 200),
			"b.et: node 1: comm_type 0 of 200 bytes, and a.et: node 1 has comm_type 0 of 100"},
		{collective(0, 100), collective(2, 100),
			"b.et: node 1: comm_type 2 of 100 bytes, and a.et: node 1 has comm_type 0 of 100"},
		{collective(0, 0), collective(0, 0), "a.et: node 1: comm_size 0: from 1 to 2^40 bytes"},
		{trace(node(1, 7, nil, 0, map[string]uint64{"comm_type": 4, "comm_size": 100})), trace(node(1, 7, nil, 0, map[string]uint64{"comm_type": 4, "comm_size": 100})), "comm_type 4 is not supported"},
	} {
		x := &Trace{}
		var err error
		for i, b := range [][]byte{c.a, c.b} {
			if b == nil || err != nil {
				continue
			}
			var r *Rank
			if r, err = Read([]string{"a.et", "b.et"}[i], b); err == nil {
				x.Ranks = append(x.Ranks, r)
			}
		}
		if err == nil {
			_, err = flowsOf(x)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, not %q", err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(trace(node(1, 4, nil, 30, nil), node(2, 7, []uint64{1}, 0, map[string]uint64{"comm_type": 0, "comm_size": 1000})))
	f.Add(trace(node(1, 5, nil, 0, map[string]uint64{"comm_dst": 1, "comm_size": 1000})))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Read("x.et", b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.et: ") {
				t.Errorf("%q", err)
			}
			return
		}
		if _, err := flowsOf(&Trace{Ranks: []*Rank{r, r}}); err != nil && !strings.HasPrefix(err.Error(), "x.et: ") {
			t.Errorf("%q", err)
		}
	})
}

// What each of four ranks sends in a collective of comm_size 1200 (all-reduce 0, all-gather 2, broadcast 5, all-to-all
// 6, reduce-scatter 7 and 8, barrier 9), as ASTRA-sim's algorithms for rings have it
// (Ring.cc): all-gather sends what each rank has, the others a part of it. A barrier moves next to
// nothing.
func TestSizesOfCollectives(t *testing.T) {
	for kind, want := range map[uint64]struct {
		messages int
		size     units.Size
	}{
		0: {24, 300}, 2: {12, 1200}, 5: {3, 1200}, 6: {12, 300}, 7: {12, 300}, 8: {12, 300}, 9: {24, 1},
	} {
		x := &Trace{}
		for range 4 {
			attributes := map[string]uint64{"comm_type": kind, "comm_size": 1200}
			if kind == 9 {
				delete(attributes, "comm_size") // a barrier has none
			}
			r, err := Read("rank", trace(node(1, 7, nil, 0, attributes)))
			if err != nil {
				t.Fatal(err)
			}
			x.Ranks = append(x.Ranks, r)
		}
		flows, err := flowsOf(x)
		if err != nil {
			t.Fatal(err)
		}
		if len(flows) != want.messages {
			t.Errorf("comm_type %d: %d messages, not %d", kind, len(flows), want.messages)
		}
		for _, f := range flows {
			if f.Size != want.size {
				t.Errorf("comm_type %d: a message of %v, not %v", kind, f.Size, want.size)
			}
		}
	}
}

// A whole number may have any type that et_def.proto has for one, and fields may come in any order, as everywhere in
// protocol buffers.
func TestNumbersOfAnyType(t *testing.T) {
	fixed32 := func(number protowire.Number, v uint32) []byte {
		return protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type), v)
	}
	fixed64 := func(number protowire.Number, v uint64) []byte {
		return protowire.AppendFixed64(protowire.AppendTag(nil, number, protowire.Fixed64Type), v)
	}
	attribute := func(name string, value []byte) []byte {
		return message(10, append(message(1, []byte(name)), value...))
	}
	for name, value := range map[string][]byte{
		"double": fixed64(3, math.Float64bits(1)), "float": fixed32(5, math.Float32bits(1)),
		"int32": varint(7, 1), "int64": varint(9, 1), "uint32": varint(11, 1), "uint64": varint(13, 1),
		"sint32": varint(15, 2), "sint64": varint(17, 2), "fixed32": fixed32(19, 1), "fixed64": fixed64(21, 1),
		"sfixed32": fixed32(23, 1), "sfixed64": fixed64(25, 1), "bool": varint(27, 1),
	} {
		fields := [][]byte{
			varint(1, 8), varint(3, uint64(Send)), attribute("comm_dst", value), attribute("comm_size", value),
			attribute("comm_src", varint(9, 5)), attribute("comm_tag", value),
		}
		for range fields {
			fields = append(fields[1:], fields[0])
			r, err := Read("x.et", trace(slices.Concat(fields...)))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if x := r.Nodes[0]; x.Peer != 1 || x.Size != 1 || x.Tag != 1 || x.ID != 8 {
				t.Errorf("%s: %+v", name, x)
			}
		}
	}
	r, err := Read("x.et", trace(node(1, 6, nil, 0, map[string]uint64{"comm_dst": 3, "comm_src": 2, "comm_size": 9})))
	if err != nil || r.Nodes[0].Peer != 2 {
		t.Errorf("a reception: %+v, %v", r, err)
	}
}

// A message has at most 2^40 bytes, and nothing may stand behind the last node.
func TestBoundsOfTraces(t *testing.T) {
	send := func(size uint64) []byte {
		return trace(node(1, 5, nil, 0, map[string]uint64{"comm_dst": 1, "comm_size": size}))
	}
	if _, err := Read("x.et", send(1<<40)); err != nil {
		t.Error(err)
	}
	for want, b := range map[string][]byte{
		"x.et: node 1: comm_size 1099511627777: from 1 to 2^40 bytes":                        send(1<<40 + 1),
		"x.et: behind node 1: the file ends within a message, or is no Chakra trace":         append(send(9), 1),
		"x.et: behind node 1: the file ends within a message, or is no Chakra trace (again)": append(send(9), 0x80),
	} {
		want = strings.TrimSuffix(want, " (again)")
		if _, err := Read("x.et", b); err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// Only what is computed takes the time that its node has: a message takes as long as the network does.
func TestMessagesTakeNoTimeOfTheirNode(t *testing.T) {
	x := &Trace{}
	for rank := range uint64(2) {
		name := []string{"comm_dst", "comm_src"}[rank]
		r, err := Read("rank", trace(
			node(1, 5+rank, nil, 50, map[string]uint64{name: 1 - rank, "comm_size": 9}),
			node(2, 5+rank, []uint64{1}, 50, map[string]uint64{name: 1 - rank, "comm_size": 9})))
		if err != nil {
			t.Fatal(err)
		}
		x.Ranks = append(x.Ranks, r)
	}
	flows, err := flowsOf(x)
	if err != nil {
		t.Fatal(err)
	}
	var delay func(w *experiment.Wait) units.Time
	delay = func(w *experiment.Wait) (sum units.Time) {
		for _, c := range w.After {
			if c.Wait != nil {
				sum += delay(c.Wait)
			}
		}
		return sum + w.Delay
	}
	if got := delay(flows[1].Wait); got != 0 {
		t.Errorf("the second begins %v after the first was received", got)
	}
}
