package build

import (
	"context"
	"runtime/debug"
	"strings"
	"testing"

	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/sim"
	"photon/units"
)

// A host may compute a million things one after the other before it sends, as traces have it: what waits for so much
// is no deeper on the stack than what waits for one thing, which an overflow would end the program for.
func TestLongChainsNeedNoStack(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(1 << 20))
	const steps = 40_000
	e, err := experiment.Parse("training.yaml", []byte("\nid: test/chain\ntitle: a chain\nduration: 1ms\n"+
		"topology: {kind: star, hosts: 2}\nparameters: {link_rate: 100Gbps, host_delay: 1us, trunk_delay: 1us, "+
		"payload: 4000B, mtu: 4200B, priority: 3, xoff: 200KB, buffer: 32MB, start_phase: 0s}\n"+
		"schemes: [none]\nmeasure: {sample: 1ms}\n"))
	if err != nil {
		t.Fatal(err)
	}
	circle := false
	e.Dependent = func(p *topology.Plan, _ *experiment.Connections, list []experiment.Flow) ([]experiment.Flow, error) {
		hosts := p.Hosts()
		w := &experiment.Wait{Host: hosts[0], Delay: units.Nanosecond}
		if circle {
			w.After = []experiment.Cause{{Flow: 0, What: experiment.Begun}}
		}
		for range steps - 1 {
			after := []experiment.Cause{{Wait: w}}
			w = &experiment.Wait{Host: hosts[0], Delay: units.Nanosecond, After: after}
		}
		kind := &experiment.FlowKind{Group: experiment.DependentGroup, Weight: 1}
		return append(list, experiment.Flow{
			FlowKind: kind, From: hosts[0], To: hosts[1], Size: 9, Start: units.Never, DSCP: 26, Wait: w,
		}), nil
	}
	w := sim.New()
	n, err := Build(e, w, e.Schemes[0], 1, Observer{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(context.Background(), units.Millisecond); err != nil {
		t.Fatal(err)
	}
	n.Collect()
	if f := n.Flows.At(0); f.Start != steps*units.Nanosecond || !f.Done {
		t.Errorf("it begins at %v: %+v", f.Start, f)
	}
	circle = true
	const waits = "wait for something that waits for them"
	if _, err := e.Sends(n.Plan, 1); err == nil || !strings.Contains(err.Error(), waits) {
		t.Errorf("a circle: %v", err)
	}
}
