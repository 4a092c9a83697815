package lab

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"photon/units"
)

// Folder is where an experiment's results lie below the output folder.
func (e *Experiment) Folder(out string) string {
	return filepath.Join(out, strings.ReplaceAll(e.ID, "/", "-"))
}

// Write writes a result below the output folder: result.json, timing.json, and for
// each scheme its series as CSV. Package lab/figure draws it there.
func (e *Experiment) Write(out string, r *Result) error {
	dir := filepath.Join(e.Folder(out), r.World)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, "result.json"), r); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, "timing.json"), r.timing); err != nil {
		return err
	}
	if r.alternatives != nil {
		if err := writeJSON(filepath.Join(dir, "alternatives.json"), r.alternatives); err != nil {
			return err
		}
	}
	for name, s := range r.series {
		if err := os.WriteFile(filepath.Join(dir, name+".csv"), s.csv(), 0o644); err != nil {
			return err
		}
	}
	for name, flows := range r.ended {
		if len(flows) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name+".flows.csv"), flowsCSV(flows), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// flowsCSV is a table of flows that ended.
func flowsCSV(flows []Ended) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"group", "from", "to", "bytes", "start_s", "fct_s", "ideal_s"}) // to memory
	for _, f := range flows {
		_ = w.Write([]string{f.Group, f.From, f.To, strconv.FormatInt(int64(f.Size), 10), float(f.Start.Seconds()), float(f.FCT.Seconds()), float(f.Ideal.Seconds())})
	}
	w.Flush()
	return b.Bytes()
}

func parseFlows(b []byte) (flows []Ended, err error) {
	rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	if len(rows[0]) != 7 {
		return nil, fmt.Errorf("not flows: %d columns", len(rows[0]))
	}
	for _, row := range rows[1:] {
		var v [4]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(row[3+i], 64); err != nil {
				return nil, err
			}
		}
		span := func(s float64) units.Time { return units.Time(math.Round(s * float64(units.Second))) }
		flows = append(flows, Ended{Group: row[0], From: row[1], To: row[2], Size: units.Size(v[0]), Start: span(v[1]), FCT: span(v[2]), Ideal: span(v[3])})
	}
	return flows, nil
}

// load reads the series and the flows of one key; a value of a sweep that was
// not run has none.
func (r *Result) load(dir, key string) error {
	b, err := os.ReadFile(filepath.Join(dir, key+".csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if r.series[key], err = parseSeries(b); err != nil {
		return fmt.Errorf("%s/%s.csv: %w", dir, key, err)
	}
	if b, err = os.ReadFile(filepath.Join(dir, key+".flows.csv")); err == nil {
		if r.ended[key], err = parseFlows(b); err != nil {
			return fmt.Errorf("%s/%s.flows.csv: %w", dir, key, err)
		}
	}
	return nil
}

// Load reads back what Write wrote, series included. It returns nil without an
// error if there is no result of that world.
func (e *Experiment) Load(out, world string) (*Result, error) {
	dir := filepath.Join(e.Folder(out), world)
	b, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Result{series: map[string]*Series{}, ended: map[string][]Ended{}}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for name, v := range map[string]any{"alternatives.json": &r.alternatives, "timing.json": &r.timing} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			if err := json.Unmarshal(b, v); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
			}
		}
	}
	for _, run := range r.Runs {
		for _, v := range e.variants {
			if err := r.load(dir, Key(run.Scheme, v.value)); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}
