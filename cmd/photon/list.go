package main

import (
	"bytes"
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
		Short:     "List experiments, schemes, flow sizes, what experiments can measure, and Prometheus' metrics",
		Example:   "  photon list\n  photon list measurements\n  photon list --json | jq -r '.[] | select(.kind == \"experiment\") | .id'",
		ValidArgs: listed(),
		Args: func(_ *cobra.Command, args []string) error {
			kinds := listed()
			for _, a := range args {
				if !slices.Contains(kinds, a) {
					return fmt.Errorf("%q cannot be listed (%s)", a,
						suggest.Or(a, kinds, "experiments, schemes, workloads, measurements or metrics"))
				}
			}
			if len(args) > 1 {
				return fmt.Errorf("list: name one list, and no more than one (there is %q, too)", args[1])
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case markdown && (len(args) != 1 || args[0] != "metrics"):
				return bad(errors.New("--markdown: photon list metrics has it (photon explain --markdown is that of schemes)"))
			case markdown:
				return metrics.Document(c.OutOrStdout())
			}
			w := c.OutOrStdout()
			var all []json.RawMessage
			for _, l := range lists {
				if len(args) == 0 && l.title == "" && !asJSON || len(args) == 1 && args[0] != l.kind {
					continue
				}
				rows, err := l.read()
				if err != nil {
					return err
				}
				if asJSON {
					if all, err = appendEntries(all, rows); err != nil {
						return err
					}
					continue
				}
				if len(args) == 0 {
					fmt.Fprintln(w, l.title)
				}
				if err := rows.print(w); err != nil {
					return err
				}
			}
			if !asJSON {
				return nil
			}
			out := json.NewEncoder(w)
			out.SetEscapeHTML(false)
			out.SetIndent("", "  ")
			return out.Encode(all)
		},
	}
	c.Flags().BoolVar(&markdown, "markdown", false, "Print docs/metrics.md, for list metrics")
	c.Flags().BoolVar(&asJSON, "json", false, "Print one JSON array, of all lists if none is named, each entry with its kind")
	c.MarkFlagsMutuallyExclusive("markdown", "json")
	return c
}

// appendEntries adds the entries of a list to those of others.
func appendEntries(all []json.RawMessage, rows listing) ([]json.RawMessage, error) {
	var text bytes.Buffer
	out := json.NewEncoder(&text)
	out.SetEscapeHTML(false)
	if err := out.Encode(rows); err != nil {
		return nil, err
	}
	var some []json.RawMessage
	err := json.Unmarshal(text.Bytes(), &some)
	return append(all, some...), err
}
