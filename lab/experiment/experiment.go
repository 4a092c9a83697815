package experiment

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"photon/config"
	"photon/credits"
	"photon/lab/topology"
	"photon/scheme"
	"photon/units"
	"photon/wire"
)

// Experiment is one figure or table of a paper, or a user's own.
type Experiment struct {
	ID         string      `yaml:"id"` // [a-z0-9/-], as in pcn/fig11
	Title      string      `yaml:"title"`
	Paper      Paper       `yaml:"paper"`
	About      string      `yaml:"about"`
	Story      string      `yaml:"story"` // what is known about claims that differ, where two sentences do not do
	Duration   units.Time  `yaml:"duration"`
	Seed       uint64      `yaml:"seed"`
	Repeat     int         `yaml:"repeat"` // runs with seeds that follow each other, whose metrics are averaged; 1 if absent
	Worlds     []string    `yaml:"worlds"` // in which it makes sense; absent: sim
	Topology   Topology    `yaml:"topology"`
	Parameters Parameters  `yaml:"parameters"`
	Flows      []FlowGroup `yaml:"flows"`
	Listed     []Listed    `yaml:"-"` // flows one by one, of programs that read them elsewhere
	Workloads  []Workload  `yaml:"workloads"`
	// Collectives are flows of hosts that work together.
	Collectives []Collective `yaml:"collectives"`
	// Dependent lists flows that wait for others, of programs that read them elsewhere: behind those of list.
	Dependent func(p *topology.Plan, shared *Connections, list []Flow) ([]Flow, error) `yaml:"-"`

	Events  []Event     `yaml:"events"`
	Impair  []Impaired  `yaml:"impair"`
	Schemes []SchemeUse `yaml:"schemes"`
	Measure Measure     `yaml:"measure"`
	Plots   []Plot      `yaml:"plots"`
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
	variants []Variant
	checked  bool // it is one, and not flows of a file for agents
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
	// Sets says what else stands for names with a value, if it changes several things: {irn: {recovery: selective,
	// lossless: '[]'}} has $recovery and $lossless replaced where the value is irn.
	Sets map[string]map[string]string `yaml:"sets"`
	Log  bool                         `yaml:"log"` // the axis is logarithmic
}

// Quick shortens an experiment. Windows in which claims are judged must stay; those
// that end with the run end with it.
type Quick struct {
	Repeat   int        `yaml:"repeat"`
	Schemes  []string   `yaml:"schemes"`
	Flows    int        `yaml:"flows"`    // of each workload, at most
	Duration units.Time `yaml:"duration"` // of a run; that of the experiment if absent
}

// Variant is the experiment with one value of its sweep.
type Variant struct {
	Value string // empty if there is no sweep
	*Experiment
}

// Variants are the experiment with each value of its sweep; itself alone if it has none.
func (e *Experiment) Variants() []Variant { return e.variants }

// File is where the experiment was read from.
func (e *Experiment) File() string { return e.file }

// Digest is of the text that it was read from; zero if it was made in code.
func (e *Experiment) Digest() [sha256.Size]byte { return e.digest }

// Lasts is how long a run takes, in short or whole.
func (e *Experiment) Lasts(quick bool) units.Time {
	if quick && e.Quick.Duration > 0 {
		return e.Quick.Duration
	}
	return e.Duration
}

// InShort is what --quick leaves of the experiment's runs.
func (e *Experiment) InShort() *Experiment {
	c := *e
	c.Duration = e.Lasts(true)
	c.Workloads = slices.Clone(e.Workloads)
	for i := range c.Workloads {
		if w := &c.Workloads[i]; e.Quick.Flows > 0 && (!w.Flows.IsSet() || w.Flows.V > e.Quick.Flows) {
			w.Flows = config.Set(e.Quick.Flows)
		}
	}
	return &c
}

// Sourced is a parameter and where its value comes from. A file may have the value
// alone: 10Gbps is short for {value: 10Gbps, source: this file}.
type Sourced[T any] struct {
	Value  config.Value[T] `yaml:"value"`
	Source string          `yaml:"source"`
}

// thisFile is the source of a value that comes without one.
const thisFile = "this file"

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *Sourced[T]) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.MappingNode {
		type whole Sourced[T] // without this method
		return n.Load((*whole)(s), yaml.WithKnownFields())
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
	Priority   Sourced[int]        `yaml:"priority"`    // of the data; lossless, unless lossless says otherwise
	XOFF       Sourced[units.Size] `yaml:"xoff"`        // per ingress port
	Buffer     Sourced[units.Size] `yaml:"buffer"`      // per switch

	XON       Sourced[units.Size] `yaml:"xon"` // per ingress port; two MTU below xoff if absent
	TrunkRate Sourced[units.Rate] `yaml:"trunk_rate"`
	CoreRate  Sourced[units.Rate] `yaml:"core_rate"`  // clos, fat-tree: between leafs and spines; dragonfly: between groups; trunk_rate if absent
	CoreDelay Sourced[units.Time] `yaml:"core_delay"` // of the same links, one way; trunk_delay if absent
	Overhead  Sourced[int]        `yaml:"overhead"`   // bytes on the wire beyond those of a frame without FCS; 24 if absent
	// Lossless are all lossless priorities; priority alone if absent. Of data of others switches discard that for which
	// they have no room.
	Lossless Sourced[[]int] `yaml:"lossless"`
	// What lossy frames may have of a switch's buffer: each egress queue, 1 MB if absent; each queue by this part of
	// what is free for them, and what came through one port; without limit if absent.
	LossyQueue   Sourced[units.Size] `yaml:"lossy_queue"`
	LossyAlpha   Sourced[float64]    `yaml:"lossy_alpha"`
	LossyIngress Sourced[units.Size] `yaml:"lossy_ingress"`

	// FlowControl of the lossless priorities: pause, which is PFC and goes by xoff and xon, or credits, which go by
	// lane_buffer; pause if absent.
	FlowControl  Sourced[string]     `yaml:"flow_control"`
	LaneBuffer   Sourced[units.Size] `yaml:"lane_buffer"`   // per ingress port and lossless priority; more than 128 KiB are never promised at a time
	CreditPeriod Sourced[units.Time] `yaml:"credit_period"` // the longest between two flow control packets; 65 536 symbol times of four lanes if absent
	CreditUpdate Sourced[units.Size] `yaml:"credit_update"` // what makes one leave earlier; a sixteenth of lane_buffer if absent

	// What network cards have and simulators leave out; 0 if absent.
	NPDelay    Sourced[units.Time] `yaml:"np_delay"`    // of hosts, from the decision to send a CNP until it is ready to leave
	PauseDelay Sourced[units.Time] `yaml:"pause_delay"` // of hosts, from the arrival of a PFC frame until it is obeyed; the headroom holds what comes meanwhile

	// StartPhase is how much later than `start` says a flow begins at most: drawn by the seed for
	// each; the largest base round-trip time if absent.
	StartPhase Sourced[units.Time] `yaml:"start_phase"`

	// SignalDelay is how long it takes until a host knows what happened at another, where flows wait for
	// that; half of the largest base round-trip time if absent.
	SignalDelay Sourced[units.Time] `yaml:"signal_delay"`

	// Alpha lets xoff and xon follow what is free: so much of the free buffer is
	// added to them. With alpha_by_rate a port that is faster than link_rate gets
	// twice the part for each doubling, at most all that is free.
	Alpha       Sourced[float64] `yaml:"alpha"`
	AlphaByRate Sourced[bool]    `yaml:"alpha_by_rate"`
	AckEach     Sourced[bool]    `yaml:"ack_each"`     // every packet is acknowledged, whatever the scheme needs
	AckPriority Sourced[int]     `yaml:"ack_priority"` // of acknowledgements; 6, of CNPs, if absent

	// Paths is how switches choose among equal paths: flow (ECMP, if absent), round_robin, random, flowlet or queue.
	Paths Sourced[string] `yaml:"paths"`
	// Convergence is from when a link fails, or is back, until routes follow; until then only the switches at its ends
	// know, which send by what else they have of equal cost. 0 if absent.
	Convergence Sourced[units.Time] `yaml:"convergence"`
	FlowletGap  Sourced[units.Time] `yaml:"flowlet_gap"` // a flow that was silent for longer is another flowlet

	// Entropy says what has a UDP source port of its own, by which paths by flow are chosen: flow, packet or flowlet
	// (with flowlet_gap); flow if absent. PathWeights are equal, or capacity: ports of equal cost are chosen as often as
	// what they lead to can carry; equal if absent.
	Entropy     Sourced[string] `yaml:"entropy"`
	PathWeights Sourced[string] `yaml:"path_weights"`

	// Recovery is what a sender repeats: go_back_n, all from the packet on that is missing, or selective, what is lost
	// and no more; go_back_n if absent.
	Recovery Sourced[string] `yaml:"recovery"`
	// Selective: how many packets may be under way, the bandwidth-delay product if absent, and how many behind a
	// missing one must have come until it is lost, 1 if absent, and with several paths half of the window.
	Window  Sourced[int] `yaml:"window"`
	Reorder Sourced[int] `yaml:"reorder"`
	// AckTimeout is how long a sender waits for progress until it repeats; 67 ms if absent. Selective: LowTimeout is in
	// its place while no more than LowPackets (3 if absent) are under way.
	AckTimeout Sourced[units.Time] `yaml:"ack_timeout"`
	LowTimeout Sourced[units.Time] `yaml:"low_timeout"`
	LowPackets Sourced[int]        `yaml:"low_packets"`
}

// LongestFrame is the longest that passes, with its Ethernet header and a tag, without FCS.
func (p *Parameters) LongestFrame() int { return int(p.MTU.Value.V) + wire.EthernetLen + wire.VLANLen }

// Lossy reports whether there is no lossless priority.
func (p *Parameters) Lossy() bool {
	return p.Lossless.Value.IsSet() && len(p.Lossless.Value.V) == 0
}

// LosslessMask is the set of lossless priorities.
func (p *Parameters) LosslessMask() (mask uint8) {
	if !p.Lossless.Value.IsSet() {
		return 1 << p.Priority.Value.V
	}
	for _, prio := range p.Lossless.Value.V {
		mask |= 1 << prio
	}
	return mask
}

// DataMask is the set of priorities of data: those that the scheme looks at. They are the experiment's, all that are
// lossless, and those of flows that have a DSCP of their own.
func (e *Experiment) DataMask() (mask uint8) {
	mask = 1<<e.Parameters.Priority.Value.V | e.Parameters.LosslessMask()
	add := func(dscp int) {
		if dscp != 0 { // as all nodes of an experiment take code points for priorities
			mask |= 1 << (dscp >> 3)
		}
	}
	for i := range e.Flows {
		add(e.Flows[i].DSCP.V)
	}
	for i := range e.Listed {
		add(int(e.Listed[i].DSCP))
	}
	for i := range e.Workloads {
		for _, c := range e.Workloads[i].Classes {
			add(c.DSCP.V)
		}
	}
	for i := range e.Collectives {
		add(e.Collectives[i].DSCP.V)
	}
	return mask
}

// Credits is the flow control of lossless priorities in place of PFC; nil: it is PFC.
func (p *Parameters) Credits() *credits.Config {
	if p.FlowControl.Value.V != "credits" {
		return nil
	}
	return &credits.Config{Buffer: p.LaneBuffer.Value.V, Period: p.CreditPeriod.Value.V, Update: p.CreditUpdate.Value.V}
}

// HeaderBytes of a data packet over IPv4, without FCS.
const HeaderBytes = wire.EthernetLen + wire.IPv4Len + wire.UDPLen + wire.BTHLen + wire.ICRCLen

// Packet is the length of a full data frame, without FCS.
func (e *Experiment) Packet() units.Size { return e.Parameters.Payload.Value.V + HeaderBytes }

// Topology names a generator and its size.
type Topology struct {
	Kind      config.Value[string] `yaml:"kind"`
	Pairs     config.Value[int]    `yaml:"pairs"`    // dumbbell: of sender and receiver
	K         config.Value[int]    `yaml:"k"`        // fat-tree: ports of a switch
	Global    config.Value[int]    `yaml:"global"`   // dragonfly: links of a switch to other groups
	Hosts     config.Value[int]    `yaml:"hosts"`    // star: all; chain, ring, dragonfly: per switch; clos, leaf-spine, planes: per ToR; rail: per pod
	Bursters  config.Value[int]    `yaml:"bursters"` // compact: hosts on S1 that burst
	NICs      config.Value[int]    `yaml:"nics"`     // rail, planes: of a host
	Switches  config.Value[int]    `yaml:"switches"` // chain, ring; dragonfly: per group
	Lots      config.Value[int]    `yaml:"lots"`     // parking-lot: bottlenecks
	Pods      config.Value[int]    `yaml:"pods"`     // clos, rail
	ToRs      config.Value[int]    `yaml:"tors"`     // clos: per pod; leaf-spine, planes: all
	Leafs     config.Value[int]    `yaml:"leafs"`    // clos: per pod
	Spines    config.Value[int]    `yaml:"spines"`   // clos, leaf-spine, rail; planes: per plane
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
	After  Afters                   `yaml:"after"`  // what the flows wait for, all of it; start is the earliest they begin then
	Repeat config.Value[int]        `yaml:"repeat"` // each flow comes so many times, when the one before has ended, and gap after that
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
	Name  config.Value[string] `yaml:"name"`
	Sizes config.Value[string] `yaml:"sizes"` // a distribution (photon list workloads), or pareto
	// CDF is a distribution of its own, in place of sizes: what part of the flows is no larger than a size, linear in
	// between, as in {32B: 0, 1KB: 0.5, 3MB: 1}.
	CDF      map[string]config.Value[float64] `yaml:"cdf"`
	Mean     config.Value[units.Size]         `yaml:"mean"`  // of pareto
	Shape    config.Value[float64]            `yaml:"shape"` // of pareto
	From     config.Value[string]             `yaml:"from"`
	To       config.Value[string]             `yaml:"to"`
	Load     config.Value[float64]            `yaml:"load"`     // of capacity
	Capacity config.Value[units.Rate]         `yaml:"capacity"` // that load is of
	Incast   config.Value[[]int]              `yaml:"incast"`   // least and most senders that start together to one receiver
	Together bool                             `yaml:"together"` // all senders start together
	Burst    config.Value[units.Size]         `yaml:"burst"`    // on-off: bursts of this size; no distribution then
	Start    config.Value[units.Time]         `yaml:"start"`
	End      config.Value[units.Time]         `yaml:"end"`
	Flows    config.Value[int]                `yaml:"flows"` // at most so many
	Classes  []SizeClass                      `yaml:"classes"`
	// Messages makes the flows of a sender messages on permanent connections, one
	// to each receiver, that share one reaction point.
	Messages bool `yaml:"messages"`
}

// SizeClass sends flows up to a size with a DSCP of their own.
type SizeClass struct {
	UpTo config.Value[units.Size] `yaml:"up_to"` // 0: all
	DSCP config.Value[int]        `yaml:"dscp"`
}

// Event changes something on the way.
type Event struct {
	At   config.Value[units.Time] `yaml:"at"`
	Link config.Value[string]     `yaml:"link"` // "S0>S1", both directions: its rate
	Flow config.Value[string]     `yaml:"flow"` // a group: its cap, or its rate
	Rate config.Value[units.Rate] `yaml:"rate"`
	Cap  config.Value[units.Rate] `yaml:"cap"`
}

// Impaired is a direction of a link on which things are done on purpose to frames.
type Impaired struct {
	Link  config.Value[string] `yaml:"link"` // "S0>S1": what S0 sends to S1
	Rules []config.ImpairRule  `yaml:"rules"`
}

// SchemeUse is a scheme, and what this experiment sets otherwise. A file may have
// the name alone.
type SchemeUse struct {
	Name   config.Value[string]       `yaml:"name"`
	Label  string                     `yaml:"label"` // what it is called in results and claims, and by --schemes; its name if absent
	Params map[string]Sourced[string] `yaml:"params"`
	// ByRate is set otherwise yet at congestion points of ports of a rate. The
	// recipe's own rules for other rates do not apply there.
	ByRate map[units.Rate]map[string]Sourced[string] `yaml:"-"`

	key string // tells it from others of its name
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (u *SchemeUse) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return u.Name.UnmarshalYAML(n)
	}
	type whole SchemeUse // without this method
	return n.Load((*whole)(u), yaml.WithKnownFields())
}

// Plot is one panel of the figure.
type Plot struct {
	Title string   `yaml:"title"`
	Y     string   `yaml:"y"`     // label, with its unit
	Scale float64  `yaml:"scale"` // values are divided by it; 1 if absent
	Lines []string `yaml:"lines"` // probes, over time
	Sweep []string `yaml:"sweep"` // metrics, over the sweep's values
	Bars  []string `yaml:"bars"`  // metrics, side by side
	FCT   string   `yaml:"fct"`   // a group of flows: the distribution of their completion times
	// Slowdown is a group of flows: median and 99th percentile by flow size. Experiments
	// with workloads have such a plot of all flows in any case.
	Slowdown string     `yaml:"slowdown"`
	From     units.Time `yaml:"from"`
	To       units.Time `yaml:"to"` // 0: the end
	Log      bool       `yaml:"log"`
}

// Key is what the scheme is called in the experiment's results.
func (u SchemeUse) Key() string { return cmp.Or(u.Label, u.key, u.Name.V) }

// Keys are what schemes are called that stand in one list: by their labels, by their names, and
// those that have neither for themselves by name and parameters, as pcn:wmin=1/16.
func Keys(uses []SchemeUse) (keys []string) {
	for i, u := range uses {
		key := cmp.Or(u.Label, u.Name.V)
		taken := slices.ContainsFunc(slices.Concat(uses[:i], uses[i+1:]), func(o SchemeUse) bool { return cmp.Or(o.Label, o.Name.V) == key })
		if u.Label == "" && taken {
			for _, name := range slices.Sorted(maps.Keys(u.Params)) {
				key += ":" + name + "=" + u.Params[name].Value.V
			}
		}
		keys = append(keys, key)
	}
	return keys
}

// Values are the parameters that the experiment sets.
func (u SchemeUse) Values() map[string]string {
	values := map[string]string{}
	for name, p := range u.Params {
		values[name] = p.Value.V
	}
	return values
}

// Overrides are what the experiment sets otherwise.
func (u SchemeUse) Overrides() map[string]scheme.Override {
	over := map[string]scheme.Override{}
	for name, p := range u.Params {
		over[name] = scheme.Override{Value: p.Value.V, Source: p.Source}
	}
	return over
}

// Line says where in which paper.
func (p *Paper) Line() string {
	var parts []string
	for _, part := range [][2]string{{"", p.Name}, {"", p.Venue}, {"", p.Place()}, {"section ", p.Section}} {
		if part[1] != "" {
			parts = append(parts, part[0]+part[1])
		}
	}
	return strings.Join(parts, ", ")
}
