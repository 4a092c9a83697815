package run

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/renameio/v2"

	"photon/lab/experiment"
	"photon/lab/measure"
)

// Each run that ends is saved as a checkpoint until the whole replay has ended, so that
// a replay that was interrupted, or killed, continues where it was. The name of a
// checkpoint is a hash of all that the result depends on, the program included.

// checkpoints are the saved runs of one replay; nil saves none.
type checkpoints struct {
	dir    string
	build  string
	common string // what all runs of the replay have in common
}

// openCheckpoints opens the folder of saved runs, and removes those of other builds of
// photon: their results might differ.
func openCheckpoints(e *experiment.Experiment, o Options) *checkpoints {
	if o.Checkpoints == "" || o.Testbed != nil || e.Digest() == [sha256.Size]byte{} { // a run on machines is never the same twice
		return nil
	}
	s := &checkpoints{dir: o.Checkpoints, build: Build(), common: fmt.Sprintf("%x %s %d %v", e.Digest(), o.World, o.Dilation, o.Quick)}
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.run")) // the pattern is right
	for _, f := range files {
		if !strings.HasPrefix(filepath.Base(f), s.build+"-") {
			_ = os.Remove(f)
		}
	}
	return s
}

func (s *checkpoints) path(j *Job) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %v %q %d %v %v %d", s.common, j.Use.Key(), j.Use.Values(), j.Value, j.Seed, j.First, j.Alternative, j.number))
	return filepath.Join(s.dir, s.build+"-"+hex.EncodeToString(sum[:8])+".run")
}

// checkpoint is a run as it is saved: the flows that ended follow it, some at a time, until there are none. Unmeasured
// names the metrics that are nil, which gob cannot put in maps.
type checkpoint struct {
	Metrics    map[string]float64
	Unmeasured []string
	Series     measure.Series
	Invariants Invariants
	Hash       string
	Hops       uint64
	Virtual    float64
	Notes      []string
	Remarks    []string
	Timing     Timing
	Recording  []byte // from Watcher.Encode; nil: it was not watched
}

// save saves a run, and what its watcher recorded. A run that lost frames is invalid, and not saved.
func (s *checkpoints) save(j *Job, l Watcher) error {
	if s == nil || j.result.invariants.LostFrames > 0 || !j.result.invariants.ConservationOK {
		return nil
	}
	r := &j.result
	k := checkpoint{
		Metrics: map[string]float64{}, Series: r.series, Invariants: r.invariants,
		Hash: r.hash, Hops: r.hops, Virtual: r.virtual, Notes: r.notes, Remarks: r.remarks, Timing: r.timing,
	}
	if l != nil {
		k.Recording = l.Encode()
	}
	for _, name := range slices.Sorted(maps.Keys(r.metrics)) {
		if v := r.metrics[name]; v != nil {
			k.Metrics[name] = *v
		} else {
			k.Unmeasured = append(k.Unmeasured, name)
		}
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	f, err := renameio.NewPendingFile(s.path(j), renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer func() { _ = f.Cleanup() }()
	w := bufio.NewWriter(f)
	if err := k.write(w, r.ended); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// chunk is how many flows of a checkpoint are written at a time.
const chunk = 4096

func (k *checkpoint) write(w io.Writer, ended iter.Seq[measure.Ended]) error {
	to := gob.NewEncoder(w)
	if err := to.Encode(k); err != nil {
		return err
	}
	some := make([]measure.Ended, 0, chunk)
	for f := range ended {
		if some = append(some, f); len(some) == chunk {
			if err := to.Encode(some); err != nil {
				return err
			}
			some = some[:0]
		}
	}
	if len(some) > 0 {
		if err := to.Encode(some); err != nil {
			return err
		}
	}
	return to.Encode([]measure.Ended{})
}

func (k *checkpoint) read(r io.Reader) (ended []measure.Ended, err error) {
	from := gob.NewDecoder(r)
	if err := from.Decode(k); err != nil {
		return nil, err
	}
	for {
		var some []measure.Ended
		if err := from.Decode(&some); err != nil || len(some) == 0 {
			return ended, err
		}
		ended = append(ended, some...)
	}
}

// load fills in the result of a saved run. One that cannot be read runs again.
func (s *checkpoints) load(j *Job) bool {
	if s == nil {
		return false
	}
	f, err := os.Open(s.path(j))
	if err != nil {
		return false
	}
	defer f.Close()
	var k checkpoint
	ended, err := k.read(bufio.NewReader(f))
	if err != nil {
		return false
	}
	j.result = runResult{
		metrics: measure.Metrics{}, series: k.Series, ended: slices.Values(ended), invariants: k.Invariants,
		hash: k.Hash, hops: k.Hops, virtual: k.Virtual, notes: k.Notes, remarks: k.Remarks, timing: k.Timing,
	}
	j.Traces = k.Recording
	for name, v := range k.Metrics {
		j.result.metrics[name] = &v
	}
	for _, name := range k.Unmeasured {
		j.result.metrics[name] = nil
	}
	return true
}

// Build names the program that runs.
func Build() string { return program() }

var program = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	f, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	name, err := nameOf(f)
	if err != nil {
		return "unknown"
	}
	return name
})

// nameOf names a program by a hash of its build ID, whose last part is a hash of all that is in it. Where the linker
// left none it hashes the file, which takes as long as a small run.
func nameOf(f io.ReaderAt) (string, error) {
	h := sha256.New()
	if id := buildID(f); id != "" {
		h.Write([]byte(id))
	} else if _, err := io.Copy(h, io.NewSectionReader(f, 0, math.MaxInt64)); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}

// buildID is what the linker and the go command have written into a program of ELF; empty: it has no whole one.
func buildID(f io.ReaderAt) string {
	e, err := elf.NewFile(f)
	if err != nil {
		return ""
	}
	s := e.Section(".note.go.buildid")
	if s == nil {
		return ""
	}
	const header = 16 // of a note with the name "Go": three lengths, and the name
	b, err := s.Data()
	if err != nil || len(b) < header {
		return ""
	}
	id := string(bytes.TrimRight(b[header:], "\x00"))
	if parts := strings.Split(id, "/"); len(parts) != 4 || len(parts[3]) < 16 {
		return ""
	}
	return id
}
