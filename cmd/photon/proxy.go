package main

import (
	"github.com/spf13/cobra"

	"photon/telemetry/client"
)

func proxyCommand() *cobra.Command {
	var at socketFlags
	c := &cobra.Command{
		Use:   "admin-proxy",
		Short: "Connect standard input and output to an admin socket, for a photon elsewhere that asks by ssh",
		RunE: func(c *cobra.Command, _ []string) error {
			return bad(client.Proxy(at.path, at.name, c.InOrStdin(), c.OutOrStdout()))
		},
	}
	at.add(c)
	return c
}
