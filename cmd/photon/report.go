package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"photon/lab/claim"
	"photon/lab/report"
	"photon/lab/web/pages"
)

func reportCommand() *cobra.Command {
	var file, docs, compare, against string
	var keepUnfinished, unexplained, update, some bool
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Make one page of the results of all experiments",
		Long: "Make one page of the results that `photon replay` left below DIR: charts, claims, metrics and parameters of\n" +
			"every experiment that comes with photon, and an index with the verdicts by paper. The page holds everything it\n" +
			"needs. Experiments of your own have a report beside their results.",
		Args: exactlyOne("the folder of results, as `out`"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case some && against == "":
				return bad(errors.New("--some goes with --against DIR"))
			case update && compare == "":
				return bad(errors.New("--update goes with --compare FILE"))
			}
			if err := goesWith(c, []string{"reproduction"}, "keep", "allow-unexplained"); err != nil {
				return err
			}
			if file == "" && !c.Flags().Changed("out") {
				file = filepath.Join(args[0], "report.html")
			}
			if err := checkReport(args[0], file, docs, compare, against, update); err != nil {
				return bad(err)
			}
			all, missing, err := report.Finish(args[0])
			if err != nil {
				return bad(err)
			}
			if err := checkPlaces(file, docs, compare, against, update); err != nil {
				return bad(err)
			}
			if err := report.WriteReport(file, all, missing, pages.Write); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "report: %s, %d experiments, %d of the catalogue without results\n", file, len(all), len(missing))
			for _, f := range all {
				if foreign := f.Foreign(); foreign != "" {
					fmt.Fprintln(c.OutOrStdout(), foreign)
				}
			}
			if err := compareResults(c, all, compare, update); err != nil {
				return err
			}
			if against != "" {
				if err := compareWhole(c, all, against, some); err != nil {
					return err
				}
			}
			if docs == "" {
				return nil
			}
			finished := report.InVirtualTime(all)
			if keepUnfinished {
				if finished, err = claim.MergeTally(finished, docs); err != nil {
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
	f.StringVarP(&file, "out", "o", "", "Write the page to this `file` (default: DIR/report.html)")
	f.StringVar(&docs, "reproduction", "", "Also write the table of all claims in virtual time, reproduction.md and reproduction.json, into this `folder`")
	f.StringVar(&compare, "compare", "", "Also compare verdicts and traces with those in this `file`, and fail if any differs")
	f.BoolVar(&update, "update", false, "Write the file of --compare instead")
	f.StringVar(&against, "against", "", "Also compare verdicts and traces with reproduction.json in this `folder`, and fail if any differs")
	f.BoolVar(&some, "some", false, "Leave out experiments that did not run, with --against")
	f.BoolVar(&keepUnfinished, "keep", false, "Keep what reproduction.json of --reproduction has of experiments that were not run, except notes")
	f.BoolVar(&unexplained, "allow-unexplained", false, "Allow claims that differ or are contradicted without a note that says why, with --reproduction")
	return c
}

// checkReport refuses to write the page over what is read, or over what else is written.
func checkReport(dir, page, docs, compare, against string, update bool) error {
	write := []written{{path: page, by: "--out", mend: anotherFile}}
	read, err := filepath.Glob(filepath.Join(dir, "*", "*", "*")) // the results of every world
	if err != nil {
		return err
	}
	if docs != "" {
		for _, name := range []string{claim.File(docs), filepath.Join(docs, "reproduction.md")} {
			write = append(write, written{path: name, by: "--reproduction", mend: anotherFolder})
		}
	}
	switch {
	case update:
		write = append(write, written{path: compare, by: "--compare", mend: anotherFile})
	case compare != "":
		read = append(read, compare)
	}
	if against != "" { // the table itself may be compared first, and written then
		if err := checkWritten([]string{claim.File(against)}, write[:1]); err != nil {
			return err
		}
	}
	return checkWritten(read, write)
}

// checkPlaces refuses what would fail after the page has been written.
func checkPlaces(page, docs, compare, against string, update bool) error {
	switch info, err := os.Stat(page); {
	case page == "" || page == "-":
		return fmt.Errorf("--out %q: a name of a file belongs here", page)
	case err == nil && info.IsDir():
		return fmt.Errorf("--out: %s is a folder: name a file in it", page)
	}
	if info, err := os.Stat(filepath.Dir(page)); err != nil || !info.IsDir() {
		return fmt.Errorf("--out: there is no folder %s", filepath.Dir(page))
	}
	if info, err := os.Stat(docs); docs != "" && err == nil && !info.IsDir() {
		return fmt.Errorf("--reproduction: %s is no folder", docs)
	}
	if compare != "" && !update {
		if _, err := report.Compare(compare, nil); err != nil {
			return fmt.Errorf("--compare: %w (--update writes one)", err)
		}
	}
	if against != "" {
		if _, _, err := report.CompareTally(against, nil, true); err != nil {
			return fmt.Errorf("--against: %w", err)
		}
	}
	return nil
}

// compareWhole compares results with a committed table of all claims.
func compareWhole(c *cobra.Command, all []*report.Finished, dir string, some bool) error {
	differences, untraced, err := report.CompareTally(dir, report.BaselineOf(all), some)
	if err != nil {
		return bad(err)
	}
	if len(untraced) > 0 {
		fmt.Fprintf(c.OutOrStdout(), "verdicts only, for %s has no traces of them: %s\n", claim.File(dir), strings.Join(untraced, ", "))
	}
	for _, d := range differences {
		fmt.Fprintln(c.OutOrStdout(), d)
	}
	if len(differences) > 0 {
		return fmt.Errorf("%d verdicts and traces are not those of %s; if that is meant, --reproduction %s writes them there", len(differences), claim.File(dir), dir)
	}
	fmt.Fprintf(c.OutOrStdout(), "verdicts and traces are those of %s\n", claim.File(dir))
	return nil
}

// compareResults compares results with what a file keeps, or keeps them.
func compareResults(c *cobra.Command, all []*report.Finished, file string, update bool) error {
	switch {
	case file == "":
		return nil
	case update:
		return report.WriteBaseline(file, report.BaselineOf(all))
	}
	differences, err := report.Compare(file, report.BaselineOf(all))
	if err != nil {
		return bad(err)
	}
	for _, d := range differences {
		fmt.Fprintln(c.OutOrStdout(), d)
	}
	if len(differences) > 0 {
		return fmt.Errorf("%d verdicts and traces are not those of %s; if that is meant, --update writes them there", len(differences), file)
	}
	fmt.Fprintf(c.OutOrStdout(), "verdicts and traces are those of %s\n", file)
	return nil
}
