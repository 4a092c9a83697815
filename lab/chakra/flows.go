package chakra

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"photon/config"
	"photon/lab/collective"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/units"
)

// Trace is the traces of all ranks.
type Trace struct {
	Ranks  []*Rank
	Groups map[string][]int // ranks, by the names of process groups
}

// Collective operations, as et_def.proto numbers them.
const (
	allReduce     = 0
	allGather     = 2
	broadcast     = 5
	allToAll      = 6
	reduceScatter = 7
	reduceBlock   = 8
	barrier       = 9
)

// ReadGroups reads process groups: a JSON object of names and lists of ranks, none of which is twice in a list.
func ReadGroups(file string, b []byte) (map[string][]int, error) {
	groups, text := map[string][]int{}, config.Text(b)
	if err := json.Unmarshal([]byte(text), &groups); err != nil {
		var offset int64
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		if errors.As(err, &syntax) {
			offset = syntax.Offset
		} else if errors.As(err, &kind) {
			offset = kind.Offset
		}
		return nil, &config.Error{File: file, Line: 1 + strings.Count(text[:offset], "\n"),
			Err: fmt.Errorf("not an object of process groups and their ranks: %w", err)}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		there := map[int]bool{}
		for _, rank := range groups[name] {
			if there[rank] {
				return nil, &config.Error{File: file, Err: fmt.Errorf("process group %q has rank %d twice", name, rank)}
			}
			there[rank] = true
		}
	}
	return groups, nil
}

// Computed is how long the rank computes that does so longest.
func (t *Trace) Computed() (most units.Time) {
	for _, r := range t.Ranks {
		var sum units.Time
		for i := range r.Nodes {
			sum = sum.Add(r.Nodes[i].Duration)
		}
		most = max(most, sum)
	}
	return most
}

// together is a collective, or a message, as its ranks take part in it.
type together struct {
	row   []int
	nodes []*Node // by place in row; nil: not there yet
}

// builder makes flows of a trace.
type builder struct {
	t      *Trace
	plan   *topology.Plan
	hosts  []int
	dscp   uint8
	shared *experiment.Connections
	list   []experiment.Flow
	kind   *experiment.FlowKind
	start  map[*Node]*experiment.Wait // when it may begin
	end    map[*Node]*experiment.Wait // when it has ended
}

// Flows lists the messages of a trace as flows that wait for each other; rank i is host i of the plan.
//
// A message needs no buffer of its receiver: it is sent when its sender comes to it. Collectives are those of
// package collective: rings, all to all at once, and a binary tree, whose order is that of the ranks. The
// n-th collective of a process group is one and the same for all of its ranks.
func (t *Trace) Flows(p *topology.Plan, dscp uint8, shared *experiment.Connections, list []experiment.Flow) ([]experiment.Flow, error) {
	b := &builder{
		t: t, plan: p, hosts: p.Hosts(), dscp: dscp, shared: shared, list: list, kind: &experiment.FlowKind{Group: experiment.DependentGroup, Weight: 1},
		start: map[*Node]*experiment.Wait{}, end: map[*Node]*experiment.Wait{},
	}
	b.nodes()
	if err := b.messages(); err != nil {
		return nil, err
	}
	if err := b.collectives(); err != nil {
		return nil, err
	}
	if experiment.Circle(b.list) {
		if err := b.stuck(); err != nil {
			return nil, err
		}
	}
	return b.list, nil
}

// stuck names a node that begins and never ends, since what it waits for of other ranks waits for it.
func (b *builder) stuck() error {
	var ends []*experiment.Wait
	for _, w := range b.end {
		ends = append(ends, w)
	}
	missing := experiment.Missing(b.list, ends...)
	for rank, r := range b.t.Ranks {
		for i := range r.Nodes {
			if x := &r.Nodes[i]; missing[b.start[x]] <= 0 && missing[b.end[x]] > 0 {
				return fmt.Errorf("%s: it never ends: what it needs of another rank waits for it", b.at(rank, x))
			}
		}
	}
	return nil
}

// nodes says when each node may begin, and when those end that compute.
func (b *builder) nodes() {
	for rank, r := range b.t.Ranks {
		of := map[uint64]*experiment.Wait{}
		host := b.hosts[rank]
		for i := range r.Nodes {
			x := &r.Nodes[i]
			b.start[x], b.end[x] = &experiment.Wait{Host: host}, &experiment.Wait{Host: host}
			of[x.ID] = b.end[x]
			if x.Kind < Send {
				b.end[x].After, b.end[x].Delay = []experiment.Cause{{Wait: b.start[x]}}, x.Duration
			}
		}
		for i := range r.Nodes {
			x := &r.Nodes[i]
			for _, id := range x.After {
				b.start[x].After = append(b.start[x].After, experiment.Cause{Wait: of[id]})
			}
		}
	}
}

// at is where a node is.
func (b *builder) at(rank int, x *Node) string {
	return fmt.Sprintf("%s: node %d", b.t.Ranks[rank].File, x.ID)
}

// messages pairs sends and receptions: the n-th from a rank to another with a tag.
func (b *builder) messages() error {
	type key struct {
		from, to int
		tag      int64
	}
	type ends struct{ sends, receives []*Node }
	all := map[key]*ends{}
	var order []key
	nics := experiment.NICs{Plan: b.plan}
	for rank, r := range b.t.Ranks {
		for i := range r.Nodes {
			x := &r.Nodes[i]
			if x.Kind != Send && x.Kind != Receive {
				continue
			}
			if x.Peer < 0 || x.Peer >= int64(len(b.t.Ranks)) || int(x.Peer) == rank {
				return fmt.Errorf("%s: rank %d: there are 0 to %d, and it is of rank %d", b.at(rank, x), x.Peer, len(b.t.Ranks)-1, rank)
			}
			k := key{rank, int(x.Peer), x.Tag}
			if x.Kind == Receive {
				k.from, k.to = k.to, k.from
			}
			e := all[k]
			if e == nil {
				e = &ends{}
				all[k] = e
				order = append(order, k)
			}
			if x.Kind == Send {
				e.sends = append(e.sends, x)
			} else {
				e.receives = append(e.receives, x)
			}
		}
	}
	for _, k := range order {
		e := all[k]
		switch n := min(len(e.sends), len(e.receives)); {
		case len(e.sends) > n:
			return fmt.Errorf("%s: rank %d never receives it (tag %d)", b.at(k.from, e.sends[n]), k.to, k.tag)
		case len(e.receives) > n:
			return fmt.Errorf("%s: rank %d never sends it (tag %d)", b.at(k.to, e.receives[n]), k.from, k.tag)
		}
		for i, s := range e.sends {
			r := e.receives[i]
			if r.Size != s.Size {
				return fmt.Errorf("%s: %d bytes, and rank %d sends %d", b.at(k.to, r), r.Size, k.from, s.Size)
			}
			flow := int32(len(b.list))
			from, to := nics.Next(b.hosts[k.from], b.hosts[k.to])
			b.list = append(b.list, experiment.Flow{
				FlowKind: b.kind, From: from, To: to, Size: s.Size, Start: units.Never, DSCP: b.dscp, AddWhenDue: true,
				Wait: b.start[s], Shared: b.shared.Of(0, from, to),
			})
			b.end[s].After = []experiment.Cause{{Flow: flow, What: experiment.Acknowledged}}
			b.end[r].After = []experiment.Cause{{Flow: flow, What: experiment.Arrived}, {Wait: b.start[r]}}
		}
	}
	return nil
}

// collectives finds what ranks do together, and lists the messages of it.
func (b *builder) collectives() error {
	world := make([]int, len(b.t.Ranks))
	for i := range world {
		world[i] = i
	}
	of := map[string][]*together{}
	var order []string
	for rank, r := range b.t.Ranks {
		count := map[string]int{}
		for i := range r.Nodes {
			x := &r.Nodes[i]
			if x.Kind != Collective {
				continue
			}
			row := world
			if x.Group != "" {
				var ok bool
				if row, ok = b.t.Groups[x.Group]; !ok {
					return fmt.Errorf("%s: process group %q is not in the file of groups", b.at(rank, x), x.Group)
				}
			}
			place := slices.Index(row, rank)
			if place < 0 {
				return fmt.Errorf("%s: rank %d is not of process group %s", b.at(rank, x), rank, x.Group)
			}
			n := count[x.Group]
			count[x.Group]++
			if of[x.Group] == nil {
				order = append(order, x.Group)
			}
			if n == len(of[x.Group]) {
				of[x.Group] = append(of[x.Group], &together{row, make([]*Node, len(row))})
			}
			of[x.Group][n].nodes[place] = x
		}
	}
	for _, group := range order {
		for _, c := range of[group] {
			if err := b.together(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) together(c *together) error {
	first := slices.IndexFunc(c.nodes, func(x *Node) bool { return x != nil })
	x := c.nodes[first]
	at := b.at(c.row[first], x)
	g := experiment.Together{Plan: b.plan, FlowKind: b.kind, DSCP: b.dscp, Shared: b.shared.Of}
	start := make([]*experiment.Wait, len(c.row))
	for i, rank := range c.row {
		if rank < 0 || rank >= len(b.hosts) || rank >= len(b.t.Ranks) {
			return fmt.Errorf("%s: there is no rank %d, which is of its process group", at, rank)
		}
		y := c.nodes[i]
		switch {
		case y == nil:
			return fmt.Errorf("%s: rank %d does not take part in it", at, rank)
		case y.Type != x.Type || y.Size != x.Size:
			return fmt.Errorf("%s: comm_type %d of %d bytes, and %s has comm_type %d of %d", b.at(rank, y), y.Type, y.Size, at, x.Type, x.Size)
		}
		g.Row, start[i] = append(g.Row, b.hosts[rank]), b.start[y]
	}
	s := collective.Spec{Ranks: len(c.row), Size: x.Size}
	switch x.Type {
	case allReduce:
		s.Do = "all-reduce"
	case allGather: // its size is each rank's part
		s.Do, s.Size = "all-gather", x.Size*units.Size(len(c.row))
	case broadcast:
		s.Do = "broadcast"
	case allToAll:
		s.Do = "all-to-all"
	case reduceScatter, reduceBlock:
		s.Do = "reduce-scatter"
	case barrier: // no more than that all know of each other
		s.Do, s.Size = "all-reduce", units.Size(len(c.row))
	default:
		return fmt.Errorf("%s: comm_type %d is not supported: all-reduce (0), all-gather (2), broadcast (5), all-to-all (6), reduce-scatter (7, 8) and barrier (9) are", at, x.Type)
	}
	if len(c.row) == 1 { // alone it has everything
		b.end[x].After = []experiment.Cause{{Wait: start[0]}}
		return nil
	}
	tasks, err := s.Tasks()
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	var end []*experiment.Wait
	b.list, end = g.Messages(tasks, start, b.list)
	for i, y := range c.nodes {
		b.end[y].After = []experiment.Cause{{Wait: end[i]}, {Wait: start[i]}}
	}
	return nil
}
