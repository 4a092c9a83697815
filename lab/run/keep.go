package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/google/renameio/v2"

	"photon/lab/experiment"
	"photon/lab/measure"
)

// Runs that have ended are kept one by one until the whole replay has, so that one
// which was interrupted, or killed, goes on where it was. A run is known by all
// that its result depends on, the program included.

// store keeps the runs of one replay; nil keeps none.
type store struct {
	dir   string
	build string
	of    string // what all runs of the replay have in common
}

// newStore opens the folder of kept runs. What another build of photon left there is
// of no use, and removed.
func newStore(e *experiment.Experiment, o Options) *store {
	if o.Keep == "" || o.Testbed != nil || e.Digest() == [sha256.Size]byte{} { // what machines do is not repeated by looking it up
		return nil
	}
	s := &store{dir: o.Keep, build: Build(), of: fmt.Sprintf("%x %s %d %v", e.Digest(), o.World, o.Dilation, o.Quick)}
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.run")) // the pattern is right
	for _, f := range files {
		if !strings.HasPrefix(filepath.Base(f), s.build+"-") {
			_ = os.Remove(f) // it would only lie there
		}
	}
	return s
}

func (s *store) path(j *Job) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %v %q %d %v %v %d", s.of, j.Use.Key(), j.Use.Values(), j.Value, j.Seed, j.First, j.Alternative, j.number))
	return filepath.Join(s.dir, s.build+"-"+hex.EncodeToString(sum[:8])+".run")
}

// keptRun is a run as it is kept: gob has no nil in maps.
type keptRun struct {
	Metrics    map[string]float64
	Unmeasured []string
	Series     measure.Series
	Ended      []measure.Ended
	Invariants Invariants
	Hash       string
	Hops       uint64
	Virtual    float64
	Notes      []string
	Timing     Timing
	Seen       []byte // what a page showed of it; nil: nobody watched
}

// save keeps a run, and what was seen of it. One that lost frames is worth nothing, and not kept.
func (s *store) save(j *Job, l Look) error {
	if s == nil || j.result.invariants.LostFrames > 0 || !j.result.invariants.ConservationOK {
		return nil
	}
	r := &j.result
	k := keptRun{
		Metrics: map[string]float64{}, Series: r.series, Ended: r.ended, Invariants: r.invariants,
		Hash: r.hash, Hops: r.hops, Virtual: r.virtual, Notes: r.notes, Timing: r.timing,
	}
	if l != nil {
		k.Seen = l.Told()
	}
	for _, name := range slices.Sorted(maps.Keys(r.metrics)) {
		if v := r.metrics[name]; v != nil {
			k.Metrics[name] = *v
		} else {
			k.Unmeasured = append(k.Unmeasured, name)
		}
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(k); err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	return renameio.WriteFile(s.path(j), b.Bytes(), 0o644)
}

// load fills in the result of a run that was kept. One that cannot be read is as
// good as none.
func (s *store) load(j *Job) bool {
	if s == nil {
		return false
	}
	b, err := os.ReadFile(s.path(j))
	if err != nil {
		return false
	}
	var k keptRun
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&k); err != nil {
		return false
	}
	j.result = one{
		metrics: measure.Metrics{}, series: k.Series, ended: k.Ended, invariants: k.Invariants,
		hash: k.Hash, hops: k.Hops, virtual: k.Virtual, notes: k.Notes, timing: k.Timing,
	}
	j.Seen = k.Seen
	for name, v := range k.Metrics {
		j.result.metrics[name] = &v
	}
	for _, name := range k.Unmeasured {
		j.result.metrics[name] = nil
	}
	return true
}

// Build names the program that runs: a hash of its file.
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
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "unknown"
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
})
