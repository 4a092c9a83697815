package sweep

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"photon/units"
)

// Workers are what a cluster starts: each does a part of the tasks, and knows its
// part by its number.
type Workers struct {
	Count  int        // at least 1
	CPUs   int        // of each, at least 1
	Cores  int        // of those, what a task uses; 0: one. So many fit as tasks at once
	Memory units.Size // of each; 0: the cluster's default
}

// flags are those of a worker's command: how many tasks at once, on how many cores each.
func (w Workers) flags() []string {
	cores := max(1, w.Cores)
	list := []string{"--jobs", strconv.Itoa(max(1, w.CPUs/cores))}
	if cores > 1 {
		list = append(list, "--cores", strconv.Itoa(cores))
	}
	return list
}

// idle reports which workers have nothing to do.
func (w Workers) idle(tasks, left []*Task) (idle []bool) {
	todo := map[*Task]bool{}
	for _, t := range left {
		todo[t] = true
	}
	idle = make([]bool, w.Count)
	for k := range idle {
		idle[k] = !slices.ContainsFunc(Shard(tasks, k, w.Count), func(t *Task) bool { return todo[t] })
	}
	return idle
}

// Slurm is a script for sbatch: a job array with an element for every worker that
// has something left to do. Program, folder and out are paths that every node of the
// cluster sees.
func (f Folder) Slurm(s *Spec, w Workers, tasks, left []*Task, program, out string) []byte {
	idle := w.idle(tasks, left)
	var b bytes.Buffer
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("#!/bin/sh")
	line("#SBATCH --job-name=photon-%s", s.Name.V)
	line("#SBATCH --array=%s", ranges(idle))
	line("#SBATCH --ntasks=1")
	line("#SBATCH --cpus-per-task=%d", w.CPUs)
	if w.Memory > 0 {
		line("#SBATCH --mem=%dM", (w.Memory+1<<20-1)>>20)
	}
	line("#SBATCH --requeue")
	line("#SBATCH --open-mode=append")
	line("#SBATCH --output=%q", filepath.Join(string(f), "slurm-%a.log"))
	line("exec %s sweep %s --out %s --worker \"$SLURM_ARRAY_TASK_ID/%d\" %s", quote(program), quote(f.Spec()), quote(out), w.Count, strings.Join(w.flags(), " "))
	return b.Bytes()
}

// ranges writes the numbers of those that are not idle as Slurm does: 0-3,7.
func ranges(idle []bool) string {
	var list []string
	for k := 0; k < len(idle); k++ {
		if idle[k] {
			continue
		}
		last := k
		for last+1 < len(idle) && !idle[last+1] {
			last++
		}
		if last == k {
			list = append(list, strconv.Itoa(k))
		} else {
			list = append(list, fmt.Sprintf("%d-%d", k, last))
		}
		k = last
	}
	return strings.Join(list, ",")
}

// quote is a text as a shell takes it literally.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
