package figure

import (
	"fmt"
	"path/filepath"
	"slices"

	"photon/lab/experiment"
	"photon/lab/report"
	"photon/lab/run"
)

// Write draws a result into its folder below the output folder: overview.png with
// all schemes, and for each scheme a PNG of its name. report.Write comes
// before: the folder is there.
func Write(e *experiment.Experiment, out string, r *run.Result) error {
	dir := filepath.Join(report.Folder(e, out), r.World)
	pictures := map[string][]string{report.Overview: nil}
	for i := range r.Runs {
		pictures[report.FileName(r.Runs[i].Scheme)] = []string{r.Runs[i].Scheme}
	}
	for name, schemes := range pictures {
		png, err := picture(e, r, "png", schemes...)
		if err != nil {
			return err
		}
		if err := report.WriteWhole(filepath.Join(dir, name+".png"), png); err != nil {
			return err
		}
	}
	return nil
}

// picture draws the panels of a result for some of its schemes, or for all. format is "png" or "svg".
func picture(e *experiment.Experiment, r *run.Result, format string, schemes ...string) ([]byte, error) {
	what := r.World
	for _, s := range schemes {
		what += ", " + s
	}
	if r.Quick {
		what += ", quick"
	}
	if n := len(r.Seeds); n > 1 {
		what += fmt.Sprintf(", means of %d seeds", n)
	}
	for i := range r.Runs {
		if x := &r.Runs[i]; !x.Sound() && (len(schemes) == 0 || slices.Contains(schemes, x.Scheme)) {
			what += "; LOST FRAMES: " + x.Scheme + " is worth nothing"
		}
	}
	return render(fmt.Sprintf("%s: %s (%s)", e.ID, e.Title, what), report.Charts(e, r, schemes...), format)
}
