package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"photon/internal/gobench"
)

// defaultFile is the result file of the forwarding bench.
const defaultFile = "out/bench-forwarding.json"

func main() {
	child := flag.Bool("child", false, "be the photon that is measured (the command starts itself so)")
	names := flag.String("kinds", allKinds(), "`kinds` of frames")
	vdev := flag.String("vdev", "net_null,net_ring", "virtual `devices`")
	sizes := flag.String("bytes", "64,512,1500", "frame `lengths`, without FCS; of kinds other than plain the first")
	ports := flag.String("ports", "2,4", "`numbers` of ports")
	only := flag.String("only", "photon,ovs,macswap,mac", "`contestants`")
	runs := flag.Int("runs", 11, "`turns` of each contestant in each case")
	span := flag.Duration("span", 100*time.Millisecond, "`length` of a turn")
	quick := flag.Bool("quick", false, "64 bytes, 2 ports, net_null and five turns only")
	out := flag.String("out", defaultFile, "result `file`; of -rfc2544 out/bench-rfc2544.json; what benchstat reads is beside it, as .txt")
	profile := flag.String("cpuprofile", "", "write a profile of photon to this `file`")
	flag.IntVar(&testpmdBurst, "testpmd-burst", testpmdBurst, "`frames` that testpmd takes at a time; photon takes 64")
	rfc := flag.Bool("rfc2544", false, "throughput, latency and bursts by RFC 2544, from a process of its own over net_memif")
	trial := flag.Duration("trial", time.Second, "`length` of a trial of -rfc2544")
	rounds := flag.Int("rounds", 3, "`rounds` of -rfc2544, of which medians are taken")
	sockets := flag.String("sockets", "", "`folder` of the sockets of memif ports (the command starts itself so)")
	flag.Parse()
	if *quick {
		*sizes, *ports, *vdev, *runs = "64", "2", "net_null", 5
	}
	if *rfc {
		m := measurement{*sizes, strings.Split(*only, ","), *trial, *rounds, rfcFile(*out)}
		if *quick {
			m.trial, m.rounds = min(m.trial, 200*time.Millisecond), 1
		}
		err := fmt.Errorf("-rounds %d and -trial %v must be positive", m.rounds, m.trial)
		if m.rounds > 0 && m.trial > 0 {
			err = rfc2544(m)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(2)
		}
		return
	}
	if *sockets != "" { // as a ring is, but for its device
		*vdev = "net_ring"
	}
	cases, err := parseCases(*names, *vdev, *sizes, *ports)
	switch {
	case err != nil:
	case *runs < 1 || *span <= 0:
		err = fmt.Errorf("-runs %d and -span %v must be positive", *runs, *span)
	case *profile != "" && len(cases) != 1:
		err = fmt.Errorf("-cpuprofile: that is of one case, and these are %d", len(cases))
	case *child && *sockets != "":
		cases[0].Vdev, cases[0].sockets = "net_memif", *sockets
		err = beMeasured(cases[0])
	case *child:
		err = profiled(*profile, func() error { return beMeasured(cases[0]) })
	default:
		photonProfile = *profile
		var lines []line
		var turns *gobench.File
		lines, turns, err = measureAll(cases, strings.Split(*only, ","), *runs, *span)
		err = errors.Join(err, printTable(lines))
		fmt.Println(footer)
		err = errors.Join(err, gobench.Save(*out, map[string][]line{"cases": lines}, turns))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
}

// workplace makes a folder for a run. If that is interrupted the folder goes, and all contestants end with the bench.
func workplace() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "photon-bench"); err != nil {
		return "", err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-stop
		os.RemoveAll(dir)
		os.Exit(2)
	}()
	return dir, nil
}

// measureAll returns what it has, also if it fails.
func measureAll(cases []testCase, only []string, runs int, span time.Duration) (lines []line, turns *gobench.File, err error) {
	turns = gobench.New("frames/s")
	dir, err := workplace()
	if err != nil {
		return nil, turns, err
	}
	defer os.RemoveAll(dir)
	library, err := buildFeed(dir)
	if err != nil {
		return nil, turns, err
	}
	for i, c := range cases {
		all, err := measure(c, filepath.Join(dir, fmt.Sprint(i)), library, only, runs, span)
		if err != nil {
			return lines, turns, fmt.Errorf("%v: %w", c, err)
		}
		addTurns(turns, c, all)
		lines = append(lines, newLine(c, all))
		fmt.Fprintf(os.Stderr, "%d of %d cases: %v\n", i+1, len(cases), c)
	}
	return lines, turns, nil
}

// profiled does f, and writes a profile of it to a file if there is one.
func profiled(file string, do func() error) error {
	if file == "" {
		return do()
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return do()
}
