package experiment

import (
	"fmt"
	"slices"
	"strings"

	"photon/config"
	"photon/units"
)

// checkNames finds names that stand for two things, or cannot be a column's.
func (e *Experiment) checkNames() error {
	seen := map[string]bool{}
	name := func(n, what string, where config.Value[string]) error {
		switch {
		case n == "" || strings.ContainsFunc(n, func(r rune) bool { return r <= ' ' || r == ',' || r == '@' || r == 0x7F }):
			return at(where, "%s %q: it needs a name, without blanks, commas and @", what, n)
		case seen[what+n]:
			return at(where, "%s %s is there twice", what, n)
		}
		seen[what+n] = true
		return nil
	}
	for i := range e.Measure.Probes {
		if err := name(e.Measure.Probes[i].Name, "probe", e.Measure.Probes[i].Kind); err != nil {
			return err
		}
	}
	if err := e.checkColumns(); err != nil {
		return err
	}
	if e.Measure.Kind.IsSet() {
		for _, n := range DynamicsMetrics {
			seen["metric"+n] = true
		}
	}
	for i := range e.Measure.Metrics {
		if err := name(e.Measure.Metrics[i].Name, "metric", e.Measure.Metrics[i].Do); err != nil {
			return err
		}
	}
	for i := range e.Flows {
		if g := &e.Flows[i]; strings.ContainsFunc(g.Name.V, func(r rune) bool { return r < ' ' || r == 0x7F }) {
			return at(g.Name, "flows %q: a name is in one line", g.Name.V)
		}
	}
	for _, s := range e.Quick.Schemes {
		if keys := e.SchemeKeys(); !slices.Contains(keys, s) {
			return &ofKey{[]string{"quick", "schemes"}, fmt.Errorf("quick: there is no scheme %q here (%s)", s, others(s, keys))}
		}
	}
	return nil
}

// dynamicsColumns are those of a series that the measurement dynamics makes; the last has one for each flow.
var dynamicsColumns = []string{"aggregate_rate_bps", "queue_bytes", "allowed_bps"}

// checkColumns finds probes whose columns cannot be told from others of the series.
func (e *Experiment) checkColumns() error {
	is := func(name, of string) bool { return name == of || strings.HasPrefix(name, of+".") }
	for i := range e.Measure.Probes {
		p := &e.Measure.Probes[i]
		if p.Name == "time_s" {
			return at(p.Kind, "probe %s would be taken for the column of times, time_s", p.Name)
		}
		for k := range e.Measure.Probes {
			if other := e.Measure.Probes[k].Name; k != i && is(p.Name, other) {
				return at(p.Kind, "probe %s would be taken for a column of %s: columns are called %[2]s and %[2]s.1",
					p.Name, other)
			}
		}
		for _, other := range dynamicsColumns {
			if e.Measure.Kind.IsSet() && is(p.Name, other) {
				return at(p.Kind, "probe %s would be taken for a column of dynamics, %s", p.Name, other)
			}
		}
	}
	return nil
}

// key is a key of a file, whether it is there, and whether anything looks at it.
type key struct {
	name          string
	present, used bool
}

// unused is the first key that is there for nothing.
func unused(keys ...key) string {
	for _, k := range keys {
		if k.present && !k.used {
			return k.name
		}
	}
	return ""
}

// checkUnused finds keys that would change nothing: who wrote them meant something.
func (e *Experiment) checkUnused() error {
	for i := range e.Measure.Probes {
		p := &e.Measure.Probes[i]
		kind, known := ProbeKinds[p.Kind.V]
		if !known {
			continue // which is reported elsewhere
		}
		if k := unused(
			key{"at", p.At.IsSet(), kind.At},
			key{"priority", p.Priority.IsSet(), kind.At && p.Kind.V != "sent"}, // which is of all of them
			key{"flows", p.Flows.IsSet(), !kind.At},
			key{"over", p.Over > 0, kind.Counter},
		); k != "" {
			return at(p.Kind, "probe %s: %s has no %s", p.Name, p.Kind.V, k)
		}
	}
	for i := range e.Measure.Metrics {
		m := &e.Measure.Metrics[i]
		kind, known := MetricKinds[m.Do.V]
		if !known {
			continue
		}
		does := func(kinds ...string) bool { return slices.Contains(kinds, m.Do.V) }
		first := slices.Contains(FirstTimes, m.Do.V)
		ofFlows := does("fct", "slowdown", "completed", "completion", "unfinished")
		ofSteps := does(OfSteps...)
		if k := unused(
			key{"of", m.Of.IsSet(), kind.Probe},
			key{"from", m.From != 0, kind.Probe || ofFlows},
			key{"to", m.To != 0, kind.Probe || ofFlows},
			key{"value", m.Value != 0, first || does("last_above", "last_below", "time_above", "time_below", "within", "lifetime")},
			key{"part", m.Part != 0, does("within", "first_within")},
			key{"hold", m.Hold != 0, first || m.IsDeadlock()},
			key{"flows", m.Flows.IsSet(), ofFlows || ofSteps},
			key{"stat", m.Stat.IsSet(), does("fct", "slowdown", "step_time", "algbw", "busbw", "straggler")},
			key{"sizes", m.Sizes != [2]units.Size{}, ofFlows},
			key{"loop", m.Loop != nil, does("phase_margin")},
		); k != "" {
			return at(m.Do, "metric %s: %s has no %s", m.Name, m.Do.V, k)
		}
	}
	for i := range e.Workloads {
		w := &e.Workloads[i]
		pareto, burst := w.Sizes.V == "pareto", w.Burst.IsSet()
		if k := unused(
			key{"mean", w.Mean.IsSet(), pareto}, key{"shape", w.Shape.IsSet(), pareto}, key{"sizes", w.Sizes.IsSet(), !burst && w.CDF == nil}, key{"cdf", w.CDF != nil, !burst},
			key{"incast", w.Incast.IsSet(), !burst}, key{"together", w.Together, !burst}, key{"flows", w.Flows.IsSet(), !burst},
		); k != "" {
			return at(w.From, "workload %s: %s is for nothing here (mean and shape are of sizes: pareto; what has a cdf or bursts has no sizes)", w.Name.V, k)
		}
	}
	return nil
}

// checkUnused finds keys of other topologies.
func (t *Topology) checkUnused() error {
	is := func(kinds ...string) bool { return slices.Contains(kinds, t.Kind.V) }
	if !is(topologies()...) {
		return nil // which is reported elsewhere
	}
	clos := is("clos", "leaf-spine")
	if k := unused(
		key{"pairs", t.Pairs.IsSet(), is("dumbbell")}, key{"hosts", t.Hosts.IsSet(), clos || is("star", "chain", "ring", "dragonfly", "rail", "planes")},
		key{"bursters", t.Bursters.IsSet(), is("compact")}, key{"switches", t.Switches.IsSet(), is("chain", "ring", "dragonfly")}, key{"k", t.K.IsSet(), is("fat-tree")}, key{"global", t.Global.IsSet(), is("dragonfly")}, key{"lots", t.Lots.IsSet(), is("parking-lot")},
		key{"pods", t.Pods.IsSet(), is("clos", "rail")}, key{"tors", t.ToRs.IsSet(), clos || is("planes")}, key{"leafs", t.Leafs.IsSet(), is("clos")}, key{"spines", t.Spines.IsSet(), clos || is("rail", "planes")}, key{"nics", t.NICs.IsSet(), is("rail", "planes")},
		key{"uplinks", t.Uplinks.IsSet(), clos}, key{"grouped", t.Grouped, is("clos")}, key{"nodes", t.Nodes != nil, is("free")}, key{"links", t.Links != nil, is("free")},
	); k != "" {
		return at(t.Kind, "topology: a %s has no %s", t.Kind.V, k)
	}
	return nil
}
