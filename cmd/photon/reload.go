package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func reloadCommand() *cobra.Command {
	var at socketFlags
	c := &cobra.Command{
		Use:   "reload",
		Short: "Apply the changed configuration file of a running switch",
		Long: "Make a running switch read its file again and apply it without losing a frame: ports, thresholds, maps, the scheme\n" +
			"and its parameters, the watchdog, static addresses, VLANs, routes, storm control, impairments. If anything in the\n" +
			"file is wrong, or cannot change while the switch runs, nothing changes. SIGHUP does the same, and the log has the\n" +
			"outcome.",
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := at.dial()
			if err != nil {
				return err
			}
			changes, err := client.Reload(c.Context())
			if err != nil {
				return answered(err)
			}
			if len(changes) == 0 {
				fmt.Fprintln(c.OutOrStdout(), "nothing changed")
			}
			for _, line := range changes {
				fmt.Fprintln(c.OutOrStdout(), line)
			}
			return nil
		},
	}
	at.add(c)
	return c
}
