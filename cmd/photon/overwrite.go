package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// written is a file that a command is going to write.
type written struct {
	path string
	by   string // the flag or the line that names it
	mend string // what names another
	of   string // what it holds, where a flag names several files; may be empty
}

const (
	anotherFile   = "name another file"
	anotherFolder = "name another folder"
)

// checkWritten refuses a command that would write over a file that it reads, or twice into one file.
func checkWritten(read []string, write []written) error {
	var inputs, outputs []file
	for _, r := range read {
		if r != "" {
			inputs = append(inputs, fileAt(r))
		}
	}
	for _, w := range write {
		f := fileAt(w.path)
		for k := range inputs {
			if f.is(&inputs[k]) {
				return fmt.Errorf("%s: %s would be overwritten, which is read as %s: %s",
					w.by, w.path, inputs[k].path, w.mend)
			}
		}
		for k := range outputs {
			if other := write[k]; other.by != w.by && f.is(&outputs[k]) { // what one flag names differs
				return fmt.Errorf("%s would be written twice: by %s%s, and by %s%s",
					w.path, other.by, other.of, w.by, w.of)
			}
		}
		outputs = append(outputs, f)
	}
	return nil
}

// file is a path, and what tells that another is of the same file.
type file struct {
	path, place string
	info        os.FileInfo // nil: there is none yet
}

// fileAt is the file that a path leads to. Its place has no detours: it is from the root, and in the
// folder that links lead to.
func fileAt(path string) file {
	f := file{path: path}
	f.info, _ = os.Stat(path) // what is not there cannot be lost
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	folder, name := filepath.Split(path)
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	f.place = filepath.Join(folder, name)
	return f
}

// is reports whether two are one file, whether it is there already or not. What is no regular file,
// as a terminal, has nothing that could be lost.
func (f *file) is(other *file) bool {
	if f.info != nil && other.info != nil {
		return f.info.Mode().IsRegular() && os.SameFile(f.info, other.info)
	}
	return f.place == other.place
}
