package experiment

import (
	"fmt"
	"slices"
	"strings"

	"photon/cnp"
	"photon/internal/suggest"
	"photon/lab/topology"
	"photon/wire"
)

// others is what an error adds to a name that does not exist.
func others(name string, names []string) string {
	if len(names) == 0 {
		return "there are none"
	}
	if len(names) == 1 { // "there are none" would be said of the scheme none
		return suggest.Or(name, names, "there is only "+names[0])
	}
	return suggest.Or(name, names, "there are "+strings.Join(names, ", "))
}

// elsewhere is what an error says of an experiment that does not exist: the figures
// of its paper, or the papers that have such a figure.
func elsewhere(id string, list []Entry) string {
	paper, figure, whole := strings.Cut(id, "/")
	if !whole {
		figure = id
	}
	var ids, papers, same, alike []string
	for _, e := range list {
		ids = append(ids, e.ID)
		p, f, _ := strings.Cut(e.ID, "/")
		if !slices.Contains(papers, p) {
			papers = append(papers, p)
		}
		if p == paper {
			same = append(same, f)
		}
		if f == figure {
			alike = append(alike, e.ID)
		}
	}
	switch {
	case !whole && suggest.Closest(id, papers) != "":
		return suggest.Or(id, papers, "")
	case len(same) > 0 && digits(figure) != "" && digits(figure) == digits(suggest.Closest(figure, same)):
		return suggest.Or(id, ids, "of "+paper+" there are "+strings.Join(same, ", "))
	case len(same) > 0:
		return "of " + paper + " there are " + strings.Join(same, ", ")
	case !whole && len(alike) > 0:
		return "there are " + strings.Join(alike, ", ")
	}
	return suggest.Or(id, ids, "photon list experiments shows them")
}

// digits are those of a figure's name: with others it is another figure, and not misspelt.
func digits(figure string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, figure)
}

// hostNames are those of a network, the first of many.
func hostNames(p *topology.Plan) string {
	const most = 12
	var names []string
	for i, h := range p.Hosts() {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(p.Hosts())-most))
			break
		}
		names = append(names, p.Nodes[h].Name)
	}
	return "there are " + strings.Join(names, ", ")
}

// groups are the names by which metrics and plots call flows.
func (e *Experiment) groups() (names []string) {
	for i := range e.Flows {
		names = append(names, e.Flows[i].label())
	}
	for i := range e.Workloads {
		names = append(names, e.Workloads[i].Name.V)
	}
	for i := range e.Collectives {
		names = append(names, e.Collectives[i].Name.V)
	}
	if e.Dependent != nil {
		names = append(names, DependentGroup)
	}
	if len(e.Listed) > 0 {
		names = append(names, ListedGroup)
	}
	return names
}

// checkGroups finds probes, metrics and plots of flows that are not there. Nothing
// would be measured, without a warning.
func (e *Experiment) checkGroups() error {
	groups := e.groups()
	known := func(g string) bool { return g == "*" || slices.Contains(groups, g) }
	for i := range e.Measure.Probes {
		p := &e.Measure.Probes[i]
		for _, g := range p.Flows.V {
			if !known(g) {
				return at(p.Flows, "probe %s: there are no flows %q (%s)", p.Name, g, others(g, groups))
			}
		}
	}
	for i := range e.Measure.Metrics {
		m := &e.Measure.Metrics[i]
		for _, g := range m.Flows.V {
			if !known(g) {
				return at(m.Flows, "metric %s: there are no flows %q (%s)", m.Name, g, others(g, groups))
			}
		}
	}
	for _, p := range e.Plots {
		for _, g := range []string{p.FCT, p.Slowdown} {
			if g != "" && !known(g) {
				return fmt.Errorf("plot %q: there are no flows %q (%s)", p.Name(), g, others(g, groups))
			}
		}
	}
	return nil
}

// checkLines finds plots of probes that are not there.
func (e *Experiment) checkLines() error {
	lines := e.probes()
	if e.Measure.Kind.IsSet() {
		lines = append(lines, dynamicsColumns...)
	}
	for _, p := range e.Plots {
		for _, name := range p.Lines {
			probe, _, _ := strings.Cut(name, ".") // a single column is called probe.1
			if !slices.Contains(lines, name) && !slices.Contains(lines, probe) {
				return fmt.Errorf("plot %q: there is no probe %q (%s)", p.Name(), name, others(name, lines))
			}
		}
	}
	return nil
}

// checkLength finds full packets that switches would discard as too long.
func (e *Experiment) checkLength(scheme string, c cnp.Carry) error {
	longest := int(e.Parameters.Payload.Value.V) + HeaderBytes - wire.EthernetLen + wire.ExtensionsLen(c.Extensions())
	if c.Tag {
		longest += wire.CNTagLen
	}
	if e.Parameters.Recovery.Value.V == Selective {
		longest += wire.PlaceLen
	}
	if mtu := int(e.Parameters.MTU.Value.V); longest > mtu {
		return at(e.Parameters.MTU.Value, "mtu %dB is too small: packets of %v payload have %d bytes under %s", mtu, e.Parameters.Payload.Value.V, longest, scheme)
	}
	return nil
}
