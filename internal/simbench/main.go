package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"photon/internal/gobench"
	"photon/units"
)

// How many turns take less than three minutes where nothing else runs.
const (
	turnsOfCases  = 11
	turnsOfGrowth = 7
	turnsOfRuns   = 3 // at most: all commands take less than two minutes
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "simbench:", err)
		os.Exit(2)
	}
}

func run() error {
	out := flag.String("out", "out", "folder for bench-sim.json and bench-sim.txt, or bench-sim-growth")
	only := flag.String("case", "", "one case only")
	turns := flag.Int("turns", 0, fmt.Sprintf("runs of each case, of which the median counts; 0: %d, or %d with -growth", turnsOfCases, turnsOfGrowth))
	growth := flag.Bool("growth", false, "how the cost grows with the network, instead of the cases")
	child := flag.Bool("child", false, "run the case once, here, and print what was measured")
	each := flag.Bool("each", false, "with -child: acknowledge every packet")
	cores := flag.Int("cores", 1, "with -child: processors that the run uses")
	until := flag.Duration("until", 0, "with -child: end at this virtual time")
	delay := flag.Duration("delay", 0, "with -child: of all links, in the cases of -growth; 0: 5us")
	waits := flag.Bool("wait", false, "with -child: say when the network is built, and begin when a line comes in")
	profile := flag.String("cpuprofile", "", "with -child: write a profile of the processor")
	photon := flag.String("photon", "", "the program whose photon run is measured, too; none: that is left out")
	ns3 := flag.String("ns3", "", "with -photon: scratch/third of ns-3 with HPCC's model, which runs the files, too")
	write := flag.String("files", "", "write the files that photon run is measured with to this folder, and end")
	flag.Parse()
	if *write != "" {
		for _, f := range append(foreignFiles, everyScheme) {
			if _, err := f.write(*write); err != nil {
				return err
			}
		}
		return writeLarge(*write)
	}
	ready := func() error { return nil }
	if *waits {
		ready = func() error { return awaitStart(os.Stdin, os.Stdout) }
	}
	if *child && *only == bareName {
		m, err := measureBare(bareHops, ready)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(m)
	}
	if *ns3 != "" {
		if _, err := os.Stat(*ns3); err != nil || *photon == "" {
			return fmt.Errorf("-ns3 %s: it runs beside -photon: %w", *ns3, cmp.Or(err, errors.New("there is none")))
		}
	}
	list, typed := casesOf(*growth), commands()
	if *only != "" && !*child && *photon != "" {
		if some := named(slices.Concat(typed, large), *only); len(some) > 0 {
			return compare(nil, false, cmp.Or(*turns, turnsOfRuns), *out, "bench-sim", *photon, *ns3, some)
		}
	}
	if *only != "" || *growth || *photon == "" {
		typed = nil
	}
	if *only != "" {
		all := slices.Concat(cases, growing)
		i := slices.IndexFunc(all, func(c testCase) bool { return c.name == *only })
		if i < 0 {
			return fmt.Errorf("there is no case %q; there are %s", *only, names(all))
		}
		list = all[i : i+1]
	}
	if *turns < 0 {
		return fmt.Errorf("-turns %d: at least 1, or 0 for as many as usual", *turns)
	}
	if *child {
		if len(list) != 1 {
			return fmt.Errorf("-child needs a -case")
		}
		c := list[0]
		if c.delay = units.Time(*delay) * units.Nanosecond; c.delay != 0 && (c.delay < 0 || !slices.ContainsFunc(growing, func(g testCase) bool { return g.name == c.name })) {
			return fmt.Errorf("-delay %v of %s: at least 1ns, and the case one of %s", *delay, c.name, names(growing))
		}
		m, err := measure(&c, *each, *cores, units.Time(*until)*units.Nanosecond, *profile, ready)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(m)
	}
	name, usual := "bench-sim", turnsOfCases
	if *growth {
		name, usual = "bench-sim-growth", turnsOfGrowth
	}
	if *turns == 0 {
		*turns = usual
	}
	return compare(list, *growth, *turns, *out, name, *photon, *ns3, typed)
}

// named are the commands of a name: all schemes, too, of files.
func named(list []typed, name string) []typed {
	return slices.DeleteFunc(slices.Clone(list), func(t typed) bool {
		return t.name() != name && (t.files == nil || t.files.name != name)
	})
}

func names(list []testCase) string {
	var s []string
	for _, c := range list {
		s = append(s, c.name)
	}
	return strings.Join(s, ", ")
}

// compare runs cases in turns and writes what came out.
func compare(list []testCase, growth bool, turns int, out, name, photon, ns3 string, commands []typed) error {
	runtime.LockOSThread() // a child dies with the thread that began it
	took, err := takeTurns(plan(list, growth, runtime.NumCPU()), turns, together)
	if err != nil {
		return err
	}
	r := newResult(list, growth, took)
	if err := errors.Join(printTable(os.Stdout, r.Cases, r.Machine), printRatios(os.Stdout, slices.Concat(r.Growth, r.Ratios))); err != nil {
		return err
	}
	if len(commands) > 0 {
		if r.Runs, err = typedRuns(photon, ns3, commands, min(turns, turnsOfRuns)); err != nil {
			return err
		}
		if err := printRuns(os.Stdout, r.Runs); err != nil {
			return err
		}
	}
	fmt.Println()
	return gobench.Save(filepath.Join(out, name+".json"), r, benchmarks(list, took))
}
