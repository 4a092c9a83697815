package sweep

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"go.yaml.in/yaml/v4"

	"photon/lab/experiment"
	"photon/lab/run"
)

const tiny = `
id: test/tiny
title: two flows
duration: 1ms
topology: {kind: star, hosts: 3}
parameters:
  link_rate: {value: 10Gbps, source: the test}
  host_delay: {value: 1us, source: the test}
  trunk_delay: {value: 1us, source: the test}
  payload: {value: 1000B, source: the test}
  mtu: {value: 1500B, source: the test}
  priority: {value: 3, source: the test}
  xoff: {value: 512KB, source: the test}
  xon: {value: 509KB, source: the test}
  buffer: {value: 12MB, source: the test}
flows: [{name: F, from: H0..H1, to: H2}, {name: G, from: H0, to: H1, size: $bytes}]
schemes: [{name: pcn}, {name: dcqcn, params: {kmax: {value: 200KB, source: the test}}}]
measure:
  sample: 100us
  probes: [{name: queue, kind: queue, at: [S0>H2]}]
  metrics: [{name: most, do: max, of: queue}, {name: drained, do: first_at_least, of: queue, value: 1e12}]
sweep: {name: bytes, values: [10KB, 20KB]}
claims: [{id: a, text: it is so, schemes: [pcn], metric: most@10KB, note: a note}]
`

// write makes a spec beside the experiment tiny.yaml.
func write(t *testing.T, experiment, spec string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "my-sweep.yaml")
	for name, text := range map[string]string{filepath.Join(dir, "tiny.yaml"): experiment, file: spec} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

func expand(t *testing.T, experiment, spec string) (*Spec, []*Task) {
	t.Helper()
	s, err := Read(write(t, experiment, spec))
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := s.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(tasks); err != nil {
		t.Fatal(err)
	}
	return s, tasks
}

func ids(tasks []*Task) (list []string) {
	for _, t := range tasks {
		list = append(list, t.ID)
	}
	return list
}

// The grid is complete, a scheme's parameter multiplies the tasks of that scheme
// only, and the experiment's own sweep is one of its dimensions.
func TestGrid(t *testing.T) {
	_, tasks := expand(t, tiny, `
name: grid
experiments: [tiny.yaml]
seeds: 1..3
vary:
  flows.F.start: [0us, 10us]
  schemes.dcqcn.kmax: [100KB, 200KB]
`)
	count := map[string]int{}
	for _, task := range tasks {
		count[task.Scheme]++
	}
	if count["pcn"] != 2*2*3 || count["dcqcn"] != 2*2*2*3 {
		t.Error(count)
	}
	if got := tasks[0].String(); got != "tiny.yaml pcn flows.F.start=0us bytes=10KB" || tasks[0].Seed != 1 {
		t.Error(got)
	}
	last := tasks[len(tasks)-1]
	e, err := last.load()
	if err != nil {
		t.Fatal(err)
	}
	if e.Flows[0].Start.V.Seconds() != 10e-6 || e.Flows[1].Size.V != 20_000 || e.Schemes[0].Params["kmax"].Value.V != "200KB" || len(e.Schemes) != 1 {
		t.Errorf("%+v", e.Flows)
	}
}

// Whatever a scheme is called in results, its parameters vary by that name: by its label, by its name, or by
// its name and parameters if another has its name, too.
func TestParametersOfSchemesByWhatTheyAreCalled(t *testing.T) {
	for _, c := range []struct{ schemes, called, of string }{
		{"[pcn, dcqcn]", "pcn", "pcn"},
		{"[{name: pcn}, dcqcn]", "pcn", "pcn"},
		{"[{name: pcn, label: P1, params: {wmax: 1/2}}, dcqcn]", "P1", "pcn"},
		{"[{name: pcn, label: P1}, {name: pcn, label: P2}]", "P2", "pcn"},
		{"[{name: pcn, label: dcqcn}, {name: dcqcn, label: pcn}]", "dcqcn", "pcn"},
		{"[{name: pcn, label: P.1}, dcqcn]", "P.1", "pcn"},
		{"[{name: pcn, params: {wmax: 1/2}}, {name: pcn, params: {wmax: 0.25}}]", "pcn:wmax=0.25", "pcn"},
	} {
		before, after, _ := strings.Cut(tiny, "schemes: [{name: pcn}")
		_, after, _ = strings.Cut(after, "\n")
		after, _, _ = strings.Cut(after, "claims:") // they are of schemes by name
		text := before + "schemes: " + c.schemes + "\n" + after
		_, tasks := expand(t, text, "name: called\nexperiments: [tiny.yaml]\nseeds: 1\n"+
			"vary: {'schemes."+c.called+".wmin': [1/64, 1/128]}\n")
		got := map[string]bool{}
		for _, task := range tasks {
			e, err := task.load()
			if err != nil {
				t.Fatal(err)
			}
			wmin, set := e.Schemes[0].Params["wmin"]
			if set != (task.Scheme == c.called) || set && e.Schemes[0].Name.V != c.of {
				t.Errorf("%s: %s has %v", c.schemes, task, e.Schemes[0].Params)
			}
			got[wmin.Value.V] = true
		}
		if !got["1/64"] || !got["1/128"] {
			t.Errorf("%s: %v", c.schemes, got)
		}
	}
}

// Ids do not change with what no run depends on, nor with what else is in the
// grid; they do with everything that a run depends on.
func TestIDsAreStable(t *testing.T) {
	spec := "name: a\nexperiments: [tiny.yaml]\nseeds: 1..2\nvary: {$bytes: [10KB]}\n"
	_, first := expand(t, tiny, spec)
	_, noted := expand(t, strings.Replace(strings.Replace(tiny, "a note", "another note", 1), "two flows", "a title", 1), spec)
	if !slices.Equal(ids(first), ids(noted)) {
		t.Error("a note changes ids")
	}
	_, more := expand(t, tiny, "name: b\nexperiments: [tiny.yaml]\nseeds: 1..9\nvary: {$bytes: [1KB, 10KB]}\n")
	for _, id := range ids(first) {
		if !slices.Contains(ids(more), id) {
			t.Errorf("%s is not in the larger grid", id)
		}
	}
	_, other := expand(t, strings.Replace(tiny, "512KB", "513KB", 1), spec)
	for i := range other {
		if other[i].ID == first[i].ID {
			t.Errorf("%s with another xoff", other[i].ID)
		}
	}
}

// Every experiment that comes with photon is, as a task, what it is as a replay.
func TestTasksOfTheCatalogue(t *testing.T) {
	line := regexp.MustCompile(`"Line":\d+`)
	say := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return line.ReplaceAllString(string(b), "")
	}
	list, err := experiment.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range list {
		e, err := experiment.Get(entry.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, tasks := func() (*Spec, []*Task) {
			s, err := Read(write(t, tiny, "name: a\nexperiments: ["+entry.ID+"]\nseeds: 1\n"))
			if err != nil {
				t.Fatal(err)
			}
			tasks, err := s.Tasks()
			if err != nil {
				t.Fatal(err)
			}
			return s, tasks
		}()
		seen := map[string]bool{}
		for _, task := range tasks {
			if strings.Contains(string(task.text), "$") {
				t.Errorf("%s: a quantity is left in\n%s", task, task.text)
			}
			if seen[task.Scheme] {
				continue // the experiment as we have it is that of the first value
			}
			seen[task.Scheme] = true
			got, err := task.load()
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(e.Schemes, func(u experiment.SchemeUse) bool { return u.Key() == task.Scheme })
			for _, pair := range [][2]any{
				{got.Duration, e.Duration}, {got.Topology, e.Topology}, {got.Parameters, e.Parameters}, {got.Flows, e.Flows}, {got.Workloads, e.Workloads},
				{got.Events, e.Events}, {got.Measure, e.Measure}, {got.Schemes[0], e.Schemes[i]},
			} {
				if a, b := say(pair[0]), say(pair[1]); a != b {
					t.Errorf("%s: %s\nwant %s", task, a, b)
				}
			}
		}
		if len(seen) != len(e.Schemes) {
			t.Errorf("%s: schemes %v", e.ID, seen)
		}
	}
}

// A task yields what a replay of the same run does.
func TestTaskIsTheRunOfAReplay(t *testing.T) {
	_, tasks := expand(t, tiny, "name: a\nexperiments: [tiny.yaml]\nseeds: 7\nvary: {$bytes: [20KB]}\n")
	e, err := experiment.Parse("tiny.yaml", []byte(strings.NewReplacer("values: [10KB, 20KB]", "values: [20KB]", "most@10KB", "most@20KB").Replace(tiny)))
	if err != nil {
		t.Fatal(err)
	}
	r, err := run.Replay(context.Background(), e, run.Options{World: "sim", Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	folder := Folder(t.TempDir())
	if err := folder.Run(context.Background(), tasks, 1, 1, func(run.Progress) {}); err != nil {
		t.Fatal(err)
	}
	for i, task := range tasks {
		record, err := folder.read(task.ID)
		if err != nil {
			t.Fatal(err)
		}
		want := r.Runs[i]
		if record.TraceHash != *want.TraceHash || *record.Metrics["most"] != *want.Metrics["most@20KB"] || record.PacketHops != want.PacketHops || record.PacketHops == 0 {
			t.Errorf("%+v, want %+v", record, want)
		}
	}
}

// Both tables have a row for each task and a column for everything; what a task
// does not have is empty. Results that are of no task are left out and counted.
func TestCollect(t *testing.T) {
	_, tasks := expand(t, tiny, `
name: collected
experiments: [tiny.yaml]
seeds: 1..2
vary: {$bytes: [10KB], flows.F.count: [1, 2], schemes.dcqcn.kmax: [100KB]}
`)
	folder := Folder(t.TempDir())
	if err := folder.Run(context.Background(), tasks, 2, 1, func(run.Progress) {}); err != nil {
		t.Fatal(err)
	}
	c, err := folder.Collect(tasks[1:])
	if err != nil || c.Rows != len(tasks)-1 || c.Missing != 0 || c.Foreign != 1 || c.Builds != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if c, err = folder.Collect(tasks); err != nil || c.Rows != 8 || c.Foreign != 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	b, err := os.ReadFile(c.CSV)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(rows[0], " "); got != "task experiment scheme seed bytes flows.F.count schemes.dcqcn.kmax packet_hops virtual_seconds trace_hash drained most" {
		t.Fatal(got)
	}
	b, err = os.ReadFile(c.Parquet)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range file.Schema().Fields() {
		if f.Name() != rows[0][i] {
			t.Errorf("column %d is %s, want %s", i, f.Name(), rows[0][i])
		}
	}
	for name, kind := range map[string]parquet.Kind{"scheme": parquet.ByteArray, "seed": parquet.Int64, "bytes": parquet.Double, "schemes.dcqcn.kmax": parquet.Double, "flows.F.count": parquet.Double, "most": parquet.Double} {
		leaf, ok := file.Schema().Lookup(name)
		if !ok || leaf.Node.Type().Kind() != kind {
			t.Errorf("column %s is %v", name, leaf.Node)
		}
	}
	read := parquet.NewReader(file)
	n := 0
	for {
		row := make([]parquet.Row, 1)
		got, err := read.ReadRows(row)
		for _, v := range row[:got] {
			n++
			for k, cell := range v {
				want := rows[n][k]
				if cell.IsNull() != (want == "") || !cell.IsNull() && strings.TrimPrefix(strings.ToLower(cell.String()), "+") != strings.ToLower(want) && strconv.FormatFloat(cell.Double(), 'g', -1, 64) != want {
					t.Errorf("row %d, %s: %v, want %q", n, rows[0][k], cell, want)
				}
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var means strings.Builder
	if err := c.WriteMeans(&means, []string{"most", "drained"}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(means.String()), "\n"); len(lines) != 4 || !regexp.MustCompile(`^tiny.yaml +pcn +bytes=10KB flows.F.count=1 +2 runs +most [0-9.e+]+ ± [0-9.e+]+ +drained never$`).MatchString(lines[0]) {
		t.Errorf("%s", means.String())
	}
	if err := c.WriteMeans(io.Discard, []string{"mst"}); err == nil || !strings.Contains(err.Error(), "drained, most") {
		t.Error(err)
	}
	if n != 8 || rows[1][6] != "" || rows[8][6] != "100000" || rows[1][4] != "10000" || rows[1][10] != "inf" {
		t.Errorf("%d rows\n%v", n, rows)
	}
}

// A setting's column holds numbers of one unit if all its values are of one kind, and words otherwise.
func TestSettingsAreNumbers(t *testing.T) {
	for _, c := range []struct{ values, want []string }{
		{[]string{"1", "2.5"}, []string{"1", "2.5"}}, {[]string{"1/128", "0.5"}, []string{"0.0078125", "0.5"}},
		{[]string{"200KB", "1MB", "0"}, []string{"200000", "1e+06", "0"}}, {[]string{"5us", "1ms"}, []string{"5e-06", "0.001"}},
		{[]string{"40Mbps", "10Gbps"}, []string{"4e+07", "1e+10"}}, {[]string{"10KB", "5us"}, nil}, {[]string{"tick", "1"}, nil},
		{[]string{"1/0"}, nil}, {[]string{"NaN"}, nil}, {[]string{"Inf", "1"}, nil}, {[]string{"[1 2]"}, nil},
	} {
		var records []*Record
		for _, v := range c.values {
			records = append(records, &Record{Params: map[string]string{"x": v}})
		}
		table := columns(append(records, &Record{})) // the last does not have it
		x := table[slices.IndexFunc(table, func(c column) bool { return c.name == "x" })]
		want, k := c.want, number
		if want == nil {
			want, k = c.values, words
		}
		for i, r := range records {
			if got := x.of(r); x.kind != k || got != want[i] {
				t.Errorf("%q: %q of kind %d, want %q of kind %d", c.values, got, x.kind, want[i], k)
			}
		}
		if got := x.of(&Record{}); got != "" {
			t.Errorf("%q: %q for a task without it", c.values, got)
		}
	}
}

// A task that cannot run does not stop the others, and leaves nothing behind.
func TestFailedTask(t *testing.T) {
	s, err := Read(write(t, tiny, "name: a\nexperiments: [tiny.yaml]\nschemes: [pcn]\nvary: {$bytes: [10KB], parameters.xoff: [512KB, 10B]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := s.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	folder := Folder(t.TempDir())
	err = folder.Run(context.Background(), tasks, 2, 1, func(run.Progress) {})
	var failed *Failed
	if !errors.As(err, &failed) || failed.Tasks != 1 || !strings.Contains(err.Error(), "xon 509KB is above xoff 10B") {
		t.Error(err)
	}
	left, err := folder.Left(tasks)
	if err != nil || len(left) != 1 || left[0] != tasks[1] {
		t.Errorf("%v, %v", ids(left), err)
	}
}

// Every worker does its part, and together they do all.
func TestShards(t *testing.T) {
	_, tasks := expand(t, tiny, "name: a\nexperiments: [tiny.yaml]\nseeds: 1..5\n")
	count := map[*Task]int{}
	for k := range 7 {
		for _, task := range Shard(tasks, k, 7) {
			count[task]++
		}
	}
	for _, task := range tasks {
		if count[task] != 1 {
			t.Errorf("%s: %d times", task.ID, count[task])
		}
	}
}

// The array has the workers that have something left to do, and no others.
func TestSlurmScript(t *testing.T) {
	s, tasks := expand(t, tiny, "name: a\nexperiments: [tiny.yaml]\nseeds: 1..3\n") // 12 tasks
	left := []*Task{tasks[0], tasks[1], tasks[2], tasks[9], tasks[11]}
	script := string(Folder("/o/sweeps/a").Slurm(s, Workers{Count: 6, CPUs: 2, Memory: 3 << 20}, tasks, left, "/bin/it's", "/o"))
	for _, want := range []string{
		"#!/bin/sh\n", "#SBATCH --array=0-3,5\n", "#SBATCH --cpus-per-task=2\n", "#SBATCH --mem=3M\n",
		`exec '/bin/it'\''s' sweep '/o/sweeps/a/spec.yaml' --out '/o' --worker "$SLURM_ARRAY_TASK_ID/6" --jobs 2` + "\n",
	} {
		if !strings.Contains(script, want) {
			t.Errorf("%s\nlacks %s", script, want)
		}
	}
}

// A worker whose tasks take several cores has fewer of them at once, on either cluster.
func TestWorkersWithCores(t *testing.T) {
	s, tasks := expand(t, tiny, "name: a\nexperiments: [tiny.yaml]\nseeds: 1..3\n")
	for _, c := range []struct {
		w            Workers
		slurm, batch string
	}{
		{Workers{Count: 2, CPUs: 7, Cores: 3}, "--jobs 2 --cores 3\n", "- --jobs\n        - \"2\"\n        - --cores\n        - \"3\"\n"},
		{Workers{Count: 2, CPUs: 2, Cores: 2}, "--jobs 1 --cores 2\n", "- --jobs\n        - \"1\"\n        - --cores\n        - \"2\"\n"},
		{Workers{Count: 2, CPUs: 2, Cores: 1}, "--jobs 2\n", "- --jobs\n        - \"2\"\n        env:\n"},
	} {
		if got := string(Folder("/o").Slurm(s, c.w, tasks, tasks, "/bin/photon", "/o")); !strings.HasSuffix(got, c.slurm) {
			t.Errorf("%s\nlacks %s", got, c.slurm)
		}
		b, err := s.Kubernetes(c.w, "image", "claim")
		if got := regexp.MustCompile(`(?m)^ +- `).ReplaceAllString(string(b), "        - "); err != nil || !strings.Contains(regexp.MustCompile(`(?m)^ +env:`).ReplaceAllString(got, "        env:"), c.batch) {
			t.Errorf("%v\n%s\nlacks %s", err, b, c.batch)
		}
	}
}

// docs/sweep.schema.json is what the types say.
func TestSchemaIsUpToDate(t *testing.T) {
	want, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/sweep.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/sweep.schema.json is old: photon check --schema=sweep > docs/sweep.schema.json")
	}
}

// With `flows: true` every task leaves the completion times of its flows, with its seed; one that has lost them runs
// again, and the others do not.
func TestFlowsOfTasks(t *testing.T) {
	const text = "name: my\nexperiments: [tiny.yaml]\nseeds: 1..2\n"
	spec, tasks := expand(t, tiny, text+"flows: true\n")
	f := spec.Folder(t.TempDir())
	if err := spec.Save(f); err != nil {
		t.Fatal(err)
	}
	sweepAll := func(want int) {
		t.Helper()
		left, err := f.Left(tasks)
		if err != nil || len(left) != want {
			t.Fatalf("%d tasks are left, want %d; %v", len(left), want, err)
		}
		if err := f.Run(t.Context(), left, 1, 1, func(run.Progress) {}); err != nil {
			t.Fatal(err)
		}
	}
	sweepAll(len(tasks))
	texts := map[string]string{}
	for _, task := range tasks {
		b, err := os.ReadFile(f.flows(task.ID))
		if err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(strings.TrimSpace(string(b)), "\n")
		if len(rows) < 2 || !strings.HasPrefix(rows[0], "group,from,to,bytes,start_s,fct_s") || !strings.HasSuffix(rows[1], fmt.Sprintf(",%d", task.Seed)) {
			t.Errorf("%s: %q", task.ID, rows)
		}
		texts[task.ID] = string(b)
	}
	lost := tasks[0].ID
	if err := os.Remove(f.flows(lost)); err != nil {
		t.Fatal(err)
	}
	sweepAll(1)
	if b, err := os.ReadFile(f.flows(lost)); err != nil || string(b) != texts[lost] {
		t.Errorf("again: %q, %v", b, err)
	}
	sweepAll(0)
	if _, plain := expand(t, tiny, text); plain[0].ID != tasks[0].ID || plain[0].Flows {
		t.Error("tasks without flows are others")
	}
}

// What stands for itself, or for more than memory holds, is refused before it is copied.
func TestAliasesWithoutEnd(t *testing.T) {
	bomb := "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), ", "))
	}
	for _, text := range []string{"a: &a [*a]\n", bomb} {
		var n yaml.Node
		if err := yaml.Load([]byte(text), &n); err != nil {
			t.Fatal(err)
		}
		if _, err := bare(n.Content[0]); err == nil {
			t.Errorf("%.40q is copied", text)
		}
	}
}

// A manifest is two documents: the ConfigMap, and the Job, whose memory is in bytes.
func TestManifest(t *testing.T) {
	s, _ := expand(t, tiny, "name: a\nexperiments: [tiny.yaml]\nseeds: 1..3\n")
	b, err := s.Kubernetes(Workers{Count: 2, CPUs: 7, Memory: 3_000_000_000}, "image", "claim")
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(string(b), "---\n")
	if len(documents) != 2 {
		t.Fatalf("%d documents:\n%s", len(documents), b)
	}
	for i, want := range []string{"ConfigMap", "Job"} {
		var d struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Resources struct{ Requests, Limits map[string]string }
						}
					}
				}
			}
		}
		if err := yaml.Unmarshal([]byte(documents[i]), &d); err != nil || d.Kind != want {
			t.Fatalf("document %d is a %s, %v", i, d.Kind, err)
		}
		if want != "Job" {
			continue
		}
		r, has := d.Spec.Template.Spec.Containers[0].Resources, map[string]string{"cpu": "7", "memory": "3000000000"}
		if !maps.Equal(r.Requests, has) || !maps.Equal(r.Limits, has) {
			t.Errorf("%+v", r)
		}
	}
}
