package hpccfiles

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"photon/config"
	"photon/dataplane"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/units"
)

// Files is what is read.
type Files struct {
	Topology *Topology
	Flows    []Flow
	FlowFile string
	Trace    *Trace  // in place of Flows: flows that wait for each other
	Config   *Config // nil: everything by default
}

// Trace is flows that wait for each other, of a file in another format.
type Trace struct {
	File  string
	Hosts int // those of the topology are as many at least
	// Flows lists them, as experiment.Experiment.Dependent does.
	Flows func(p *topology.Plan, dscp uint8, shared *experiment.Connections, list []experiment.Flow) ([]experiment.Flow, error)
	// IDs are what the file calls its flows, in their order; nil: it has no names.
	IDs   []int
	Until units.Time // the run ends then, if the configuration says nothing else
}

// tracePriority is that of a trace's flows.
const tracePriority = 3

// Prepared is a run that the files describe.
type Prepared struct {
	Files
	Experiment *experiment.Experiment
	Use        experiment.SchemeUse
	Warnings   []string // what the files ask for and is not done, each with its place
	Notes      []string // what else is worth knowing
	Payload    int64
	Count      int // of flows

	FCT, PFC, Queues string     // names of what is written
	Named            [3]string  // the line that says so of each, as in config.txt:3: FCT_OUTPUT_FILE; may be empty
	From, To         units.Time // queues are looked at; From after To: never
}

const source = "config.txt"

// What that simulator's files leave to its code.
const (
	megabyte  = 1 << 20
	reserve   = 4 * units.KB // of each port, before its thresholds begin
	offset    = 3 * units.KB // XON is so much below XOFF
	baseAlpha = 1.0 / 8      // of the free buffer
	// headerExcess is by how much our headers are longer than that simulator's: 58
	// bytes and 48 (66 and 56 with a time stamp, 100 and 90 with telemetry).
	headerExcess = 10
	// headersMost is the longest header of ours, without Ethernet's.
	headersMost = 100 - 14 + 8
	cnpPriority = 6
)

// Prepare makes an experiment of the files. An empty scheme is the one that
// CC_MODE names.
func Prepare(f Files, schemeName string) (*Prepared, error) {
	if f.Config == nil {
		f.Config = newConfig("")
	}
	p, err := prepareAs(f, schemeName)
	var located *config.Error
	if err == nil || errors.As(err, &located) && located.File != "" {
		return p, err
	}
	ofNetwork := errors.Is(err, dataplane.ErrBuffer)
	if ofNetwork {
		err = fmt.Errorf("switch %w", err) // whose name is a number, as a line's
	}
	// What is wrong with the experiment is wrong with the setting without which it is right; with the choice of a mode
	// only if with no value that the mode reads.
	settings := f.Config.inOrder()
	if i := slices.IndexFunc(settings, func(s *setting) bool { return s.key == "CC_MODE" }); i >= 0 {
		settings = append(slices.Delete(slices.Clone(settings), i, i+1), settings[i])
	}
	for _, s := range settings {
		without := f
		without.Config = f.Config.without(s.key)
		if _, other := prepareAs(without, schemeName); other == nil {
			return nil, f.Config.at(s.line, "%s: %w", s.key, err)
		}
	}
	if ofNetwork {
		return nil, &config.Error{File: f.Topology.File, Err: err}
	}
	// Otherwise with the flows, or with the network that they are to pass.
	flows := f.FlowFile
	if f.Trace != nil {
		flows = f.Trace.File
	}
	return nil, &config.Error{File: flows, Err: fmt.Errorf("%w (the network is that of %s)", err, f.Topology.File)}
}

// prepareAs prepares, and knows of most mistakes where they are.
func prepareAs(f Files, schemeName string) (*Prepared, error) {
	p := &Prepared{Files: f, FCT: "fct.txt", PFC: "pfc.txt", Queues: "qlen.txt"}
	c := f.Config
	p.Payload = int64(c.whole("PACKET_PAYLOAD_SIZE", 1000, 1, 9000))
	e := &experiment.Experiment{ID: "hpcc-files", Title: "files of the HPCC simulator", Seed: 1}
	p.Experiment = e
	p.network()
	p.parameters()
	if err := p.flows(); err != nil {
		return nil, err
	}
	if f.Trace != nil {
		e.Duration = f.Trace.Until
	} else {
		e.Duration = f.Flows[len(f.Flows)-1].Start + units.Second
	}
	if stop, isSet := c.number("SIMULATOR_STOP_TIME", 0); isSet && c.err == nil {
		if stop <= 0 || stop > longest {
			c.fail(c.set["SIMULATOR_STOP_TIME"], "it must be positive, and at most %d seconds", longest)
		}
		if e.Duration = units.Time(math.Round(min(stop, longest)*1e9)) * units.Nanosecond; stop > 0 && e.Duration == 0 {
			c.fail(c.set["SIMULATOR_STOP_TIME"], "it must be at least a nanosecond, 1e-9")
		}
	}
	e.Measure.Sample = max(e.Duration/100, 1)
	if err := p.scheme(schemeName); err != nil {
		return nil, err
	}
	p.outputs()
	p.unsupported()
	if c.err != nil {
		return nil, c.err
	}
	for _, s := range c.unknown() {
		p.warn(s, "unknown key")
	}
	e.Schemes = []experiment.SchemeUse{p.Use}
	if err := e.Check(); err != nil {
		return nil, err
	}
	if f.Trace != nil {
		plan, err := e.Plan()
		if err != nil {
			return nil, err
		}
		all, err := e.Sends(plan, e.Seed)
		if err != nil {
			return nil, err
		}
		p.Count = all.Len()
	}
	return p, build.Check(e)
}

func (p *Prepared) warn(s *setting, format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf("%s:%d: %s: %s", p.Config.File, s.line, s.key, fmt.Sprintf(format, args...)))
}

func (p *Prepared) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

func sourced[T any](v T, from string) experiment.Sourced[T] {
	return experiment.Sourced[T]{Value: config.Set(v), Source: from}
}

// name is what a node is called.
func name(id int) config.Value[string] { return config.Set(strconv.Itoa(id)) }

// network makes nodes in the order of their numbers.
func (p *Prepared) network() {
	t := &p.Experiment.Topology
	t.Kind = config.Set("free")
	for id, isSwitch := range p.Topology.Switch {
		t.Nodes = append(t.Nodes, experiment.NodeSpec{Name: name(id), Host: !isSwitch})
	}
	loss := 0
	for _, l := range p.Topology.Links {
		t.Links = append(t.Links, experiment.LinkSpec{A: name(l.A), B: name(l.B), Rate: config.Set(l.Rate), Delay: config.Set(l.Delay)})
		if l.Loss > 0 {
			if loss++; loss == 1 {
				p.Warnings = append(p.Warnings, fmt.Sprintf("%s:%d: error rate %v: links do not lose packets here", p.Topology.File, l.Line, l.Loss))
			}
		}
	}
	if loss > 1 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s: %d more links with an error rate", p.Topology.File, loss-1))
	}
}

// line is the rate of the first host's link, which that simulator takes for all.
func (t *Topology) line() units.Rate {
	first := t.hosts()[0]
	for _, l := range t.Links {
		if l.A == first || l.B == first {
			return l.Rate
		}
	}
	return 0
}

func (p *Prepared) parameters() {
	const code = "that simulator's code"
	q, c := &p.Experiment.Parameters, p.Config
	q.LinkRate = sourced(p.Topology.line(), "topology.txt, the first host's")
	q.HostDelay = sourced(units.Time(0), "topology.txt has one for each link")
	q.TrunkDelay = q.HostDelay
	q.Payload = sourced(units.Size(p.Payload), source)
	q.MTU = sourced(units.Size(p.Payload)+headersMost, "the longest packet")
	q.XOFF = sourced(reserve, code)
	q.XON = sourced(reserve-offset, code)
	q.Alpha = sourced(baseAlpha, code)
	q.AlphaByRate = sourced(true, code)
	q.Overhead = sourced(-headerExcess, "its headers are shorter by that, and it counts neither preamble nor gap")
	q.AckEach = sourced(true, code)
	q.Buffer = sourced(units.Size(c.whole("BUFFER_SIZE", 16, 1, 1<<16))*megabyte, source)
}

// flows lists the flows.
func (p *Prepared) flows() error {
	e := p.Experiment
	if t := p.Trace; t != nil {
		if n := len(p.Topology.hosts()); t.Hosts > n {
			return &config.Error{File: t.File, Err: fmt.Errorf("it is of %d hosts, and %s has %d", t.Hosts, p.Topology.File, n)}
		}
		e.Parameters.Priority = sourced(tracePriority, "the usual one of RoCE")
		e.Parameters.AckPriority = sourced(tracePriority, "that simulator's switches")
		e.Parameters.StartPhase = sourced(units.Time(0), t.File+" says when flows start")
		e.Dependent = func(plan *topology.Plan, shared *experiment.Connections, list []experiment.Flow) ([]experiment.Flow, error) {
			return t.Flows(plan, tracePriority<<3|2, shared, list)
		}
		return nil
	}
	p.Count = len(p.Flows)
	var used []int
	place := map[int]int32{} // of a node among the hosts
	for i, id := range p.Topology.hosts() {
		place[id] = int32(i)
	}
	e.Listed = make([]experiment.Listed, 0, len(p.Flows))
	for _, f := range p.Flows {
		if f.Group < 1 || f.Group >= cnpPriority {
			return &config.Error{File: p.FlowFile, Line: f.Line, Err: fmt.Errorf("priority group %d: data has 1 to %d here, below notifications", f.Group, cnpPriority-1)}
		}
		if !slices.Contains(used, f.Group) {
			used = append(used, f.Group)
		}
		e.Listed = append(e.Listed, experiment.Listed{From: place[f.From], To: place[f.To], DSCP: uint8(f.Group<<3 | 2), Size: f.Size, Start: f.Start})
	}
	slices.Sort(used)
	e.Parameters.Priority = sourced(used[0], "flow.txt")
	// Its switches queue acknowledgements with data whatever ACK_HIGH_PRIO says,
	// which is about hosts; and hosts send them first here anyway.
	e.Parameters.AckPriority = sourced(used[0], "that simulator's switches")
	if len(used) > 1 {
		e.Parameters.Lossless = sourced(used, "flow.txt")
		p.Warnings = append(p.Warnings, fmt.Sprintf("priority groups %v: a higher one goes first here, there they take turns; acknowledgements are of group %d", used, used[0]))
	}
	return nil
}

// outputs are the names of what is written, and when queues are looked at.
func (p *Prepared) outputs() {
	c := p.Config
	p.From, p.To = 1, 0
	names := [...]*string{&p.FCT, &p.PFC, &p.Queues}
	var by [len(names)]*setting
	for i, key := range [...]string{"FCT_OUTPUT_FILE", "PFC_OUTPUT_FILE", "QLEN_MON_FILE"} {
		s, text, ok := c.single(key)
		if !ok {
			continue
		}
		*names[i], by[i] = filepath.Base(text), s
		p.Named[i] = fmt.Sprintf("%s:%d: %s", c.File, s.line, s.key)
		if *names[i] == "." || *names[i] == ".." || *names[i] == "/" {
			c.fail(s, "%q is not a file's name", text)
		}
	}
	for i, s := range by {
		for k, other := range names {
			if s != nil && k != i && *names[i] == *other && (by[k] == nil || k < i) {
				c.fail(s, "another file that is written is called %s, too", *other)
			}
		}
	}
	from, isFrom := c.number("QLEN_MON_START", 2e9)
	to, isTo := c.number("QLEN_MON_END", 2.1e9)
	if _, named := c.get("QLEN_MON_FILE"); named || isFrom || isTo {
		p.From, p.To = units.Time(min(from, longest*1e9))*units.Nanosecond, units.Time(min(to, longest*1e9))*units.Nanosecond
	}
	for _, in := range [][2]string{{"TOPOLOGY_FILE", p.Topology.File}, {"FLOW_FILE", p.FlowFile}} {
		if s, text, ok := c.single(in[0]); ok && filepath.Base(text) != filepath.Base(in[1]) {
			p.warn(s, "%s is not read, but %s", text, in[1])
		}
	}
}

// unsupported names what is asked for otherwise than it is here. What has no
// effect in that simulator either is known, and nothing is said about it.
func (p *Prepared) unsupported() {
	c := p.Config
	for _, key := range senderKeys {
		c.get(key)
	}
	for _, key := range []string{"TRACE_FILE", "TRACE_OUTPUT_FILE", "DATA_RATE", "LINK_DELAY", "PAUSE_TIME", "ENABLE_QCN", "L2_CHUNK_SIZE"} {
		c.get(key)
	}
	p.wantFlag("USE_DYNAMIC_PFC_THRESHOLD", 1, "thresholds follow the free buffer")
	c.whole("ACK_HIGH_PRIO", 0, 0, 1)
	p.wantFlag("ENABLE_TRACE", 0, "no trace of packets is written")
	p.wantFlag("L2_BACK_TO_ZERO", 0, "a lost packet is sent again, not the whole chunk")
	if n := c.whole("L2_ACK_INTERVAL", 1, 0, 1<<30); n != 1 {
		p.warn(c.set["L2_ACK_INTERVAL"], "%d is not supported: every packet is acknowledged", n)
	}
	if v, _ := c.number("ERROR_RATE_PER_LINK", 0); v > 0 {
		p.warn(c.set["ERROR_RATE_PER_LINK"], "%v is not supported: links do not lose packets", v)
	}
	if s, ok := c.get("LINK_DOWN"); ok && (len(s.words) == 0 || s.words[0] != "0") {
		p.warn(s, "links do not go down")
	}
}
