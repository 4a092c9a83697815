package chakra

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// Ranks that wait for each other would wait for ever: a node at which one of them hangs is named, the first that
// begins and does not end. Ranks that cross without waiting are fine.
func TestRanksThatWaitForEachOther(t *testing.T) {
	send := func(id, to, tag uint64, after ...uint64) []byte {
		return node(id, 5, after, 0, map[string]uint64{"comm_dst": to, "comm_tag": tag, "comm_size": 9})
	}
	receive := func(id, from, tag uint64, after ...uint64) []byte {
		return node(id, 6, after, 0, map[string]uint64{"comm_src": from, "comm_tag": tag, "comm_size": 9})
	}
	all := func(id uint64, group string, after ...uint64) []byte {
		b := node(id, 7, after, 0, map[string]uint64{"comm_type": 0, "comm_size": 9})
		return append(b, message(10, append(message(1, []byte("pg_name")), message(29, []byte(group))...))...)
	}
	compute := func(id uint64, after ...uint64) []byte { return node(id, 4, after, 5, nil) }
	const hangs = ": it never ends: what it needs of another rank waits for it"
	for name, c := range map[string]struct {
		a, b []byte
		want string
	}{
		"each receives before it sends": {
			trace(compute(4), receive(7, 1, 1, 4), send(2, 1, 2, 7)),
			trace(receive(1, 0, 2), send(2, 0, 1, 1)), "a.et: node 7" + hangs,
		},
		"each sends before it receives": {
			trace(send(2, 1, 2), receive(7, 1, 1, 2)), trace(send(2, 0, 1), receive(1, 0, 2, 2)), "",
		},
		"behind others that end": {
			trace(send(1, 1, 3), receive(7, 1, 1, 1), send(2, 1, 2, 7), compute(9, 2)),
			trace(receive(5, 0, 3), receive(6, 0, 2, 5), compute(3, 6), send(2, 0, 1, 3)), "a.et: node 7" + hangs,
		},
		"collectives in another order": {
			trace(all(3, "x"), all(4, "y", 3)), trace(all(5, "y"), all(6, "x", 5)), "a.et: node 3" + hangs,
		},
		"collectives in one order": {
			trace(all(3, "x"), all(4, "y", 3)), trace(all(6, "x"), all(5, "y", 6)), "",
		},
		"a collective and a message": {
			trace(all(3, "x"), send(4, 1, 0, 3)), trace(receive(5, 0, 0), all(6, "x", 5)), "a.et: node 3" + hangs,
		},
	} {
		x := &Trace{Groups: map[string][]int{"x": {0, 1}, "y": {1, 0}}}
		for i, b := range [][]byte{c.a, c.b} {
			r, err := Read([]string{"a.et", "b.et"}[i], b)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			x.Ranks = append(x.Ranks, r)
		}
		_, err := flowsOf(x)
		if err == nil && c.want != "" || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v; want %s", name, err, c.want)
		}
	}
}

// Process groups are lists of ranks by name, each rank once; what is wrong has its line where the text has one.
func TestReadGroups(t *testing.T) {
	groups, err := ReadGroups("g.json", []byte("\ufeff{\r\n\t\"b\": [3, 1],\r\n\t\"a\": [0], \"none\": []\r\n}\r\n"))
	b, a := groups["b"], groups["a"]
	if err != nil || len(groups) != 3 || !slices.Equal(b, []int{3, 1}) || len(a) != 1 {
		t.Errorf("%v, %v", groups, err)
	}
	for text, want := range map[string]string{
		"":                                "g.json:1: not an object of process groups and their ranks: unexpected end",
		"{\n \"a\": [0, 1\n":              "g.json:3: not an object of process groups and their ranks: unexpected end",
		"{\n \"a\": [0 1]}":               "g.json:2: not an object of process groups and their ranks: invalid character",
		"{\"a\": [0],\n\"b\": [\"0\"]\n}": "g.json:2: not an object of process groups and their ranks: ",
		"[0, 1]":                          "g.json:1: not an object of process groups and their ranks: ",
		"{\"a\": [0, 1.5]}":               "g.json:1: not an object of process groups and their ranks: ",
		"{\"b\": [1], \"a\": [2, 0, 2]}":  `g.json: process group "a" has rank 2 twice`,
	} {
		if _, err := ReadGroups("g.json", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

// Groups that are not those of the trace are refused where it asks for them.
func TestGroupsOfOtherRanks(t *testing.T) {
	all := message(10, append(message(1, []byte("pg_name")), message(29, []byte("x"))...))
	sum := append(node(4, 7, nil, 0, map[string]uint64{"comm_type": 0, "comm_size": 9}), all...)
	idle := node(1, 4, nil, 5, nil)
	for want, c := range map[string]struct {
		groups map[string][]int
		b      []byte
	}{
		`a.et: node 4: process group "x" is not in the file of groups`:     {nil, sum},
		"a.et: node 4: rank 0 is not of process group x":                   {map[string][]int{"x": {1}}, sum},
		"a.et: node 4: rank 1 does not take part in it":                    {map[string][]int{"x": {0, 1}}, idle},
		"a.et: node 4: there is no rank 2, which is of its process group":  {map[string][]int{"x": {0, 2}}, idle},
		"a.et: node 4: there is no rank -1, which is of its process group": {map[string][]int{"x": {0, -1}}, idle},
		"": {map[string][]int{"x": {0}}, idle}, // alone it has everything
	} {
		x := &Trace{Groups: c.groups}
		for i, b := range [][]byte{trace(sum), trace(c.b)} {
			r, err := Read([]string{"a.et", "b.et"}[i], b)
			if err != nil {
				t.Fatal(err)
			}
			x.Ranks = append(x.Ranks, r)
		}
		if _, err := flowsOf(x); err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

// Messages are of two ranks of the trace.
func TestPeersOfMessages(t *testing.T) {
	for peer, want := range map[int64]string{
		-1: "a.et: node 3: rank -1: there are 0 to 1, and it is of rank 0", 1: "",
		0: "a.et: node 3: rank 0: there are 0 to 1, and it is of rank 0",
		2: "a.et: node 3: rank 2: there are 0 to 1, and it is of rank 0",
	} {
		x := &Trace{}
		for i, b := range [][]byte{
			trace(node(3, 5, nil, 0, map[string]uint64{"comm_dst": uint64(peer), "comm_size": 9})),
			trace(node(4, 6, nil, 0, map[string]uint64{"comm_src": 0, "comm_size": 9})),
		} {
			r, err := Read([]string{"a.et", "b.et"}[i], b)
			if err != nil {
				t.Fatal(err)
			}
			x.Ranks = append(x.Ranks, r)
		}
		flows, err := flowsOf(x)
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("to rank %d: %v; want %s", peer, err, want)
		}
		if want == "" && (len(flows) != 1 || flows[0].Weight != 1 || flows[0].DSCP != 26 || flows[0].Size != 9) {
			t.Errorf("%+v", flows)
		}
	}
}

// What a node depends on may be packed, as proto3 writes it, or be a field each; control and data count alike.
func TestDependenciesPackedOrNot(t *testing.T) {
	ids := func(of ...uint64) (b []byte) {
		for _, id := range of {
			b = protowire.AppendVarint(b, id)
		}
		return b
	}
	end := slices.Concat(varint(1, 9), varint(3, 4),
		message(5, ids(1, 300)), varint(4, 7), message(4, nil), message(4, ids(8)))
	var others [][]byte
	for _, id := range []uint64{1, 300, 7, 8} {
		others = append(others, node(id, 4, nil, 0, nil))
	}
	r, err := Read("x.et", trace(append(others, end)...))
	if err != nil || !slices.Equal(r.Nodes[4].After, []uint64{1, 300, 7, 8}) {
		t.Errorf("%+v, %v", r, err)
	}
	cut := slices.Concat(varint(1, 9), varint(3, 4), message(5, []byte{1, 0x80}))
	if _, err := Read("x.et", trace(append(others, cut)...)); err == nil ||
		!strings.HasPrefix(err.Error(), "x.et: behind node 8: node 9: what it depends on: ") {
		t.Errorf("%v", err)
	}
}
