package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitFailed   = 1 // something went wrong on the way
	exitBadInput = 2 // flags, arguments or files; nothing was started
)

// badInput is an error of what the user wrote.
type badInput struct{ error }

func (b badInput) Unwrap() error { return b.error }

// bad marks an error as a mistake of the user, for exit code 2.
func bad(err error) error {
	if err == nil {
		return nil
	}
	return badInput{err}
}

func main() {
	// A crash ends with a signal. By itself Go ends it with exit code 2, and what hangs, too, which systemd ends with
	// SIGABRT: that code says mistakes, and systemd restarts nothing after it.
	debug.SetTraceback("crash")
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	ctx := context.Background()
	if signals := endings(root, args); signals != nil {
		until, stop := signal.NotifyContext(ctx, signals...)
		defer stop()
		ctx = until
		// A second Ctrl-C ends what does not heed the first.
		context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	}
	out := &standard{file: os.Stdout}
	root.SetOut(out)
	c, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = out.failed()
	}
	if err == nil {
		return 0
	}
	complain(os.Stderr, c, err)
	if errors.As(err, &badInput{}) {
		return exitBadInput
	}
	return exitFailed
}

// endings are the signals that end a command as Ctrl-C does: what it started ends with it, and it says how to go on.
// The end of its terminal (SIGHUP) is one, unless it was started with nohup. A switch or an agent reloads instead.
// What only reads and prints has none: a signal ends it on the spot, and nothing is left behind.
func endings(root *cobra.Command, args []string) []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	c, _, err := root.Find(args)
	switch {
	case err == nil && slices.Contains([]string{"check", "explain", "list"}, c.Name()):
		return nil
	case err != nil || c.Name() == "switch" || c.Name() == "agent" || signal.Ignored(syscall.SIGHUP):
		return all
	}
	return append(all, syscall.SIGHUP)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "photon",
		Short: "A lossless-Ethernet switch and NIC dataplane on DPDK, and its laboratory",
		Long: "A lossless-Ethernet switch and NIC dataplane on DPDK, and the laboratory that repeats papers with it: the\n" +
			"same switch, host and congestion control code runs in virtual time and on the wire.",
		Example: "  photon replay pcn/fig11                 # repeat a paper's figure; the report says how close it comes\n" +
			"  photon list                             # which experiments and schemes there are\n" +
			"  photon run mine.yaml                    # an experiment of your own (docs/experiments.md)\n" +
			"  photon switch -c deploy/switch.yaml     # be a switch (docs/operate.md)",
		Version:       versions(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("photon {{.Version}}\n")
	root.SetFlagErrorFunc(unknownFlag)
	root.Flags().BoolP("version", "v", false, "Print the versions of photon, with its commit, of Go and of DPDK")
	setUsage(root)
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Repeat experiments:", []*cobra.Command{replayCommand(), runCommand(), sweepCommand(), reportCommand(), listCommand(), explainCommand(), checkCommand()}},
		{"Be a switch or a host:", []*cobra.Command{switchCommand(), agentCommand(), acceptCommand()}},
		{"Inspect and control one that runs:", []*cobra.Command{showCommand(), topCommand(), captureCommand(), flowCommand(), portCommand(), clearCommand(), reloadCommand(), proxyCommand()}},
		{"", []*cobra.Command{versionCommand(), manCommand()}},
	} {
		if g.title != "" {
			root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		}
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.Args = unknownCommand
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { // cobra would do the same later, as errors of its own
		return bad(cmp.Or(c.ValidateRequiredFlags(), onlyOne(c.ValidateFlagGroups())))
	}
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	root.SetHelpCommand(helpCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			needsShell(c)
		}
		refuseAsBad(c)
	}
	if err := addCompletions(root); err != nil {
		panic(err) // two completions for one flag
	}
	return root
}
