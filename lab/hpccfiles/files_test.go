package hpccfiles

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"photon/lab/chakra"
	"photon/lab/htsim"
	"photon/lab/run"
	"photon/scheme"
	"photon/units"
)

// four is a topology of three hosts and a switch.
const four = "4 1 3\n3\n0 3 10Gbps 1us 0\n1 3 10Gb/s 0.001ms 0\n2 3 10Gbps 1000ns 0\n"

func mustTopology(t testing.TB, text string) *Topology {
	t.Helper()
	top, err := ReadTopology("topology.txt", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return top
}

func TestReadTopology(t *testing.T) {
	top := mustTopology(t, four)
	if len(top.Switch) != 4 || !top.Switch[3] || len(top.Links) != 3 {
		t.Fatalf("%+v", top)
	}
	for i, l := range top.Links {
		if l.A != i || l.B != 3 || l.Rate != 10*units.Gbps || l.Delay != units.Microsecond || l.Line != i+3 {
			t.Errorf("%+v", l)
		}
	}
	for text, want := range map[string]string{
		"":                                "topology.txt: the file ends where the number of nodes is expected",
		"4":                               "topology.txt:1: the file ends where the number of switches is expected",
		"1 0 1":                           "topology.txt:1: the number of nodes \"1\": a whole number from 2 to 65536",
		"2 2 1\n0 1\n0 1 1Gbps 1us 0\n":   "topology.txt:1: all 2 nodes are switches: without hosts there are no flows",
		"4 1 3\n9\n":                      "topology.txt:2: a switch's number \"9\": a whole number from 0 to 3",
		"4 2 3\n3\n3\n":                   "topology.txt:3: switch 3 is named twice",
		"4 1 3\n3\n0 3 10Gbps 1us 0\n":    "topology.txt:3: the file ends where a link's first node is expected",
		"4 1 3\n3\n0 3 fast 1us 0\n":      `topology.txt:3: a link's rate: rate "fast"`,
		"4 1 3\n3\n0 3 0Gbps 1us 0\n":     "at least 1Kbps",
		"4 1 3\n3\n0 3 10Gbps -1us 0\n":   "topology.txt:3: a link's delay: \"-1us\" is negative",
		"4 1 3\n3\n0 3 10Gbps 1us some\n": `topology.txt:3: a link's error rate "some": a number, not negative`,
		"4 1 3\n3\n0 0 10Gbps 1us 0\n":    "topology.txt:3: a link from node 0 to itself",
		four + "1":                        `topology.txt:6: "1" after the last link`,
		"5 1 3\n3\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gbps 1us 0\n": "topology.txt: node 4 has no link",
	} {
		if _, err := ReadTopology("topology.txt", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Behind the lines that are announced the simulator's own files explain themselves.
func TestTextAfterTheLastLine(t *testing.T) {
	const comment = "\n\nFirst line: total node #, switch node #, link #\nSecond line: 1 2 3\n0 1 2\n"
	top := mustTopology(t, four+comment)
	if !reflect.DeepEqual(top, mustTopology(t, four)) {
		t.Errorf("%+v", top)
	}
	flows, err := ReadFlows("flow.txt", []byte("1\n0 2 3 100 5000 0\n"+comment), top)
	if err != nil || len(flows) != 1 {
		t.Errorf("%+v %v", flows, err)
	}
}

func TestReadFlows(t *testing.T) {
	top := mustTopology(t, four)
	flows, err := ReadFlows("flow.txt", []byte("2\n0 2 3 100 5000 0.000000001\n1 2 3 100 1 1e-3\n"), top)
	if err != nil || len(flows) != 2 || flows[0].Start != units.Nanosecond || flows[1].Start != units.Millisecond || flows[1].Line != 3 {
		t.Fatalf("%+v %v", flows, err)
	}
	for text, want := range map[string]string{
		"0":                               "flow.txt:1: the number of flows \"0\"",
		"1\n0 2 3 100 5000":               "flow.txt:2: the file ends where a flow's start is expected",
		"1\n0 3 3 100 5000 0":             "flow.txt:2: a flow's receiver, node 3, is a switch",
		"1\n0 9 3 100 5000 0":             "flow.txt:2: a flow's receiver \"9\"",
		"1\n0 0 3 100 5000 0":             "flow.txt:2: a flow from host 0 to itself",
		"1\n0 2 8 100 5000 0":             "flow.txt:2: a flow's priority group \"8\"",
		"1\n0 2 3 100 0 0":                "flow.txt:2: a flow's size \"0\"",
		"1\n0 2 3 100 5 soon":             "flow.txt:2: a flow's start \"soon\": seconds",
		"1\n0 2 3 100 5 -1":               "flow.txt:2: a flow's start \"-1\": seconds",
		"2\n0 2 3 100 5 2\n0 2 3 100 5 1": "flow.txt:3: the flow starts before the one above it",
		"1\n0 2 3 100 5 2\n0 2 3 100 5 1": `flow.txt:3: "0" after the last flow`,
	} {
		if _, err := ReadFlows("flow.txt", []byte(text), top); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// prepare makes a run of two flows into one host.
func prepare(t testing.TB, settings, scheme string) (*Prepared, error) {
	t.Helper()
	f := Files{Topology: mustTopology(t, four), FlowFile: "flow.txt"}
	var err error
	if f.Flows, err = ReadFlows("flow.txt", []byte("2\n0 2 3 100 5000 0.001\n1 2 3 100 5000 0.001\n"), f.Topology); err != nil {
		t.Fatal(err)
	}
	if f.Config, err = ReadConfig("config.txt", []byte(settings)); err != nil {
		return nil, err
	}
	return Prepare(f, scheme)
}

// What a configuration asks for and is not done is named, and wrong values are
// refused; scheme parameters come from the keys.
func TestConfig(t *testing.T) {
	for _, c := range []struct{ settings, scheme, warning, note, err string }{
		{settings: "CC_MODE 1\nRATE_AI 5Mb/s"},
		{settings: "SPEED 9", warning: "config.txt:1: SPEED: unknown key"},
		{settings: "ENABLE_TRACE 1", warning: "config.txt:1: ENABLE_TRACE: 1 is not supported"},
		{settings: "LINK_DOWN 5 0 1", warning: "LINK_DOWN: links do not go down"},
		{settings: "ERROR_RATE_PER_LINK 0.1", warning: "ERROR_RATE_PER_LINK: 0.1 is not supported"},
		{settings: "L2_ACK_INTERVAL 4", warning: "every packet is acknowledged"},
		{settings: "HAS_WIN 1", warning: "HAS_WIN: 1 is not supported: this scheme has no window here"},
		{settings: "RATE_BOUND 0", warning: "RATE_BOUND: 0 is not supported: senders always keep to their rate"},
		{settings: "CC_MODE 7\nRATE_BOUND 0", warning: "config.txt:2: RATE_BOUND: 0 is not supported"},
		{settings: "CC_MODE 7\nHAS_WIN 1", warning: "config.txt:2: HAS_WIN: 1 is not supported"},
		{settings: "CC_MODE 3\nRATE_BOUND 0", warning: "config.txt:2: RATE_BOUND: 0 is not supported"},
		{settings: "CC_MODE 3\nVAR_WIN 0", warning: "config.txt:2: VAR_WIN: 0 is not supported"},
		{settings: "CC_MODE 3\nFAST_REACT 0", warning: "config.txt:2: FAST_REACT: 0 is not supported"},
		{settings: "CC_MODE 3\nGLOBAL_T 0", warning: "config.txt:2: GLOBAL_T: 0 is not supported"},
		{settings: "CC_MODE 3\nMULTI_RATE 1", warning: "config.txt:2: MULTI_RATE: 1 is not supported"},
		{settings: "CC_MODE 3\nSAMPLE_FEEDBACK 1", warning: "config.txt:2: SAMPLE_FEEDBACK: 1 is not supported"},
		{settings: "USE_DYNAMIC_PFC_THRESHOLD 0", warning: "config.txt:1: USE_DYNAMIC_PFC_THRESHOLD: 0 is not"},
		{settings: "L2_BACK_TO_ZERO 1", warning: "config.txt:1: L2_BACK_TO_ZERO: 1 is not supported"},
		{settings: "KMAX_MAP 1 10Gbps 5", err: "config.txt:1: KMAX_MAP: 10Gbps 5: a rate in bit/s and a value"},
		{settings: "KMAX_MAP 1 10000000000 -5",
			err: "config.txt:1: KMAX_MAP: 10000000000 -5: a rate in bit/s and a value"},
		{settings: "CC_MODE 3\nHAS_WIN 0", warning: "config.txt:2: HAS_WIN: 0 is not supported"},
		{settings: "FLOW_FILE mix/other.txt", warning: "FLOW_FILE: mix/other.txt is not read, but flow.txt"},
		{settings: "CC_MODE 8", err: "config.txt:1: CC_MODE 8: DCTCP is not supported; --scheme runs another"},
		{settings: "CC_MODE 4", err: "CC_MODE 4: it is not one of"},
		{settings: "CC_MODE 8\nRATE_AI 5Mb/s", scheme: "pcn", note: "CC_MODE 8 (DCTCP) is overridden: --scheme pcn runs|the parameters of pcn are its recipe's: not used are RATE_AI"},
		{settings: "CC_MODE 1", scheme: "dcqcn", note: "CC_MODE 1 (dcqcn-mlx) is overridden: --scheme dcqcn runs"},
		{settings: "CC_MODE 1", scheme: "dcqcn-mlx"},
		{settings: "\nRATE_AI fast", err: `config.txt:2: RATE_AI: rate "fast"`},
		{settings: "RATE_AI", err: "config.txt:1: RATE_AI: 0 values, where there must be one"},
		{settings: "EWMA_GAIN 7", err: "g 7 must be from 1/16384 to 1"},
		{settings: "BUFFER_SIZE 0", err: `config.txt:1: BUFFER_SIZE: "0": a whole number from 1`},
		{settings: "CC_MODE 1\nCC_MODE 3", err: "config.txt:2: CC_MODE is set in line 1 already"},
		{settings: "KMIN_MAP 2 10000000000 5", err: "config.txt:1: KMIN_MAP: how many, and for each"},
		{settings: "KMIN_MAP 1 25000000000 5", err: "KMIN_MAP: it says nothing of links of 10Gbps, as in topology.txt:3"},
		{settings: "KMIN_MAP 2 10000000000 100 10000000000 200",
			err: "config.txt:1: KMIN_MAP: the rate 10000000000 is there twice"},
		{settings: "CC_MODE 1\nEWMA_GAIN 5", err: "config.txt:2: EWMA_GAIN: scheme dcqcn-mlx: g 5 must be "},
		{settings: "CC_MODE 1\n\nMIN_RATE 900Gbps\nRATE_AI 5Mb/s",
			err: "config.txt:3: MIN_RATE: scheme dcqcn-mlx: min_rate 900Gbps is above the line rate"},
		{settings: "KMIN_MAP 1 10000000000 400\nKMAX_MAP 1 10000000000 100", scheme: "dcqcn",
			err: "config.txt:1: KMIN_MAP: "},
		{settings: "CC_MODE 1\nRP_TIMER 1e17",
			err: "config.txt:2: RP_TIMER: it must be at most 100000000000 microseconds"},
		{settings: "SIMULATOR_STOP_TIME 1e-12",
			err: "config.txt:1: SIMULATOR_STOP_TIME: it must be at least a nanosecond"},
		{settings: "\ufeffCC_MODE 8", err: "config.txt:1: CC_MODE 8: "},
		{settings: "SIMULATOR_STOP_TIME 0", err: "SIMULATOR_STOP_TIME: it must be positive"},
		{settings: "PFC_OUTPUT_FILE fct.txt", err: "PFC_OUTPUT_FILE: another file that is written is called fct.txt, too"},
		{settings: "FCT_OUTPUT_FILE a/qlen.txt",
			err: "config.txt:1: FCT_OUTPUT_FILE: another file that is written is called qlen.txt, too"},
		{settings: "CC_MODE 1\nPFC_OUTPUT_FILE a\nQLEN_MON_FILE a",
			err: "config.txt:3: QLEN_MON_FILE: another file that is written is called a, too"},
		{settings: "FCT_OUTPUT_FILE pfc.txt\nPFC_OUTPUT_FILE fct.txt"},
		{settings: "KMIN_MAP", err: "config.txt:1: KMIN_MAP: how many, and for each"},
		{settings: "KMIN_MAP 0", err: "config.txt:1: KMIN_MAP: how many, and for each"},
	} {
		p, err := prepare(t, c.settings, c.scheme)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %s", c.settings, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.settings, err)
			continue
		}
		if got := strings.Join(p.Warnings, "|"); (got == "") != (c.warning == "") || !strings.Contains(got, c.warning) {
			t.Errorf("%q: warnings %q, want %q", c.settings, got, c.warning)
		}
		if got := strings.Join(p.Notes, "|"); got != c.note {
			t.Errorf("%q: notes %q, want %q", c.settings, got, c.note)
		}
	}
}

// Editors may begin a text with a byte order mark, whatever file it is.
func TestByteOrderMarks(t *testing.T) {
	const mark = "\ufeff"
	top := mustTopology(t, mark+four)
	if !reflect.DeepEqual(top, mustTopology(t, four)) {
		t.Errorf("%+v", top)
	}
	if flows, err := ReadFlows("flow.txt", []byte(mark+"1\n0 2 3 100 5000 0\n"), top); err != nil || len(flows) != 1 {
		t.Errorf("%+v %v", flows, err)
	}
	const line = "0b000001 0b000101 10000 100 1000 1000 6792 7055\n"
	if list, err := ReadFCT("fct.txt", []byte(mark+line)); err != nil || len(list) != 1 {
		t.Errorf("%+v %v", list, err)
	}
	m, err := htsim.Read("a.cm", []byte(mark+"Nodes 2\nConnections 1\n0->1 id 1 start 0 size 1000\n"))
	if err != nil || len(m.Connections) != 1 {
		t.Errorf("%+v %v", m, err)
	}
	if g, err := chakra.ReadGroups("groups.json", []byte(mark+`{"0": [0, 1]}`)); err != nil || len(g["0"]) != 2 {
		t.Errorf("%v %v", g, err)
	}
}

// Where no flow ended there are no slowdowns, and the table says so.
func TestTableOfNoFlows(t *testing.T) {
	some := Summarise([]Finished{{FCT: 20, Standalone: 10}})
	for _, c := range []struct {
		ours, theirs Slowdowns
		want         string
	}{
		{some, Slowdowns{}, `p50 +2\.000`}, {Slowdowns{}, Slowdowns{}, `p50 +none`},
		{some, some, `p50 +2\.000 +2\.000 +1\.000`},
		{Slowdowns{}, some, `p50 +none +2\.000 +none`},
	} {
		var b bytes.Buffer
		row := regexp.MustCompile(`(?m)^` + c.want + ` *$`)
		if err := Table(&b, c.ours, c.theirs); err != nil || !row.Match(b.Bytes()) {
			t.Errorf("%v\n%s, want %s", err, b.String(), c.want)
		}
	}
}

func TestParametersComeFromTheFile(t *testing.T) {
	for settings, want := range map[string]map[string]string{
		"CC_MODE 1\nRATE_AI 5Mb/s\nRATE_HAI 50Mb/s\nMIN_RATE 1Gb/s\nEWMA_GAIN 0.00390625\nALPHA_RESUME_INTERVAL 1\nRATE_DECREASE_INTERVAL 4\nRP_TIMER 300\nFAST_RECOVERY_TIMES 1\nCLAMP_TARGET_RATE 1": {
			"ai": "5Mbps", "hai": "50Mbps", "min_rate": "1Gbps", "g": "0.00390625", "alpha_timer": "1us", "cut_timer": "4us", "rate_timer": "300us", "threshold": "1", "clamp": "yes",
		},
		"CC_MODE 3\nU_TARGET 0.9\nMI_THRESH 2\nRATE_AI 50Mb/s": {
			// 2 x 2 us, and twice the 800 ns of a payload; 50 Mbit/s for that long are 35 bytes.
			"eta": "0.9", "max_stage": "2", "base_rtt": "5.6us", "w_ai": "35B", "slack": "1090/1000",
		},
		"CC_MODE 7\nRATE_AI 10Mb/s\nRATE_HAI 80Mb/s": {"ai": "10Mbps", "hai_times": "80000000/10000000", "per_rtt": "yes", "alpha": "0.875"},
	} {
		p, err := prepare(t, settings, "")
		if err != nil {
			t.Error(err)
			continue
		}
		for name, v := range want {
			if got := p.Use.Params[name].Value.V; got != v {
				t.Errorf("%s: %s, want %s", name, got, v)
			}
		}
	}
	p, err := prepare(t, "KMIN_MAP 1 10000000000 40\nKMAX_MAP 1 10000000000 160\nPMAX_MAP 1 10000000000 0.2", "dcqcn")
	if err != nil {
		t.Fatal(err)
	}
	m := p.Use.ByRate[10*units.Gbps]
	if m["kmin"].Value.V != "40KB" || m["kmax"].Value.V != "160KB" || m["pmax"].Value.V != "0.2" {
		t.Errorf("%+v", m)
	}
}

// The file's thresholds go to a scheme that has some of them, and a note says which it has not: a scheme of one's own
// may mark from one length of the queue on.
func TestThresholdsThatASchemeHas(t *testing.T) {
	const thresholds = "KMIN_MAP 1 10000000000 40\nKMAX_MAP 1 10000000000 160\nPMAX_MAP 1 10000000000 0.2"
	for _, c := range []struct {
		has  []string
		want map[string]string
		note string
	}{
		{[]string{"kmin", "kmax", "pmax"}, map[string]string{"kmin": "40KB", "kmax": "160KB", "pmax": "0.2"}, ""},
		{[]string{"step", "kmin"}, map[string]string{"kmin": "40KB"}, "KMAX_MAP, PMAX_MAP"},
		{[]string{"kmax"}, map[string]string{"kmax": "160KB"}, "KMIN_MAP, PMAX_MAP"},
		{nil, nil, "KMIN_MAP, KMAX_MAP, PMAX_MAP"},
	} {
		p, err := prepare(t, thresholds, "pcn")
		if err != nil {
			t.Fatal(err)
		}
		if want := "not used are KMIN_MAP, KMAX_MAP, PMAX_MAP"; !strings.Contains(strings.Join(p.Notes, "\n"), want) {
			t.Errorf("pcn: %q", p.Notes)
		}
		recipe := &scheme.Scheme{}
		for _, name := range c.has {
			recipe.Params = append(recipe.Params, scheme.Param{Name: name})
		}
		p.Use.ByRate = nil
		lacks := strings.Join(p.marking(recipe), ", ")
		got := map[string]string{}
		for name, v := range p.Use.ByRate[10*units.Gbps] {
			got[name] = v.Value.V
		}
		if lacks != c.note || !maps.Equal(got, c.want) {
			t.Errorf("a scheme with %v: it gets %v, and not %s", c.has, got, lacks)
		}
	}
}

// An incast into one host of a switch with little buffer: pauses and resumptions
// alternate at every interface that names them, nothing is lost, and every look
// at the queues is counted.
func TestPausesAndQueues(t *testing.T) {
	const senders = 12
	var top, flows bytes.Buffer
	fmt.Fprintf(&top, "%d 1 %d\n%d\n", senders+2, senders+1, senders+1)
	for i := range senders + 1 {
		fmt.Fprintf(&top, "%d %d 100Gbps 1us 0\n", i, senders+1)
	}
	fmt.Fprintln(&flows, senders)
	for i := range senders {
		fmt.Fprintf(&flows, "%d %d 3 100 2000000 0.000100000\n", i, senders)
	}
	f := Files{Topology: mustTopology(t, top.String()), FlowFile: "flow.txt"}
	var err error
	if f.Flows, err = ReadFlows("flow.txt", flows.Bytes(), f.Topology); err != nil {
		t.Fatal(err)
	}
	if f.Config, err = ReadConfig("config.txt", []byte("BUFFER_SIZE 2\nQLEN_MON_FILE mix/queues.txt\nQLEN_MON_START 0\nQLEN_MON_END 1000000\nSIMULATOR_STOP_TIME 0.01")); err != nil {
		t.Fatal(err)
	}
	p, err := Prepare(f, "none")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	r, err := p.Run(t.Context(), run.Options{World: "sim"}, out)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Finished) != senders || r.Pauses == 0 {
		t.Fatalf("%d flows ended, %d pauses", len(r.Finished), r.Pauses)
	}
	b, _ := os.ReadFile(filepath.Join(out, "pfc.txt"))
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	is := regexp.MustCompile(`^[0-9]+ ([0-9]+) 0 1 ([01])$`) // hosts are paused, at their only interface
	paused := map[string]string{}
	for _, l := range lines {
		m := is.FindStringSubmatch(l)
		if m == nil || paused[m[1]] == m[2] || paused[m[1]] == "" && m[2] == "0" {
			t.Fatalf("%q after %v", l, paused)
		}
		paused[m[1]] = m[2]
	}
	if len(lines) != r.Pauses || len(paused) != senders {
		t.Errorf("%d lines of %d hosts, want %d of %d", len(lines), len(paused), r.Pauses, senders)
	}
	b, _ = os.ReadFile(filepath.Join(out, "queues.txt"))
	lines = strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != senders+2 || lines[0] != "time: 1000000" {
		t.Fatalf("%q", lines[0])
	}
	for i, l := range lines[1:] {
		var node, port, sum, n int
		words := strings.Fields(l)
		fmt.Sscan(words[0], &node)
		fmt.Sscan(words[1], &port)
		for _, w := range words[2:] {
			fmt.Sscan(w, &n)
			sum += n
		}
		if node != senders+1 || port != i+1 || sum != 10_000 {
			t.Errorf("port %d of %d: %d looks, want 10000", port, node, sum)
		}
	}
	if n := len(strings.Fields(lines[senders+1])); n < 500 {
		t.Errorf("the longest queue was %d KB", n-3)
	}
}

// Every key of the reference runs is in the documentation, and so are those that
// are asked for.
func TestKeysAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/hpcc-files.md")
	if err != nil {
		t.Fatal(err)
	}
	p, err := prepare(t, "SIMULATOR_STOP_TIME 1", "")
	if err != nil {
		t.Fatal(err)
	}
	asked := maps.Clone(p.Config.asked)
	for _, scheme := range []string{"dcqcn", "timely", "hpcc"} {
		if p, err = Prepare(read(t, "ls64", scheme), ""); err != nil {
			t.Fatal(err)
		}
		maps.Copy(asked, p.Config.asked)
	}
	for key := range asked {
		if !bytes.Contains(page, []byte("`"+key+"`")) {
			t.Errorf("%s is not in docs/hpcc-files.md", key)
		}
	}
	for _, m := range regexp.MustCompile("`([A-Z][A-Z0-9_]{5,})`").FindAllSubmatch(page, -1) {
		if !asked[string(m[1])] {
			t.Errorf("docs/hpcc-files.md has %s, which nobody asks for", m[1])
		}
	}
}

func TestReadFCTRefuses(t *testing.T) {
	for _, text := range []string{
		"0b000201 0b000401 10000 100 1000 2000000000 31062", "x", "0b000201 0b000401 10000 100 1000 2000000000 31062 0",
		"0b000201 0b000401 10000 100 1000 2000000000 -31062 100",
		"0b000201 0b000401 10000 100 -1000 2000000000 31062 100",
		"0b000201 0b000401 10000 100 0 2000000000 31062 100", "0b000201 0b000401 10000 100 1000 -1 31062 100",
		"0b000201 0b000401 10000 100 1000 2000000000 0 100", "0b000201 0b000401 10000 100 1000 0 5+4000",
		"0b000201+0b000401 10000 100 1000 0 5 4000",
	} {
		if _, err := ReadFCT("fct.txt", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "fct.txt:1: ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzReadTopology(f *testing.F) {
	f.Add([]byte(four))
	f.Add([]byte("2 0 1\n\n0 1 25Gbps 5000ns 0\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<12 {
			return
		}
		top, err := ReadTopology("t", b)
		if err != nil {
			return
		}
		if len(top.hosts()) > 1 && len(top.Switch) < 100 {
			_ = top.longestRTT(1000)
			_ = newStandalone(top, 1000).time(top.hosts()[0], top.hosts()[1], 1<<40)
		}
	})
}

func FuzzReadFlows(f *testing.F) {
	f.Add([]byte("2\n0 2 3 100 5000 0.000000001\n1 2 3 100 1 1e-3\n"))
	top := mustTopology(f, four)
	f.Fuzz(func(t *testing.T, b []byte) {
		flows, err := ReadFlows("f", b, top)
		for i := range flows {
			if err == nil && (flows[i].Size < 1 || flows[i].Start < 0 || top.Switch[flows[i].From] || top.Switch[flows[i].To]) {
				t.Fatalf("%+v", flows[i])
			}
		}
	})
}

func FuzzConfig(f *testing.F) {
	for _, name := range []string{"ls64/config_dcqcn.txt", "ls64/config_hpcc.txt", "ls64/config_timely.txt"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := prepare(t, string(b), "")
		if err == nil && p.Use.Name.V == "" {
			t.Fatal("no scheme")
		}
	})
}

func FuzzReadFCT(f *testing.F) {
	f.Add([]byte("0b000001 0b000101 10000 100 1000 0 5000 4000\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		list, err := ReadFCT("fct", b)
		for i := range list {
			f := &list[i]
			if err == nil && (f.Standalone <= 0 || f.FCT <= 0 || f.Size < 1 || f.Slowdown() < 1) {
				t.Fatalf("%+v", list[i])
			}
		}
	})
}

// A run that does not end leaves the results of an earlier one in its folder, whole.
func TestUnfinishedRunKeepsResults(t *testing.T) {
	top := mustTopology(t, four)
	flows, err := ReadFlows("flow.txt", []byte("1\n0 2 3 100 2000000 0\n"), top)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Prepare(Files{Topology: top, FlowFile: "flow.txt", Flows: flows}, "none")
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	if _, err := p.Run(t.Context(), run.Options{World: "sim"}, out); err != nil {
		t.Fatal(err)
	}
	files := func() map[string]string {
		list, err := os.ReadDir(out)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, f := range list {
			b, err := os.ReadFile(filepath.Join(out, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			found[f.Name()] = string(b)
		}
		return found
	}
	before := files()
	if len(before) != 3 || before[p.FCT] == "" {
		t.Fatalf("results of a run: %v", before)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := p.Run(ctx, run.Options{World: "sim"}, out); err == nil {
		t.Fatal("a run that was stopped has results")
	}
	if after := files(); !maps.Equal(before, after) {
		t.Errorf("a run that was stopped left %v of %v", after, before)
	}
}

// Rates and times are what ns-3 takes them for.
func TestUnitsOfNS3(t *testing.T) {
	for text, want := range map[string]units.Rate{
		"10Gbps": 10 * units.Gbps, "10Gb/s": 10 * units.Gbps, "10000000000": 10 * units.Gbps, "1e10bps": 10 * units.Gbps,
		"1.25GB/s": 10 * units.Gbps, "1250MBps": 10 * units.Gbps, "10000000kb/s": 10 * units.Gbps, "1Gib/s": 1 << 30,
		"1MiB/s": 8 << 20, "10": 0, "10gbps": 0, "10Gb": 0, "10GBits": 0, "-1Gbps": 0, "e": 0, "1e30Gbps": 0, "": 0, "NaNGbps": 0,
	} {
		got, err := parseRate(text)
		if (err != nil) != (want == 0) || want != 0 && got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]units.Time{
		"1us": units.Microsecond, "1e-3ms": units.Microsecond, "0.000001": units.Microsecond, "1e-6s": units.Microsecond,
		"+1us": units.Microsecond, "0": 0, "1000ns": units.Microsecond, "1parsec": -1, "1e30s": -1, "x": -1, "": -1, "infs": -1,
	} {
		got, err := parseTime(text)
		if (err != nil) != (want < 0) || want >= 0 && got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

// A flow between hosts that no way joins is refused with its line. Hosts do not forward.
func TestFlowsHaveAWay(t *testing.T) {
	top := mustTopology(t, "7 2 5\n5 6\n0 5 1Gbps 1us 0\n1 5 1Gbps 1us 0\n2 6 1Gbps 1us 0\n2 3 1Gbps 1us 0\n3 4 1Gbps 1us 0\n")
	for _, c := range []struct {
		from, to int
		ok       bool
	}{{0, 1, true}, {1, 0, true}, {2, 3, true}, {4, 3, true}, {0, 2, false}, {2, 4, false}, {3, 0, false}} {
		_, err := ReadFlows("flow.txt", fmt.Appendf(nil, "2\n0 1 3 100 1000 0\n%d %d 3 100 1000 0\n", c.from, c.to), top)
		want := fmt.Sprintf("flow.txt:3: nothing in topology.txt leads from host %d to host %d", c.from, c.to)
		if (err == nil) != c.ok || err != nil && err.Error() != want {
			t.Errorf("%d to %d: %v", c.from, c.to, err)
		}
	}
}

// Priority groups are those of flow.txt in whatever order they come: all are lossless, and acknowledgements are of the
// lowest, as the warning says.
func TestPriorityGroupsInAnyOrder(t *testing.T) {
	f := Files{Topology: mustTopology(t, four), FlowFile: "flow.txt"}
	var err error
	list := []byte("3\n0 2 5 100 5000 0.001\n1 2 2 100 5000 0.001\n1 2 4 100 5000 0.002\n")
	if f.Flows, err = ReadFlows("flow.txt", list, f.Topology); err != nil {
		t.Fatal(err)
	}
	if f.Config, err = ReadConfig("config.txt", []byte("CC_MODE 1")); err != nil {
		t.Fatal(err)
	}
	p, err := Prepare(f, "")
	if err != nil {
		t.Fatal(err)
	}
	q := &p.Experiment.Parameters
	if q.Priority.Value.V != 2 || q.AckPriority.Value.V != 2 || !slices.Equal(q.Lossless.Value.V, []int{2, 4, 5}) {
		t.Errorf("data %d, acknowledgements %d, lossless %v", q.Priority.Value.V, q.AckPriority.Value.V, q.Lossless.Value.V)
	}
	const want = "priority groups [2 4 5]: a higher one goes first here, there they take turns; acknowledgements are of group 2"
	if !slices.Contains(p.Warnings, want) {
		t.Errorf("%q", p.Warnings)
	}
}
