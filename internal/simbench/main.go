package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"photon/units"
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
	turns := flag.Int("turns", 5, "runs of each case, of which the median counts")
	growth := flag.Bool("growth", false, "how the cost grows with the network, instead of the cases")
	child := flag.Bool("child", false, "run the case once, here, and print what was measured")
	each := flag.Bool("each", false, "with -child: acknowledge every packet")
	cores := flag.Int("cores", 1, "with -child: processors that the run uses")
	until := flag.Duration("until", 0, "with -child: end at this virtual time")
	profile := flag.String("cpuprofile", "", "with -child: write a profile of the processor")
	flag.Parse()
	if *child && *only == bareName {
		return json.NewEncoder(os.Stdout).Encode(measureBare(bareHops))
	}
	list := cases
	if *growth {
		list = growing
	}
	if *only != "" {
		all := slices.Concat(cases, growing)
		i := slices.IndexFunc(all, func(c testCase) bool { return c.name == *only })
		if i < 0 {
			return fmt.Errorf("there is no case %q; there are %s", *only, names(all))
		}
		list = all[i : i+1]
	}
	if *turns < 1 {
		return fmt.Errorf("-turns %d: at least 1", *turns)
	}
	if *child {
		if len(list) != 1 {
			return fmt.Errorf("-child needs a -case")
		}
		m, err := measure(&list[0], *each, *cores, units.Time(*until)*units.Nanosecond, *profile)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(m)
	}
	name := "bench-sim"
	if *growth {
		name = "bench-sim-growth"
	}
	return compare(list, *turns, *out, name)
}

func names(list []testCase) string {
	var s []string
	for _, c := range list {
		s = append(s, c.name)
	}
	return strings.Join(s, ", ")
}

// compare runs cases in turns and writes what came out.
func compare(list []testCase, turns int, out, name string) error {
	type contest struct {
		c      *testCase
		each   bool
		runs   []measured
		shared []measured // on two processors
	}
	var all []contest
	for i := range list {
		for _, each := range []bool{false, true} {
			all = append(all, contest{c: &list[i], each: each})
		}
	}
	var bare []measured // how fast the machine was, in every turn
	for range turns {
		m, err := inChild(bareName, false, 1)
		if err != nil {
			return fmt.Errorf("%s: %w", bareName, err)
		}
		bare = append(bare, m)
		for i := range all {
			a := &all[i]
			for cores := 1; cores <= min(2, runtime.NumCPU()); cores++ {
				m, err := inChild(a.c.name, a.each, cores)
				if err != nil {
					return fmt.Errorf("%s: %w", a.c.name, err)
				}
				if len(a.runs) > 0 && m.Hash != a.runs[0].Hash {
					return fmt.Errorf("%s: two runs differ: trace hashes %s and %s", a.c.name, a.runs[0].Hash, m.Hash)
				}
				if cores == 1 {
					a.runs = append(a.runs, m)
				} else {
					a.shared = append(a.shared, m)
				}
			}
		}
	}
	here := newMachine(bare)
	var lines []line
	var text strings.Builder
	for _, a := range all {
		lines = append(lines, newLine(a.c, a.each, a.runs, a.shared, here))
		for _, m := range a.runs {
			text.WriteString(m.benchmark(a.c.name, a.each))
		}
	}
	printTable(os.Stdout, lines, here)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	b, err := json.MarshalIndent(struct {
		Cases   []line  `json:"cases"`
		Machine machine `json:"machine"`
	}{lines, here}, "", "  ")
	if err != nil {
		return err
	}
	file, samples := filepath.Join(out, name+".json"), filepath.Join(out, name+".txt")
	if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(samples, []byte(text.String()), 0o644); err != nil {
		return err
	}
	fmt.Printf("\nwritten: %s, and %s for benchstat\n", file, samples)
	return nil
}

// inChild runs a case once in a process of its own.
func inChild(name string, each bool, cores int) (m measured, err error) {
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	c := exec.Command(self, "-child", "-case", name, fmt.Sprintf("-each=%v", each), fmt.Sprintf("-cores=%d", cores))
	c.Stderr = os.Stderr
	b, err := c.Output()
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(b, &m)
}
