package main

import (
	"errors"

	"github.com/spf13/cobra"

	"photon/config"
	"photon/daemon"
)

func agentCommand() *cobra.Command {
	var file string
	var log logFlags
	c := &cobra.Command{
		Use:   "agent -c agent.yaml",
		Short: "Be a host: send and receive flows under a congestion control scheme",
		Long: "Be a host at the end of a link: send the flows of the configuration as RoCEv2 packets, each at the rate its\n" +
			"reaction point allows, obey PFC, receive flows of others and notify their senders. With `role: nic` it is a NIC\n" +
			"for other programs instead: what they send waits in queues by flow and leaves at the pace of the scheme.",
		RunE: func(c *cobra.Command, _ []string) error {
			if file == "" {
				return bad(errors.New("an agent needs a configuration (-c agent.yaml; deploy/agent-h0.yaml is an example)"))
			}
			conf, err := config.ReadAgent(file)
			if err != nil {
				return bad(wrongKind(file, agentFile, err))
			}
			return ended(daemon.Agent(c.Context(), running(c, log), conf))
		},
	}
	c.Flags().StringVarP(&file, "config", "c", "", "Read the configuration from this `file`")
	log.add(c, requestsToo)
	return c
}
