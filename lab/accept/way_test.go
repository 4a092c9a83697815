package accept

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"photon/config"
	"photon/marking"
	"photon/units"
	"photon/wire"
)

// fourPorts are those of a switch's file: a0 to a3.
const fourPorts = `ports:
- {device: "net_af_packet0,iface=a0"}
- {device: "net_af_packet1,iface=a1"}
- {device: "net_af_packet2,iface=a2"}
- {device: "net_af_packet3,iface=a3"}
`

// withOwn is the file with what one of the ports has of its own.
func withOwn(file string, port int, own string) string {
	return strings.Replace(file, fmt.Sprintf("a%d\"", port), fmt.Sprintf("a%d\", %s", port, own), 1)
}

// planOf reads a plan of the switch of a file. Cables lead from its ports of these numbers to b0, b1 and so on.
func planOf(t *testing.T, file, plan string, ports ...int) (*Plan, error) {
	t.Helper()
	dir := t.TempDir()
	plan += "switch: switch.yaml\ncables:\n"
	for i, port := range ports {
		plan += fmt.Sprintf(
			"- {switch: \"net_af_packet%d,iface=a%d\", peer: \"net_af_packet%d,iface=b%d\"}\n", port, port, 10+i, i,
		)
	}
	for name, text := range map[string]string{"switch.yaml": file, "accept.yaml": plan} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Read(filepath.Join(dir, "accept.yaml"))
}

// Each port is where a way begins and where one ends, in no more ways than that takes; where VLANs and routes leave
// no way, it is said of which port.
func TestWays(t *testing.T) {
	for name, c := range map[string]struct{ more, want string }{
		// Whoever has PFC is paused by one, and pauses one, that has it, too.
		"one without PFC": {"pfc: {priorities: [3]}", "0>2 1>3 2>0 3>1 1>2 2>3"},
		"no VLANs":        {"", "0>1 1>2 2>3 3>0"},
		"pairs": {
			"vlans: [{id: 10, untagged: [0, 2]}, {id: 20, untagged: [1, 3]}]", "0>2/10 1>3/20 2>0/10 3>1/20",
		},
		"a trunk": {
			"vlans: [{id: 10, untagged: [0, 1], tagged: [3]}, {id: 20, untagged: [2], tagged: [3]}]",
			"0>1/10 1>0/10 2>3/20 3>2/20",
		},
		"a hub": {
			"vlans: [{id: 10, untagged: [0], tagged: [3]}, {id: 20, untagged: [1], tagged: [3]}, " +
				"{id: 30, untagged: [2], tagged: [3]}]",
			"0>3/10 3>0/10 1>3/20 2>3/30 3>1/20 3>2/30",
		},
		"one alone": {"vlans: [{id: 10, untagged: [0, 1, 2]}]", "0>1/10 1>2/10 2>0/10 without net_af_packet3,iface=a3"},
		"one way": {
			`vlans: [{id: 10, untagged: [0, 1, 2]}, {id: 20, untagged: [3]}]
routes: [{prefix: 10.0.0.0/30, via: [{port: 3, mac: "02:00:00:00:00:09"}]}]`,
			"0>1/10 1>0/10 1>2/10 2>3/10 without net_af_packet3,iface=a3",
		},
	} {
		ports := fourPorts
		if name == "one without PFC" {
			ports = withOwn(ports, 0, "lossless: []")
		}
		p, err := planOf(t, ports+c.more, "", 0, 1, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		ways, missing := p.ways(p.turn(false))
		var got []string
		for _, w := range ways {
			text := fmt.Sprintf("%d>%d", w.from, w.to)
			if w.vlan > 0 {
				text += fmt.Sprintf("/%d", w.vlan)
			}
			got = append(got, text)
		}
		if missing != nil {
			got = append(got, "without "+strings.Join(missing, " "))
		}
		want := strings.Split(c.want, " ")
		slices.Sort(want)
		slices.Sort(got)
		if joined := strings.Split(strings.Join(got, " "), " "); !sameWords(joined, want) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
	}
}

func sameWords(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// What a way pauses is what both of its ports have PFC for.
func TestPrioritiesOfWays(t *testing.T) {
	own := withOwn(withOwn(fourPorts, 1, "lossless: []"), 2, "lossless: [5, 6]")
	all := func(stop, second, beside int) (of [4][3]int) {
		for i := range of {
			of[i] = [3]int{stop, second, beside}
		}
		return of
	}
	for file, want := range map[string][4][3]int{ // from each port to the next
		fourPorts:                            all(3, -1, 0),
		own + "pfc: {priorities: [5, 6, 7]}": {{-1, -1, 0}, {-1, -1, 0}, {5, 6, 0}, {5, 6, 0}},
		fourPorts + "pfc: {priorities: [0, 1]}\ntrust: none":                   all(0, -1, -1),
		fourPorts + "pfc: {priorities: [3, 4]}\ndscp_to_priority: {26: 0}":     all(3, 4, 0),
		fourPorts + "trust: pcp\npcp_to_priority: {3: 0, 7: 3}":                all(3, -1, 0),
		fourPorts + "trust: pcp\npcp_to_priority: {3: 2}\ndefault_priority: 3": all(-1, -1, 0),
	} {
		p, err := planOf(t, file, "", 0, 1, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		for from := range 4 {
			w, ok := p.way(p.turn(false), from, (from+1)%4)
			if !ok {
				t.Fatalf("%s: no way from %d", file, from)
			}
			if got := [3]int{w.stop, w.second, w.beside}; got != want[w.from] {
				t.Errorf("%s: from %d: %v, not %v", file, w.from, got, want[w.from])
			}
			for _, k := range w.kinds() { // a frame says what it is sent in
				b := w.frame(1, k, false, 128)
				if tci, tagged := wire.VLANTag(b); tagged != (k.pcp >= 0) || tagged && int(tci>>13) != k.pcp ||
					int(b[tagOf(b)+15]>>2) != k.dscp || priorityOf(b) != k.prio {
					t.Errorf("%s: %+v: %x", file, k, b)
				}
			}
		}
	}
}

// A frame leaves as IEEE 802.1Q and RFC 1812 have it: these are written out.
func TestFramesThatLeave(t *testing.T) {
	const macs = "0a0a0a0a0a0a" + "0b0b0b0b0b0b"
	body := func(ttl, sum string) string {
		return "0800456800480000" + "0000" + ttl + "11" + sum + "c6120001" + "0a000001" + strings.Repeat("00", 52)
	}
	of := body("40", "aa29")
	const next = "000000000002" + "000000000001"
	plain := macs + of
	tagged := macs + "8100600a" + of
	codes, newCodes := &[8]uint8{3: 7}, [8]uint8{3: 5}
	for name, c := range map[string]struct {
		w        way
		in, want string
	}{
		"as it is":          {way{}, tagged, tagged},
		"its code point":    {way{codes: codes}, tagged, macs + "8100e00a" + of},
		"a tag is put on":   {way{leavesIn: 20, leavesTag: true, newCodes: newCodes}, plain, macs + "8100a014" + of},
		"a tag is kept":     {way{leavesIn: 10, leavesTag: true}, tagged, tagged},
		"and its code":      {way{leavesIn: 10, leavesTag: true, codes: codes}, tagged, macs + "8100e00a" + of},
		"a tag is taken":    {way{leavesIn: 10}, tagged, plain},
		"nothing to take":   {way{leavesIn: 10}, plain, plain},
		"routed":            {way{router: 1, hop: 2}, plain, next + body("3f", "ab29")},
		"routed out of one": {way{router: 1, hop: 2, leavesIn: 10}, tagged, next + body("3f", "ab29")},
	} {
		b, err := hex.DecodeString(c.in)
		if err != nil {
			t.Fatal(err)
		}
		b[tagOf(b)+prioAt] = 3
		got := c.w.leaves(b)
		got[tagOf(got)+prioAt] = 0
		if text := hex.EncodeToString(got); text != c.want {
			t.Errorf("%s: %s, not %s", name, text, c.want)
		}
	}
}

// What a switch's file or the plan has that cannot be is said in one line, and where.
func TestSwitchesThatCannotBeAccepted(t *testing.T) {
	all := []int{0, 1, 2, 3}
	for _, c := range []struct {
		file, plan string
		ports      []int
		want       string
	}{
		{
			fourPorts, "", []int{0, 1, 4},
			"accept.yaml:5: cable 3: switch.yaml has no port net_af_packet4,iface=a4: it has net_af_packet0,",
		},
		{fourPorts, "", []int{0}, "1 cables: two are needed at least"},
		{fourPorts, "", nil, "accept.yaml:1: switch: needs cables"},
		{fourPorts, "rate: 1Gbps\n", all, "accept.yaml:1: rate: switch.yaml says the rates of its ports"},
		{fourPorts, "response: 1ms\n", all, "accept.yaml:1: response: switch.yaml has it (`pfc: {response: 1ms}`)"},
		{
			fourPorts, "dpdk: {cores: [0, 1]}\n", all,
			"accept.yaml:1: 2 cores: name one, the peer's; switch.yaml has the switch's",
		},
		{
			fourPorts + "dpdk: {cores: [0]}\n", "dpdk: {cores: [0]}\n", all,
			"accept.yaml:1: core 0 is one of the switch's",
		},
		{fourPorts + "mtu: 1000\n", "", all, "switch.yaml:6: for an acceptance run an mtu of 1000 is too short"},
		{
			fourPorts + "forwarding: {learn: false}\n", "", all,
			"switch.yaml:6: for an acceptance run `learn: false` cannot be",
		},
		{
			withOwn(fourPorts, 3, "shutdown: true"), "", all,
			"switch.yaml:5: for an acceptance run net_af_packet3,iface=a3 cannot be shut",
		},
		{withOwn(fourPorts, 3, "shutdown: true"), "", all[:3], ""},
		{
			withOwn(fourPorts, 0, "impair: {rules: [{do: lose}]}"), "", all,
			"switch.yaml:2: for an acceptance run net_af_packet0,iface=a0 cannot have `impair`",
		},
		{
			fourPorts + "pfc: {watchdog: {detect: 100ms}}\n", "", all,
			"switch.yaml:6: for an acceptance run the watchdog would take its pauses for a storm: " +
				"`detect` must be 200ms at least",
		},
		{fourPorts + "pfc: {watchdog: {}}\n", "", all, ""},
		{fourPorts + "colour: blue\n", "", all, "switch.yaml:6: "},
		{"", "", all, "switch.yaml: a switch has at least two ports"},
	} {
		_, err := planOf(t, c.file, c.plan, c.ports...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n")) {
			t.Errorf("%v, not %s", err, c.want)
		}
	}
	p := &Plan{}
	if err := p.Only("pacing", "not obeyed", "switch"); err != nil {
		t.Error(err)
	}
	if got := strings.Join(p.stages(), " "); got != "switch pacing" {
		t.Errorf("%s", got)
	}
	err := p.Only("packing")
	if err == nil || !strings.Contains(err.Error(), `there is no stage and no step "packing"`) {
		t.Error(err)
	}
}

// The file of the switch is the operator's, but for the ports of the turn and how the switch is reached.
func TestTheSwitchOfATurn(t *testing.T) {
	const file = "# ours\nname: S0\nmetrics: 0.0.0.0:9464\nadmin: /run/x.sock\n" + fourPorts +
		"pfc: {priorities: [5], xoff: 64KB}\ndpdk: {workers: 2}\n" +
		"vlans: [{id: 10, untagged: [0, 1]}, {id: 20, untagged: [2, 3]}]\n"
	p, err := planOf(t, file, "", 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.switchText(p.turn(false))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.resolve(parse(t, text)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want := "net_af_packet0,iface=a0 net_null91,no-rx=1 net_af_packet2,iface=a2 net_null93,no-rx=1"
	got := strings.Join(p.portNames(), " ")
	if got != want || p.sw.Name.IsSet() || p.sw.Metrics.IsSet() || p.sw.Admin.IsSet() {
		t.Errorf("%s\n%s", got, text)
	}
	for i, shut := range []bool{false, true, false, true} {
		if p.sw.Ports[i].Shutdown.V != shut || p.node.Workers[i] != i%2 {
			t.Errorf("port %d: %+v", i, p.sw.Ports[i])
		}
	}
	if p.node.Config.Lossless != 1<<5 || len(p.sw.VLANs) != 2 {
		t.Errorf("%s", text)
	}
}

func parse(t *testing.T, text string) (*config.Switch, error) {
	t.Helper()
	return config.ParseSwitch("switch.yaml", []byte(text))
}

// A scheme marks in its own priorities: where it is in another than the way stops, what is marked does not say anything.
func TestMarksOfPriorities(t *testing.T) {
	const scheme = "scheme: {name: dcqcn, params: {kmin: 10KB, kmax: 12KB}"
	for file, of := range map[string]struct {
		judged []int
		known  bool
	}{
		scheme + "}\n":                                 {[]int{3}, true},
		scheme + ", priorities: [0, 3]}\n":             {[]int{0, 3}, true},
		scheme + ", priorities: [0]}\n":                {[]int{0}, false},
		scheme + ", priorities: []}\n":                 {nil, false},
		"scheme: {name: dcqcn-mlx}\n":                  {[]int{3}, true},
		"scheme: {name: dcqcn+}\n":                     {[]int{3}, true},
		"scheme: {name: tcd+dcqcn}\n":                  {[]int{3}, false}, // it looks at pauses, too
		"scheme: {name: none}\n":                       {nil, false},
		"scheme: {name: pcn}\n":                        {[]int{3}, false}, // it does not go by the queue's length alone
		"scheme: {name: swift}\n":                      {nil, false},
		"pfc: {priorities: [3, 5]}\n" + scheme + "}\n": {[]int{3, 5}, true},
	} {
		p, err := planOf(t, fourPorts+file, "", 0, 1, 2, 3)
		if err != nil {
			t.Fatal(err)
		}
		w, ok := p.way(p.turn(false), 0, 1)
		if !ok {
			t.Fatal("no way")
		}
		for prio := range 8 {
			if got, want := p.judges(w.out, prio), slices.Contains(of.judged, prio); got != want {
				t.Errorf("%s: the scheme judges priority %d: %v", file, prio, got)
			}
		}
		if m := p.marks(&w, 1500); (m.why == "") != of.known {
			t.Errorf("%s: %q", file, m.why)
		}
	}
}

// byLength is the congestion point of a scheme that photon does not have.
type byLength struct{ marking.CP }

func (byLength) Thresholds() (kmin, kmax units.Size) { return 3 * units.KB, 6 * units.KB }

// What a scheme marks is known of its congestion point, whatever the scheme is called.
func TestMarksOfNewSchemes(t *testing.T) {
	p, err := planOf(t, fourPorts+"scheme: {name: pcn}\n", "", 0, 1, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	p.node.Config.CP = func(marking.Place) marking.CP { return byLength{marking.None{}} }
	w, ok := p.way(p.turn(false), 0, 1)
	if !ok {
		t.Fatal("no way")
	}
	if m := p.marks(&w, 1500); m.why != "" || m.all != 6*units.KB || m.least != 60-1-4-1 || m.most != 60-1 {
		t.Errorf("%+v", m)
	}
	if p.early(w.out, 3, 3*units.KB) || !p.early(w.out, 3, 3001) || p.early(w.out, 0, 3001) {
		t.Error("frames are marked from Kmin on, in the scheme's priority")
	}
}
