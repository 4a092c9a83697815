package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"photon/internal/table"
	"photon/telemetry/client"
	"photon/telemetry/show"

	"github.com/spf13/cobra"
)

// socketFlags say which running photon is meant.
type socketFlags struct {
	path, name string
	stderr     func() io.Writer // where it says that it waits
}

func (s *socketFlags) add(c *cobra.Command) {
	s.stderr = c.ErrOrStderr
	c.Flags().StringVar(&s.path, "socket", "", "Use the admin socket at this `path`")
	c.Flags().StringVar(&s.name, "name", "", "Ask the switch or agent with this `name` (default: the only one that runs here)")
	c.MarkFlagsMutuallyExclusive("name", "socket")
}

func (s *socketFlags) dial() (*client.Client, error) {
	client, err := client.Dial(s.path, s.name)
	if err != nil {
		return nil, bad(err)
	}
	client.Slow = func(line string) { fmt.Fprintln(s.stderr(), "photon:", line) }
	return client, nil
}

// answered marks what a node refused as a mistake of the user.
func answered(err error) error {
	if refused := client.Refused(""); errors.As(err, &refused) {
		return bad(err)
	}
	return err
}

func showCommand() *cobra.Command {
	var at socketFlags
	var asJSON bool
	var long strings.Builder
	long.WriteString("Show what a running switch or agent knows of itself, all of one instant:\n\n")
	var names []string
	topics := table.New(2)
	for _, t := range show.Topics {
		names = append(names, t.Name)
		topics.Row("  "+t.Name, t.Summary)
	}
	if err := topics.Print(&long); err != nil {
		panic(err) // memory takes everything
	}
	c := &cobra.Command{
		Use:   "show WHAT",
		Short: "Show counters, queues, buffer and addresses of a running switch or agent",
		Example: "  photon show pfc counters\n" +
			"  photon show queues --name sw --json",
		Long: strings.TrimSuffix(long.String(), "\n"),
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, words []string) error {
			if len(words) == 0 {
				return bad(errors.New("say what to show: " + strings.Join(names, ", ")))
			}
			topic, err := show.FindTopic(strings.Join(words, " "))
			if err != nil {
				return bad(err)
			}
			client, err := at.dial()
			if err != nil {
				return err
			}
			d, raw, err := client.Show(c.Context(), topic)
			if err != nil {
				return answered(err)
			}
			if asJSON {
				_, err = c.OutOrStdout().Write(raw)
				return err
			}
			d.Table(c.OutOrStdout())
			return nil
		},
	}
	at.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "Print JSON")
	return c
}
