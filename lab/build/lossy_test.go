package build

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"photon/lab/experiment"
	"photon/scheme"
	"photon/sim"
	"photon/units"
)

// Without lossless priorities switches discard what has no room. Every flow arrives all the same, under every scheme, with
// either kind of recovery and on any paths; no PAUSE is sent; and each packet that hosts sent arrived at one, or was
// discarded and counted. In three parts happens what happens in one.
func TestWithoutLossless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawLossy(t)
		hashes := map[uint64]bool{}
		for _, parts := range []int{1, 3} {
			hash, err := runLossy(text, parts)
			if err != nil {
				t.Fatalf("%v, in %d parts\n%s", err, parts, text)
			}
			hashes[hash] = true
		}
		if len(hashes) > 1 {
			t.Fatalf("other frames in three parts than in one\n%s", text)
		}
	})
}

func drawLossy(t *rapid.T) string {
	topology := pick(t, "topology", "star, hosts: 6", "chain, switches: 2, hosts: 3", "leaf-spine, tors: 2, hosts: 3, spines: 2")
	name := pick(t, "scheme", scheme.Names()...)
	rates := []string{"10Gbps", "25Gbps", "100Gbps"}
	if name == "hpcc" || name == "powertcp" {
		rates = rates[1:] // that INT can name
	}
	p := []string{
		"link_rate: " + pick(t, "link_rate", rates...), "host_delay: " + pick(t, "host_delay", "1us", "20us"), "trunk_delay: 2us",
		"payload: 1000B, mtu: 1500B, priority: 3, lossless: [], buffer: " + pick(t, "buffer", "30KB", "200KB", "2MB"),
		"ack_timeout: " + pick(t, "ack_timeout", "500us", "2ms"), "paths: " + pick(t, "paths", "flow", "random", "queue"),
	}
	if rapid.Bool().Draw(t, "queues") {
		p = append(p, "lossy_queue: "+pick(t, "lossy_queue", "2KB", "20KB", "100KB"))
	}
	if rapid.Bool().Draw(t, "alpha") {
		p = append(p, "lossy_alpha: "+pick(t, "lossy_alpha", "0.125", "1", "8"))
	}
	if rapid.Bool().Draw(t, "ingress") {
		p = append(p, "lossy_ingress: "+pick(t, "lossy_ingress", "5KB", "50KB"))
	}
	if rapid.Bool().Draw(t, "selective") {
		p = append(p, "recovery: selective")
		if rapid.Bool().Draw(t, "low") {
			p = append(p, "low_timeout: 200us")
		}
	}
	if rapid.Bool().Draw(t, "ack_each") {
		p = append(p, "ack_each: true")
	}
	hosts := []string{"H0", "H1", "H2", "H3", "H4", "H5"}
	if strings.HasPrefix(topology, "chain") {
		hosts = []string{"H0-0", "H0-1", "H0-2", "H1-0", "H1-1", "H1-2"}
	}
	var flows []string
	for i := range rapid.IntRange(1, 8).Draw(t, "flows") {
		to := pick(t, "to", hosts[:2]...)
		from := pick(t, "from", slices.DeleteFunc(slices.Clone(hosts), func(h string) bool { return h == to })...)
		flows = append(flows, fmt.Sprintf("{name: f%d, from: %s, to: %s, size: %dB, start: %dus}", i, from, to, pick(t, "size", 1, 999, 3000, 100_000, 1_000_000), rapid.IntRange(0, 50).Draw(t, "start")))
	}
	return fmt.Sprintf("id: test/lossy\ntitle: lossy\nduration: 100s\ntopology: {kind: %s}\nparameters: {%s}\nflows: [%s]\nschemes: [%s]\nmeasure: {sample: 1ms}\n",
		topology, strings.Join(p, ", "), strings.Join(flows, ", "), name)
}

// runLossy runs until all flows have ended and the network is empty.
func runLossy(text string, parts int) (hash uint64, err error) {
	e, err := experiment.Parse("lossy.yaml", []byte(text))
	if err != nil {
		return 0, err
	}
	w := sim.New()
	w.SetParts(parts)
	n, err := Build(e, w, e.Schemes[0], 1, Observer{})
	if err != nil {
		return 0, err
	}
	if err := n.Schedule(e); err != nil {
		return 0, err
	}
	left := func() (list []int) {
		n.Collect()
		for i := range n.Flows.Len() {
			if !n.Flows.At(i).Done {
				list = append(list, i)
			}
		}
		return list
	}
	for until := 10 * units.Millisecond; ; until *= 2 {
		if err := w.Run(context.Background(), until); err != nil {
			return 0, err
		}
		if len(left()) == 0 {
			break
		}
		if until > 20*units.Second {
			return 0, fmt.Errorf("flows %v have not ended after %v", left(), until)
		}
	}
	hash, _ = w.Hash()
	if err := w.Run(context.Background(), w.Now()+10*units.Millisecond); err != nil {
		return 0, err
	}
	if err := w.Audit(); err != nil {
		return 0, err
	}
	return hash, n.reconcile()
}

// reconcile compares what hosts sent of data with what arrived and what was discarded on the way.
func (n *Network) reconcile() error {
	now, prio := n.World.Now(), n.Priority
	sent, arrived, discarded, waiting := uint64(0), uint64(0), n.Discarded(), uint64(0)
	for i := range n.Flows.Len() {
		sent += n.Flow(now, i).Frames
	}
	for _, h := range n.Hosts {
		st := h.Stats(now)
		arrived += st.Ports[0].RxFrames[prio]
		if tx := st.Ports[0].Egress.Pauses; tx != [8]uint64{} {
			return fmt.Errorf("a host was paused: %v", tx)
		}
	}
	acknowledgements := uint64(0) // that were discarded
	for _, s := range n.Switches {
		for port := range s.Ports() {
			for other := range 8 {
				if other != prio {
					acknowledgements += s.Discarded(port, other)
				}
			}
			if s.Ports() > 0 && s.Stats(now).Ports[port].QueueFrames != [8]uint64{} {
				waiting++
			}
		}
	}
	switch lost, _ := n.Lost(); {
	case lost != 0:
		return fmt.Errorf("%d frames of lossless priorities were lost, and there are none", lost)
	case n.Pauses() != 0:
		return fmt.Errorf("%d XOFF frames were sent", n.Pauses())
	case waiting != 0:
		return fmt.Errorf("frames wait at %d ports", waiting)
	case sent != arrived+discarded-acknowledgements:
		return fmt.Errorf("%d packets were sent, %d arrived, %d were discarded", sent, arrived, discarded-acknowledgements)
	}
	return nil
}

// A scheme marks in a network without PFC as it does in one with it, as long as nothing is discarded and nothing paused.
func TestMarkedWithoutLossless(t *testing.T) {
	const text = `
id: test/marks
title: marks
duration: 20ms
topology: {kind: star, hosts: 5}
parameters: {link_rate: 25Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, lossless: %s, xoff: 10MB, lossy_queue: 20MB, buffer: 64MB}
flows: [{name: all, from: H0..H3, to: H4, size: 1MB}]
schemes: [%s]
measure: {sample: 1ms}
`
	for _, name := range scheme.Names() {
		var hashes [2]uint64
		marked := uint64(0)
		for i, lossless := range []string{"[3]", "[]"} {
			n, w := ranTraining(t, fmt.Sprintf(text, lossless, name), 1, 20*units.Millisecond)
			hashes[i], _ = w.Hash()
			lastEnd(t, n)
			for port := range n.Switches[0].Ports() {
				ce, ue := n.Switches[0].Marked(port, 3)
				marked += ce + ue
			}
		}
		if hashes[0] != hashes[1] {
			t.Errorf("%s: other frames without PFC than with it, although nothing was paused or discarded", name)
		}
		if name == "dcqcn" && marked == 0 {
			t.Errorf("%s: nothing was marked", name)
		}
	}
}

// Flows are data whatever priority their DSCP gives them: the scheme looks at them, and a probe without a priority sees
// their queue, as if that priority were the experiment's.
func TestFlowsOfAnotherLossyPriority(t *testing.T) {
	const text = `
id: test/other
title: another priority
duration: 5ms
topology: {kind: star, hosts: 5}
parameters: {link_rate: 25Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: %d,
  lossless: [], xoff: 10MB, lossy_queue: 20MB, buffer: 64MB}
flows: [{name: all, from: H0..H3, to: H4, size: 1MB%s}]
schemes: [%s]
measure: {sample: 1ms}
`
	for _, name := range scheme.Names() {
		var hashes, hops [2]uint64
		for i, of := range []struct {
			priority int
			dscp     string
		}{{4, ""}, {3, ", dscp: 34"}} {
			n, w := ranTraining(t, fmt.Sprintf(text, of.priority, of.dscp, name), 1, 5*units.Millisecond)
			hashes[i], _ = w.Hash()
			_, hops[i] = n.Lost()
		}
		if hashes[0] != hashes[1] || hops[0] != hops[1] {
			t.Errorf("%s: other frames if priority 4 is the flows' than if it is the experiment's: hashes %x, hops %d",
				name, hashes, hops)
		}
	}
}

// With PFC a packet may wait behind pauses for longer than its sender does. It comes twice then, and that is no loss.
func TestImpatientSendersLoseNothing(t *testing.T) {
	const text = `
id: test/impatient
title: impatient
duration: 50ms
topology: {kind: star, hosts: 9}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 20KB, buffer: 4MB, recovery: selective, window: 50, ack_timeout: 40us, low_timeout: 10us}
flows: [{name: all, from: H0..H7, to: H8, size: 50KB}]
schemes: [none]
measure: {sample: 1ms}
`
	n, w := ranTraining(t, text, 1, 50*units.Millisecond)
	lastEnd(t, n)
	again := repeatedIn(n, 50)
	lost, _ := n.Lost()
	loss, found := n.FirstLoss()
	if lost > 0 || found || again == 0 || n.Pauses() == 0 {
		t.Errorf("%d lost, the first %+v; %d sent again, %d pauses", lost, loss, again, n.Pauses())
	}
	if err := w.Audit(); err != nil {
		t.Error(err)
	}
}

// In a deadlock acknowledgements may wait for ever that other data still can be sent for: so it comes twice, and that is no
// loss.
func TestDeadlockLosesNothing(t *testing.T) {
	const text = `
id: test/deadlock
title: deadlock
duration: 200ms
topology: {kind: dragonfly, switches: 2, hosts: 1, global: 1}
parameters:
  link_rate: 400Gbps
  trunk_rate: 56Gbps
  host_delay: 20us
  trunk_delay: 20us
  payload: 100B
  mtu: 1500B
  priority: 3
  buffer: 40MB
  start_phase: 0s
  ack_each: true
  ack_priority: 3
  xoff: 3000B
flows:
  - {name: g0, from: H0..H1, to: H2, start: 37us, size: 30KB}
  - {name: g1, from: H4, to: H0, start: 21us, size: 30KB, spread: 50us}
workloads:
  - {name: w, sizes: pareto, mean: 20KB, shape: 1.2, from: "*", to: "*", load: 0.4, capacity: 100Gbps, end: 200us, messages: true}
collectives:
  - {name: c, do: all-gather, repeat: 2, hosts: "*", size: 100KB}
schemes: [dcqcn]
measure: {sample: 10ms}
`
	n, w := ranTraining(t, text, 1, 200*units.Millisecond)
	n.Collect()
	open := 0
	for i := range n.Flows.Len() {
		if !n.Flows.At(i).Done {
			open++
		}
	}
	lost, _ := n.Lost()
	if loss, found := n.FirstLoss(); lost > 0 || found || n.timeouts() == 0 || open == 0 {
		t.Errorf("%d lost, the first %+v; %d timeouts, %d flows that have not ended", lost, loss, n.timeouts(), open)
	}
	if err := w.Audit(); err != nil {
		t.Error(err)
	}
}

// Acknowledgements of a lossy priority may be lost. What came is repeated then, and that it comes again is no loss.
func TestLostAcknowledgementsLoseNothing(t *testing.T) {
	const text = `
id: test/acknowledgements
title: acknowledgements
duration: 1s
topology: {kind: star, hosts: 6}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, xoff: 20KB, buffer: 4MB, lossy_queue: 1.1KB, ack_each: true, recovery: %s%s}
flows:
  - {name: lossy, from: H0..H3, to: H4, size: 2MB, dscp: %d}
  - {name: data, from: H4, to: H5, size: 10KB, repeat: 100, gap: 1us}
schemes: [none]
measure: {sample: 1ms}
`
	for _, of := range []struct {
		priority string
		dscp     int
	}{{", ack_priority: 1", 8}, {"", 48}} {
		for _, recovery := range []string{"go_back_n", "selective"} {
			n, w := ranTraining(t, fmt.Sprintf(text, recovery, of.priority, of.dscp), 1, units.Second)
			lastEnd(t, n)
			again := uint64(0)
			for i := range n.Flows.Len() {
				if f := n.Flows.At(i); n.Plan.Nodes[f.From].Name == "H4" {
					again += f.Frames - 10
				}
			}
			lost, _ := n.Lost()
			loss, found := n.FirstLoss()
			if lost > 0 || found || again == 0 || n.Discarded() == 0 {
				t.Errorf("dscp %d, %s: %d lost, the first %+v; %d sent again, %d discarded",
					of.dscp, recovery, lost, loss, again, n.Discarded())
			}
			if err := w.Audit(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Data of a priority that is not among the lossless ones is lossy, whatever others are: it is discarded and repeated, and
// nothing is paused for it.
func TestLossyBesideALosslessPriority(t *testing.T) {
	text := `id: test/lossy
title: lossy
duration: 100s
topology: {kind: star, hosts: 5}
parameters:
  {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, lossless: [4],
  xoff: 10KB, buffer: 500KB, ack_timeout: 500us}
flows: [{name: f, from: H0..H3, to: H4, size: 500KB}]
schemes: [none]
measure: {sample: 1ms}
`
	if _, err := runLossy(text, 1); err != nil {
		t.Error(err)
	}
	if _, err := runLossy(strings.Replace(text, "[4]", "[3, 4]", 1), 1); err == nil || !strings.Contains(err.Error(), "paused") {
		t.Errorf("were it lossless it would be paused: %v", err)
	}
}
