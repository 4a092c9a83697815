//go:build e1000e

package guest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// acceptFile is the plan of an acceptance run on four cards. Its links are slow, and what computes every instruction
// is not on time.
const acceptFile = `cables:
- {switch: %s, peer: %s}
- {switch: %s, peer: %s}
rate: 10Mbps
response: 500ms
rounds: 3
dpdk: {sleep: 100us}
`

// acceptStep is what the test reads of summary.json.
type acceptStep struct {
	Stage, Step, Port, Measured, Verdict, Why string
}

// The acceptance run goes through on cards that the kernel has, takes them and gives them back, leaves nothing running,
// and packs an archive. Whatever it says of the cards is so of these.
func TestAcceptanceRun(t *testing.T) {
	image := Build(t, Contents{
		Modules: []string{"e1000e", "vfio-pci", "vfio_iommu_type1"},
		Drivers: []string{"bus_pci", "bus_vdev", "mempool_ring", "net_ring", "net_e1000"},
	})
	cables := [2]*Cable{NewCable(t), NewCable(t)}
	var cards []Card
	for i, c := range cables {
		for end := range c.Path {
			cards = append(cards, Card{Model: "e1000e", MAC: fmt.Sprintf("02:00:00:00:01:%02x", 2*i+end), Cable: c.Path[end]})
		}
		c.Capture(0, isControl)
		c.Capture(1, isControl)
	}
	g := Boot(t, image, "server", Size{Processors: 2, Memory: 1280, Huge: 512}, cards...)
	g.Ready()
	g.Run("modprobe vfio_iommu_type1 && modprobe e1000e")
	script, err := os.ReadFile("../../deploy/testbed-82599/accept.sh")
	if err != nil {
		t.Fatal(err)
	}
	g.Write("/tmp/accept.sh", string(script))
	g.Write("/tmp/accept.yaml", fmt.Sprintf(acceptFile, Address(0), Address(1), Address(2), Address(3)))

	refused := func(command, want string) {
		t.Helper()
		if out, code := g.Try("cd /tmp && sh accept.sh " + command); code != 2 || !strings.Contains(out, want) || strings.Contains(out, "\n") {
			t.Errorf("accept.sh %s: exit code %d, and not %q:\n%s", command, code, want, out)
		}
	}
	refused("accept.yaml", "is with e1000e: accept.sh --bind has vfio-pci take it")
	g.Run("ip link set eth2 up")
	refused("--bind accept.yaml", "is the interface eth2, which is up: ip link set eth2 down")
	g.Run("ip link set eth2 down")
	g.Run("sed s/" + Address(3) + "/0000:7f:00.0/ /tmp/accept.yaml >/tmp/none.yaml")
	refused("--bind none.yaml", "there is no card 0000:7f:00.0")
	for i := range cards {
		if d := g.Run("readlink /sys/bus/pci/devices/" + Address(i) + "/driver"); !strings.HasSuffix(d, "/e1000e") {
			t.Errorf("card %d is with %s before anything was started", i, d)
		}
	}

	g.Run("cd /tmp && { sh accept.sh --bind accept.yaml >log 2>&1; echo $? >code; } &")
	for deadline := time.Now().Add(4 * patience); ; time.Sleep(time.Second) {
		if _, code := g.Try("test -s /tmp/code"); code == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the run does not end:\n%s", g.Run("cat /tmp/log"))
		}
	}
	log, code := g.Run("cat /tmp/log"), g.Run("cat /tmp/code")
	t.Logf("exit code %s\n%s", code, log)
	if out := g.Run("ps"); strings.Contains(out, "photon") {
		t.Errorf("something still runs:\n%s", out)
	}
	for i := range cards {
		if d := g.Run("readlink /sys/bus/pci/devices/" + Address(i) + "/driver"); !strings.HasSuffix(d, "/e1000e") {
			t.Errorf("card %d was not given back: it is with %s", i, d)
		}
	}
	var summary struct{ Steps []acceptStep }
	g.Run("cd /tmp && gunzip -c photon-accept-*.tar.gz | tar x")
	if err := json.Unmarshal([]byte(g.Run("cat /tmp/photon-accept-*/run/summary.json")), &summary); err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]int{}
	failed := 0
	for _, s := range summary.Steps {
		verdicts[s.Step+": "+s.Verdict]++
		if s.Verdict != "fail" {
			continue
		}
		failed++
		// How soon a switch reacts that shares two emulated processors, on a machine with other things to do, is up to these.
		if !slices.Contains([]string{"reaction time", "XON's effect", "pause's end", "polls"}, s.Step) {
			t.Errorf("%+v", s)
		}
	}
	if want := fmt.Sprint(min(failed, 1)); code != want {
		t.Errorf("exit code %s with %d failed steps", code, failed)
	}
	for step, want := range map[string]int{
		"link: pass": 4, "flow control: pass": 4, "wiring: pass": 4, "not acted on: pass": 8, "passed up: pass": 6,
		"line rate: not possible here": 4, "through the switch: pass": 2, "priorities: pass": 2,
		"XOFF's effect: pass": 2, "not obeyed: pass": 4, "other priority: pass": 2, "PFC frames: pass": 2,
		"headroom: pass": 2, "headroom: not possible here": 2, "marking: pass": 6, "figure 11: not possible here": 1,
	} {
		if verdicts[step] != want {
			t.Errorf("%s: %d times, not %d", step, verdicts[step], want)
		}
	}
	var counters map[string]map[string]uint64
	if err := json.Unmarshal([]byte(g.Run("cat /tmp/photon-accept-*/run/cards-after.json")), &counters); err != nil {
		t.Fatal(err)
	}
	for i := range cards {
		// Cards 0 and 1 are at the ends of a cable, and 2 and 3: what one sent the other got.
		if c, peer := counters[Address(i)], counters[Address(i^1)]; c["tx_good_packets"] == 0 || c["tx_good_packets"] != peer["rx_good_packets"] {
			t.Errorf("card %d counts %v, its peer %v", i, c, peer)
		}
	}
	if n := verdicts["pacing: pass"] + verdicts["pacing: not possible here"]; n != 1 {
		t.Errorf("pacing: %v", verdicts)
	}
	// What the steps speak of was on the cables: XOFFs and PAUSE frames both ways.
	for i, c := range cables {
		for end := range 2 {
			pauses := 0
			for _, b := range c.Captured(end) {
				if b[14] == 0 { // the opcode is 0001; of PFC it is 0101
					pauses++
				}
			}
			if all := len(c.Captured(end)); pauses < 8 || all-pauses < 8 {
				t.Errorf("end %d of cable %d sent %d PAUSE and %d PFC frames", end, i, pauses, all-pauses)
			}
		}
	}
	for _, file := range []string{"version.txt", "kernel.txt", "card-" + Address(0) + ".txt", "run/cards-before.json", "accept.yaml", "run/steps.txt", "run/headroom.pcapng", "run/pacing.pcapng", "run/accept-switch-before-ports.json", "run/accept-switch-after-pfc-history.json"} {
		g.Run("test -s /tmp/photon-accept-*/" + file)
	}
}
