package run

import (
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/semaphore"

	"photon/config"
	"photon/dataplane/dpdk"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/nodecontrol"
	"photon/scheme"
)

// Options of a replay.
type Options struct {
	World    string              // "sim" or "dpdk"
	Schemes  []string            // nil: all of the experiment
	Seed     uint64              // the first; 0: the experiment's
	Repeat   int                 // how many seeds; 0: as many as the experiment says, on dpdk one
	Dilation int                 // of the clock, on dpdk
	Quick    bool                // leave out what no claim needs
	Testbed  nodecontrol.Testbed // where the nodes are, on dpdk; nil: all in this process
	// Progress is told now and then how far the replay is, by one goroutine at a time.
	Progress func(Progress)
	// Pool is what runs in virtual time share with other replays, one each; nil: as
	// many at once as there are processors.
	Pool *semaphore.Weighted
	// Cores is how many processors one run in virtual time uses, at most all there are;
	// 0: one, and if the network is large those that no other run needs. Results are
	// the same.
	Cores int
	// Checkpoints is a folder in which every run is saved as soon as it ends; runs that
	// are there already do not run again. "": nothing is saved.
	Checkpoints string
	// Program is what runs, and Flags are those of its command that are not in the result otherwise.
	Program Program
	Flags   []string
	// Viewer shows the runs while they run; nil: none does.
	Viewer Viewer
	// Capture captures the first run of each scheme and value of the sweep; nil: none. Package capture has one.
	Capture Capture
}

// Capture writes down what goes through a network.
type Capture interface {
	// Begin is called before the run that has a name begins, and what it returns when it has ended.
	Begin(n *build.Network, run string) (end func(), err error)
}

// Viewer shows replays while they run; package live has one. It may be called by
// several goroutines.
type Viewer interface {
	// Replay begins a replay with these runs.
	Replay(e *experiment.Experiment, world string, jobs []*Job) View
}

// View is of one replay. Runs are numbered as they were when it began.
type View interface {
	// Start is called when a run begins. It is watched, unless the Watcher is nil.
	Start(job int) Watcher
	// Moved is called with how far a run is. It must not block.
	Moved(job int, part float64)
	// End is called when a run has ended, or failed.
	End(job int, err error)
}

// Watcher watches one run.
type Watcher interface {
	Watch(e *experiment.Experiment, n *build.Network)
	// Encode is what was recorded, to be saved with the run; Job.Traces is what was loaded.
	Encode() []byte
}

// noView is the view of replays without a viewer.
type noView struct{}

func (noView) Start(int) Watcher  { return nil }
func (noView) Moved(int, float64) {}
func (noView) End(int, error)     {}

// chooseSchemes returns the schemes that are wanted: the experiment's, with what it sets
// otherwise, or any other by its name. A name stands for all uses of a scheme, unless
// one of them is called so.
func chooseSchemes(e *experiment.Experiment, o Options) (uses []experiment.SchemeUse, err error) {
	names := o.Schemes
	if names == nil && o.Quick {
		names = e.Quick.Schemes
	}
	if names == nil {
		return e.Schemes, nil
	}
	for _, name := range names {
		matching := slices.DeleteFunc(slices.Clone(e.Schemes), func(u experiment.SchemeUse) bool { return u.Key() != name })
		if len(matching) == 0 {
			matching = slices.DeleteFunc(slices.Clone(e.Schemes), func(u experiment.SchemeUse) bool { return u.Name.V != name })
		}
		if len(matching) == 0 {
			if _, err := scheme.Get(name); err != nil {
				return nil, err
			}
			matching = []experiment.SchemeUse{{Name: config.Set(name)}}
		}
		for _, u := range matching {
			if slices.ContainsFunc(uses, func(have experiment.SchemeUse) bool { return have.Key() == u.Key() }) {
				return nil, fmt.Errorf("scheme %s is named twice", u.Key())
			}
			uses = append(uses, u)
		}
	}
	return uses, nil
}

// CheckSchemes says whether there are such schemes.
func CheckSchemes(e *experiment.Experiment, names []string) error {
	_, err := chooseSchemes(e, Options{Schemes: names})
	return err
}

// CheckDPDK finds what of an experiment cannot run on DPDK devices of this process, before anything runs.
func CheckDPDK(e *experiment.Experiment, o Options) error {
	for _, v := range sweepValues(e, o) {
		for _, ev := range v.Events {
			if ev.Link.IsSet() {
				return &config.Error{File: e.File(), Line: ev.Link.Line, Err: fmt.Errorf(
					"events: the rate of link %s changes in virtual time only, not on DPDK (--world sim)", ev.Link.V)}
			}
		}
		p, err := v.Plan()
		if err != nil {
			return err
		}
		if n, most := len(p.Cables), dpdk.MostLinks(); n > most {
			return &config.Error{File: e.File(), Err: fmt.Errorf(
				"topology: it has %d links, and DPDK has devices for %d (a smaller one, or --world sim)", n, most)}
		}
	}
	return nil
}

// sweepValues are those of the sweep that are to be run.
func sweepValues(e *experiment.Experiment, o Options) []experiment.Variant {
	if !o.Quick || e.Sweep == nil || e.Sweep.Quick == nil {
		return e.Variants()
	}
	return slices.DeleteFunc(slices.Clone(e.Variants()), func(v experiment.Variant) bool { return !slices.Contains(e.Sweep.Quick, v.Value) })
}

// shortened is the experiment with what --quick leaves of its runs.
func shortened(e *experiment.Experiment, o Options) *experiment.Experiment {
	if !o.Quick || e.Quick.Flows == 0 && e.Quick.Duration == 0 {
		return e
	}
	return e.InShort()
}

// MostSeeds is how many Options.Repeat may be.
const MostSeeds = 10_000

// Seeds is with how many seeds each scheme runs.
func Seeds(e *experiment.Experiment, o Options) int {
	switch {
	case o.Repeat > 0:
		return o.Repeat
	case o.World != "sim": // it takes the wall's time, and draws by itself
		return 1
	case o.Quick && e.Quick.Repeat > 0:
		return e.Quick.Repeat
	}
	return e.Repeat
}

// parallel is how many runs go side by side at most: in virtual time as many as
// there are processors.
func parallel(o Options) int {
	if o.World == "sim" {
		return runtime.GOMAXPROCS(0)
	}
	return 1
}
