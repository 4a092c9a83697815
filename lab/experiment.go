package lab

import (
	"crypto/sha256"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"photon/config"
	"photon/scheme"
	"photon/units"
)

// Experiment is one figure or table of a paper, or a user's own.
type Experiment struct {
	ID         string      `yaml:"id"` // [a-z0-9/-], as in pcn/fig11
	Title      string      `yaml:"title"`
	Paper      Paper       `yaml:"paper"`
	About      string      `yaml:"about"`
	Duration   units.Time  `yaml:"duration"`
	Seed       uint64      `yaml:"seed"`
	Repeat     int         `yaml:"repeat"` // runs with seeds that follow each other, whose metrics are averaged; 1 if absent
	Worlds     []string    `yaml:"worlds"` // in which it makes sense; absent: sim
	Topology   Topology    `yaml:"topology"`
	Parameters Parameters  `yaml:"parameters"`
	Flows      []FlowGroup `yaml:"flows"`
	Listed     []Listed    `yaml:"-"` // flows one by one, of programs that read them elsewhere
	Workloads  []Workload  `yaml:"workloads"`
	Events     []Event     `yaml:"events"`
	Schemes    []SchemeUse `yaml:"schemes"`
	Measure    Measure     `yaml:"measure"`
	Plots      []Plot      `yaml:"plots"`
	// Alternatives are choices that the paper leaves open, made otherwise. They
	// are run in virtual time, and the report shows what they give.
	Alternatives []SchemeUse `yaml:"alternatives"`
	Claims       []Claim     `yaml:"claims"`
	// Sweep runs the experiment once for each value of a quantity, which stands
	// as $name in the rest of the file.
	Sweep *Sweep `yaml:"sweep"`
	// Quick is what --quick leaves of it.
	Quick Quick `yaml:"quick"`

	file     string            // for errors
	digest   [sha256.Size]byte // of its text
	variants []variant
	observer Observer
}

// Paper says where the experiment comes from.
type Paper struct {
	Name    string `yaml:"name"`
	Venue   string `yaml:"venue"`
	Figure  string `yaml:"figure"`
	Section string `yaml:"section"`
}

// Place says where in its paper the experiment is: a figure by its number, a table
// or a section by its name.
func (p *Paper) Place() string {
	if p.Figure == "" || p.Figure[0] < '0' || p.Figure[0] > '9' {
		return p.Figure
	}
	return "figure " + p.Figure
}

// Sweep is a quantity and its values.
type Sweep struct {
	Name   string   `yaml:"name"`
	Label  string   `yaml:"label"` // of the axis
	Values []string `yaml:"values"`
	Quick  []string `yaml:"quick"` // for --quick; absent: all
	Log    bool     `yaml:"log"`   // the axis is logarithmic
}

// Quick shortens an experiment. Windows in which claims are judged must stay.
type Quick struct {
	Repeat  int      `yaml:"repeat"`
	Schemes []string `yaml:"schemes"`
	Flows   int      `yaml:"flows"` // of each workload, at most
}

// variant is the experiment with one value of its sweep.
type variant struct {
	value string
	e     *Experiment
}

// Sourced is a parameter and where its value comes from. A file may have the value
// alone: 10Gbps is short for {value: 10Gbps, source: this file}.
type Sourced[T any] struct {
	Value  config.Value[T] `yaml:"value"`
	Source string          `yaml:"source"`
}

// thisFile is the source of a value that comes without one.
const thisFile = "this file"

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (s *Sourced[T]) UnmarshalYAML(n ast.Node) error {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		type whole Sourced[T] // without this method
		return yaml.NodeToValue(n, (*whole)(s), yaml.Strict())
	}
	s.Source = thisFile
	return s.Value.UnmarshalYAML(n)
}

// Parameters of the network. The first eight must be there.
type Parameters struct {
	LinkRate   Sourced[units.Rate] `yaml:"link_rate"`   // of hosts, and of switches unless trunk_rate says otherwise
	HostDelay  Sourced[units.Time] `yaml:"host_delay"`  // one way, of a link to a host
	TrunkDelay Sourced[units.Time] `yaml:"trunk_delay"` // one way, between switches
	Payload    Sourced[units.Size] `yaml:"payload"`     // of a full packet
	MTU        Sourced[units.Size] `yaml:"mtu"`         // for headroom and the limit of the switches
	Priority   Sourced[int]        `yaml:"priority"`    // lossless priority of the data
	XOFF       Sourced[units.Size] `yaml:"xoff"`        // per ingress port
	Buffer     Sourced[units.Size] `yaml:"buffer"`      // per switch

	XON       Sourced[units.Size] `yaml:"xon"` // per ingress port; two MTU below xoff if absent
	TrunkRate Sourced[units.Rate] `yaml:"trunk_rate"`
	Overhead  Sourced[int]        `yaml:"overhead"` // bytes on the wire beyond those of a frame without FCS; 24 if absent
	Lossless  Sourced[[]int]      `yaml:"lossless"` // all lossless priorities, if there are more than one

	// What network cards have and simulators leave out; 0 if absent.
	NPDelay    Sourced[units.Time] `yaml:"np_delay"`    // of hosts, from the decision to send a CNP until it is ready to leave
	PauseDelay Sourced[units.Time] `yaml:"pause_delay"` // of hosts, from the arrival of a PFC frame until it is obeyed; the headroom holds what comes meanwhile

	// Alpha lets xoff and xon follow what is free: so much of the free buffer is
	// added to them. With alpha_by_rate a port that is faster than link_rate gets
	// twice the part for each doubling, at most all that is free.
	Alpha       Sourced[float64] `yaml:"alpha"`
	AlphaByRate Sourced[bool]    `yaml:"alpha_by_rate"`
	AckEach     Sourced[bool]    `yaml:"ack_each"`     // every packet is acknowledged, whatever the scheme needs
	AckPriority Sourced[int]     `yaml:"ack_priority"` // of acknowledgements; 6, of CNPs, if absent
}

// Topology names a generator and its size.
type Topology struct {
	Kind      config.Value[string] `yaml:"kind"`
	Pairs     config.Value[int]    `yaml:"pairs"`    // dumbbell: of sender and receiver
	Hosts     config.Value[int]    `yaml:"hosts"`    // star: all; chain, ring: per switch; clos, leaf-spine: per ToR
	Bursters  config.Value[int]    `yaml:"bursters"` // compact: hosts on S1 that burst
	Switches  config.Value[int]    `yaml:"switches"` // chain, ring
	Lots      config.Value[int]    `yaml:"lots"`     // parking-lot: bottlenecks
	Pods      config.Value[int]    `yaml:"pods"`     // clos
	ToRs      config.Value[int]    `yaml:"tors"`     // clos: per pod; leaf-spine: all
	Leafs     config.Value[int]    `yaml:"leafs"`    // clos: per pod
	Spines    config.Value[int]    `yaml:"spines"`   // clos, leaf-spine
	Uplinks   config.Value[int]    `yaml:"uplinks"`  // clos: parallel links between a ToR and a leaf; 1
	Grouped   bool                 `yaml:"grouped"`  // clos: leaf k of every pod reaches the k-th group of spines only
	Nodes     []NodeSpec           `yaml:"nodes"`    // free
	Links     []LinkSpec           `yaml:"links"`    // free
	FailLinks []LinkSpec           `yaml:"fail"`     // links of any topology that are not there
}

// NodeSpec is a node of a free topology.
type NodeSpec struct {
	Name  config.Value[string] `yaml:"name"`
	Host  bool                 `yaml:"host"`
	Layer string               `yaml:"layer"`
}

// LinkSpec is a link of a free topology.
type LinkSpec struct {
	A     config.Value[string]     `yaml:"a"`
	B     config.Value[string]     `yaml:"b"`
	Rate  config.Value[units.Rate] `yaml:"rate"`  // link_rate if absent
	Delay config.Value[units.Time] `yaml:"delay"` // host_delay if absent
}

// FlowGroup is one or more flows. From and To name hosts: one ("H0"), several
// ("H2..H15", in the order of the topology) or all ("*"). Each sender sends to
// each receiver, but where there are as many of one as of the other and more than
// one, in pairs.
type FlowGroup struct {
	Name   config.Value[string]     `yaml:"name"`
	From   config.Value[string]     `yaml:"from"`
	To     config.Value[string]     `yaml:"to"`
	Count  config.Value[int]        `yaml:"count"` // 1 if absent
	Size   config.Value[units.Size] `yaml:"size"`  // of payload; absent: a long flow
	Start  config.Value[units.Time] `yaml:"start"`
	Stop   config.Value[units.Time] `yaml:"stop"`   // absent: at its end
	Lasts  config.Value[units.Time] `yaml:"lasts"`  // each flow of the group is stopped so long after its start
	Spread config.Value[units.Time] `yaml:"spread"` // starts are uniformly random over so long from start
	Step   config.Value[units.Time] `yaml:"step"`   // each flow of the group starts, and stops, so much after the one before
	Every  config.Value[units.Time] `yaml:"every"`  // the group comes again so often
	Gap    config.Value[units.Time] `yaml:"gap"`    // with lasts, instead of every: so long after it stopped
	Until  config.Value[units.Time] `yaml:"until"`  // until then; the end of the run if absent
	Rate   config.Value[units.Rate] `yaml:"rate"`   // never faster
	Begin  config.Value[units.Rate] `yaml:"begin"`  // first rate, as if congestion had brought the flow there before; absent: line rate
	Weight config.Value[float64]    `yaml:"weight"` // for AF-QCN; 1 if absent
	Cap    config.Value[units.Rate] `yaml:"cap"`    // for AF-QCN
	DSCP   config.Value[int]        `yaml:"dscp"`   // absent: of the priority
}

// Listed is one flow, in a fraction of a FlowGroup's memory. It is to be complete
// before the run ends: nothing stops it. All listed flows are of the group "listed".
type Listed struct {
	From, To int32 // places among the hosts, in the order of the topology; they differ
	DSCP     uint8 // 0 to 63; 0: of the priority
	Size     units.Size
	Start    units.Time
}

// Workload is flows that arrive at random.
type Workload struct {
	Name     config.Value[string]     `yaml:"name"`
	Sizes    config.Value[string]     `yaml:"sizes"` // a distribution (photon list workloads), or pareto
	Mean     config.Value[units.Size] `yaml:"mean"`  // of pareto
	Shape    config.Value[float64]    `yaml:"shape"` // of pareto
	From     config.Value[string]     `yaml:"from"`
	To       config.Value[string]     `yaml:"to"`
	Load     config.Value[float64]    `yaml:"load"`     // of capacity
	Capacity config.Value[units.Rate] `yaml:"capacity"` // that load is of
	Incast   []int                    `yaml:"incast"`   // least and most senders that start together to one receiver
	Together bool                     `yaml:"together"` // all senders start together
	Burst    config.Value[units.Size] `yaml:"burst"`    // on-off: bursts of this size; no distribution then
	Start    config.Value[units.Time] `yaml:"start"`
	End      config.Value[units.Time] `yaml:"end"`
	Flows    config.Value[int]        `yaml:"flows"` // at most so many
	Classes  []SizeClass              `yaml:"classes"`
	// Messages makes the flows of a sender messages on permanent connections, one
	// to each receiver, that share one reaction point.
	Messages bool `yaml:"messages"`
}

// SizeClass sends flows up to a size with a DSCP of their own.
type SizeClass struct {
	UpTo units.Size `yaml:"up_to"` // 0: all
	DSCP int        `yaml:"dscp"`
}

// Event changes something on the way.
type Event struct {
	At   config.Value[units.Time] `yaml:"at"`
	Link config.Value[string]     `yaml:"link"` // "S0>S1", both directions: its rate
	Flow config.Value[string]     `yaml:"flow"` // a group: its cap, or its rate
	Rate config.Value[units.Rate] `yaml:"rate"`
	Cap  config.Value[units.Rate] `yaml:"cap"`
}

// SchemeUse is a scheme, and what this experiment sets otherwise. A file may have
// the name alone.
type SchemeUse struct {
	Name   config.Value[string]       `yaml:"name"`
	Params map[string]Sourced[string] `yaml:"params"`
	// ByRate is set otherwise yet at congestion points of ports of a rate. The
	// recipe's own rules for other rates do not apply there.
	ByRate map[units.Rate]map[string]Sourced[string] `yaml:"-"`
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (u *SchemeUse) UnmarshalYAML(n ast.Node) error {
	if _, ok := n.(ast.ScalarNode); ok {
		return u.Name.UnmarshalYAML(n)
	}
	type whole SchemeUse // without this method
	return yaml.NodeToValue(n, (*whole)(u), yaml.Strict())
}

// Measure says what is measured: the bundle `dynamics` of a bottleneck, and any
// probes and metrics.
type Measure struct {
	Kind   config.Value[string] `yaml:"kind"` // dynamics; absent: only probes and metrics
	From   string               `yaml:"from"` // the bottleneck leads from this switch
	To     string               `yaml:"to"`   // to this node
	Sample units.Time           `yaml:"sample"`
	Steady Span                 `yaml:"steady"` // of what is called steady: rates and shares
	Queue  Span                 `yaml:"queue"`  // the same, for the mean queue
	Plot   units.Time           `yaml:"plot"`   // plots end here; 0: at the end

	Probes  []Probe  `yaml:"probes"`
	Metrics []Metric `yaml:"metrics"`
}

// Span is a part of an experiment's time.
type Span struct {
	From units.Time `yaml:"from"`
	To   units.Time `yaml:"to"`
}

// Plot is one panel of the figure.
type Plot struct {
	Title string     `yaml:"title"`
	Y     string     `yaml:"y"`     // label, with its unit
	Scale float64    `yaml:"scale"` // values are divided by it; 1 if absent
	Lines []string   `yaml:"lines"` // probes, over time
	Sweep []string   `yaml:"sweep"` // metrics, over the sweep's values
	Bars  []string   `yaml:"bars"`  // metrics, beside each other
	FCT   string     `yaml:"fct"`   // a group of flows: the distribution of their completion times
	From  units.Time `yaml:"from"`
	To    units.Time `yaml:"to"` // 0: the end
	Log   bool       `yaml:"log"`
}

// Claim is a statement of the paper. Measured is a metric of the only scheme, or
// the first scheme's by the second's.
type Claim struct {
	ID      string               `yaml:"id"`
	Text    string               `yaml:"text"`
	Schemes []string             `yaml:"schemes"`
	Metric  string               `yaml:"metric"`
	Over    string               `yaml:"over"`  // the metric of the divisor; the same if absent
	As      config.Value[string] `yaml:"as"`    // ratio (the default), or reduction: 1 less the ratio
	Paper   *float64             `yaml:"paper"` // absent: the paper prints no number
	Unit    string               `yaml:"unit"`
	Holds   config.Value[string] `yaml:"holds"` // near (the default), at_most, at_least
	Note    string               `yaml:"note"`
}

// ratio reports whether the claim is about a quotient.
func (c *Claim) ratio() bool { return len(c.Schemes) == 2 || c.Over != "" }

func (u SchemeUse) overrides() map[string]scheme.Override {
	over := map[string]scheme.Override{}
	for name, p := range u.Params {
		over[name] = scheme.Override{Value: p.Value.V, Source: p.Source}
	}
	return over
}
