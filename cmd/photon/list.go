package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"photon/lab"
	"photon/scheme"
)

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "list [experiments|schemes]",
		Short:     "List the experiments and the schemes there are",
		ValidArgs: []string{"experiments", "schemes"},
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		RunE: func(c *cobra.Command, args []string) error {
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 8, 2, ' ', 0)
			if len(args) == 0 || args[0] == "experiments" {
				all, err := lab.All()
				if err != nil {
					return err
				}
				for _, e := range all {
					fmt.Fprintf(w, "%s\t%s\t%s %s, figure %s\n", e.ID, e.Title, e.Paper.Name, e.Paper.Venue, e.Paper.Figure)
				}
			}
			if len(args) == 0 {
				fmt.Fprintln(w)
			}
			if len(args) == 0 || args[0] == "schemes" {
				for _, name := range scheme.Names() {
					s, err := scheme.Get(name)
					if err != nil {
						return err
					}
					fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, s.Summary, s.Source)
				}
			}
			return w.Flush()
		},
	}
}
