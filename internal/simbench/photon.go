package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"photon/internal/table"
	"photon/lab/hpccfiles"
	"photon/lab/stat"
	"photon/scheme"
)

// What `photon run` takes on files, as a user types it: from its start to its end, files included.

// typed is one such command.
type typed struct {
	files  *foreign // nil: it runs largeName
	scheme string   // "": as the config says
	cores  int
	ns3    float64 // packet-hops per second of ns-3 on such files; 0: not known
}

// name is what the result file calls it.
func (t *typed) name() string {
	if t.files == nil {
		return largeName
	}
	if t.scheme != "" {
		return t.files.name + "/" + t.scheme
	}
	return t.files.name
}

// largeName is an experiment of 10 000 hosts and 13 million flows, which takes minutes and gigabytes: it runs only if
// it is named.
const largeName = "clos10000"

// large are the commands that run it.
var large = []typed{{cores: 1}, {cores: 2}}

// writeLarge writes it to a folder.
func writeLarge(folder string) error {
	b, err := files.ReadFile(largeName + ".yaml")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, largeName+".yaml"), b, 0o644)
}

// commands are all others: the files on one core and on two, and one of them under every scheme.
func commands() (list []typed) {
	for i := range foreignFiles {
		f := &foreignFiles[i]
		for cores := 1; cores <= 2; cores++ {
			list = append(list, typed{files: f, cores: cores, ns3: f.ns3})
		}
	}
	for _, name := range scheme.Names() {
		list = append(list, typed{files: &everyScheme, scheme: name, cores: 1})
	}
	return list
}

// ran is what a command took, and a row of the result file: rates are by the wall.
type ran struct {
	Name  string  `json:"name"`
	Ack   string  `json:"ack"`
	Cores int     `json:"cores"`
	Rate  float64 `json:"packet_hops_per_second"`
	Hops  uint64  `json:"packet_hops"` // of flows that ended, or all
	Wall  float64 `json:"wall_seconds"`
	CPU   float64 `json:"cpu_seconds"`
	RSS   int64   `json:"rss_bytes"`
	Loop  float64 `json:"loop_packet_hops_per_second"` // of the bare loop just before
	XNS3  float64 `json:"x_ns3,omitempty"`             // the rate by ns-3's, if the loop made what it made there

	// Of ns-3 in the same turn, if it was run.
	NS3Wall   float64 `json:"ns3_wall_seconds,omitempty"`
	NS3RSS    int64   `json:"ns3_rss_bytes,omitempty"`
	XNS3Here  float64 `json:"x_ns3_here,omitempty"`       // its seconds by ours
	XNS3Least float64 `json:"x_ns3_here_least,omitempty"` // of the turns
	XNS3Most  float64 `json:"x_ns3_here_most,omitempty"`
}

// timesNS3 is how many times as fast as ns-3 it was, if the machine were that of ns-3; 0: not known.
func (r *ran) timesNS3(ns3 float64) float64 {
	if ns3 == 0 || r.Loop == 0 {
		return 0
	}
	return r.Rate / ns3 * bareThere / r.Loop
}

// run has photon run the files in a folder.
func (t *typed) run(photon, folder string) (r ran, err error) {
	loop, err := together([]step{bare}, nil)
	if err != nil {
		return r, err
	}
	out := filepath.Join(folder, "out")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return r, err
	}
	cmd := exec.Command(photon, t.arguments(folder, out)...)
	begin := time.Now()
	text, err := cmd.CombinedOutput()
	wall := time.Since(begin)
	if err != nil {
		return r, fmt.Errorf("%s: %w: %s", cmd, err, text)
	}
	hops, err := t.hops(folder, out)
	if err != nil {
		return r, err
	}
	r = ran{
		Name: t.name(), Ack: perWhat(t.files != nil), Cores: t.cores, Hops: hops, Wall: wall.Seconds(),
		Rate: float64(hops) / wall.Seconds(), Loop: loop[0].rate(),
		CPU: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
	}
	if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.RSS = use.Maxrss << 10
	}
	r.XNS3 = r.timesNS3(t.ns3)
	return r, nil
}

// arguments are those of photon, for what is in a folder.
func (t *typed) arguments(folder, out string) []string {
	if t.files == nil {
		return []string{"run", filepath.Join(folder, largeName+".yaml"), "--cores", fmt.Sprint(t.cores), "--out", out}
	}
	at := func(name string) string { return filepath.Join(folder, t.files.name, name) }
	list := []string{
		"run", "--topology", at("topology.txt"), "--flows", at("flow.txt"), "--config", at("config.txt"),
		"--cores", fmt.Sprint(t.cores), "--out", out,
	}
	if t.scheme != "" {
		list = append(list, "--scheme", t.scheme)
	}
	return list
}

// hops are the packet-hops of a command that has ended.
func (t *typed) hops(folder, out string) (uint64, error) {
	if t.files != nil {
		return hopsOf(filepath.Join(folder, t.files.name, "topology.txt"), filepath.Join(out, "fct.txt"))
	}
	b, err := os.ReadFile(filepath.Join(out, "bench-"+largeName, "sim", "result.json"))
	if err != nil {
		return 0, err
	}
	var result struct {
		Runs []struct {
			Hops uint64 `json:"packet_hops"`
		}
	}
	if err := json.Unmarshal(b, &result); err != nil {
		return 0, err
	}
	if n := len(result.Runs); n != 1 {
		return 0, fmt.Errorf("%d runs of %s", n, largeName)
	}
	return result.Runs[0].Hops, nil
}

// hopsOf is how many packets the flows of an fct.txt had, each times the links of its shortest way. Packets have
// 1000 bytes, and host n the address 11.n/256.n%256.1.
func hopsOf(topology, fct string) (hops uint64, err error) {
	b, err := os.ReadFile(topology)
	if err != nil {
		return 0, err
	}
	t, err := hpccfiles.ReadTopology(topology, b)
	if err != nil {
		return 0, err
	}
	next := make([][]int, len(t.Switch))
	for _, l := range t.Links {
		next[l.A], next[l.B] = append(next[l.A], l.B), append(next[l.B], l.A)
	}
	far := map[int][]int{}
	b, err = os.ReadFile(fct)
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		var size uint64
		from, fromErr := host(words, 0)
		to, toErr := host(words, 1)
		if fromErr != nil || toErr != nil || len(words) < 5 {
			return 0, fmt.Errorf("%s: %q is not a flow", fct, lines.Text())
		}
		if _, err := fmt.Sscan(words[4], &size); err != nil {
			return 0, fmt.Errorf("%s: %q: %w", fct, lines.Text(), err)
		}
		if far[from] == nil {
			far[from] = links(next, from)
		}
		hops += (size + 999) / 1000 * uint64(far[from][to])
	}
	return hops, nil
}

// host is the number of the host whose address is a word of a line, in hexadecimal.
func host(words []string, i int) (int, error) {
	if i >= len(words) {
		return 0, io.ErrUnexpectedEOF
	}
	b, err := hex.DecodeString(fmt.Sprintf("%08s", words[i]))
	if err != nil || len(b) != 4 {
		return 0, fmt.Errorf("%q is not an address", words[i])
	}
	return int(binary.BigEndian.Uint16(b[1:3])), nil
}

// links is how many links there are from one node to each other.
func links(next [][]int, from int) []int {
	far := make([]int, len(next))
	for i := range far {
		far[i] = -1
	}
	far[from] = 0
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, n := range next[queue[0]] {
			if far[n] < 0 {
				far[n] = far[queue[0]] + 1
				queue = append(queue, n)
			}
		}
	}
	return far
}

// typedRuns takes all commands in turns, and returns the medians of each. If there is a program of ns-3, it runs the
// files of those of which its rate is known, before them.
func typedRuns(photon, ns3 string, list []typed, turns int) (rows []ran, err error) {
	folder, err := os.MkdirTemp("", "bench-sim")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	written := map[string]bool{}
	for _, t := range list {
		if t.files == nil {
			if err := writeLarge(folder); err != nil {
				return nil, err
			}
			continue
		}
		if !written[t.files.name] {
			if _, err := t.files.write(folder); err != nil {
				return nil, err
			}
			written[t.files.name] = true
		}
	}
	all := make([][]ran, len(list))
	for range turns {
		peers := map[string]peer{}
		for i := range list {
			t := &list[i]
			other := ns3 != "" && t.ns3 != 0
			if _, has := peers[t.name()]; other && !has {
				if peers[t.name()], err = t.files.runNS3(ns3, folder); err != nil {
					return nil, err
				}
			}
			r, err := t.run(photon, folder)
			if err != nil {
				return nil, err
			}
			if other {
				flows, err := flowsOf(filepath.Join(folder, "out", "fct.txt"))
				if err != nil {
					return nil, err
				}
				if err := r.beside(peers[t.name()], flows); err != nil {
					return nil, err
				}
			}
			all[i] = append(all[i], r)
		}
	}
	for i := range all {
		rows = append(rows, medians(all[i]))
	}
	return rows, nil
}

// medians are those of each figure. Ratios are those of each run for itself.
func medians(runs []ran) ran {
	r := runs[0]
	of := func(value func(*ran) float64) float64 {
		var v []float64
		for i := range runs {
			v = append(v, value(&runs[i]))
		}
		return stat.Median(v)
	}
	r.Rate, r.Wall, r.CPU = of(func(r *ran) float64 { return r.Rate }), of(func(r *ran) float64 { return r.Wall }), of(func(r *ran) float64 { return r.CPU })
	r.Loop, r.XNS3 = of(func(r *ran) float64 { return r.Loop }), of(func(r *ran) float64 { return r.XNS3 })
	r.RSS = int64(of(func(r *ran) float64 { return float64(r.RSS) }))
	here := func(r *ran) float64 { return r.XNS3Here }
	r.NS3Wall, r.XNS3Here = of(func(r *ran) float64 { return r.NS3Wall }), of(here)
	r.NS3RSS = int64(of(func(r *ran) float64 { return float64(r.NS3RSS) }))
	r.XNS3Least, r.XNS3Most = here(&runs[0]), here(&runs[0])
	for i := range runs {
		r.XNS3Least, r.XNS3Most = min(r.XNS3Least, here(&runs[i])), max(r.XNS3Most, here(&runs[i]))
	}
	return r
}

// printRuns prints what `photon run` took.
func printRuns(w io.Writer, rows []ran) error {
	fmt.Fprintf(w, "\nphoton run, from its start to its end:\n")
	t := table.New(1, "files", "acknowledgement per", "cores", "Mhops/s (wall)", "wall s", "CPU s", "RSS MB",
		"x ns-3, scaled", "x ns-3 here", "its wall s", "its RSS MB")
	for i := range rows {
		r := &rows[i]
		by, here, wall, rss := "–", "–", "–", "–"
		if r.XNS3 > 0 {
			by = fmt.Sprintf("%.1f", r.XNS3)
		}
		if r.NS3Wall > 0 {
			here = fmt.Sprintf("%.1f (%.1f to %.1f)", r.XNS3Here, r.XNS3Least, r.XNS3Most)
			wall, rss = fmt.Sprintf("%.1f", r.NS3Wall), fmt.Sprintf("%.1f", float64(r.NS3RSS)/1e6)
		}
		t.Row(r.Name, r.Ack, r.Cores, fmt.Sprintf("%.2f", r.Rate/1e6), fmt.Sprintf("%.2f", r.Wall),
			fmt.Sprintf("%.2f", r.CPU), fmt.Sprintf("%.1f", float64(r.RSS)/1e6), by, here, wall, rss)
	}
	if err := t.Print(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w,
		"scaled: as if a loop of bare events, which ran before each, made %.1f million hops per second\n", bareThere/1e6)
	return err
}
