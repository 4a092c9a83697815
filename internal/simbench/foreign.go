package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"photon/lab/workload"
	"photon/units"
)

// Files of the HPCC simulator as strangers bring them, each a folder with topology.txt,
// flow.txt and config.txt: `photon run` reads them.

// foreign are such files.
type foreign struct {
	name                   string
	topology, flow, config func() ([]byte, error)
	ns3                    float64 // packet-hops per second that ns-3 makes of such files, with one thread; 0: not known
}

func embedded(name string) func() ([]byte, error) {
	return func() ([]byte, error) { return files.ReadFile("leafspine64/" + name) }
}

// foreignFiles are a leaf-spine network with flows for ten times as long, so that what a start takes does
// not count, three-tier fat trees, and an incast; `simbench -files FOLDER` writes them.
var foreignFiles = []foreign{
	{"leafspine64", embedded("topology.txt"), leafFlows, configOf(nil), 0.50e6},
	{"fattree320-dcqcn", fatTree, fatTreeFlows, fatTreeConfig("1"), 0.22e6},
	{"fattree320-hpcc", fatTree, fatTreeFlows, fatTreeConfig("3"), 0.20e6},
	{"incast128", star, incastFlows, fatTreeConfig("1"), 0},
}

// everyScheme are the files that ns-3 was run on, with which all schemes are compared.
var everyScheme = foreign{"leafspine64-10ms", embedded("topology.txt"), embedded("flow.txt"), configOf(nil), 0}

// leafFlows are as those of leafspine64, for ten times as long: 64 hosts at 25 Gbit/s.
func leafFlows() ([]byte, error) {
	return webSearch(64, 25*units.Gbps, 100*units.Millisecond)
}

// configOf is that of leafspine64 with a time for all flows to end, and other values of some keys.
func configOf(set map[string]string) func() ([]byte, error) {
	return func() ([]byte, error) {
		b, err := files.ReadFile("leafspine64/config.txt")
		if err != nil {
			return nil, err
		}
		values := map[string]string{"SIMULATOR_STOP_TIME": "2.2"}
		for key, value := range set {
			values[key] = value
		}
		var out bytes.Buffer
		for l := range strings.Lines(string(b)) {
			key, _, _ := strings.Cut(l, " ")
			if value, ok := values[key]; ok {
				l = key + " " + value + "\n"
			}
			out.WriteString(l)
		}
		return out.Bytes(), nil
	}
}

// The fat tree: pods of switches, each with all of whose aggregation switches its ToRs are linked. The
// aggregation switches that have the same place in their pods share four cores.
const (
	fatPods  = 5
	fatInPod = 4 // ToRs, and aggregation switches
	fatHosts = 16
	fatCores = 16
	fatRate  = 100 * units.Gbps // of hosts
	fatSpan  = 2200 * units.Microsecond
)

const fatAll = fatPods * fatInPod * fatHosts

func fatTree() ([]byte, error) {
	const tors = fatPods * fatInPod
	tor, aggregation, core := fatAll, fatAll+tors, fatAll+2*tors
	var links bytes.Buffer
	count := 0
	link := func(a, b, gbps int) {
		count++
		fmt.Fprintf(&links, "%d %d %dGbps 1000ns 0\n", a, b, gbps)
	}
	for h := range fatAll {
		link(h, tor+h/fatHosts, 100)
	}
	for p := range fatPods {
		for t := range fatInPod {
			for a := range fatInPod {
				link(tor+p*fatInPod+t, aggregation+p*fatInPod+a, 400)
			}
		}
		for a := range fatInPod {
			for c := range fatCores / fatInPod {
				link(aggregation+p*fatInPod+a, core+a*fatCores/fatInPod+c, 400)
			}
		}
	}
	var out bytes.Buffer
	switches := 2*tors + fatCores
	fmt.Fprintln(&out, fatAll+switches, switches, count)
	for s := range switches {
		fmt.Fprint(&out, fatAll+s, " ")
	}
	fmt.Fprintln(&out)
	out.Write(links.Bytes())
	return out.Bytes(), nil
}

func fatTreeFlows() ([]byte, error) { return webSearch(fatAll, fatRate, fatSpan) }

// webSearch are flows of that workload between some hosts, at half the rate of their links for a time.
func webSearch(n int, rate units.Rate, span units.Time) ([]byte, error) {
	sizes, err := workload.Named("websearch")
	if err != nil {
		return nil, err
	}
	hosts := make([]int, n)
	for i := range hosts {
		hosts[i] = i
	}
	p := workload.Poisson{Sizes: sizes, Load: 0.5, Rate: units.Rate(n) * rate, From: hosts, To: hosts, End: span}
	list, err := p.Generate(1)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintln(&out, len(list))
	for _, a := range list {
		fmt.Fprintf(&out, "%d %d 3 100 %d %.9f\n", a.From, a.To, a.Size, 2+a.At.Seconds())
	}
	return out.Bytes(), nil
}

// fatTreeConfig has thresholds of ECN for the rates of the fat tree, in kilobytes, and 32 MB in a switch.
func fatTreeConfig(mode string) func() ([]byte, error) {
	set := map[string]string{
		"CC_MODE": mode, "BUFFER_SIZE": "32",
		"KMAX_MAP": "2 100000000000 1600 400000000000 6400", "KMIN_MAP": "2 100000000000 400 400000000000 1600", "PMAX_MAP": "2 100000000000 0.2 400000000000 0.2",
	}
	if mode == "3" {
		for key, value := range map[string]string{"HAS_WIN": "1", "VAR_WIN": "1", "FAST_REACT": "1", "RATE_AI": "50Mb/s", "RATE_HAI": "50Mb/s"} {
			set[key] = value
		}
	}
	return configOf(set)
}

// The incast: hosts of one switch that send to one more at once.
const (
	incastSenders = 128
	incastSize    = 10_000_000 // bytes of each
)

func star() ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%d 1 %d\n%d\n", incastSenders+2, incastSenders+1, incastSenders+1)
	for h := range incastSenders + 1 {
		fmt.Fprintf(&out, "%d %d 100Gbps 1000ns 0\n", h, incastSenders+1)
	}
	return out.Bytes(), nil
}

func incastFlows() ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintln(&out, incastSenders)
	for h := range incastSenders {
		fmt.Fprintf(&out, "%d %d 3 100 %d 2.0\n", h, incastSenders, incastSize)
	}
	return out.Bytes(), nil
}

// write writes the files to a folder of their name in one that is given, and returns that.
func (f *foreign) write(folder string) (string, error) {
	to := filepath.Join(folder, f.name)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return "", err
	}
	for name, made := range map[string]func() ([]byte, error){"topology.txt": f.topology, "flow.txt": f.flow, "config.txt": f.config} {
		b, err := made()
		if err != nil {
			return "", fmt.Errorf("%s: %s: %w", f.name, name, err)
		}
		if err := os.WriteFile(filepath.Join(to, name), b, 0o644); err != nil {
			return "", err
		}
	}
	return to, nil
}
