package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"photon/lab/hpccfiles"
)

const traceTopology = `5 1 4
4
0 4 100Gbps 0.001ms 0
1 4 100Gbps 0.001ms 0
2 4 100Gbps 0.001ms 0
3 4 100Gbps 0.001ms 0
`

const traceMatrix = `Nodes 4
Connections 5
Triggers 3
0->1 id 1 start 0 size 100000 recv_done_trigger 1
1->2 id 2 trigger 1 size 100000 send_done_trigger 2
trigger id 1 oneshot
trigger id 2 multishot
trigger id 3 barrier count 2
1->0 id 3 trigger 2 size 5000 recv_done_trigger 3
0->2 id 4 start 1000000 size 5000 recv_done_trigger 3
2->1 id 5 trigger 3 size 1
`

// A connection matrix and execution traces run as the HPCC simulator's files do, and fct.txt shows who
// waited for whom; in two parts the same comes of it.
func TestTracesRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	topology, matrix := write("topology.txt", traceTopology), write("ring.cm", traceMatrix)
	run := func(args ...string) (string, error) {
		c := newRoot()
		var out bytes.Buffer
		c.SetOut(&out)
		c.SetErr(&out)
		c.SetArgs(append([]string{"run", "--topology", topology, "--out", filepath.Join(dir, "out")}, args...))
		err := c.ExecuteContext(t.Context())
		return out.String(), err
	}
	var texts []string
	for _, cores := range []string{"1", "2"} {
		if out, err := run("--cm", matrix, "--cores", cores); err != nil || !strings.Contains(out, "5 of 5 flows ended") {
			t.Fatal(out, err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "out", "fct.txt"))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
	}
	if texts[0] != texts[1] {
		t.Errorf("%s\nand on two cores\n%s", texts[0], texts[1])
	}
	list, err := hpccfiles.ReadFCT("fct.txt", []byte(texts[0]))
	if err != nil {
		t.Fatal(err)
	}
	byID := map[int]*hpccfiles.Finished{}
	for i := range list {
		byID[list[i].Trace.ID] = &list[i]
	}
	near := func(a, b int64) bool { return a-b <= 1 && b-a <= 1 } // rounded to nanoseconds
	if f := byID; !near(f[2].Start, f[1].Trace.Arrived) || !near(f[3].Start, f[2].Trace.End) || !near(f[5].Start, f[3].Trace.Arrived+2000) || !near(f[4].Start, 1000) {
		t.Errorf("%s", texts[0]) // the last is at a host that neither is to: a signal of 2 us tells it
	}
	if out, err := run("--chakra", "../../lab/chakra/testdata/all_reduce"); err != nil || !strings.Contains(out, "24 of 24 flows ended") {
		t.Error(out, err)
	}
	ranks := func(prefix string, names ...string) string {
		for _, name := range names {
			b, err := os.ReadFile("../../lab/chakra/testdata/all_reduce.0.et")
			if err != nil {
				t.Fatal(err)
			}
			write(prefix+"."+name, string(b))
		}
		return dir + "/" + prefix
	}
	apart := write("apart.txt", "6 2 4\n4 5\n0 4 1Gbps 1us 0\n1 4 1Gbps 1us 0\n2 5 1Gbps 1us 0\n3 5 1Gbps 1us 0\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--cm", write("bad.cm", strings.Replace(traceMatrix, "size 1\n", "size x\n", 1))}, "bad.cm:11: size"},
		{[]string{"--cm", write("many.cm", strings.Replace(traceMatrix, "Nodes 4", "Nodes 40", 1))}, "many.cm: it is of 40 hosts"},
		{[]string{"--cm", write("self.cm", "Nodes 2\nConnections 2\nTriggers 2\n0->1 id 1 trigger 1 size 5 recv_done_trigger 2\n1->0 id 2 trigger 2 size 5 recv_done_trigger 1\ntrigger id 1 oneshot\ntrigger id 2 oneshot\n")}, "waits for"},
		{[]string{"--chakra", dir + "/none"}, "none.0.et"},
		{[]string{"--chakra", write("x.0.et", "\x05abcde")[:len(dir)+2]}, "x.0.et: "},
		{[]string{"--chakra", ranks("hole", "0.et", "1.et", "3.et", "x.et")},
			"hole.2.et: there is no such file, but hole.3.et (a trace has one for each rank)"},
		{[]string{"--cm", matrix, "--chakra", "x"}, "one of them"},
		{[]string{"--topology", apart, "--cm", matrix}, "ring.cm:"},
		{[]string{"--topology", apart, "--chakra", "../../lab/chakra/testdata/all_reduce"},
			"all_reduce: flows trace: nothing leads from 1 to 2 (the network is that of " + apart + ")"},
		{[]string{"--cm", matrix, "--comm-groups", "x"}, "--comm-groups"},
	} {
		if _, err := run(c.args...); !errors.As(err, &badInput{}) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, not %q", c.args, err, c.want)
		}
	}
}
