package experiment

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"photon/config"
	"photon/lab/experiments"
)

// folder is before the names of the files of experiments that come with photon.
const folder = "experiments/"

// All returns the experiments that come with photon, in the order of their ids.
func All() ([]*Experiment, error) {
	var all []*Experiment
	err := fs.WalkDir(experiments.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := experiments.Files.ReadFile(path)
		if err != nil {
			return err
		}
		e, err := Parse(folder+path, b)
		if err == nil && path != e.ID+".yaml" {
			err = fmt.Errorf("%s: its id is %s", path, e.ID)
		}
		all = append(all, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *Experiment) int { return Natural(a.ID, b.ID) })
	return all, nil
}

// Entry is what a catalogue says of an experiment.
type Entry struct {
	ID    string `yaml:"id"`
	Title string `yaml:"title"`
	Paper Paper  `yaml:"paper"`
}

// Catalogue lists the experiments that come with photon, without checking them.
func Catalogue() (list []Entry, err error) {
	err = fs.WalkDir(experiments.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := experiments.Files.ReadFile(path)
		if err != nil {
			return err
		}
		var e Entry
		if err := yaml.Load(b, &e); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, e)
		return nil
	})
	slices.SortFunc(list, func(a, b Entry) int { return Natural(a.ID, b.ID) })
	return list, err
}

// IDs lists the experiments that come with photon, in their order, without reading them.
func IDs() (ids []string, err error) {
	err = fs.WalkDir(experiments.Files, ".", func(path string, d fs.DirEntry, err error) error {
		if id, isExperiment := strings.CutSuffix(path, ".yaml"); err == nil && isExperiment {
			ids = append(ids, id)
		}
		return err
	})
	slices.SortFunc(ids, Natural)
	return ids, err
}

// Natural orders fig2 before fig11.
func Natural(a, b string) int {
	pad := func(s string) string {
		var out strings.Builder
		digits := ""
		for _, c := range s + "/" {
			if c >= '0' && c <= '9' {
				digits += string(c)
				continue
			}
			if digits != "" {
				fmt.Fprintf(&out, "%06s", digits)
				digits = ""
			}
			out.WriteRune(c)
		}
		return out.String()
	}
	return strings.Compare(pad(a), pad(b))
}

// Get returns an experiment by its id.
func Get(id string) (*Experiment, error) {
	file, b, err := Source(id)
	if err != nil {
		return nil, err
	}
	return Parse(file, b)
}

// Select returns the ids that a word stands for: an id for itself, the name of a folder (pcn) for all
// in it, and a pattern (pcn/*, */fig1?, as path.Match has them) for those that it matches.
func Select(word string) ([]string, error) {
	ids, err := IDs()
	if err != nil {
		return nil, err
	}
	var chosen []string
	for _, id := range ids {
		matches, err := path.Match(word, id)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", word, err)
		}
		if matches || path.Dir(id) == word {
			chosen = append(chosen, id)
		}
	}
	switch {
	case len(chosen) > 0:
		return chosen, nil
	case strings.ContainsAny(word, "*?["):
		return nil, fmt.Errorf("no experiment is called %q (photon list experiments)", word)
	}
	_, _, err = Source(word)
	return nil, err
}

// Source returns the text of an experiment that comes with photon, by its id, and
// the name of its file.
func Source(id string) (file string, text []byte, err error) {
	if text, err = experiments.Files.ReadFile(id + ".yaml"); err == nil {
		return folder + id + ".yaml", text, nil
	}
	list, err := Catalogue()
	if err != nil {
		return "", nil, err
	}
	return "", nil, fmt.Errorf("there is no experiment %q (%s)", id, elsewhere(id, list))
}

// Parse reads and checks an experiment.
func Parse(file string, b []byte) (*Experiment, error) {
	e, err := parseAll(file, b)
	if err == nil {
		e.digest = sha256.Sum256(b)
	}
	return e, err
}

func parseAll(file string, b []byte) (*Experiment, error) {
	var head struct {
		Sweep *Sweep               `yaml:"sweep"`
		Rest  map[string]yaml.Node `yaml:",inline"`
	}
	// What is wrong with the sweep comes first: without it, names that stand for its values are wrong everywhere.
	if err := config.Decode(file, b, &head); err != nil {
		return nil, err
	}
	if head.Sweep == nil {
		e, err := parseOne(file, b)
		if err == nil {
			e.variants = []Variant{{"", e}}
		}
		return e, err
	}
	if err := head.Sweep.missing(); err != nil {
		return nil, &config.Error{File: file, Line: config.LineOf(b, "sweep"), Err: err}
	}
	if err := head.Sweep.checkValues(b); err != nil {
		return nil, &config.Error{File: file, Line: config.LineOf(b, "sweep", "values"), Err: err}
	}
	if err := head.Sweep.checkQuick(); err != nil {
		return nil, &config.Error{File: file, Line: lineOf(b, []string{"sweep", "quick"}), Err: err}
	}
	if err := head.Sweep.check(b); err != nil {
		return nil, &config.Error{File: file, Line: config.LineOf(b, "sweep", "sets"), Err: err}
	}
	var e *Experiment
	for _, value := range head.Sweep.Values {
		v, err := parseOne(file, []byte(head.Sweep.With(value).Replace(string(b))))
		if err != nil {
			return nil, err
		}
		if e == nil {
			e = v
		}
		e.variants = append(e.variants, Variant{value, v})
	}
	return e, nil
}

// checkValues finds values that are there twice, and such that nothing stands for in the file: all runs would be alike.
func (s *Sweep) checkValues(b []byte) error {
	for i, value := range s.Values {
		if value == "" { // its results would be those of an experiment without a sweep
			return fmt.Errorf("sweep: value %d is empty", i+1)
		}
		if slices.Contains(s.Values[:i], value) {
			return fmt.Errorf("sweep: the value %q is there twice", value)
		}
	}
	if s.Sets == nil && !strings.Contains(string(b), "$"+s.Name) {
		return fmt.Errorf("sweep: nothing in the file is %q, so that all values would give the same", "$"+s.Name)
	}
	return nil
}

// checkQuick finds values for --quick that are none of the sweep's, and that there are none.
func (s *Sweep) checkQuick() error {
	if s.Quick != nil && len(s.Quick) == 0 {
		return errors.New("sweep: quick: there are no values (absent: all)")
	}
	for _, value := range s.Quick {
		if !slices.Contains(s.Values, value) {
			return fmt.Errorf("sweep: quick: the sweep has no value %q (%s)", value, strings.Join(s.Values, ", "))
		}
	}
	return nil
}

// check says what is wrong with what else a sweep's values stand for.
func (s *Sweep) check(b []byte) error {
	if s.Sets == nil {
		return nil
	}
	for _, value := range sortedKeys(s.Sets) {
		if !slices.Contains(s.Values, value) {
			return fmt.Errorf("sets: the sweep has no value %q (%s)", value, strings.Join(s.Values, ", "))
		}
	}
	names := s.Sets[s.Values[0]]
	for _, value := range s.Values {
		for _, name := range sortedKeys(names) {
			if _, ok := s.Sets[value][name]; !ok {
				return fmt.Errorf("sets: %s says nothing of %s, which %s does", value, name, s.Values[0])
			}
		}
		for _, name := range sortedKeys(s.Sets[value]) {
			switch _, ok := names[name]; {
			case !ok:
				return fmt.Errorf("sets: %s says nothing of %s, which %s does", s.Values[0], name, value)
			case name == s.Name:
				return fmt.Errorf("sets: $%s is the value itself", name)
			case !strings.Contains(string(b), "$"+name):
				return fmt.Errorf("sets: nothing in the file is $%s", name)
			}
		}
	}
	return nil
}

// With replaces the names that stand for something with a value: the longest first, of which another is the beginning.
func (s *Sweep) With(value string) *strings.Replacer {
	names := append(sortedKeys(s.Sets[value]), s.Name)
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, name := range names {
		to, ok := s.Sets[value][name]
		if !ok {
			to = value
		}
		pairs = append(pairs, "$"+name, to)
	}
	return strings.NewReplacer(pairs...)
}

func parseOne(file string, b []byte) (*Experiment, error) {
	e := &Experiment{file: file}
	if err := config.Decode(file, b, e); err != nil {
		return nil, err
	}
	if err := e.zeros(b); err != nil {
		return nil, err
	}
	if err := e.check(); err != nil {
		var located *config.Error
		if errors.As(err, &located) {
			located.File = file
			return nil, located
		}
		var key *ofKey
		if errors.As(err, &key) {
			return nil, &config.Error{File: file, Line: lineOf(b, key.keys), Err: err}
		}
		return nil, &config.Error{File: file, Err: err}
	}
	return e, nil
}

// zeros finds numbers that are 0 in the file, which would be taken as if they were absent.
func (e *Experiment) zeros(b []byte) error {
	for _, z := range []struct {
		zero bool
		keys []string
		what string
	}{
		{e.Seed == 0, []string{"seed"}, "seed 0: from 1 (absent: 1)"},
		{e.Repeat == 0, []string{"repeat"}, "repeat 0: from 1 (absent: 1)"},
		{e.Quick.Repeat == 0, []string{"quick", "repeat"}, "quick: repeat 0: from 1 (absent: that of the whole)"},
		{e.Quick.Flows == 0, []string{"quick", "flows"}, "quick: flows 0: from 1 (absent: all)"},
		{e.Quick.Duration == 0, []string{"quick", "duration"}, "quick: duration 0s: above 0 (absent: the whole)"},
	} {
		if !z.zero || !bytes.Contains(b, []byte(z.keys[len(z.keys)-1])) { // to look for lines takes longer
			continue
		}
		if line := config.LineOf(b, z.keys...); line > 0 {
			return &config.Error{File: e.file, Line: line, Err: errors.New(z.what)}
		}
	}
	return nil
}

// lineOf is the line of a key's value, or of what it is to be below.
func lineOf(b []byte, keys []string) (line int) {
	for line == 0 && len(keys) > 0 {
		line = config.LineOf(b, keys...)
		keys = keys[:len(keys)-1]
	}
	return line
}

// ofKey is what is wrong with the value of a key, below keys, that does not know its line.
type ofKey struct {
	keys []string
	err  error
}

func (k *ofKey) Error() string { return k.err.Error() }
func (k *ofKey) Unwrap() error { return k.err }

func at[T any](v config.Value[T], format string, args ...any) error {
	return &config.Error{Line: v.Line, Err: fmt.Errorf(format, args...)}
}
