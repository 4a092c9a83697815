package scheme

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"photon/cnp"
	"photon/marking"
	"photon/ratelimit"
	"photon/units"
	"photon/wire"
)

var testNetwork = Network{Line: 10 * units.Gbps, RTT: 500 * units.Microsecond, LongFlows: 4, Seed: 1}

// Every recipe is complete, and what it makes works.
func TestEveryRecipe(t *testing.T) {
	for _, name := range Names() {
		s, err := Get(name)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{"summary": s.Summary, "source": s.Source, "CP": s.CP, "NP": s.NP, "RP": s.RP} {
			if text == "" || strings.Contains(text, "\n") {
				t.Errorf("%s: the %s must be one line: %q", name, what, text)
			}
		}
		for _, p := range s.Params {
			if p.Name == "" || p.Doc == "" || p.Default == "" || p.Source == "" {
				t.Errorf("%s: parameter %q lacks its doc, default or source", name, p.Name)
			}
			var e *ParamError
			if _, err := s.Build(testNetwork, map[string]Override{p.Name: {"?", "the test"}}); !errors.As(err, &e) || e.Scheme != name || e.Param != p.Name {
				t.Errorf("%s: parameter %s = ?: %v", name, p.Name, err)
			}
		}
		parts, err := s.Build(testNetwork, nil)
		if err != nil {
			t.Fatal(err)
		}
		parts.CP(marking.Place{Port: 0, Prio: 3, Rate: testNetwork.Line}).Dequeue(0, marking.Queue{Bytes: 1000, Frames: 1}, &marking.Packet{Size: 1000})
		parts.NP(4).Data(1, 0, wire.CE, 1000)
		rp := parts.RP(nil)
		rp.Start(0)
		if r := rp.Rate(0); r != testNetwork.Line {
			t.Errorf("%s: a flow begins at %v", name, r)
		}
	}
}

// Defaults that are rules over the network: PCN's T and w_min.
func TestPCNRules(t *testing.T) {
	s, _ := Get("pcn")
	for _, c := range []struct {
		n            Network
		period, wmin string
	}{
		{testNetwork, "500us", "1/128"},
		{Network{Line: units.Gbps, RTT: 30 * units.Microsecond}, "50us", "1/128"},
		{Network{Line: units.Gbps, RTT: units.Millisecond, LongFlows: 64}, "1ms", "0.1/64"},
	} {
		set, err := s.Settings(c.n, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, v := range set {
			got[v.Name] = v.Value
		}
		if got["period"] != c.period || got["wmin"] != c.wmin {
			t.Errorf("%+v: period %s, wmin %s", c.n, got["period"], got["wmin"])
		}
	}
}

func TestOverrides(t *testing.T) {
	s, _ := Get("pcn")
	over := map[string]Override{"period": {"1ms", "the test"}, "phase": {"first_packet", "the test"}}
	set, err := s.Settings(testNetwork, over)
	if err != nil || set[0].Value != "1ms" || set[0].Origin != "the test" || set[1].Origin != "5.2" {
		t.Fatalf("%+v, %v", set, err)
	}
	parts, err := s.Build(testNetwork, over)
	if err != nil {
		t.Fatal(err)
	}
	np := parts.NP(1)
	if np.Data(300*units.Microsecond, 0, wire.CE, 1000); np.Next() != 1300*units.Microsecond {
		t.Errorf("the period ends at %v", np.Next())
	}
	for _, bad := range []map[string]Override{
		{"speed": {"1", ""}}, {"period": {"soon", ""}}, {"period": {"0s", ""}}, {"wmin": {"1/0", ""}}, {"wmin": {"x/2", ""}}, {"percent": {"95.5", ""}},
		{"phase": {"new moon", ""}}, {"wmax": {"2", ""}}, {"min_rate": {"0bps", ""}},
	} {
		var e *ParamError
		if _, err := s.Build(testNetwork, bad); !errors.As(err, &e) || e.Scheme != "pcn" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := Get("warp"); err == nil {
		t.Error("warp exists")
	}
}

// A word stands for a value, and another is refused.
func TestWords(t *testing.T) {
	var v int
	read := either(&v, "number %q:", "one", 1, "two", 2)
	for text, want := range map[string]int{"one": 1, "two": 2} {
		if err := read(text); err != nil || v != want {
			t.Errorf("%s is %d, %v", text, v, err)
		}
	}
	if err := read("three"); err == nil || err.Error() != `number "three": neither one nor two` {
		t.Error(err)
	}
}

// One seed makes one sequence of marks, and ports have their own.
func TestSeeds(t *testing.T) {
	s, _ := Get("dcqcn")
	marks := func(seed uint64, port int) (m uint64) {
		parts, err := s.Build(Network{Line: units.Gbps, Seed: seed}, map[string]Override{"pmax": {"0.5", ""}, "min_rate": {"1Mbps", ""}})
		if err != nil {
			t.Fatal(err)
		}
		cp := parts.CP(marking.Place{Port: port, Prio: 3, Rate: testNetwork.Line})
		for range 64 {
			m = m<<1 | uint64(cp.Dequeue(0, marking.Queue{Bytes: 199_999}, &marking.Packet{Size: 1000}))
		}
		return m
	}
	first, again := marks(1, 0), marks(1, 0)
	if first != again || first == marks(2, 0) || first == marks(1, 1) {
		t.Error("seeds")
	}
}

// A timer of next to nothing would have a host count ticks for ever after the first notification: it is refused, and
// the manual says so.
func TestShortestTimers(t *testing.T) {
	for name, timers := range map[string][]string{
		"dcqcn": {"alpha_timer", "rate_timer"}, "tcd+dcqcn": {"alpha_timer", "rate_timer"}, "dcqcn+": {"timer", "short"},
		"dcqcn-mlx": {"alpha_timer", "cut_timer", "rate_timer"}, "pacc": {"alpha_timer", "cut_timer", "rate_timer"},
		"qcn": {"time_reset"},
	} {
		s, err := Get(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, timer := range timers {
			for _, value := range []string{"0s", "1ps", "999999ps"} {
				_, err := s.Build(testNetwork, map[string]Override{timer: {value, "the test"}})
				if err == nil || !strings.Contains(err.Error(), "at least 1us") {
					t.Errorf("%s: %s of %s: %v", name, timer, value, err)
				}
			}
			if _, err := s.Build(testNetwork, map[string]Override{timer: {"1us", "the test"}}); err != nil {
				t.Errorf("%s: %s of 1us: %v", name, timer, err)
			}
			for _, p := range s.Params {
				if p.Name == timer && !strings.Contains(p.Doc, "at least 1us") {
					t.Errorf("%s: the doc of %s has no bound: %s", name, timer, p.Doc)
				}
			}
		}
	}
}

// On a line that is slower than the least rate by default, the error says which parameter to set, and to what.
func TestMinRateOfASlowLine(t *testing.T) {
	for _, name := range []string{"dcqcn", "dcqcn-mlx", "pacc", "tcd+dcqcn"} {
		s, _ := Get(name)
		slow := Network{Line: 50 * units.Mbps, Seed: 1}
		const want = "min_rate 100Mbps is above the line rate, 50Mbps (params: {min_rate: 5Mbps})"
		if _, err := s.Build(slow, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Build(slow, map[string]Override{"min_rate": {"5Mbps", "the test"}}); err != nil {
			t.Errorf("%s, as it says: %v", name, err)
		}
	}
}

// A sample is of one packet at least, as the manual says.
func TestSegments(t *testing.T) {
	for _, name := range []string{"timely", "timely-patched", "tcd+timely"} {
		s, _ := Get(name)
		for value, good := range map[string]bool{"-1": false, "0": false, "1": true, "64": true} {
			_, err := s.Build(testNetwork, map[string]Override{"segment": {value, "the test"}})
			var of *ParamError
			if (err == nil) != good || err != nil && (!errors.As(err, &of) || of.Param != "segment") {
				t.Errorf("%s: segment %s: %v", name, value, err)
			}
		}
	}
}

// half is a recipe that a test makes as it likes.
type half struct {
	list  []Param
	parts Parts
	value int
}

func (h *half) params() []Param              { return h.list }
func (h *half) build(Network) (Parts, error) { return h.parts, nil }

// Who copies a recipe and forgets to change something hears of it: a second scheme of a name would silently be in the
// place of the first, and a parameter that is there twice would take its value twice.
func TestRecipesThatDoNotFit(t *testing.T) {
	var h half
	twice := Param{Name: "ai", into: integer(&h.value), Default: "1"}
	words := Param{Name: "ai", into: integer(&h.value), Default: "half of the line"}
	ruled := words
	ruled.Rule = func(Network) string { return "1" }
	for _, c := range []struct {
		scheme Scheme
		want   string
	}{
		{Scheme{Name: "dcqcn"}, `two schemes are called "dcqcn"`},
		{Scheme{Name: ""}, "a scheme's name"}, {Scheme{Name: "my scheme"}, "a scheme's name"},
		{Scheme{Name: "a,b"}, "a scheme's name"}, {Scheme{Name: "a/b"}, "a scheme's name"},
		{Scheme{Name: "Mine"}, "a scheme's name"}, {Scheme{Name: "a@b"}, "a scheme's name"},
		{Scheme{Name: "mine", Params: []Param{twice, twice}}, `two parameters "ai"`},
		{Scheme{Name: "mine", Params: []Param{{Name: "ai"}}}, "what its value goes into"},
		{Scheme{Name: "mine", Params: []Param{words}}, `mine: the default of parameter "ai", without a Rule: "half`},
		{Scheme{Name: "mine", Params: []Param{ruled}}, ""},
		{Scheme{Name: "mine+2_b-c", Params: []Param{twice}}, ""},
	} {
		err := c.scheme.fits()
		said := fmt.Sprint(err)
		oneLine := strings.Contains(said, c.want) && !strings.Contains(said, "\n")
		if (err == nil) != (c.want == "") || err != nil && !oneLine {
			t.Errorf("%q: %v, want %q", c.scheme.Name, err, c.want)
		}
	}
	for _, name := range Names() {
		if s := *all[name]; s.fits() == nil {
			t.Errorf("another %s would fit", name)
		}
	}
	func() {
		defer func() {
			if got := fmt.Sprint(recover()); !strings.Contains(got, `no parameter "speed"`) {
				t.Errorf("a parameter that is not there is changed: %s", got)
			}
		}()
		but([]Param{twice}, Param{Name: "speed"})
	}()
}

// A recipe without a reaction point is refused where it is built, and not at the first flow.
func TestRecipeWithoutReactionPoint(t *testing.T) {
	s := Scheme{Name: "half", recipe: func() recipe { return &half{} }}
	var of *ParamError
	_, err := s.Build(testNetwork, nil)
	if !errors.As(err, &of) || of.Scheme != "half" || !strings.Contains(err.Error(), "reaction point") {
		t.Error(err)
	}
}

// Telemetry has numbers for some rates only. A recipe that has it is refused on other links, also one that does not
// look: its senders would hear of links of 0 bit/s.
func TestTelemetryOfOddRates(t *testing.T) {
	parts := Parts{
		RP:    func(*ratelimit.Port) ratelimit.RP { return ackedRP{} },
		CP:    func(marking.Place) marking.CP { return marking.Telemetry{} },
		Carry: cnp.Carry{Ack: true, INT: true},
	}
	for _, c := range []struct {
		line  units.Rate
		other []units.Rate
		want  string
	}{
		{10 * units.Gbps, []units.Rate{40 * units.Gbps}, ""}, {20 * units.Mbps, nil, "20Mbps"},
		{10 * units.Gbps, []units.Rate{10 * units.Gbps, 30 * units.Gbps}, "30Gbps"},
	} {
		s := Scheme{Name: "half", recipe: func() recipe { return &half{parts: parts} }}
		_, err := s.Build(Network{Line: c.line, Rates: c.other}, nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), "a link's rate of "+c.want) {
			t.Errorf("%v, %v: %v", c.line, c.other, err)
		}
	}
}

// ackedRP and windowRP are reaction points that go by acknowledgements, each in one way.
type ackedRP struct{ ratelimit.Unlimited }

func (ackedRP) Ack(units.Time, *ratelimit.Ack) {}

type windowRP struct{ ratelimit.Unlimited }

func (windowRP) Window() units.Size { return 10_000 }

// What makes a point makes one, and data has a codepoint that a switch may mark.
func TestRecipesWithNoPoints(t *testing.T) {
	rp := func(*ratelimit.Port) ratelimit.RP { return ratelimit.Unlimited{} }
	for _, c := range []struct {
		parts Parts
		want  string
	}{
		{Parts{RP: func(*ratelimit.Port) ratelimit.RP { return nil }}, "Parts.RP makes nil"},
		{Parts{RP: rp, NP: func(int) cnp.NP { return nil }}, "Parts.NP makes nil"},
		{Parts{RP: func(*ratelimit.Port) ratelimit.RP { return nil }, Carry: cnp.Carry{Ack: true, INT: true}},
			"Parts.RP makes nil"},
		{Parts{RP: rp, Carry: cnp.Carry{ECT: wire.CE}}, "ECN codepoint 3"},
		{Parts{RP: rp, Carry: cnp.Carry{ECT: 200}}, "ECN codepoint 200"},
		{Parts{RP: rp, Carry: cnp.Carry{ECT: wire.ECT1}}, ""},
	} {
		s := Scheme{Name: "half", recipe: func() recipe { return &half{parts: c.parts} }}
		_, err := s.Build(testNetwork, nil)
		said := fmt.Sprint(err)
		oneLine := strings.Contains(said, c.want) && !strings.Contains(said, "\n")
		if (err == nil) != (c.want == "") || err != nil && !oneLine {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// A recipe that panics, or makes its points so, is refused in one line with the place: whoever reads files has others
// to read.
func TestRecipesThatPanic(t *testing.T) {
	broken := func(*ratelimit.Port) ratelimit.RP { panic("the test broke it") }
	var none *half
	for name, r := range map[string]recipe{"a point": &half{parts: Parts{RP: broken}}, "the recipe": none} {
		s := Scheme{Name: "half", recipe: func() recipe { return r }}
		parts, err := s.Build(testNetwork, nil)
		var of *ParamError
		if !errors.As(err, &of) || of.Scheme != "half" || parts.RP != nil {
			t.Fatalf("%s: %v", name, err)
		}
		said := err.Error()
		if !strings.Contains(said, "panicked: ") || !strings.Contains(said, "scheme_test.go:") ||
			strings.Contains(said, "\n") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// What a point waits for, hosts send, or the recipe is refused where it is built: a window that no acknowledgement
// opens stops a flow for good, and a delay that nobody measures is none.
func TestRecipesWhosePointsWaitInVain(t *testing.T) {
	plain := func(*ratelimit.Port) ratelimit.RP { return ratelimit.Unlimited{} }
	acked := func(*ratelimit.Port) ratelimit.RP { return ackedRP{} }
	window := func(*ratelimit.Port) ratelimit.RP { return windowRP{} }
	stamps := func(marking.Place) marking.CP { return marking.Telemetry{} }
	for _, c := range []struct {
		parts Parts
		want  string
	}{
		{Parts{RP: plain}, ""},
		{Parts{RP: plain, Carry: cnp.Carry{Tag: true}}, ""},
		{Parts{RP: acked, Carry: cnp.Carry{Ack: true}}, ""},
		{Parts{RP: window, Carry: cnp.Carry{Ack: true, Stamp: true}}, ""},
		{Parts{RP: acked, CP: stamps, Carry: cnp.Carry{Ack: true, INT: true}}, ""},
		{Parts{RP: acked}, "Ack: true"},
		{Parts{RP: window}, "Ack: true"},
		{Parts{RP: acked, Carry: cnp.Carry{Stamp: true}}, "Ack: true"},
		{Parts{RP: plain, Carry: cnp.Carry{Stamp: true}}, "Ack: true"},
		{Parts{RP: plain, Carry: cnp.Carry{INT: true}}, "Ack: true"},
		{Parts{RP: acked, CP: stamps, Carry: cnp.Carry{Ack: true, Stamp: true}}, "INT: true"},
	} {
		s := Scheme{Name: "half", recipe: func() recipe { return &half{parts: c.parts} }}
		_, err := s.Build(testNetwork, nil)
		var of *ParamError
		if c.want == "" && err != nil {
			t.Errorf("%+v: %v", c.parts.Carry, err)
		}
		if c.want != "" && (!errors.As(err, &of) || of.Scheme != "half" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %q", c.parts.Carry, err, c.want)
		}
	}
}

// Each recipe has the points that its paper has, and what hosts carry for them. By name, and with a parameter's value.
func TestPointsOfRecipes(t *testing.T) {
	const quiet = "cnp.Silent"
	ect0, ect1 := cnp.Carry{ECT: 0b10}, cnp.Carry{ECT: 0b01}
	tagged, acked := cnp.Carry{ECT: 0b10, Tag: true}, cnp.Carry{ECT: 0b10, Ack: true}
	stamped, told := cnp.Carry{ECT: 0b10, Ack: true, Stamp: true}, cnp.Carry{ECT: 0b10, Ack: true, INT: true}
	tcdStamped := cnp.Carry{ECT: 0b01, Ack: true, Stamp: true}
	seen := map[string]bool{}
	for _, c := range []struct {
		name, param, value string
		cp, np, rp         string
		carry              cnp.Carry
	}{
		{"none", "", "", "marking.None", quiet, "ratelimit.Unlimited", ect0},
		{"pcn", "", "", "*marking.NPECN", "*cnp.PCN", "*ratelimit.PCN", ect0},
		{"qcn", "", "", "*marking.QCN", quiet, "*ratelimit.QCN", tagged},
		{"af-qcn", "", "", "*marking.QCN", quiet, "*ratelimit.QCN", tagged},
		{"dcqcn", "", "", "*marking.RED", "*cnp.DCQCN", "*ratelimit.DCQCN", ect0},
		{"dcqcn", "cnp_phase", "tick", "*marking.RED", "*cnp.DCQCNTicks", "*ratelimit.DCQCN", ect0},
		{"dcqcn-mlx", "", "", "*marking.RED", "*cnp.DCQCN", "*ratelimit.Mlx", ect0},
		{"dcqcn+", "", "", "*marking.RED", "*cnp.DCQCNPlus", "*ratelimit.DCQCNPlus", ect0},
		{"pacc", "", "", "*marking.PACC", quiet, "*ratelimit.Mlx", ect0},
		{"timely", "", "", "marking.None", quiet, "*ratelimit.Timely", stamped},
		{"timely-patched", "", "", "marking.None", quiet, "*ratelimit.Timely", stamped},
		{"swift", "", "", "marking.None", quiet, "*ratelimit.Swift", stamped},
		{"hpcc", "", "", "marking.Telemetry", quiet, "*ratelimit.HPCC", told},
		{"powertcp", "", "", "marking.Telemetry", quiet, "*ratelimit.PowerTCP", told},
		{"ibcc", "", "", "*marking.IB", "*cnp.BECN", "*ratelimit.IBCC", ect0},
		{"ibcc", "becn", "ack", "*marking.IB", quiet, "ratelimit.AckedIBCC", acked},
		{"tcd+dcqcn", "", "", "*marking.TCD", "*cnp.TCD", "*ratelimit.TCD", ect1},
		{"tcd+timely", "", "", "*marking.TCD", quiet, "*ratelimit.Timely", tcdStamped},
		{"tcd+ibcc", "", "", "*marking.TCD", "*cnp.BECN", "*ratelimit.IBCC", ect1},
	} {
		seen[c.name] = true
		parts := partsOf(t, c.name, c.param, c.value)
		got := fmt.Sprintf("%T %T %T", parts.CP(marking.Place{Rate: testNetwork.Line}), parts.NP(1), parts.RP(nil))
		if want := c.cp + " " + c.np + " " + c.rp; got != want || parts.Carry != c.carry {
			t.Errorf("%s %s: %s, hosts carry %+v", c.name, c.value, got, parts.Carry)
		}
	}
	for _, name := range Names() {
		if !seen[name] {
			t.Errorf("%s is not said to have any points", name)
		}
	}
}

// partsOf are a scheme's in the network of tests, with a value of one parameter if that is named.
func partsOf(t *testing.T, name, param, value string) Parts {
	t.Helper()
	s, err := Get(name)
	if err != nil {
		t.Fatal(err)
	}
	over := map[string]Override{}
	if param != "" {
		over[param] = Override{value, "the test"}
	}
	parts, err := s.Build(testNetwork, over)
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

// Behind TCD's switches a packet that met pauses alone, UE, slows no flow down, and one that met congestion does.
func TestUndeterminedIsNoCongestion(t *testing.T) {
	for ecn, slower := range map[uint8]bool{0b10: false, wire.CE: true} {
		ib, timely := partsOf(t, "tcd+ibcc", "", ""), partsOf(t, "tcd+timely", "", "").RP(nil)
		np, rp := ib.NP(1), ib.RP(nil)
		np.Data(0, 0, ecn, 1000)
		_, n, ok := np.Poll(0)
		if rp.Notify(0, n.ECN, n.Word); !ok || n.ECN != ecn || rp.Rate(0) < testNetwork.Line != slower {
			t.Errorf("tcd+ibcc at %02b: notice %+v, %v; it sends at %v", ecn, n, ok, rp.Rate(0))
		}
		for i := range uint64(100) { // round-trip times that grow
			a := ratelimit.Ack{Packet: i, Next: i + 1, RTT: units.Time(i+1) * units.Millisecond}
			a.CE, a.UE = ecn == wire.CE, ecn != wire.CE
			timely.(ratelimit.Acker).Ack(units.Time(i)*units.Millisecond, &a)
		}
		if timely.Rate(0) < testNetwork.Line != slower {
			t.Errorf("tcd+timely at %02b: %v", ecn, timely.Rate(0))
		}
	}
}

// At the set point of 26 KB QCN has nothing to say, and AF-QCN tells the flow that takes more than its share.
func TestOnlyAFQCNIsFair(t *testing.T) {
	for name, tells := range map[string]bool{"qcn": false, "af-qcn": true} {
		cp := partsOf(t, name, "", "").CP(marking.Place{Rate: testNetwork.Line}).(marking.Sampler)
		told := map[int]int{}
		for i := range 40_000 { // 10 Gbit/s of frames of 1000 bytes: flow 1 has three of four
			flow := min(i%4, 1)
			var p marking.Packet
			p.Show(1000, wire.EthernetLen, dataOf(flow))
			s, ok := cp.Enqueue(units.Time(i)*800*units.Nanosecond, marking.Queue{Bytes: 26 * units.KB, Frames: 26}, &p)
			if ok && s.QntzFb > 0 && i > 1000 { // the first sees the queue grow
				told[flow]++
			}
		}
		if told[0] != 0 || told[1] > 0 != tells {
			t.Errorf("%s: of both flows %v messages", name, told)
		}
	}
}

// PACC's thresholds are of a host's link, T/2 C: 50 KB at 10 Gbit/s, and 200 KB at a link of 40 Gbit/s.
func TestPACCScalesItsQueue(t *testing.T) {
	for rate, notifies := range map[units.Rate]bool{testNetwork.Line: true, 4 * testNetwork.Line: false} {
		cp := partsOf(t, "pacc", "", "").CP(marking.Place{Rate: rate}).(interface {
			marking.Sampler
			marking.Notifier
		})
		q, n := marking.Queue{Bytes: 100 * units.KB, Frames: 100}, 0
		for i := range 1000 {
			now := units.Time(i) * 800 * units.Nanosecond
			var p marking.Packet
			p.Show(1000, wire.EthernetLen, dataOf(0))
			cp.Enqueue(now, q, &p)
			for _, ok := cp.Poll(now, q); ok; _, ok = cp.Poll(now, q) {
				n++
			}
		}
		if n > 0 != notifies {
			t.Errorf("a link of %v with a queue of %v: %d CNPs", rate, q.Bytes, n)
		}
	}
}

// dataOf is a packet with data of a flow.
func dataOf(flow int) []byte {
	src, _ := wire.ParseIP("10.0.0.1")
	dst, _ := wire.ParseIP("10.0.0.2")
	b := make([]byte, 200)
	to := wire.RoCE{SrcMAC: 2, DstMAC: 4, Src: src, Dst: dst, SrcPort: uint16(50_000 + flow), TOS: 2}
	wire.BTH(b[to.Encode(b, wire.BTHLen+100):]).Encode(wire.OpSendMiddle, false, uint32(flow), false, 0)
	return b
}
