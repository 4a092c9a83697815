package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"photon/fabric"
	"photon/lab/experiment"
	"photon/lab/nodecontrol"
	"photon/lab/topology"
	"photon/pfc"
	"photon/telemetry/node"
	"photon/units"
)

const twoIntoOne = `id: test/two
title: two flows into one port
duration: 20ms
worlds: [dpdk]
topology: {kind: star, hosts: 3}
parameters:
  link_rate: 20Mbps
  host_delay: 1ms
  trunk_delay: 1us
  payload: 1000B
  mtu: 1500B
  priority: 3
  xoff: 16KB
  xon: 12KB
  buffer: 4MB
flows:
  - {name: long, from: "H0,H1", to: H2}
  - {name: short, from: H0, to: H2, size: 50KB, start: 3ms}
schemes: [none]
measure:
  sample: 1ms
  probes:
    - {name: queue, kind: queue, at: [S0>H2]}
  metrics:
    - {name: queue_bytes, do: mean, of: queue}
`

// bed is a testbed whose nodes do what they are asked, and remember it.
type bed struct {
	nodes map[string]*fake
	set   func(name string, f *fake) // what is unusual of a node; nil: nothing
	asked func()                     // before a node says what it has counted; nil: nothing happens
}

// fake is a node of it.
type fake struct {
	nodecontrol.Spec
	info    node.Info
	ports   map[string]string // by the addresses behind them
	open    int
	list    []nodecontrol.Flow
	ordered node.FlowOrders
	watched node.Watch
	refuses error // to record
	other   bool  // its recording is of another watch
	schemes int
	scheme  node.Scheme // that it was given last
	stopped []uint64
	died    error
	ended   bool
	late    units.Time
	drift   units.Time
	jams    error // when it is let go
	asked   func()
}

func (b *bed) Covers([]nodecontrol.Spec) error { return nil }

func (b *bed) Start(_ context.Context, w nodecontrol.Spec) (*nodecontrol.Running, error) {
	f := &fake{Spec: w, ports: map[string]string{}, asked: b.asked}
	if f.asked == nil {
		f.asked = func() {}
	}
	f.info = node.Info{Name: w.Name, Switch: w.Switch, Lossless: 1 << 3, Payload: 1000}
	if w.Switch {
		f.info.Thresholds = make([][pfc.Classes]pfc.Thresholds, 3)
		for i := range f.info.Thresholds {
			f.info.Thresholds[i][3] = pfc.Thresholds{XOFF: 16_000, XON: 12_000}
		}
	}
	f.info.Stats.Ports = make([]fabric.PortStats, 3)
	r := &nodecontrol.Running{Control: f, Spec: w}
	if !w.Switch {
		i := int(w.Name[len(w.Name)-1] - '0')
		f.info.IP, f.info.MAC = topology.IP(i), topology.MAC(i, 0)
	}
	for i, n := range w.Neighbour {
		f.info.Ports, f.info.Rates = append(f.info.Ports, "to"+n), append(f.info.Rates, 20*units.Mbps)
		r.Port = append(r.Port, i)
		f.ports[topology.MAC(int(n[len(n)-1]-'0'), 0).String()] = "to" + n
	}
	if b.set != nil {
		b.set(w.Name, f)
	}
	if b.nodes == nil {
		b.nodes = map[string]*fake{}
	}
	b.nodes[w.Name] = f
	r.Info, _ = f.Node(context.Background())
	return r, nil
}

func (f *fake) Node(context.Context) (node.Info, error) {
	f.asked()
	info := f.info
	info.Stats.Ports = slices.Clone(info.Stats.Ports)
	return info, nil
}

func (f *fake) SetScheme(_ context.Context, s node.Scheme) error {
	f.schemes++
	f.scheme = s
	return nil
}
func (f *fake) HostPorts(context.Context) (map[string]string, error) { return f.ports, nil }

func (f *fake) OrderFlows(_ context.Context, o node.FlowOrders) (node.FlowsOrdered, error) {
	f.ordered = o
	return node.FlowsOrdered{First: 7, Count: len(o.Flows)}, nil
}

func (f *fake) Flows(_ context.Context, after uint64) (nodecontrol.Flows, error) {
	all := nodecontrol.Flows{Open: f.open}
	for _, x := range f.list {
		if x.ID > after {
			all.List = append(all.List, x)
		}
	}
	return all, nil
}

func (f *fake) StopFlows(ctx context.Context, ids []uint64) (int, error) {
	f.stopped = append(f.stopped, ids...)
	return len(ids), ctx.Err()
}

func (f *fake) Watch(_ context.Context, w node.Watch) error {
	f.watched = w
	return f.refuses
}

func (f *fake) Recorded(context.Context) (node.Recording, error) {
	r := node.Recording{Done: true, From: f.watched.From, Late: f.late}
	if f.other {
		r.From++
	}
	return r, nil
}

// At is of a clock that is far from this machine's.
func (f *fake) At(here units.Time) units.Time { return here + farAhead }
func (f *fake) Skew() units.Time              { return units.Microsecond }
func (f *fake) Ended() error                  { return f.died }

func (f *fake) Drift(context.Context) (units.Time, error) { return f.drift, nil }

func (f *fake) Stop() error { f.ended = true; return f.jams }

const farAhead = 1000 * units.Second

func started(t *testing.T, b *bed) (*Run, error) {
	t.Helper()
	e, err := experiment.Parse("two.yaml", []byte(twoIntoOne))
	if err != nil {
		t.Fatal(err)
	}
	return Start(context.Background(), e, b, e.Schemes[0], 1)
}

// over is a run that has ended, of which nothing was read yet.
func over(t *testing.T, b *bed) *Run {
	t.Helper()
	r, err := started(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(context.Background(), func(float64) {}); err != nil {
		t.Fatal(err)
	}
	return r
}

// An experiment that is refused, by whichever node, leaves all of them as they were: others may use them.
func TestRefusedBeforeAnythingChanges(t *testing.T) {
	threshold := func(port int, x pfc.Thresholds) func(string, *fake) {
		return func(name string, f *fake) {
			if name == "S0" {
				f.info.Thresholds[port][3] = x
			}
		}
	}
	shaper := func(port, prio int) func(string, *fake) {
		return func(name string, f *fake) {
			if name == "S0" {
				f.info.Shapers = make([][pfc.Classes]units.Rate, 3)
				f.info.Shapers[port][prio] = 5 * units.Mbps
			}
		}
	}
	addressed := fmt.Sprintf("H2: its address, %v or %v, is that of H0: ", topology.MAC(0, 0), topology.IP(0))
	for want, set := range map[string]func(name string, f *fake){
		"H2: its payload is 900B, the experiment's 1KB": func(name string, f *fake) {
			if name == "H2" {
				f.info.Payload = 900
			}
		},
		"S0: port toH0: it does not say when it pauses":                 func(name string, f *fake) { f.info.Thresholds = nil },
		"S0: port toH1: its XOFF is 17KB, the experiment's 16KB":        threshold(1, pfc.Thresholds{XOFF: 17_000, XON: 12_000}),
		"S0: port toH2: its XON is 14KB, the experiment's 12KB":         threshold(2, pfc.Thresholds{XOFF: 16_000, XON: 14_000}),
		"S0: port toH0: its thresholds move (alpha 0.125), the experim": threshold(0, pfc.Thresholds{XOFF: 16_000, XON: 12_000, Alpha: 0.125}),
		"H1 sends 3 flows of its own": func(name string, f *fake) {
			if name == "H1" {
				f.open = 3
			}
		},
		"S0: port toH1: a shaper lets 5Mbps of priority 3 leave, the experiment's link has 20Mbps": shaper(1, 3),
		"S0: port toH2: a shaper lets 5Mbps of priority 6 leave, the experiment's link has 20Mbps": shaper(2, 6),
		addressed: func(name string, f *fake) {
			if name == "H2" {
				f.info.MAC, f.info.IP = topology.MAC(0, 0), topology.IP(0)
			}
		},
	} {
		b := &bed{set: set}
		if _, err := started(t, b); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
		for name, f := range b.nodes {
			if f.schemes != 0 || !f.ended {
				t.Errorf("%s: %s got %d schemes, let go %v", want, name, f.schemes, f.ended)
			}
		}
	}
	b := &bed{}
	if _, err := started(t, b); err != nil {
		t.Fatal(err)
	}
	for name, f := range b.nodes {
		if f.schemes != 1 {
			t.Errorf("%s got %d schemes", name, f.schemes)
		}
	}
}

// Flows of an experiment that does not go on are stopped: an agent would send them to their end, and refuse the
// next experiment until then.
func TestFlowsStopWithTheirExperiment(t *testing.T) {
	failed := errors.New("no room")
	b := &bed{set: func(name string, f *fake) {
		if name == "H2" {
			f.refuses = failed
		}
	}}
	r, err := started(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(context.Background(), func(float64) {}); !errors.Is(err, failed) {
		t.Error(err)
	}
	check := func() {
		t.Helper()
		for name, want := range map[string][]uint64{"H0": {7, 8}, "H1": {7}, "H2": nil, "S0": nil} {
			if got := b.nodes[name].stopped; !slices.Equal(got, want) {
				t.Errorf("%s: flows %v stopped, not %v", name, got, want)
			}
		}
	}
	check()
	b.set = nil
	if r, err = started(t, b); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := r.Run(ctx, func(float64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	check()
}

// A port that is removed during a run takes its counters with it.
func TestPortIsRemovedDuringARun(t *testing.T) {
	t.Parallel()
	b := &bed{}
	r := over(t, b)
	b.nodes["S0"].info.Ports = slices.Clone(b.nodes["S0"].info.Ports)
	b.nodes["S0"].info.Ports[1] = ""
	const want = "S0: port toH1 was removed during the run: "
	if _, err := r.Read(context.Background()); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Error(err)
	}
}

// A node that ends is not waited for, and is named.
func TestNodeEnds(t *testing.T) {
	b := &bed{}
	r, err := started(t, b)
	if err != nil {
		t.Fatal(err)
	}
	r.e.Duration = 3600 * units.Second // nobody would wait for the end
	died := errors.New("it has ended: no memory")
	err = r.Run(context.Background(), func(float64) { b.nodes["S0"].died = died })
	if !errors.Is(err, died) || err.Error() != "S0: it has ended: no memory" {
		t.Error(err)
	}
}

// A node that ended before its recording was read is the cause, and not that nobody answers where it was.
func TestNodeEndsBeforeItIsRead(t *testing.T) {
	t.Parallel()
	b := &bed{}
	r := over(t, b)
	b.nodes["H1"].other = true
	b.nodes["S0"].died = errors.New("it has ended: no memory")
	if _, err := r.Read(context.Background()); err == nil || err.Error() != "S0: it has ended: no memory" {
		t.Error(err)
	}
}

// What goes wrong at the start, and when the nodes that run are let go, is one line.
func TestStartFailsInOneLine(t *testing.T) {
	b := &bed{set: func(name string, f *fake) {
		if name == "S0" {
			f.jams = errors.New("S0: no memory")
		} else {
			f.info.Payload = 900
		}
	}}
	const want = "H0: its payload is 900B, the experiment's 1KB; S0: no memory"
	if _, err := started(t, b); err == nil || err.Error() != want {
		t.Error(err)
	}
}

// A node that was restarted meanwhile, or that another experiment used, has not recorded this one.
func TestRecordingOfAnother(t *testing.T) {
	t.Parallel()
	b := &bed{}
	r := over(t, b)
	b.nodes["H1"].other = true
	const want = "H1 has not recorded this experiment: "
	if _, err := r.Read(context.Background()); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Error(err)
	}
}

// A node that did not poll for longer than a sample says the same of several: the report names the worst.
func TestSamplesThatCameLate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s0, h2 units.Time
		want   []string
	}{
		{999 * units.Microsecond, 0, nil},
		{2 * units.Millisecond, 7 * units.Second, []string{
			"H2 took samples up to 7s late: it did not poll meanwhile, and samples of that time are alike"}},
	} {
		b := &bed{set: func(name string, f *fake) { f.late = map[string]units.Time{"S0": c.s0, "H2": c.h2}[name] }}
		r := over(t, b)
		if _, err := r.Read(context.Background()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Notes(), c.want) || r.Late() != max(c.s0, c.h2) {
			t.Errorf("%v: %q", r.Late(), r.Notes())
		}
	}
}

// A node whose clock went otherwise than this machine's by a sample or more is named, and the bound of what clocks are
// apart has the drift in it.
func TestClocksThatDrift(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		h0, h2 units.Time
		skew   units.Time
		want   []string
	}{
		{0, 0, units.Microsecond, nil},
		{-999 * units.Microsecond, 100 * units.Microsecond, units.Millisecond, nil},
		{30 * units.Millisecond, -2 * units.Second, 2*units.Second + units.Microsecond, []string{
			"H0: its clock went 30ms ahead of this machine's during the run: its times and rates are wrong by as much",
			"H2: its clock went 2s behind this machine's during the run: its times and rates are wrong by as much"}},
	} {
		b := &bed{set: func(name string, f *fake) { f.drift = map[string]units.Time{"H0": c.h0, "H2": c.h2}[name] }}
		r := over(t, b)
		if _, err := r.Read(context.Background()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Notes(), c.want) || r.Skew() != c.skew {
			t.Errorf("%v: %q", r.Skew(), r.Notes())
		}
	}
}

// What a report says of the fullest ingress port is what the switch says of it.
func TestPeakOfPortsThatAreTheExperiments(t *testing.T) {
	t.Parallel()
	b := &bed{set: func(name string, f *fake) {
		if name == "S0" {
			f.info.Stats.Ports[1].Ingress.Peak[3] = 11_000
		}
	}}
	r := over(t, b)
	n, err := r.Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i, node := range r.plan.Nodes {
		if node.Host {
			continue
		}
		ports := n.Switches[i].Stats(0).Ports
		if len(ports) != 3 || ports[0].Ingress.Peak[3] != 0 || ports[1].Ingress.Peak[3] != 11_000 {
			t.Errorf("%s: %d ports", node.Name, len(ports))
		}
	}
}

// Packets that come again, since their sender did not wait for longer, are no loss; others that a node discards, or that
// do not reach the other end of a link, are.
func TestWhatIsLostOnATestbed(t *testing.T) {
	t.Parallel()
	b := &bed{}
	r := over(t, b)
	for _, c := range []struct {
		what string
		set  func(h2, s0 *fabric.PortStats) // afterwards: of the host, and of the port that leads to it
		lost uint64
		why  string
	}{
		{"nothing", func(_, _ *fabric.PortStats) {}, 0, ""},
		{"a packet came again", func(h2, s0 *fabric.PortStats) {
			h2.Discards[fabric.DropSequence][3], h2.RxFrames[3], s0.TxFrames[3] = 1, 1, 1
		}, 0, ""},
		{"a packet is lost on a link, and the next is out of order", func(h2, s0 *fabric.PortStats) {
			h2.Discards[fabric.DropSequence][3], h2.RxFrames[3], s0.TxFrames[3] = 1, 1, 2
		}, 1, "1 frames of priority 3 left S0 and did not come to H2"},
		{"headroom", func(_, s0 *fabric.PortStats) { s0.Discards[fabric.DropHeadroom][3] = 2 }, 2, "S0, port 2, priority 3: 2 frames (headroom)"},
		{"lossy", func(_, s0 *fabric.PortStats) { s0.Discards[fabric.DropTail][6] = 2 }, 0, ""},
	} {
		for _, f := range b.nodes {
			f.info.Stats.Ports = make([]fabric.PortStats, 3)
		}
		c.set(&b.nodes["H2"].info.Stats.Ports[0], &b.nodes["S0"].info.Stats.Ports[2])
		r.final = counted{}
		if _, err := r.Read(context.Background()); err != nil {
			t.Fatal(err)
		}
		if lost, _ := r.Lost(); lost != c.lost || !strings.HasPrefix(r.FirstLoss(), c.why) || c.why == "" && r.FirstLoss() != "" {
			t.Errorf("%s: %d lost, %q", c.what, lost, r.FirstLoss())
		}
	}
}

// What the devices of a node dropped during the run is remarked, and what they had dropped before is not.
func TestWhatDevicesDrop(t *testing.T) {
	t.Parallel()
	b := &bed{set: func(_ string, f *fake) { f.info.Missed = 10 }}
	r := over(t, b)
	for missed, want := range map[uint64][]string{10: nil, 3: nil, 17: {"S0: its devices dropped 7 frames"}} {
		r.notes, r.final = nil, counted{}
		b.nodes["S0"].info.Missed = missed
		if _, err := r.Read(context.Background()); err != nil {
			t.Fatal(err)
		}
		if lost, _ := r.Lost(); lost != 0 || !slices.Equal(r.Notes(), want) {
			t.Errorf("%d: %d lost, %q", missed, lost, r.Notes())
		}
	}
}

// All nodes are let go, also if one cannot be, and its error is the first.
func TestStopLetsAllGo(t *testing.T) {
	b := &bed{}
	r, err := started(t, b)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Stop(); err != nil {
		t.Error(err)
	}
	first, second := errors.New("first"), errors.New("second")
	b.nodes[r.nodes[1].Name].jams, b.nodes[r.nodes[2].Name].jams = first, second
	for _, f := range b.nodes {
		f.ended = false
	}
	if err := r.Stop(); err != first {
		t.Error(err)
	}
	for name, f := range b.nodes {
		if !f.ended {
			t.Errorf("%s was not let go", name)
		}
	}
}

// Flows are known by their numbers, and their ends are exact however long the agent has run.
func TestResultsByNumber(t *testing.T) {
	t.Parallel()
	b := &bed{}
	r := over(t, b)
	if _, err := r.Read(context.Background()); err != nil {
		t.Fatal(err)
	}
	stopped := nodecontrol.Flow{State: "stopped"}
	done := nodecontrol.Flow{State: "done", Packets: 50}
	// The clock of testbeds goes round in 213 days, seconds of flows do not.
	done.End = (r.begin + farAhead + 15*units.Millisecond).Seconds()
	numbered := func(id uint64, f nodecontrol.Flow) nodecontrol.Flow { f.ID = id; return f }
	for _, laps := range []float64{0, 8, 80} {
		h0, h1 := b.nodes["H0"], b.nodes["H1"]
		end := done
		end.End += laps * units.Lap.Seconds()
		h1.list = []nodecontrol.Flow{numbered(7, stopped)}
		h0.list = []nodecontrol.Flow{numbered(7, stopped), numbered(8, end)}
		if err := r.Results(context.Background()); err != nil {
			t.Fatal(err)
		}
		x := r.network.Flows.At(2)
		if off := x.End - 15*units.Millisecond; !x.Done || x.Frames != 50 || max(off, -off) > units.Microsecond {
			t.Errorf("%v laps: %v, %v, %d frames", laps, x.Done, x.End, x.Frames)
		}
	}
	b.nodes["H0"].list = b.nodes["H0"].list[1:]
	const want = "H0 does not know flow 7 any more: "
	if err := r.Results(context.Background()); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Error(err)
	}
}
