package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"photon/telemetry/client"
	"photon/telemetry/top"
)

func topCommand() *cobra.Command {
	var at socketFlags
	var once, asJSON bool
	var every time.Duration
	var o top.Options
	c := &cobra.Command{
		Use:   "top",
		Short: "Watch a running switch or agent: rates, queues, pauses, marks, flows",
		Long: "Watch a running switch or agent in a terminal of 80x24 or more. Each port and priority has its rates, its queue\n" +
			"against the limit, the share of time it was paused, marks and drops; an agent's flows follow, and how regularly the\n" +
			"workers poll. The key ? explains. With --once it prints one such table and ends.",
		RunE: func(c *cobra.Command, _ []string) error {
			if every < minEvery || every > time.Hour {
				return bad(fmt.Errorf("--every %v: from %v to 1h", every, minEvery))
			}
			if err := o.Check(); err != nil {
				return bad(fmt.Errorf("--sort: %w", err))
			}
			if asJSON && !once {
				return bad(errors.New("--json goes with --once"))
			}
			client, err := at.dial()
			if err != nil {
				return err
			}
			if once {
				return topOnce(c, client, every, o, asJSON)
			}
			out, ok := c.OutOrStdout().(*standard)
			if !ok || !term.IsTerminal(int(out.file.Fd())) || !term.IsTerminal(int(os.Stdin.Fd())) {
				return bad(errors.New("this is no terminal: --once prints the table once"))
			}
			if _, err := client.Live(c.Context(), 0); err != nil { // said where it stays to be read
				return answered(err)
			}
			return top.Run(c.Context(), client.Live, every, o, tea.WithOutput(out.file))
		},
	}
	at.add(c)
	f := c.Flags()
	f.BoolVar(&once, "once", false, "Print one table, of the time between two looks, and end")
	f.BoolVar(&asJSON, "json", false, "Print JSON, with --once")
	f.DurationVar(&every, "every", time.Second, "Look again after this `time`")
	f.StringVar(&o.Order, "sort", "port", "Sort by this `column`: "+strings.Join(top.SortNames(), ", "))
	f.BoolVarP(&o.Reverse, "reverse", "r", false, "Sort the other way round")
	f.BoolVarP(&o.All, "all", "a", false, "Show all priorities, also those that nothing used")
	return c
}

// minEvery is the shortest time between looks: below it the node is looked at
// more than it is worth.
const minEvery = 50 * time.Millisecond

// topOnce looks twice and prints what happened in between.
func topOnce(c *cobra.Command, client *client.Client, every time.Duration, o top.Options, asJSON bool) error {
	before, err := client.Live(c.Context(), top.Flows)
	if err != nil {
		return answered(err)
	}
	ctx, cancel := context.WithTimeout(c.Context(), every)
	defer cancel()
	if <-ctx.Done(); c.Context().Err() != nil {
		return c.Context().Err()
	}
	after, err := client.Live(c.Context(), top.Flows)
	if err != nil {
		return answered(err)
	}
	v := top.Compare(before, after)
	if v.Span <= 0 {
		return fmt.Errorf(
			"%s was restarted, or got other ports, between the two looks: nothing can be compared (try again)", v.Node)
	}
	if asJSON {
		return v.JSON(c.OutOrStdout(), o)
	}
	return v.Print(c.OutOrStdout(), o)
}
