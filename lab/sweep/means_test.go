package sweep

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"photon/lab/measure"
)

// What never came in some of the runs has no mean: that of the others would be a number of the lucky. What a run does
// not measure is not what never came in it.
func TestMeansOfWhatNeverCame(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	run := func(scheme string, metrics measure.Metrics) *Record {
		return &Record{Experiment: "mine", Scheme: scheme, Metrics: metrics}
	}
	c := Collected{records: []*Record{
		run("all", measure.Metrics{"x_s": number(1)}), run("all", measure.Metrics{"x_s": number(3)}),
		run("some", measure.Metrics{"x_s": number(1)}), run("some", measure.Metrics{"x_s": nil}),
		run("some", measure.Metrics{"x_s": number(3)}),
		run("none", measure.Metrics{"x_s": nil}), run("none", measure.Metrics{"x_s": nil}),
		run("one", measure.Metrics{"x_s": number(7)}),
		run("once", measure.Metrics{"x_s": nil}),
		run("other", measure.Metrics{"y": number(1)}),
		run("partly", measure.Metrics{"x_s": number(2)}), run("partly", measure.Metrics{"y": number(1)}),
	}}
	var out strings.Builder
	if err := c.WriteMeans(&out, []string{"x_s"}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"mine all 2 runs x_s 2 ± 1", "mine some 3 runs x_s never (1 of 3)", "mine none 2 runs x_s never",
		"mine one 1 runs x_s 7",
		"mine once 1 runs x_s never", "mine other 1 runs x_s –", "mine partly 2 runs x_s 2 (1 runs)",
	}
	for i, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if got := strings.Join(strings.Fields(line), " "); i >= len(want) || got != want[i] {
			t.Errorf("line %d: %s", i+1, got)
		}
	}
}

// In a table what never came is infinite, for whoever takes a mean of it; what is not measured is empty.
func TestTableOfWhatNeverCame(t *testing.T) {
	v := 1.5
	all := []*Record{
		{Task: "a", Metrics: measure.Metrics{"x_s": &v}}, {Task: "b", Metrics: measure.Metrics{"x_s": nil}},
		{Task: "c", Metrics: measure.Metrics{}},
	}
	table := columns(all)
	rows := strings.Fields(string(writeCSV(table, all)))
	for i, end := range []string{",x_s", ",1.5", ",inf", ","} {
		if len(rows) != 4 || !strings.HasSuffix(rows[i], end) {
			t.Errorf("line %d does not end with %q: %q", i+1, end, rows)
		}
	}
	b, err := writeParquet(table, all)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		X *float64 `parquet:"x_s,optional"`
	}
	got, err := parquet.Read[row](bytes.NewReader(b), int64(len(b)))
	if err != nil || len(got) != 3 || *got[0].X != 1.5 || !math.IsInf(*got[1].X, 1) || got[2].X != nil {
		t.Errorf("%+v, %v", got, err)
	}
}
