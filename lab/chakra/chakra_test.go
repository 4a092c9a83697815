package chakra

import (
	"os"
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
