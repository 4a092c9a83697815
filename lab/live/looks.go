// Package live shows replays while they run: a board says how far they are and what
// became of claims, and looks are what runs were seen doing.
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
	"photon/lab/web"
	"photon/units"
)

// What a page shows of a run while it runs is looked at beside what the run
// measures: counters are read, nothing is touched, so that the run is the same
// whether anybody looks or not. A run's time has so many spans, whatever its
// length, and each is looked at a few times.
const (
	liveSpans = 300
	liveLooks = 4
	// Beyond these bounds lines are of groups of flows, of switches, of layers.
	mostFlowLines = 12
	mostFlowsRead = 20000
	mostPlaces    = 256
)

// looks is what a run was seen doing so far.
type looks struct {
	// mu is never waited for by the run: while somebody reads, it leaves a look out.
	mu       sync.Mutex
	duration units.Time
	n        int // spans that have ended
	total    trace
	queue    trace // the longest
	paused   trace // ports, most at a time
	told     trace // CNPs and CNMs that reaction points were told of, a second
	flows    []trace
	queues   []trace // by place; the longest of the place
	stops    []trace // by place: part of the looks at which any of its ports was paused

	network *build.Network
	flow    [][]int // flows of each line
	ports   [][]switchPort
	hosts   [][]build.Host
	since   units.Time // when the last span ended
	looked  int        // since then
	before  struct {
		sent, told uint64
		flow       []uint64
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

// Watch has the looks of a run taken.
func (l *looks) Watch(e *experiment.Experiment, n *build.Network) {
	l.mu.Lock()
	l.duration, l.network = e.Duration, n
	l.lines()
	l.mu.Unlock()
	n.World.Every(l.width()/liveLooks, l.look)
}

// width is a span's, a multiple of the time between looks.
func (l *looks) width() units.Time { return liveLooks * max(1, l.duration/(liveSpans*liveLooks)) }

// lines says what there are lines of.
func (l *looks) lines() {
	n := l.network
	taken := map[string]int{}
	unique := func(name string) string {
		if taken[name]++; taken[name] > 1 {
			return fmt.Sprintf("%s #%d", name, taken[name])
		}
		return name
	}
	groups := map[string]int{}
	for i := range n.Flows {
		f := &n.Flows[i]
		switch at, known := groups[f.Group]; {
		case len(n.Flows) <= mostFlowLines:
			l.flows = append(l.flows, trace{name: unique(n.Plan.Nodes[f.From].Name + ">" + n.Plan.Nodes[f.To].Name)})
			l.flow = append(l.flow, []int{i})
		case len(n.Flows) > mostFlowsRead:
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

// look reads what is there at an instant.
func (l *looks) look(now units.Time) {
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
	l.looked++
	if now >= l.width()*units.Time(l.n+1) {
		l.end(now)
	}
}

// end ends the spans up to an instant.
func (l *looks) end(now units.Time) {
	n := l.network
	upTo, seconds := min(liveSpans, int(now/l.width())), (now - l.since).Seconds()
	per := func(is uint64, was *uint64) float64 {
		d := is - min(is, *was)
		*was = is
		return float64(d) / seconds
	}
	l.total.now = 8 * per(n.DataSent(), &l.before.sent)
	l.told.now = per(n.Told(now), &l.before.told)
	for k, flows := range l.flow {
		sum := uint64(0)
		for _, i := range flows {
			sum += n.Received(i)
		}
		l.flows[k].now = 8 * per(sum, &l.before.flow[k])
	}
	for k := range l.stops {
		l.stops[k].now /= float64(l.looked)
	}
	for _, t := range l.all() {
		for range upTo - l.n {
			t.values = append(t.values, float32(t.now))
		}
		t.now = 0
	}
	l.n, l.since, l.looked = upTo, now, 0
}

func (l *looks) all() (list []*trace) {
	list = []*trace{&l.total, &l.queue, &l.paused, &l.told}
	for _, of := range [][]trace{l.flows, l.queues, l.stops} {
		for i := range of {
			list = append(list, &of[i])
		}
	}
	return list
}

// Told is all that was seen, to be kept with the run.
func (l *looks) Told() []byte {
	b, err := json.Marshal(l.tell(0, true))
	if err != nil {
		return nil // a page can do without
	}
	return b
}

// over ends the looks: the network may go.
func (l *looks) over() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.network, l.ports, l.hosts, l.flow = nil, nil, nil, nil
}

// forget leaves only what runs are compared by.
func (l *looks) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flows, l.queues, l.stops = nil, nil, nil
}

// seen is what the page is told of a run.
type seen struct {
	N        int         `json:"n"` // spans that have ended
	Spans    int         `json:"spans"`
	Duration float64     `json:"duration_seconds"`
	From     int         `json:"from"` // the first of them that follows
	Total    web.Numbers `json:"total_bps"`
	Queue    web.Numbers `json:"queue_bytes"`
	Paused   web.Numbers `json:"paused_ports"`
	Told     web.Numbers `json:"notifications_per_second"`
	Flows    []seenLine  `json:"flows,omitempty"`
	Queues   []seenLine  `json:"queues,omitempty"`
	Stops    []seenLine  `json:"stops,omitempty"`
}

type seenLine struct {
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

// tell copies what was seen from a span on, and all details if they are wanted.
func (l *looks) tell(from int, details bool) seen {
	l.mu.Lock()
	c := looks{duration: l.duration, n: l.n, total: l.total, queue: l.queue, paused: l.paused, told: l.told}
	if details {
		c.flows, c.queues, c.stops = slices.Clone(l.flows), slices.Clone(l.queues), slices.Clone(l.stops)
	}
	l.mu.Unlock() // what was appended stays as it is
	from = min(max(0, from), c.n)
	s := seen{N: c.n, Spans: liveSpans, Duration: (liveSpans * c.width()).Seconds(), From: from}
	part := func(t trace) web.Numbers { return numbers(t.values[from:c.n]) }
	s.Total, s.Queue, s.Paused, s.Told = part(c.total), part(c.queue), part(c.paused), part(c.told)
	whole := func(list []trace) (lines []seenLine) {
		for _, t := range list {
			lines = append(lines, seenLine{t.name, numbers(t.values[:c.n])})
		}
		return lines
	}
	if details {
		s.Flows, s.Queues, s.Stops = whole(c.flows), whole(largest(c.queues, c.n, slices.Max)), whole(largest(c.stops, c.n, sum))
	}
	return s
}

// seenBefore reads what was kept; nil: it says nothing.
func seenBefore(b []byte) *looks {
	var s seen
	if len(b) == 0 || json.Unmarshal(b, &s) != nil {
		return nil
	}
	return s.again()
}

// again is what was told of a run that has ended, as if it were seen now.
func (s *seen) again() *looks {
	line := func(name string, v web.Numbers) trace {
		t := trace{name: name, values: make([]float32, len(v))}
		for i := range v {
			t.values[i] = float32(v[i])
		}
		return t
	}
	lines := func(of []seenLine) (list []trace) {
		for _, l := range of {
			list = append(list, line(l.Name, l.Values))
		}
		return list
	}
	return &looks{
		duration: units.Time(math.Round(s.Duration * float64(units.Second))), n: s.N,
		total: line("", s.Total), queue: line("", s.Queue), paused: line("", s.Paused), told: line("", s.Told),
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
