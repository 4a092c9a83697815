// Command photon is a lossless-Ethernet switch and NIC dataplane on DPDK, and
// the laboratory that goes with it.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
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

// bad marks an error as the user's to mend.
func bad(err error) error {
	if err == nil {
		return nil
	}
	return badInput{err}
}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "photon:", err)
	if errors.As(err, &badInput{}) {
		return exitBadInput
	}
	return exitFailed
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "photon",
		Short:         "A lossless-Ethernet switch and NIC dataplane on DPDK, and its laboratory",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return bad(err) })
	for _, c := range []*cobra.Command{switchCommand(), agentCommand(), showCommand(), topCommand(), reloadCommand(), captureCommand(), flowCommand(), proxyCommand(), replayCommand(), runCommand(), sweepCommand(), reportCommand(), listCommand(), explainCommand(), checkCommand(), versionCommand(), manCommand()} {
		args := c.Args
		if args == nil {
			args = cobra.NoArgs
		}
		c.Args = func(c *cobra.Command, a []string) error { return bad(args(c, a)) }
		root.AddCommand(c)
	}
	root.Args = func(_ *cobra.Command, a []string) error {
		if len(a) > 0 {
			return bad(fmt.Errorf("unknown command %q (photon --help lists them)", a[0]))
		}
		return nil
	}
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { // cobra would do the same later, as errors of its own
		return bad(cmp.Or(c.ValidateRequiredFlags(), c.ValidateFlagGroups()))
	}
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	if err := addCompletions(root); err != nil {
		panic(err) // two completions for one flag
	}
	return root
}
