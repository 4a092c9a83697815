package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"photon/internal/near"
	"photon/lab/experiment"
	"photon/lab/workload"
	"photon/scheme"
	"photon/telemetry/metrics"
)

func listCommand() *cobra.Command {
	var markdown bool
	kinds := []string{"experiments", "schemes", "workloads", "measurements", "metrics"}
	c := &cobra.Command{
		Use:       "list [experiments|schemes|workloads|measurements|metrics]",
		Short:     "List experiments, schemes, distributions of flow sizes, what experiments can measure, and Prometheus' metrics",
		ValidArgs: kinds,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && !slices.Contains(kinds, args[0]) {
				return fmt.Errorf("%q cannot be listed (%s)", args[len(args)-1], near.Or(args[len(args)-1], kinds, "experiments, schemes, workloads, measurements or metrics"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if markdown && (len(args) != 1 || args[0] != "metrics") {
				return bad(errors.New("--markdown: photon list metrics has it (photon explain --markdown is that of schemes)"))
			}
			if markdown {
				return metrics.Document(c.OutOrStdout())
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 8, 2, ' ', 0)
			if len(args) == 0 || args[0] == "experiments" {
				all, err := experiment.Catalogue()
				if err != nil {
					return err
				}
				if len(args) == 0 {
					fmt.Fprintln(w, "Experiments (photon replay ID):")
				}
				for _, e := range all {
					fmt.Fprintf(w, "%s\t%s\t%s %s, %s\n", e.ID, e.Title, e.Paper.Name, e.Paper.Venue, e.Paper.Place())
				}
			}
			if len(args) == 0 {
				fmt.Fprintln(w, "\nSchemes (photon explain NAME):")
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
			if len(args) == 1 && args[0] == "measurements" {
				for _, k := range []struct {
					head string
					docs map[string]string
				}{
					{"Probes, in `kind:` (what is read, every sample):", experiment.ProbeDocs()},
					{"\nMetrics, in `do:` (what is made of it):", experiment.MetricDocs()},
				} {
					fmt.Fprintln(w, k.head)
					for _, name := range slices.Sorted(maps.Keys(k.docs)) {
						fmt.Fprintf(w, "%s\t%s\n", name, k.docs[name])
					}
				}
			}
			if len(args) == 1 && args[0] == "metrics" {
				for _, m := range metrics.All() {
					fmt.Fprintf(w, "%s\t%s\t%s\n", m.Name, m.Type, m.Help)
				}
			}
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&markdown, "markdown", false, "metrics: all of docs/metrics.md")
	return c
}
