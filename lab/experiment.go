package lab

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"photon/config"
	"photon/pfc"
	"photon/scheme"
	"photon/units"
)

// Experiment is one figure or table of a paper.
type Experiment struct {
	ID         string      `yaml:"id"` // [a-z0-9/-], as in pcn/fig11
	Title      string      `yaml:"title"`
	Paper      Paper       `yaml:"paper"`
	About      string      `yaml:"about"`
	Duration   units.Time  `yaml:"duration"`
	Seed       uint64      `yaml:"seed"`
	Topology   Topology    `yaml:"topology"`
	Parameters Parameters  `yaml:"parameters"`
	Flows      []FlowGroup `yaml:"flows"`
	Schemes    []SchemeUse `yaml:"schemes"`
	Measure    Measure     `yaml:"measure"`
	// Alternatives are choices that the paper leaves open, made otherwise. They
	// are run in virtual time, and the report shows what they give.
	Alternatives []SchemeUse `yaml:"alternatives"`
	Claims       []Claim     `yaml:"claims"`
	file         string      // for errors
}

// Paper says where the experiment comes from.
type Paper struct {
	Name    string `yaml:"name"`
	Venue   string `yaml:"venue"`
	Figure  string `yaml:"figure"`
	Section string `yaml:"section"`
}

// Sourced is a parameter and where its value comes from.
type Sourced[T any] struct {
	Value  config.Value[T] `yaml:"value"`
	Source string          `yaml:"source"`
}

// Parameters of the network.
type Parameters struct {
	LinkRate   Sourced[units.Rate] `yaml:"link_rate"`
	HostDelay  Sourced[units.Time] `yaml:"host_delay"`  // one way, of a link to a host
	TrunkDelay Sourced[units.Time] `yaml:"trunk_delay"` // one way, between switches
	Payload    Sourced[units.Size] `yaml:"payload"`     // of a full packet
	MTU        Sourced[units.Size] `yaml:"mtu"`         // for headroom and the limit of the switches
	Priority   Sourced[int]        `yaml:"priority"`    // lossless priority of the data
	XOFF       Sourced[units.Size] `yaml:"xoff"`        // per ingress port
	XON        Sourced[units.Size] `yaml:"xon"`
	Buffer     Sourced[units.Size] `yaml:"buffer"` // per switch
}

// Topology names a generator and its size.
type Topology struct {
	Kind  config.Value[string] `yaml:"kind"`  // dumbbell
	Pairs config.Value[int]    `yaml:"pairs"` // of sender and receiver
}

// FlowGroup is one or more equal flows between two hosts.
type FlowGroup struct {
	From  config.Value[string]     `yaml:"from"`
	To    config.Value[string]     `yaml:"to"`
	Count config.Value[int]        `yaml:"count"` // 1 if absent
	Size  config.Value[units.Size] `yaml:"size"`  // of payload; absent: a long flow
	Start config.Value[units.Time] `yaml:"start"`
}

// SchemeUse is a scheme, and what this experiment sets otherwise.
type SchemeUse struct {
	Name   config.Value[string]       `yaml:"name"`
	Params map[string]Sourced[string] `yaml:"params"`
}

// Measure says what is measured.
type Measure struct {
	Kind   config.Value[string] `yaml:"kind"` // dynamics
	From   string               `yaml:"from"` // the bottleneck leads from this switch
	To     string               `yaml:"to"`   // to this node
	Sample units.Time           `yaml:"sample"`
	Steady Span                 `yaml:"steady"` // of what is called steady: rates and shares
	Queue  Span                 `yaml:"queue"`  // the same, for the mean queue
	Plot   units.Time           `yaml:"plot"`   // plots end here; 0: at the end
}

// Span is a part of an experiment's time.
type Span struct {
	From units.Time `yaml:"from"`
	To   units.Time `yaml:"to"`
}

// Claim is a statement of the paper. Measured is a metric of the only scheme, or
// the first scheme's divided by the second's.
type Claim struct {
	ID      string               `yaml:"id"`
	Text    string               `yaml:"text"`
	Schemes []string             `yaml:"schemes"`
	Metric  string               `yaml:"metric"`
	Paper   *float64             `yaml:"paper"` // absent: the paper prints no number
	Unit    string               `yaml:"unit"`
	Holds   config.Value[string] `yaml:"holds"` // near (the default), at_most, at_least
	Note    string               `yaml:"note"`
}

//go:embed experiments
var embedded embed.FS

// All returns the experiments that come with photon, in the order of their ids.
func All() ([]*Experiment, error) {
	var all []*Experiment
	err := fs.WalkDir(embedded, "experiments", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := embedded.ReadFile(path)
		if err != nil {
			return err
		}
		e, err := Parse(path, b)
		if err == nil && path != "experiments/"+e.ID+".yaml" {
			err = fmt.Errorf("%s: its id is %s", path, e.ID)
		}
		all = append(all, e)
		return err
	})
	slices.SortFunc(all, func(a, b *Experiment) int { return strings.Compare(a.ID, b.ID) })
	return all, err
}

// Get returns an experiment by its id.
func Get(id string) (*Experiment, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range all {
		if e.ID == id {
			return e, nil
		}
		ids = append(ids, e.ID)
	}
	return nil, fmt.Errorf("there is no experiment %q (there are %s)", id, strings.Join(ids, ", "))
}

// Parse reads and checks an experiment.
func Parse(file string, b []byte) (*Experiment, error) {
	e := &Experiment{file: file}
	if err := config.Decode(file, b, e); err != nil {
		return nil, err
	}
	if err := e.check(); err != nil {
		var located *config.Error
		if errors.As(err, &located) {
			located.File = file
			return nil, located
		}
		return nil, &config.Error{File: file, Err: err}
	}
	return e, nil
}

func at[T any](v config.Value[T], format string, args ...any) error {
	return &config.Error{Line: v.Line, Err: fmt.Errorf(format, args...)}
}

// check finds what is wrong with an experiment.
func (e *Experiment) check() error {
	p := &e.Parameters
	if strings.Trim(e.ID, "abcdefghijklmnopqrstuvwxyz0123456789/-") != "" || e.ID == "" {
		return fmt.Errorf("id %q: only a-z, 0-9, / and -", e.ID)
	}
	for name, source := range p.sources() {
		if source == "" {
			return fmt.Errorf("parameter %s has no value or no source", name)
		}
	}
	if e.Duration <= 0 || e.Measure.Sample <= 0 {
		return errors.New("duration and sample must be positive")
	}
	for _, w := range []Span{e.Measure.Steady, e.Measure.Queue} {
		if w.From < 0 || w.From >= w.To || w.To > e.Duration || w.From%e.Measure.Sample != 0 || w.To%e.Measure.Sample != 0 {
			return fmt.Errorf("the span from %v to %v must lie within the duration and begin and end at a sample", w.From, w.To)
		}
	}
	if err := (pfc.Thresholds{XOFF: p.XOFF.Value.V, XON: p.XON.Value.V}).Validate(); err != nil {
		return at(p.XON.Value, "%v", err)
	}
	if p.Priority.Value.V < 0 || p.Priority.Value.V >= pfc.Classes {
		return at(p.Priority.Value, "priority %d: there are 0 to 7", p.Priority.Value.V)
	}
	plan, err := e.plan()
	if err != nil {
		return err
	}
	for _, f := range e.Flows {
		for _, end := range []config.Value[string]{f.From, f.To} {
			if i, ok := plan.find(end.V); !ok || plan.nodes[i].ports() != 1 {
				return at(end, "there is no host %q", end.V)
			}
		}
		if f.From.V == f.To.V {
			return at(f.To, "a flow from %s to itself", f.To.V)
		}
	}
	for _, s := range slices.Concat(e.Schemes, e.Alternatives) {
		if _, err := e.build(s, plan, e.Seed); err != nil {
			return at(s.Name, "%v", err)
		}
	}
	if e.Measure.Kind.V != "dynamics" {
		return at(e.Measure.Kind, "measurement %q: there is dynamics", e.Measure.Kind.V)
	}
	if _, _, err := plan.port(e.Measure.From, e.Measure.To); err != nil {
		return at(e.Measure.Kind, "bottleneck: %v", err)
	}
	for _, c := range e.Claims {
		if h := c.Holds.Or("near"); h != "near" && h != "at_most" && h != "at_least" {
			return at(c.Holds, "claim %s holds %q: near, at_most or at_least", c.ID, h)
		}
		if len(c.Schemes) < 1 || len(c.Schemes) > 2 || !slices.Contains(dynamicsMetrics, c.Metric) {
			return fmt.Errorf("claim %s: one or two schemes and a metric (%s)", c.ID, strings.Join(dynamicsMetrics, ", "))
		}
	}
	return nil
}

// sources returns the source of every parameter; empty if it or its value is missing.
func (p *Parameters) sources() map[string]string {
	m := map[string]string{}
	add := func(name string, line int, source string) {
		if line == 0 {
			source = ""
		}
		m[name] = source
	}
	add("link_rate", p.LinkRate.Value.Line, p.LinkRate.Source)
	add("host_delay", p.HostDelay.Value.Line, p.HostDelay.Source)
	add("trunk_delay", p.TrunkDelay.Value.Line, p.TrunkDelay.Source)
	add("payload", p.Payload.Value.Line, p.Payload.Source)
	add("mtu", p.MTU.Value.Line, p.MTU.Source)
	add("priority", p.Priority.Value.Line, p.Priority.Source)
	add("xoff", p.XOFF.Value.Line, p.XOFF.Source)
	add("xon", p.XON.Value.Line, p.XON.Source)
	add("buffer", p.Buffer.Value.Line, p.Buffer.Source)
	return m
}

// network is what schemes may know of an experiment's network.
func (e *Experiment) network(plan *plan, seed uint64) scheme.Network {
	n := scheme.Network{Line: e.Parameters.LinkRate.Value.V, Seed: seed}
	for _, f := range e.Flows {
		from, _ := plan.find(f.From.V)
		to, _ := plan.find(f.To.V)
		n.RTT = max(n.RTT, 2*plan.delay(from, to))
		if f.Size.V == 0 {
			n.LongFlows += f.Count.Or(1)
		}
	}
	return n
}

// build makes the parts of a scheme.
func (e *Experiment) build(use SchemeUse, plan *plan, seed uint64) (scheme.Parts, error) {
	s, err := scheme.Get(use.Name.V)
	if err != nil {
		return scheme.Parts{}, err
	}
	return s.Build(e.network(plan, seed), use.overrides())
}

func (u SchemeUse) overrides() map[string]scheme.Override {
	over := map[string]scheme.Override{}
	for name, p := range u.Params {
		over[name] = scheme.Override{Value: p.Value.V, Source: p.Source}
	}
	return over
}
