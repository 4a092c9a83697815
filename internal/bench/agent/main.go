package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"photon/internal/gobench"
	"photon/internal/table"
	"photon/ratelimit"
	"photon/units"
)

// report is out/bench-agent.json.
type report struct {
	Slot    float64     `json:"wheel_slot_ns"`
	Horizon float64     `json:"wheel_horizon_s"`
	Pacing  []*pacing   `json:"pacing"`
	Flat    flat        `json:"flat"`
	Tables  []tableLine `json:"tables"`
}

// flat says whether costs depend on the number of flows: the largest by the
// smallest from 100 flows on.
type flat struct {
	PerFrame float64 `json:"ns_per_frame_ratio"`
	Bytes    float64 `json:"bytes_per_flow_ratio"`
}

func main() {
	counts := flag.String("flows", "10,100,1000,10000,100000", "`numbers` of flows")
	entries := flag.String("entries", "1000,10000,100000,1000000", "`sizes` of flow tables")
	frames := flag.Int("frames", 2_000_000, "frames of each `measurement`, or two of each flow if that is more")
	turns := flag.Int("turns", 11, "`turns` in which costs are measured")
	wall := flag.Duration("wall", 2*time.Second, "`length` of the measurement by the machine's clock")
	quick := flag.Bool("quick", false, "a tenth of everything")
	out := flag.String("out", "out/bench-agent.json", "result `file`")
	profile := flag.String("cpuprofile", "", "write a profile to this `file`")
	flag.Parse()
	if *quick {
		*frames, *turns, *wall, *entries = *frames/10, 3, *wall/10, "1000,10000"
	}
	if err := run(*counts, *entries, *frames, *turns, *wall, *out, *profile); err != nil {
		fmt.Fprintln(os.Stderr, "bench-agent:", err)
		os.Exit(2)
	}
}

func run(counts, entries string, frames, turns int, wall time.Duration, out, profile string) error {
	flows, err := numbers("-flows", counts, 2)
	if err != nil {
		return err
	}
	sizes, err := numbers("-entries", entries, 1)
	if err != nil {
		return err
	}
	if turns < 1 || frames < 100*turns || wall <= 0 {
		return fmt.Errorf("-turns %d, -frames %d, -wall %v: at least 1, 100 frames a turn, and some time", turns, frames, wall)
	}
	if profile != "" {
		f, err := os.Create(profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	r := report{Slot: float64(ratelimit.Slot) / float64(units.Nanosecond), Horizon: ratelimit.Horizon.Seconds()}
	if r.Pacing, err = measurePacing(flows, frames, turns, wall); err != nil {
		return err
	}
	r.Flat = flatness(r.Pacing)
	if err := printPacing(&r); err != nil {
		return err
	}
	stop, err := startDPDK()
	if err != nil {
		return err
	}
	r.Tables, err = measureTables(sizes, turns)
	if e := stop(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err := printTables(r.Tables); err != nil {
		return err
	}
	return gobench.Save(out, r, r.turns())
}

func numbers(name, list string, least int) (all []int, err error) {
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > 1_000_000 {
			return nil, fmt.Errorf("%s %s: numbers from %d to 1000000", name, s, least)
		}
		all = append(all, n)
	}
	return all, nil
}

func flatness(lines []*pacing) (f flat) {
	var low, high [2]float64
	for _, l := range lines {
		if l.Flows < 100 {
			continue
		}
		for i, v := range [2]float64{l.PerFrame, l.Bytes} {
			if low[i] == 0 || v < low[i] {
				low[i] = v
			}
			high[i] = max(high[i], v)
		}
	}
	if low[0] > 0 && low[1] > 0 {
		f = flat{high[0] / low[0], high[1] / low[1]}
	}
	return f
}

func printPacing(r *report) error {
	fmt.Println("pacing error in microseconds before contention, after it, and by the machine's clock")
	t := table.New(0, "flows", "before p50", "p99", "p99.9", "after p50", "p99", "p99.9", "wall p50", "p99", "p99.9", "ns/frame", "±", "bytes/flow")
	us := func(ns float64) string { return fmt.Sprintf("%.3f", ns/1e3) }
	for _, l := range r.Pacing {
		row := []any{l.Flows}
		for _, s := range []spread{l.Before, l.After, l.Wall} {
			row = append(row, us(s.P50), us(s.P99), us(s.P999))
		}
		t.Row(append(row, fmt.Sprintf("%.1f", l.PerFrame), fmt.Sprintf("%.0f%%", 50*l.Spread), fmt.Sprintf("%.0f", l.Bytes))...)
	}
	if err := t.Print(os.Stdout); err != nil {
		return err
	}
	fmt.Printf("from 100 flows on, largest by smallest: ns/frame %.2f, bytes/flow %.2f; a slot of the wheel is %.1f ns, its horizon %.0f s\n\n", r.Flat.PerFrame, r.Flat.Bytes, r.Slot, r.Horizon)
	return nil
}

func printTables(lines []tableLine) error {
	fmt.Println("nanoseconds per operation, medians; one by one, and 64 a call")
	t := table.New(1, "op", "entries", "photon", "Go map", "rte_hash", "photon, 64", "rte_hash, 64")
	ns := func(x float64) string {
		if x == 0 {
			return "–"
		}
		return fmt.Sprintf("%.1f", x)
	}
	for _, l := range lines {
		t.Row(l.Op, l.Entries, ns(l.Photon), ns(l.Map), ns(l.RTE), ns(l.Burst), ns(l.RTEBulk))
	}
	return t.Print(os.Stdout)
}

// turns are each turn's costs, for benchstat, and the errors, which have no turns.
func (r *report) turns() *gobench.File {
	f := gobench.New()
	for _, l := range r.Pacing {
		of := fmt.Sprintf("Pacing/flows=%d", l.Flows)
		for _, ns := range l.perFrame {
			f.Add(of, map[string]float64{"ns/frame": ns})
		}
		f.Add(of, map[string]float64{"bytes/flow": l.Bytes})
		for i, s := range []spread{l.Before, l.After, l.Wall} {
			f.Add(of+"/"+[]string{"before", "after", "wall"}[i], map[string]float64{"p50-ns": s.P50, "p99-ns": s.P99, "p99.9-ns": s.P999})
		}
	}
	for _, l := range r.Tables {
		for _, of := range slices.Sorted(maps.Keys(l.turns)) {
			for _, ns := range slices.DeleteFunc(slices.Clone(l.turns[of]), func(ns float64) bool { return ns == 0 }) { // built without DPDK
				f.Add(fmt.Sprintf("Table/op=%s/entries=%d/of=%s", l.Op, l.Entries, of), map[string]float64{"ns/op": ns})
			}
		}
	}
	return f
}
