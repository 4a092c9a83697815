package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"photon/internal/suggest"
	"photon/telemetry/metrics"
)

func listCommand() *cobra.Command {
	var markdown, asJSON bool
	c := &cobra.Command{
		Use:       "list [experiments|schemes|workloads|measurements|metrics]",
		Short:     "List experiments, schemes, distributions of flow sizes, what experiments can measure, and Prometheus' metrics",
		ValidArgs: listed(),
		Args: func(_ *cobra.Command, args []string) error {
			if kinds := listed(); len(args) > 1 || len(args) == 1 && !slices.Contains(kinds, args[0]) {
				return fmt.Errorf("%q cannot be listed (%s)", args[len(args)-1], suggest.Or(args[len(args)-1], kinds, "experiments, schemes, workloads, measurements or metrics"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case markdown && (len(args) != 1 || args[0] != "metrics"):
				return bad(errors.New("--markdown: photon list metrics has it (photon explain --markdown is that of schemes)"))
			case markdown:
				return metrics.Document(c.OutOrStdout())
			case asJSON && len(args) == 0:
				return bad(errors.New("--json: of one kind, as in `photon list experiments --json`"))
			}
			w := c.OutOrStdout()
			for _, l := range lists {
				if len(args) == 0 && l.title == "" || len(args) == 1 && args[0] != l.kind {
					continue
				}
				rows, err := l.read()
				if err != nil {
					return err
				}
				if asJSON {
					out := json.NewEncoder(w)
					out.SetEscapeHTML(false)
					out.SetIndent("", "  ")
					return out.Encode(rows)
				}
				if len(args) == 0 {
					fmt.Fprintln(w, l.title)
				}
				if err := rows.print(w); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&markdown, "markdown", false, "metrics: all of docs/metrics.md")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON, an array; of one kind")
	c.MarkFlagsMutuallyExclusive("markdown", "json")
	return c
}
