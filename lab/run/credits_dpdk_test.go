//go:build dpdk

package run

import (
	"bytes"
	"context"
	"sync"
	"testing"

	"photon/credits"
	"photon/fabric"
	"photon/lab/build"
	"photon/lab/experiment"
	"photon/pfc"
	"photon/units"
	"photon/wire"
)

// listener counts MAC control frames that arrive at a node, by what they are.
type listener struct {
	fabric.Node
	env *fabric.Env
	*received
}

type received struct {
	mu                     sync.Mutex
	credits, pauses, other int
}

func (l *listener) Receive(now units.Time, port int, burst []fabric.Frame) {
	for i := range burst {
		b := bytes.Clone(l.env.Header(burst[i]))
		var h wire.Header
		if !wire.Parse(b, &h) || h.EtherType != wire.TypeMACControl {
			continue
		}
		var f pfc.Frame
		l.mu.Lock()
		switch _, err := credits.Decode(nil, b[:min(len(b), int(burst[i].Len))]); {
		case err == nil:
			l.credits++
		case f.Decode(b) == nil:
			l.pauses++
		default:
			l.other++
		}
		l.mu.Unlock()
	}
	l.Node.Receive(now, port, burst)
}

// Links between nodes of one process have credits on DPDK as in virtual time: an incast loses nothing, ports wait
// for credits, every control frame is one of credits, and times are alike. So is what TCD sees of it, whom nobody obeys here.
func TestCreditsInBothWorlds(t *testing.T) {
	const text = `
id: test/credits
title: an incast behind a link that others share
duration: 20ms
topology: {kind: compact, bursters: 6}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us, payload: 1000B, mtu: 1500B, priority: 3, flow_control: credits, lane_buffer: 64KB, buffer: 12MB, start_phase: 0s}
schemes: [none, {name: tcd+ibcc, params: {ccti_increase: "0"}}]
flows:
  - {name: victim, from: H0, to: R0, size: 2MB, start: 100us}
  - {name: culprit, from: H1, to: R1, size: 2MB, start: 100us}
  - {name: incast, from: H2..H7, to: R1, size: 1MB}
measure:
  sample: 1ms
  probes:
    - {name: off, kind: paused, at: [S0>S1]}
    - {name: pauses, kind: xoffs, at: ["*"]}
    - {name: root_ce, kind: marked, at: [S1>R1]}
    - {name: root_ue, kind: ue, at: [S1>R1]}
    - {name: victim_ue, kind: ue, at: [S0>S1]}
  metrics:
    - {name: incast_s, do: fct, flows: [incast], stat: p99}
    - {name: victim_s, do: fct, flows: [victim]}
    - {name: off_s, do: time_above, of: off, value: 0.5}
    - {name: pauses, do: last, of: pauses}
    - {name: root_ce, do: last, of: root_ce}
    - {name: root_ue, do: last, of: root_ue}
    - {name: victim_ue, do: last, of: victim_ue}
`
	e, err := experiment.Parse("credits.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	plain := build.Wrap
	defer func() { build.Wrap = plain }()
	var m [2][2]map[string]*float64
	for i, world := range experiment.Worlds {
		var all received
		build.Wrap = func(_ string, n fabric.Node, envs []*fabric.Env) fabric.Node {
			return &listener{n, envs[0], &all}
		}
		r, err := Replay(context.Background(), e, Options{World: world, Dilation: 20})
		if err != nil {
			t.Fatal(err)
		}
		for k := range r.Runs {
			run := &r.Runs[k]
			if m[i][k] = run.Metrics; !run.Sound() || run.Invariants.LostFrames != 0 || *run.Metrics["pauses"] != 0 {
				t.Errorf("%s, %s: %+v, %v PAUSEs", world, run.Scheme, run.Invariants, *run.Metrics["pauses"])
			}
		}
		if all.credits < 1000 || all.pauses != 0 || all.other != 0 {
			t.Errorf("%s: of the control frames %d are of credits, %d pauses, and %d something else", world, all.credits, all.pauses, all.other)
		}
		t.Logf("%s: %d frames of credits", world, all.credits)
	}
	for k, use := range e.Schemes {
		name := use.Name.V
		for _, what := range []string{"incast_s", "victim_s"} {
			v, w := m[0][k][what], m[1][k][what]
			t.Logf("%s: %s is %s in virtual time, %s on DPDK", name, what, experiment.Number(v, "s"), experiment.Number(w, "s"))
			if v == nil || w == nil || *w < 0.9**v || *w > 1.25**v {
				t.Errorf("%s: %s is %s in virtual time, %s on DPDK", name, what, experiment.Number(v, "s"), experiment.Number(w, "s"))
			}
		}
		for i, world := range experiment.Worlds {
			got := m[i][k]
			if *got["off_s"] < 0.001 {
				t.Errorf("%s: the shared link waited for credits for %v s", world, *got["off_s"])
			}
			if name != "none" && (*got["root_ce"] == 0 || *got["root_ue"] != 0 || *got["victim_ue"] == 0) {
				t.Errorf("%s: the root marked %v congested and %v undetermined, the victim %v undetermined", world, *got["root_ce"], *got["root_ue"], *got["victim_ue"])
			}
		}
	}
}
