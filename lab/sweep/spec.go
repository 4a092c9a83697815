package sweep

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v4"

	"photon/config"
	"photon/lab/experiment"
	"photon/lab/schema"
)

// Spec is a grid: every experiment with every scheme, every combination of what
// varies and every seed.
type Spec struct {
	Name  config.Value[string] `yaml:"name"` // of the folder of results; [a-z0-9-]
	About string               `yaml:"about"`
	// Experiments are ids (`photon list experiments`), or files, *.yaml, that lie
	// beside the spec.
	Experiments config.Value[[]string] `yaml:"experiments"`
	Schemes     config.Value[[]string] `yaml:"schemes"` // absent: each experiment's own
	Seeds       Seeds                  `yaml:"seeds"`   // 1..1000, or a list; absent: those that a replay uses
	// Vary maps a setting of the experiment to its values. A setting is a path
	// such as duration, parameters.xoff, workloads.all.load (of the element of
	// that name) or schemes.pcn.wmin (of that scheme's tasks only); $n is the
	// quantity that the experiment's own sweep calls n.
	Vary map[string]Values `yaml:"vary"`
	// Flows has every task write the completion times of its flows, too.
	Flows bool `yaml:"flows"`

	file    string
	sources []source
}

// source is the text of an experiment.
type source struct {
	id   string // as the spec has it
	file string // for errors
	text []byte
}

// Seeds are what runs start their random numbers with.
type Seeds struct {
	List []uint64
	line int
}

// most is how many tasks a sweep may have: more are a mistake.
const most = 1_000_000

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *Seeds) UnmarshalYAML(n *yaml.Node) (err error) {
	s.line = n.Line
	if n.Kind == yaml.SequenceNode {
		for _, v := range n.Content {
			seed, err := strconv.ParseUint(v.Value, 10, 64)
			if err != nil || seed == 0 || slices.Contains(s.List, seed) {
				return fmt.Errorf("seed %q: whole numbers from 1, each once", v.Value)
			}
			s.List = append(s.List, seed)
		}
		if len(s.List) == 0 {
			return errors.New("there are no seeds")
		}
		return nil
	}
	if s.List, err = ParseSeeds(n.Value); errors.Is(err, errSeeds) {
		return fmt.Errorf("%w, or as a list", err)
	}
	return err
}

var errSeeds = errors.New("write them like 1..1000")

// ParseSeeds reads a seed, or the seeds from one to another as in 1..1000.
func ParseSeeds(text string) (list []uint64, err error) {
	from, to, span := strings.Cut(text, "..")
	if !span {
		to = from
	}
	a, errA := strconv.ParseUint(from, 10, 64)
	b, errB := strconv.ParseUint(to, 10, 64)
	if errA != nil || errB != nil || a == 0 || a > b {
		return nil, fmt.Errorf("seeds %q: %w", text, errSeeds)
	}
	if b-a >= most {
		return nil, fmt.Errorf("seeds %q: more than %d", text, most)
	}
	for seed := a; seed <= b; seed++ {
		list = append(list, seed)
	}
	return list, nil
}

// JSONSchema is what seeds look like in a file.
func (Seeds) JSONSchema() *jsonschema.Schema {
	one := &jsonschema.Schema{Type: "integer", Minimum: "1"}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string", Pattern: `^[0-9]+\.\.[0-9]+$`}, one, {Type: "array", Items: one}}}
}

// Values are those of a setting, in the order of the file.
type Values struct {
	List []*yaml.Node
	line int
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (v *Values) UnmarshalYAML(n *yaml.Node) error {
	v.line = n.Line
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return errors.New("a list of values belongs here")
	}
	for _, value := range n.Content {
		if value.ShortTag() == "!!null" {
			return errors.New("a value is missing")
		}
		value, err := bare(value)
		if err != nil {
			return err
		}
		v.List = append(v.List, value)
	}
	return nil
}

// JSONSchema is what values look like in a file.
func (Values) JSONSchema() *jsonschema.Schema {
	least := uint64(1)
	return &jsonschema.Schema{Type: "array", MinItems: &least}
}

// Schema is the format of specs as a JSON schema, for editors.
func Schema() ([]byte, error) {
	return schema.Of(&Spec{}, "photon sweep", "A grid of experiments for `photon sweep`; docs/sweeps.md explains it.")
}

// Read reads a spec and the experiments it names. Mistakes are reported with their
// lines.
func Read(file string) (*Spec, error) {
	b, err := config.ReadText(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, b)
}

// Parse is Read of a text that was read already; file is for errors and for names beside it.
func Parse(file string, b []byte) (*Spec, error) {
	s := &Spec{}
	if err := config.Decode(file, b, s); err != nil {
		return nil, err
	}
	s.file = file // an empty file leaves nothing in s
	if err := s.check(); err != nil {
		var located *config.Error
		if !errors.As(err, &located) {
			located = &config.Error{Err: err}
		}
		if located.File == "" {
			located.File = file
		}
		return nil, located
	}
	return s, nil
}

func at(line int, format string, args ...any) error {
	return &config.Error{Line: line, Err: fmt.Errorf(format, args...)}
}

// What names a sweep and a file may have: those of folders, of Slurm jobs and of
// Kubernetes' objects.
var (
	names     = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$`)
	fileNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*\.yaml$`)
)

func (s *Spec) check() error {
	if !names.MatchString(s.Name.V) {
		return at(s.Name.Line, "name %q: the sweep needs one of at most 50 of a-z, 0-9 and -", s.Name.V)
	}
	if len(s.Experiments.V) == 0 {
		return at(s.Experiments.Line, "there are no experiments")
	}
	if s.Schemes.IsSet() && len(s.Schemes.V) == 0 {
		return at(s.Schemes.Line, "there are no schemes")
	}
	for _, id := range s.Experiments.V {
		x, err := s.source(id)
		if err != nil {
			return at(s.Experiments.Line, "%v", err)
		}
		s.sources = append(s.sources, x)
	}
	return nil
}

// source finds an experiment: one that comes with photon, or a file in the spec's folder.
func (s *Spec) source(id string) (x source, err error) {
	if !strings.HasSuffix(id, ".yaml") {
		x.id = id
		x.file, x.text, err = experiment.Source(id)
		return x, err
	}
	if !fileNames.MatchString(id) || id == specName {
		return x, fmt.Errorf("experiment %q: a file must lie beside the spec, have a name of letters, digits, _, . and -, and not be %s", id, specName)
	}
	x.id, x.file = id, filepath.Join(filepath.Dir(s.file), id)
	if x.text, err = os.ReadFile(x.file); err != nil {
		return x, config.FileError(x.file, err)
	}
	return x, nil
}

// specName is what the spec is called where tasks find it.
const specName = "spec.yaml"

// Bundle is all that a worker needs in addition to photon: the spec and the experiments
// that do not come with photon, by the names of their files.
func (s *Spec) Bundle() (map[string][]byte, error) {
	b, err := os.ReadFile(s.file)
	if err != nil {
		return nil, config.FileError(s.file, err)
	}
	files := map[string][]byte{specName: b}
	for _, x := range s.sources {
		if strings.HasSuffix(x.id, ".yaml") {
			files[x.id] = x.text
		}
	}
	return files, nil
}
