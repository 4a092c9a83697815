package main

import (
	"github.com/spf13/cobra"

	"photon/telemetry/client"
)

func proxyCommand() *cobra.Command {
	var at socketFlags
	c := &cobra.Command{
		Use:   "admin-proxy",
		Short: "Join standard input and output to the admin socket of a photon here, for one that asks from elsewhere by ssh",
		RunE: func(c *cobra.Command, _ []string) error {
			return bad(client.Proxy(at.path, at.name, c.InOrStdin(), c.OutOrStdout()))
		},
	}
	at.add(c)
	return c
}
