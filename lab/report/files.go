package report

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"

	"photon/lab/claim"
	"photon/lab/experiment"
	"photon/lab/measure"
	"photon/lab/run"
	"photon/units"
)

// Write writes a result below the output folder: result.json, timing.json, and for
// each scheme its series and its flows as CSV. Package lab/figure draws it there.
func Write(e *experiment.Experiment, out string, j *claim.Judged) error {
	dir := filepath.Join(Folder(e, out), j.World)
	j.Command = command(e, []*claim.Judged{j})
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	// There is no result while its files are of two: result.json is the last. What an earlier result had and this has
	// not goes, or it would be read as of this.
	result := filepath.Join(dir, "result.json")
	if err := put(result, nil); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, "timing.json"), j.Timing); err != nil {
		return err
	}
	alternatives := filepath.Join(dir, "alternatives.json")
	if j.Alternatives == nil {
		if err := put(alternatives, nil); err != nil {
			return err
		}
	} else if err := writeJSON(alternatives, j.Alternatives); err != nil {
		return err
	}
	for i := range j.Runs {
		scheme := j.Runs[i].Scheme
		for _, value := range e.Values() {
			var series []byte
			if s := j.Series(scheme, value); s != nil {
				series = s.CSV()
			}
			path := filepath.Join(dir, FileName(experiment.Key(scheme, value)))
			flows := j.Ended(scheme, value)
			if err := errors.Join(put(path+".csv", series), putFlows(path+".flows.csv", flows)); err != nil {
				return err
			}
		}
	}
	return writeJSON(result, j)
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return put(path, append(b, '\n'))
}

// put has a file hold this and nothing else; nil: it is not there.
func put(path string, b []byte) error {
	if b != nil {
		return WriteWhole(path, b)
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// WriteWhole writes a file that somebody may read meanwhile, or may need if this one cannot be written: it
// is the old one or the new one, whole. What is no regular file, as a pipe, is written as it is.
func WriteWhole(path string, b []byte) error {
	return writeWhole(path, func(to io.Writer) error {
		_, err := to.Write(b)
		return err
	})
}

func writeWhole(path string, write func(io.Writer) error) error {
	switch real, err := filepath.EvalSymlinks(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		path = real // a link stays one
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
			if err != nil {
				return err
			}
			return errors.Join(write(f), f.Close())
		}
	}
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer func() { _ = f.Cleanup() }()
	if err := write(f); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// flowColumns are those of a table of flows that ended.
var flowColumns = []string{"group", "from", "to", "bytes", "start_s", "fct_s", "ideal_s", "seed"}

// putFlows has a file hold a table of flows that ended; without any it is not there. There may be tens of millions.
func putFlows(path string, flows iter.Seq[measure.Ended]) error {
	none := true
	for range flows {
		none = false
		break
	}
	if none {
		return put(path, nil)
	}
	return WriteFlows(path, flows)
}

// WriteFlows writes a table of flows that ended to a file: a row for each, sizes in bytes, times in seconds.
func WriteFlows(path string, flows iter.Seq[measure.Ended]) error {
	return writeWhole(path, func(to io.Writer) error { return flowsCSV(to, flows) })
}

func flowsCSV(to io.Writer, flows iter.Seq[measure.Ended]) error {
	w := csv.NewWriter(to)
	if err := w.Write(flowColumns); err != nil {
		return err
	}
	row := make([]string, len(flowColumns))
	for f := range flows {
		row[0], row[1], row[2], row[3] = f.Group, f.From, f.To, strconv.FormatInt(int64(f.Size), 10)
		for i, t := range [...]units.Time{f.Start, f.FCT, f.Ideal} {
			row[4+i] = measure.Float(t.Seconds())
		}
		row[7] = strconv.FormatUint(f.Seed, 10)
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func parseFlows(b io.Reader) (flows []measure.Ended, err error) {
	r := csv.NewReader(b)
	r.ReuseRecord = true
	switch row, err := r.Read(); {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return nil, err
	case len(row) != len(flowColumns):
		return nil, fmt.Errorf("not flows: %d columns", len(row))
	}
	names := map[string]string{} // once each, and not as a part of a row
	name := func(s string) string {
		known, ok := names[s]
		if !ok {
			known = strings.Clone(s)
			names[known] = known
		}
		return known
	}
	for {
		row, err := r.Read()
		if err == io.EOF {
			return flows, nil
		}
		if err != nil {
			return nil, err
		}
		var v [4]float64
		for i := range v {
			if v[i], err = strconv.ParseFloat(row[3+i], 64); err != nil {
				return nil, err
			}
		}
		seed, err := strconv.ParseUint(row[7], 10, 64)
		if err != nil {
			return nil, err
		}
		span := func(s float64) units.Time { return units.Time(math.Round(s * float64(units.Second))) }
		flows = append(flows, measure.Ended{
			Group: name(row[0]), From: name(row[1]), To: name(row[2]), Size: units.Size(v[0]),
			Start: span(v[1]), FCT: span(v[2]), Ideal: span(v[3]), Seed: seed,
		})
	}
}

// Load reads back what Write wrote, series included. It returns nil without an
// error if there is no result of that world.
func Load(e *experiment.Experiment, out, world string) (*claim.Judged, error) {
	dir := filepath.Join(Folder(e, out), world)
	b, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j := &claim.Judged{Result: &run.Result{}}
	if err := json.Unmarshal(b, j); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	for name, v := range map[string]any{"alternatives.json": &j.Alternatives, "timing.json": &j.Timing} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			if err := json.Unmarshal(b, v); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
			}
		}
	}
	for i := range j.Runs {
		for _, value := range e.Values() {
			if err := load(&j.Runs[i], dir, value); err != nil {
				return nil, err
			}
		}
	}
	return j, nil
}

// load reads the series and the flows of one value of the sweep; one that was not run
// has none.
func load(r *run.Run, dir, value string) error {
	path := filepath.Join(dir, FileName(experiment.Key(r.Scheme, value)))
	b, err := os.ReadFile(path + ".csv")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	series, err := measure.ParseSeries(b)
	if err != nil {
		return fmt.Errorf("%s.csv: %w", path, err)
	}
	var flows []measure.Ended
	if f, err := os.Open(path + ".flows.csv"); err == nil {
		defer f.Close()
		if flows, err = parseFlows(f); err != nil {
			return fmt.Errorf("%s.flows.csv: %w", path, err)
		}
	}
	r.Recorded(value, series, flows)
	return nil
}
