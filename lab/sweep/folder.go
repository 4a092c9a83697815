package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"

	"photon/lab/measure"
	"photon/lab/run"
)

// Folder is where a sweep and its results lie. Workers share nothing else.
type Folder string

// Folder is the spec's below the output folder.
func (s *Spec) Folder(out string) Folder { return Folder(filepath.Join(out, "sweeps", s.Name.V)) }

// Spec is the path of the spec that Keep left there.
func (f Folder) Spec() string { return filepath.Join(string(f), specName) }

func (f Folder) tasks() string { return filepath.Join(string(f), "tasks") }

func (f Folder) path(id string) string { return filepath.Join(f.tasks(), id+".json") }

// flows is where a task leaves the completion times of its flows.
func (f Folder) flows(id string) string { return filepath.Join(f.tasks(), id+".flows.csv") }

// Record is the result of a task as it lies in the folder.
type Record struct {
	Task       string            `json:"task"`
	Experiment string            `json:"experiment"`
	Scheme     string            `json:"scheme"`
	Seed       uint64            `json:"seed"`
	Params     map[string]string `json:"params"`
	Metrics    measure.Metrics   `json:"metrics"`
	Invariants run.Invariants    `json:"invariants"`
	TraceHash  string            `json:"trace_hash"`
	PacketHops uint64            `json:"packet_hops"`
	Virtual    float64           `json:"virtual_seconds"`
	Notes      []string          `json:"notes,omitempty"`
	Wall       float64           `json:"wall_seconds"` // the only thing that differs when it runs again
	Build      string            `json:"build"`        // of photon
}

// Save puts the spec and its experiments into the folder, for workers and for
// collecting.
func (s *Spec) Save(f Folder) error {
	files, err := s.Bundle()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.tasks(), 0o755); err != nil {
		return err
	}
	for name, b := range files {
		if err := renameio.WriteFile(filepath.Join(string(f), name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// put stores a result: written to another file, synced to the disk, and renamed, so that it
// is there whole or not at all, and the same however often it is put.
func (f Folder) put(r *Record) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return renameio.WriteFile(f.path(r.Task), append(b, '\n'), 0o644)
}

// Done are the ids of the tasks that have a result.
func (f Folder) Done() (map[string]bool, error) {
	done := map[string]bool{}
	list, err := os.ReadDir(f.tasks())
	if errors.Is(err, fs.ErrNotExist) {
		return done, nil
	}
	for _, d := range list {
		if id, ok := strings.CutSuffix(d.Name(), ".json"); ok && !strings.HasPrefix(id, ".") {
			done[id] = true
		}
	}
	return done, err
}

// read reads the result of a task.
func (f Folder) read(id string) (*Record, error) {
	b, err := os.ReadFile(f.path(id))
	if err != nil {
		return nil, err
	}
	r := &Record{}
	if err := json.Unmarshal(b, r); err != nil || r.Task != id {
		return nil, fmt.Errorf("%s is not the result of this task: remove it, and sweep again", f.path(id))
	}
	return r, nil
}

// Left are the tasks of a list that have no result yet, or not their flows.
func (f Folder) Left(tasks []*Task) (left []*Task, err error) {
	done, err := f.Done()
	for _, t := range tasks {
		missing := !done[t.ID]
		if t.Flows && !missing {
			_, err := os.Stat(f.flows(t.ID))
			missing = errors.Is(err, fs.ErrNotExist)
		}
		if missing {
			left = append(left, t)
		}
	}
	return left, err
}
