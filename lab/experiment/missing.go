package experiment

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"photon/config"
	"photon/lab/collective"
)

// entry is one of a list of a file, and which of the keys that it needs are there.
type entry struct {
	what string // as "flows long"
	keys []string
	line int // of something in it; 0: not known
	need []needed
}

type needed struct {
	key   string
	there bool
	how   string // how to mend it
}

func has[T any](key string, v config.Value[T], how string) needed {
	return needed{key, v.IsSet(), how}
}

const (
	whatHost = "a host or several: H0, H0..H3 or *"
	whatLoad = "the part of capacity that all senders together offer: load: 0.6"
	whatRate = "what load is a part of, for all senders together: capacity: 800Gbps"
)

// missing finds entries of lists without something that they need.
func (e *Experiment) missing() error {
	if e.ID == "" {
		return errors.New("id is missing (the name of the experiment and of its folder of results: id: my/first)")
	}
	var list []entry
	if s := e.Sweep; s != nil {
		list = append(list, entry{what: "sweep", keys: []string{"sweep"}, need: []needed{
			{"name", s.Name != "", "what stands for the values in the file: name: load, and $load"}, {"values", len(s.Values) > 0, "one or more: values: [0.2, 0.4]"},
		}})
	}
	list = append(list, entry{what: "topology", keys: []string{"topology"}, need: []needed{has("kind", e.Topology.Kind, topologies)}})
	for i := range e.Flows {
		g := &e.Flows[i]
		list = append(list, entry{what: "flows " + g.Name.Or(strconv.Itoa(i+1)), keys: item("flows", i), need: []needed{has("from", g.From, whatHost), has("to", g.To, whatHost)}})
	}
	for i := range e.Collectives {
		c := &e.Collectives[i]
		list = append(list, entry{what: "collective " + c.Name.Or(strconv.Itoa(i+1)), keys: item("collectives", i), need: []needed{
			has("do", c.Do, strings.Join(collective.Names(), ", ")),
			has("hosts", c.Hosts, whatHost),
		}})
	}
	for i := range e.Workloads {
		list = append(list, e.Workloads[i].entry(i, whatHost))
	}
	for i := range e.Impair {
		x := &e.Impair[i]
		list = append(list, entry{what: "impair", keys: item("impair", i), need: []needed{has("link", x.Link, "a direction of a link: S0>H1")}})
	}
	for i := range e.Measure.Probes {
		p := &e.Measure.Probes[i]
		list = append(list, entry{what: "probe " + p.Name, keys: item("measure", "probes", i), need: []needed{has("kind", p.Kind, "what it reads: photon list measurements")}})
	}
	for i := range e.Measure.Metrics {
		m := &e.Measure.Metrics[i]
		list = append(list, entry{what: "metric " + m.Name, keys: item("measure", "metrics", i), need: []needed{has("do", m.Do, "what is made of a probe, or of flows: photon list measurements")}})
	}
	for i := range list {
		if err := list[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// entry is what a workload needs, the i-th of a file.
func (w *Workload) entry(i int, hosts string) entry {
	x := entry{what: "workload " + w.Name.Or(strconv.Itoa(i+1)), keys: item("workloads", i), line: max(w.To.Line, w.From.Line, w.Sizes.Line, w.Load.Line)}
	x.need = []needed{
		has("from", w.From, hosts), has("to", w.To, hosts), has("load", w.Load, whatLoad), has("capacity", w.Capacity, whatRate),
		{"sizes", w.Sizes.IsSet() || w.CDF != nil || w.Burst.IsSet(), "a distribution (photon list workloads), or pareto; or cdf; or burst"},
	}
	if w.Sizes.V == "pareto" {
		x.need = append(x.need, has("mean", w.Mean, "the mean size of flows: mean: 100KB"), has("shape", w.Shape, "of a Pareto distribution, above 1: shape: 1.5"))
	}
	return x
}

// item is where an entry of a list stands.
func item(keys ...any) (path []string) {
	for _, k := range keys {
		path = append(path, fmt.Sprint(k))
	}
	return path
}

func (x *entry) check() error {
	for _, n := range x.need {
		if n.there {
			continue
		}
		err := fmt.Errorf("%s: %s is missing (%s)", x.what, n.key, n.how)
		if x.line != 0 {
			return &config.Error{Line: x.line, Err: err}
		}
		return &ofKey{x.keys, err}
	}
	return nil
}
