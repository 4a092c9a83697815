package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"photon/config"
	"photon/lab/hpccfiles"
	labrun "photon/lab/run"
	"photon/scheme"
)

// hpccFlags are those of `photon run` with the HPCC simulator's files.
type hpccFlags struct {
	topology, flows, config, scheme, against string
	matrix, chakra, groups                   string
	strict                                   bool
}

// hpccOnly are the flags that only make sense with these files.
var hpccOnly = []string{"topology", "flows", "cm", "chakra", "comm-groups", "config", "scheme", "against", "strict"}

func (h *hpccFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&h.topology, "topology", "", "Read the network from this `file`, topology.txt of the HPCC simulator or htsim's")
	f.StringVar(&h.flows, "flows", "", "Read the flows from this `file`, flow.txt of the HPCC simulator")
	f.StringVar(&h.matrix, "cm", "", "Read the flows from this `file`, a connection matrix of htsim, in place of --flows")
	f.StringVar(&h.chakra, "chakra", "", "Read Chakra execution traces in place of --flows: `DIR/PREFIX` stands for DIR/PREFIX.0.et and so on")
	f.StringVar(&h.groups, "comm-groups", "", "Read the process groups of the traces from this `file`: JSON, names with lists of ranks")
	f.StringVar(&h.config, "config", "", "Read parameters from this `file`, config.txt of the HPCC simulator (default: the scheme's own)")
	f.StringVar(&h.scheme, "scheme", "", "Run this scheme (`name`) instead of the one that CC_MODE names (without a config: dcqcn-mlx)")
	f.BoolVar(&h.strict, "strict", false, "Take a warning about the files as an error")
	f.StringVar(&h.against, "against", "", "Compare our slowdowns with those of this `file`, an fct.txt")
}

func (h *hpccFlags) wanted(c *cobra.Command) bool {
	for _, name := range hpccOnly {
		if c.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// misplaced says what is wrong with a flag for these files beside an experiment; nothing if a file of theirs is named, too.
func (h *hpccFlags) misplaced(c *cobra.Command) string {
	for _, name := range []string{"topology", "flows", "cm", "chakra"} {
		if c.Flags().Changed(name) {
			return ""
		}
	}
	for _, name := range hpccOnly {
		switch {
		case !c.Flags().Changed(name):
		case name == "scheme":
			return "--scheme goes with --topology: experiments of your own have --schemes"
		default:
			return fmt.Sprintf("--%s goes with --topology, not with experiments of your own", name)
		}
	}
	return ""
}

// checkNames refuses flags without a value, as of a shell's variable that is not set.
func (h *hpccFlags) checkNames(c *cobra.Command) error {
	for _, name := range hpccOnly {
		if f := c.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			kind := "file"
			if name == "scheme" {
				kind = "scheme"
			}
			return fmt.Errorf("--%s: a name of a %s belongs here", name, kind)
		}
	}
	return nil
}

// run reads the files, says what in them is not followed, and runs them.
func (h *hpccFlags) run(c *cobra.Command, r *replayFlags) error {
	if err := h.checkNames(c); err != nil {
		return bad(err)
	}
	traffic := 0
	for _, given := range []string{h.flows, h.matrix, h.chakra} {
		if given != "" {
			traffic++
		}
	}
	switch {
	case h.topology == "" || traffic == 0:
		return bad(errors.New("--topology and --flows are needed, both (or --cm or --chakra in place of --flows)"))
	case traffic > 1:
		return bad(errors.New("--flows, --cm and --chakra: one of them"))
	case h.groups != "" && h.chakra == "":
		return bad(errors.New("--comm-groups is of --chakra"))
	}
	for _, name := range []string{"schemes", "quick", "repeat", "dilation", "testbed", "serve", "serve-remote", "serve-for"} {
		if c.Flags().Changed(name) {
			return bad(fmt.Errorf("--%s does not go with --topology and --flows", name))
		}
	}
	if r.world != "sim" {
		return bad(fmt.Errorf("--world %q: the HPCC simulator's files run in sim", r.world))
	}
	if err := r.checkNumbers(c); err != nil {
		return err
	}
	if h.scheme != "" {
		if _, err := scheme.Get(h.scheme); err != nil {
			return bad(err)
		}
	}
	p, theirs, err := h.read()
	if err != nil {
		return bad(err)
	}
	w := c.ErrOrStderr()
	for _, n := range p.Notes {
		fmt.Fprintln(w, "note:", n)
	}
	for _, n := range p.Warnings {
		fmt.Fprintln(w, "warning:", n)
	}
	if n := len(p.Warnings); h.strict && n > 0 {
		if n == 1 {
			return bad(errors.New("--strict: 1 warning"))
		}
		return bad(fmt.Errorf("--strict: %d warnings", n))
	}
	o := labrun.Options{World: "sim", Seed: r.o.Seed}
	if err := r.capture.check(c, p.Experiment, &o); err != nil {
		return bad(err)
	}
	if err := h.checkWritten(p, r); err != nil {
		return bad(err)
	}
	if err := r.makeOut(); err != nil {
		return bad(err)
	}
	if err := r.capture.begin(&o); err != nil {
		return bad(err)
	}
	cores := r.o.Cores
	if cores == 0 && labrun.Spreads(p.Experiment) {
		cores = runtime.GOMAXPROCS(0) // there is no other run
	}
	o.Cores = min(cores, runtime.GOMAXPROCS(0))
	show := newProgress(w, r.log, 1)
	o.Progress = func(s labrun.Progress) {
		s.Done, s.Runs = s.Part, 1
		show.moved(0, s.Run, s)
	}
	result, err := p.Run(c.Context(), o, r.out)
	if err == nil && r.log.verbose {
		show.moved(0, p.Use.Key(), labrun.Progress{Last: true, Done: 1, Ended: 1, Runs: 1})
	}
	if show.end(); err == nil {
		err = h.report(c, p, result, theirs, r.out)
	}
	return r.capture.report(c.ErrOrStderr(), err)
}

// checkWritten refuses to write over the files that were read.
func (h *hpccFlags) checkWritten(p *hpccfiles.Prepared, r *replayFlags) error {
	read := []string{h.topology, h.flows, h.config, h.matrix, h.groups, h.against}
	if h.chakra != "" {
		for rank := range p.Trace.Hosts {
			read = append(read, rankFile(h.chakra, rank))
		}
	}
	write := r.capture.written()
	for i, name := range []string{p.FCT, p.PFC, p.Queues} {
		w := written{path: filepath.Join(r.out, name), by: p.Named[i], mend: "--out names another folder"}
		if w.by == "" {
			w.by, w.mend = "--out", anotherFolder
		}
		write = append(write, w)
	}
	return checkWritten(read, write)
}

func (h *hpccFlags) read() (p *hpccfiles.Prepared, theirs hpccfiles.Slowdowns, err error) {
	read := func(file string) []byte {
		if err != nil || file == "" {
			return nil
		}
		var b []byte
		if b, err = os.ReadFile(file); err != nil {
			err = config.FileError(file, err)
		}
		return b
	}
	topology, flows, settings, fct := read(h.topology), read(h.flows), read(h.config), read(h.against)
	if err != nil {
		return nil, theirs, err
	}
	f := hpccfiles.Files{FlowFile: h.flows}
	var warnings []string
	if f.Topology, err = hpccfiles.ReadTopology(h.topology, topology); err != nil {
		return nil, theirs, err
	}
	if h.flows == "" {
		f.Trace, warnings, err = h.trace()
	} else {
		f.Flows, err = hpccfiles.ReadFlows(h.flows, flows, f.Topology)
	}
	if err != nil {
		return nil, theirs, err
	}
	if h.config != "" {
		if f.Config, err = hpccfiles.ReadConfig(h.config, settings); err != nil {
			return nil, theirs, err
		}
	}
	if h.against != "" {
		list, err := hpccfiles.ReadFCT(h.against, fct)
		if err != nil {
			return nil, theirs, err
		}
		if len(list) == 0 {
			return nil, theirs, config.FileError(h.against, errors.New("there are no flows in it to compare with"))
		}
		if n := hpccfiles.Strangers(list, f.Flows); h.flows != "" && n > 0 {
			warnings = append(warnings, fmt.Sprintf("%s: %d of its %d flows are none of %s: slowdowns of other "+
				"flows are compared", h.against, n, len(list), h.flows))
		}
		theirs = hpccfiles.Summarise(list)
	}
	if p, err = hpccfiles.Prepare(f, h.scheme); err == nil {
		p.Warnings = append(p.Warnings, warnings...)
	}
	return p, theirs, err
}

// report prints what came out.
func (h *hpccFlags) report(c *cobra.Command, p *hpccfiles.Prepared, r *hpccfiles.Result, theirs hpccfiles.Slowdowns, out string) error {
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s: %d of %d flows ended; %d pauses and resumptions\n", p.Use.Name.V, len(r.Finished), r.Flows, r.Pauses)
	fmt.Fprintf(c.ErrOrStderr(), "%.1f s, %.2f million hops of data packets per second\n", r.Wall, float64(r.PacketHops)/r.Wall/1e6)
	if err := hpccfiles.Table(w, hpccfiles.Summarise(r.Finished), theirs); err != nil {
		return err
	}
	for _, name := range []string{p.FCT, p.PFC, p.Queues} {
		fmt.Fprintln(w, "written:", filepath.Join(out, name))
	}
	return nil
}
