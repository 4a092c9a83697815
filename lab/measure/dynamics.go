package measure

import (
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/units"
)

// Metrics maps a metric to its value; nil: it never happened.
type Metrics map[string]*float64

// dynamics watches a network for the measurement of that name.
type dynamics struct {
	e          *experiment.Experiment
	n          *build.Network
	bottleneck build.Switch
	port       int
	capacity   units.Rate
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

func watchDynamics(e *experiment.Experiment, n *build.Network) (*dynamics, error) {
	node, port, err := n.Plan.Port(e.Measure.From, e.Measure.To)
	if err != nil {
		return nil, err
	}
	d := &dynamics{e: e, n: n, bottleneck: n.Switches[node], port: port, packet: e.Packet()}
	d.capacity = n.Plan.Nodes[node].Ends[port].Link.Rate
	seen := map[topology.Pair]bool{} // ways that are the same are as long
	for _, f := range n.Flows.All() {
		if pair := n.Plan.PairOf(f.From, f.To); !seen[pair] {
			seen[pair] = true
			d.rtt = max(d.rtt, 2*n.Plan.Delay(f.From, f.To))
		}
	}
	d.flow, d.begin = make([][]float64, n.Flows.Len()), make([]uint64, n.Flows.Len()) // nothing had arrived at time 0
	return d, nil
}

// sample reads the counters at an instant.
func (d *dynamics) sample(now units.Time) {
	d.time = append(d.time, now)
	d.queue = append(d.queue, d.bottleneck.QueueBytes(d.port, d.n.Priority))
	d.sent = append(d.sent, d.n.DataSent())
	d.rates = append(d.rates, d.rate(len(d.sent)-1))
	for i := range d.flow {
		d.flow[i] = append(d.flow[i], float64(d.n.Flow(now, i).Rate))
	}
	if p := d.n.Pauses(); p != d.pauses {
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
	return float64(d.sent[i]-d.sent[i-back]) * 8 / (units.Time(back) * d.e.Measure.Sample).Seconds()
}

func (d *dynamics) received() []uint64 {
	r := make([]uint64, d.n.Flows.Len())
	for i := range r {
		r[i] = d.n.Received(i)
	}
	return r
}

// metrics evaluates what was watched.
func (d *dynamics) metrics() Metrics {
	m := Metrics{}
	for _, name := range experiment.DynamicsMetrics {
		m[name] = nil
	}
	set := func(name string, v float64) { m[name] = &v }
	capacity := float64(d.capacity)
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
	set("peak_queue_bytes", float64(d.bottleneck.QueuePeak(d.port, d.n.Priority)))
	set("pause_frames", float64(d.pauses))
	if d.pauses > 0 {
		set("last_pause_s", d.lastPause.Seconds())
	}
	d.steady(set)
	return m
}

// steady evaluates the spans in which the experiment is called steady. A run that ended before has no value of them.
func (d *dynamics) steady(set func(string, float64)) {
	sum, samples := 0.0, 0
	for i, at := range d.time {
		if q := d.e.Measure.Queue; at > q.From && at <= q.To {
			sum += float64(d.queue[i])
			samples++
		}
	}
	if samples > 0 {
		set("steady_queue_bytes_mean", sum/float64(samples))
	}
	if d.end == nil {
		return
	}
	w := d.e.Measure.Steady
	shares := make([]float64, len(d.begin))
	total := 0.0
	for i := range shares {
		shares[i] = float64(d.end[i]-d.begin[i]) * 8 / (w.To - w.From).Seconds()
		total += shares[i]
	}
	set("goodput_bps", total)
	if total > 0 {
		set("jain", jain(shares))
	}
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
