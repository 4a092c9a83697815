package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func clearCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "clear",
		Short:   "Reset watermarks of a running switch or agent",
		Long:    "Reset watermarks of a running switch or agent to what is there now. Counters go on, because Prometheus needs that.",
		Example: "  photon clear watermarks\n  photon clear watermarks sw0",
		Args:    unknownCommand,
		RunE: func(*cobra.Command, []string) error {
			return bad(errors.New("say what: clear watermarks"))
		},
	}
	c.AddCommand(clearWatermarksCommand())
	return c
}

func clearWatermarksCommand() *cobra.Command {
	var at socketFlags
	c := &cobra.Command{
		Use:   "watermarks [PORT]",
		Short: "Reset watermarks of queues and buffer",
		Long: "Reset the watermarks of queues and buffer (photon show queues, photon show buffer) to what is there now, of one\n" +
			"port or of all. Of all ports, this also resets the longest poll gap.",
		Example: "  photon clear watermarks\n  photon clear watermarks sw0 --name sw",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("clear watermarks: name one port, or none for all (there is %q, too)", args[1])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			client, err := at.dial()
			if err != nil {
				return err
			}
			said, err := client.ClearWatermarks(c.Context(), strings.Join(args, ""))
			if err != nil {
				return answered(err)
			}
			fmt.Fprintln(c.OutOrStdout(), said)
			return nil
		},
	}
	at.add(c)
	return c
}
