package htsim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"photon/fabric"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/units"
)

const small = `# a ring of three, and a barrier
Nodes 3
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

func TestRead(t *testing.T) {
	m, err := Read("small.cm", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Connections) != 5 || m.Connections[1] != (Connection{ID: 2, From: 1, To: 2, Size: 100000, Trigger: 1, SendDone: 2, Line: 6}) || m.Triggers[2] != (Trigger{ID: 3, Kind: "barrier", Count: 2, Line: 9}) {
		t.Errorf("%+v", m)
	}
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"Connections 5", "Connections 6", "x.cm: 6 connections are announced, and there are 5"},
		{"Triggers 3", "Triggers 4", "x.cm: 4 triggers are announced"},
		{"Nodes 3", "Nodes 2", `x.cm:6: host "2"`},
		{"Nodes 3\n", "", "x.cm:4: "},
		{"0->1 id 1", "0->0 id 1", "x.cm:5: a connection from host 0 to itself"},
		{"start 0 size", "size", "x.cm:5: a connection has either a start or a trigger"},
		{"id 3 trigger 2 size 5000", "id 3 trigger 2", "x.cm:10: a connection needs a size"},
		{"id 3 trigger 2 size 5000", "id 2 trigger 2 size 5000", "x.cm:10: id 2 is there twice"},
		{"id 3 trigger 2 size 5000", "trigger 2 size 5000", "x.cm:10: a connection with a trigger needs an id"},
		{"id 3 trigger 2 size 5000", "id 3 trigger 9 size 5000", "x.cm:10: there is no trigger 9"},
		{"send_done_trigger 2", "", "x.cm:10: nothing activates trigger 2"},
		{"barrier count 2", "barrier", "x.cm:9: a barrier needs a count"},
		{"trigger id 2 multishot", "trigger id 1 multishot", "x.cm:8: trigger 1 is there twice"},
		{"id 2 multishot", "id 2 multishot count 1", "x.cm:8: count is of barriers"},
		{"barrier count 2", "barrier count 3",
			"x.cm:12: trigger 3 is activated 2 times at most, and needs 3: the connection would never start"},
		{"1->2 id 2 trigger 1", "1->2 id 2 trigger 2",
			"x.cm:10: trigger 2 is activated 1 times at most, and needs 2: the connection would never start"},
		{"Nodes 3", "Nodes 3 4", `x.cm:2: "4" behind the number of Nodes`},
		{"Nodes 3", "Nodes 3\nNodes 3", "x.cm:3: Nodes is there twice"},
		{"Nodes 3", "Nodes 1", `x.cm:2: Nodes "1": a whole number from 2 to 65536`},
		{"trigger id 1 oneshot", "trigger id 1 oneshot barrier", "x.cm:7: a trigger is either oneshot or barrier"},
		{"trigger id 1 oneshot", "trigger id 1 once", `x.cm:7: a trigger has no "once"`},
		{"trigger id 1 oneshot", "trigger oneshot", "x.cm:7: a trigger needs an id"},
		{"trigger id 1 oneshot", "trigger id 1", "x.cm:7: a trigger is oneshot, multishot or barrier"},
		{"trigger id 1 oneshot", "trigger id", "x.cm:7: a trigger's id is missing"},
		{"trigger id 1 oneshot", "triger id 1 oneshot", `x.cm:7: "triger": neither a connection`},
		{"0->1 id 1 ", "0->1 ", "x.cm:5: a connection with a trigger needs an id"},
		{"1->2 id 2 trigger 1 size 100000 send", "1->2 start 0 size 100000 send",
			"x.cm:6: a connection with a trigger needs"},
		{"0->1 id 1 start 0", "0->1 id 1 start 1000000000000001",
			`x.cm:5: start "1000000000000001": a whole number from 0`},
		{"size 5000", "size 5000 size 5000", "x.cm:10: size is there twice"},
		{"size 5000", "size 5kB", `x.cm:10: size "5kB"`},
		{"size 5000", "sise 5000", `x.cm:10: a connection has no "sise"`},
	} {
		text := strings.Replace(small, c.old, c.new, 1)
		if text == small {
			t.Fatalf("%q is not there", c.old)
		}
		if _, err := Read("x.cm", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %s", c.new, err, c.want)
		}
	}
}

// The largest numbers that are allowed are taken as they are, in whatever order and with whatever white space; a file
// without connections is none.
func TestWhatIsTaken(t *testing.T) {
	m, err := Read("x.cm", []byte("\ufeffTriggers\t0\r\nConnections 2\r\n\r\n  # hosts\r\nNodes 65536\r\n"+
		"65535->0\tid 8388608  start 1000000000000000\tsize 1099511627776\r\n"+
		"0->65535 msg 1099511627776 size 1 start 0"))
	want := []Connection{
		{ID: 1 << 23, From: 65535, To: 0, Size: 1 << 40, Start: 1000 * units.Second, Line: 6},
		{From: 0, To: 65535, Size: 1, Line: 7},
	}
	if err != nil || !slices.Equal(m.Connections, want) {
		t.Errorf("%+v, %v", m, err)
	}
	const none = "x.cm: there are no connections"
	if _, err := Read("x.cm", []byte("Nodes 2\nConnections 0\n")); err == nil || err.Error() != none {
		t.Errorf("%v; want %s", err, none)
	}
}

// What is not followed is said with its place, and the connection stands.
func TestWhatIsNotFollowed(t *testing.T) {
	const text = "Nodes 2\nConnections 2\nFailures 1\n" +
		"0->1 start 0 size 9 msg 4\n1->0 start 0 size 9 prio 2\nfailure 1 2\n"
	m, err := Read("x.cm", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"x.cm:4: msg is not followed", "x.cm:5: prio is not followed",
		"x.cm:6: failures of links are not followed (docs/experiments.md: events)"}
	if !slices.Equal(m.Skipped, want) || len(m.Connections) != 2 {
		t.Errorf("%q, %d connections", m.Skipped, len(m.Connections))
	}
	for _, bad := range []string{"msg -1", "msg", "prio x"} {
		if _, err := Read("x.cm", []byte(strings.Replace(text, "msg 4", bad, 1))); err == nil {
			t.Errorf("%s is fine", bad)
		}
	}
}

// A connection may activate the trigger that started it: with multishot one starts the next, and to a oneshot the second
// time is nothing. What only itself would start is refused with its line.
func TestTriggersInCircles(t *testing.T) {
	const chain = "Nodes 3\nConnections 3\nTriggers 1\n0->1 id 1 %s size 9 send_done_trigger 1\n" +
		"0->1 id 2 trigger 1 size 9 send_done_trigger 1\n0->2 id 3 trigger 1 size 9 recv_done_trigger 1\ntrigger id 1 %s\n"
	for _, kind := range []string{"multishot", "oneshot"} {
		m, err := Read("x.cm", fmt.Appendf(nil, chain, "start 0", kind))
		if err != nil {
			t.Fatal(err)
		}
		plan := topology.Star(3, fabric.Link{Rate: units.Gbps, Delay: units.Microsecond})
		dependent := func(p *topology.Plan, c *experiment.Connections, list []experiment.Flow) ([]experiment.Flow, error) {
			return m.Flows(p, 0, c, list)
		}
		e := &experiment.Experiment{Dependent: dependent}
		if list, err := e.Sends(plan, 1); err != nil || list.Len() != 3 {
			t.Errorf("%s: %+v, %v", kind, list, err)
		}
		const want = "x.cm:4: the connection would never start: what activates trigger 1 waits for it"
		if _, err = Read("x.cm", fmt.Appendf(nil, chain, "trigger 1", kind)); err == nil || err.Error() != want {
			t.Errorf("%s: %v; want %s", kind, err, want)
		}
	}
}

// Connections need a way.
func TestConnectionsWithoutAWay(t *testing.T) {
	l := fabric.Link{Rate: units.Gbps}
	p := topology.Star(2, l)
	p.Connect(p.Host("H2"), p.Switch("", "S1"), l)
	m, err := Read("x.cm", []byte("Nodes 3\nConnections 2\n0->1 start 0 size 9\n0->2 start 0 size 9\n"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "x.cm:4: nothing leads from host 0 to host 2 of the topology"
	if _, err := m.Flows(p, 0, nil, nil); err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}

// Connections of two hosts take their NICs in turn, whatever others stand between them in the file.
func TestConnectionsTakeNICsInTurn(t *testing.T) {
	l := fabric.Link{Rate: units.Gbps}
	p := topology.Star(0, l)
	for _, name := range []string{"H0", "H1", "H2"} {
		h := p.Host("%s", name)
		p.Connect(h, 0, l)
		p.Connect(h, 0, l)
	}
	m, err := Read("x.cm", []byte("Nodes 3\nConnections 4\n"+
		"0->1 start 0 size 9\n2->1 start 0 size 9\n0->1 start 0 size 9\n2->1 start 0 size 9\n"))
	if err != nil {
		t.Fatal(err)
	}
	flows, err := m.Flows(p, 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if a, b := &flows[i], &flows[i+2]; a.From == b.From || a.To == b.To {
			t.Errorf("connections %d and %d go from %d to %d and from %d to %d", i, i+2, a.From, a.To, b.From, b.To)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("Nodes 2\nConnections 1\n0->1 start 5 size 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Read("x.cm", b)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "x.cm") {
				t.Errorf("%q", err)
			}
			return
		}
		for _, c := range m.Connections {
			if c.From < 0 || c.From >= m.Nodes || c.To >= m.Nodes || c.To < 0 || c.From == c.To || c.Size <= 0 {
				t.Errorf("%+v", c)
			}
		}
	})
}
