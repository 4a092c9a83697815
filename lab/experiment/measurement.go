package experiment

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"photon/config"
	"photon/lab/topology"
	"photon/units"
)

// Measure says what is measured: the bundle `dynamics` of a bottleneck, and any
// probes and metrics.
type Measure struct {
	Kind   config.Value[string] `yaml:"kind"` // dynamics; absent: only probes and metrics
	From   string               `yaml:"from"` // the bottleneck leads from this switch
	To     string               `yaml:"to"`   // to this node
	Sample units.Time           `yaml:"sample"`
	Steady Span                 `yaml:"steady"` // of what is called steady: rates and shares
	Queue  Span                 `yaml:"queue"`  // the same, for the mean queue
	Plot   units.Time           `yaml:"plot"`   // plots end here; 0: at the end

	Probes  []Probe  `yaml:"probes"`
	Metrics []Metric `yaml:"metrics"`
}

// Span is a part of an experiment's time.
type Span struct {
	From units.Time `yaml:"from"`
	To   units.Time `yaml:"to"`
}

// Probe is something that is looked at at every sample: one column, or one per
// flow.
type Probe struct {
	Name  string                 `yaml:"name"`
	Kind  config.Value[string]   `yaml:"kind"`
	At    config.Value[[]string] `yaml:"at"`    // "S0>S1": the port of S0 that leads to S1; "tor": all ports of a layer; "*": of all switches
	Flows config.Value[[]string] `yaml:"flows"` // groups; "*": all
	Each  bool                   `yaml:"each"`  // a column for every flow or port, not their sum
	// Priority is the only one that counts, of what is counted at ports; absent:
	// all that are lossless.
	Priority config.Value[int] `yaml:"priority"`
	Over     units.Time        `yaml:"over"` // of a counter: its rate over the time that ends with the sample
}

// ProbeKind is a kind of probe.
type ProbeKind struct {
	Doc     string
	At      bool // looks at ports, else at flows
	Counter bool
	Unit    string // of what is read; "": a number. The rate of bytes is in bits per second
}

// ProbeKinds says what kinds there are. Package measure reads them.
var ProbeKinds = map[string]ProbeKind{
	"queue":     {"bytes of data waiting at ports", true, false, "B"},
	"sent":      {"bytes that ports have put on the wire", true, true, "B"},
	"xoffs":     {"XOFF frames that ports have sent to their peers, refreshes included", true, true, ""},
	"paused":    {"how many of the ports are paused by their peers", true, false, ""},
	"marked":    {"frames marked CE at ports", true, true, ""},
	"ue":        {"frames marked UE (TCD) at ports", true, true, ""},
	"state":     {"TCD's state of ports: 0 none, 1 congestion, 2 undetermined; of several the highest", true, false, ""},
	"discarded": {"frames of data that ports discarded for want of room, or by WRED", true, true, ""},
	"repeated":  {"packets that senders sent again, or are to", false, true, ""},
	"frames":    {"frames of data that ports have sent", true, true, ""},
	"received":  {"bytes on the wire that reached their receivers in order", false, true, "B"},
	"sending":   {"bytes on the wire that senders have sent", false, true, "B"},
	"allowed":   {"rate that reaction points allow, bit/s", false, false, "bit/s"},
	"notified":  {"CNPs and CNMs that reaction points were told of", false, true, ""},
	"active":    {"flows that have begun and not ended", false, false, ""},
}

// Metric is a number made of what was sampled, or of the flows that ended.
type Metric struct {
	Name  string                 `yaml:"name"`
	Doc   string                 `yaml:"doc"`
	Do    config.Value[string]   `yaml:"do"`
	Of    config.Value[string]   `yaml:"of"` // a probe
	From  units.Time             `yaml:"from"`
	To    units.Time             `yaml:"to"`    // 0: the end
	Value float64                `yaml:"value"` // a threshold
	Per   config.Value[float64]  `yaml:"per"`   // the result is divided by it; 1 if absent
	By    config.Value[string]   `yaml:"by"`    // and by this metric, one above it in the list
	Part  float64                `yaml:"part"`  // within, first_within: tolerance, a part of value
	Hold  units.Time             `yaml:"hold"`  // first_*: it must last so long; deadlock: without a frame sent for so long
	Flows config.Value[[]string] `yaml:"flows"` // of fct and the like
	Stat  config.Value[string]   `yaml:"stat"`  // of fct and slowdown: mean, p50, p95, p99, p999, max
	Sizes [2]units.Size          `yaml:"sizes"` // flows larger than the first, up to the second; 0, 0: all
	Loop  *PILoop                `yaml:"loop"`  // of phase_margin
	Unit  string                 `yaml:"unit"`  // s, B, bit/s or any other, of what is divided by per or by; else what is measured has one
}

// MetricKind is a thing that a metric does.
type MetricKind struct {
	Doc   string
	Probe bool   // it is done to a probe
	Unit  string // "=": that of the samples; "+": that of the counter, "/s": of its growth per second
}

// MetricKinds says what can be done. Package measure does it.
var MetricKinds = map[string]MetricKind{
	"mean":           {"mean of the samples", true, "="},
	"max":            {"largest sample", true, "="},
	"min":            {"smallest sample", true, "="},
	"max_at":         {"seconds until the largest sample, the first of them", true, "s"},
	"stddev":         {"standard deviation of the samples", true, "="},
	"last":           {"last sample", true, "="},
	"p50":            {"median of the samples", true, "="},
	"p99":            {"99th percentile of the samples", true, "="},
	"delta":          {"growth of a counter", true, "+"},
	"rate":           {"growth of a counter per second; bytes count as bits", true, "/s"},
	"jain":           {"Jain's fairness index of the growth of a counter's columns", true, ""},
	"first_at_most":  {"seconds until the first sample after from that is at most value, for hold", true, "s"},
	"first_at_least": {"seconds until the first sample after from that is at least value, for hold", true, "s"},
	"first_within":   {"seconds until the first sample after from that is within part of value, for hold", true, "s"},
	"last_above":     {"seconds until the last sample above value; if that is the run's last, it is a lower bound for claims", true, "s"},
	"last_below":     {"seconds until the last sample below value; if that is the run's last, it is a lower bound for claims", true, "s"},
	"time_above":     {"seconds in which samples are above value", true, "s"},
	"time_below":     {"seconds in which samples are below value", true, "s"},
	"lifetime":       {"seconds from the first growth of a counter, or sample above 0, to the last", true, "s"},
	"gap":            {"how much less the growth of a counter's smallest column is than its largest's, as a part of that", true, ""},
	"spread":         {"growth per second of a counter's largest column less its smallest's; bytes count as bits", true, "/s"},
	"within":         {"part of the samples of all columns that are within part of value", true, ""},
	"fct":            {"completion time of flows, seconds from first bit out to last acknowledgement in; flows that had not ended count as longer than they had taken, and are in no mean", false, "s"},
	"slowdown":       {"completion time of flows against an empty network, of which they may use as many paths as `paths` and `entropy` allow", false, ""},
	"completed":      {"flows that ended", false, ""},
	"completion":     {"flows that ended, per second from the first start", false, "/s"},
	"unfinished":     {"flows that have not ended", false, ""},
	"step_time":      {"seconds from the first start of a step of a collective, or of flows that are repeated, to when all of it has arrived", false, "s"},
	"job_time":       {"seconds from the first start of any step to when all of the last has arrived; absent: it has not ended", false, "s"},
	"algbw":          {"algorithm bandwidth of a collective: its size by the time of a step", false, "bit/s"},
	"busbw":          {"bus bandwidth of a collective: algbw by what a link carries of the size at least, as nccl-tests have it", false, "bit/s"},
	"straggler":      {"time of the last host in a step of a collective by that of the median host; 1: all end together", false, ""},
	"phase_margin":   {"degrees, of PACC's control loop at the hosts' link rate; nothing is run for it", false, "°"},
	"deadlock":       {"seconds until a cycle of paused queues sends nothing for hold; absent: never", false, "s"},
	"deadlocked":     {"1 if there was a deadlock (as `deadlock` finds it), else 0", false, ""},
}

// ProbeDocs says what the kinds of probes look at.
func ProbeDocs() map[string]string {
	docs := map[string]string{}
	for k, v := range ProbeKinds {
		docs[k] = v.Doc
	}
	return docs
}

// MetricDocs says what the kinds of metrics are.
func MetricDocs() map[string]string {
	docs := map[string]string{}
	for k, v := range MetricKinds {
		docs[k] = v.Doc
	}
	return docs
}

// Growth are the kinds that look at how much counters grow.
var Growth = []string{"delta", "rate", "jain", "gap", "spread"}

// comparing are those of them that look at columns against each other.
var comparing = []string{"jain", "gap", "spread"}

// FirstTimes are the kinds that give the time of what may never come.
var FirstTimes = []string{"first_at_most", "first_at_least", "first_within"}

// OfSteps are the kinds that look at steps of what hosts do together.
var OfSteps = []string{"step_time", "job_time", "algbw", "busbw", "straggler"}

// Statistics are those of completion times.
var Statistics = []string{"mean", "min", "p50", "p95", "p99", "p999", "max"}

// DynamicsMetrics are what the measurement `dynamics` yields: how fast, and how
// steadily, long flows share a bottleneck.
var DynamicsMetrics = []string{
	"aggregate_rate_converged_s", "queue_drained_s", "peak_queue_bytes", "steady_queue_bytes_mean", "goodput_bps", "jain",
	"pause_frames", "last_pause_s",
}

// DynamicsDocs says what they are; reports print it.
var DynamicsDocs = map[string]string{
	"aggregate_rate_converged_s": "first time at which the senders' aggregate rate, averaged over the base round-trip time that ends then, is at most 1.05 times the bottleneck's capacity: the overload is over, whatever comes after it",
	"queue_drained_s":            "first time after its peak at which the bottleneck's queue is at most 10 full packets",
	"peak_queue_bytes":           "longest the bottleneck's queue has been",
	"steady_queue_bytes_mean":    "mean of the bottleneck's queue over the span that is called steady",
	"goodput_bps":                "data that reached the receivers in order in the span that is called steady, in bits on the wire (headers, preamble and gap included, so that the link's rate is 100 %), per second",
	"jain":                       "Jain's fairness index of what the flows received in the span that is called steady",
	"pause_frames":               "XOFF frames sent by all switches, refreshes included",
	"last_pause_s":               "when the last of them was sent",
}

// PILoop is the control loop of PACC (INFOCOM'22, section IV): a PI controller at
// a switch, the reaction of its cards, and the queue. It is analysed, not run.
type PILoop struct {
	Beta1  float64    `yaml:"beta1"`
	Beta2  float64    `yaml:"beta2"`
	Period units.Time `yaml:"period"` // T
	Alpha  float64    `yaml:"alpha"`  // of the cards, where the loop is at rest
	Unit   units.Size `yaml:"unit"`   // of a queue in the controller
}

func (l *PILoop) check() error {
	if l == nil || !(l.Beta1 > 0 && l.Beta2 >= 0 && l.Period > 0 && l.Alpha > 0 && l.Unit > 0) {
		return fmt.Errorf("phase_margin needs a loop with beta1, beta2, period, alpha and unit, all but beta2 above 0")
	}
	return nil
}

// Place is a port of a node; hosts have port 0.
type Place struct{ Node, Port int }

// Places resolves what a probe looks at. A port that several names stand for is there once.
func (p *Probe) Places(plan *topology.Plan) (list []Place, err error) {
	seen := map[Place]bool{}
	add := func(at Place) {
		if !seen[at] {
			seen[at] = true
			list = append(list, at)
		}
	}
	for _, name := range p.At.V {
		a, b, isPort := strings.Cut(name, ">")
		if isPort {
			node, ports, err := plan.Ports(a, b)
			if err != nil {
				return nil, at(p.At, "%v", err)
			}
			for _, port := range ports {
				add(Place{node, port})
			}
			continue
		}
		found := false
		for i, node := range plan.Nodes {
			if node.Host || name != "*" && node.Layer != name && node.Name != name {
				continue
			}
			found = true
			for port := range node.Ends {
				add(Place{i, port})
			}
		}
		if !found {
			return nil, at(p.At, "%q is neither a link (S0>S1) nor a switch nor a layer of switches", name)
		}
	}
	return list, nil
}

// check finds what is wrong with a probe.
func (p *Probe) check(e *Experiment, plan *topology.Plan, groups map[string]int) error {
	if p.Over%e.Measure.Sample != 0 || p.Over < 0 {
		return at(p.Kind, "probe %s: %v is not a multiple of the sample, %v", p.Name, p.Over, e.Measure.Sample)
	}
	if p.Over > e.Duration {
		return at(p.Kind, "probe %s: over %v is longer than the run's %v", p.Name, p.Over, e.Duration)
	}
	kind, ok := ProbeKinds[p.Kind.V]
	if !ok {
		return at(p.Kind, "probe %s: there is no kind %q (%s)", p.Name, p.Kind.V, others(p.Kind.V, sortedKeys(ProbeKinds)))
	}
	if kind.At {
		places, err := p.Places(plan)
		if err != nil {
			return err
		}
		if len(places) == 0 {
			return at(p.Kind, "probe %s does not say where (`at: [S0>S1]`)", p.Name)
		}
		for _, place := range places {
			if node := &plan.Nodes[place.Node]; node.Host && p.Kind.V != "paused" {
				return at(p.At, "probe %s: %s is a host, of whose ports only paused is known", p.Name, node.Name)
			}
		}
		if prio := p.Priority.V; p.Priority.IsSet() && (prio < 0 || prio >= 8 || e.DataMask()>>prio&1 == 0) {
			return at(p.Priority, "probe %s: priority %d is none of data's (priority, lossless, dscp of flows)",
				p.Name, prio)
		}
		return nil
	}
	for _, g := range p.Flows.V {
		if g == "*" && len(groups) > 0 || groups[g] > 0 {
			return nil
		}
	}
	return at(p.Kind, "probe %s: there are no flows %q", p.Name, strings.Join(p.Flows.V, ", "))
}

// IsDeadlock reports whether the metric is about cycles of queues that wait for each other.
func (m *Metric) IsDeadlock() bool { return m.Do.V == "deadlock" || m.Do.V == "deadlocked" }

// Deadlocks is for how long nothing is sent in a deadlock, 0 if no metric says so, and whether one is about deadlocks.
func (m *Measure) Deadlocks() (hold units.Time, ok bool) {
	for i := range m.Metrics {
		if x := &m.Metrics[i]; x.IsDeadlock() {
			hold, ok = cmp.Or(hold, x.Hold), true
		}
	}
	return hold, ok
}

// Samples reports whether anything is made of samples.
func (m *Measure) Samples() bool {
	_, deadlocks := m.Deadlocks()
	return m.Kind.IsSet() || m.Probes != nil || deadlocks
}

// check finds what is wrong with a metric.
func (m *Metric) check(e *Experiment) error {
	if above := e.above(m); m.By.IsSet() && !slices.Contains(above, m.By.V) {
		return at(m.By, "metric %s is divided by %q: there is no such metric above it (%s)", m.Name, m.By.V, others(m.By.V, above))
	}
	kind, ok := MetricKinds[m.Do.V]
	if !ok {
		return at(m.Do, "metric %s does %q (%s)", m.Name, m.Do.V, others(m.Do.V, sortedKeys(MetricKinds)))
	}
	if kind.Probe {
		p := e.Probe(m.Of.V)
		if p == nil {
			return at(m.Do, "metric %s: there is no probe %q (%s)", m.Name, m.Of.V, others(m.Of.V, e.probes()))
		}
		if m.Do.V == "last" && p.Each {
			return at(m.Do, "metric %s: the last sample of which column? (mean, max and min are of all; probe %s without `each` is their sum)", m.Name, p.Name)
		}
		if slices.Contains(Growth, m.Do.V) && !ProbeKinds[p.Kind.V].Counter {
			return at(m.Do, "metric %s: %s is of how much a counter grows, and %s is none (mean, max and the like are of samples)", m.Name, m.Do.V, p.Kind.V)
		}
		if slices.Contains(comparing, m.Do.V) && !p.Each {
			return at(m.Do, "metric %s: %s compares columns, and probe %s has one (each: true)", m.Name, m.Do.V, p.Name)
		}
	}
	if m.From < 0 || m.To < 0 || m.To > e.Duration || m.To != 0 && m.To <= m.From || m.From >= e.Duration {
		return at(m.Do, "metric %s: from %v to %v is not in the run's %v", m.Name, m.From, cmp.Or(m.To, e.Duration),
			e.Duration)
	}
	switch end := cmp.Or(m.To, e.Duration); {
	case !kind.Probe:
	case end/e.Measure.Sample == m.From/e.Measure.Sample:
		return at(m.Do, "metric %s: no sample is between %v and %v: there is one every %v", m.Name, m.From, end, e.Measure.Sample)
	case slices.Contains(FirstTimes, m.Do.V) && m.Hold > end-m.From:
		return at(m.Do, "metric %s: hold %v is longer than the %v from %v to %v", m.Name, m.Hold, end-m.From, m.From, end)
	}
	if m.IsDeadlock() && m.Hold > e.Duration {
		return at(m.Do, "metric %s: hold %v is longer than the run's %v", m.Name, m.Hold, e.Duration)
	}
	if m.IsDeadlock() && m.Hold > 0 {
		for i := range e.Measure.Metrics {
			if o := &e.Measure.Metrics[i]; o.IsDeadlock() && o.Hold > 0 && o.Hold != m.Hold {
				return at(m.Do, "metric %s: hold %v, and that of metric %s is %v: a run looks for deadlocks of one hold",
					m.Name, m.Hold, o.Name, o.Hold)
			}
		}
	}
	switch low, high := m.Sizes[0], m.Sizes[1]; {
	case m.Per.IsSet() && !(m.Per.V > 0 && m.Per.V <= math.MaxFloat64):
		return at(m.Per, "metric %s: per %v: the result is divided by it, and it must be above 0", m.Name, m.Per.V)
	case !finite(&m.Value):
		return at(m.Do, "metric %s: value %v is no threshold: a number, and not infinite", m.Name, m.Value)
	case m.Hold < 0:
		return at(m.Do, "metric %s: hold %v must not be negative", m.Name, m.Hold)
	case !(m.Part >= 0 && m.Part <= math.MaxFloat64):
		return at(m.Do, "metric %s: part %v must not be negative", m.Name, m.Part)
	case m.Part == 0 && (m.Do.V == "within" || m.Do.V == "first_within"):
		return at(m.Do, "metric %s: %s needs a part of the value (part: 0.1)", m.Name, m.Do.V)
	case (low != 0 || high != 0) && (low < 0 || high <= low):
		return at(m.Do, "metric %s: sizes are above the first, up to the second, which is larger: not [%v, %v]",
			m.Name, low, high)
	}
	if m.Do.V == "phase_margin" {
		if err := m.Loop.check(); err != nil {
			return at(m.Do, "metric %s: %v", m.Name, err)
		}
	}
	if m.Flows.IsSet() && len(m.Flows.V) == 0 {
		return at(m.Flows, "metric %s: flows: [] are none (without flows: all)", m.Name)
	}
	if m.Do.V == "algbw" || m.Do.V == "busbw" {
		if len(m.Flows.V) != 1 || e.CollectiveOf(m.Flows.V[0]) == nil {
			return at(m.Do, "metric %s: %s is of a collective (flows: [name])", m.Name, m.Do.V)
		}
	}
	if slices.Contains(OfSteps, m.Do.V) && !e.Waiting() {
		return at(m.Do, "metric %s: %s is of collectives and of flows that wait for others, and there are none", m.Name, m.Do.V)
	}
	if s := m.Stat.Or("mean"); (m.Do.V == "fct" || m.Do.V == "slowdown" || slices.Contains(OfSteps, m.Do.V)) && !slices.Contains(Statistics, s) {
		return at(m.Stat, "metric %s: statistic %q: mean, min, p50, p95, p99, p999 or max", m.Name, s)
	}
	return nil
}

// Probe returns a probe by its name; nil: there is none.
func (e *Experiment) Probe(name string) *Probe {
	for i := range e.Measure.Probes {
		if e.Measure.Probes[i].Name == name {
			return &e.Measure.Probes[i]
		}
	}
	return nil
}

// probes are their names.
func (e *Experiment) probes() (names []string) {
	for i := range e.Measure.Probes {
		names = append(names, e.Measure.Probes[i].Name)
	}
	slices.Sort(names)
	return names
}

// MetricNames lists the metrics of an experiment, in its order.
func (e *Experiment) MetricNames() (names []string) {
	if e.Measure.Kind.IsSet() {
		names = append(names, DynamicsMetrics...)
	}
	for i := range e.Measure.Metrics {
		names = append(names, e.Measure.Metrics[i].Name)
	}
	return names
}

// above are the metrics that are evaluated before one.
func (e *Experiment) above(m *Metric) (names []string) {
	for i := range e.Measure.Metrics {
		if &e.Measure.Metrics[i] == m {
			break
		}
		names = append(names, e.Measure.Metrics[i].Name)
	}
	return names
}

// MetricDoc says what a metric is.
func (e *Experiment) MetricDoc(name string) string {
	if doc := DynamicsDocs[name]; doc != "" {
		return doc
	}
	for _, m := range e.Measure.Metrics {
		if m.Name == name {
			if m.Doc != "" {
				return m.Doc
			}
			return MetricKinds[m.Do.V].Doc
		}
	}
	return ""
}

// MayBeLate reports whether a metric without a value is later than all that have one: a time that did not come while a
// run watched, or how slow flows were that did not end. Of others without one nothing is known.
func (e *Experiment) MayBeLate(metric string) bool {
	metric, _, _ = strings.Cut(metric, "@")
	for i := range e.Measure.Metrics {
		if m := &e.Measure.Metrics[i]; m.Name == metric {
			return !m.By.IsSet() && (MetricKinds[m.Do.V].Unit == "s" || m.Do.V == "slowdown")
		}
	}
	return metric == "aggregate_rate_converged_s" || metric == "queue_drained_s"
}

// IsEvent reports whether a metric is 1 or 0, as something happened in a run or not.
func (e *Experiment) IsEvent(metric string) bool {
	metric, _, _ = strings.Cut(metric, "@")
	return slices.ContainsFunc(e.Measure.Metrics, func(m Metric) bool {
		return m.Name == metric && m.Do.V == "deadlocked"
	})
}

// LastTimes are the kinds that give the time until which something was, which may be longer than the run.
var LastTimes = []string{"last_above", "last_below"}

// Outlasts is the value that a metric has of what still was at the last sample that it looks at, and so at least so
// long, in the metric's unit. 0: it is no such metric.
func (e *Experiment) Outlasts(metric string, quick bool) float64 {
	m, end := e.timeOf(metric, LastTimes, quick)
	if m == nil {
		return 0
	}
	return max(0, (end-end%e.Measure.Sample-m.From).Seconds()) / m.Per.Or(1)
}

// timeOf is a metric that is of some kinds, and when it looks no more; nil: there is none.
func (e *Experiment) timeOf(metric string, kinds []string, quick bool) (m *Metric, end units.Time) {
	metric, _, _ = strings.Cut(metric, "@")
	i := slices.IndexFunc(e.Measure.Metrics, func(m Metric) bool {
		return m.Name == metric && slices.Contains(kinds, m.Do.V) && !m.By.IsSet()
	})
	if i < 0 {
		return nil, 0
	}
	m, end = &e.Measure.Metrics[i], e.Lasts(quick)
	if m.To > 0 {
		end = min(end, m.To)
	}
	return m, end
}

// WatchedFor is how long a run looked out for what a metric gives the time of, in
// the metric's unit: what never came took at least that long. 0: it is no such metric, or not known.
func (e *Experiment) WatchedFor(metric string, quick bool) float64 {
	m, end := e.timeOf(metric, FirstTimes, quick)
	if m == nil {
		return 0
	}
	return max(0, (end-m.From-m.Hold).Seconds()) / m.Per.Or(1)
}

// rounded is the value of what was just printed.
func rounded(text string) float64 {
	v, _ := strconv.ParseFloat(text, 64)
	return v
}

// Number prints a measured or printed number as the tables do.
func Number(v *float64, unit string) string {
	if v == nil {
		return "–"
	}
	scale, unit := Scaled(*v, unit)
	text := fmt.Sprintf("%.4g", *v*scale)
	if strings.Contains(text, "e+") && math.Abs(*v*scale) < 1e15 { // a count of frames, say: as the charts have it
		text = strconv.FormatFloat(rounded(text), 'f', -1, 64)
	}
	if unit == "" {
		return text
	}
	return text + " " + unit
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
