//go:build dpdk

package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"photon/internal/testnet"
)

// acceptPlan is for two veth cables of a namespace, on a machine that has other things to do.
const acceptPlan = `cables:
- {switch: "net_af_packet0,iface=s0", peer: "net_af_packet1,iface=p0"}
- {switch: "net_af_packet2,iface=s1", peer: "net_af_packet3,iface=p1"}
rate: 20Mbps
response: 500ms
rounds: 2
dpdk: {sleep: 50us}
`

// acceptStep is what the tests read of a step.
type acceptStep struct{ Stage, Step, Port, Asserts, Measured, Verdict, Why, Remedy string }

// acceptServer is a namespace with four interfaces, s0 at p0 and s1 at p1.
func acceptServer(t *testing.T) *testnet.Namespace {
	n := testnet.New(t, "server")
	testnet.Veth(t, n, "s0", n, "p0")
	testnet.Veth(t, n, "s1", n, "p1")
	return n
}

// acceptRun is this photon, or a script that calls it, in a namespace.
func acceptRun(t *testing.T, n *testnet.Namespace, dir string, args ...string) (out string, code int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := alone(t, n, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), beMain+"=1", "PHOTON="+self)
	b, _ := c.CombinedOutput()
	return string(b), c.ProcessState.ExitCode()
}

func acceptSteps(t *testing.T, file string) (all []acceptStep, verdicts map[string]int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	verdicts = map[string]int{}
	for line := range strings.Lines(string(b)) {
		var s acceptStep
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
		verdicts[s.Step+": "+s.Verdict]++
	}
	return all, verdicts
}

// The whole script on virtual devices: every step that asks nothing of time passes, and the archive is there.
func TestAcceptanceRun(t *testing.T) {
	t.Parallel()
	n, dir := acceptServer(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "accept.yaml"), []byte(acceptPlan), 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("../../deploy/testbed-82599/accept.sh")
	if err != nil {
		t.Fatal(err)
	}
	out, code := acceptRun(t, n, dir, "sh", script, "accept.yaml")
	t.Logf("%s", out)
	archives, _ := filepath.Glob(filepath.Join(dir, "photon-accept-*.tar.gz"))
	if len(archives) != 1 {
		t.Fatalf("exit code %d, %d archives", code, len(archives))
	}
	if b, err := exec.Command("tar", "-C", dir, "-xzf", archives[0]).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	in := strings.TrimSuffix(archives[0], ".tar.gz")
	all, verdicts := acceptSteps(t, filepath.Join(in, "run/steps.jsonl"))
	failed := 0
	for _, s := range all {
		if s.Verdict != "fail" {
			continue
		}
		failed++
		// How soon anything happens is up to who else wants the cores.
		if !slices.Contains([]string{"reaction time", "XON's effect", "pause's end", "polls", "pacing"}, s.Step) {
			t.Errorf("%+v", s)
		}
	}
	if code != min(failed, 1) {
		t.Errorf("exit code %d with %d failed steps", code, failed)
	}
	for step, want := range map[string]int{
		"link: pass": 4, "flow control: pass": 4, "wiring: pass": 4, "not acted on: pass": 8, "passed up: pass": 6,
		"line rate: not possible here": 4, "errors: pass": 4, "through the switch: pass": 2, "priorities: pass": 2,
		"XOFF's effect: pass": 2, "not obeyed: pass": 4, "other priority: pass": 2, "PFC frames: pass": 2,
		"headroom: pass": 2, "headroom: not possible here": 2, "marking: pass": 6, "accounts: pass": 1,
		"figure 11: not possible here": 1,
	} {
		if verdicts[step] != want {
			t.Errorf("%s: %d times, not %d", step, verdicts[step], want)
		}
	}
	// The captures are of real frames: tshark finds the XOFFs of the switch, and the flow.
	count := func(file, filter string) int {
		b, err := exec.Command("tshark", "-n", "-r", filepath.Join(in, "run", file), "-Y", filter).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), "\n")
	}
	if x, f := count("headroom.pcapng", "macc.cbfc.pause_time.c3 == 65535"), count("pacing.pcapng", "infiniband.bth.psn && frame.len > 1000"); x == 0 || f < 300 {
		t.Errorf("%d XOFFs, %d packets", x, f)
	}
}

// acceptBetween puts a switch into each cable of a namespace, whose ports have these keys.
func acceptBetween(t *testing.T, n *testnet.Namespace, dir string, keys [2]string) {
	t.Helper()
	for i, key := range keys {
		for _, end := range []string{"s", "p"} {
			testnet.Veth(t, n, fmt.Sprint(end, i), n, fmt.Sprint("x", end, i))
		}
		between := filepath.Join(dir, fmt.Sprintf("between%d.yaml", i))
		text := "rate: 20Mbps\nadmin: off\nmetrics: off\nscheme: {name: none}\nports:\n"
		for k, end := range []string{"s", "p"} {
			text += fmt.Sprintf("- {device: \"net_af_packet%d,iface=x%s%d\", %s}\n", k, end, i, key)
		}
		if err := os.WriteFile(between, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		start(t, n, "switch", "-c", between)
	}
}

// acceptPFC reports whether a frame is one of PFC.
func acceptPFC(b []byte) bool { return b[12] == 0x88 && b[13] == 0x08 && b[15] == 1 && b[14] == 1 }

// acceptCables are n cables of a namespace, from s0 to p0 and so on. Where there is a fault in one, by its ends, a
// relay carries the frames of either direction.
func acceptCables(t *testing.T, ns *testnet.Namespace, n int, faults map[string]func(b []byte) bool) {
	for i := range n {
		s, p := fmt.Sprint("s", i), fmt.Sprint("p", i)
		if faults[s+" "+p] == nil && faults[p+" "+s] == nil {
			testnet.Veth(t, ns, s, ns, p)
			continue
		}
		for _, end := range []string{s, p} {
			testnet.Veth(t, ns, end, ns, "x"+end)
		}
		for _, way := range [][2]string{{s, p}, {p, s}} {
			change := faults[way[0]+" "+way[1]]
			if change == nil {
				change = func([]byte) bool { return true }
			}
			acceptRelay(t, ns, "x"+way[0], "x"+way[1], change)
		}
	}
}

// acceptRelay carries frames from one interface of a namespace to another, until the test ends; change may change a
// frame, or say that it is lost.
func acceptRelay(t *testing.T, n *testnet.Namespace, from, to string, change func(b []byte) bool) {
	in, out := n.Open(t, from), n.Open(t, to)
	var ended atomic.Bool
	done := make(chan struct{})
	t.Cleanup(func() { ended.Store(true); <-done })
	go func() {
		defer close(done)
		for !ended.Load() {
			if b := in.Receive(50 * time.Millisecond); b != nil && change(b) {
				out.Send(b)
			}
		}
	}()
}

// acceptCards runs steps of the stage without a switch of photon's own.
func acceptCards(
	t *testing.T,
	n *testnet.Namespace,
	dir string,
	only ...string,
) (all []acceptStep, verdicts map[string]int) {
	t.Helper()
	return acceptStage(t, n, dir, "cards", "100ms", only...)
}

// acceptStage runs one stage, or some steps of it, on two cables.
func acceptStage(
	t *testing.T,
	n *testnet.Namespace,
	dir, stage, response string,
	only ...string,
) (all []acceptStep, verdicts map[string]int) {
	t.Helper()
	return acceptPlanned(t, n, dir, stage, strings.Replace(acceptPlan, "500ms", response, 1), only...)
}

// acceptPlanned runs one stage of a plan, or some steps of it.
func acceptPlanned(
	t *testing.T,
	n *testnet.Namespace,
	dir, stage, text string,
	only ...string,
) (all []acceptStep, verdicts map[string]int) {
	t.Helper()
	plan := filepath.Join(dir, "accept.yaml")
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{self, "accept", plan, "--stage", stage, "--out", dir}
	for _, step := range only {
		args = append(args, "--only", step)
	}
	// A stage has no verdict of its own.
	if out, code := acceptRun(t, n, dir, args...); code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	return acceptSteps(t, filepath.Join(dir, "steps.jsonl"))
}

// A card that spoils what it receives fails at that port: here a switch in the cable inverts a bit of each frame.
func TestAcceptanceRunFindsCardsThatChangeFrames(t *testing.T) {
	t.Parallel()
	n, dir := testnet.New(t, "server"), t.TempDir()
	acceptBetween(t, n, dir, [2]string{"impair: {rules: [{do: corrupt}]}", "asymmetric_pfc: true"})
	all, verdicts := acceptCards(t, n, dir, "wiring")
	if verdicts["wiring: fail"] != 2 || verdicts["wiring: pass"] != 2 {
		t.Errorf("%+v", all)
	}
	for _, s := range all {
		if s.Step == "wiring" && (s.Verdict == "fail") != strings.HasSuffix(s.Port, "0") {
			t.Errorf("%+v", s)
		}
	}
}

// A switch that breaks a promise at one of its ports, in one direction or one priority, fails there and nowhere else:
// here relays in the cables break them.
func TestAcceptanceRunFindsWhatASwitchDoes(t *testing.T) {
	t.Parallel()
	n, dir := testnet.New(t, "server"), t.TempDir()
	faults := map[string]func(b []byte) bool{
		// From the peer to the switch: pauses of the first port are of half the time, and the other takes PAUSE
		// for an XOFF.
		"p0 s0": func(b []byte) bool {
			if acceptPFC(b) {
				quanta := b[18+2*3 : 18+2*4]
				binary.BigEndian.PutUint16(quanta, binary.BigEndian.Uint16(quanta)/2)
			}
			return true
		},
		"p1 s1": func(b []byte) bool {
			if b[12] == 0x88 && b[13] == 0x08 && b[14] == 0 {
				quanta := [2]byte(b[16:18])
				clear(b[14:])
				b[14], b[15], b[17] = 1, 1, 1<<3
				copy(b[18+2*3:], quanta[:])
			}
			return true
		},
		// From the switch to its peer: one DSCP is lost, and an XOFF stops another priority, too.
		"s0 p0": func(b []byte) bool { return !(b[12] == 8 && b[13] == 0 && b[15]>>2 == 9) },
		"s1 p1": func(b []byte) bool {
			if acceptPFC(b) && b[18+2*3]|b[19+2*3] != 0 {
				b[17] |= 1 << 4
				copy(b[18+2*4:], b[18+2*3:18+2*4])
			}
			return true
		},
	}
	acceptCables(t, n, 2, faults)
	all, _ := acceptStage(t, n, dir, "switch", "500ms", "through the switch", "priorities", "pause's end", "not obeyed",
		"PFC frames", "polls")
	failed := map[string]int{}
	for _, s := range all {
		if s.Verdict == "fail" {
			failed[s.Step+" "+s.Port[max(0, len(s.Port)-2):]]++
			if !strings.Contains(s.Remedy, " ") {
				t.Errorf("nobody knows what to do: %+v", s)
			}
		}
	}
	for step, want := range map[string]int{
		"pause's end s0": 1, // the other one may be late here, and fail for that
		"not obeyed s0":  0, "not obeyed s1": 1,
		"through the switch s0": 0, "through the switch s1": 1, // what came in by s1 leaves by s0
		"priorities s0": 1, "priorities s1": 0,
		"PFC frames s0": 0, "PFC frames s1": 1,
	} {
		if failed[step] != want {
			t.Errorf("%s fails %d times, not %d", step, failed[step], want)
		}
	}
	if t.Failed() {
		t.Logf("%+v", all)
	}
}

// What acts on pauses, and keeps them to itself, fails: here switches stand in the cables, for cards that do so. One
// obeys PFC, the other PAUSE.
func TestAcceptanceRunFindsCardsThatPause(t *testing.T) {
	t.Parallel()
	n, dir := testnet.New(t, "server"), t.TempDir()
	acceptBetween(t, n, dir, [2]string{"asymmetric_pfc: true", "lossless: [], pause: true"})
	all, verdicts := acceptCards(t, n, dir, "wiring", "passed up", "not acted on")
	if verdicts["wiring: pass"] != 4 || verdicts["passed up: fail"] != 4 {
		t.Errorf("%+v", all)
	}
	for _, s := range all {
		if s.Step != "not acted on" {
			continue
		}
		pfc, ofPFC := strings.HasSuffix(s.Port, "0"), strings.Contains(s.Asserts, "PFC")
		if acts := s.Verdict == "fail"; acts != (pfc == ofPFC) {
			t.Errorf("%+v", s)
		}
	}
}

// A plan of figure 11 alone leaves the other stages out. Nodes that are nowhere fail it, and the log says which.
func TestAcceptanceRunOfFigure11(t *testing.T) {
	n, dir := testnet.New(t, "server"), t.TempDir()
	testbedText := "nodes:\n"
	for _, name := range []string{"S0", "S1", "H0", "H1", "H2", "R0", "R1", "R2"} {
		testbedText += fmt.Sprintf("  %s: {socket: %s/%s.sock}\n", name, dir, name)
	}
	for file, text := range map[string]string{"bed.yaml": testbedText, "accept.yaml": "figure11: bed.yaml\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, code := acceptRun(t, n, dir, self, "accept", filepath.Join(dir, "accept.yaml"), "--out", "out")
	if code != exitFailed || strings.Count(out, "not possible here  ") != 3 || !strings.Contains(out, "fail  figure 11: ") || strings.Contains(out, "pass  ") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "out/figure11.log")); err != nil || !strings.Contains(string(b), "S0") {
		t.Errorf("%v, %s", err, b)
	}
	// Two runs have different folders.
	if out, code := acceptRun(t, n, dir, self, "accept", filepath.Join(dir, "accept.yaml"), "--out", "out"); code != exitBadInput || !strings.Contains(out, "of another run: name another folder by --out") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// A run that is interrupted ends with all that it started.
func TestAcceptanceRunIsInterrupted(t *testing.T) {
	t.Parallel()
	n, dir := acceptServer(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "accept.yaml"), []byte(acceptPlan), 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("../../deploy/testbed-82599/accept.sh")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// ours are the processes that were started in the folder of this test.
	ours := func() (which []string) {
		all, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, link := range all {
			if at, err := os.Readlink(link); err == nil && at == dir {
				which = append(which, link)
			}
		}
		return which
	}
	c := alone(t, n, "sh", script, "accept.yaml")
	c.Dir = dir
	c.Env = append(os.Environ(), beMain+"=1", "PHOTON="+self)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	within(t, func() bool { // the switch runs
		logs, _ := filepath.Glob(filepath.Join(dir, "photon-accept-*/run/accept-switch.log"))
		if len(logs) == 0 {
			return false
		}
		b, err := os.ReadFile(logs[0])
		return err == nil && strings.Contains(string(b), " runs")
	}, func() string { return fmt.Sprintf("no switch is started, %d processes are", len(ours())) })
	if n := len(ours()); n < 4 { // the script, the run, its stage, the switch
		t.Errorf("%d processes", n)
	}
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	if left := ours(); len(left) != 0 {
		t.Errorf("%v still run", left)
	}
}

// What cannot be run is said in one line, and nothing is started.
func TestAcceptanceRunRefuses(t *testing.T) {
	n, dir := acceptServer(t), t.TempDir()
	script, err := filepath.Abs("../../deploy/testbed-82599/accept.sh")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"": "accept.yaml: no such file or directory",
		strings.Replace(acceptPlan, "iface=p1", "iface=nowhere", 1):                    `accept.yaml:3: port net_af_packet3,iface=nowhere: there is no network interface "nowhere"`,
		strings.Replace(acceptPlan, "net_af_packet0,iface=s0", "0000:7f:00.0", 1):      "accept.yaml: there is no card 0000:7f:00.0",
		strings.Replace(acceptPlan, "net_af_packet0,iface=s0", "net_nothing0", 1):      "accept.yaml:2: device net_nothing0: there is no driver for such a device",
		strings.Replace(acceptPlan, "rate: 20Mbps", "rate: fast", 1):                   "accept.yaml:4: ",
		acceptPlan + "figure11: nowhere.yaml":                                          "accept.yaml:8: figure11: ",
		"ports:\n- device: net_af_packet0,iface=s0\n- device: net_af_packet1,iface=p0": "accept.yaml is the file of a switch: photon switch -c accept.yaml",
	} {
		file := filepath.Join(dir, "accept.yaml")
		_ = os.Remove(file)
		if text != "" {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, code := acceptRun(t, n, dir, "sh", script, "accept.yaml")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if last := lines[len(lines)-1]; code != exitBadInput || !strings.Contains(last, want) || strings.Contains(out, "pass") {
			t.Errorf("%q: exit code %d, not %q:\n%s", text, code, want, out)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "photon-accept*")); len(left) != 0 {
			t.Errorf("%q leaves %v", text, left)
		}
	}
	for _, args := range [][]string{{}, {"--bind"}, {"a", "b"}, {"--colour"}, {"a", "--only"}, {"--only", "a"}} {
		if out, code := acceptRun(t, n, dir, append([]string{"sh", script}, args...)...); code != exitBadInput || !strings.Contains(out, "usage: accept.sh [--bind] FILE") {
			t.Errorf("%v: exit code %d\n%s", args, code, out)
		}
	}
}
