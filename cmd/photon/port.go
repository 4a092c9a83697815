package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"photon/telemetry/client"
	"photon/units"
)

func portCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "port",
		Short: "Add, remove, shut and open ports of a running switch",
		Long: "Add, remove, shut and open ports of a running switch (photon show ports lists them). A port stays shut or open until\n" +
			"the next such command, a reload that changes its `shutdown` in the file, or the end of the switch. What is added or\n" +
			"removed stays so until a reload, after which the ports are those of the file, or until the switch ends.",
		Example: "  photon port down sw0\n  photon port up sw0\n  photon port add net_af_packet4,iface=sw4\n  photon port remove sw4",
		Args:    unknownCommand,
		RunE: func(*cobra.Command, []string) error {
			return bad(errors.New("say what: port add, port down, port remove or port up"))
		},
	}
	c.AddCommand(
		setPortCommand("down", "Shut a port of a running switch",
			"Shut a port of a running switch, as if it had no link. Frames that wait for it, and those that still come through it,\n"+
				"are discarded and counted. Its addresses are forgotten; routes and groups avoid it. The peer loses its link if the\n"+
				"device can take it down, as cards, interfaces of the kernel and taps can."),
		setPortCommand("up", "Open a port of a running switch that was shut",
			"Open a port of a running switch that was shut. It starts like a port whose link comes up."),
		addPortCommand(), removePortCommand())
	return c
}

// portOrder is for commands that change ports of a running switch: they send a request and print the answer.
func portOrder(c *cobra.Command, ask func(client *client.Client, c *cobra.Command, what string) (string, error)) *cobra.Command {
	var at socketFlags
	c.RunE = func(c *cobra.Command, args []string) error {
		client, err := at.dial()
		if err != nil {
			return err
		}
		said, err := ask(client, c, args[0])
		if err != nil {
			return answered(err)
		}
		fmt.Fprintln(c.OutOrStdout(), said)
		return nil
	}
	at.add(c)
	return c
}

// aPort is what orders about a port are about.
var aPort = exactlyOne("a port (photon show ports lists them)")

func setPortCommand(name, short, long string) *cobra.Command {
	return portOrder(&cobra.Command{Use: name + " PORT", Short: short, Long: long, Args: aPort},
		func(client *client.Client, c *cobra.Command, port string) (string, error) {
			return client.SetPort(c.Context(), port, name == "up")
		})
}

func addPortCommand() *cobra.Command {
	var rate units.Rate
	c := &cobra.Command{
		Use: "add DEVICE", Short: "Make a device a port of a running switch",
		Long: "Make a device a port of a running switch, as `ports:` in its file does at the start. What the file says of all\n" +
			"ports holds for it. A card can be added only if a port was a card at the start, since DPDK has no bus for it otherwise.",
		Example: "  photon port add net_af_packet4,iface=sw4 --rate 10Gbps\n  photon port add 0000:03:00.0",
		Args:    exactlyOne("a device (net_af_packet4,iface=sw4)"),
	}
	c.Flags().Var(&rateFlag{&rate}, "rate", "Give its link this `rate`, as in 10Gbps (default: the file's `rate` of all ports)")
	return portOrder(c, func(client *client.Client, c *cobra.Command, device string) (string, error) {
		text := ""
		if c.Flags().Changed("rate") {
			text = rate.String()
		}
		return client.AddPort(c.Context(), device, text)
	})
}

func removePortCommand() *cobra.Command {
	return portOrder(&cobra.Command{
		Use: "remove PORT", Short: "Remove a port from a running switch",
		Long: "Remove a port from a running switch, which gives its device back. Frames that wait for the port are discarded and\n" +
			"counted, and its addresses forgotten; frames that came in by it are still forwarded. If VLANs, routes or static\n" +
			"addresses name the port, reload a file in which they do not.",
		Example: "  photon port remove sw4",
		Args:    aPort,
	}, func(client *client.Client, c *cobra.Command, port string) (string, error) {
		return client.RemovePort(c.Context(), port)
	})
}
