package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"photon/lab"
	"photon/lab/workload"
	"photon/scheme"
)

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "list [experiments|schemes|workloads]",
		Short:     "List the experiments, the schemes and the distributions of flow sizes there are",
		ValidArgs: []string{"experiments", "schemes", "workloads"},
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		RunE: func(c *cobra.Command, args []string) error {
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 8, 2, ' ', 0)
			if len(args) == 0 || args[0] == "experiments" {
				all, err := lab.Catalogue()
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
			if len(args) == 1 && args[0] == "workloads" {
				for _, name := range workload.Names() {
					c, err := workload.Named(name)
					if err != nil {
						return err
					}
					fmt.Fprintf(w, "%s\tmean %.4g KB\n", name, c.Mean()/1e3)
				}
			}
			return w.Flush()
		},
	}
}
