package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"photon/lab/claim"
	"photon/lab/report"
	"photon/lab/web/pages"
)

func reportCommand() *cobra.Command {
	var file, docs string
	var keep, unexplained bool
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Make one page of the results of all experiments",
		Long: "Make one page of the results that `photon replay` left below DIR: charts, claims, metrics and parameters of\n" +
			"every experiment that comes with photon, and an index with the verdicts by paper. The page holds everything it\n" +
			"needs. Experiments of your own have a report beside their results.",
		Args: one("the folder of results, as `out`"),
		RunE: func(c *cobra.Command, args []string) error {
			all, missing, err := report.Finish(args[0])
			if err != nil {
				return bad(err)
			}
			if file == "" {
				file = filepath.Join(args[0], "report.html")
			}
			if err := report.WriteReport(file, all, missing, pages.Write); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "report: %s, %d experiments, %d of the catalogue without results\n", file, len(all), len(missing))
			if docs == "" {
				return nil
			}
			finished := report.InVirtualTime(all)
			if keep {
				if finished, err = claim.Keep(finished, docs); err != nil {
					return bad(err)
				}
			}
			outcome, err := report.Reproduction(docs, finished)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "claims: %d reproduced, %d direction, %d differ; %d hold, %d contradicted; %d shape\n",
				outcome.Reproduced, outcome.Direction, outcome.Differs, outcome.Holds, outcome.Contradicted, outcome.Shape)
			if list := outcome.Unexplained(); len(list) > 0 && !unexplained {
				return fmt.Errorf("%d claims differ or are contradicted, and their notes do not say why: %s", len(list), strings.Join(list, ", "))
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVarP(&file, "output", "o", "", "the page (default: DIR/report.html)")
	f.StringVar(&docs, "reproduction", "", "also write the table of all claims in virtual time, reproduction.md and reproduction.json, into this folder")
	f.BoolVar(&keep, "keep", false, "with --reproduction: what was not run is as reproduction.json in that folder has it, but for notes")
	f.BoolVar(&unexplained, "allow-unexplained", false, "with --reproduction: claims that differ or are contradicted need no note that says why")
	return c
}
