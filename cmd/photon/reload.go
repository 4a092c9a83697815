package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func reloadCommand() *cobra.Command {
	var at socketFlags
	c := &cobra.Command{
		Use:   "reload",
		Short: "Have a running switch take over its changed configuration file",
		Long: "Have a running switch read its file again and take it over, without losing a frame: thresholds, maps, the scheme\n" +
			"and its parameters, the watchdog, static addresses, VLANs, routes, storm control, what is spoilt on purpose. If anything in the file is wrong, or cannot change while the\n" +
			"switch runs, nothing changes. SIGHUP does the same; the log tells what came of it.",
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
