package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"photon/config"
	"photon/lab/experiment"
)

// FileName is a key as the name of a file.
func FileName(key string) string { return strings.ReplaceAll(key, "/", "-") }

// Folder is where an experiment's results lie below the output folder.
func Folder(e *experiment.Experiment, out string) string { return filepath.Join(out, FileName(e.ID)) }

// Overview is the name of the picture that has all schemes, before .png.
const Overview = "overview"

// CheckFolders refuses experiments whose results would lie in one folder, where the last would replace the others.
func CheckFolders(all []*experiment.Experiment) error {
	first := map[string]*experiment.Experiment{} // by folder
	for _, e := range all {
		other, taken := first[FileName(e.ID)]
		if !taken {
			first[FileName(e.ID)] = e
			continue
		}
		return &config.Error{File: e.File(), Line: lineIn(e, "id"), Err: fmt.Errorf(
			"id %s: the results would be in one folder, %s, with those of %s (%s): "+
				"give one of them another id, or run them apart with --out",
			e.ID, FileName(e.ID), other.ID, other.File())}
	}
	return nil
}

// CheckNames refuses an experiment two of whose results would have one file. others are schemes that
// run besides its own.
func CheckNames(e *experiment.Experiment, others []string) error {
	_, err := fileNames(e, others)
	return err
}

// Files are the paths of all results of an experiment in some worlds.
func Files(e *experiment.Experiment, out string, worlds, others []string) (paths []string, err error) {
	names, err := fileNames(e, others)
	if err != nil {
		return nil, err
	}
	paths = append(paths, filepath.Join(Folder(e, out), "report.html"))
	for _, w := range worlds {
		for _, name := range names {
			paths = append(paths, filepath.Join(Folder(e, out), w, name))
		}
	}
	return paths, nil
}

// fileNames are those of the results in one world.
func fileNames(e *experiment.Experiment, others []string) (names []string, err error) {
	names = []string{"result.json", "timing.json", "alternatives.json", Overview + ".png"}
	type owner struct{ scheme, what string }
	whose := map[string]owner{Overview + ".png": {"", "the picture of all schemes"}}
	add := func(u experiment.SchemeUse, name, what string) {
		if was, taken := whose[name]; taken && err == nil {
			at, how := &config.Error{File: e.File(), Line: u.Name.Line}, "give the scheme another label"
			if was.scheme == u.Key() {
				at.Line, how = lineIn(e, "sweep", "values"), "write one of the values otherwise"
			}
			at.Err = fmt.Errorf("%s and %s would have one file, %q (/ becomes - in its name): %s",
				was.what, what, name, how)
			err = at
		}
		whose[name] = owner{u.Key(), what}
		names = append(names, name)
	}
	uses := slices.Clone(e.Schemes)
	for _, name := range others {
		if !slices.ContainsFunc(uses, func(u experiment.SchemeUse) bool { return u.Key() == name }) {
			uses = append(uses, experiment.SchemeUse{Name: config.Set(name)})
		}
	}
	for _, u := range uses {
		add(u, FileName(u.Key())+".png", "the picture of "+u.Key())
		for _, value := range e.Values() {
			key := experiment.Key(u.Key(), value)
			add(u, FileName(key)+".csv", fmt.Sprintf("the series of %q", key))
			add(u, FileName(key)+".flows.csv", fmt.Sprintf("the flows of %q", key))
		}
	}
	return names, err
}

// lineIn is the line of a key of the experiment's file; 0 if there is none.
func lineIn(e *experiment.Experiment, keys ...string) int {
	b, err := os.ReadFile(e.File())
	if err != nil {
		return 0
	}
	return config.LineOf(b, keys...)
}
