package experiment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"photon/config"
	"photon/lab/collective"
	"photon/lab/topology"
	"photon/units"
)

// Collective is a collective operation of hosts, once or several times.
type Collective struct {
	Name      config.Value[string]     `yaml:"name"`
	Do        config.Value[string]     `yaml:"do"`        // all-reduce, all-to-all and so on
	Hosts     config.Value[string]     `yaml:"hosts"`     // in this order; as from and to of flows
	Size      config.Value[units.Size] `yaml:"size"`      // of the buffer of each
	Algorithm config.Value[string]     `yaml:"algorithm"` // ring or halving-doubling; ring if absent
	Chunks    config.Value[int]        `yaml:"chunks"`    // messages are cut into so many, each of which moves as soon as it has come; 1 if absent
	Channels  config.Value[int]        `yaml:"channels"`  // the buffer is cut into so many, each with connections of its own; 1 if absent
	Window    config.Value[int]        `yaml:"window"`    // all-to-all: messages of a host under way; all if absent
	Root      config.Value[int]        `yaml:"root"`      // broadcast: place of the host that has the data; 0 if absent
	Degree    config.Value[int]        `yaml:"degree"`    // broadcast: to how many hosts each sends; 2 if absent

	Microbatches config.Value[int]        `yaml:"microbatches"` // pipeline
	Layers       config.Value[int]        `yaml:"layers"`       // tensor-parallel
	Compute      config.Value[units.Time] `yaml:"compute"`      // pipeline: of a microbatch; tensor-parallel: before each all-reduce
	Backward     config.Value[units.Time] `yaml:"backward"`     // pipeline: of a microbatch on its way back; compute if absent

	GroupsOf    config.Value[int] `yaml:"groups_of"`   // the hosts are divided into groups of so many, each of which does it by itself
	Interleaved bool              `yaml:"interleaved"` // a host is of the same group as those at the same place in others' rows, not as its neighbours

	Start  config.Value[units.Time] `yaml:"start"`
	After  Afters                   `yaml:"after"`
	Repeat config.Value[int]        `yaml:"repeat"` // so many times, each host when it has all of the time before; 1 if absent
	Gap    config.Value[units.Time] `yaml:"gap"`    // and so long after that: what it computes between
	DSCP   config.Value[int]        `yaml:"dscp"`   // absent: of the priority
}

// Spec is what one group of hosts does.
func (c *Collective) Spec(ranks int) collective.Spec {
	return collective.Spec{
		Do: c.Do.V, Algorithm: c.Algorithm.V, Ranks: ranks, Size: c.Size.V, Chunks: c.Chunks.V, Channels: c.Channels.V, Window: c.Window.V, Root: c.Root.V,
		Degree: c.Degree.V, Microbatches: c.Microbatches.V, Layers: c.Layers.V, Compute: c.Compute.V, Backward: c.Backward.V,
	}
}

// Rows are the groups of hosts that do it.
func (c *Collective) Rows(p *topology.Plan) (rows [][]int, err error) {
	list, err := hosts(p, c.Hosts)
	if err != nil {
		return nil, err
	}
	of := c.GroupsOf.Or(len(list))
	if of < 1 || len(list)%of != 0 {
		return nil, at(c.GroupsOf, "collective %s: %d hosts cannot be divided into groups of %d", c.Name.V, len(list), of)
	}
	n := len(list) / of
	rows = make([][]int, n)
	for i, h := range list {
		row := i / of
		if c.Interleaved {
			row = i % n
		}
		rows[row] = append(rows[row], h)
	}
	for _, row := range rows {
		sorted := slices.Sorted(slices.Values(row))
		if len(slices.Compact(sorted)) != len(row) {
			return nil, at(c.Hosts, "collective %s: a host is there twice", c.Name.V)
		}
	}
	return rows, nil
}

func (c *Collective) check(e *Experiment) error {
	switch {
	case strings.ContainsFunc(c.Name.V, func(r rune) bool { return r <= ' ' || r == ',' || r == '@' || r == 0x7F }) || c.Name.V == "":
		return at(c.Do, "collective %q: it needs a name, without blanks, commas and @", c.Name.V)
	case c.Start.V < 0 || c.Gap.V < 0 || c.Repeat.Or(1) < 1:
		return at(c.Do, "collective %s: times must not be negative, and it is done once at least", c.Name.V)
	case c.Repeat.V > maxRepeat:
		return at(c.Repeat, "collective %s: repeat %d: %d at most", c.Name.V, c.Repeat.V, maxRepeat)
	case e.changed(c.Name.V):
		return at(c.Name, "collective %s: events are of flows that are there from the beginning", c.Name.V)
	}
	if err := checkDSCP("", c.DSCP); err != nil {
		return err
	}
	for i, t := range []config.Value[units.Time]{c.Start, c.Gap, c.Compute, c.Backward} {
		if t.V > mostDuration {
			name := [...]string{"start", "gap", "compute", "backward"}[i]
			return at(t, "collective %s: %s %v: %v is the most", c.Name.V, name, t.V, mostDuration)
		}
	}
	if k := unused(
		key{"window", c.Window.IsSet(), c.Do.V == "all-to-all"}, key{"root", c.Root.IsSet(), c.Do.V == "broadcast"}, key{"degree", c.Degree.IsSet(), c.Do.V == "broadcast"},
		key{"microbatches", c.Microbatches.IsSet(), c.Do.V == "pipeline"}, key{"layers", c.Layers.IsSet(), c.Do.V == "tensor-parallel"},
		key{"compute", c.Compute.IsSet(), c.Do.V == "pipeline" || c.Do.V == "tensor-parallel"}, key{"backward", c.Backward.IsSet(), c.Do.V == "pipeline"},
		key{"interleaved", c.Interleaved, c.GroupsOf.IsSet()}, key{"gap", c.Gap.IsSet(), c.Repeat.Or(1) > 1},
	); k != "" {
		return at(c.Do, "collective %s: %s is for nothing here", c.Name.V, k)
	}
	return nil
}

// collect lists the messages of a collective, and when its hosts begin and end.
func (e *Experiment) collect(p *topology.Plan, c *Collective, shared *Connections, list []Flow) ([]Flow, *members, error) {
	if err := c.check(e); err != nil {
		return nil, nil, err
	}
	rows, err := c.Rows(p)
	if err != nil {
		return nil, nil, err
	}
	tasks, err := c.Spec(len(rows[0])).Tasks()
	if err != nil {
		return nil, nil, at(c.Do, "collective %s: %v", c.Name.V, err)
	}
	if n := float64(len(tasks)) * float64(len(rows)) * float64(c.Repeat.Or(1)); n > collective.MostTasks {
		return nil, nil, at(c.Do, "collective %s: about %.2g messages and computations in all; %d are the most",
			c.Name.V, n, collective.MostTasks)
	}
	m := &members{start: map[int]*Wait{}, end: map[int]*Wait{}}
	kind := &FlowKind{Group: c.Name.V, Weight: 1, exact: true}
	for _, row := range rows {
		start := make([]*Wait, len(row))
		for r, h := range row {
			h = topology.Unpinned(h)
			if start[r] = (&Wait{Host: h, Delay: c.Start.V}); len(c.After) > 0 { // not before
				start[r] = &Wait{Host: h, After: []Cause{{Wait: start[r]}}}
			}
			m.start[h] = start[r]
			m.starts = append(m.starts, start[r])
		}
		var end []*Wait
		for step := range c.Repeat.Or(1) {
			if step > 0 {
				for r, h := range row {
					start[r] = &Wait{Host: topology.Unpinned(h), After: []Cause{{Wait: end[r]}}, Delay: c.Gap.V}
				}
			}
			g := Together{kind, p, row, uint16(step), uint8(c.DSCP.V), func(channel, from, to int) uint32 { return shared.of(c.Name.V, channel, from, to) }}
			list, end = g.Messages(tasks, start, list)
		}
		for r, h := range row {
			m.end[topology.Unpinned(h)] = end[r]
			m.ends = append(m.ends, end[r])
		}
	}
	return list, m, nil
}

// Connections numbers the connections whose messages go one after the other.
type Connections struct {
	first int // numbers that are taken
	known map[connection]uint32
}

type connection struct {
	name              string
	channel, from, to int
}

// of is the number of a connection, the same each time.
func (c *Connections) of(name string, channel, from, to int) uint32 {
	if c.known == nil {
		c.known = map[connection]uint32{}
	}
	k := connection{name, channel, from, to}
	if c.known[k] == 0 {
		c.known[k] = uint32(c.first + len(c.known) + 1)
	}
	return c.known[k]
}

// Of is that of messages which have no name.
func (c *Connections) Of(channel, from, to int) uint32 { return c.of("", channel, from, to) }

// Together is hosts that do one thing together.
type Together struct {
	*FlowKind
	Plan *topology.Plan
	Row  []int // hosts, or pinned NICs, by rank; the channels of a host's ranks go by its NICs in turn
	Step uint16
	DSCP uint8
	// Shared numbers connections: messages of a channel from one host to another are of one.
	Shared func(channel, from, to int) uint32
}

// Messages lists what ranks send, behind the flows of list. A rank begins when start is over, and end is when it has
// all that is for it; of one that gets nothing, when what it sent was acknowledged.
func (g *Together) Messages(tasks []collective.Task, start []*Wait, list []Flow) (all []Flow, end []*Wait) {
	row := g.Row
	first := len(list)
	flow := make([]int32, len(tasks)) // of the messages
	computed := make([]*Wait, len(tasks))
	next := int32(first)
	for i := range tasks {
		if flow[i] = -1; tasks[i].To != collective.Compute {
			flow[i] = next
			next++
		}
	}
	end = make([]*Wait, len(row))
	sent := make([]*Wait, len(row)) // ends of those that get nothing
	for r, h := range row {
		h = topology.Unpinned(h)
		end[r], sent[r] = &Wait{Host: h}, &Wait{Host: h}
	}
	for i := range tasks {
		t := &tasks[i]
		wait, from, to := start[t.Rank], topology.Unpinned(row[t.Rank]), 0
		if t.To != collective.Compute {
			from, to = g.Plan.Pick(row[t.Rank], row[t.To], t.Channel)
		}
		if len(t.After) > 0 {
			wait = &Wait{Host: from}
			if !slices.ContainsFunc(t.After, func(d collective.Dep) bool { return tasks[d.Task].Rank == t.Rank }) {
				wait.After = append(wait.After, Cause{Wait: start[t.Rank]}) // what others do says nothing of that
			}
			for _, d := range t.After {
				cause := Cause{Flow: flow[d.Task], What: Arrived}
				switch before := &tasks[d.Task]; {
				case before.To == collective.Compute:
					cause = Cause{Wait: computed[d.Task]}
				case before.Rank == t.Rank:
					cause.What = Acknowledged
				}
				wait.After = append(wait.After, cause)
			}
		}
		if t.To == collective.Compute {
			wait = &Wait{Host: from, After: []Cause{{Wait: wait}}, Delay: t.Time}
			computed[i] = wait
			end[t.Rank].After = append(end[t.Rank].After, Cause{Wait: wait})
			continue
		}
		end[t.To].After = append(end[t.To].After, Cause{Flow: flow[i], What: Arrived})
		sent[t.Rank].After = append(sent[t.Rank].After, Cause{Flow: flow[i], What: Acknowledged})
		list = append(list, Flow{
			FlowKind: g.FlowKind, From: from, To: to, Size: t.Size, Start: units.Never, DSCP: g.DSCP, Wait: wait, Step: g.Step,
			Shared: g.Shared(t.Channel, from, to), AddWhenDue: true,
		})
	}
	for r := range end {
		if len(end[r].After) == 0 {
			end[r] = sent[r]
		}
	}
	return list, end
}

// CollectiveOf is a collective by its name; nil: there is none.
func (e *Experiment) CollectiveOf(name string) *Collective {
	for i := range e.Collectives {
		if e.Collectives[i].Name.V == name {
			return &e.Collectives[i]
		}
	}
	return nil
}

// depend lists the flows of collectives, and has flows wait for each other.
func (e *Experiment) depend(p *topology.Plan, seed uint64, list []Flow, groups map[string]*members, own []span) ([]Flow, error) {
	if !e.Waiting() {
		return list, nil
	}
	shared := &Connections{first: len(e.Workloads)}
	for i := range e.Collectives {
		c := &e.Collectives[i]
		if groups[c.Name.V] != nil {
			return nil, at(c.Name, "there are two groups of flows %q", c.Name.V)
		}
		var m *members
		var err error
		if list, m, err = e.collect(p, c, shared, list); err != nil {
			return nil, err
		}
		groups[c.Name.V] = m
	}
	// No two hosts begin at one instant: see phases.
	if most := e.StartPhase(p, list); most > 0 {
		random := rand.New(rand.NewPCG(seed, 1<<42))
		for i := range e.Collectives {
			if len(e.Collectives[i].After) > 0 {
				continue
			}
			for _, w := range groups[e.Collectives[i].Name.V].starts {
				w.Delay += units.Time(random.Int64N(int64(most)))
			}
		}
	}
	if e.Dependent != nil {
		var err error
		if list, err = e.Dependent(p, shared, list); err != nil {
			return nil, err
		}
	}
	if err := e.arrange(&waits{e, p, list, groups, own}); err != nil {
		return nil, err
	}
	if len(list) >= 1<<24 {
		return nil, fmt.Errorf("%d flows: queue pairs have 24 bits", len(list))
	}
	return list, nil
}
