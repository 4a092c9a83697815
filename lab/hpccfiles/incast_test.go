package hpccfiles

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"photon/lab/run"
)

// Many send to one, and thresholds follow what is free of the buffer: the pool empties while others hold
// their XOFFs, and nothing is lost. Flows end whole, whatever the scheme.
func TestIncastLosesNothing(t *testing.T) {
	ls64 := read(t, "ls64", "dcqcn")
	ls64.Flows = incast(t, ls64.Topology, 48, 200_000)
	for name, files := range map[string]Files{"leaf-spine of 64": ls64, "fat tree of 320": fatTree(t)} {
		for _, scheme := range []string{"none", "dcqcn-mlx", "pcn", "timely", "hpcc", "pacc"} {
			t.Run(name+" "+scheme, func(t *testing.T) {
				p, err := Prepare(files, scheme) // which notes what is asked of the files: one after the other
				if err != nil {
					t.Fatal(err)
				}
				t.Parallel()
				if a := p.Experiment.Parameters.Alpha.Value.V; a <= 0 {
					t.Errorf("alpha is %v: the thresholds stand still", a)
				}
				folder := t.TempDir()
				r, err := p.Run(t.Context(), run.Options{World: "sim"}, folder)
				if err != nil {
					t.Fatal(err)
				}
				if len(r.Finished) != len(files.Flows) {
					t.Errorf("%d of %d flows have ended", len(r.Finished), len(files.Flows))
				}
				if r.Pauses == 0 && scheme == "none" {
					t.Error("nobody was paused: it was no incast")
				}
				if paths, _ := filepath.Glob(filepath.Join(folder, "fct.txt")); len(paths) != 1 {
					t.Error("there is no fct.txt")
				}
			})
		}
	}
}

// incast is the same for all: so many hosts, those of all leaves in turn, send to the last at once.
func incast(t *testing.T, topology *Topology, senders, size int) []Flow {
	t.Helper()
	hosts := topology.hosts()
	var b strings.Builder
	_, _ = fmt.Fprintln(&b, senders)
	for i := range senders {
		from := hosts[i*17%(len(hosts)-1)]
		_, _ = fmt.Fprintln(&b, from, hosts[len(hosts)-1], 3, 100, size, 2)
	}
	flows, err := ReadFlows("flow.txt", []byte(b.String()), topology)
	if err != nil {
		t.Fatal(err)
	}
	return flows
}

// fatTree is three tiers: 20 ToRs of 16 hosts each at 100 Gbit/s, 4 to a pod, 4 leaves in a pod, and 16
// spines, of which each leaf reaches four, at 400 Gbit/s.
func fatTree(t *testing.T) Files {
	t.Helper()
	const hosts, tors, leaves, spines = 320, 20, 20, 16
	tor, leaf, spine := hosts, hosts+tors, hosts+tors+leaves
	var links, names []string
	link := func(a, b int, rate string) { links = append(links, fmt.Sprintln(a, b, rate, "1000ns", 0)) }
	for h := range hosts {
		link(h, tor+h/16, "100Gbps")
	}
	for i := range tors {
		for k := range 4 {
			link(tor+i, leaf+i/4*4+k, "400Gbps")
		}
	}
	for i := range leaves {
		for k := range 4 {
			link(leaf+i, spine+i%4*4+k, "400Gbps")
		}
	}
	for i := tor; i < spine+spines; i++ {
		names = append(names, fmt.Sprint(i))
	}
	text := fmt.Sprintln(spine+spines, len(names), len(links)) + strings.Join(names, " ") + "\n" + strings.Join(links, "")
	f := Files{FlowFile: "flow.txt"}
	var err error
	if f.Topology, err = ReadTopology("topology.txt", []byte(text)); err != nil {
		t.Fatal(err)
	}
	f.Flows = incast(t, f.Topology, 128, 200_000)
	const config = `PACKET_PAYLOAD_SIZE 1000
USE_DYNAMIC_PFC_THRESHOLD 1
SIMULATOR_STOP_TIME 2.1
BUFFER_SIZE 32
KMAX_MAP 2 100000000000 400 400000000000 1600
KMIN_MAP 2 100000000000 100 400000000000 400
PMAX_MAP 2 100000000000 0.2 400000000000 0.2
`
	if f.Config, err = ReadConfig("config.txt", []byte(config)); err != nil {
		t.Fatal(err)
	}
	return f
}
