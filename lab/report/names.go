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
		b, _ := os.ReadFile(e.File()) // it was read before; without it there is no line
		return &config.Error{File: e.File(), Line: config.LineOf(b, "id"), Err: fmt.Errorf(
			"id %s: the results would be in one folder, %s, with those of %s (%s): give one of them another id, or run them apart with --out",
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
	whose := map[string]string{Overview + ".png": "the picture of all schemes"}
	add := func(line int, name, of string) {
		if was, taken := whose[name]; taken && err == nil {
			err = &config.Error{File: e.File(), Line: line, Err: fmt.Errorf(
				"%s and %s would have one file, %s: give the scheme another label", was, of, name)}
		}
		whose[name] = of
		names = append(names, name)
	}
	uses := slices.Clone(e.Schemes)
	for _, name := range others {
		if !slices.ContainsFunc(uses, func(u experiment.SchemeUse) bool { return u.Key() == name }) {
			uses = append(uses, experiment.SchemeUse{Name: config.Set(name)})
		}
	}
	for _, u := range uses {
		add(u.Name.Line, FileName(u.Key())+".png", "the picture of "+u.Key())
		for _, value := range e.Values() {
			key := experiment.Key(u.Key(), value)
			add(u.Name.Line, FileName(key)+".csv", "the series of "+key)
			add(u.Name.Line, FileName(key)+".flows.csv", "the flows of "+key)
		}
	}
	return names, err
}
