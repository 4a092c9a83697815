package main

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

func TestQuantiles(t *testing.T) {
	g := gaps{}
	g.Counts[3], g.Counts[10], g.Counts[20] = 99_980, 15, 5
	for q, want := range map[float64]float64{0.5: bound(3), 0.9997: bound(3), 0.9999: bound(10), 1: bound(20)} {
		if got := g.quantile(q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	g = g.since(gaps{Counts: [26]uint64{3: 99_980}})
	if g.Counts[3] != 0 || g.quantile(0.5) != bound(10) || g.most() != bound(20) {
		t.Errorf("%+v", g)
	}
}

// Every turn of every contestant is a line for benchstat.
func TestTurns(t *testing.T) {
	r := result{Name: "C loop"}
	g := gaps{}
	g.Counts[3], g.Counts[20] = 1000, 1
	r.add(g, 10*time.Second)
	r.add(g, 10*time.Second)
	text := turns([]result{r}).String()
	if strings.Count(text, "\nBenchmarkStalls/of=C_loop") != 2 || strings.Count(text, " 0.1000 gaps-over-131us/s") != 2 {
		t.Error(text)
	}
}

func TestGapsOfAScrape(t *testing.T) {
	const name = "photon_worker_poll_gap_seconds"
	const slept = "photon_worker_poll_gap_slept_seconds"
	const commands = "photon_worker_command_seconds"
	text := "# TYPE " + commands + " histogram\n" + commands + `_bucket{le="6.4e-08"} 3` + "\n" + commands + `_bucket{le="1.28e-07"} 3` + "\n" + commands + `_bucket{le="+Inf"} 3` + "\n" + commands + "_sum 1\n" + commands + "_count 3\n" +
		"# TYPE " + slept + " histogram\n" + slept + `_bucket{le="6.4e-08"} 0` + "\n" + slept + `_bucket{le="1.28e-07"} 2` + "\n" + slept + `_bucket{le="+Inf"} 2` + "\n" + slept + "_sum 1\n" + slept + "_count 2\n" +
		"# TYPE " + name + " histogram\n" +
		name + `_bucket{le="6.4e-08"} 1` + "\n" + name + `_bucket{le="1.28e-07"} 5` + "\n" + name + `_bucket{le="+Inf"} 9` + "\n" + name + "_sum 1\n" + name + "_count 9\n"
	read := func(text string) (gaps, error) {
		p := expfmt.NewTextParser(model.UTF8Validation)
		families, err := p.TextToMetricFamilies(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return ofScrape(families)
	}
	if _, err := read(text); err == nil {
		t.Error("a histogram of two buckets passes")
	}
	if g, err := read(strings.ReplaceAll(text, `le="+Inf"`, `le="2.56e-07"`)); err != nil || g.Slept[1] != 2 || longest(&g.Slept) != bound(1) || g.Commands[0] != 3 || g.Counts[0] != 1 || g.Counts[1] != 4 || g.Counts[2] != 4 || g.Counts[25] != 0 {
		t.Error(g, err)
	}
	if _, err := read("x 1\n"); err == nil {
		t.Error("no histogram passes")
	}
}
