package experiment

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"photon/config"
	"photon/lab/collective"
)

// needed is a key that an entry of a file needs.
type needed struct {
	key   string
	there bool
	how   string // to mend it
}

func need[T any](key string, v config.Value[T], how string) needed {
	return needed{key, v.IsSet(), how}
}

const (
	aHost     = "a host or several: H0, H0..H3 or *"
	whatReads = "what it reads: photon list measurements"
	whatDoes  = "what is made of a probe, or of flows: photon list measurements"
	ofSweep   = "what stands for the values in the file: name: load, and $load"
)

// check says which of the keys is missing in an entry that is called so.
func check(entry string, keys ...needed) error {
	for _, k := range keys {
		if !k.there {
			return fmt.Errorf("%s: %s is missing (%s)", entry, k.key, k.how)
		}
	}
	return nil
}

// missing finds entries without a key that they need.
func (e *Experiment) missing() (err error) {
	if e.ID == "" {
		return errors.New("id is missing (the name of the experiment and of its folder of results: id: my/first)")
	}
	// in has the first error be of where it is in the file.
	in := func(found error, place ...string) {
		if err == nil && found != nil {
			err = &ofKey{place, found}
		}
	}
	if e.Sweep != nil {
		in(e.Sweep.missing(), "sweep")
	}
	in(check("topology", need("kind", e.Topology.Kind, strings.Join(topologies(), ", "))), "topology")
	for i := range e.Flows {
		g, n := &e.Flows[i], strconv.Itoa(i)
		in(check("flows "+g.Name.Or(n), need("from", g.From, aHost), need("to", g.To, aHost)), "flows", n)
	}
	for i := range e.Collectives {
		c, n := &e.Collectives[i], strconv.Itoa(i)
		do := strings.Join(collective.Names(), ", ")
		in(check("collective "+c.Name.Or(n), need("do", c.Do, do), need("hosts", c.Hosts, aHost)), "collectives", n)
	}
	for i := range e.Workloads {
		w, n := &e.Workloads[i], strconv.Itoa(i)
		in(check("workload "+w.Name.Or(n), need("from", w.From, aHost)), "workloads", n)
		in(w.missing(n), "workloads", n)
	}
	for i := range e.Events {
		in(check(fmt.Sprintf("event %d", i+1), need("at", e.Events[i].At, "when it happens: at: 10ms")),
			"events", strconv.Itoa(i))
	}
	for i := range e.Impair {
		in(check("impair", need("link", e.Impair[i].Link, "a direction of a link: S0>H1")), "impair", strconv.Itoa(i))
	}
	for i := range e.Measure.Probes {
		p := &e.Measure.Probes[i]
		in(check("probe "+p.Name, need("kind", p.Kind, whatReads)), "measure", "probes", strconv.Itoa(i))
	}
	for i := range e.Measure.Metrics {
		m := &e.Measure.Metrics[i]
		in(check("metric "+m.Name, need("do", m.Do, whatDoes)), "measure", "metrics", strconv.Itoa(i))
	}
	return err
}

// missing says which key a sweep lacks.
func (s *Sweep) missing() error {
	values := needed{"values", len(s.Values) > 0, "values: [0.2, 0.4]"}
	return check("sweep", needed{"name", s.Name != "", ofSweep}, values)
}

// missing says which key a workload needs in any file. It is called by its number if it has no name.
func (w *Workload) missing(number string) error {
	keys := []needed{
		need("to", w.To, aHost),
		need("load", w.Load, "the part of capacity that all senders together offer: load: 0.6"),
		need("capacity", w.Capacity, "what load is a part of, for all senders together: capacity: 800Gbps"),
		{"sizes", w.Sizes.IsSet() || w.CDF != nil || w.Burst.IsSet(), "photon list workloads, or pareto, cdf or burst"},
	}
	if w.Sizes.V == "pareto" {
		keys = append(keys, need("mean", w.Mean, "mean: 100KB"), need("shape", w.Shape, "above 1: shape: 1.5"))
	}
	return check("workload "+w.Name.Or(number), keys...)
}
