package figure

import (
	"os"
	"path/filepath"

	"photon/lab/experiment"
	"photon/lab/report"
	"photon/lab/run"
)

// Write draws a result into its folder below the output folder: overview.png with
// all schemes, and for each scheme a PNG of its name. report.Write comes
// before: the folder is there.
func Write(e *experiment.Experiment, out string, r *run.Result) error {
	dir := filepath.Join(report.Folder(e, out), r.World)
	all, err := overview(e, r, "png")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "overview.png"), all, 0o644); err != nil {
		return err
	}
	for _, run := range r.Runs {
		png, err := one(e, r, run.Scheme, "png")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, report.FileName(run.Scheme)+".png"), png, 0o644); err != nil {
			return err
		}
	}
	return nil
}
