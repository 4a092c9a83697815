package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

// testCase is one line of the table.
type testCase struct {
	Vdev  string
	Bytes int
	Ports int
}

// A contestant is a process that forwards frames while it is not stopped.
type contestant interface {
	// pid is the process whose busiest thread does the work.
	pid() int
	// forwarded is how many frames were transmitted so far.
	forwarded() (uint64, error)
	// finish ends it; notes is what it says about what it saw.
	finish() (notes string, err error)
}

// starters are the contestants, in the order of the table.
var starters = []struct {
	name  string
	start func(c testCase, dir string) (contestant, error)
}{
	{"photon", startPhoton}, {"ovs", startOVS}, {"macswap", startTestpmd("macswap")}, {"mac", startTestpmd("mac")},
}

// outcome is what a contestant did in a case.
type outcome struct {
	rates []float64 // million frames per second, one per turn
	notes string
}

func main() {
	child := flag.Bool("child", false, "be the photon that is measured (the command starts itself so)")
	vdev := flag.String("vdev", "net_null,net_ring", "virtual `devices`")
	sizes := flag.String("bytes", "64,512,1500", "frame `lengths`, without FCS")
	ports := flag.String("ports", "2,4", "`numbers` of ports")
	only := flag.String("only", "photon,ovs,macswap,mac", "`contestants`")
	runs := flag.Int("runs", 31, "`turns` of each contestant in each case")
	span := flag.Duration("span", 100*time.Millisecond, "`length` of a turn")
	quick := flag.Bool("quick", false, "64 bytes, 2 ports and short turns only")
	out := flag.String("out", "out/bench-forwarding.json", "result `file`")
	profile := flag.String("cpuprofile", "", "with -child: write a profile to this `file`")
	flag.Parse()
	if *profile != "" {
		stop, e := startProfile(*profile)
		if e != nil {
			fmt.Fprintln(os.Stderr, "bench:", e)
			os.Exit(2)
		}
		defer stop()
	}
	if *quick {
		*sizes, *ports, *span = "64", "2", 300*time.Millisecond
	}
	cases, err := parseCases(*vdev, *sizes, *ports)
	switch {
	case err != nil:
	case *runs < 1 || *span <= 0:
		err = fmt.Errorf("-runs %d and -span %v must be positive", *runs, *span)
	case *child:
		err = beMeasured(cases[0])
	default:
		var lines []line
		if lines, err = measureAll(cases, strings.Split(*only, ","), *runs, *span); err == nil {
			err = write(*out, lines)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

func parseCases(vdevs, sizes, ports string) (cases []testCase, err error) {
	for v := range strings.SplitSeq(vdevs, ",") {
		if v != "net_null" && v != "net_ring" {
			return nil, fmt.Errorf("-vdev %s: it is net_null or net_ring", v)
		}
		for p := range strings.SplitSeq(ports, ",") {
			for s := range strings.SplitSeq(sizes, ",") {
				c := testCase{Vdev: v}
				if _, err := fmt.Sscan(p, &c.Ports); err != nil || c.Ports != 2 && c.Ports != 4 {
					return nil, fmt.Errorf("-ports %s: it is 2 or 4", p)
				}
				if _, err := fmt.Sscan(s, &c.Bytes); err != nil || c.Bytes < 60 || c.Bytes > 1514 {
					return nil, fmt.Errorf("-bytes %s: it is from 60 to 1514", s)
				}
				cases = append(cases, c)
			}
		}
	}
	return cases, nil
}

func measureAll(cases []testCase, only []string, runs int, span time.Duration) (lines []line, err error) {
	dir, err := os.MkdirTemp("", "photon-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	fmt.Println(header)
	for i, c := range cases {
		all, err := measure(c, filepath.Join(dir, fmt.Sprint(i)), only, runs, span)
		if err != nil {
			return nil, fmt.Errorf("%s, %d bytes, %d ports: %w", c.Vdev, c.Bytes, c.Ports, err)
		}
		l := newLine(c, all)
		fmt.Println(l)
		lines = append(lines, l)
	}
	fmt.Println("\nMillion frames per second of processor time of the polling thread: medians, and the spread of the turns. Ratios are medians of each round's.")
	return lines, nil
}

// measure runs one case.
func measure(c testCase, dir string, only []string, runs int, span time.Duration) (all map[string]outcome, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	running := map[string]contestant{}
	all = map[string]outcome{}
	defer func() {
		for name, r := range running {
			resume(r.pid())
			notes, e := r.finish()
			if e != nil && err == nil {
				err = fmt.Errorf("%s: %w", name, e)
			}
			if o, ok := all[name]; ok {
				o.notes = notes
				all[name] = o
			}
		}
	}()
	for _, s := range starters {
		if !slices.Contains(only, s.name) {
			continue
		}
		r, err := s.start(c, dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		running[s.name] = r
		halt(r.pid())
	}
	for range runs {
		for _, s := range starters {
			r := running[s.name]
			if r == nil {
				continue
			}
			rate, err := turn(r, span)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			o := all[s.name]
			o.rates = append(o.rates, rate)
			all[s.name] = o
		}
	}
	return all, nil
}

// turn lets a contestant run until its polling thread has had a span of processor
// time, and returns its rate.
func turn(r contestant, span time.Duration) (mpps float64, err error) {
	resume(r.pid())
	defer halt(r.pid())
	if err := work(r, span/8); err != nil { // the caches are another's
		return 0, err
	}
	before, err := r.forwarded()
	if err != nil {
		return 0, err
	}
	start, err := threads(r.pid())
	if err != nil {
		return 0, err
	}
	if err := work(r, span); err != nil {
		return 0, err
	}
	after, err := r.forwarded()
	if err != nil {
		return 0, err
	}
	end, err := threads(r.pid())
	if err != nil {
		return 0, err
	}
	busy := start.busiest(end)
	if after <= before || busy <= 0 {
		return 0, fmt.Errorf("it forwards nothing (%d frames, %v of processor time)", after-before, busy)
	}
	return float64(after-before) / busy.Seconds() / 1e6, nil
}

// work waits until the polling thread has had a span of processor time.
func work(r contestant, span time.Duration) error {
	busy := time.Duration(0)
	start, err := threads(r.pid())
	for late := time.Now().Add(patience); err == nil && busy < span && time.Now().Before(late); {
		time.Sleep(max(span/16, span-busy))
		var now usage
		if now, err = threads(r.pid()); err == nil {
			busy = start.busiest(now)
		}
	}
	return err
}

func write(file string, lines []line) error {
	b, err := json.MarshalIndent(map[string][]line{"cases": lines}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	fmt.Println(file)
	return os.WriteFile(file, append(b, '\n'), 0o644)
}

func startProfile(file string) (stop func(), err error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}
