package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"photon/internal/gobench"
	"photon/internal/table"
	"photon/lab/stat"
)

// contestants are what is measured, in the order of the table.
var contestants = []struct {
	name    string
	measure func(dir string, warmup, span time.Duration) (gaps, error)
}{
	{"C loop", measureLoop},
	{"photon", measurePhoton("")},
	{"photon, GOGC=100", measurePhoton("100")},
}

// result is a line of the table, and of the result file. Times are in seconds.
type result struct {
	Name     string    `json:"name"`
	Polls    uint64    `json:"polls"` // of all turns
	P9999    []float64 `json:"p9999_seconds"`
	Most     []float64 `json:"max_seconds"` // upper bounds, as those are
	Long     []float64 `json:"over_131us_per_second"`
	Slept    []float64 `json:"slept_max_seconds"`      // upper bounds of the longest in which the thread slept
	Sleeps   []float64 `json:"slept_131us_per_second"` // such gaps over 131 us
	Commands []float64 `json:"command_max_seconds"`    // upper bounds of the most processor time that a command took
	turned   time.Duration
}

func main() {
	child := flag.Bool("loop", false, "be the loop in C (the command starts itself so)")
	core := flag.Int("core", 0, "with -loop: where")
	runs := flag.Int("runs", 5, "`turns` of each contestant")
	span := flag.Duration("span", 10*time.Second, "`length` of a turn")
	warmup := flag.Duration("warmup", 2*time.Second, "`time` before a turn counts")
	out := flag.String("out", "out/bench-stalls.json", "result `file`")
	flag.Parse()
	var err error
	switch {
	case *runs < 1 || *span < time.Second || *warmup < 0:
		err = fmt.Errorf("-runs %d must be positive, -span %v a second or more, -warmup %v not negative", *runs, *span, *warmup)
	case *child:
		err = beLoop(*core, *warmup, *span)
	default:
		err = measureAll(*runs, *warmup, *span, *out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-stalls:", err)
		os.Exit(2)
	}
}

func measureAll(runs int, warmup, span time.Duration, out string) error {
	dir, err := os.MkdirTemp("", "photon-stalls")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	results := make([]result, len(contestants))
	for range runs {
		for i, c := range contestants {
			g, err := c.measure(dir, warmup, span)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			results[i].Name = c.name
			results[i].add(g, span)
		}
	}
	if err := printTable(results); err != nil {
		return err
	}
	fmt.Print(`
Medians of the turns; times are the upper bounds of histogram buckets, which double. Scrapes every second, a command five times a second, a reload every other.
Slept: of the gaps over 131 us, those in which the thread gave up its core by itself; in the others the kernel took it.
Commands: processor time that scrapes and commands took of the worker at a time.
`)
	return gobench.Save(out, map[string][]result{"contestants": results}, turns(results))
}

func (r *result) add(g gaps, span time.Duration) {
	long, slept := uint64(0), uint64(0)
	for i, n := range g.Counts {
		r.Polls += n
		if i > 0 && bound(i-1) > 131e-6 {
			long += n
			slept += g.Slept[i]
		}
	}
	r.Slept = append(r.Slept, longest(&g.Slept))
	r.Commands = append(r.Commands, longest(&g.Commands))
	r.Sleeps = append(r.Sleeps, float64(slept)/span.Seconds())
	r.P9999 = append(r.P9999, g.quantile(0.9999))
	r.Most = append(r.Most, g.most())
	r.Long = append(r.Long, float64(long)/span.Seconds())
	r.turned += span
}

func printTable(results []result) error {
	t := table.New(1, "", "polls/s", "p99.99 us (most)", "longest us (most)", "over 131 us per s", "slept: longest us (most)", "per s", "commands: longest us (most)")
	both := func(seconds []float64) string {
		return fmt.Sprintf("%.4g (%.4g)", 1e6*stat.Median(seconds), 1e6*slices.Max(seconds))
	}
	for i := range results {
		r := &results[i]
		t.Row(r.Name, fmt.Sprintf("%.3g", float64(r.Polls)/r.turned.Seconds()), both(r.P9999), both(r.Most), fmt.Sprintf("%.3g", stat.Median(r.Long)),
			both(r.Slept), fmt.Sprintf("%.3g", stat.Median(r.Sleeps)), both(r.Commands))
	}
	return t.Print(os.Stdout)
}

// turns are each turn of each contestant, for benchstat.
func turns(results []result) *gobench.File {
	f := gobench.New()
	for _, r := range results {
		for i := range r.P9999 {
			f.Add("Stalls/of="+r.Name, map[string]float64{
				"p99.99-ns": 1e9 * r.P9999[i], "max-ns": 1e9 * r.Most[i], "gaps-over-131us/s": r.Long[i],
				"slept-max-ns": 1e9 * r.Slept[i], "slept-over-131us/s": r.Sleeps[i], "command-max-ns": 1e9 * r.Commands[i],
			})
		}
	}
	return f
}
