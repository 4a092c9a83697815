//go:build dpdk

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"photon/internal/testnet"
)

// acceptFour is a plan of the switch of a file, whose four ports have a cable each.
const acceptFour = `switch: switch.yaml
cables:
- {switch: "net_af_packet0,iface=s0", peer: "net_af_packet10,iface=p0"}
- {switch: "net_af_packet1,iface=s1", peer: "net_af_packet11,iface=p1"}
- {switch: "net_af_packet2,iface=s2", peer: "net_af_packet12,iface=p2"}
- {switch: "net_af_packet3,iface=s3", peer: "net_af_packet13,iface=p3"}
rounds: 1
`

// acceptSwitchFile is that file, with what a case adds. Ports 0 and 2 have one worker, 1 and 3 the other.
const acceptSwitchFile = `name: lab
rate: 20Mbps
scheme: {name: dcqcn, params: {kmin: 30KB, kmax: 31KB, pmax: 1, min_rate: 1Mbps}}
pfc: {priorities: [3, 4], xoff: 128KB, response: 500ms}
dpdk: {workers: 2, sleep: 50us}
metrics: 127.0.0.1:1
ports:
- {device: "net_af_packet0,iface=s0"}
- {device: "net_af_packet1,iface=s1"}
- {device: "net_af_packet2,iface=s2"}
- {device: "net_af_packet3,iface=s3"}
`

// acceptSwitch runs steps of the stage of the switch on the file of one. It returns which failed, by step and port.
func acceptSwitch(
	t *testing.T,
	n *testnet.Namespace,
	text string,
	only ...string,
) (failed map[string]bool, verdicts map[string]int) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "switch.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	all, verdicts := acceptPlanned(t, n, dir, "switch", acceptFour, only...)
	failed = map[string]bool{}
	for _, s := range all {
		if s.Verdict == "fail" {
			failed[s.Step+" "+s.Port[max(0, len(s.Port)-2):]] = true
		}
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%+v", all)
		}
	})
	return failed, verdicts
}

// Of a switch with four ports and two workers each port is tried, both ways: one that changes frames, loses their DSCP
// or does not hear its peer's XOFF fails, be it the third or the fourth, and no other does.
func TestAcceptanceRunFindsTheBrokenPortOfFour(t *testing.T) {
	t.Parallel()
	n := testnet.New(t, "server")
	acceptCables(t, n, 4, map[string]func(b []byte) bool{
		"s2 p2": func(b []byte) bool {
			if b[12] == 8 && b[13] == 0 {
				b[len(b)-1] ^= 4
			}
			return true
		},
		"p2 s2": func(b []byte) bool { return !acceptPFC(b) },
		"p3 s3": func(b []byte) bool {
			if b[12] == 8 && b[13] == 0 {
				b[15] &= 3
			}
			return true
		},
	})
	steps := []string{"through the switch", "priorities", "XOFF's effect", "accounts"}
	failed, verdicts := acceptSwitch(t, n, acceptSwitchFile, steps...)
	for _, step := range []string{
		"through the switch s1", "priorities s2", "XOFF's effect s2", // what comes in by s1 leaves by s2
		"through the switch s3", "priorities s0", "XOFF's effect s0",
	} {
		if !failed[step] {
			t.Errorf("%s does not fail", step)
		}
		delete(failed, step)
	}
	if len(failed) != 0 {
		t.Errorf("%v fail, too", failed)
	}
	for _, step := range steps[:3] {
		if verdicts[step+": pass"] != 2 || verdicts[step+": fail"] != 2 {
			t.Errorf("%s: %v", step, verdicts)
		}
	}
	if verdicts["accounts: pass"] != 1 || len(verdicts) != 7 {
		t.Errorf("%v", verdicts)
	}
}

// What the file of the switch says of its ports is what is asked of it: VLANs, how priorities are said, routes.
func TestAcceptanceRunOfAnOperatorsSwitch(t *testing.T) {
	t.Parallel()
	n := testnet.New(t, "server")
	acceptCables(t, n, 4, nil)
	for name, c := range map[string]struct {
		was, is, add string
		only         []string
		want         map[string]int
	}{
		"VLANs, and trust by tags": {
			"[3, 4]", "[5]", `trust: pcp
pcp_to_priority: {3: 5, 5: 2}
priority_to_pcp: {2: 6}
vlans: [{id: 10, untagged: [0, 1], tagged: [3]}, {id: 20, untagged: [2], tagged: [3]}, {id: 40, tagged: [3]}]
`,
			[]string{"priorities", "XOFF's effect", "headroom", "marking"},
			map[string]int{ // port 3 is in two VLANs of others, and in one alone
				"through the switch: pass": 6, "through the switch: not possible here": 1,
				"priorities: pass": 4, "XOFF's effect: pass": 4, "headroom: pass": 4,
				"headroom: not possible here": 4, "marking: pass": 12,
			},
		},
		"routes between VLANs": {
			"", "", `vlans: [{id: 10, untagged: [0]}, {id: 20, untagged: [1]}, {id: 30, untagged: [2], tagged: [3]}]
router: {mac: "02:00:00:00:aa:aa", addresses: [10.1.0.1]}
routes:
- {prefix: 10.1.0.0/24, via: [{port: 0, mac: "02:00:0a:01:00:02"}]}
- {prefix: 10.2.0.0/24, via: [{port: 1, mac: "02:00:0a:02:00:02"}]}
- {prefix: 10.3.0.7/32, via: [{port: 3, vlan: 30, mac: "02:00:0a:03:00:02"}]}
- {prefix: 10.4.0.0/24, via: [{port: 1, address: 10.2.0.9}]}
`,
			[]string{"routes", "XOFF's effect"},
			map[string]int{
				"through the switch: pass": 2, "routes: pass": 3, "routes: not possible here": 1,
				"XOFF's effect: pass": 4,
			},
		},
		"trust by nothing, and PCN": {
			"dcqcn, params: {kmin: 30KB, kmax: 31KB, pmax: 1, min_rate: 1Mbps}", "pcn",
			"trust: none\ndefault_priority: 4\n",
			[]string{"XOFF's effect", "marking"},
			map[string]int{
				"through the switch: pass": 4, "XOFF's effect: pass": 4, "marking: pass": 4,
				"marking: not possible here": 4,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			failed, verdicts := acceptSwitch(
				t, n, strings.Replace(acceptSwitchFile, c.was, c.is, 1)+c.add,
				append(c.only, "through the switch", "accounts")...,
			)
			if len(failed) != 0 {
				t.Errorf("%v fail", failed)
			}
			c.want["accounts: pass"] = 1
			for step, want := range c.want {
				if verdicts[step] != want {
					t.Errorf("%s: %d times, not %d", step, verdicts[step], want)
				}
			}
			if len(verdicts) != len(c.want) {
				t.Errorf("%v", verdicts)
			}
		})
	}
}

// Two cables between four ports of the switch's own file suffice for all of them: the switch has two at a time, then
// the other two, with their numbers and workers. A cable that changes what leaves by p1 fails there, whoever sends.
func TestAcceptanceRunExchangesTheEnds(t *testing.T) {
	t.Parallel()
	n, dir := testnet.New(t, "server"), t.TempDir()
	acceptCables(t, n, 2, map[string]func(b []byte) bool{"p1 s1": func(b []byte) bool {
		if b[12] == 8 && b[13] == 0 {
			b[len(b)-1] ^= 1
		}
		return true
	}})
	for file, text := range map[string]string{
		"switch.yaml": strings.NewReplacer("iface=s2", "iface=p1", "iface=s3", "iface=p0").Replace(acceptSwitchFile) +
			"vlans: [{id: 10, untagged: [0, 1]}, {id: 20, untagged: [2, 3]}]\n",
		"accept.yaml": `switch: switch.yaml
cables:
- {switch: "net_af_packet0,iface=s0", peer: "net_af_packet3,iface=p0"}
- {switch: "net_af_packet1,iface=s1", peer: "net_af_packet2,iface=p1"}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, code := acceptRun(t, n, dir, self, "accept", "accept.yaml", "--out", "out", "--only", "through the switch",
		"--only", "accounts")
	if code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	all, verdicts := acceptSteps(t, filepath.Join(dir, "out/steps.jsonl"))
	for _, s := range all {
		broken := strings.HasSuffix(s.Port, "iface=s1") || strings.HasSuffix(s.Port, "iface=p0")
		if s.Step == "through the switch" && (s.Verdict == "fail") != broken {
			t.Errorf("%+v", s)
		}
	}
	if len(all) != 6 || verdicts["through the switch: pass"] != 2 || verdicts["accounts: pass"] != 2 {
		t.Errorf("%v\n%s", verdicts, out)
	}
}
