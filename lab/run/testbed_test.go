package run

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"photon/fabric"
	"photon/lab/nodecontrol"
	"photon/lab/topology"
	"photon/pfc"
	"photon/telemetry/node"
	"photon/units"
)

// obliging is a testbed whose nodes record nothing and lose nothing; those of one scheme do not start.
type obliging struct {
	fails string
	ends  func() // when that is asked for; nil: it is an error
}

func (o *obliging) Covers([]nodecontrol.Spec) error { return nil }

func (o *obliging) Start(ctx context.Context, w nodecontrol.Spec) (*nodecontrol.Running, error) {
	if w.Scheme.Name == o.fails {
		if o.ends != nil {
			o.ends()
			return nil, ctx.Err()
		}
		return nil, errors.New(w.Name + ": the cable is out")
	}
	n := &obligingNode{hosts: map[string]string{}}
	n.info = node.Info{Name: w.Name, Switch: w.Switch, Lossless: 1 << 3, Payload: 1000}
	n.info.Thresholds = make([][pfc.Classes]pfc.Thresholds, 3)
	n.info.Stats.Ports = make([]fabric.PortStats, 3)
	n.info.Stats.Ports[0].Ingress.Peak[3] = 20_000 // of an experiment before
	if !w.Switch {
		i := int(w.Name[1] - '0' + 1) // the switch is the first node
		n.info.IP, n.info.MAC = topology.IP(i), topology.MAC(i, 0)
	}
	r := &nodecontrol.Running{Control: n, Spec: w}
	for i, to := range w.Neighbour {
		n.info.Ports, n.info.Rates = append(n.info.Ports, to), append(n.info.Rates, units.Gbps)
		n.info.Thresholds[i][3] = pfc.Thresholds{XOFF: 16_000, XON: 12_000}
		n.hosts[topology.MAC(int(to[1]-'0'+1), 0).String()] = to
		r.Port = append(r.Port, i)
	}
	r.Info = n.info
	return r, nil
}

type obligingNode struct {
	info  node.Info
	hosts map[string]string
	from  units.Time
	flows nodecontrol.Flows
}

func (n *obligingNode) Node(context.Context) (node.Info, error)                  { return n.info, nil }
func (n *obligingNode) SetScheme(context.Context, node.Scheme) error             { return nil }
func (n *obligingNode) HostPorts(context.Context) (map[string]string, error)     { return n.hosts, nil }
func (n *obligingNode) StopFlows(context.Context, []uint64) (int, error)         { return 0, nil }
func (n *obligingNode) At(here units.Time) units.Time                            { return here }
func (n *obligingNode) Skew() units.Time                                         { return 0 }
func (n *obligingNode) Drift(context.Context) (units.Time, error)                { return 0, nil }
func (n *obligingNode) Ended() error                                             { return nil }
func (n *obligingNode) Stop() error                                              { return nil }
func (n *obligingNode) Flows(context.Context, uint64) (nodecontrol.Flows, error) { return n.flows, nil }

func (n *obligingNode) OrderFlows(_ context.Context, o node.FlowOrders) (node.FlowsOrdered, error) {
	for i := range o.Flows {
		n.flows.List = append(n.flows.List, nodecontrol.Flow{ID: uint64(i + 1), State: "stopped"})
	}
	return node.FlowsOrdered{First: 1, Count: len(o.Flows)}, nil
}

func (n *obligingNode) Watch(_ context.Context, w node.Watch) error {
	n.from = w.From
	return nil
}

func (n *obligingNode) Recorded(context.Context) (node.Recording, error) {
	return node.Recording{Done: true, From: n.from}, nil
}

// Runs on a testbed may take hours, and are not kept for another time: what has ended is a result, whether the user
// ends the rest or a node fails.
func TestEndedRunsOfATestbedAreAResult(t *testing.T) {
	e := read(t, `id: test/bed
title: three hosts
duration: 10ms
worlds: [dpdk]
topology: {kind: star, hosts: 3}
parameters:
  {link_rate: 1Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3,
   xoff: 16KB, xon: 12KB, buffer: 4MB}
flows: [{name: long, from: H0, to: H2}]
schemes: [none, dcqcn, pcn]
measure: {sample: 1ms, metrics: [{name: ended, do: completed, flows: [long]}]}
`)
	run := func(bed *obliging, ctx context.Context) (*Result, error) {
		return Replay(ctx, e, Options{World: "dpdk", Dilation: 1, Testbed: bed, Checkpoints: t.TempDir()})
	}
	r, err := run(&obliging{fails: "dcqcn"}, t.Context())
	if err == nil || !strings.Contains(err.Error(), "the cable is out") {
		t.Fatal(err)
	}
	if r == nil || len(r.Runs) != 1 || r.Runs[0].Scheme != "none" {
		t.Errorf("a node failed: %+v", r)
	}
	const note = "no PAUSE was sent: XOFF is 16KB"
	if r != nil && !slices.Contains(r.Runs[0].Notes, note) {
		t.Errorf("%q", r.Runs[0].Notes)
	}
	if r, err := run(&obliging{fails: "none"}, t.Context()); err == nil || r != nil {
		t.Errorf("nothing has ended: %+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err = run(&obliging{fails: "pcn", ends: cancel}, ctx)
	var stopped *Interrupted
	if !errors.As(err, &stopped) || stopped.Ended != 2 || stopped.Checkpoints != "" || r == nil || len(r.Runs) != 2 {
		t.Errorf("the user ended it: %+v, %v", r, err)
	}
}
