package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"photon/config"
	"photon/lab/topology"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

// Traffic is what agents send: the flows and workloads of experiments, in which
// hosts go by their addresses. One file may be given to all agents; each takes
// the flows that are from itself. A flow without `from` is from every agent that
// reads the file.
type Traffic struct {
	Hosts     []config.Value[wire.IP]  `yaml:"hosts"`    // in the order of ranges; what `*` stands for
	Seed      uint64                   `yaml:"seed"`     // of everything random; 1
	Duration  config.Value[units.Time] `yaml:"duration"` // flows that come again, and workloads, end then
	Flows     []FlowGroup              `yaml:"flows"`
	Workloads []Workload               `yaml:"workloads"`

	file string
}

// TrafficFlow is one flow of a Traffic that the agent is to send.
type TrafficFlow struct {
	Group       string
	To          wire.IP
	Size        units.Size // 0: until it is stopped
	Start, Stop units.Time // Stop 0: at its end
	Limit       units.Rate // 0: none
	Begin       units.Rate // 0: line rate
	DSCP        uint8      // 0: the agent's for data
	Shared      uint32     // whose message it is; 0: of none
	Weight      int        // frames per turn at the port
}

// ParseTraffic reads a file of flows and workloads.
func ParseTraffic(file string, b []byte) (*Traffic, error) {
	t := &Traffic{}
	if err := config.Decode(file, b, t); err != nil {
		return nil, err
	}
	t.file = file // an empty file leaves nothing in t
	if t.Seed == 0 {
		t.Seed = 1
	}
	if len(t.Flows)+len(t.Workloads) == 0 {
		return nil, &config.Error{File: file, Err: errors.New("there are neither flows nor workloads")}
	}
	return t, nil
}

// forever is a duration of which nothing is left out.
const forever = 100 * 24 * 3600 * units.Second

// Of lists the flows that the agent with an address is to send, in the order in
// which they start.
func (t *Traffic) Of(self wire.IP) (list []TrafficFlow, err error) {
	list, err = t.of(self)
	if err == nil {
		return list, nil
	}
	var located *config.Error
	if errors.As(err, &located) {
		located.File = t.file
		return nil, located
	}
	return nil, &config.Error{File: t.file, Err: err}
}

func (t *Traffic) of(self wire.IP) (list []TrafficFlow, err error) {
	if err := t.checkAddresses(); err != nil {
		return nil, err
	}
	p, addresses := t.plan(self)
	e := &Experiment{Flows: slices.Clone(t.Flows), Workloads: slices.Clone(t.Workloads), Duration: t.Duration.Or(forever)}
	for i := range e.Flows {
		g := &e.Flows[i]
		if len(g.After) > 0 || g.Repeat.IsSet() {
			return nil, at(g.To, "%v", errAlone)
		}
		if !g.To.IsSet() {
			return nil, at(g.From, "flow group %d does not say where to (`to: 10.0.0.2`)", i+1)
		}
		if g.Size.IsSet() && g.Size.V == 0 {
			return nil, at(g.Size, "size 0B: a flow has something to send (leave it out for an endless flow)")
		}
		if !g.From.IsSet() {
			g.From = config.Value[string]{V: self.String(), Line: g.To.Line}
		}
		if !t.Duration.IsSet() && !g.Until.IsSet() && (g.Every.IsSet() || g.Gap.IsSet()) {
			return nil, at(g.To, "flows that come again need an end: until, or the file's duration")
		}
	}
	for i := range e.Workloads {
		w := &e.Workloads[i]
		if !w.From.IsSet() {
			w.From = config.Value[string]{V: self.String(), Line: w.To.Line}
		}
		if err := w.missing(strconv.Itoa(i)); err != nil {
			return nil, config.FailIn([]any{w}, "%v", err)
		}
		if !t.Duration.IsSet() && !w.End.IsSet() && !w.Flows.IsSet() {
			return nil, at(w.To, "workload %d needs an end: end, flows, or the file's duration", i+1)
		}
	}
	flows, err := e.Sends(p, t.Seed)
	if err != nil {
		return nil, err
	}
	for _, f := range flows.All() {
		// With `every` and `spread` the group's stop may come before some of its flows start: these send nothing.
		if addresses[f.From] != self || f.Stop > 0 && f.Stop <= f.Start {
			continue
		}
		if f.Weight != float64(int(f.Weight)) || f.Weight > ratelimit.MaxWeight {
			return nil, fmt.Errorf("flows %s: weight %v: a whole number from 1 to %d, at an agent's port", f.Group, f.Weight, ratelimit.MaxWeight)
		}
		limit := f.Rate
		if f.Cap > 0 && (limit == 0 || f.Cap < limit) {
			limit = f.Cap
		}
		list = append(list, TrafficFlow{
			Group: f.Group, To: addresses[f.To], Size: f.Size, Start: f.Start, Stop: f.Stop, Limit: limit, Begin: f.Begin, DSCP: f.DSCP, Shared: f.Shared,
			Weight: int(f.Weight),
		})
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("no flow is from this agent, %v", self)
	}
	slices.SortStableFunc(list, func(a, b TrafficFlow) int { return cmp.Compare(a.Start, b.Start) })
	return list, nil
}

// plan has a host for every address in the file, and for self.
func (t *Traffic) plan(self wire.IP) (p *topology.Plan, addresses []wire.IP) {
	p = topology.New()
	add := func(a wire.IP) {
		if _, there := p.Find(a.String()); !there {
			p.Host("%v", a)
			addresses = append(addresses, a)
		}
	}
	for _, h := range t.Hosts {
		add(h.V)
	}
	for _, names := range t.names() {
		if a, err := wire.ParseIP(names.V); err == nil {
			add(a)
		}
	}
	add(self)
	return p, addresses
}

// checkAddresses finds addresses that no host has.
func (t *Traffic) checkAddresses() error {
	for _, h := range t.Hosts {
		if !h.V.Unicast() {
			return at(h, "%v: that is no address of a host", h.V)
		}
	}
	for _, names := range t.names() {
		if a, err := wire.ParseIP(names.V); err == nil && !a.Unicast() {
			return at(names, "%v: that is no address of a host", a)
		}
	}
	return nil
}

// names are the hosts that flows name, ranges and lists as they are.
func (t *Traffic) names() (names []config.Value[string]) {
	for _, g := range t.Flows {
		names = append(names, g.From, g.To)
	}
	for _, w := range t.Workloads {
		names = append(names, w.From, w.To)
	}
	return names
}
