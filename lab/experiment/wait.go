package experiment

import (
	"errors"
	"iter"
	"slices"

	"photon/config"
	"photon/lab/topology"
	"photon/units"
)

// Wait holds flows of a host back until things have happened, and for a time after that.
type Wait struct {
	Host  int // node at which it is known that it is over
	After []Cause
	Need  int // so many of them; 0: all
	Delay units.Time
}

// Cause is something that a Wait waits for: another Wait that is over, or what happens to a flow.
type Cause struct {
	Wait  *Wait // nil: it is of a flow
	Flow  int32 // its number among all flows of the run
	What  Moment
	Bytes units.Size // of Passed: so much of its payload has arrived
}

// Moment is when something of a flow happens, and where that is known first.
type Moment uint8

// Moments.
const (
	Begun        Moment = iota // it begins: at its sender
	Passed                     // part of it has arrived: at its receiver
	Arrived                    // all of it has: at its receiver
	Acknowledged               // and its sender knows that
)

// Where is the node at which a cause is known first.
func (c *Cause) Where(flows []Flow) int {
	switch {
	case c.Wait != nil:
		return c.Wait.Host
	case c.What == Passed || c.What == Arrived:
		return flows[c.Flow].To
	}
	return flows[c.Flow].From
}

// SignalDelay is how long it takes until another host knows what happened at one: half of the longest base
// round trip, as long as a message through the empty network takes at least, if the experiment says
// nothing else.
func (e *Experiment) SignalDelay(p *topology.Plan, flows *FlowList) units.Time {
	if s := e.Parameters.SignalDelay.Value; s.IsSet() {
		return s.V
	}
	return max(units.Nanosecond, e.Known(p, flows, 0).RTT/2)
}

// waits makes what flows wait for of what the experiment says of groups. groups says which flows are
// whose.
type waits struct {
	e      *Experiment
	plan   *topology.Plan
	flows  []Flow
	groups map[string]*members
	own    []span // flows of each of the experiment's groups
}

// span is flows in a row, from the first to before the last.
type span struct{ first, last int }

// members are the flows of a group, and the ends of the ranks of a collective.
type members struct {
	flows      []span        // of all groups of the name
	start, end map[int]*Wait // of a collective: by host, of the first step and of the last
	starts     []*Wait       // the same, in the order of ranks
	ends       []*Wait
}

// each passes the numbers of all its flows.
func (m *members) each() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, s := range m.flows {
			for i := s.first; i < s.last; i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// join notes whose flows are some of a list: groups may share a name.
func join(groups map[string]*members, name string, s span) {
	m := groups[name]
	if m == nil {
		m = &members{}
		groups[name] = m
	}
	m.flows = append(m.flows, s)
}

// causes are what a host waits for if it waits for something of a group: what it has part in; or all of it,
// if it has no part in it or all is asked for.
func (w *waits) causes(host int, a *After) (list []Cause, err error) {
	g, ok := w.groups[a.Flows.V]
	if !ok {
		names := w.e.groups()
		return nil, at(a.Flows, "there are no flows %q to wait for (%s)", a.Flows.V, others(a.Flows.V, names))
	}
	if g.starts != nil {
		return w.ofCollective(g, host, a)
	}
	part, all := []Cause{}, []Cause{}
	for i := range g.each() {
		f := &w.flows[i]
		c := Cause{Flow: int32(i)}
		switch moment, size := a.moment(); {
		case moment == Passed && (f.Size == 0 || size <= f.Size):
			c.What, c.Bytes = Passed, size
		case moment == Passed:
			return nil, at(a.At, "flows %s have %v: %v of them never arrive", a.Flows.V, f.Size, size)
		case f.Size == 0 && moment != Begun:
			return nil, at(a.Flows, "flows %s have no size: they do not end by themselves, and nothing can wait for that", a.Flows.V)
		case moment == Arrived && w.same(f.From, host): // it knows this at once
			c.What = Acknowledged
		default:
			c.What = moment
		}
		all = append(all, c)
		if w.same(f.From, host) || w.same(f.To, host) {
			part = append(part, c)
		}
	}
	if len(part) == 0 || a.All {
		return all, nil
	}
	return part, nil
}

// same reports whether two NICs are of one host.
func (w *waits) same(a, b int) bool {
	if a == b || !w.plan.Several() {
		return a == b
	}
	a, _ = w.plan.HostOf(a)
	b, _ = w.plan.HostOf(b)
	return a == b
}

func (w *waits) ofCollective(g *members, host int, a *After) (list []Cause, err error) {
	one, all := g.end, g.ends
	switch moment, _ := a.moment(); {
	case moment == Begun:
		one, all = g.start, g.starts
	case moment != Arrived:
		return nil, at(a.At, "of collective %s there are start and end", a.Flows.V)
	}
	if !a.All {
		of, _ := w.plan.HostOf(host)
		for _, nic := range w.plan.NICs(of) {
			if x := one[nic]; x != nil {
				list = append(list, Cause{Wait: x})
			}
		}
		if len(list) > 0 {
			return list, nil
		}
	}
	for _, w := range all {
		list = append(list, Cause{Wait: w})
	}
	return list, nil
}

// of is what a host waits for that is to begin after all of several things.
func (w *waits) of(host int, list []After) (*Wait, error) {
	x := &Wait{Host: host}
	for i := range list {
		a := &list[i]
		if err := a.check(); err != nil {
			return nil, err
		}
		causes, err := w.causes(host, a)
		if err != nil {
			return nil, err
		}
		if a.Delay > 0 {
			causes = []Cause{{Wait: &Wait{Host: host, After: causes, Delay: a.Delay}}}
		}
		x.After = append(x.After, causes...)
	}
	return x, nil
}

// before is what has to happen before the cause does; nil: nothing.
func (c *Cause) before(flows []Flow) *Wait {
	if c.Wait != nil {
		return c.Wait
	}
	return flows[c.Flow].Wait
}

// cycle finds flows that wait for each other in a circle, none of which would ever begin. In a circle where not all
// that is waited for is needed, flows may begin.
func (e *Experiment) cycle(flows []Flow) error {
	if !Circle(flows) {
		return nil
	}
	return e.neverBegin(flows)
}

// Circle reports whether flows wait for each other in a circle. The path is a list, since it may have millions of
// steps: too many for a stack.
func Circle(flows []Flow) bool {
	type step struct {
		w    *Wait
		next int // of its causes
	}
	var path []step
	left := map[*Wait]bool{} // false: it is on the path
	enter := func(w *Wait) (circle bool) {
		if over, known := left[w]; w == nil || known {
			return known && !over
		}
		left[w] = false
		path = append(path, step{w: w})
		return false
	}
	for i := range flows {
		circle := enter(flows[i].Wait)
		for len(path) > 0 && !circle {
			s := &path[len(path)-1]
			if s.next == len(s.w.After) {
				left[s.w] = true
				path = path[:len(path)-1]
				continue
			}
			s.next++
			circle = enter(s.w.After[s.next-1].before(flows))
		}
		if circle {
			return true
		}
	}
	return false
}

// Missing says of flows' waits, of others, and of what they wait for, how many of its causes each lacks when all that
// is waited for has happened that can; none: 0 or less. What lacks some is never over.
func Missing(flows []Flow, others ...*Wait) map[*Wait]int {
	missing := map[*Wait]int{}
	behindWait, behindFlow, of := map[*Wait][]*Wait{}, map[int32][]*Wait{}, map[*Wait][]int32{}
	var list []*Wait
	add := func(w *Wait) {
		if _, known := missing[w]; known {
			return
		}
		if missing[w] = w.Need; w.Need == 0 {
			missing[w] = len(w.After)
		}
		list = append(list, w)
	}
	for i := range flows {
		if w := flows[i].Wait; w != nil {
			add(w)
			of[w] = append(of[w], int32(i))
		}
	}
	for _, w := range others {
		add(w)
	}
	for ; len(list) > 0; list = list[1:] {
		w := list[0]
		for i := range w.After {
			if c := &w.After[i]; c.Wait != nil {
				behindWait[c.Wait] = append(behindWait[c.Wait], w)
				add(c.Wait)
			} else {
				behindFlow[c.Flow] = append(behindFlow[c.Flow], w)
			}
		}
	}
	var open []*Wait
	happens := func(behind []*Wait) {
		for _, w := range behind {
			if missing[w]--; missing[w] == 0 {
				open = append(open, w)
			}
		}
	}
	for w, n := range missing {
		if n == 0 {
			open = append(open, w)
		}
	}
	for i := range flows {
		if flows[i].Wait == nil {
			happens(behindFlow[int32(i)])
		}
	}
	for ; len(open) > 0; open = open[1:] {
		happens(behindWait[open[0]])
		for _, f := range of[open[0]] {
			happens(behindFlow[f])
		}
	}
	return missing
}

// neverBegin finds flows that do not begin though all that is waited for happens as soon as it can.
func (e *Experiment) neverBegin(flows []Flow) error {
	missing, of := Missing(flows), map[*Wait][]int32{}
	for i := range flows {
		of[flows[i].Wait] = append(of[flows[i].Wait], int32(i))
	}
	// Of what is left each waits for another of them: whoever goes from one to the next comes into a circle.
	next := func(w *Wait) *Wait {
		for i := range w.After {
			if before := w.After[i].before(flows); missing[before] > 0 {
				return before
			}
		}
		return nil
	}
	for i := range flows {
		w, seen := flows[i].Wait, map[*Wait]bool{}
		if missing[w] <= 0 {
			continue
		}
		group := flows[i].Group
		for ; !seen[w]; w = next(w) {
			seen[w] = true
		}
		for circle := w; ; { // somewhere in it are flows, and not only ends of collectives
			if list := of[w]; len(list) > 0 {
				group = flows[list[0]].Group
				break
			}
			if w = next(w); w == circle {
				break
			}
		}
		return at(e.waitsFor(group), "flows %s wait for something that waits for them", group)
	}
	return nil
}

// waitsFor is the first that a group or a collective waits for; without a line if it is of neither.
func (e *Experiment) waitsFor(group string) (first config.Value[string]) {
	for i := range e.Flows {
		if g := &e.Flows[i]; g.label() == group && len(g.After) > 0 {
			return g.After[0].Flows
		}
	}
	for i := range e.Collectives {
		if c := &e.Collectives[i]; c.Name.V == group && len(c.After) > 0 {
			return c.After[0].Flows
		}
	}
	return first
}

// arrange has flows of groups, and collectives, wait for others.
func (e *Experiment) arrange(w *waits) error {
	for i := range e.Flows {
		g := &e.Flows[i]
		if len(g.After) == 0 {
			continue
		}
		own := map[int]*Wait{}
		for k := w.own[i].first; k < w.own[i].last; k++ {
			f := &w.flows[k]
			if f.Wait != nil { // it comes after the one before
				continue
			}
			x, ok := own[f.From]
			if !ok {
				var err error
				if x, err = w.of(f.From, g.After); err != nil {
					return err
				}
				if g.Start.V > 0 {
					x.After = append(x.After, Cause{Wait: &Wait{Host: f.From, Delay: g.Start.V}})
				}
				own[f.From] = x
			}
			f.Wait, f.Start = x, units.Never
		}
	}
	for i := range e.Collectives {
		c := &e.Collectives[i]
		for _, start := range w.groups[c.Name.V].starts {
			if len(c.After) == 0 {
				break
			}
			x, err := w.of(start.Host, c.After)
			if err != nil {
				return err
			}
			start.After = append(start.After, x.After...)
		}
	}
	return e.cycle(w.flows)
}

// checkWaits finds keys that make no sense of flows that wait for others, or repeat.
func (g *FlowGroup) checkWaits(e *Experiment) error {
	if len(g.After) == 0 && !g.Repeat.IsSet() {
		return nil
	}
	where := g.Repeat.Line
	if len(g.After) > 0 {
		where = g.After[0].Flows.Line
	}
	wrong := func(format string, args ...any) error {
		x := g.From
		if where > 0 {
			x.Line = where
		}
		return at(x, format, args...)
	}
	switch {
	case g.Repeat.Or(1) < 1:
		return at(g.Repeat, "flows %s: repeat %d: from 1 (absent: 1)", g.label(), g.Repeat.V)
	case g.Repeat.V > maxRepeat:
		return wrong("repeat %d: %d at most", g.Repeat.V, maxRepeat)
	case g.Every.IsSet() || g.Until.IsSet() || g.Stop.IsSet() || g.Lasts.IsSet():
		return wrong("flows %s wait for others: every, until, stop and lasts are of times", g.label())
	case len(g.After) > 0 && (g.Spread.IsSet() || g.Step.IsSet()):
		return wrong("flows %s wait for others: they have neither spread nor step", g.label())
	case g.Repeat.IsSet() && !g.Size.IsSet():
		return wrong("flows %s are to come again after their end: they need a size", g.label())
	case g.Weight.IsSet() || g.Cap.IsSet() || e.changed(g.label()):
		return wrong("flows %s wait for others: weights, caps and events are of flows that are there from the beginning", g.label())
	}
	return nil
}

// check finds what is wrong with what flows wait for.
func (a *After) check() error {
	switch moment, size := a.moment(); {
	case a.Delay < 0:
		return at(a.Flows, "a delay must not be negative")
	case moment == Passed && size <= 0:
		return at(a.At, "at %q: start, end, acknowledged or a size", a.At.V)
	}
	return nil
}

// moment is what of the flows is meant. A size that makes no sense is not positive.
func (a *After) moment() (m Moment, size units.Size) {
	switch a.At.Or("end") {
	case "start":
		return Begun, 0
	case "end":
		return Arrived, 0
	case "acknowledged":
		return Acknowledged, 0
	}
	if err := size.UnmarshalText([]byte(a.At.V)); err != nil {
		return Passed, 0
	}
	return Passed, size
}

// Waiting reports whether flows of the experiment wait for others.
func (e *Experiment) Waiting() bool {
	return e.Dependent != nil || len(e.Collectives) > 0 || slices.ContainsFunc(e.Flows, func(g FlowGroup) bool { return len(g.After) > 0 || g.Repeat.V > 1 })
}

// StepGroups are the groups whose flows are steps: collectives, and groups that are repeated, wait, or are waited for.
func (e *Experiment) StepGroups() (names []string) {
	add := func(name string, after Afters) {
		names = append(names, name)
		for i := range after {
			names = append(names, after[i].Flows.V)
		}
	}
	for i := range e.Collectives {
		add(e.Collectives[i].Name.V, e.Collectives[i].After)
	}
	for i := range e.Flows {
		if g := &e.Flows[i]; len(g.After) > 0 || g.Repeat.V > 1 {
			add(g.label(), g.After)
		}
	}
	if e.Dependent != nil {
		names = append(names, DependentGroup)
	}
	return names
}

// errAlone is of those who cannot have flows wait for each other.
var errAlone = errors.New("agents do not know of each other's flows: `after` and `repeat` are of experiments")
