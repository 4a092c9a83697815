package lab

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Folder is where an experiment's results lie below the output folder.
func (e *Experiment) Folder(out string) string {
	return filepath.Join(out, strings.ReplaceAll(e.ID, "/", "-"))
}

// Write writes a result below the output folder: result.json, timing.json, for
// each scheme its series as CSV and its plot as PNG, and overview.png with the
// plots of all.
func (e *Experiment) Write(out string, r *Result) error {
	dir := filepath.Join(e.Folder(out), r.World)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, "result.json"), r); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, "timing.json"), struct {
		Runs []Timing `json:"runs"`
	}{r.timing}); err != nil {
		return err
	}
	if r.alternatives != nil {
		if err := writeJSON(filepath.Join(dir, "alternatives.json"), r.alternatives); err != nil {
			return err
		}
	}
	overview, err := e.overview(r, "png")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "overview.png"), overview, 0o644); err != nil {
		return err
	}
	for _, run := range r.Runs {
		s := r.series[run.Scheme]
		if err := os.WriteFile(filepath.Join(dir, run.Scheme+".csv"), s.csv(), 0o644); err != nil {
			return err
		}
		png, err := e.plot(s, run.Scheme+", "+r.World, "png")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, run.Scheme+".png"), png, 0o644); err != nil {
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

// csv is a series as a table: seconds, bit/s, bytes.
func (s *Series) csv() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	row := []string{"time_s", "aggregate_rate_bps", "queue_bytes"}
	for i := range s.Flow {
		row = append(row, fmt.Sprintf("flow%d_allowed_bps", i+1))
	}
	_ = w.Write(row) // to memory
	for i, at := range s.Time {
		row = append(row[:0], float(at.Seconds()), float(s.Rate[i]), strconv.FormatInt(int64(s.Queue[i]), 10))
		for _, f := range s.Flow {
			row = append(row, float(f[i]))
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.Bytes()
}

func float(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

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
	r := &Result{series: map[string]*Series{}}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "alternatives.json")); err == nil {
		if err := json.Unmarshal(b, &r.alternatives); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	for _, run := range r.Runs {
		b, err := os.ReadFile(filepath.Join(dir, run.Scheme+".csv"))
		if err != nil {
			return nil, err
		}
		if r.series[run.Scheme], err = parseSeries(b); err != nil {
			return nil, fmt.Errorf("%s/%s.csv: %w", dir, run.Scheme, err)
		}
	}
	return r, nil
}
