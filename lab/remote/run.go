package remote

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"photon/lab/build"
	"photon/lab/experiment"
	"photon/lab/nodecontrol"
	"photon/lab/topology"
	"photon/pfc"
	"photon/scheme"
	"photon/telemetry/node"
	"photon/units"
)

// Start starts or reaches every node of an experiment, and sets its scheme. Stop disconnects from them.
func Start(ctx context.Context, e *experiment.Experiment, t nodecontrol.Testbed, use experiment.SchemeUse, seed uint64) (*Run, error) {
	p, all, err := testbedPlan(e, seed)
	if err != nil {
		return nil, err
	}
	b := newRun(e, p, all)
	if err := b.start(ctx, t, use, seed); err != nil {
		if why := b.Stop(); why != nil {
			err = fmt.Errorf("%w; %w", err, why)
		}
		return nil, err
	}
	return b, nil
}

func newRun(e *experiment.Experiment, p *topology.Plan, all *experiment.FlowList) *Run {
	return &Run{
		e: e, plan: p, routes: p.RoutesOver(nil, e.Parameters.Weighted()), all: all, flows: all.List(),
		sends: map[int][]int{}, drainTime: drainTime,
	}
}

// Stop disconnects from the nodes, and returns the first error.
func (b *Run) Stop() (err error) {
	for _, n := range b.nodes {
		if stopErr := n.Stop(); err == nil {
			err = stopErr
		}
	}
	return err
}

// Play replays the recordings for those who watch the network.
func (b *Run) Play() { Play(b.network, b.e.Duration) }

// Balanced reports whether every node accounts for its frames.
func (b *Run) Balanced() bool { return b.unbalanced == "" }

// Notes are remarks of the nodes for the report.
func (b *Run) Notes() []string { return b.notes }

// Skew bounds how far the nodes' clocks are from this machine's, until the run was read.
func (b *Run) Skew() units.Time { return b.skew }

// Late is by how much the nodes took samples after their time, at most.
func (b *Run) Late() units.Time { return b.late }

// Run is a run on a testbed.
type Run struct {
	e      *experiment.Experiment
	plan   *topology.Plan
	routes *topology.Routes
	all    *experiment.FlowList
	flows  []experiment.Flow      // of all, by their numbers
	nodes  []*nodecontrol.Running // by node of the plan
	sends  map[int][]int          // flows of a host that sends, in the order of its numbers
	first  []uint64               // by node: number of the first of them
	begin  units.Time             // this machine's
	skew   units.Time
	late   units.Time // by how much a node took a sample after its time, at most

	network       *build.Network
	unbalanced    string
	notes         []string
	before, final counted       // what nodes have counted until the run begins, and in all
	drainTime     time.Duration // frames may move for so long after a run
}

// start has every node there, with the scheme, and waits until the switches know
// where the hosts are. No node changes before all are known to suit the experiment.
func (b *Run) start(ctx context.Context, t nodecontrol.Testbed, use experiment.SchemeUse, seed uint64) error {
	for i := range b.flows {
		f := &b.flows[i]
		b.sends[f.From] = append(b.sends[f.From], i)
	}
	known := b.e.Known(b.plan, b.all, 0)
	for i := range b.plan.Nodes {
		node := &b.plan.Nodes[i]
		known.Seed = seed<<20 ^ uint64(i)
		if known.Line = b.e.Parameters.LinkRate.Value.V; node.Host {
			known.Line = node.Ends[0].Link.Rate
		}
		s, err := schemeIn(use, known)
		if err != nil {
			return err
		}
		w := specOf(b.plan, i)
		if data := b.e.DataMask(); data != b.e.Parameters.LosslessMask() && w.Switch {
			s.Priorities = pfc.Priorities(data)
		}
		w.Scheme = s
		w.Config = func(device []string, admin string, delay bool, response units.Time) (string, error) {
			return b.config(i, known, s, device, admin, delay, response)
		}
		n, err := t.Start(ctx, w)
		if err != nil {
			return err
		}
		b.nodes = append(b.nodes, n)
		b.skew = max(b.skew, n.Skew())
		if err := b.checkNode(i, n); err != nil {
			return fmt.Errorf("%s: %w", node.Name, err)
		}
		if err := b.noteAcks(i, use, known, n); err != nil {
			return err
		}
		b.noteTimes(i, n)
		b.noteLossy(i, n)
		b.noteShared(i, n)
		b.noteRecovery(i, known, n)
		for _, besides := range n.Info.Besides {
			b.remark(n, "%s, unlike the experiment's", besides)
		}
	}
	if err := b.checkIdle(ctx); err != nil {
		return err
	}
	for _, n := range b.nodes {
		if err := n.SetScheme(ctx, n.Scheme); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	return b.awaitLearning(ctx)
}

// schemeIn resolves a scheme's parameters for a network, and says what recipes may know of it besides.
func schemeIn(use experiment.SchemeUse, known scheme.Network) (s node.Scheme, err error) {
	recipe, err := scheme.Get(use.Name.V)
	if err != nil {
		return s, err
	}
	settings, err := recipe.Settings(known, use.Overrides())
	if err != nil {
		return s, err
	}
	s = node.Scheme{Name: recipe.Name, Params: map[string]string{}, Network: &node.Network{
		Line: known.Line, Rates: known.Rates, RTT: known.RTT, PathRTT: known.PathRTT, Hops: known.Hops,
		Packet: known.Packet, LongFlows: known.LongFlows, Seed: known.Seed,
	}}
	for _, x := range settings {
		s.Params[x.Name] = x.Value
	}
	return s, nil
}

// startLead is the time from the first node's request until flows start. Each node gets two requests, which take their time:
// over ssh on a busy machine a second. One to each, before, shows how long.
const (
	startLead        = time.Second
	startLeadPerNode = 200 * time.Millisecond // more for every node
	startLeadFactor  = 4                      // more, as often the time that the first requests took
	// stopTime is how long stopping the flows of a run that failed may take.
	stopTime = 5 * time.Second
)

// checkIdle checks that senders send nothing else.
func (b *Run) checkIdle(ctx context.Context) error {
	for i, n := range b.nodes {
		if len(b.sends[i]) == 0 {
			continue
		}
		all, err := n.Flows(ctx, 1<<62)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
		if all.Open > 0 {
			return fmt.Errorf("%s sends %d flows of its own: stop them (photon flow stop --all)", n.Name, all.Open)
		}
	}
	return nil
}

// Run orders flows and recordings, and waits until they are done. Flows of a run that fails are stopped.
func (b *Run) Run(ctx context.Context, progress func(float64)) (err error) {
	defer func() {
		if err != nil {
			b.stopFlows(ctx)
			err = b.cause(err)
		}
	}()
	if b.before, err = b.settled(ctx); err != nil {
		return err
	}
	asked := time.Now()
	if err := b.checkIdle(ctx); err != nil {
		return err
	}
	b.begin = nodecontrol.Now() + units.FromDuration(startLead+time.Duration(len(b.nodes))*startLeadPerNode+startLeadFactor*time.Since(asked))
	if err := b.setShares(ctx); err != nil {
		return err
	}
	b.first = make([]uint64, len(b.nodes))
	received := map[int][]node.PeerFlow{}
	for i, n := range b.nodes {
		if len(b.sends[i]) == 0 {
			continue
		}
		request := node.FlowOrders{Origin: n.At(b.begin)}
		for _, k := range b.sends[i] {
			f := &b.flows[k]
			to := &b.nodes[f.To].Info
			// Queue pairs of an earlier run may still be known to the receiver.
			pair := b.queuePair(k)
			stop := b.e.Duration
			if f.Stop > 0 {
				stop = min(stop, f.Stop)
			}
			// A flow that starts after its end sends nothing, and an agent would refuse it: it has its place in the order.
			stop = max(stop, f.Start+1)
			request.Flows = append(request.Flows, node.FlowOrder{
				Group: f.Group, To: to.IP, ToMAC: nextHop(&n.Info, to), QP: pair,
				DSCP: cmp.Or(f.DSCP, build.DSCPOf(b.e.Parameters.Priority.Value.V)),
				Size: f.Size, Start: f.Start, Stop: stop, Limit: f.Rate, Begin: f.Begin, Shared: f.Shared,
			})
			received[f.To] = append(received[f.To], node.PeerFlow{From: n.Info.IP, QP: pair})
		}
		done, err := n.OrderFlows(ctx, request)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
		b.first[i] = done.First
	}
	samples := int(b.e.Duration / b.e.Measure.Sample)
	for i, n := range b.nodes {
		w := node.Watch{From: n.At(b.begin), Every: b.e.Measure.Sample, Samples: samples, Received: received[i]}
		if n.Scheme.Priorities != nil {
			w.Priorities = b.e.DataMask()
		}
		for k := range b.sends[i] {
			w.Flows = append(w.Flows, b.first[i]+uint64(k))
		}
		if err := n.Watch(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	if late := nodecontrol.Now() - b.begin; late > 0 {
		return fmt.Errorf("telling the nodes took %v too long: the flows did not start together", late)
	}
	for {
		passed := nodecontrol.Now() - b.begin
		progress(min(1, max(0, float64(passed)/float64(b.e.Duration))))
		if passed > b.e.Duration {
			break
		}
		for _, n := range b.nodes {
			if err := n.Ended(); err != nil {
				return fmt.Errorf("%s: %w", n.Name, err)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}

// setShares tells switches what flows are entitled to, if the scheme knows of that, once their queue pairs are known.
func (b *Run) setShares(ctx context.Context) error {
	var shares []node.Share
	for k := range b.flows {
		if f := &b.flows[k]; f.Weight != 1 || f.Cap != 0 {
			from, to := &b.nodes[f.From].Info, &b.nodes[f.To].Info
			shares = append(shares, node.Share{
				From: from.IP, To: to.IP, QP: b.queuePair(k), Weight: f.Weight, Cap: f.Cap,
			})
		}
	}
	for _, n := range b.nodes {
		recipe, err := scheme.Get(n.Scheme.Name)
		if err != nil || !recipe.Shares || !n.Switch || shares == nil {
			continue // of another scheme no switch knows it, in virtual time neither
		}
		s := n.Scheme
		s.Shares = shares
		if err := n.SetScheme(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
	}
	return nil
}

// cause is why a run failed: a node that was started for it has ended, which nobody learns who only finds no answer, or
// err.
func (b *Run) cause(err error) error {
	for _, n := range b.nodes {
		if why := n.Ended(); why != nil {
			return fmt.Errorf("%s: %w", n.Name, why)
		}
	}
	return err
}

// stopFlows ends what was ordered, also when the user has ended the run. A node that does not answer
// sends its flows to their end.
func (b *Run) stopFlows(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	for i, first := range b.first {
		if first == 0 { // it was not asked for any
			continue
		}
		var ids []uint64
		for k := range b.sends[i] {
			ids = append(ids, first+uint64(k))
		}
		_, _ = b.nodes[i].StopFlows(ctx, ids) // why the run failed says more
	}
}

// queuePair is a flow's. A run that began earlier, by a millisecond at least for each eight of its flows and by less
// than 17 minutes, had others.
func (b *Run) queuePair(flow int) uint32 {
	return uint32((int64(b.begin/units.Millisecond)*8+int64(flow))&(1<<24-1)) | 1<<23
}

// Read fetches what the nodes have recorded and makes a network of it.
func (b *Run) Read(ctx context.Context) (_ *build.Network, err error) {
	defer func() {
		if err != nil {
			err = b.cause(err)
		}
	}()
	var recordings []node.Recording
	var ports [][]int
	latest := ""
	for _, node := range b.nodes {
		rec, err := b.recorded(ctx, node)
		if err != nil {
			return nil, err
		}
		recordings, ports = append(recordings, rec), append(ports, node.Port)
		if rec.Late > b.late {
			b.late, latest = rec.Late, node.Name
		}
	}
	if b.late >= b.e.Measure.Sample {
		b.notes = append(b.notes, fmt.Sprintf("%s took samples up to %v late: it did not poll meanwhile, "+
			"and samples of that time are alike", latest, b.late.Duration().Round(time.Microsecond)))
	}
	if err := b.noteDrift(ctx); err != nil {
		return nil, err
	}
	final, err := b.settled(ctx)
	if err != nil {
		return nil, err
	}
	if final.moving {
		b.notes = append(b.notes, fmt.Sprintf("frames of lossless priorities still moved %v after the end: "+
			"whether some did not arrive at the other end of their link is not known", b.drainTime))
	}
	for i, node := range b.nodes {
		after := &final.late[i]
		for _, port := range node.Port {
			if was := node.Info.Ports[port]; port >= len(after.Ports) || after.Ports[port] != was {
				return nil, fmt.Errorf("%s: port %s was removed during the run: what it did is not known", node.Name, was)
			}
		}
		if after.Balanced != "" {
			b.unbalanced = after.Balanced
			b.notes = append(b.notes, fmt.Sprintf("%s: %s", node.Name, after.Balanced))
		}
	}
	b.final = final
	b.network = Recorded(b.e, b.plan, b.flows, recordings, ports, b.since())
	return b.network, nil
}

// noteDrift finds out whether the nodes' clocks went as fast as this machine's. Where one did not, its samples are of
// other times than those of other nodes, and what it calls a second is not one.
func (b *Run) noteDrift(ctx context.Context) error {
	for _, n := range b.nodes {
		drift, err := n.Drift(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
		ahead := "ahead of"
		if drift < 0 {
			drift, ahead = -drift, "behind"
		}
		b.skew = max(b.skew, n.Skew()+drift)
		if drift >= b.e.Measure.Sample {
			b.notes = append(b.notes, fmt.Sprintf("%s: its clock went %v %s this machine's during the run: "+
				"its times and rates are wrong by as much", n.Name, drift.Duration().Round(time.Microsecond), ahead))
		}
	}
	return nil
}

// recorded waits for a node's recording.
func (b *Run) recorded(ctx context.Context, n *nodecontrol.Running) (rec node.Recording, err error) {
	for deadline := time.Now().Add(20 * time.Second); !rec.Done; time.Sleep(50 * time.Millisecond) {
		if rec, err = n.Recorded(ctx); err != nil {
			return rec, fmt.Errorf("%s: %w", n.Name, err)
		}
		if rec.From != n.At(b.begin) {
			return rec, fmt.Errorf(
				"%s has not recorded this experiment: it was restarted meanwhile, or another experiment used it", n.Name)
		}
		if !rec.Done && time.Now().After(deadline) {
			return rec, fmt.Errorf("%s does not end its recording: has its clock stopped?", n.Name)
		}
	}
	return rec, nil
}

// Results fetches how the flows ended; before, their recordings were looked at.
func (b *Run) Results(ctx context.Context) error {
	for i, node := range b.nodes {
		if len(b.sends[i]) == 0 {
			continue
		}
		all, err := node.Flows(ctx, b.first[i]-1)
		if err != nil {
			return fmt.Errorf("%s: %w", node.Name, err)
		}
		origin := node.At(b.begin)
		// The node's clock, by which origin is, goes round, as the product does.
		instant := func(s float64) units.Time {
			whole, part := math.Modf(s)
			return units.Time(whole)*units.Second + units.Time(math.Round(part*float64(units.Second))) - origin
		}
		for k := range b.sends[i] {
			id := b.first[i] + uint64(k)
			if k >= len(all.List) || all.List[k].ID != id {
				return fmt.Errorf("%s does not know flow %d any more: it was restarted, or lists fewer that ended",
					node.Name, id)
			}
			f := &all.List[k]
			switch f.State {
			case "refused", "failed":
				return fmt.Errorf("flow %d of %s %s: %s", k+1, node.Name, f.State, f.Why)
			case "done":
				x := b.network.Flows.At(b.sends[i][k])
				x.Done, x.End, x.Frames, x.Bytes, x.Notified = true, instant(f.End), f.Packets, f.WireBytes, f.Notified
			}
		}
	}
	return nil
}
