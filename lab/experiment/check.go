package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"photon/config"
	"photon/lab/topology"
	"photon/pfc"
	"photon/ratelimit"
	"photon/scheme"
	"photon/units"
)

// Worlds in the order in which reports show them.
var Worlds = []string{"sim", "dpdk"}

// mostSamples and mostDuration keep a slip in a time from taking all memory, and what follows a run in time.
const (
	mostSamples  = 1 << 24
	unsampled    = 1000 // samples of a run whose measurements need none
	mostDuration = 1_000_000 * units.Second
)

// Check finds what is wrong with an experiment that was made in code.
func (e *Experiment) Check() error {
	e.variants = []Variant{{"", e}}
	return e.check()
}

// check finds what is wrong with an experiment.
func (e *Experiment) check() error {
	e.checked = true
	if err := e.missing(); err != nil {
		return err
	}
	if strings.Trim(e.ID, "abcdefghijklmnopqrstuvwxyz0123456789/-") != "" {
		return &ofKey{[]string{"id"}, fmt.Errorf("id %q: only a-z, 0-9, / and -", e.ID)}
	}
	if e.Seed == 0 {
		e.Seed = 1
	}
	if e.Repeat == 0 {
		e.Repeat = 1
	}
	if e.Repeat < 0 {
		return &ofKey{[]string{"repeat"}, fmt.Errorf("repeat %d must not be negative", e.Repeat)}
	}
	for _, w := range e.Worlds {
		if !slices.Contains(Worlds, w) {
			return fmt.Errorf("there is no world %q (%s)", w, strings.Join(Worlds, ", "))
		}
	}
	if err := e.checkParameters(); err != nil {
		return err
	}
	if err := e.checkTimes(); err != nil {
		return err
	}
	if err := e.Topology.checkUnused(); err != nil {
		return err
	}
	plan, err := e.Plan()
	if err != nil {
		return err
	}
	if _, err := e.Impairments(plan, e.Seed); err != nil {
		return err
	}
	flows, err := e.Sends(plan, e.Seed)
	if err != nil {
		return err
	}
	if err := e.checkSchemes(plan, flows); err != nil {
		return err
	}
	if err := e.checkNames(); err != nil {
		return err
	}
	if err := e.checkUnused(); err != nil {
		return err
	}
	if err := e.checkMeasure(plan, flows); err != nil {
		return err
	}
	if err := e.checkPlots(); err != nil {
		return err
	}
	if err := e.checkQuick(); err != nil {
		return err
	}
	return e.checkClaims()
}

// checkTimes says what is wrong with how long a run is, and how often it is looked at.
func (e *Experiment) checkTimes() error {
	if e.Duration <= 0 {
		return &ofKey{[]string{"duration"}, errors.New("duration must be there, and positive")}
	}
	if e.Measure.Sample == 0 && !e.Measure.Samples() {
		e.Measure.Sample = max(e.Duration/unsampled, units.Nanosecond)
	}
	if e.Measure.Sample <= 0 {
		return &ofKey{[]string{"measure", "sample"}, errors.New("measure: sample must be there, and positive")}
	}
	switch samples := e.Duration / e.Measure.Sample; {
	case samples == 0:
		return &ofKey{[]string{"duration"}, fmt.Errorf(
			"duration %v is shorter than a sample, %v: nothing would be measured",
			e.Duration, e.Measure.Sample)}
	case e.Duration > mostDuration:
		return &ofKey{[]string{"duration"}, fmt.Errorf("duration %v: %v is the most", e.Duration, mostDuration)}
	case samples > mostSamples:
		return &ofKey{[]string{"measure", "sample"}, fmt.Errorf(
			"measure: %d samples of %v in %v: %d are the most, a longer sample would do",
			samples, e.Measure.Sample, e.Duration, mostSamples)}
	}
	return nil
}

// checkSchemes says what is wrong with the schemes in this network.
func (e *Experiment) checkSchemes(plan *topology.Plan, flows *FlowList) error {
	if len(e.Schemes) == 0 {
		return errors.New("there are no schemes (schemes: [dcqcn, pcn]; photon list schemes)")
	}
	if err := e.nameSchemes(); err != nil {
		return err
	}
	if err := e.checkWays(plan, flows); err != nil {
		return err
	}
	known := e.Known(plan, flows, e.Seed)
	if err := e.checkRepeats(plan, known); err != nil {
		return err
	}
	for _, s := range slices.Concat(e.Schemes, e.Alternatives) {
		parts, err := s.Build(known)
		if err != nil {
			return &config.Error{Line: s.lineOf(err), Err: err}
		}
		if err := e.checkLength(s.Name.V, parts.Carry); err != nil {
			return err
		}
		if err := e.checkBegin(s.Name.V, parts.RP); err != nil {
			return err
		}
	}
	return nil
}

// checkWays finds flows between hosts, or NICs of hosts, that no links join.
func (e *Experiment) checkWays(plan *topology.Plan, flows *FlowList) error {
	for _, x := range flows.pairs {
		if plan.Ways(x.from, x.to) == nil {
			from, to := plan.Nodes[x.from].Name, plan.Nodes[x.to].Name
			return at(e.hostsOf(x.group), "flows %s: nothing leads from %s to %s", x.group, from, to)
		}
	}
	return nil
}

// hostsOf is where the file has the hosts of a group of flows; without a line if it is of no file.
func (e *Experiment) hostsOf(group string) (hosts config.Value[string]) {
	for i := range e.Flows {
		if g := &e.Flows[i]; g.label() == group {
			return g.From
		}
	}
	for i := range e.Workloads {
		if w := &e.Workloads[i]; w.Name.Or("workload") == group {
			return w.From
		}
	}
	for i := range e.Collectives {
		if c := &e.Collectives[i]; c.Name.V == group {
			return c.Hosts
		}
	}
	return hosts
}

// checkQuick finds runs in short that leave out of a window what is measured in it. What is
// measured until the end of a run has no such window.
func (e *Experiment) checkQuick() error {
	q := e.Quick
	wrong := func(key, format string, args ...any) error {
		return &ofKey{[]string{"quick", key}, fmt.Errorf(format, args...)}
	}
	switch {
	case q.Repeat < 0:
		return wrong("repeat", "quick: repeat %d must not be negative", q.Repeat)
	case q.Flows < 0:
		return wrong("flows", "quick: %d flows", q.Flows)
	case q.Duration == 0:
		return nil
	case q.Duration < 0 || q.Duration >= e.Duration:
		return wrong("duration", "quick: a run in short takes less than the whole %v, not %v", e.Duration, q.Duration)
	}
	if m := &e.Measure; m.Kind.IsSet() && max(m.Steady.To, m.Queue.To) > q.Duration {
		return wrong("duration", "quick: %s are measured until %v, and a run in short ends at %v", m.Kind.V, max(m.Steady.To, m.Queue.To), q.Duration)
	}
	for i := range e.Measure.Metrics {
		m, sample := &e.Measure.Metrics[i], e.Measure.Sample
		none := MetricKinds[m.Do.V].Probe && m.From/sample == q.Duration/sample // no sample is in between
		if m.From >= q.Duration || m.To > q.Duration || none {
			return wrong("duration", "quick: metric %s is measured from %v until %v, and a run in short ends at %v", m.Name, m.From, cmp.Or(m.To, e.Duration), q.Duration)
		}
	}
	return nil
}

// lineOf is the line of the parameter that an error of the scheme is about, or the scheme's.
func (u *SchemeUse) lineOf(err error) int {
	return cmp.Or(u.Params[scheme.WrongParam(err, u.Params)].Value.Line, u.Name.Line)
}

// checkBegin finds flows that are to begin at a rate under a scheme whose reaction points
// cannot: they would be held at that rate for good. Without a reaction point that is what is meant.
func (e *Experiment) checkBegin(name string, newRP func(*ratelimit.Port) ratelimit.RP) error {
	for i := range e.Flows {
		g := &e.Flows[i]
		if !g.Begin.IsSet() || newRP == nil {
			continue
		}
		rp := newRP(&ratelimit.Port{})
		_, starts := rp.(ratelimit.Starter)
		if _, none := rp.(ratelimit.Unlimited); !starts && !none {
			return at(g.Begin, "flows %s begin at %v: the reaction point of %s cannot (it has no StartAt), and would be held there", g.label(), g.Begin.V, name)
		}
	}
	return nil
}

// nameSchemes gives every scheme the name by which results, claims and --schemes know it.
func (e *Experiment) nameSchemes() error {
	keys := Keys(e.Schemes)
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			return at(e.Schemes[i].Name, "scheme %s is there twice: give one of them a label", key)
		}
		if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r == ',' || r == '@' || r == 0x7F }) {
			return at(e.Schemes[i].Name, "scheme %q: no blanks, commas and @ in a label", key)
		}
		e.Schemes[i].key = key
	}
	return nil
}

// complete puts in what may be left out and has a value nevertheless, with its source.
func (p *Parameters) complete() {
	if p.Credits() == nil && p.XOFF.Value.IsSet() && !p.XON.Value.IsSet() && p.XON.Source == "" {
		p.XON = Sourced[units.Size]{
			Value:  config.Set(pfc.XONBelow(p.XOFF.Value.V, p.MTU.Value.V)),
			Source: "two MTU below XOFF, as DCQCN has it (SIGCOMM'15, section 4)",
		}
	}
}

// checkSizes finds packets and thresholds that no host or switch has.
func (p *Parameters) checkSizes() error {
	if v := p.Payload.Value; v.V < 1 || v.V > 9000 {
		return at(v, "payload %v must be from 1B to 9KB", v.V)
	}
	if v := p.MTU.Value; v.V > 9216 { // whether it is too small depends on the scheme's headers
		return at(v, "mtu %v must be at most 9216B", v.V)
	}
	if p.Credits() != nil || p.Lossy() {
		return nil
	}
	x := pfc.Thresholds{XOFF: p.XOFF.Value.V, XON: p.XON.Value.V}
	if x.XOFF <= 0 {
		return at(p.XOFF.Value, "%v", x.Validate())
	}
	if err := x.Validate(); err != nil {
		from := p.XON.Value
		if from.Line == 0 { // it follows from the other
			from = p.XOFF.Value
		}
		return at(from, "%v", err)
	}
	if x.Alpha = p.Alpha.Value.V; x.Validate() != nil {
		return at(p.Alpha.Value, "%v", x.Validate())
	}
	return nil
}

// mostOverhead of a frame is more than any tunnel adds. Experiments in code may have less than none, to count as others
// do.
const mostOverhead = 1024

func (e *Experiment) checkParameters() error {
	p := &e.Parameters
	if err := p.checkFlowControl(); err != nil {
		return err
	}
	p.complete()
	sources := p.sources()
	var missing []string
	for _, name := range sortedKeys(sources) {
		if sources[name] == "" && (name != "xon" || !slices.Contains(missing, "xoff")) { // of which it follows
			missing = append(missing, name)
		}
	}
	switch {
	case len(missing) == 1:
		return &ofKey{[]string{"parameters"}, fmt.Errorf("parameter %s has no value or no source", missing[0])}
	case missing != nil:
		return &ofKey{[]string{"parameters"}, fmt.Errorf("parameters %s have no value or no source",
			strings.Join(missing, ", "))}
	}
	if err := p.checkSizes(); err != nil {
		return err
	}
	if prio := p.Priority.Value; prio.V < 0 || prio.V >= pfc.Classes {
		return at(prio, "priority %d: there are 0 to 7", prio.V)
	}
	for _, prio := range p.Lossless.Value.V {
		if prio < 0 || prio >= pfc.Classes {
			return at(p.Lossless.Value, "lossless: priority %d: there are 0 to 7", prio)
		}
	}
	if o := p.Overhead.Value; e.file != "" && o.IsSet() && (o.V < 0 || o.V > mostOverhead) {
		return at(o, "overhead of %d bytes: from 0 to %d", o.V, mostOverhead)
	}
	times := map[string]Sourced[units.Time]{
		"np_delay": p.NPDelay, "pause_delay": p.PauseDelay, "start_phase": p.StartPhase,
		"signal_delay": p.SignalDelay, "core_delay": p.CoreDelay, "convergence": p.Convergence,
	}
	for _, name := range sortedKeys(times) { // of several that are wrong the same is named every time
		d := times[name]
		if d.Value.V < 0 {
			return at(d.Value, "%s %v must not be negative", name, d.Value.V)
		}
		if d.Value.IsSet() && d.Source == "" {
			return at(d.Value, "parameter %s has no source", name)
		}
	}
	if s := p.SignalDelay.Value; s.IsSet() && s.V == 0 {
		return at(s, "signal_delay must be positive: nothing is known at once elsewhere")
	}
	if err := p.checkPaths(); err != nil {
		return err
	}
	switch q, i, a := p.LossyQueue.Value, p.LossyIngress.Value, p.LossyAlpha.Value; {
	case q.IsSet() && q.V <= 0:
		return at(q, "lossy_queue %v must be positive", q.V)
	case i.IsSet() && i.V <= 0:
		return at(i, "lossy_ingress %v must be positive", i.V)
	case a.IsSet() && !(a.V > 0 && a.V <= 1024):
		return at(a, "lossy_alpha %v must be above 0, and at most 1024", a.V)
	case p.Lossy() && p.FlowControl.Value.V == "credits":
		return at(p.FlowControl.Value, "flow_control: credits are for lossless priorities, and there are none (lossless: [])")
	}
	if a := p.AckPriority.Value; a.IsSet() && (a.V < 0 || a.V >= pfc.Classes) {
		return at(a, "ack_priority %d: there are 0 to 7", a.V)
	}
	if r := p.CoreRate; r.Value.IsSet() && (r.Value.V <= 0 || r.Source == "") {
		return at(r.Value, "core_rate must be positive, and have a source")
	}
	core := map[string]bool{"core_rate": p.CoreRate.Value.IsSet(), "core_delay": p.CoreDelay.Value.IsSet()}
	for _, name := range sortedKeys(core) {
		there := core[name]
		if kind := e.Topology.Kind.V; there && kind != "clos" && kind != "fat-tree" && kind != "dragonfly" {
			return at(e.Topology.Kind, "%s: a %s has no core (clos, fat-tree and dragonfly have)", name, kind)
		}
	}
	return p.checkSigns()
}

// checkSigns finds rates and sizes that are not positive, and times that are negative or too long. What has a rule of
// its own is checked where that is; for credits an update of 0 bytes is the usual one.
func (p *Parameters) checkSigns() error {
	v := reflect.ValueOf(p).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("yaml")
		switch q := v.Field(i).Interface().(type) {
		case Sourced[units.Rate]:
			if q.Value.IsSet() && q.Value.V <= 0 {
				return at(q.Value, "%s %v must be positive", name, q.Value.V)
			}
		case Sourced[units.Size]:
			if q.Value.V < 0 || q.Value.IsSet() && q.Value.V == 0 && name != "xon" && name != "credit_update" {
				return at(q.Value, "%s %v must be positive", name, q.Value.V)
			}
		case Sourced[units.Time]:
			if q.Value.IsSet() && q.Value.V < 0 {
				return at(q.Value, "%s %v must not be negative", name, q.Value.V)
			}
			if q.Value.V > mostDelay {
				return at(q.Value, "%s %v: %v is the most", name, q.Value.V, mostDelay)
			}
		}
	}
	return nil
}

// checkMeasure finds what is wrong with the measurements.
func (e *Experiment) checkMeasure(plan *topology.Plan, flows *FlowList) error {
	m := &e.Measure
	if m.Kind.IsSet() {
		if m.Kind.V != "dynamics" {
			return at(m.Kind, "measurement %q: there is dynamics", m.Kind.V)
		}
		for i, w := range []Span{m.Steady, m.Queue} {
			if w.From < 0 || w.From >= w.To || w.To > e.Duration || w.From%m.Sample != 0 || w.To%m.Sample != 0 {
				return &ofKey{[]string{"measure", [...]string{"steady", "queue"}[i]}, fmt.Errorf("the span from %v to %v must lie within the duration and begin and end at a sample", w.From, w.To)}
			}
		}
		node, ports, err := plan.Ports(m.From, m.To)
		if err != nil {
			return at(m.Kind, "bottleneck: %v", err)
		}
		if plan.Nodes[node].Host {
			return at(m.Kind, "bottleneck: %s is a host, and dynamics are of a port of a switch", m.From)
		}
		if n := len(ports); n > 1 {
			return at(m.Kind, "bottleneck: %d links lead from %s to %s, and dynamics are of one port "+
				"(a probe queue at %[2]s>%[3]s is of all)", n, m.From, m.To)
		}
	}
	if err := e.checkGroups(); err != nil {
		return err
	}
	groups := flows.Groups()
	for i := range m.Probes {
		if err := m.Probes[i].check(e, plan, groups); err != nil {
			return err
		}
	}
	for i := range m.Metrics {
		if err := m.Metrics[i].check(e); err != nil {
			return err
		}
	}
	if err := e.checkLines(); err != nil {
		return err
	}
	return e.checkEvents(plan)
}

// checkEvents finds events of what is not there.
func (e *Experiment) checkEvents(plan *topology.Plan) error {
	groups := e.groups()
	for i := range e.Events {
		ev := &e.Events[i]
		switch {
		case ev.Link.IsSet() == ev.Flow.IsSet():
			return at(ev.At, "event %d: either a link or a flow", i+1)
		case ev.At.V < 0 || ev.At.V > e.Duration:
			return at(ev.At, "event %d: at %v, and the run lasts %v", i+1, ev.At.V, e.Duration)
		case ev.Link.IsSet() && (!ev.Rate.IsSet() || ev.Cap.IsSet() || ev.Rate.V < 0):
			return at(ev.Link, "event %d: a link has a rate then; 0bps is a link that fails", i+1)
		case ev.Flow.IsSet() && !ev.Rate.IsSet() && !ev.Cap.IsSet():
			return at(ev.Flow, "event %d: a flow has a rate or a cap then", i+1)
		case ev.Rate.V < 0 || ev.Cap.V < 0:
			return at(ev.Flow, "event %d: a rate must not be negative", i+1)
		case ev.Flow.IsSet() && ev.Rate.IsSet() && ev.Rate.V == 0:
			return at(ev.Rate, "event %d: a flow's rate of 0bps (%s)", i+1, stops)
		case ev.Flow.IsSet() && ev.Cap.IsSet() && ev.Cap.V == 0:
			return at(ev.Cap, "event %d: a cap of 0bps (%s)", i+1, stops)
		case ev.Flow.IsSet() && !slices.Contains(groups, ev.Flow.V):
			return at(ev.Flow, "event %d: there are no flows %q (%s)", i+1, ev.Flow.V, others(ev.Flow.V, groups))
		case ev.Link.IsSet():
			if _, err := ev.Places(plan); err != nil {
				return err
			}
		}
	}
	if err := e.checkCredits(plan); err != nil {
		return err
	}
	if err := e.checkPauses(plan); err != nil {
		return err
	}
	return e.checkFailures(plan)
}

// checkFailures finds links that fail and leave a host alone, and links with credits that are back before what was on
// its way when they failed has arrived: both ends begin anew then, and it would be counted as new.
func (e *Experiment) checkFailures(plan *topology.Plan) error {
	down, gone := topology.Down{}, map[[2]int]units.Time{} // when all has arrived that was on its way
	rates := map[[2]int]units.Rate{}
	events := slices.Clone(e.Events)
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.At.V, b.At.V) })
	for i := range events {
		ev := &events[i]
		if !ev.Link.IsSet() {
			continue
		}
		places, err := ev.Places(plan)
		if err != nil {
			return err
		}
		for _, p := range places {
			end := plan.Nodes[p.Node].Ends[p.Port]
			if ev.Rate.V == 0 && (plan.Nodes[p.Node].Host || plan.Nodes[end.Node].Host) {
				return at(ev.Link, "link %s cannot fail: a host has no other", ev.Link.V)
			}
			here, there := [2]int{p.Node, p.Port}, [2]int{end.Node, end.Port}
			switch {
			case ev.Rate.V == 0 && !down[here]:
				longest := units.Size(e.Parameters.LongestFrame())
				gone[here] = ev.At.V + end.Link.Delay + cmp.Or(rates[here], end.Link.Rate).Serialize(longest)
				gone[there] = gone[here]
			case ev.Rate.V > 0 && ev.At.V < gone[here] && e.Parameters.Credits() != nil:
				return at(ev.Link, "link %s is back at %v, and until %v arrives what was on its way when it failed: "+
					"with credits that must be over", ev.Link.V, ev.At.V, gone[here])
			}
			if ev.Rate.V > 0 {
				rates[here], rates[there] = ev.Rate.V, ev.Rate.V
			}
			down[here], down[there] = ev.Rate.V == 0, ev.Rate.V == 0
		}
		if ev.Rate.V > 0 {
			continue
		}
		before, after := plan.Routes(), plan.RoutesOver(down, false) // of several planes, to some of the NICs only
		for node := range plan.Nodes {
			if plan.Nodes[node].Host {
				continue
			}
			for _, h := range plan.Endpoints() {
				if len(after.Ports(node, h)) == 0 && len(before.Ports(node, h)) > 0 {
					return at(ev.Link, "when link %s fails nothing leads from %s to %s: the network is in two", ev.Link.V, plan.Nodes[node].Name, plan.Nodes[h].Name)
				}
			}
		}
	}
	return nil
}

// Places are the ports of a link that changes, at one end: several, if there are parallel ones.
func (ev *Event) Places(plan *topology.Plan) (list []Place, err error) {
	a, b, _ := strings.Cut(ev.Link.V, ">")
	node, ports, err := plan.Ports(a, b)
	if err != nil {
		return nil, at(ev.Link, "%v", err)
	}
	for _, port := range ports {
		list = append(list, Place{node, port})
	}
	return list, nil
}

// checkPlots finds plots of metrics that are not there.
func (e *Experiment) checkPlots() error {
	names := e.MetricNames()
	known := func(metric string) bool {
		metric, _, _ = strings.Cut(metric, "@")
		return slices.Contains(names, metric)
	}
	for _, p := range e.Plots {
		for _, name := range slices.Concat(p.Sweep, p.Bars) {
			if !known(name) {
				return fmt.Errorf("plot %q: there is no metric %q", p.Title, name)
			}
		}
	}
	return nil
}

// sources returns the source of every parameter; empty if it or its value is missing.
func (p *Parameters) sources() map[string]string {
	m := map[string]string{}
	add := func(name string, set bool, source string) {
		if !set {
			source = ""
		}
		m[name] = source
	}
	add("link_rate", p.LinkRate.Value.IsSet(), p.LinkRate.Source)
	add("host_delay", p.HostDelay.Value.IsSet(), p.HostDelay.Source)
	add("trunk_delay", p.TrunkDelay.Value.IsSet(), p.TrunkDelay.Source)
	add("payload", p.Payload.Value.IsSet(), p.Payload.Source)
	add("mtu", p.MTU.Value.IsSet(), p.MTU.Source)
	add("priority", p.Priority.Value.IsSet(), p.Priority.Source)
	switch {
	case p.Lossy(): // xoff may be there: it is that of the sweep's other values
	case p.Credits() == nil:
		add("xoff", p.XOFF.Value.IsSet(), p.XOFF.Source)
		add("xon", p.XON.Value.IsSet(), p.XON.Source)
	default:
		add("lane_buffer", p.LaneBuffer.Value.IsSet(), p.LaneBuffer.Source)
	}
	add("buffer", p.Buffer.Value.IsSet(), p.Buffer.Source)
	if p.TrunkRate.Value.IsSet() {
		add("trunk_rate", p.TrunkRate.Value.IsSet(), p.TrunkRate.Source)
	}
	return m
}
