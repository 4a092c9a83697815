package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"photon/internal/shell"
	"photon/internal/table"
	labrun "photon/lab/run"
	"photon/lab/sweep"
	"photon/units"
)

func sweepCommand() *cobra.Command {
	var f sweepFlags
	c := &cobra.Command{
		Use:   "sweep SPEC",
		Short: "Run a grid of experiments, schemes, seeds and settings, here or on a cluster",
		Example: "  photon sweep docs/examples/incast-sweep.yaml\n" +
			"  photon sweep docs/examples/incast-sweep.yaml --list\n" +
			"  photon sweep docs/examples/fig21-sweep.yaml --slurm --workers 200\n" +
			"  photon sweep collect docs/examples/incast-sweep.yaml --mean fct_p99_s",
		Long: "Run a grid of experiments, schemes, seeds and settings (docs/sweeps.md). Every run is a task with a result of its\n" +
			"own, OUT/sweeps/<name>/tasks/<id>.json; tasks that have one are not run again. `photon sweep collect` makes one\n" +
			"table of all results.",
		Args: func(c *cobra.Command, words []string) error {
			c.SuggestionsMinimumDistance = 2
			if len(words) > 1 && len(c.SuggestionsFor(words[0])) > 0 {
				return unknownCommand(c, words)
			}
			return exactlyOne("the file of a sweep (docs/examples/incast-sweep.yaml is one)")(c, words)
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.add(c)
	c.AddCommand(collectCommand())
	return c
}

// sweepFlags say where tasks are run.
type sweepFlags struct {
	out, worker, image, volume string
	seeds                      string
	list, slurm, kubernetes    bool
	jobs                       int
	workers                    sweep.Workers
	log                        logFlags
}

func (s *sweepFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.out, "out", "out", "Write results into this `folder`")
	f.IntVar(&s.jobs, "jobs", 0, "Run this `number` of tasks at once (default: as many as there are processors for)")
	f.IntVar(&s.workers.Cores, "cores", 1, "Use this `number` of processors for one task; results stay the same")
	f.BoolVar(&s.list, "list", false, "List the tasks, and which are done, and run nothing")
	f.BoolVar(&s.slurm, "slurm", false, "Write a Slurm job array, and submit it with sbatch")
	f.BoolVar(&s.kubernetes, "kubernetes", false, "Print the manifest of a Kubernetes Indexed Job")
	f.IntVar(&s.workers.Count, "workers", 100, "Divide the tasks among this `number` of workers, elements of the array or pods")
	f.IntVar(&s.workers.CPUs, "cpus", 1, "Give each worker on a cluster this `number` of processors, of which a task takes --cores")
	f.Var(&sizeFlag{&s.workers.Memory}, "memory", "Give each worker on a cluster memory of this `size`, as in 2GB (default: the cluster's)")
	f.StringVar(&s.image, "image", "", "Run this container `image`, which has photon, on Kubernetes")
	f.StringVar(&s.volume, "volume", "", "Store results on the volume with this `claim`, to which all pods can write, on Kubernetes")
	f.StringVar(&s.worker, "worker", "", "Run the tasks of worker `K/N`, with K from 0, as clusters do")
	s.log.add(c, "Log every task that has ended, instead of one now and then")
	f.StringVar(&s.seeds, "seeds", "", "Take only tasks with these `seeds` of the spec, as in 1..100")
	c.MarkFlagsMutuallyExclusive("list", "slurm", "kubernetes", "worker")
	for _, elsewhere := range []string{"slurm", "kubernetes", "worker"} {
		c.MarkFlagsMutuallyExclusive("seeds", elsewhere)
	}
}

// sizeFlag is a flag that is a size.
type sizeFlag struct{ size *units.Size }

func (s *sizeFlag) String() string { return "" }
func (s *sizeFlag) Type() string   { return "size" }
func (s *sizeFlag) Set(text string) (err error) {
	*s.size, err = units.ParseSize(text)
	return err
}

func (s *sweepFlags) run(c *cobra.Command, file string) error {
	if c.Flags().Changed("jobs") && s.jobs < 1 || s.workers.Cores < 1 || s.workers.Count < 1 || s.workers.CPUs < 1 {
		return bad(errors.New("--jobs, --cores, --workers and --cpus must be at least 1"))
	}
	if (s.slurm || s.kubernetes) && s.workers.Cores > s.workers.CPUs {
		return bad(fmt.Errorf("--cores %d: a worker has --cpus %d", s.workers.Cores, s.workers.CPUs))
	}
	if s.out == "" {
		return bad(errors.New("--out: a name of a folder belongs here"))
	}
	if err := cmp.Or(
		goesWith(c, []string{"kubernetes"}, "image", "volume"),
		goesWith(c, []string{"slurm", "kubernetes"}, "workers", "cpus", "memory"),
	); err != nil {
		return err
	}
	if c.Flags().Changed("seeds") && s.seeds == "" {
		return bad(errors.New("--seeds: seeds belong here, like 1..1000"))
	}
	spec, tasks, err := readSweep(file, s.seeds)
	if err != nil {
		return err
	}
	s.workers.Count = min(s.workers.Count, len(tasks))
	folder := spec.Folder(s.out)
	switch {
	case c.Flags().Changed("worker"): // empty, it is a mistake, and not all tasks
		k, n, err := parseWorker(s.worker)
		if err != nil {
			return bad(err)
		}
		return s.local(c, folder, sweep.Shard(tasks, k, n), fmt.Sprintf("worker %d of %d: ", k, n))
	case s.list:
		return listTasks(c, folder, tasks)
	}
	if err := spec.Check(tasks); err != nil {
		return bad(err)
	}
	if s.kubernetes {
		if s.image == "" || s.volume == "" {
			return bad(errors.New("--kubernetes needs --image, with photon in it, and --volume, the claim of a volume for results"))
		}
		b, err := spec.Kubernetes(s.workers, s.image, s.volume)
		if err != nil {
			return bad(err)
		}
		_, err = c.OutOrStdout().Write(b)
		return err
	}
	if err := spec.Save(folder); err != nil {
		return bad(fmt.Errorf("--out: %w", err))
	}
	if s.slurm {
		return s.submit(c, spec, tasks)
	}
	if err := s.local(c, folder, tasks, ""); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "photon sweep collect %s makes one table of them\n", shell.Word(string(folder)))
	return nil
}

// readSweep reads a spec and expands it; seeds leaves only the tasks with them.
func readSweep(file, seeds string) (*sweep.Spec, []*sweep.Task, error) {
	spec, err := sweep.Read(file)
	if err = wrongKind(file, sweepFile, err); err != nil {
		return nil, nil, bad(err)
	}
	tasks, err := spec.Tasks()
	if err != nil || seeds == "" {
		return spec, tasks, bad(err)
	}
	list, err := sweep.ParseSeeds(seeds)
	if err != nil {
		return nil, nil, bad(fmt.Errorf("--seeds: %w", err))
	}
	if tasks = sweep.OfSeeds(tasks, list); len(tasks) == 0 {
		return nil, nil, bad(fmt.Errorf("--seeds %s: %s has no task with any of them", seeds, file))
	}
	return spec, tasks, nil
}

// parseWorker reads K/N.
func parseWorker(text string) (k, n int, err error) {
	a, b, _ := strings.Cut(text, "/")
	k, errK := strconv.Atoi(a)
	n, errN := strconv.Atoi(b)
	if errK != nil || errN != nil || k < 0 || k >= n {
		return 0, 0, fmt.Errorf("--worker %q: write it like 0/100, from 0/100 to 99/100", text)
	}
	return k, n, nil
}

// local runs the tasks that are not done on this machine.
func (s *sweepFlags) local(c *cobra.Command, folder sweep.Folder, tasks []*sweep.Task, who string) error {
	left, err := folder.Left(tasks)
	if err != nil {
		return err
	}
	if len(left) < len(tasks) {
		fmt.Fprintf(c.ErrOrStderr(), "%s%d of %d tasks were done before\n", who, len(tasks)-len(left), len(tasks))
	}
	show := newProgress(c.ErrOrStderr(), s.log, 1)
	cores := min(s.workers.Cores, runtime.GOMAXPROCS(0))
	jobs := s.jobs
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0) / cores
	}
	err = folder.Run(c.Context(), left, jobs, cores, func(p labrun.Progress) { show.moved(0, p.Run, p) })
	show.end()
	now, errLeft := folder.Left(tasks)
	switch {
	case errLeft != nil:
		return errLeft
	case c.Context().Err() != nil && len(now) > 0:
		return fmt.Errorf("interrupted: %d of %d tasks are done; the same command goes on from there", len(tasks)-len(now), len(tasks))
	case err != nil && len(now) > 0:
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s%d tasks are done\n", who, len(tasks))
	return nil
}

// listTasks prints what there is to do and what is done.
func listTasks(c *cobra.Command, folder sweep.Folder, tasks []*sweep.Task) error {
	done, err := folder.Done()
	if err != nil {
		return err
	}
	n := 0
	list := table.New(3)
	for _, t := range tasks {
		state := "to do"
		if done[t.ID] {
			state = "done"
			n++
		}
		list.Row(state, t.ID, fmt.Sprintf("%s seed=%d", t, t.Seed))
	}
	if err := list.Print(c.OutOrStdout()); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%d tasks, %d done\n", len(tasks), n)
	return nil
}

// submit hands what is left to Slurm.
func (s *sweepFlags) submit(c *cobra.Command, spec *sweep.Spec, tasks []*sweep.Task) error {
	out, err := filepath.Abs(s.out)
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	folder := spec.Folder(out)
	left, err := folder.Left(tasks)
	if err != nil {
		return err
	}
	if len(left) == 0 {
		fmt.Fprintf(c.OutOrStdout(), "%d tasks are done; photon sweep collect %s makes one table of them\n",
			len(tasks), shell.Word(string(folder)))
		return nil
	}
	script := filepath.Join(string(folder), "slurm.sh")
	if err := renameio.WriteFile(script, folder.Slurm(spec, s.workers, tasks, left, program, out), 0o755); err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%d of %d tasks are to do: %s\n", len(left), len(tasks), script)
	path, err := exec.LookPath("sbatch")
	if err != nil {
		return fmt.Errorf("there is no sbatch on this machine; submit %s where there is one", script)
	}
	submit := exec.CommandContext(c.Context(), path, script)
	submit.Stdout, submit.Stderr = c.OutOrStdout(), c.ErrOrStderr()
	if err := submit.Run(); err != nil {
		return fmt.Errorf("sbatch %s: %w", script, err)
	}
	return nil
}

func collectCommand() *cobra.Command {
	var out, seeds, over string
	var missing, claims bool
	var mean, plot []string
	c := &cobra.Command{
		Use:   "collect SPEC|DIR",
		Short: "Make one table of a sweep, as CSV and as Parquet",
		Long: "Make one table of the results of a sweep, results.csv and results.parquet in its folder: a row for each task,\n" +
			"columns for everything that varies and for every metric. DIR is the folder of a sweep, OUT/sweeps/<name>.",
		Args: exactlyOne("the file of a sweep, or its folder of results"),
		RunE: func(c *cobra.Command, args []string) error {
			if out == "" {
				return bad(errors.New("--out: a name of a folder belongs here"))
			}
			file, folder := args[0], sweep.Folder(args[0])
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				file = folder.Spec()
			} else {
				folder = ""
			}
			spec, tasks, err := readSweep(file, seeds)
			if err != nil {
				return err
			}
			if folder == "" {
				folder = spec.Folder(out)
			}
			var apart []*sweep.Task // also with other seeds
			if seeds != "" {
				if apart, err = spec.Tasks(); err != nil {
					return bad(err)
				}
			}
			got, err := folder.Collect(tasks, apart...)
			if _, missing := os.Stat(string(folder)); errors.Is(missing, fs.ErrNotExist) {
				return bad(err)
			}
			if err != nil {
				return err
			}
			w := c.ErrOrStderr()
			if got.Foreign > 0 {
				fmt.Fprintf(w, "note: %d results in %s are of no task of this spec, and left out\n", got.Foreign, folder)
			}
			if got.Builds > 1 {
				fmt.Fprintf(w, "note: the results come from %d different builds of photon\n", got.Builds)
			}
			if len(mean) > 0 {
				if err := got.WriteMeans(c.OutOrStdout(), mean); err != nil {
					return bad(fmt.Errorf("--mean: %w", err))
				}
			}
			for _, metric := range plot {
				files, err := folder.Draw(&got, metric, over)
				if err != nil {
					return bad(fmt.Errorf("--plot: %w", err))
				}
				fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", metric, strings.Join(files, ", "))
			}
			if len(plot) > 0 {
				command := shell.Words("photon", "sweep", "collect", string(folder)) +
					" --plot " + shell.Word(strings.Join(plot, ",")) + " --over " + shell.Word(got.Over(over))
				if seeds != "" {
					command += " --seeds " + shell.Word(seeds)
				}
				file, err := folder.Page(&got, plot, over, command)
				if err != nil {
					return fmt.Errorf("--plot: %w", err)
				}
				fmt.Fprintf(c.OutOrStdout(), "page: %s\n", file)
			}
			if claims {
				if err := spec.WriteClaims(c.OutOrStdout(), &got); err != nil {
					return bad(fmt.Errorf("--claims: %w", err))
				}
			}
			fmt.Fprintf(c.OutOrStdout(), "%d of %d tasks: %s, %s\n", got.Rows, len(tasks), got.CSV, got.Parquet)
			if got.Missing > 0 && !missing {
				return fmt.Errorf("%d tasks have no result yet; photon sweep runs them (--allow-missing: that is all right)", got.Missing)
			}
			return nil
		},
	}
	c.Flags().StringVar(&out, "out", "out", "Read and write results in this `folder`, if a spec is named")
	c.Flags().StringVar(&seeds, "seeds", "", "Take only tasks with these `seeds` of the spec, as in 1..100")
	c.Flags().StringSliceVar(&mean, "mean", nil, "Also print means of these `metrics` over seeds, with standard errors")
	c.Flags().StringSliceVar(&plot, "plot", nil, "Also draw medians of these `metrics` over seeds, with 95 % intervals, as PNG, as SVG and on a page")
	c.Flags().StringVar(&over, "over", "", "Draw --plot over this `setting`, named by its path or the last word of it (default: the one with most values)")
	c.Flags().BoolVar(&claims, "claims", false, "Also compare means over seeds with the claims of the experiments")
	c.Flags().BoolVar(&missing, "allow-missing", false, "Leave out tasks without a result instead of failing")
	return c
}
