package measure

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"photon/fabric"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/stat"
	"photon/lab/topology"
	"photon/units"
	"photon/wire"
)

// ofFlows evaluates what is known of flows that ended, and of deadlocks.
func (m metric) ofFlows(w *Watch) *float64 {
	is := func(v float64) *float64 { return &v }
	switch m.Do.V {
	case "deadlock", "deadlocked":
		found := w.deadlock != nil && w.deadlock.at > 0
		switch {
		case m.Do.V == "deadlocked" && found:
			return is(1)
		case m.Do.V == "deadlocked":
			return is(0)
		case found:
			return is(w.deadlock.at.Seconds())
		}
		return nil
	}
	groups, ofSteps := m.Flows.V, slices.Contains(experiment.OfSteps, m.Do.V)
	switch {
	case groups == nil && ofSteps:
		groups = w.e.StepGroups()
	case groups == nil:
		groups = []string{"*"}
	}
	if ofSteps {
		return m.ofSteps(w, groups)
	}
	var times, sofar []float64 // of flows that ended; how long others have lasted
	ended, open := 0, 0
	begin, end := units.Never, units.Time(0)
	ideal := newIdeal(w.e, w.n.Plan)
	for _, f := range w.n.Select(groups) {
		if !m.counts(f) {
			continue
		}
		begin = min(begin, f.Start)
		took := f.End - f.Start // the time a flow waits for its first turn is part of it
		if !f.Done {
			open++
			if took = f.Until(w.e.Duration) - f.Start; took <= 0 {
				continue // it has not begun
			}
		} else {
			ended++
			end = max(end, f.End)
		}
		t := took.Seconds()
		if m.Do.V == "slowdown" {
			least := ideal.time(f.From, f.To, f.Size, ideal.limit(f.Group, f.Rate))
			t = (&Ended{FCT: took, Ideal: least}).Slowdown()
		}
		if f.Done {
			times = append(times, t)
		} else {
			sofar = append(sofar, t)
		}
	}
	switch m.Do.V {
	case "completed":
		return is(float64(ended))
	case "unfinished":
		return is(float64(open))
	case "completion":
		if ended == 0 {
			return is(0)
		}
		return is(float64(ended) / (end - begin).Seconds())
	}
	if len(times) == 0 {
		return nil
	}
	v, _ := statistic(m.Stat.Or("mean"), times, sofar) // check has seen it
	if v == stat.Never {
		return nil
	}
	return is(v)
}

// ordered reports whether the metric's statistic of flows is a place in their order, which a mean is not.
func (m metric) ordered() bool { return m.Stat.Or("mean") != "mean" }

// counts reports whether a metric is of a flow, if that has ended.
func (m metric) counts(f *build.Flow) bool {
	small := m.Sizes[1] > 0 && (f.Size <= m.Sizes[0] || f.Size > m.Sizes[1])
	return f.Size > 0 && !small && f.Start >= m.From && (m.To == 0 || f.Start < m.To)
}

// Unfinished says of metrics of flows that ended how many others had begun: means are then those of the faster ones.
func (w *Watch) Unfinished() (notes []string) {
	type note struct{ flows, are string }
	var all []note
	var never []string
	metrics := map[note][]string{}
	for i := range w.e.Measure.Metrics {
		m := metric{&w.e.Measure.Metrics[i]}
		if m.Do.V != "fct" && m.Do.V != "slowdown" {
			continue
		}
		open, begun, later := 0, 0, 0
		for _, f := range w.n.Select(m.Flows.Or([]string{"*"})) {
			switch {
			case m.counts(f) && f.Start >= w.e.Duration:
				later++
			case m.counts(f):
				begun++
				if !f.Done {
					open++
				}
			}
		}
		n := note{flows: fmt.Sprintf("%d of %d flows", open, begun), are: "not in it"}
		if m.ordered() {
			n.are = "counted as longer than they had taken by then"
		}
		switch {
		case begun == 0 && later > 0:
			never = append(never, fmt.Sprintf("%s has no value: none of its flows, %d, began in the %v of the run",
				m.Name, later, w.e.Duration))
			continue
		case begun == 0:
			never = append(never, m.Name+" has no value: the run has no flows of it")
			continue
		case open == 0:
			continue
		case metrics[n] == nil:
			all = append(all, n)
		}
		metrics[n] = append(metrics[n], m.Name)
	}
	for _, n := range all {
		notes = append(notes, fmt.Sprintf("%s of %s had not ended at the end of the run, and are %s",
			n.flows, strings.Join(metrics[n], ", "), n.are))
	}
	return append(notes, never...)
}

// statistic of values, which it may sort. Of some that are open is only known that they are larger than so: places in
// the order take that into account, means are without them.
func statistic(name string, v, open []float64) (float64, error) {
	at := map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999, "max": 1, "min": 0}
	if name == "mean" {
		return stat.Mean(v), nil
	}
	p, ok := at[name]
	if !ok {
		return 0, fmt.Errorf("statistic %q: mean, min, p50, p95, p99, p999 or max", name)
	}
	return stat.OpenQuantile(p, v, open), nil
}

// ideal works out completion times in an empty network.
type ideal struct {
	e     *experiment.Experiment
	plan  *topology.Plan
	extra int                          // bytes of headers of a data packet
	back  map[topology.Pair]units.Time // of an acknowledgement

	limits map[string]units.Rate // the highest that events give flows, by group

	lately []idealTime // some that were asked for, each at a place that idealOf.place says

	there, next [][]arrival // room for alone
}

// idealOf is all that an ideal time depends on, and idealTime the time with it.
type idealOf struct {
	pair  topology.Pair
	size  units.Size
	limit units.Rate
}

type idealTime struct {
	of   idealOf
	time units.Time // 0: none
}

// idealTimes is how many times are kept: of the many short flows of a workload most are like one shortly before.
const idealTimes = 1 << 12

// place is where the time is kept, which another may have taken.
func (o *idealOf) place() int {
	const spread = 0x9e3779b97f4a7c15 // by which Knuth's multiplicative hashing takes numbers apart
	h := (uint64(o.pair)*spread ^ uint64(o.size)) * spread
	return int((h ^ uint64(o.limit)*spread) >> 52)
}

func newIdeal(e *experiment.Experiment, plan *topology.Plan) *ideal {
	if rates := raised(e, plan); len(rates) > 0 {
		plan = plan.Raised(rates)
	}
	limits := map[string]units.Rate{}
	for i := range e.Events {
		if ev := &e.Events[i]; ev.Flow.IsSet() && ev.Rate.IsSet() {
			limits[ev.Flow.V] = max(limits[ev.Flow.V], ev.Rate.V)
		}
	}
	back := map[topology.Pair]units.Time{}
	return &ideal{
		e: e, plan: plan, extra: experiment.HeaderBytes, back: back, limits: limits,
		lately: make([]idealTime, idealTimes),
	}
}

// raised is the highest rate that events give ports whose links they make faster than they are at the beginning.
func raised(e *experiment.Experiment, plan *topology.Plan) map[[2]int]units.Rate {
	rates := map[[2]int]units.Rate{}
	for i := range e.Events {
		ev := &e.Events[i]
		if !ev.Link.IsSet() {
			continue
		}
		places, _ := ev.Places(plan) // which check has seen
		for _, at := range places {
			port := [2]int{at.Node, at.Port}
			if ev.Rate.V > plan.Nodes[at.Node].Ends[at.Port].Link.Rate {
				rates[port] = max(rates[port], ev.Rate.V)
			}
		}
	}
	return rates
}

// limit is the highest rate that flows of a group keep to, of those that events give them, too: alone in the network
// they have these as well. 0: there is none.
func (d *ideal) limit(group string, rate units.Rate) units.Rate {
	if rate == 0 {
		return 0
	}
	return max(rate, d.limits[group])
}

// ackBytes of an acknowledgement over IPv4, without FCS.
const ackBytes = experiment.HeaderBytes + wire.AETHLen

// time is from the first bit out to the last acknowledgement in: packets are stored at every hop, follow each other at
// the pace of the slowest link so far, and the last, which may be shorter, overtakes none; an acknowledgement comes
// back. Of several shortest paths it is the best one's, there and back; if a flow's packets may take all of them at
// once, no less is possible.
//
// limit is the rate that the flow itself keeps to, which it does when it is alone, too; 0: there is none.
func (d *ideal) time(from, to int, size units.Size, limit units.Rate) units.Time {
	of := idealOf{d.plan.PairOf(from, to), size, limit}
	kept := &d.lately[of.place()]
	if kept.time == 0 || kept.of != of {
		*kept = idealTime{of, d.workOut(from, to, of)}
	}
	return kept.time
}

func (d *ideal) workOut(from, to int, of idealOf) units.Time {
	ways, size, limit := d.plan.Ways(from, to), of.size, of.limit
	payload := d.e.Parameters.Payload.Value.V
	full := (size+payload-1)/payload - 1 // packets before the last one
	var a arrival                        // at the sender, where a packet may begin when the limit lets it
	if limit > 0 {
		a.slowest = occupies(fabric.Link{Rate: limit, Overhead: ways[0][0].Link.Overhead}, int(payload)+d.extra)
		a.last = units.Time(full) * a.slowest
	}
	there := d.alone
	if d.e.Parameters.Overtakes() {
		there = d.spread
	}
	back, ok := d.back[of.pair]
	if !ok {
		back = ways.Shortest(func(_ int, l fabric.Link) units.Time { return l.Delay + occupies(l, ackBytes) })
		d.back[of.pair] = back
	}
	return there(a, ways, full, int(size-full*payload)) + back
}

// occupies is how long a frame is on a link.
func occupies(l fabric.Link, bytes int) units.Time {
	return l.Serialize(max(bytes, wire.MinFrameLen))
}

// alone is when the last packet arrives, of so much payload, if a flow takes one of the ways.
func (d *ideal) alone(begin arrival, ways topology.Ways, full units.Size, rest int) units.Time {
	payload := int(d.e.Parameters.Payload.Value.V)
	there, next := onePlace(d.there[:0]), d.next // by the place that a hop leads to
	there[0] = append(there[0], begin)
	for _, layer := range ways {
		next = next[:0]
		for _, h := range layer {
			if h.To == len(next) {
				next = onePlace(next)
			}
			for _, a := range there[h.From] {
				sent := occupies(h.Link, payload+d.extra)
				a.slowest = max(a.slowest, sent)
				a.first += sent
				if full > 0 { // the last packet leaves when those before it have
					a.last = max(a.last, a.first+units.Time(full-1)*a.slowest)
				}
				a.last += occupies(h.Link, rest+d.extra) + h.Link.Delay
				a.first += h.Link.Delay
				next[h.To] = a.among(next[h.To])
			}
		}
		there, next = next, there
	}
	d.there, d.next = there, next
	best := units.Never
	for _, a := range there[0] {
		best = min(best, a.last)
	}
	return best
}

// onePlace adds an empty list, with the room of one that was there before.
func onePlace(list [][]arrival) [][]arrival {
	if len(list) == cap(list) {
		return append(list, nil)
	}
	list = list[:len(list)+1]
	list[len(list)-1] = list[len(list)-1][:0]
	return list
}

// spread is a time before which not all packets can have arrived, if they take all ways at once: the links that are
// equally far from the sender carry no more than their rates together, and the first packet comes by the shortest.
func (d *ideal) spread(a arrival, ways topology.Ways, full units.Size, rest int) units.Time {
	payload := int(d.e.Parameters.Payload.Value.V)
	single := true // so far there was one link at a time: packets cannot come closer together than on the slowest
	for _, layer := range ways {
		rate, sent, end, delay := 0.0, units.Never, units.Never, units.Never
		for _, h := range layer {
			takes := occupies(h.Link, payload+d.extra)
			rate += float64(h.Count) / float64(takes)
			sent, end, delay = min(sent, takes), min(end, occupies(h.Link, rest+d.extra)), min(delay, h.Link.Delay)
		}
		gone := a.first + units.Time(float64(full)/rate)
		if single = single && len(layer) == 1 && layer[0].Count == 1; single {
			a.slowest = max(a.slowest, sent)
			gone = a.first + sent + units.Time(full-1)*a.slowest
		}
		switch {
		case full == 0:
			a.last += end
		case single:
			a.last = max(a.last, gone) + end
		default:
			a.last = max(a.last+end, gone)
		}
		a.first += sent + delay
		a.last += delay
	}
	return a.last
}

// arrival is when packets of a flow come to a node by one of the ways to it.
type arrival struct {
	first, last units.Time // when the first packet is there, and the last one
	slowest     units.Time // the longest that a full packet took on a link so far
}

// among keeps those of some arrivals and one more that may lead to the earliest end.
func (a arrival) among(list []arrival) []arrival {
	beats := func(a, b arrival) bool { return a.first <= b.first && a.last <= b.last && a.slowest <= b.slowest }
	if slices.ContainsFunc(list, func(b arrival) bool { return beats(b, a) }) {
		return list
	}
	return append(slices.DeleteFunc(list, func(b arrival) bool { return beats(a, b) }), a)
}

// Ended is a flow that ended.
type Ended struct {
	Group    string
	From, To string
	Size     units.Size
	Start    units.Time
	FCT      units.Time
	Ideal    units.Time // in an empty network
	Arrived  units.Time // when its receiver had all of it, where flows wait for others; else 0
	Flow     int        // its number among all flows
	Seed     uint64     // of the run
}

// EndedFlows passes the flows of a run with a seed that ended, in the order of their queue pairs. It keeps none of the
// network's hosts and switches, nor of the ways between them, which are worked out each time: results have the flows of
// all seeds.
func EndedFlows(e *experiment.Experiment, n *build.Network, seed uint64) iter.Seq[Ended] {
	plan, flows, arrived := n.Plan.Bare(), n.Flows, n.Arrivals()
	return func(yield func(Ended) bool) {
		ideal := newIdeal(e, plan.Bare())
		for i, f := range flows.All() {
			if !f.Done || f.Size == 0 {
				continue
			}
			x := Ended{
				Group: f.Group, From: plan.Nodes[f.From].Name, To: plan.Nodes[f.To].Name, Size: f.Size, Start: f.Start,
				FCT: f.End - f.Start, Flow: i, Seed: seed,
				Ideal: ideal.time(f.From, f.To, f.Size, ideal.limit(f.Group, f.Rate)),
			}
			if arrived != nil {
				x.Arrived = arrived[i]
			}
			if !yield(x) {
				return
			}
		}
	}
}
