package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"photon/agent"
	"photon/lab/build"
	"photon/sim"
	"photon/units"
)

// If no reaction point was notified, a note says whether congestion points were silent or not heard: a long queue is
// no answer to why a switch that sends notifications itself was not obeyed.
func TestUnheardNotificationsAreNoted(t *testing.T) {
	const lost = "impair: [{link: S0>H0, rules: [{do: lose, frames: %}]}, {link: S0>H1, rules: [{do: lose, frames: %}]}]"
	for _, c := range []struct{ scheme, impair, want, not string }{
		{"qcn", strings.ReplaceAll(lost, "%", "all"), "CNMs", "egress queue"},
		{"pacc", strings.ReplaceAll(lost, "%", "cnp"), "CNPs", "egress queue"},
		{"pacc", "", "", "no reaction point"},
		{"dcqcn", "", "", "no reaction point"},
		{"{name: dcqcn, params: {kmin: 8MB, kmax: 9MB}}", "", "no egress queue was ever longer than", "CNPs"},
	} {
		r := ran(t, `id: test/unheard
title: unheard
duration: 2ms
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 3MB, buffer: 12MB}
flows: [{name: f, from: 'H0,H1', to: H2}]
schemes: [`+c.scheme+`]
`+c.impair+`
measure: {sample: 10us, metrics: [{name: x, do: unfinished, flows: [f]}]}
`)
		says := func(what string) bool {
			return slices.ContainsFunc(r.notes, func(n string) bool {
				return strings.Contains(n, "no reaction point was ever notified") && strings.Contains(n, what)
			})
		}
		if c.want != "" && !says(c.want) || says(c.not) {
			t.Errorf("%s, %s: %q, want %q and not %q", c.scheme, c.impair, r.notes, c.want, c.not)
		}
	}
}

// What a note says of the buffer and of queues is of the priorities that it is about: of the lossless ones how close
// they came to XOFF, of all data how long its queues were.
func TestNotesAreOfTheirPriorities(t *testing.T) {
	r := ran(t, `id: test/priorities
title: lossy flows beside lossless ones
duration: 1ms
topology: {kind: star, hosts: 4}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 200KB, buffer: 12MB}
flows:
  - {name: lossless, from: H0, to: H3, size: 10KB}
  - {name: lossy, from: "H1,H2", to: H3, dscp: 34}
schemes: [{name: dcqcn, params: {kmin: 8MB, kmax: 9MB}}]
measure: {sample: 10us}
`)
	value := func(before, after string) units.Size {
		for _, n := range r.notes {
			_, rest, found := strings.Cut(n, before)
			if text, _, _ := strings.Cut(rest, after); found {
				size, err := units.ParseSize(text)
				if err != nil {
					t.Fatal(err)
				}
				return size
			}
		}
		t.Fatalf("no note with %q: %q", before, r.notes)
		return 0
	}
	held := value("no PAUSE was sent: no ingress port of a switch ever held more than ", ",")
	if held < 1000 || held > 20*units.KB {
		t.Errorf("of a lossless flow of 10KB a switch held %v", held)
	}
	if queue := value("no egress queue was ever longer than ", ","); queue < 500*units.KB {
		t.Errorf("the queue of two flows into one link was at most %v", queue)
	}
}

// allowing is a host whose reaction points allow a rate, and a window that may be shut.
type allowing struct {
	build.Host
	rate units.Rate
	shut bool
}

func (h allowing) Flow(now units.Time, slot int) agent.FlowState {
	f := h.Host.Flow(now, slot)
	f.Rate, f.NoWindow = h.rate, h.shut
	return f
}

// A reaction point that allows no rate or no window, or less, stops a flow, and nothing else of a result says why.
func TestStoppedFlowsAreNoted(t *testing.T) {
	e := read(t, `id: test/stopped
title: stopped
duration: 1ms
topology: {kind: star, hosts: 3}
parameters: {link_rate: 10Gbps, host_delay: 1us, trunk_delay: 1us,
  payload: 1000B, mtu: 1500B, priority: 3, xoff: 200KB, buffer: 12MB}
flows: [{name: f, from: "H0,H1", to: H2}]
schemes: [none]
measure: {sample: 10us}
`)
	for _, c := range []struct {
		rate units.Rate
		shut bool
		want string
	}{
		{0, false, "1 of 2 flows may send nothing at the end of the run: " +
			"the scheme's reaction point allows a rate of 0bps"},
		{-units.Mbps, true, "allows a rate of -1Mbps"}, {1, false, ""},
		{1, true, "1 of 2 flows may send nothing at the end of the run: " +
			"the window of the scheme's reaction point is 0 or less"},
	} {
		n, err := build.Build(e, sim.New(), e.Schemes[0], 1, build.Observer{})
		if err != nil {
			t.Fatal(err)
		}
		from := n.Flows.At(0).From
		n.Hosts[from] = allowing{n.Hosts[from], c.rate, c.shut}
		got := fmt.Sprint(notes(e, n, e.Schemes[0]))
		if strings.Contains(got, "may send nothing") != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%v: %s, want %q", c.rate, got, c.want)
		}
	}
}
