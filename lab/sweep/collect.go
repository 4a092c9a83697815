package sweep

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/google/renameio/v2"
	"github.com/parquet-go/parquet-go"
)

// Collected says what became of collecting.
type Collected struct {
	CSV, Parquet string // the files
	Rows         int
	Missing      int // tasks without a result
	Foreign      int // results of no task of the spec
	Builds       int // different programs that made the results
	records      []*Record
}

// kind is what a column holds.
type kind int

const (
	words kind = iota
	whole
	number
)

// column is one column of the table; "" is a value that is not there.
type column struct {
	name string
	kind kind
	of   func(*Record) string
}

// fixed are the columns that every sweep has. How long a run took is not among
// them: the same spec gives the same table, wherever its tasks ran.
var fixed = []string{"task", "experiment", "scheme", "seed", "packet_hops", "virtual_seconds", "trace_hash"}

// Collect makes one table of the results of tasks, results.csv and
// results.parquet, a row for each in the order of the grid. Columns are the task,
// every setting that varies, and every metric; what a task does not have is empty, and what never came infinite. apart
// are tasks of the spec that are left out on purpose.
func (f Folder) Collect(tasks []*Task, apart ...*Task) (c Collected, err error) {
	if _, err := os.Stat(string(f)); errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("there is no folder %s: photon sweep makes it", f)
	}
	done, err := f.Done()
	if err != nil {
		return c, err
	}
	records := []*Record{}
	builds := map[string]bool{}
	for _, t := range tasks {
		if !done[t.ID] {
			c.Missing++
			continue
		}
		r, err := f.read(t.ID)
		if err != nil {
			return c, err
		}
		// The task is the same run in another grid, too, of which something else was said when it ran.
		r.Experiment, r.Scheme, r.Params = t.Experiment, t.Scheme, t.settings()
		records = append(records, r)
		builds[r.Build] = true
	}
	c.records = records
	c.Rows, c.Builds = len(records), len(builds)
	for _, t := range slices.Concat(tasks, apart) {
		delete(done, t.ID)
	}
	c.Foreign = len(done)
	c.CSV, c.Parquet = filepath.Join(string(f), "results.csv"), filepath.Join(string(f), "results.parquet")
	table := columns(records)
	if err := renameio.WriteFile(c.CSV, writeCSV(table, records), 0o644); err != nil {
		return c, err
	}
	b, err := writeParquet(table, records)
	if err != nil {
		return c, err
	}
	return c, renameio.WriteFile(c.Parquet, b, 0o644)
}

// columns are those that the results have together. A setting is a number where
// all its values are, or are quantities of one kind.
func columns(records []*Record) []column {
	table := []column{
		{"task", words, func(r *Record) string { return r.Task }},
		{"experiment", words, func(r *Record) string { return r.Experiment }},
		{"scheme", words, func(r *Record) string { return r.Scheme }},
		{"seed", whole, func(r *Record) string { return strconv.FormatUint(r.Seed, 10) }},
	}
	params, metrics := map[string][]string{}, map[string]bool{}
	for _, r := range records {
		for name, v := range r.Params {
			params[name] = append(params[name], v)
		}
		for name := range r.Metrics {
			metrics[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		table = append(table, settings(name, quantityOf(params[name])))
	}
	table = append(table,
		column{"packet_hops", whole, func(r *Record) string { return strconv.FormatUint(r.PacketHops, 10) }},
		column{"virtual_seconds", number, func(r *Record) string { return float(r.Virtual) }},
		column{"trace_hash", words, func(r *Record) string { return r.TraceHash }})
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		table = append(table, column{name, number, func(r *Record) string {
			switch v, measured := r.Metrics[name]; {
			case !measured:
				return ""
			case v == nil:
				return never
			default:
				return float(*v)
			}
		}})
	}
	return table
}

// settings is the column of a setting that is such a quantity, or words.
func settings(name string, q *quantity) column {
	if q == nil {
		return column{name, words, func(r *Record) string { return r.Params[name] }}
	}
	return column{name, number, func(r *Record) string {
		text, given := r.Params[name]
		if !given {
			return ""
		}
		v, err := q.read(text)
		if err != nil {
			return "" // never: all values are such quantities
		}
		return float(v)
	}}
}

// never is later than all times: the mean of a column then includes it, and is not silently that of the other runs.
const never = "inf"

func float(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func writeCSV(table []column, records []*Record) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	row := make([]string, len(table))
	for i, c := range table {
		row[i] = c.name
	}
	_ = w.Write(row) // to memory
	for _, r := range records {
		for i, c := range table {
			row[i] = c.of(r)
		}
		_ = w.Write(row) // to memory
	}
	w.Flush()
	return b.Bytes()
}

// inOrder is a group whose fields keep the order of the table; the library's own
// sorts them by name.
type inOrder struct {
	parquet.Group
	table []column
}

func (g inOrder) Fields() []parquet.Field {
	fields := g.Group.Fields()
	place := map[string]int{}
	for i, c := range g.table {
		place[c.name] = i
	}
	slices.SortFunc(fields, func(a, b parquet.Field) int { return place[a.Name()] - place[b.Name()] })
	return fields
}

func writeParquet(table []column, records []*Record) ([]byte, error) {
	group := parquet.Group{}
	for _, c := range table {
		node := parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		switch c.kind {
		case whole:
			node = parquet.Uint(64)
		case number:
			node = parquet.Leaf(parquet.DoubleType)
		}
		group[c.name] = parquet.Optional(node)
	}
	var b bytes.Buffer
	w := parquet.NewWriter(&b, parquet.NewSchema("results", inOrder{group, table}), parquet.Compression(&parquet.Snappy))
	for _, r := range records {
		row := make(parquet.Row, len(table))
		for i, c := range table {
			v, err := value(c.kind, c.of(r))
			if err != nil {
				return nil, err
			}
			present := 1
			if v.IsNull() {
				present = 0
			}
			row[i] = v.Level(0, present, i)
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// value is a cell as Parquet has it.
func value(k kind, text string) (parquet.Value, error) {
	if text == "" {
		return parquet.NullValue(), nil
	}
	switch k {
	case whole:
		v, err := strconv.ParseUint(text, 10, 64)
		return parquet.Int64Value(int64(v)), err
	case number:
		v, err := strconv.ParseFloat(text, 64)
		return parquet.DoubleValue(v), err
	}
	return parquet.ByteArrayValue([]byte(text)), nil
}
