package metrics

import (
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"photon/dataplane"
	"photon/dataplane/dpdk"
	"photon/fabric"
	"photon/lldp"
	"photon/pfc"
	"photon/telemetry"
)

// collector turns snapshots into metrics.
type collector struct {
	source  *telemetry.Source
	series  Series
	version string

	flowRates rates // over all scrapes
}

// rates are those of flows, as they were seen at scrapes: a histogram that only grows.
type rates struct {
	sync.Mutex
	some   bool // scrapes there were
	last   time.Time
	counts [len(telemetry.RateBounds) + 1]uint64
	sum    float64
}

// see samples the flows, at most once a second: several scrapers get the samples that one would get.
func (r *rates) see(now time.Time, flows *telemetry.Survey) (counts []uint64, sum float64) {
	r.Lock()
	defer r.Unlock()
	if !r.some || now.Sub(r.last) >= time.Second {
		r.some, r.last = true, now
		for i, n := range flows.Rates {
			r.counts[i] += n
		}
		r.sum += float64(flows.Sum) / 8
	}
	return slices.Clone(r.counts[:]), r.sum
}

// Collector makes metrics of what the source says at every scrape.
func Collector(source *telemetry.Source, series Series, version string) prometheus.Collector {
	return &collector{source: source, series: series, version: version}
}

// Describe implements prometheus.Collector: the metrics vary with the node.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	s := c.source.Snapshot()
	s.Node, s.Ports = label(s.Node), slices.Clone(s.Ports)
	for i, name := range s.Ports {
		s.Ports[i] = label(name)
	}
	scrape := scrape{out, &s, c.series, lossless(&s)}
	for i := range s.Numbers() {
		scrape.port(i)
	}
	if s.Host {
		scrape.host()
	}
	if s.NIC {
		scrape.nic()
	}
	if c.source.Flows != nil {
		flows := c.source.Flows(c.series.Flows)
		counts, sum := c.flowRates.see(time.Now(), flows)
		scrape.histogram(rpRate, counts, sum, s.Node)
		scrape.flows(flows)
	}
	for i := range s.Numbers() {
		if i < len(s.Devices) && s.Devices[i].Spec != "" { // else it is being closed
			scrape.device(i)
		}
	}
	kind := "switch"
	if s.Host {
		kind = "agent"
	}
	if b := s.Buffer; b != nil {
		scrape.put(lossySize, float64(b.Lossy), s.Node)
		scrape.put(lossyUsed, float64(b.LossyUsed), s.Node)
		scrape.put(lossyPeak, float64(b.LossyPeak), s.Node)
		scrape.put(allHeadroomSize, float64(b.Headroom), s.Node)
		scrape.put(allHeadroomUsed, float64(b.HeadUsed), s.Node)
		scrape.put(allHeadroomPeak, float64(b.HeadPeak), s.Node)
	}
	if !s.Host {
		for i, name := range dataplane.NeighbourStates {
			scrape.put(neighbours, float64(s.Stats.Neighbours[i]), s.Node, name)
		}
		scrape.put(unanswered, float64(s.Stats.NeighbourFailures), s.Node)
		scrape.put(fdbUnlearned, float64(s.Stats.Unlearned), s.Node)
	}
	if c.source.Addresses != nil {
		known, places := c.source.Addresses()
		scrape.put(fdbKnown, float64(known), s.Node)
		scrape.put(fdbPlaces, float64(places), s.Node)
	}
	for i := range s.Polls {
		scrape.polls(i)
	}
	if s.Response > 0 {
		scrape.put(gapPlanned, s.Response.Seconds(), s.Node)
	}
	if !s.Host {
		scrape.put(gapSurvived, s.Survived.Seconds(), s.Node)
	}
	scrape.put(rounds, float64(s.Pace.Rounds), s.Node)
	scrape.put(gapLongest, s.Pace.LongestGap.Seconds(), s.Node)
	scrape.put(info, 1, s.Node, kind, s.Scheme)
	scrape.put(build, 1, c.version, runtime.Version(), dpdk.Version())
}

// scrape is a snapshot on its way out.
type scrape struct {
	out      chan<- prometheus.Metric
	s        *telemetry.Snapshot
	series   Series
	lossless uint8 // priorities of which frames may be lossless, as bits
}

// label is a name as it may be the value of a label. Prometheus takes UTF-8 only, and the names of interfaces may be
// any bytes: those that are none of UTF-8 are written as in Go, so that names that differ still do.
func label(name string) string {
	if utf8.ValidString(name) {
		return name
	}
	quoted := strconv.Quote(name)
	return quoted[1 : len(quoted)-1]
}

// lossless are the priorities of which frames may be lossless: all, where they come through a port that sends PAUSE.
func lossless(s *telemetry.Snapshot) uint8 {
	if b := s.Buffer; b != nil {
		for i := range s.Numbers() {
			if b.Ports[i] != 0 && b.PFC[i] == 0 {
				return 0xFF
			}
		}
	}
	return s.Lossless
}

func (c *scrape) put(m *metric, v float64, labels ...string) {
	t := prometheus.GaugeValue
	if m.kind == counterKind {
		t = prometheus.CounterValue
	}
	c.out <- prometheus.MustNewConstMetric(m.desc, t, v, labels...)
}

func (c *scrape) port(i int) {
	p, node, name := &c.s.Stats.Ports[i], c.s.Node, c.s.Ports[i]
	c.put(rxControl, float64(p.RxControl), node, name)
	c.put(txControl, float64(p.TxControl), node, name)
	c.put(rxBad, float64(p.BadControl), node, name)
	c.put(pfcIgnored, float64(p.Egress.Ignored), node, name)
	if !c.s.Host {
		c.put(routed, float64(p.Routed), node, name)
		c.put(icmpSent, float64(p.ICMPSent), node, name)
		c.put(icmpLimited, float64(p.ICMPLimited), node, name)
	}
	if i < len(c.s.Residences) {
		r := &c.s.Residences[i]
		c.histogram(residence, r.Counts[:], r.Time.Seconds(), node, name)
	}
	if !c.s.Host {
		c.impaired(i)
	}
	if b := c.s.Buffer; b != nil && b.Shapers[i].Rate > 0 {
		c.put(portShaped, float64(p.PortShaped), node, name)
		c.put(portRate, float64(b.Shapers[i].Rate)/8, node, name)
	}
	if b := c.s.Buffer; b != nil && (b.Limits[i].Limit > 0 || b.Limits[i].Alpha > 0) {
		c.put(lossyPortLimit, float64(b.Limits[i].Now), node, name)
		c.put(lossyByPort, float64(b.Limits[i].Used), node, name)
	}
	if i < len(c.s.LLDP) && c.s.LLDP[i].On {
		c.lldp(i)
	}
	if p.Credits.Lanes != 0 {
		c.put(creditTx, float64(p.Credits.Sent), node, name)
		c.put(creditRx, float64(p.Credits.Received), node, name)
	}
	for prio := range pfc.Classes {
		if c.series.Priorities>>prio&1 == 0 {
			continue
		}
		labels := [4]string{node, name, strconv.Itoa(prio)}
		put := func(m *metric, v float64) { c.put(m, v, labels[:3]...) }
		put(rxPackets, float64(p.RxFrames[prio]))
		put(rxBytes, float64(p.RxBytes[prio]))
		put(txPackets, float64(p.TxFrames[prio]))
		put(txBytes, float64(p.TxBytes[prio]))
		if k := &p.Credits; k.Lanes>>prio&1 != 0 {
			put(creditWaits, float64(k.Waits[prio]))
			put(creditWaited, k.Waited[prio].Seconds())
			put(creditWaiting, float64(k.Waiting>>prio&1))
			put(creditBlocks, float64(k.Credits[prio]))
			put(creditLost, float64(k.Lost[prio]))
		}
		put(pfcRxFrames, float64(p.Egress.Received(prio)))
		put(pfcRxPaused, p.Egress.Paused[prio].Seconds())
		put(pfcRxChanges, float64(p.Egress.Transitions[prio]))
		lossless := c.lossless>>prio&1 != 0
		for reason := range fabric.Reasons {
			if n := p.Discards[reason][prio]; n > 0 || lossless && costly(reason, c.s) {
				labels[3] = reason.String()
				c.put(discards, float64(n), labels[:]...)
			}
		}
		if !c.s.Host || c.s.NIC {
			c.carrier(i, prio, put)
		}
		if !c.s.Host {
			c.queue(i, prio, put)
		}
		if at, lost := c.s.FirstLoss(i, prio); !c.s.Host && (lossless || lost) {
			first := 0.0
			if lost {
				first = float64(at.UnixMicro()) / 1e6
			}
			put(lostFirst, first)
		}
		if w, b := c.s.Watchdog, c.s.Buffer; w.Detect > 0 && b != nil && b.PFC[i]>>prio&1 != 0 {
			for action, storms := range p.Watchdog.Under {
				if action := pfc.Action(action); action == w.Action || storms[prio] > 0 {
					labels[3] = action.String()
					c.put(watchdogStorms, float64(storms[prio]), labels[:]...)
				}
			}
			put(watchdogRestored, float64(p.Watchdog.Restored[prio]))
			put(watchdogTime, p.Watchdog.Time[prio].Seconds())
			put(watchdogNow, float64(p.Watchdog.Storm>>prio&1))
		}
	}
}

// lldp is what a port with LLDP sent, received and found.
func (c *scrape) lldp(i int) {
	p, node, name := &c.s.LLDP[i], c.s.Node, c.s.Ports[i]
	c.put(lldpNeighbours, float64(len(p.Neighbours)), node, name)
	c.put(lldpRx, float64(p.Counts.Received), node, name)
	c.put(lldpTx, float64(p.Counts.Sent), node, name)
	c.put(lldpBad, float64(p.Malformed), node, name)
	c.put(lldpLost, float64(p.Counts.Lost), node, name)
	for f, n := range p.Mismatches() {
		c.put(dcbxMismatch, float64(min(n, 1)), node, name, lldp.Feature(f).String())
	}
}

// impaired are the counts of a port's frames to which something was done on purpose.
func (c *scrape) impaired(i int) {
	m := &c.s.Stats.Ports[i].Impaired
	for _, n := range []struct {
		action string
		frames uint64
	}{
		{"lose", m.Lost}, {"duplicate", m.Duplicated}, {"reorder", m.Reordered}, {"delay", m.Delayed},
		{"corrupt", m.Corrupted + m.CorruptedLost}, {"mark", m.Marked}, {"pause", m.Pauses},
	} {
		if n.frames > 0 {
			c.put(impaired, float64(n.frames), c.s.Node, c.s.Ports[i], n.action)
		}
	}
}

// costly are the reasons by which a lossless priority loses frames. Their series
// begin with 0, so that the first loss is an increase to Prometheus.
func costly(r fabric.Reason, s *telemetry.Snapshot) bool {
	switch {
	case s.NIC && r == fabric.DropHeadroom:
		return true
	case s.Host:
		return r == fabric.DropSequence || r == fabric.DropBadICRC || r == fabric.DropBadIP || r == fabric.DropTable
	}
	return r.Loses()
}

// carrier is what switches, and NICs of applications, have of a port and
// priority: others' frames wait in them.
func (c *scrape) carrier(port, prio int, put func(*metric, float64)) {
	p := &c.s.Stats.Ports[port]
	put(pfcTxFrames, float64(p.Ingress.Pauses[prio]+p.Ingress.Resumes[prio]))
	put(pfcTxPaused, p.Ingress.Paused[prio].Seconds())
	put(pfcTxChanges, float64(p.Ingress.Transitions[prio]))
	put(queueBytes, float64(p.QueueBytes[prio]))
	put(queuePeak, float64(p.QueuePeak[prio]))
	put(ingressBytes, float64(p.Buffered[prio]))
	put(ingressPeak, float64(p.Ingress.Peak[prio]))
}

// queue is what only switches have of a port and priority.
func (c *scrape) queue(port, prio int, put func(*metric, float64)) {
	p := &c.s.Stats.Ports[port]
	if b := c.s.Buffer; b != nil {
		q := &b.Queues[port][prio]
		if q.Shaper.Rate > 0 {
			put(shaped, float64(p.Shaped[prio]))
			put(shapedRate, float64(q.Shaper.Rate)/8)
		}
		if q.Min > 0 {
			put(queueMin, float64(q.Min))
		}
		if q.Alpha > 0 {
			put(queueAlpha, q.Alpha)
		}
	}
	put(ecnPackets, float64(p.Marked[prio]))
	put(ecnBytes, float64(p.MarkedBytes[prio]))
	put(undetermined, float64(p.Undetermined[prio]))
	put(cnmSent, float64(p.CNMs[prio]))
	put(cnpSent, float64(p.CNPs[prio]))
	if b := c.s.Buffer; b != nil && b.Ports[port]>>prio&1 != 0 {
		t := b.Thresholds[port][prio]
		put(xoffBytes, float64(t.XOFF))
		put(headroomSize, float64(t.Headroom))
		put(headroomUsed, float64(p.Ingress.Headroom[prio]))
		put(headroomPeak, float64(p.Ingress.HeadroomMax[prio]))
		if c.s.Deadlock > 0 && b.PFC[port]>>prio&1 != 0 {
			put(deadlocks, float64(p.Deadlocks[prio]))
			put(deadlockNow, float64(p.Deadlocked>>prio&1))
		}
	}
}

// host is what only agents have.
func (c *scrape) host() {
	st, node := &c.s.Stats, c.s.Node
	c.put(npMarked, float64(st.NPMarked), node)
	c.put(npSent, float64(st.NPSent), node)
	c.put(rpHandled, float64(st.RPHandled), node)
	c.put(rpIgnored, float64(st.RPIgnored), node)
	c.put(flowsStarted, float64(st.FlowsBegun), node)
	c.put(done, float64(st.FlowsDone), node)
	if c.s.NIC {
		return // it sends no flows of its own
	}
	c.put(ackTimeouts, float64(st.Timeouts), node)
	c.put(naks, float64(st.NAKs), node)
	c.histogram(fcts, st.FCTs[:], st.FCTSum.Seconds(), node)
	if f := c.s.Orders; f != nil {
		c.put(pending, float64(f.Pending), node)
		c.put(running, float64(f.Running), node)
		c.put(refused, float64(f.Refused), node)
		c.put(failed, float64(f.Failed), node)
	}
}

func (c *scrape) flows(flows *telemetry.Survey) {
	node := c.s.Node
	c.put(rpFlows, float64(flows.Active), node)
	c.put(rpAllowed, float64(flows.Sum)/8, node)
	c.put(limited, float64(flows.Limited), node)
	seen := map[string]bool{}
	for i := range flows.Top {
		f := &flows.Top[i]
		// Programs' flows come and go, and have other names. A flow that began while others were looked at may have the
		// queue pair of one that has ended since; a series twice would spoil the scrape.
		if f.From != "" || seen[f.Name()] {
			continue
		}
		seen[f.Name()] = true
		labels := []string{node, f.Peer, strconv.Itoa(int(f.QP))}
		c.put(flowRate, float64(f.Rate)/8, labels...)
		c.put(flowBytes, float64(f.Bytes), labels...)
		c.put(flowCNPs, float64(f.Notified), labels...)
	}
}

// histogram puts counts, each of what is at most the metric's bound of the same
// place and above the one before; the last are above all.
func (c *scrape) histogram(m *metric, counts []uint64, sum float64, labels ...string) {
	buckets, total := make(map[float64]uint64, len(m.buckets)), uint64(0)
	for i, bound := range m.buckets {
		total += counts[i]
		buckets[bound] = total
	}
	total += counts[len(m.buckets)]
	c.out <- prometheus.MustNewConstHistogram(m.desc, total, sum, buckets, labels...)
}

func (c *scrape) device(i int) {
	d, node, port := &c.s.Devices[i], c.s.Node, c.s.Ports[i]
	up := 0.0
	if d.LinkUp {
		up = 1
	}
	c.put(devUp, up, node, port)
	if !c.s.Host {
		open := 1.0
		if i < len(c.s.Shut) && c.s.Shut[i] {
			open = 0
		}
		c.put(devAdmin, open, node, port)
	}
	if i < len(c.s.Rates) {
		c.put(devRate, float64(c.s.Rates[i])/8, node, port)
	}
	c.put(devFlow, 1, node, port, d.FlowControl.String())
	c.put(devAttached, float64(d.Attached), node, port)
	c.put(devBefore, float64(d.RxBefore), node, port)
	c.put(devMissed, float64(d.RxMissed), node, port)
	c.put(devNoBuffer, float64(d.RxNoBuffer), node, port)
	c.put(devErrors, float64(d.RxErrors), node, port, "rx")
	c.put(devErrors, float64(d.TxErrors), node, port, "tx")
	c.put(devTooLong, float64(d.RxTooLong), node, port)
	c.put(devSeveral, float64(d.RxSeveral), node, port)
	c.put(devOpen, float64(d.RxOpen), node, port)
	c.put(devTxTooLong, float64(d.TxTooLong), node, port)
	c.put(devTxDropped, float64(d.TxDropped), node, port)
}

// polls is how a worker polled.
func (c *scrape) polls(i int) {
	p, node, worker := &c.s.Polls[i], c.s.Node, strconv.Itoa(i)
	c.histogram(pollGap, p.Gaps[:], p.Time.Seconds(), node, worker)
	c.histogram(gapSlept, p.Slept[:], p.SleptTime.Seconds(), node, worker)
	c.histogram(commandTime, p.Requests[:], p.RequestTime.Seconds(), node, worker)
	c.histogram(rxBurst, append(p.Rx[:], 0), float64(p.RxFrames), node, worker)
	c.histogram(txBurst, append(p.Tx[:], 0), float64(p.TxFrames), node, worker)
}

func burstBounds() (b []float64) {
	for i := range dpdk.BurstBounds {
		b = append(b, float64(int(1)<<i))
	}
	return b
}
