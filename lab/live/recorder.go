// Package live shows replays while they run. Status holds their progress and the claims
// (status.go); a recorder samples each run's rates, queues and pauses (recorder.go).
package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/lab/web"
	"photon/units"
)

// The page's values of a run are sampled apart from what the run measures. Sampling
// only reads counters, so the run is the same with and without it. A run has 300 spans, each
// of which is sampled a few times. In a large network it has fewer, down to a hundred, if its
// links have long delays: the simulator would stop more often than once in a few of them, and be slow.
const (
	mostSpans     = 300
	mostPerSpan   = 4
	delaysPerLook = 4
	leastLooks    = 100 // of a run, however short
	// Beyond these bounds lines are of groups of flows, of switches, of layers.
	mostFlowLines = 12
	mostFlowsRead = 20000
	mostPlaces    = 256
)

// recorder holds the time series of a run for the page.
type recorder struct {
	// The run never waits for mu: while the page reads, it skips a sample.
	mu       sync.Mutex
	duration units.Time
	look     units.Time // from one sample to the next
	perSpan  int        // samples
	spans    int
	n        int // spans that have ended
	total    trace
	queue    trace // the longest
	paused   trace // ports, most at a time
	notified trace // CNPs and CNMs that reaction points received, a second
	flows    []trace
	queues   []trace // by place; the longest of the place
	stops    []trace // by place: part of the looks at which any of its ports was paused

	network *build.Network
	flow    [][]int // flows of each line
	ports   [][]switchPort
	hosts   [][]build.Host
	since   units.Time // when the last span ended
	samples int        // since then
	before  struct {
		sent, notified uint64
		flow           []uint64
	}
}

type switchPort struct {
	sw   build.Switch
	port int
}

// trace is a line: a value for each span that has ended.
type trace struct {
	name   string
	values []float32
	now    float64 // of the span that has not
}

// Watch starts sampling a run.
func (l *recorder) Watch(e *experiment.Experiment, n *build.Network) {
	l.mu.Lock()
	l.network = n
	l.divide(e.Duration, n.Plan)
	l.lines()
	l.mu.Unlock()
	n.World.Every(l.look, l.sample)
}

// divide decides how often a run is sampled.
func (l *recorder) divide(duration units.Time, plan *topology.Plan) {
	delay := units.Never / delaysPerLook
	for _, c := range plan.Cables {
		delay = min(delay, c.Link.Delay)
	}
	l.duration, l.look, l.perSpan = duration, max(1, duration/(mostSpans*mostPerSpan)), mostPerSpan
	if slow := min(delaysPerLook*delay, duration/leastLooks); len(plan.Cables) > mostPlaces && slow > l.look {
		l.look, l.perSpan = slow, int((duration+mostSpans*slow-1)/(mostSpans*slow))
	}
	l.spans = min(mostSpans, max(1, int(duration/l.width())))
}

// width is a span's, a multiple of the time between looks.
func (l *recorder) width() units.Time { return units.Time(l.perSpan) * l.look }

// lines decides which flows, queues and pauses get a line each.
func (l *recorder) lines() {
	n := l.network
	taken := map[string]int{}
	unique := func(name string) string {
		if taken[name]++; taken[name] > 1 {
			return fmt.Sprintf("%s #%d", name, taken[name])
		}
		return name
	}
	groups := map[string]int{}
	for i := range n.Flows.Len() {
		if n.Flows.Len() > mostFlowsRead {
			break
		}
		f := n.Flows.At(i)
		switch at, known := groups[f.Group]; {
		case n.Flows.Len() <= mostFlowLines:
			l.flows = append(l.flows, trace{name: unique(n.Plan.Nodes[f.From].Name + ">" + n.Plan.Nodes[f.To].Name)})
			l.flow = append(l.flow, []int{i})
		case known:
			l.flow[at] = append(l.flow[at], i)
		case len(l.flows) < mostFlowLines:
			groups[f.Group] = len(l.flows)
			l.flows = append(l.flows, trace{name: f.Group})
			l.flow = append(l.flow, []int{i})
		}
	}
	l.before.flow = make([]uint64, len(l.flow))

	ports := 0
	for i := range n.Switches {
		ports += len(n.Plan.Nodes[i].Ends)
	}
	of := map[string]int{}
	for i := range n.Plan.Nodes {
		node := &n.Plan.Nodes[i]
		if node.Host {
			continue
		}
		for port, end := range node.Ends {
			name := ""
			switch {
			case ports <= mostPlaces:
				name = unique(node.Name + ">" + n.Plan.Nodes[end.Node].Name)
			case len(n.Switches) <= mostPlaces:
				name = node.Name
			default:
				name = node.Layer
			}
			at, known := of[name]
			if !known {
				at = len(l.queues)
				of[name] = at
				l.queues, l.stops, l.ports = append(l.queues, trace{name: name}), append(l.stops, trace{name: name}), append(l.ports, nil)
			}
			l.ports[at] = append(l.ports[at], switchPort{n.Switches[i], port})
		}
	}
	hosts := n.Plan.Endpoints()
	for _, h := range hosts {
		if len(hosts) <= mostPlaces || len(l.hosts) == 0 {
			name := "hosts"
			if len(hosts) <= mostPlaces {
				name = n.Plan.Nodes[h].Name
			}
			l.stops, l.hosts = append(l.stops, trace{name: name}), append(l.hosts, nil)
		}
		l.hosts[len(l.hosts)-1] = append(l.hosts[len(l.hosts)-1], n.Hosts[h])
	}
}

// sample reads queues and pauses at an instant.
func (l *recorder) sample(now units.Time) {
	if !l.mu.TryLock() {
		return
	}
	defer l.mu.Unlock()
	n := l.network
	longest, paused := 0.0, 0
	for k, ports := range l.ports {
		stopped := 0
		for _, p := range ports {
			q := units.Size(0)
			for set := n.Data; set != 0; set &= set - 1 {
				q += p.sw.QueueBytes(p.port, bits.TrailingZeros8(set))
			}
			l.queues[k].now = max(l.queues[k].now, float64(q))
			if p.sw.Paused(p.port)&n.Lossless != 0 {
				stopped++
			}
		}
		if stopped > 0 {
			l.stops[k].now++
		}
		longest = max(longest, l.queues[k].now)
		paused += stopped
	}
	for k, hosts := range l.hosts {
		stopped := 0
		for _, h := range hosts {
			if h.Paused()&n.Lossless != 0 {
				stopped++
			}
		}
		if stopped > 0 {
			l.stops[len(l.ports)+k].now++
		}
		paused += stopped
	}
	l.queue.now, l.paused.now = max(l.queue.now, longest), max(l.paused.now, float64(paused))
	l.samples++
	if now >= l.width()*units.Time(l.n+1) {
		l.endSpans(now)
	}
}

// endSpans ends the spans up to an instant.
func (l *recorder) endSpans(now units.Time) {
	n := l.network
	upTo, seconds := min(l.spans, int(now/l.width())), (now - l.since).Seconds()
	per := func(is uint64, was *uint64) float64 {
		d := is - min(is, *was)
		*was = is
		return float64(d) / seconds
	}
	l.total.now = 8 * per(n.DataSent(), &l.before.sent)
	l.notified.now = per(n.Notifications(now), &l.before.notified)
	for k, flows := range l.flow {
		sum := uint64(0)
		for _, i := range flows {
			sum += n.Received(i)
		}
		l.flows[k].now = 8 * per(sum, &l.before.flow[k])
	}
	for k := range l.stops {
		l.stops[k].now /= float64(l.samples)
	}
	for _, t := range l.traces() {
		for range upTo - l.n {
			t.values = append(t.values, float32(t.now))
		}
		t.now = 0
	}
	l.n, l.since, l.samples = upTo, now, 0
}

func (l *recorder) traces() (list []*trace) {
	list = []*trace{&l.total, &l.queue, &l.paused, &l.notified}
	for _, of := range [][]trace{l.flows, l.queues, l.stops} {
		for i := range of {
			list = append(list, &of[i])
		}
	}
	return list
}

// Encode is the whole recording, to be saved with the run.
func (l *recorder) Encode() []byte {
	b, err := json.Marshal(l.document(0, true))
	if err != nil {
		return nil // then the page shows the run without lines
	}
	return b
}

// finish ends sampling and releases the network.
func (l *recorder) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.network, l.ports, l.hosts, l.flow = nil, nil, nil, nil
}

// dropDetails drops all lines but those by which runs are compared.
func (l *recorder) dropDetails() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flows, l.queues, l.stops = nil, nil, nil
}

// tracesDocument is the answer to the page for a run.
type tracesDocument struct {
	N             int            `json:"n"` // spans that have ended
	Spans         int            `json:"spans"`
	Duration      float64        `json:"duration_seconds"`
	From          int            `json:"from"` // the first of them that follows
	Total         web.Numbers    `json:"total_bps"`
	Queue         web.Numbers    `json:"queue_bytes"`
	Paused        web.Numbers    `json:"paused_ports"`
	Notifications web.Numbers    `json:"notifications_per_second"`
	Flows         []lineDocument `json:"flows,omitempty"`
	Queues        []lineDocument `json:"queues,omitempty"`
	Stops         []lineDocument `json:"stops,omitempty"`
}

type lineDocument struct {
	Name   string      `json:"name"`
	Values web.Numbers `json:"v"`
}

func numbers(v []float32) web.Numbers {
	n := make(web.Numbers, len(v))
	for i := range v {
		n[i] = web.Round(float64(v[i]), 4)
	}
	return n
}

// mostShown is how many queues, and rows of pauses, a page shows.
const mostShown = 10

// document copies the values from a span on, and all details if they are wanted.
func (l *recorder) document(from int, details bool) tracesDocument {
	l.mu.Lock()
	c := recorder{
		duration: l.duration, look: l.look, perSpan: l.perSpan, spans: l.spans, n: l.n,
		total: l.total, queue: l.queue, paused: l.paused, notified: l.notified,
	}
	if details {
		c.flows, c.queues, c.stops = slices.Clone(l.flows), slices.Clone(l.queues), slices.Clone(l.stops)
	}
	l.mu.Unlock() // what was appended stays as it is
	from = min(max(0, from), c.n)
	s := tracesDocument{N: c.n, Spans: c.spans, Duration: (units.Time(c.spans) * c.width()).Seconds(), From: from}
	part := func(t trace) web.Numbers { return numbers(t.values[from:c.n]) }
	s.Total, s.Queue, s.Paused, s.Notifications = part(c.total), part(c.queue), part(c.paused), part(c.notified)
	whole := func(list []trace) (lines []lineDocument) {
		for _, t := range list {
			lines = append(lines, lineDocument{t.name, numbers(t.values[:c.n])})
		}
		return lines
	}
	if details {
		s.Flows, s.Queues, s.Stops = whole(c.flows), whole(largest(c.queues, c.n, slices.Max)), whole(largest(c.stops, c.n, sum))
	}
	return s
}

// decode reads what Encode wrote; nil: there is nothing to read.
func decode(b []byte) *recorder {
	var s tracesDocument
	if len(b) == 0 || json.Unmarshal(b, &s) != nil {
		return nil
	}
	return s.recorder()
}

// recorder rebuilds the recorder of a run that has ended.
func (s *tracesDocument) recorder() *recorder {
	line := func(name string, v web.Numbers) trace {
		t := trace{name: name, values: make([]float32, len(v))}
		for i := range v {
			t.values[i] = float32(v[i])
		}
		return t
	}
	lines := func(of []lineDocument) (list []trace) {
		for _, l := range of {
			list = append(list, line(l.Name, l.Values))
		}
		return list
	}
	duration, spans := units.Time(math.Round(s.Duration*float64(units.Second))), max(1, s.Spans)
	return &recorder{
		duration: duration, look: duration / units.Time(spans), perSpan: 1, spans: spans, n: s.N,
		total: line("", s.Total), queue: line("", s.Queue), paused: line("", s.Paused), notified: line("", s.Notifications),
		flows: lines(s.Flows), queues: lines(s.Queues), stops: lines(s.Stops),
	}
}

func sum(v []float32) (s float32) {
	for _, x := range v {
		s += x
	}
	return s
}

// largest are the lines with the largest values, in their order, without those that
// are nothing but zero.
func largest(list []trace, n int, size func([]float32) float32) (some []trace) {
	if n == 0 {
		return nil
	}
	sizes := make([]float32, len(list))
	by := make([]int, len(list))
	for i, t := range list {
		by[i], sizes[i] = i, size(t.values[:n])
	}
	slices.SortStableFunc(by, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	by = by[:min(mostShown, len(by))]
	slices.Sort(by)
	for _, i := range by {
		if sizes[i] > 0 {
			some = append(some, list[i])
		}
	}
	return some
}
