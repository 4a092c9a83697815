package lab

import (
	"math"

	"photon/units"
)

// dynamicsMetrics are what the measurement `dynamics` yields: how fast, and how
// steadily, long flows share a bottleneck.
var dynamicsMetrics = []string{
	"aggregate_rate_converged_s", "queue_drained_s", "peak_queue_bytes", "steady_queue_bytes_mean", "goodput_bps", "jain",
	"pause_frames", "last_pause_s",
}

// MetricDoc says what a metric is; reports print it.
var MetricDoc = map[string]string{
	"aggregate_rate_converged_s": "first time at which the senders' aggregate rate, averaged over the base round-trip time that ends then, is at most 1.05 times the bottleneck's capacity: the overload is over, whatever comes after it",
	"queue_drained_s":            "first time after its peak at which the bottleneck's queue is at most 10 full packets",
	"peak_queue_bytes":           "longest the bottleneck's queue has been",
	"steady_queue_bytes_mean":    "mean of the bottleneck's queue over the span that is called steady",
	"goodput_bps":                "data that reached the receivers in order in the span that is called steady, in bits on the wire (headers, preamble and gap included, so that the link's rate is 100 %), per second",
	"jain":                       "Jain's fairness index of what the flows received in the span that is called steady",
	"pause_frames":               "XOFF frames sent by all switches, refreshes included",
	"last_pause_s":               "when the last of them was sent",
}

// Metrics maps a metric to its value; nil: it never happened.
type Metrics map[string]*float64

// dynamics watches a network for the measurement of that name.
type dynamics struct {
	e          *Experiment
	n          *network
	bottleneck switchNode
	port       int
	rtt        units.Time
	packet     units.Size // full frame in the queue

	time       []units.Time
	rates      []float64    // aggregate sending rate, bit/s on the wire, averaged over a round-trip time
	queue      []units.Size // of the bottleneck
	flow       [][]float64  // rate that each flow's reaction point allows, bit/s
	sent       []uint64
	pauses     uint64
	lastPause  units.Time
	begin, end []uint64 // received per flow at the ends of the window
}

func watchDynamics(e *Experiment, n *network) (*dynamics, error) {
	node, port, err := n.plan.Port(e.Measure.From, e.Measure.To)
	if err != nil {
		return nil, err
	}
	d := &dynamics{e: e, n: n, bottleneck: n.switches[node], port: port, packet: e.packet()}
	for i := range n.flows {
		d.rtt = max(d.rtt, 2*n.plan.Delay(n.flows[i].from, n.flows[i].to))
	}
	d.flow = make([][]float64, len(n.flows))
	return d, nil
}

// packet is the length of a full data frame, without FCS.
func (e *Experiment) packet() units.Size { return e.Parameters.Payload.Value.V + 58 }

// sample reads the counters at an instant.
func (d *dynamics) sample(now units.Time) {
	d.time = append(d.time, now)
	d.queue = append(d.queue, d.bottleneck.QueueBytes(d.port, d.n.prio))
	d.sent = append(d.sent, d.n.sent())
	d.rates = append(d.rates, d.rate(len(d.sent)-1))
	for i := range d.n.flows {
		d.flow[i] = append(d.flow[i], float64(d.n.flow(now, i).Rate))
	}
	if p := d.n.pauses(); p != d.pauses {
		d.pauses, d.lastPause = p, now
	}
	if w := d.e.Measure.Steady; now == w.From {
		d.begin = d.received()
	} else if now == w.To {
		d.end = d.received()
	}
}

// rate is the aggregate sending rate over the round-trip time that ends with a sample.
func (d *dynamics) rate(i int) float64 {
	back := max(1, int(d.rtt/d.e.Measure.Sample))
	if i < back {
		return float64(d.sent[i]) * 8 / d.time[i].Seconds()
	}
	before := uint64(0)
	if i > back {
		before = d.sent[i-back]
	}
	return float64(d.sent[i]-before) * 8 / (units.Time(back) * d.e.Measure.Sample).Seconds()
}

func (d *dynamics) received() []uint64 {
	r := make([]uint64, len(d.n.flows))
	for i := range d.n.flows {
		r[i] = d.n.received(i)
	}
	return r
}

// metrics evaluates what was watched.
func (d *dynamics) metrics() Metrics {
	m := Metrics{}
	for _, name := range dynamicsMetrics {
		m[name] = nil
	}
	set := func(name string, v float64) { m[name] = &v }
	capacity := float64(d.e.Parameters.LinkRate.Value.V)
	peak, peakAt := units.Size(0), 0
	converged := false
	for i, at := range d.time {
		if d.queue[i] > peak {
			peak, peakAt = d.queue[i], i
		}
		if !converged && at >= d.rtt && d.rates[i] <= 1.05*capacity {
			converged = true
			set("aggregate_rate_converged_s", at.Seconds())
		}
	}
	for i := peakAt; i < len(d.time); i++ {
		if d.queue[i] <= 10*d.packet {
			set("queue_drained_s", d.time[i].Seconds())
			break
		}
	}
	set("peak_queue_bytes", float64(d.bottleneck.QueuePeak(d.port, d.n.prio)))
	set("pause_frames", float64(d.pauses))
	if d.pauses > 0 {
		set("last_pause_s", d.lastPause.Seconds())
	}
	d.steady(set)
	return m
}

// steady evaluates the spans in which the experiment is called steady.
func (d *dynamics) steady(set func(string, float64)) {
	sum, samples := 0.0, 0
	for i, at := range d.time {
		if q := d.e.Measure.Queue; at > q.From && at <= q.To {
			sum += float64(d.queue[i])
			samples++
		}
	}
	set("steady_queue_bytes_mean", sum/float64(samples))
	w := d.e.Measure.Steady
	shares := make([]float64, len(d.begin))
	total := 0.0
	for i := range shares {
		shares[i] = float64(d.end[i]-d.begin[i]) * 8 / (w.To - w.From).Seconds()
		total += shares[i]
	}
	set("goodput_bps", total)
	set("jain", jain(shares))
}

// jain is the fairness index of Jain, Chiu and Hawe: 1 if all are equal, 1/n if
// one has everything.
func jain(x []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum += v
		squares += v * v
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(x)) * squares)
}

// Agree reports whether the two worlds' values of a metric are the same as far
// as they can be: within the largest of 20 %, one control period (times), ten
// packets (queues) and two frames (counts). Both may be absent.
func (e *Experiment) Agree(metric string, a, b *float64) bool {
	if a == nil || b == nil {
		return a == b
	}
	slack := 0.2 * max(math.Abs(*a), math.Abs(*b))
	switch {
	case metric == "pause_frames":
		slack = max(slack, 2)
	case len(metric) > 2 && metric[len(metric)-2:] == "_s":
		slack = max(slack, e.period().Seconds())
	case metric == "peak_queue_bytes" || metric == "steady_queue_bytes_mean":
		slack = max(slack, 10*float64(e.packet()))
	}
	return math.Abs(*a-*b) <= slack
}

// period is the control period of PCN in this network, the largest of all schemes'.
func (e *Experiment) period() units.Time {
	p, err := e.plan()
	if err != nil {
		return 0
	}
	flows, err := e.flows(p, e.Seed)
	if err != nil {
		return 0
	}
	return max(50*units.Microsecond, e.network(p, flows, 0).RTT)
}
