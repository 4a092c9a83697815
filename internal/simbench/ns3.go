package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// What ns-3 with the RDMA model of HPCC's authors takes for the same files, on the same machine, in the same turn as
// photon. Neither its rate elsewhere nor a loop that stands for the machine is needed then.

// peer is one run of it.
type peer struct {
	wall, cpu float64 // seconds
	rss       int64
	flows     int // that ended
}

// runNS3 has that simulator (its program scratch/third) run the files in a folder. Its libraries are beside the folder
// of the program, where waf puts them.
func (f *foreign) runNS3(program, folder string) (p peer, err error) {
	program, err = filepath.Abs(program)
	if err != nil {
		return p, err
	}
	at := filepath.Join(folder, f.name)
	_ = os.Remove(filepath.Join(at, "fct.txt")) // of the turn before
	const traced = "0\n"                        // nodes
	if err := os.WriteFile(filepath.Join(at, "trace.txt"), []byte(traced), 0o644); err != nil {
		return p, err
	}
	cmd := exec.Command(program, "config.txt")
	cmd.Dir = at
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+filepath.Dir(filepath.Dir(program)))
	begin := time.Now()
	text, err := cmd.CombinedOutput()
	p.wall = time.Since(begin).Seconds()
	if err != nil {
		return p, fmt.Errorf("%s: %w: %s", cmd, err, text[max(0, len(text)-500):])
	}
	p.cpu = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	if use, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		p.rss = use.Maxrss << 10
	}
	p.flows, err = flowsOf(filepath.Join(at, "fct.txt"))
	return p, err
}

// flowsOf is how many flows an fct.txt has.
func flowsOf(fct string) (int, error) {
	b, err := os.ReadFile(fct)
	return bytes.Count(b, []byte("\n")), err
}

// beside notes what ns-3 took for the same, of which so many flows ended here.
func (r *ran) beside(p peer, flows int) error {
	if flows != p.flows || flows == 0 {
		return fmt.Errorf("%s: %d flows ended here, and %d in ns-3", r.Name, flows, p.flows)
	}
	r.NS3Wall, r.NS3RSS, r.XNS3Here = p.wall, p.rss, p.wall/r.Wall
	return nil
}
