package build

import (
	"fmt"
	"strings"
	"testing"

	"photon/fabric"
	"photon/lab/experiment"
	"photon/lab/topology"
	"photon/sim"
	"photon/units"
)

// ring is four switches in a circle: a link that fails leaves the way round.
const ring = `
id: test/ring
title: a link fails and comes back
duration: 6ms
topology: {kind: ring, switches: 4, hosts: 1}
parameters:
  link_rate: 10Gbps
  host_delay: 1us
  trunk_delay: 1us
  payload: 1000B
  mtu: 1500B
  priority: 3
  xoff: 100KB
  buffer: 12MB
  start_phase: 0s
flows:
  - {name: long, from: H0-0, to: H1-0}
  - {name: counted, from: H0-0, to: H1-0, size: 2MB}
schemes: [dcqcn]
measure:
  sample: 10us
`

func built(t *testing.T, text string) (*Network, *sim.World, *experiment.Experiment) {
	t.Helper()
	e, err := experiment.Parse("ring.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	w := sim.New()
	n, err := Build(e, w, e.Schemes[0], 1, Observer{})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Schedule(e); err != nil {
		t.Fatal(err)
	}
	return n, w, e
}

// When a link fails frames go by what is left, at once, and nothing is lost but what waited for it or was
// on it; when it is back they use it again. Every frame is accounted for.
func TestLinkFailsAndComesBack(t *testing.T) {
	n, w, e := built(t, ring+"events: [{at: 2ms, link: S0>S1, rate: 0bps}, {at: 4ms, link: S0>S1, rate: 10Gbps}]\n")
	s0 := n.Switches[mustFind(t, n, "S0")]
	direct, round := port(t, n, "S0", "S1"), port(t, n, "S0", "S3")
	var sent [3][2]units.Size
	w.Every(2*units.Millisecond, func(now units.Time) {
		if i := int(now/(2*units.Millisecond)) - 1; i < 3 {
			sent[i] = [2]units.Size{s0.Sent(direct), s0.Sent(round)}
		}
	})
	if err := w.Run(t.Context(), e.Duration); err != nil {
		t.Fatal(err)
	}
	n.Collect()
	if err := n.Fault(); err != nil {
		t.Fatal(err)
	}
	if err := w.Audit(); err != nil {
		t.Error(err)
	}
	const much, few = 1_000_000, 20_000 // of 2.5 MB in 2 ms
	for i, want := range []struct{ direct, round bool }{{true, false}, {false, true}, {true, false}} {
		before := [2]units.Size{}
		if i > 0 {
			before = sent[i-1]
		}
		if d, r := sent[i][0]-before[0], sent[i][1]-before[1]; (d > much) != want.direct || (r > much) != want.round || d > few && !want.direct || r > few && !want.round {
			t.Errorf("from %d ms: %v by the link, %v round", 2*i, d, r)
		}
	}
	if lost, _ := n.Lost(); lost != 0 {
		t.Errorf("%d frames were lost otherwise than with the link", lost)
	}
	if f := n.Flows.At(1); !f.Done || n.Received(1) == 0 {
		t.Error("the flow of 2 MB did not end")
	}
}

// Routes follow a failure when they have converged, and not before: until then what goes by the failed link alone
// stands still. A switch that has another port of equal cost takes that at once.
func TestRoutesConverge(t *testing.T) {
	const convergence = 1500 * units.Microsecond
	text := strings.Replace(ring, "start_phase: 0s", "start_phase: 0s\n  convergence: 1500us", 1)
	n, w, e := built(t, text+"events: [{at: 2ms, link: S0>S1, rate: 0bps}]\n")
	round, s0, first := port(t, n, "S0", "S3"), n.Switches[mustFind(t, n, "S0")], units.Never
	w.Every(10*units.Microsecond, func(now units.Time) {
		if s0.Sent(round) > 50_000 && first == units.Never { // acknowledgements do not go there
			first = now
		}
	})
	if err := w.Run(t.Context(), 80*e.Duration); err != nil { // a sender waits for 67 ms
		t.Fatal(err)
	}
	n.Collect()
	if err := n.Fault(); err != nil {
		t.Fatal(err)
	}
	if first < 2*units.Millisecond+convergence || first == units.Never || !n.Flows.At(1).Done {
		t.Errorf("the way round is used at %v, and the flow of 2 MB has ended: %v", first, n.Flows.At(1).Done)
	}

	n, w, _ = built(t, strings.Replace(fourWaysOf("paths: random, recovery: selective, convergence: 50ms"), "schemes", "events: [{at: 50us, link: T0>C1, rate: 0bps}]\nschemes", 1))
	if err := w.Run(t.Context(), 40*units.Millisecond); err != nil {
		t.Fatal(err)
	}
	n.Collect()
	for i := range n.Flows.Len() { // acknowledgements through C1 do stand still, the last of a flow perhaps
		f := n.Flows.At(i)
		if got := n.Hosts[f.To].Received(topology.IP(f.From), QP(i)).Frames; !f.Done && got != 2000 {
			t.Errorf("%d of 2000 packets of flow %d were taken before routes converge", got, i)
		}
	}
}

// A slower link is slower, at both ends, and no failure.
func TestLinkBecomesSlower(t *testing.T) {
	text := strings.ReplaceAll(ring, "sample: 10us", "sample: 5ms") // that is not when it happens
	n, w, e := built(t, text+"events: [{at: 1ms, link: S1>S0, rate: 1Gbps}]\n")
	if err := w.Run(t.Context(), e.Duration); err != nil {
		t.Fatal(err)
	}
	if err := n.Fault(); err != nil {
		t.Fatal(err)
	}
	// 1.25 MB in the first millisecond and 0.6 in the others.
	if got := n.Switches[mustFind(t, n, "S0")].Sent(port(t, n, "S0", "S1")); got < 1_700_000 || got > 2_100_000 {
		t.Errorf("%v were sent", got)
	}
}

// Headroom is for what comes at the highest rate that a link ever has.
func TestLinkBecomesFaster(t *testing.T) {
	text := strings.NewReplacer("host_delay: 1us", "host_delay: 20us", "from: H0, to: H2", "count: 8, from: H0, to: H2").
		Replace(fmt.Sprintf(impairedStar, "H0>S0", "{do: lose, start: 1s}"))
	n, w, _ := built(t, text+"events: [{at: 100us, link: H0>S0, rate: 100Gbps}]\n")
	if err := w.Run(t.Context(), 5*units.Millisecond); err != nil {
		t.Fatal(err)
	}
	st := n.Switches[mustFind(t, n, "S0")].Stats(w.Now())
	p := &st.Ports[port(t, n, "S0", "H0")]
	if lost := p.Discards[fabric.DropHeadroom]; lost != [8]uint64{} {
		t.Errorf("%v were lost for want of headroom", lost)
	}
	if p.Ingress.Pauses[3] == 0 || p.RxBytes[3] < 4_000_000 {
		t.Errorf("%v received with %v pauses", p.RxBytes, p.Ingress.Pauses)
	}
}

func TestEventsThatMeanNothing(t *testing.T) {
	for event, want := range map[string]string{
		"{at: 1ms, link: S0>S9, rate: 1Gbps}":                                    `S0 has no link to "S9"`,
		"{at: 1ms, link: S0>S1}":                                                 "a link has a rate",
		"{at: 1ms, link: S0>S1, rate: -1Gbps}":                                   "a link has a rate",
		"{at: 1ms, link: S0>H0-0, rate: 0bps}":                                   "a host has no other",
		"{at: 1ms, flow: shrt, cap: 1Gbps}":                                      `there are no flows "shrt"`,
		"{at: 1ms, flow: long}":                                                  "a flow has a rate or a cap",
		"{at: 7ms, flow: long, cap: 1Gbps}":                                      "the run lasts 6ms",
		"{at: 1ms, rate: 1Gbps}":                                                 "either a link or a flow",
		"{at: 1ms, link: S0>S1, flow: long, rate: 1Gbps}":                        "either a link or a flow",
		"{at: 1ms, link: S0>S1, rate: 0bps}, {at: 2ms, link: S2>S3, rate: 0bps}": "the network is in two",
	} {
		_, err := experiment.Parse("ring.yaml", []byte(ring+"events: ["+event+"]\n"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "ring.yaml:") {
			t.Errorf("%s: %v", event, err)
		}
	}
	// One that comes back before the other goes leaves a way at all times.
	if _, err := experiment.Parse("ring.yaml", []byte(ring+"events: [{at: 1ms, link: S0>S1, rate: 0bps}, {at: 2ms, link: S0>S1, rate: 1Gbps}, {at: 3ms, link: S2>S3, rate: 0bps}]\n")); err != nil {
		t.Error(err)
	}
}

// Both ends of a link with credits begin anew when it is back. What was on its way when it failed must have arrived.
func TestLinkWithCreditsIsBack(t *testing.T) {
	text := strings.NewReplacer("xoff: 100KB", "flow_control: credits\n  lane_buffer: 8KB",
		"trunk_delay: 1us", "trunk_delay: 20us").Replace(ring)
	slow, fails := "{at: 500us, link: S1>S0, rate: 1Gbps}, ", "{at: 1ms, link: S0>S1, rate: 0bps}, "
	for events, want := range map[string]string{
		fails + "{at: 1010us, link: S0>S1, rate: 10Gbps}":        "link S0>S1 is back at 1.01ms, and until 1.0212",
		fails + "{at: 1010us, link: S1>S0, rate: 10Gbps}":        "link S1>S0 is back at 1.01ms, and until 1.0212",
		slow + fails + "{at: 1022us, link: S0>S1, rate: 10Gbps}": "link S0>S1 is back at 1.022ms, and until 1.032",
	} {
		_, err := experiment.Parse("ring.yaml", []byte(text+"events: ["+events+"]\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", events, err)
		}
	}
	n, w, e := built(t, text+"events: ["+fails+"{at: 1022us, link: S0>S1, rate: 10Gbps}]\n")
	if err := w.Run(t.Context(), e.Duration); err != nil {
		t.Fatal(err)
	}
	if l, ok := n.FirstLoss(); ok || n.Fault() != nil {
		t.Errorf("%v, %v", l, n.Fault())
	}
	if st := n.Switches[mustFind(t, n, "S0")].Stats(w.Now()); st.Ports[port(t, n, "S0", "S1")].TxFrames[3] < 500 {
		t.Errorf("only %d frames took the link", st.Ports[port(t, n, "S0", "S1")].TxFrames[3])
	}
}

func mustFind(t *testing.T, n *Network, name string) int {
	t.Helper()
	i, ok := n.Plan.Find(name)
	if !ok {
		t.Fatal(name)
	}
	return i
}

func port(t *testing.T, n *Network, a, b string) int {
	t.Helper()
	_, p, err := n.Plan.Port(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A frame that a slow link has begun delays the XOFF that is behind it, also when the link has become fast meanwhile
// and frames come as fast: headroom is for these, too. Every change is at another moment of frames and pauses.
func TestLinkBecomesFasterWithinAFrame(t *testing.T) {
	var events strings.Builder
	for i := range 100 {
		at := 1000 + 237*i
		fmt.Fprintf(&events, "- {at: %dus, link: S0>H0, rate: 2Gbps}\n", at)
		fmt.Fprintf(&events, "- {at: %dus, link: S0>H0, rate: 400Gbps}\n", at+150+i/2)
	}
	n, w, e := built(t, `
id: test/faster
title: a link becomes slow and fast again
duration: 26ms
topology: {kind: star, hosts: 6}
parameters: {link_rate: 400Gbps, host_delay: 1us, trunk_delay: 1us, payload: 8192B, mtu: 9000B, priority: 3, xoff: 40KB,
  buffer: 16MB}
flows: [{name: in, from: H0, to: H2}, {name: others, from: H3..H5, to: H2}, {name: back, from: H1, to: H0}]
schemes: [none]
measure: {sample: 10us}
events:
`+events.String())
	if err := w.Run(t.Context(), e.Duration); err != nil {
		t.Fatal(err)
	}
	if lost := n.Losses(); lost != nil || n.Pauses() == 0 {
		t.Errorf("lost %v, with %d pauses", lost, n.Pauses())
	}
}

// Links that only become slower, or were never slower than now, need no more headroom for it.
func TestHeadroomOfLinksThatChange(t *testing.T) {
	const usual = 3*1542 + 84 + 67*64 + 2500 // at 10 Gbit/s, with 1 us of cable each way
	// A frame and an XOFF, 1626 B, take 13.008 us at 1 Gbit/s. Meanwhile so much comes at 10 Gbit/s, or at 5.
	const slow, half = 13_008*10/8 - 1626, 13_008*5/8 - 1626
	const to1, to5, to10 = "link: S1>S0, rate: 1Gbps}", "link: S1>S0, rate: 5Gbps}", "link: S1>S0, rate: 10Gbps}"
	const fails = "link: S1>S0, rate: 0bps}"
	for events, want := range map[string]units.Size{
		"":                 usual,
		"{at: 1ms, " + to1: usual,
		"{at: 1ms, " + fails + ", {at: 2ms, " + to10:                                     usual,
		"{at: 1ms, " + to1 + ", {at: 2ms, " + to10:                                       usual + slow,
		"{at: 2ms, " + to10 + ", {at: 1ms, " + to1:                                       usual + slow,
		"{at: 1ms, link: S0>S1, rate: 1Gbps}, {at: 2ms, " + fails + ", {at: 3ms, " + to5: usual - 1250 + half,
	} {
		n, _, _ := built(t, ring+"events: ["+events+"]\n")
		for _, at := range [][2]string{{"S0", "S1"}, {"S1", "S0"}, {"S1", "S2"}} {
			want := want
			if at[1] == "S2" {
				want = usual
			}
			got := n.configs[mustFind(t, n, at[0])].Ports[port(t, n, at[0], at[1])].Headroom
			if got < want || got > want+2 { // times are whole picoseconds
				t.Errorf("%s: %s>%s has %v, want %v", events, at[0], at[1], got, want)
			}
		}
	}
}
