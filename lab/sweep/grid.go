package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"photon/config"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/scheme"
)

// Point is an experiment with one scheme and one value of all that varies.
type Point struct {
	Experiment string
	Scheme     string
	Params     []Param

	text []byte // the experiment, and nothing that its runs do not depend on
	load func() (*experiment.Experiment, error)
}

// Param is a setting that varies and its value here.
type Param struct{ Name, Value string }

// Task is one run.
type Task struct {
	*Point
	Seed  uint64
	ID    string // of the experiment, the scheme, the seed, and a hash of all that the run depends on
	Flows bool   // it writes its flows, too
}

// String tells a point from the others of its sweep.
func (p *Point) String() string {
	words := []string{p.Experiment, p.Scheme}
	for _, v := range p.Params {
		words = append(words, v.Name+"="+v.Value)
	}
	return strings.Join(words, " ")
}

// settings are the values of what varies, by their names.
func (p *Point) settings() map[string]string {
	values := map[string]string{}
	for _, v := range p.Params {
		values[v.Name] = v.Value
	}
	return values
}

// Tasks expands the grid: experiments, then schemes, then settings in the order
// of their names, then seeds. Experiments are checked when they are first loaded.
func (s *Spec) Tasks() ([]*Task, error) {
	var all []*Task
	seen := map[string]bool{}
	varied := map[string]bool{}
	for _, x := range s.sources {
		points, seeds, err := s.points(x, varied)
		if err != nil {
			return nil, s.located(err)
		}
		if len(s.Seeds.List) > 0 {
			seeds = s.Seeds.List
		}
		if len(all)+len(points)*len(seeds) > most {
			return nil, s.located(fmt.Errorf("more than %d tasks", most))
		}
		for _, p := range points {
			for _, seed := range seeds {
				t := &Task{Point: p, Seed: seed, ID: p.id(seed), Flows: s.Flows}
				if seen[t.ID] {
					return nil, s.located(fmt.Errorf("the grid has %s, seed %d, twice", p, seed))
				}
				seen[t.ID] = true
				all = append(all, t)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Vary)) {
		if !varied[name] {
			return nil, s.located(at(s.Vary[name].line, "%s: no experiment has this sweep, or no task this scheme", name))
		}
	}
	return all, nil
}

// located is an error with the spec's name before it.
func (s *Spec) located(err error) error {
	var e *config.Error
	if !errors.As(err, &e) {
		e = &config.Error{Err: err}
	}
	if e.File == "" {
		e.File = s.file
	}
	return e
}

// head is what of an experiment decides its points.
type head struct {
	Seed    uint64
	Repeat  int
	Sweep   experiment.Sweep
	Schemes []experiment.SchemeUse
}

// points are those of one experiment, and the seeds that a replay of it uses.
// They note in varied what they vary.
func (s *Spec) points(x source, varied map[string]bool) (points []*Point, seeds []uint64, err error) {
	var h head
	if err := yaml.Load(x.text, &h); err != nil { // strictly it is read when it is loaded
		return nil, nil, &config.Error{File: x.file, Err: errors.New("not an experiment; photon check says why")}
	}
	for k := range max(h.Repeat, 1) {
		seeds = append(seeds, max(h.Seed, 1)+uint64(k))
	}
	own := experiment.Keys(h.Schemes)
	names := s.Schemes.V
	if names == nil {
		names = own
	}
	for _, name := range names {
		if s.Schemes.V != nil && !slices.Contains(own, name) {
			if _, err := scheme.Get(name); err != nil {
				return nil, nil, at(s.Schemes.Line, "%s: %w", x.id, err)
			}
		}
		axes := s.axes(h, name)
		for _, a := range axes {
			varied[a.path] = true
			named := strings.HasPrefix(a.path, "$") && h.Sweep.Sets != nil // then they are words
			if one, other, same := sameValues(a.values); same && !named {
				return nil, nil, at(a.line, "%s: %s and %s are the same value: each task would run twice",
					a.path, one, other)
			}
		}
		combined, err := combine(axes)
		if err != nil {
			return nil, nil, err
		}
		for _, values := range combined {
			p, err := newPoint(x, h, name, axes, values)
			if err != nil {
				return nil, nil, err
			}
			points = append(points, p)
		}
	}
	return points, seeds, nil
}

// axis is a setting and its values.
type axis struct {
	path   string
	name   string // of its column
	values []*yaml.Node
	line   int
}

// axes are those of one scheme: what the spec varies, other schemes' parameters
// left out, and the experiment's own sweep.
func (s *Spec) axes(h head, scheme string) (axes []axis) {
	own := "$" + h.Sweep.Name
	for _, path := range slices.Sorted(maps.Keys(s.Vary)) {
		v := s.Vary[path]
		if strings.HasPrefix(path, "schemes.") && !strings.HasPrefix(path+".", "schemes."+scheme+".") {
			continue
		}
		if strings.HasPrefix(path, "$") && path != own {
			continue
		}
		axes = append(axes, axis{path, strings.TrimPrefix(path, "$"), v.List, v.line})
	}
	if _, given := s.Vary[own]; h.Sweep.Name != "" && !given {
		a := axis{path: own, name: h.Sweep.Name}
		for _, v := range h.Sweep.Values {
			a.values = append(a.values, word(v))
		}
		axes = append(axes, a)
	}
	return axes
}

// combine lists all combinations of values, the last axis fastest.
func combine(axes []axis) (all [][]*yaml.Node, err error) {
	all = [][]*yaml.Node{nil}
	for _, a := range axes {
		if len(all)*len(a.values) > most {
			return nil, fmt.Errorf("more than %d combinations", most)
		}
		var longer [][]*yaml.Node
		for _, prefix := range all {
			for _, v := range a.values {
				longer = append(longer, append(slices.Clip(prefix), v))
			}
		}
		all = longer
	}
	return all, nil
}

// besideExperiment are the keys of an experiment on which no run depends.
var besideExperiment = []string{"title", "paper", "about", "seed", "repeat", "worlds", "plots", "claims", "alternatives", "sweep", "quick"}

// newPoint makes the experiment of a point: one scheme, values put in, and
// nothing that its runs do not depend on, so that a note that is mended does not
// change what is done already.
func newPoint(x source, h head, scheme string, axes []axis, values []*yaml.Node) (*Point, error) {
	var file yaml.Node
	if err := yaml.Load(x.text, &file); err != nil || len(file.Content) == 0 || file.Content[0].Kind != yaml.MappingNode {
		return nil, &config.Error{File: x.file, Err: errors.New("not an experiment; photon check says why")}
	}
	doc, err := bare(file.Content[0])
	if err != nil {
		return nil, &config.Error{File: x.file, Err: err}
	}
	for _, key := range besideExperiment {
		remove(doc, key)
	}
	onlyScheme(doc, slices.Index(experiment.Keys(h.Schemes), scheme), scheme)
	p := &Point{Experiment: x.id, Scheme: scheme}
	own := ""
	for i, a := range axes {
		p.Params = append(p.Params, Param{a.name, text(values[i])})
		if strings.HasPrefix(a.path, "$") {
			own = text(values[i])
			continue
		}
		if err := set(doc, scheme, a.path, values[i]); err != nil {
			return nil, at(a.line, "%s: %w", x.id, err)
		}
	}
	b, err := dump(doc)
	if err != nil {
		return nil, err
	}
	if h.Sweep.Name != "" {
		if h.Sweep.Sets != nil && h.Sweep.Sets[own] == nil {
			return nil, &config.Error{File: x.file, Err: fmt.Errorf("$%s %q: `sets` of its sweep says nothing of it (%s)", h.Sweep.Name, own, strings.Join(h.Sweep.Values, ", "))}
		}
		b = []byte(h.Sweep.With(own).Replace(string(b)))
	}
	p.text = b
	p.load = sync.OnceValues(func() (*experiment.Experiment, error) { return p.parse(x.file) })
	return p, nil
}

// onlyScheme leaves one scheme of an experiment, that with a number, or puts it there.
func onlyScheme(doc *yaml.Node, number int, scheme string) {
	use := mapping("name", word(scheme))
	list := child(doc, "schemes")
	if list == nil {
		list = &yaml.Node{}
		doc.Content = append(doc.Content, word("schemes"), list)
	} else if list.Kind == yaml.SequenceNode && number >= 0 && number < len(list.Content) && list.Content[number].Kind == yaml.MappingNode {
		use = list.Content[number]
	}
	*list = yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{use}}
}

// parse checks the experiment of a point. Its lines are not those of any file.
func (p *Point) parse(file string) (*experiment.Experiment, error) {
	e, err := experiment.Parse(file, p.text)
	if err == nil {
		err = build.Check(e)
	}
	if err == nil {
		return e, nil
	}
	var located *config.Error
	if errors.As(err, &located) {
		err = located.Err
	}
	return nil, fmt.Errorf("%s: %w", p, err)
}

// Check loads every experiment of tasks: mistakes are reported before
// any runs.
func (s *Spec) Check(tasks []*Task) error {
	var last *Point
	for _, t := range tasks {
		if t.Point == last {
			continue
		}
		last = t.Point
		e, err := t.load()
		if err != nil {
			return s.located(err)
		}
		for _, m := range e.MetricNames() {
			if slices.Contains(fixed, m) || slices.ContainsFunc(t.Params, func(p Param) bool { return p.Name == m }) {
				return s.located(fmt.Errorf("%s: metric %s would have the name of another column", t.Experiment, m))
			}
		}
	}
	return nil
}

// id names the run of a point with a seed.
func (p *Point) id(seed uint64) string {
	sum := sha256.Sum256(fmt.Appendf(p.text[:len(p.text):len(p.text)], "\nseed: %d\n", seed))
	slug := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.TrimSuffix(p.Experiment, ".yaml")+"-"+p.Scheme)
	return fmt.Sprintf("%s-s%d-%s", slug, seed, hex.EncodeToString(sum[:6]))
}

// OfSeeds are the tasks with one of the seeds.
func OfSeeds(tasks []*Task, seeds []uint64) (some []*Task) {
	for _, t := range tasks {
		if slices.Contains(seeds, t.Seed) {
			some = append(some, t)
		}
	}
	return some
}
